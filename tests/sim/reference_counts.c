#include "reference_counts.h"

#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 1024, BYTES_MAX = 128 };

/* Every byte of a line on its own. */
typedef struct line {
    bool used;
    uint64_t base;             /* address of its first byte */
    uint64_t used_at, came_at; /* times */
    bool valid[BYTES_MAX], dirty[BYTES_MAX];
} line;

typedef struct level {
    counts_cache is;
    counts_level seen;
    line line[LINES_MAX];
    struct level *next;
} level;

struct reference {
    counts_rules rules;
    uint32_t levels;
    uint64_t clock;
    level data[COUNTS_LEVELS_MAX];
    level fetch;
    uint32_t shortest;
    uint64_t present_bytes;
};

uint64_t reference_present_bytes(const reference *r) {
    return r->present_bytes;
}

reference *reference_new(const counts_hierarchy *h) {
    reference *r = calloc(1, sizeof *r);
    if (!r)
        abort();
    r->rules = h->rules;
    r->levels = h->levels;
    r->shortest = h->has_fetch ? h->fetch.line_bytes : UINT32_MAX;
    for (uint32_t i = 0; i < h->levels; i++) {
        r->data[i].is = h->data[i];
        r->data[i].next = i + 1 < h->levels ? &r->data[i + 1] : NULL;
        if (h->data[i].line_bytes < r->shortest)
            r->shortest = h->data[i].line_bytes;
    }
    r->fetch.is = h->fetch;
    r->fetch.next = h->levels > 1 ? &r->data[1] : NULL;
    return r;
}

void reference_free(reference *r) {
    free(r);
}

counts_level reference_of(const reference *r, int i) {
    return i < 0 ? r->fetch.seen : r->data[i].seen;
}

static uint64_t set_of(const level *l, uint64_t base) {
    const uint64_t number = base / l->is.line_bytes;
    uint64_t h = number;
    for (uint32_t i = 0; i < l->is.set_hash.count; i++)
        h ^= number >> l->is.set_hash.shift[i];
    return h % (l->is.size_bytes / l->is.line_bytes / l->is.ways);
}

static line *lookup(level *l, uint64_t base) {
    for (int i = 0; i < LINES_MAX; i++)
        if (l->line[i].used && l->line[i].base == base)
            return &l->line[i];
    return NULL;
}

/* A free record for the line; in *left what had to leave its set. */
static line *make_room(reference *r, level *l, uint64_t base, line *left) {
    uint32_t in_set = 0;
    line *oldest = NULL, *unused = NULL;
    for (int i = 0; i < LINES_MAX; i++) {
        line *e = &l->line[i];
        if (!e->used) {
            unused = e;
            continue;
        }
        if (set_of(l, e->base) != set_of(l, base))
            continue;
        in_set++;
        const uint64_t age = l->is.replace == REPLACE_LRU ? e->used_at : e->came_at;
        if (!oldest || age < (l->is.replace == REPLACE_LRU ? oldest->used_at : oldest->came_at))
            oldest = e;
    }
    line *place = in_set < l->is.ways ? unused : oldest;
    if (!place)
        abort();
    *left = *place;
    *place = (line){.used = true, .base = base, .came_at = ++r->clock};
    return place;
}

static void access_level(reference *r, level *l, uint64_t first, uint64_t bytes, counts_kind kind, bool write_back);

static void below(reference *r, level *l, uint64_t first, uint64_t bytes, counts_kind kind, bool write_back) {
    if (kind == COUNTS_WRITE)
        l->seen.bytes_written += bytes;
    else
        l->seen.bytes_read += bytes;
    if (l->next)
        access_level(r, l->next, first, bytes, kind, write_back);
}

/* Whole sectors at a time, neighbours together. */
static void below_where(reference *r, level *l, const bool *which, uint64_t base, counts_kind kind, bool write_back) {
    for (uint64_t i = 0; i < l->is.line_bytes;) {
        uint64_t n = 0;
        while (i + n < l->is.line_bytes && which[i + n])
            n++;
        if (n)
            below(r, l, base + i, n, kind, write_back);
        i += n ? n : 1;
    }
}

/* Bytes first .. last of one line. */
static void access_line(reference *r, level *l, uint64_t first, uint64_t last, counts_kind kind, bool write_back) {
    const uint64_t base = first / l->is.line_bytes * l->is.line_bytes, sector = l->is.sector_bytes;
    line *e = lookup(l, base);
    bool need[BYTES_MAX] = {false}, fetch[BYTES_MAX] = {false};
    bool miss = false;
    for (uint64_t i = 0; i < l->is.line_bytes; i++) {
        const uint64_t from = base + i / sector * sector, to = from + sector - 1;
        need[i] = from <= last && to >= first;
        const bool lacks = need[i] && !(e && e->valid[i]);
        const bool covered = first <= from && to <= last;
        miss |= lacks;
        fetch[i] = lacks && !(write_back && covered);
    }
    l->seen.of[kind].accesses++;
    l->seen.of[kind].misses += miss;
    for (uint64_t i = 0; i < l->is.line_bytes; i++)
        r->present_bytes += l == &r->data[0] && miss && need[i] && !fetch[i];
    if (miss && kind == COUNTS_WRITE && !l->is.write_allocate) {
        if (e)
            e->used_at = ++r->clock;
        below(r, l, first, last - first + 1, COUNTS_WRITE, write_back);
        return;
    }
    line left = {.used = false};
    if (!e)
        e = make_room(r, l, base, &left);
    e->used_at = ++r->clock;
    for (uint64_t i = 0; i < l->is.line_bytes; i++) {
        e->valid[i] |= need[i];
        e->dirty[i] |= need[i] && kind == COUNTS_WRITE && l->is.write_back;
    }
    below_where(r, l, fetch, base, kind == COUNTS_FETCH ? COUNTS_FETCH : COUNTS_READ, false);
    bool any = false;
    for (uint64_t i = 0; i < l->is.line_bytes; i++)
        any |= left.used && left.dirty[i];
    l->seen.write_backs += any;
    if (any)
        below_where(r, l, left.dirty, left.base, COUNTS_WRITE, true);
    if (kind == COUNTS_WRITE && !l->is.write_back)
        below(r, l, first, last - first + 1, COUNTS_WRITE, write_back);
}

static void access_level(reference *r, level *l, uint64_t first, uint64_t bytes, counts_kind kind, bool write_back) {
    while (bytes) {
        const uint64_t room = l->is.line_bytes - first % l->is.line_bytes;
        const uint64_t n = bytes < room ? bytes : room;
        access_line(r, l, first, first + n - 1, kind, write_back);
        first += n;
        bytes -= n;
    }
}

static void access_cachegrind(reference *r, level *l, uint64_t first, uint64_t bytes, counts_kind kind) {
    bool miss = true;
    for (; l && miss; l = l->next) {
        miss = false;
        for (uint64_t base = first / l->is.line_bytes * l->is.line_bytes; base < first + bytes;
             base += l->is.line_bytes) {
            line *e = lookup(l, base), left;
            miss |= !e;
            if (!e)
                e = make_room(r, l, base, &left);
            e->used_at = ++r->clock;
        }
        l->seen.of[kind].accesses++;
        l->seen.of[kind].misses += miss;
    }
}

void reference_access(reference *r, trace_access a) {
    level *l = a.kind == TRACE_FETCH ? &r->fetch : &r->data[0];
    if (a.size == 0 || (a.kind == TRACE_FETCH && l->is.ways == 0))
        return;
    const counts_kind kind = a.kind == TRACE_FETCH ? COUNTS_FETCH : a.kind == TRACE_WRITE ? COUNTS_WRITE : COUNTS_READ;
    if (r->rules == COUNTS_CACHEGRIND) {
        access_cachegrind(r, l, a.addr, kind != COUNTS_FETCH && a.size > r->shortest ? r->shortest : a.size, kind);
        return;
    }
    access_level(r, l, a.addr, a.size, kind, false);
    if (a.kind == TRACE_MODIFY)
        access_level(r, l, a.addr, a.size, COUNTS_WRITE, false);
}

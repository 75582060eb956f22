#include "sim/counts.h"

#include "base/mem.h"
#include "base/num.h"
#include "sim/counts_plain.h"

#include <string.h>

enum { CHUNK = 256 }; /* requests that go through the first level of a plain hierarchy at a time */

/* A line in a set; the entries of a set stand in the order in which they are to leave, the last one first. */
typedef struct entry {
    uint64_t line;
    uint8_t valid, dirty; /* a bit per sector */
} entry;

#define EMPTY UINT64_MAX /* no line has this number: lines have at least 4 bytes */

typedef struct level {
    counts_cache is;
    struct level *next; /* NULL: memory */
    counts_level seen;
    uint64_t sets;
    uint32_t line_shift, sector_shift;
    uint64_t line_mask; /* line_bytes - 1 */
    uint32_t all;       /* a bit for every sector of a line */
    entry *entries;     /* ways of set 0, of set 1, ... */
    entry *last;        /* of the last access, which nothing but the next one can drive out; never NULL */
    prng random;
    plain_level plain;      /* used instead of entries where the whole hierarchy is plain */
    plain_request *request; /* what comes in from above, then */
    size_t requests;
} level;

struct counts {
    counts_rules rules;
    bool plain, has_fetch;
    uint32_t levels;
    uint32_t shortest_line;
    plain_request *dropped; /* what a plain hierarchy asks of memory */
    level data[COUNTS_LEVELS_MAX];
    level fetch;
};

/* ---- building ---------------------------------------------------------------------------------------------------- */

static bool is_power_of_two(uint64_t x) {
    return x && (x & (x - 1)) == 0;
}

status counts_check(const counts_cache *k, message *m) {
    if (!is_power_of_two(k->line_bytes) || k->line_bytes < 4 || k->line_bytes > COUNTS_LINE_MAX)
        return fail(m, ERR_INPUT, "cache %s: a line of %u bytes; a power of two from 4 to %d is needed", k->name,
                    k->line_bytes, COUNTS_LINE_MAX);
    if (!is_power_of_two(k->sector_bytes) || k->sector_bytes > k->line_bytes ||
        k->line_bytes / k->sector_bytes > COUNTS_SECTORS_MAX)
        return fail(m, ERR_INPUT, "cache %s: sectors of %u bytes; a power of two, 1 to %d in a line, is needed",
                    k->name, k->sector_bytes, COUNTS_SECTORS_MAX);
    if (k->ways < 1 || k->ways > COUNTS_WAYS_MAX)
        return fail(m, ERR_INPUT, "cache %s: %u ways; 1 to %d can be simulated", k->name, k->ways, COUNTS_WAYS_MAX);
    const uint64_t set_bytes = (uint64_t)k->ways * k->line_bytes;
    if (k->size_bytes == 0 || k->size_bytes % set_bytes != 0)
        return fail(m, ERR_INPUT, "cache %s: %llu bytes are not a whole number of sets of %u ways of %u bytes", k->name,
                    (unsigned long long)k->size_bytes, k->ways, k->line_bytes);
    if (k->size_bytes / set_bytes > UINT32_MAX)
        return fail(m, ERR_INPUT, "cache %s: %llu sets; at most 2^32 - 1 can be simulated", k->name,
                    (unsigned long long)(k->size_bytes / set_bytes));
    return OK;
}

static bool is_plain(const counts_cache *k, const counts_cache *first) {
    return k->replace == REPLACE_LRU && k->write_back && k->write_allocate && k->sector_bytes == k->line_bytes &&
           k->line_bytes == first->line_bytes && k->ways <= PLAIN_WAYS_MAX && k->set_hash.count == 0;
}

static bool hierarchy_is_plain(const counts_hierarchy *h) {
    bool plain = h->rules == COUNTS_HARDWARE && (!h->has_fetch || is_plain(&h->fetch, &h->data[0]));
    for (uint32_t i = 0; i < h->levels; i++)
        plain = plain && is_plain(&h->data[i], &h->data[0]);
    return plain;
}

/* Room for what can gather at a level of a plain hierarchy. The second takes up to two chunks and what one more
 * of the first leaves, and then each level asks at most twice for what it is asked. */
static size_t requests_max(uint32_t depth) {
    return depth ? (size_t)4 * CHUNK << (depth - 1) : CHUNK;
}

static status level_init(counts *c, level *l, const counts_cache *k, level *next, uint32_t depth, message *m) {
    *l = (level){
        .is = *k,
        .next = next,
        .sets = k->size_bytes / k->line_bytes / k->ways,
        .line_shift = (uint32_t)__builtin_ctz(k->line_bytes),
        .sector_shift = (uint32_t)__builtin_ctz(k->sector_bytes),
        .line_mask = k->line_bytes - 1,
        .all = (1u << k->line_bytes / k->sector_bytes) - 1,
        .random = {.state = 1},
    };
    if (k->line_bytes < c->shortest_line)
        c->shortest_line = k->line_bytes;
    if (c->plain) {
        l->request = mem_zero(requests_max(depth), sizeof *l->request);
        if (!l->request)
            return fail(m, ERR_MEMORY, "not enough memory");
        return plain_init(&l->plain, k, depth == 0, c->has_fetch, m);
    }
    uint64_t lines = l->sets * k->ways; /* no more than size_bytes */
    l->entries = lines <= SIZE_MAX ? mem_zero((size_t)lines, sizeof *l->entries) : NULL;
    if (!l->entries)
        return fail(m, ERR_MEMORY, "not enough memory for the tags of cache %s", k->name);
    for (uint64_t i = 0; i < lines; i++)
        l->entries[i].line = EMPTY;
    l->last = l->entries;
    return OK;
}

static status build(counts *c, const counts_hierarchy *h, message *m) {
    if (h->levels < 1 || h->levels > COUNTS_LEVELS_MAX)
        return fail(m, ERR_INPUT, "%u levels of caches; 1 to %d can be simulated", h->levels, COUNTS_LEVELS_MAX);
    for (uint32_t i = 0; i < h->levels; i++)
        TRY(counts_check(&h->data[i], m));
    if (h->has_fetch)
        TRY(counts_check(&h->fetch, m));
    c->rules = h->rules;
    c->has_fetch = h->has_fetch;
    c->levels = h->levels;
    c->plain = hierarchy_is_plain(h);
    c->shortest_line = UINT32_MAX;
    if (c->plain) {
        c->dropped = mem_zero(requests_max(h->levels), sizeof *c->dropped);
        if (!c->dropped)
            return fail(m, ERR_MEMORY, "not enough memory");
    }
    for (uint32_t i = 0; i < h->levels; i++)
        TRY(level_init(c, &c->data[i], &h->data[i], i + 1 < h->levels ? &c->data[i + 1] : NULL, i, m));
    if (h->has_fetch)
        TRY(level_init(c, &c->fetch, &h->fetch, h->levels > 1 ? &c->data[1] : NULL, 0, m));
    return OK;
}

status counts_new(const counts_hierarchy *h, counts **out, message *m) {
    *out = NULL;
    counts *c = mem_zero(1, sizeof *c);
    if (!c)
        return fail(m, ERR_MEMORY, "not enough memory");
    const status s = build(c, h, m);
    if (s == OK)
        *out = c;
    else
        counts_free(c);
    return s;
}

static void level_free(level *l) {
    mem_free(l->entries);
    mem_free(l->request);
    plain_free(&l->plain);
}

void counts_free(counts *c) {
    if (!c)
        return;
    for (uint32_t i = 0; i < COUNTS_LEVELS_MAX; i++)
        level_free(&c->data[i]);
    level_free(&c->fetch);
    mem_free(c->dropped);
    mem_free(c);
}

static counts_level seen(const counts *c, const level *l) {
    return c->plain ? plain_seen(&l->plain, l->is.line_bytes) : l->seen;
}

counts_level counts_of(const counts *c, uint32_t i) {
    return seen(c, &c->data[i]);
}

counts_level counts_of_fetch(const counts *c) {
    return seen(c, &c->fetch);
}

/* ---- sets -------------------------------------------------------------------------------------------------------- */

static entry *set_of(const level *l, uint64_t line) {
    uint64_t h = line;
    for (const uint8_t *s = l->is.set_hash.shift; *s; s++)
        h ^= line >> *s;
    return l->entries + h % l->sets * l->is.ways;
}

static void move_first(entry *set, uint32_t way) {
    const entry e = set[way];
    memmove(set + 1, set, way * sizeof *set);
    set[0] = e;
}

/* The entry of a line, marked as used; NULL when it is absent. */
static entry *find(level *l, uint64_t line) {
    if (l->last->line == line)
        return l->last;
    entry *set = set_of(l, line);
    for (uint32_t way = 0; way < l->is.ways; way++)
        if (set[way].line == line) {
            if (l->is.replace == REPLACE_LRU) {
                move_first(set, way);
                way = 0;
            }
            return l->last = &set[way];
        }
    return NULL;
}

/* The line comes in, with nothing valid yet. *old: what left for it. */
static entry *bring_in(level *l, uint64_t line, entry *old) {
    entry *set = set_of(l, line);
    const uint32_t ways = l->is.ways;
    uint32_t place = 0;
    if (l->is.replace == REPLACE_RANDOM && set[ways - 1].line != EMPTY)
        place = (uint32_t)prng_below(&l->random, ways);
    else
        move_first(set, ways - 1);
    *old = set[place];
    set[place] = (entry){.line = line};
    return l->last = &set[place];
}

/* ---- COUNTS_HARDWARE --------------------------------------------------------------------------------------------- */

/* Who writes: sectors that a write-back covers need not be fetched. */
typedef enum origin { FROM_PROGRAM, FROM_WRITE_BACK } origin;

static void access_bytes(level *l, uint64_t first, uint64_t last, counts_kind kind, origin from);

static void ask_below(level *l, uint64_t first, uint64_t last, counts_kind kind, origin from) {
    if (kind == COUNTS_WRITE)
        l->seen.bytes_written += last - first + 1;
    else
        l->seen.bytes_read += last - first + 1;
    if (l->next)
        access_bytes(l->next, first, last, kind, from);
}

/* Each run of neighbours among these sectors of a line. */
static void ask_sectors(level *l, uint64_t line, uint32_t sectors, counts_kind kind, origin from) {
    const uint64_t base = line << l->line_shift;
    while (sectors) {
        const uint32_t low = (uint32_t)__builtin_ctz(sectors);
        const uint32_t past = (uint32_t)__builtin_ctz(~(sectors >> low)) + low;
        ask_below(l, base + ((uint64_t)low << l->sector_shift), base + (((uint64_t)past << l->sector_shift) - 1), kind,
                  from);
        sectors &= ~0u << past;
    }
}

static void write_back(level *l, uint64_t line, uint32_t sectors) {
    l->seen.write_backs++;
    ask_sectors(l, line, sectors, COUNTS_WRITE, FROM_WRITE_BACK);
}

/* Sectors of a line that the bytes first .. last (offsets in it) touch, and those that they cover wholly. */
static uint32_t touched(const level *l, uint64_t first, uint64_t last) {
    return (2u << (last >> l->sector_shift)) - (1u << (first >> l->sector_shift));
}

static uint32_t covered(const level *l, uint64_t first, uint64_t last) {
    const uint64_t low = ceil_div(first, l->is.sector_bytes), past = (last + 1) >> l->sector_shift;
    return past > low ? (1u << past) - (1u << low) : 0;
}

/* The line has all sectors of `need` from now on; those in `fetch` come from below. e: its entry, NULL when absent. */
static entry *fill(level *l, entry *e, uint64_t line, uint32_t need, uint32_t fetch, counts_kind kind) {
    entry old = {.line = EMPTY};
    if (!e)
        e = bring_in(l, line, &old);
    e->valid |= (uint8_t)need;
    ask_sectors(l, line, fetch, kind == COUNTS_WRITE ? COUNTS_READ : kind, FROM_PROGRAM);
    if (old.dirty)
        write_back(l, old.line, old.dirty);
    return e;
}

/* The bytes first .. last, all of one line. */
static void access_line(level *l, uint64_t first, uint64_t last, counts_kind kind, origin from) {
    const uint64_t line = first >> l->line_shift;
    const uint32_t need = touched(l, first & l->line_mask, last & l->line_mask);
    entry *e = find(l, line);
    const uint32_t missing = e ? need & ~(uint32_t)e->valid : need;
    const bool miss = !e || missing;
    l->seen.of[kind].accesses++;
    l->seen.of[kind].misses += miss;
    if (miss && kind == COUNTS_WRITE && !l->is.write_allocate) {
        ask_below(l, first, last, COUNTS_WRITE, from);
        return;
    }
    if (miss) {
        const bool whole = from == FROM_WRITE_BACK;
        e = fill(l, e, line, need, whole ? missing & ~covered(l, first & l->line_mask, last & l->line_mask) : missing,
                 kind);
    }
    if (kind != COUNTS_WRITE)
        return;
    if (l->is.write_back)
        e->dirty |= (uint8_t)need;
    else
        ask_below(l, first, last, COUNTS_WRITE, from);
}

static void access_bytes(level *l, uint64_t first, uint64_t last, counts_kind kind, origin from) {
    while (last > (first | l->line_mask)) {
        access_line(l, first, first | l->line_mask, kind, from);
        first = (first | l->line_mask) + 1;
    }
    access_line(l, first, last, kind, from);
}

/* The bytes of one access of the program, and whom they go to. */
typedef struct span {
    level *level;
    uint64_t first, last;
    counts_kind kind; /* of a modify: COUNTS_READ, and a write comes after it */
} span;

/* False when there is nothing to do. */
static bool span_of(counts *c, const trace_access *a, span *s) {
    static const counts_kind kinds[] = {[TRACE_READ] = COUNTS_READ,
                                        [TRACE_WRITE] = COUNTS_WRITE,
                                        [TRACE_MODIFY] = COUNTS_READ,
                                        [TRACE_FETCH] = COUNTS_FETCH};
    const bool fetch = a->kind == TRACE_FETCH;
    if (a->size == 0 || (fetch && !c->has_fetch))
        return false;
    uint64_t last = 0;
    if (!add_u64(a->addr, a->size - 1, &last))
        last = UINT64_MAX;
    *s = (span){fetch ? &c->fetch : &c->data[0], a->addr, last, kinds[a->kind]};
    return true;
}

static void run_hardware(counts *c, const trace_access *access, size_t count) {
    for (size_t i = 0; i < count; i++) {
        span s;
        if (!span_of(c, &access[i], &s))
            continue;
        access_bytes(s.level, s.first, s.last, s.kind, FROM_PROGRAM);
        if (access[i].kind == TRACE_MODIFY)
            access_bytes(s.level, s.first, s.last, COUNTS_WRITE, FROM_PROGRAM);
    }
}

/* ---- COUNTS_HARDWARE, plain hierarchies -------------------------------------------------------------------------- */

/* What has gathered at a level goes through it and all below. */
static void drain(counts *c, level *l) {
    for (; l; l = l->next) {
        plain_request *out = l->next ? l->next->request : c->dropped;
        const size_t count = plain_filter(&l->plain, l->request, l->requests, out);
        l->requests = 0;
        if (l->next)
            l->next->requests = count;
    }
}

/* Where a first level's next requests to the level below go; room for two chunks. */
static plain_request *place_below(counts *c, const level *l) {
    if (!l->next)
        return c->dropped;
    if (l->next->requests > (size_t)2 * CHUNK)
        drain(c, l->next);
    return l->next->request + l->next->requests;
}

static void sent_below(level *l, size_t count) {
    if (l->next)
        l->next->requests += count;
}

/* A span of any length, line by line. */
static void run_span(counts *c, const span *s, counts_kind kind) {
    level *l = s->level;
    const uint64_t last = s->last >> l->line_shift;
    for (uint64_t line = s->first >> l->line_shift; line <= last; line++) {
        const plain_request r = plain_request_of(line, kind);
        sent_below(l, plain_filter(&l->plain, &r, 1, place_below(c, l)));
    }
}

static void run_plain(counts *c, const trace_access *access, size_t count) {
    level *l = &c->data[0];
    for (size_t i = 0; i < count;) {
        size_t taken = count - i < CHUNK ? count - i : CHUNK;
        sent_below(l, plain_accesses(&l->plain, access + i, &taken, place_below(c, l)));
        i += taken;
        span s;
        if (taken == 0 && span_of(c, &access[i], &s)) {
            run_span(c, &s, s.kind);
            if (access[i].kind == TRACE_MODIFY)
                run_span(c, &s, COUNTS_WRITE);
        }
        i += taken == 0;
    }
    if (l->next)
        drain(c, l->next);
}

/* ---- the end of a program ---------------------------------------------------------------------------------------- */

static void flush_plain(counts *c, level *l) {
    for (uint64_t set = 0; set < l->sets; set++) {
        plain_request *out = l->next ? l->next->request : c->dropped;
        const size_t count = plain_clean(&l->plain, set, out);
        if (l->next && count) {
            l->next->requests = count;
            drain(c, l->next);
        }
    }
}

static void flush_level(level *l) {
    const uint64_t lines = l->sets * l->is.ways;
    for (entry *e = l->entries; e < l->entries + lines; e++)
        if (e->dirty) {
            write_back(l, e->line, e->dirty);
            e->dirty = 0;
        }
}

void counts_flush(counts *c) {
    for (uint32_t i = 0; i < c->levels; i++)
        if (c->plain)
            flush_plain(c, &c->data[i]);
        else
            flush_level(&c->data[i]);
}

/* ---- COUNTS_CACHEGRIND ------------------------------------------------------------------------------------------- */

static bool misses_line(level *l, uint64_t line) {
    entry old;
    if (find(l, line))
        return false;
    bring_in(l, line, &old);
    return true;
}

static void access_whole(const span *s) {
    for (level *l = s->level; l; l = l->next) {
        bool missed = false;
        for (uint64_t line = s->first >> l->line_shift; line <= s->last >> l->line_shift; line++)
            missed |= misses_line(l, line);
        l->seen.of[s->kind].accesses++;
        l->seen.of[s->kind].misses += missed;
        if (!missed)
            return;
    }
}

static void run_cachegrind(counts *c, const trace_access *access, size_t count) {
    for (size_t i = 0; i < count; i++) {
        span s;
        if (!span_of(c, &access[i], &s))
            continue;
        if (s.kind != COUNTS_FETCH && s.last - s.first >= c->shortest_line)
            s.last = s.first + (c->shortest_line - 1);
        access_whole(&s);
    }
}

void counts_run(counts *c, const trace_access *access, size_t count) {
    if (c->rules == COUNTS_CACHEGRIND)
        run_cachegrind(c, access, count);
    else if (c->plain)
        run_plain(c, access, count);
    else
        run_hardware(c, access, count);
}

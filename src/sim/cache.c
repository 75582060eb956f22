#include "sim/cache.h"

#include "base/mem.h"

#include <stddef.h>
#include <string.h>

static cache_set *set_at(const cache *c, uint32_t set) {
    return (cache_set *)(void *)(c->set + set * c->set_bytes);
}

static uint64_t *pending_of(const cache *c, cache_set *s) {
    return s->check + c->check_words;
}

static cache_link *links_of(const cache *c, cache_set *s) {
    return (cache_link *)(void *)(pending_of(c, s) + c->pending_words);
}

status cache_init(cache *c, const cache_level *desc, uint32_t share, message *m) {
    *c = (cache){.desc = desc, .ways = desc->ways, .line_bytes = desc->line_bytes, .random = 1, .last_line = -1};
    c->sets = (uint32_t)(desc->size_bytes / share / desc->line_bytes / desc->ways);
    c->set_mask = (c->sets & (c->sets - 1)) == 0 ? c->sets - 1 : 0;
    c->check_words = (c->ways + 7) / 8;
    c->pending_words = (c->ways + 63) / 64;
    c->set_bytes = sizeof(cache_set) + ((size_t)c->check_words + c->pending_words) * 8 +
                   (c->ways * sizeof(cache_link) + 7) / 8 * 8;
    const size_t slots = (size_t)c->sets * c->ways;
    c->mshr_count = desc->mshrs;
    const size_t waiters = (size_t)desc->mshrs * ((size_t)desc->mshr_merges + 1);
    c->set = mem_zero(c->sets, c->set_bytes);
    c->line = mem_zero(slots, sizeof *c->line);
    c->mshr = mem_zero(c->mshr_count, sizeof *c->mshr);
    c->waiter = mem_zero(waiters, sizeof *c->waiter);
    c->due = mem_zero(c->mshr_count, sizeof *c->due);
    if (!c->set || !c->line || !c->mshr || !c->waiter || !c->due)
        return fail(m, ERR_MEMORY, "not enough memory for cache level %s (%zu lines)", desc->name, slots);
    for (uint32_t i = 0; i < c->sets; i++) { /* way 0 is the oldest: empty ways are filled in order */
        cache_set *s = set_at(c, i);
        cache_link *link = links_of(c, s);
        s->newest = (uint16_t)(c->ways - 1);
        for (uint32_t way = 0; way < c->ways; way++)
            link[way] = (cache_link){.newer = (uint16_t)(way + 1), .older = (uint16_t)(way - 1)};
    }
    for (size_t i = 0; i < slots; i++) {
        c->line[i].number = -1;
        c->line[i].mshr = CACHE_NONE;
    }
    for (uint32_t i = 0; i < c->mshr_count; i++)
        c->mshr[i].next = i + 1 < c->mshr_count ? (int32_t)i + 1 : CACHE_NONE;
    c->free_mshr = c->mshr_count ? 0 : CACHE_NONE;
    c->free_waiter = CACHE_NONE;
    c->waiter_count = (uint32_t)waiters;
    c->waiters_touched = c->mshr_count;
    return OK;
}

void cache_free(cache *c) {
    mem_free(c->set);
    mem_free(c->line);
    mem_free(c->mshr);
    mem_free(c->waiter);
    mem_free(c->due);
    *c = (cache){0};
}

static uint32_t hash_set(const cache *c, int64_t line) {
    uint64_t h = (uint64_t)line;
    for (const uint8_t *s = c->desc->set_hash.shift; *s; s++)
        h ^= (uint64_t)line >> *s;
    if (c->set_mask || c->sets == 1)
        return (uint32_t)h & c->set_mask;
    return h <= UINT32_MAX ? (uint32_t)h % c->sets : (uint32_t)(h % c->sets);
}

static uint32_t set_of(cache *c, int64_t line) {
    if (c->last_line != line) {
        c->last_line = line;
        c->last_set = hash_set(c, line);
    }
    return c->last_set;
}

/* The byte of a line's number that its set keeps, in every byte of a word. Neighbours in a set differ in high bits. */
static uint64_t check_of(int64_t line) {
    return ((uint64_t)line * UINT64_C(0x9e3779b97f4a7c15) >> 56) * UINT64_C(0x0101010101010101);
}

/* The way becomes the newest of its set. */
static void touch(const cache *c, cache_set *s, uint32_t way) {
    if (s->newest == way)
        return;
    cache_link *link = links_of(c, s);
    const cache_link l = link[way];
    link[l.newer].older = l.older;
    if (s->oldest == way)
        s->oldest = l.newer;
    else
        link[l.older].newer = l.newer;
    link[s->newest].newer = (uint16_t)way;
    link[way].older = s->newest;
    s->newest = (uint16_t)way;
}

/* Of the ways 8 * word .. 8 * word + 7 those that may hold the line, as bit 7 of a byte each: the lowest way whose byte
 * is equal is among them; of the others some may be there for nothing. */
static uint64_t candidates(const cache_set *s, uint32_t word, uint64_t check) {
    const uint64_t different = s->check[word] ^ check;
    return (different - UINT64_C(0x0101010101010101)) & ~different & UINT64_C(0x8080808080808080);
}

int32_t cache_find(cache *c, int64_t line) {
    const uint32_t set = set_of(c, line);
    cache_set *s = set_at(c, set);
    const cache_line *lines = c->line + (size_t)set * c->ways;
    const uint64_t check = check_of(line);
    for (uint32_t i = 0; i < c->check_words; i++)
        for (uint64_t may = candidates(s, i, check); may; may &= may - 1) {
            const uint32_t way = i * 8 + (uint32_t)__builtin_ctzll(may) / 8;
            if (way >= c->ways || lines[way].number != line)
                continue;
            if (c->desc->replace == REPLACE_LRU)
                touch(c, s, way);
            return (int32_t)(set * c->ways + way);
        }
    return CACHE_NONE;
}

int32_t cache_look(const cache *c, int64_t line) {
    const uint32_t set = hash_set(c, line);
    const cache_set *s = set_at(c, set);
    const cache_line *lines = c->line + (size_t)set * c->ways;
    const uint64_t check = check_of(line);
    for (uint32_t i = 0; i < c->check_words; i++)
        for (uint64_t may = candidates(s, i, check); may; may &= may - 1) {
            const uint32_t way = i * 8 + (uint32_t)__builtin_ctzll(may) / 8;
            if (way < c->ways && lines[way].number == line)
                return (int32_t)(set * c->ways + way);
        }
    return CACHE_NONE;
}

void cache_drop(cache *c, int32_t slot) {
    const uint32_t set = (uint32_t)slot / c->ways, way = (uint32_t)slot % c->ways;
    cache_set *s = set_at(c, set);
    cache_link *link = links_of(c, s);
    c->line[slot].number = -1;
    c->line[slot].present = c->line[slot].dirty = 0;
    if (s->oldest == way)
        return;
    link[link[way].older].newer = link[way].newer;
    if (s->newest == way)
        s->newest = link[way].older;
    else
        link[link[way].newer].older = link[way].older;
    link[s->oldest].older = (uint16_t)way;
    link[way].newer = s->oldest;
    s->oldest = (uint16_t)way;
}

void cache_prefetch_set(const cache *c, int64_t line) {
    const unsigned char *s = c->set + hash_set(c, line) * c->set_bytes;
    __builtin_prefetch(s, 1);
    __builtin_prefetch(s + c->set_bytes - 1, 1);
}

static void prefetch_line(const cache_line *l) {
    __builtin_prefetch(l, 1);
    __builtin_prefetch(&l->mshr, 1);
}

void cache_prefetch_line(const cache *c, int64_t line) {
    const uint32_t set = hash_set(c, line);
    const cache_set *s = set_at(c, set);
    const cache_line *lines = c->line + (size_t)set * c->ways;
    const uint64_t check = check_of(line);
    bool any = false;
    for (uint32_t i = 0; i < c->check_words; i++)
        for (uint64_t may = candidates(s, i, check); may; may &= may - 1) {
            prefetch_line(&lines[i * 8 + (uint32_t)__builtin_ctzll(may) / 8]);
            any = true;
        }
    if (!any)
        prefetch_line(&lines[s->oldest]);
}

static uint64_t next_random(cache *c) {
    uint64_t x = c->random; /* xorshift64 (Marsaglia 2003) */
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return c->random = x;
}

static int32_t random_victim(cache *c, size_t base) {
    int32_t victim = CACHE_NONE;
    const uint32_t start = (uint32_t)(next_random(c) % c->ways);
    for (uint32_t i = 0; i < c->ways; i++) {
        const size_t slot = base + (start + i < c->ways ? start + i : start + i - c->ways);
        if (c->line[slot].number < 0)
            return (int32_t)slot;
        if (c->line[slot].mshr == CACHE_NONE && victim == CACHE_NONE)
            victim = (int32_t)slot;
    }
    return victim;
}

int32_t cache_victim(cache *c, int64_t line) {
    const uint32_t set = set_of(c, line);
    const size_t base = (size_t)set * c->ways;
    if (c->desc->replace == REPLACE_RANDOM)
        return random_victim(c, base);
    /* Empty ways are the oldest, since nothing has touched them. */
    cache_set *s = set_at(c, set);
    if (s->pending == c->ways)
        return CACHE_NONE;
    const cache_link *link = links_of(c, s);
    const uint64_t *pending = pending_of(c, s);
    uint32_t way = s->oldest;
    while (pending[way / 64] >> way % 64 & 1)
        way = link[way].newer;
    return (int32_t)(base + way);
}

void cache_replace(cache *c, int32_t slot, int64_t line) {
    const uint32_t set = set_of(c, line), way = (uint32_t)slot - set * c->ways;
    cache_set *s = set_at(c, set);
    const uint32_t shift = way % 8 * 8;
    s->check[way / 8] = (s->check[way / 8] & ~(UINT64_C(0xff) << shift)) | (check_of(line) & UINT64_C(0xff) << shift);
    touch(c, s, way);
    c->line[slot].number = line;
    c->line[slot].present = c->line[slot].dirty = 0;
}

/* The first miss of the line in this slot begins, or its last one has ended. */
static void toggle_pending(cache *c, int32_t slot, bool begins) {
    const uint32_t set = (uint32_t)slot / c->ways, way = (uint32_t)slot % c->ways;
    cache_set *s = set_at(c, set);
    pending_of(c, s)[way / 64] ^= UINT64_C(1) << way % 64;
    s->pending += begins ? 1 : -1u;
}

void cache_pin(cache *c, int32_t slot, bool pinned) {
    if ((c->line[slot].mshr != CACHE_NONE) == pinned)
        return;
    toggle_pending(c, slot, pinned);
    c->line[slot].mshr = pinned ? 0 : CACHE_NONE;
}

int32_t cache_mshr_new(cache *c, int32_t slot, int64_t line, bytemask mask) {
    const int32_t id = c->free_mshr;
    if (id == CACHE_NONE)
        return id;
    cache_mshr *h = &c->mshr[id];
    c->free_mshr = h->next;
    *h = (cache_mshr){.mask = mask,
                      .remaining = mask,
                      .fill_time = CACHE_UNKNOWN,
                      .line = line,
                      .slot = slot,
                      .next = c->line[slot].mshr,
                      .waiters = CACHE_NONE};
    if (c->line[slot].mshr == CACHE_NONE)
        toggle_pending(c, slot, true);
    c->line[slot].mshr = id;
    c->mshr_used++;
    return id;
}

bool cache_mshr_wait(cache *c, int32_t mshr, cache_waiter w) {
    cache_mshr *h = &c->mshr[mshr];
    if (h->waiter_count > c->desc->mshr_merges)
        return false;
    int32_t id = h->waiter_count == 0 ? mshr : c->free_waiter;
    if (h->waiter_count == 0)
        ;
    else if (id != CACHE_NONE)
        c->free_waiter = c->waiter[id].next;
    else if (c->waiters_touched < c->waiter_count)
        id = (int32_t)c->waiters_touched++;
    else
        return false;
    w.next = h->waiters;
    c->waiter[id] = w;
    h->waiters = id;
    h->waiter_count++;
    return true;
}

void cache_schedule_fill(cache *c, int32_t mshr, int64_t time) {
    c->mshr[mshr].fill_time = time;
    __builtin_prefetch(&c->line[c->mshr[mshr].slot], 1); /* for the fill */
    uint32_t i = c->due_count++;
    while (i > 0) {
        const uint32_t up = (i - 1) / 2;
        if (c->due[up].time <= time)
            break;
        c->due[i] = c->due[up];
        i = up;
    }
    c->due[i] = (cache_due){time, mshr};
}

void cache_fill(cache *c, int32_t mshr) {
    cache_mshr *h = &c->mshr[mshr];
    cache_line *l = &c->line[h->slot];
    l->present |= h->mask;
    int32_t *link = &l->mshr;
    while (*link != mshr)
        link = &c->mshr[*link].next;
    *link = h->next;
    if (l->mshr == CACHE_NONE)
        toggle_pending(c, h->slot, false);
    h->next = c->free_mshr;
    c->free_mshr = mshr;
    c->mshr_used--;
}

void cache_settle(cache *c, int64_t time) {
    while (c->due_count && c->due[0].time <= time) {
        const int32_t mshr = c->due[0].mshr;
        const cache_due moved = c->due[--c->due_count];
        uint32_t i = 0;
        for (;;) {
            uint32_t child = 2 * i + 1;
            if (child >= c->due_count)
                break;
            child += child + 1 < c->due_count && c->due[child + 1].time < c->due[child].time;
            if (c->due[child].time >= moved.time)
                break;
            c->due[i] = c->due[child];
            i = child;
        }
        c->due[i] = moved;
        cache_fill(c, mshr);
    }
}

int32_t cache_take_waiters(cache *c, int32_t mshr) {
    const int32_t first = c->mshr[mshr].waiters;
    c->mshr[mshr].waiters = CACHE_NONE;
    c->mshr[mshr].waiter_count = 0;
    return first;
}

void cache_release_waiters(cache *c, int32_t first) {
    while (first != CACHE_NONE) {
        const int32_t next = c->waiter[first].next;
        if ((uint32_t)first >= c->mshr_count) {
            c->waiter[first].next = c->free_waiter;
            c->free_waiter = first;
        }
        first = next;
    }
}

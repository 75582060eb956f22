#include "sim/cache.h"

#include "base/mem.h"

#include <stddef.h>
#include <string.h>

status cache_init(cache *c, const cache_level *desc, uint32_t share, message *m) {
    *c = (cache){.desc = desc, .ways = desc->ways, .line_bytes = desc->line_bytes, .random = 1};
    c->sets = (uint32_t)(desc->size_bytes / share / desc->line_bytes / desc->ways);
    const size_t slots = (size_t)c->sets * c->ways;
    c->mshr_count = desc->mshrs;
    const size_t waiters = (size_t)desc->mshrs * ((size_t)desc->mshr_merges + 1);
    c->tag = mem_zero(slots, sizeof *c->tag);
    c->stamp = mem_zero(slots, sizeof *c->stamp);
    c->line = mem_zero(slots, sizeof *c->line);
    c->hint = mem_zero(c->sets, sizeof *c->hint);
    c->mshr = mem_zero(c->mshr_count, sizeof *c->mshr);
    c->waiter = mem_zero(waiters, sizeof *c->waiter);
    c->heap = mem_zero(c->mshr_count, sizeof *c->heap);
    if (!c->tag || !c->stamp || !c->line || !c->hint || !c->mshr || !c->waiter || !c->heap)
        return fail(m, ERR_MEMORY, "not enough memory for cache level %s (%zu lines)", desc->name, slots);
    memset(c->tag, 0xff, slots * sizeof *c->tag);
    for (size_t i = 0; i < slots; i++)
        c->line[i].mshr = CACHE_NONE;
    for (uint32_t i = 0; i < c->mshr_count; i++)
        c->mshr[i].next = i + 1 < c->mshr_count ? (int32_t)i + 1 : CACHE_NONE;
    for (size_t i = 0; i < waiters; i++)
        c->waiter[i].next = i + 1 < waiters ? (int32_t)i + 1 : CACHE_NONE;
    c->free_mshr = c->mshr_count ? 0 : CACHE_NONE;
    c->free_waiter = waiters ? 0 : CACHE_NONE;
    return OK;
}

void cache_free(cache *c) {
    mem_free(c->tag);
    mem_free(c->stamp);
    mem_free(c->line);
    mem_free(c->hint);
    mem_free(c->mshr);
    mem_free(c->waiter);
    mem_free(c->heap);
    *c = (cache){0};
}

static uint32_t set_of(const cache *c, int64_t line) {
    uint64_t h = (uint64_t)line;
    for (const uint8_t *s = c->desc->set_hash.shift; *s; s++)
        h ^= (uint64_t)line >> *s;
    if ((c->sets & (c->sets - 1)) == 0)
        return (uint32_t)(h & (c->sets - 1));
    return h <= UINT32_MAX ? (uint32_t)h % c->sets : (uint32_t)(h % c->sets);
}

int32_t cache_find(cache *c, int64_t line) {
    const uint32_t set = set_of(c, line);
    const size_t base = (size_t)set * c->ways;
    const int64_t *tag = c->tag + base;
    uint32_t way = c->hint[set];
    if (tag[way] != line) {
        for (way = 0; way < c->ways && tag[way] != line; way++)
            ;
        if (way == c->ways)
            return CACHE_NONE;
        c->hint[set] = (uint8_t)way;
    }
    if (c->desc->replace == REPLACE_LRU)
        c->stamp[base + way] = ++c->clock;
    return (int32_t)(base + way);
}

static uint64_t next_random(cache *c) {
    uint64_t x = c->random; /* xorshift64 (Marsaglia 2003) */
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return c->random = x;
}

int32_t cache_victim(cache *c, int64_t line) {
    const size_t base = (size_t)set_of(c, line) * c->ways;
    int32_t victim = CACHE_NONE;
    uint64_t oldest = UINT64_MAX;
    const uint32_t start = c->desc->replace == REPLACE_RANDOM ? (uint32_t)(next_random(c) % c->ways) : 0;
    for (uint32_t i = 0; i < c->ways; i++) {
        const uint32_t way = start + i < c->ways ? start + i : start + i - c->ways;
        const size_t slot = base + way;
        if (c->tag[slot] < 0)
            return (int32_t)slot;
        if (c->line[slot].mshr != CACHE_NONE)
            continue;
        if (c->desc->replace == REPLACE_RANDOM) {
            if (victim == CACHE_NONE)
                victim = (int32_t)slot;
        } else if (c->stamp[slot] < oldest) {
            oldest = c->stamp[slot];
            victim = (int32_t)slot;
        }
    }
    return victim;
}

void cache_replace(cache *c, int32_t slot, int64_t line) {
    c->tag[slot] = line;
    c->stamp[slot] = ++c->clock;
    c->line[slot].present = c->line[slot].dirty = 0;
    c->hint[(uint32_t)slot / c->ways] = (uint8_t)((uint32_t)slot % c->ways);
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
    c->line[slot].mshr = id;
    c->mshr_used++;
    return id;
}

bool cache_mshr_wait(cache *c, int32_t mshr, cache_waiter w) {
    cache_mshr *h = &c->mshr[mshr];
    const int32_t id = c->free_waiter;
    if (id == CACHE_NONE || h->waiter_count > c->desc->mshr_merges)
        return false;
    c->free_waiter = c->waiter[id].next;
    w.next = h->waiters;
    c->waiter[id] = w;
    h->waiters = id;
    h->waiter_count++;
    return true;
}

void cache_schedule_fill(cache *c, int32_t mshr, int64_t time) {
    c->mshr[mshr].fill_time = time;
    uint32_t i = c->heap_count++;
    while (i > 0) {
        const uint32_t up = (i - 1) / 2;
        if (c->mshr[c->heap[up]].fill_time <= time)
            break;
        c->heap[i] = c->heap[up];
        i = up;
    }
    c->heap[i] = mshr;
}

void cache_fill(cache *c, int32_t mshr) {
    cache_mshr *h = &c->mshr[mshr];
    cache_line *l = &c->line[h->slot];
    l->present |= h->mask;
    int32_t *link = &l->mshr;
    while (*link != mshr)
        link = &c->mshr[*link].next;
    *link = h->next;
    h->next = c->free_mshr;
    c->free_mshr = mshr;
    c->mshr_used--;
}

void cache_settle(cache *c, int64_t time) {
    while (c->heap_count && c->mshr[c->heap[0]].fill_time <= time) {
        const int32_t mshr = c->heap[0];
        const int32_t moved = c->heap[--c->heap_count];
        const int64_t key = c->mshr[moved].fill_time;
        uint32_t i = 0;
        for (;;) {
            uint32_t child = 2 * i + 1;
            if (child >= c->heap_count)
                break;
            if (child + 1 < c->heap_count &&
                c->mshr[c->heap[child + 1]].fill_time < c->mshr[c->heap[child]].fill_time)
                child++;
            if (c->mshr[c->heap[child]].fill_time >= key)
                break;
            c->heap[i] = c->heap[child];
            i = child;
        }
        c->heap[i] = moved;
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
        c->waiter[first].next = c->free_waiter;
        c->free_waiter = first;
        first = next;
    }
}

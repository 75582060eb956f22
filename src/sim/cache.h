/* cache.h - one instance (a slice, or a core's own) of a cache level: tags, byte masks, replacement, MSHRs.
 *
 * State only; time belongs to the callers. A line is named by its line number within the instance (for slices: the
 * slice-local number, see partition.h). A line in the tags may have bytes present (fetched or written), bytes dirty,
 * and misses under way, each an MSHR with the mask of bytes it will bring. Lines with misses under way are never
 * victims.
 *
 * An MSHR's fill time may be unknown (CACHE_UNKNOWN) until the level below has decided it; then the owner calls
 * cache_schedule_fill, and cache_settle applies all fills that are due.
 */
#ifndef COALIGN_SIM_CACHE_H
#define COALIGN_SIM_CACHE_H

#include "base/status.h"
#include "machine/machine.h"
#include "sim/bytemask.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CACHE_UNKNOWN INT64_MAX
enum { CACHE_NONE = -1 };

typedef struct cache_line {
    bytemask present, dirty;
    int64_t number; /* line number, -1 = empty */
    int32_t mshr;   /* first of the chain, CACHE_NONE */
} cache_line;

/* Whoever waits for an MSHR: `who` and `tag` are the owner's (a core and its MSHR, a slice's MSHR above ...). */
typedef struct cache_waiter {
    uint32_t who, tag;
    bytemask mask;    /* what it waits for, in the terms of its own line */
    int64_t earliest; /* it cannot be answered before */
    uint32_t shift;   /* its line begins so many bytes into this level's line */
    int32_t next;
} cache_waiter;

typedef struct cache_mshr {
    bytemask mask;      /* asked for below */
    bytemask remaining; /* not answered yet */
    int64_t fill_time;  /* CACHE_UNKNOWN, or when the bytes are here */
    int64_t line;       /* line number, for the owner */
    int32_t slot;       /* its line in the tags */
    int32_t next;       /* in the line's chain, or in the free list */
    int32_t waiters;    /* first waiter */
    uint32_t waiter_count;
} cache_mshr;

/* A scheduled fill: `time` beside the MSHR, so that ordering them touches nothing else. */
typedef struct cache_due {
    int64_t time;
    int32_t mshr;
} cache_due;

/* What one set needs for a look-up lies together, in a few host cache lines: a byte of every line's number to compare
 * eight ways at a time, which ways have misses under way, and the ways in order of their last use (LRU) or arrival
 * (FIFO) as a doubly linked list. */
typedef struct cache_link {
    uint16_t newer, older;
} cache_link;

typedef struct cache_set {
    uint16_t newest, oldest;
    uint32_t pending; /* ways with misses under way */
    uint64_t check[]; /* a byte per way, a bit per pending way, each rounded up to whole words; then cache_link[ways] */
} cache_set;

typedef struct cache {
    const cache_level *desc;
    uint32_t sets, ways, line_bytes;
    uint32_t set_mask; /* sets - 1 where that is a mask, else 0 */
    uint32_t check_words, pending_words;
    size_t set_bytes;
    unsigned char *set; /* cache_set, set_bytes each */
    cache_line *line;   /* slot = set * ways + way */
    uint64_t random;
    int64_t last_line; /* whose set was asked for last, and that set: find, victim and replace come together */
    uint32_t last_set;
    cache_mshr *mshr;
    cache_waiter *waiter; /* waiter i < mshr_count is always the first of MSHR i; the others go where they are needed */
    cache_due *due;       /* heap of MSHRs with known fill times, earliest first */
    uint32_t due_count, mshr_count, mshr_used;
    int32_t free_mshr, free_waiter;
    uint32_t waiter_count, waiters_touched; /* waiters never used yet are not in the free list */
} cache;

/* lines of capacity = desc->size_bytes / share / line size. share: slices that split the level (1 for core/cluster). */
status cache_init(cache *c, const cache_level *desc, uint32_t share, message *m);
void cache_free(cache *c);

/* The slot of a line, marked as just used; CACHE_NONE when absent. */
int32_t cache_find(cache *c, int64_t line);
/* The same without marking it. */
int32_t cache_look(const cache *c, int64_t line);
/* Empties a slot; it is the next of its set to be filled. */
void cache_drop(cache *c, int32_t slot);
/* Keeps the line in this slot from being replaced, or no longer: for owners without MSHRs on it. */
void cache_pin(cache *c, int32_t slot, bool pinned);
/* Where many look-ups are known ahead, the host can fetch what they will touch: first the sets of all of them, then,
 * with the sets there, the lines that they will find or replace. Changes nothing. */
void cache_prefetch_set(const cache *c, int64_t line);
void cache_prefetch_line(const cache *c, int64_t line);
static inline void cache_prefetch_mshr(const cache *c, uint32_t mshr) {
    __builtin_prefetch(&c->mshr[mshr], 1);
    __builtin_prefetch(&c->waiter[mshr], 1);
}
/* The slot to replace for this line: an empty one, else the policy's victim; CACHE_NONE when all have misses under way.
 * line[slot] still describes the old line: look there for its number and dirty bytes, then cache_replace. */
int32_t cache_victim(cache *c, int64_t line);
void cache_replace(cache *c, int32_t slot, int64_t line);

/* A new MSHR on the line in this slot; CACHE_NONE when none is free. */
int32_t cache_mshr_new(cache *c, int32_t slot, int64_t line, bytemask mask);
/* Adds a waiter; false when the MSHR's merges are used up. */
bool cache_mshr_wait(cache *c, int32_t mshr, cache_waiter w);
void cache_schedule_fill(cache *c, int32_t mshr, int64_t time);
/* Applies every fill due at or before `time`: bytes become present, MSHRs free. Their waiters must be gone. */
void cache_settle(cache *c, int64_t time);
/* Applies one fill at once (owners that are told of arrivals one by one). */
void cache_fill(cache *c, int32_t mshr);
/* Takes the list of waiters off an MSHR; walk it with c->waiter[i].next, then cache_release_waiters. */
int32_t cache_take_waiters(cache *c, int32_t mshr);
void cache_release_waiters(cache *c, int32_t first);
/* When the earliest scheduled fill happens; CACHE_UNKNOWN if none. */
static inline int64_t cache_next_fill(const cache *c) {
    return c->due_count ? c->due[0].time : CACHE_UNKNOWN;
}

#endif

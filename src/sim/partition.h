/* partition.h - one memory partition: its slices of every device-scope cache level, and its DRAM channel.
 *
 * Requests come in order of (time, source, sequence) from the engine; a partition shares nothing with the others, so
 * partitions can be simulated in parallel. Each slice takes one request per `request_cycles` and moves data at
 * `bytes_per_cycle`; a slice whose MSHRs are all in use takes nothing more until one is free. A store that finds the
 * write queue of the level below full waits for it, and what comes behind waits too.
 */
#ifndef COALIGN_SIM_PARTITION_H
#define COALIGN_SIM_PARTITION_H

#include "base/mem.h"
#include "base/status.h"
#include "machine/machine.h"
#include "sim/bytemask.h"
#include "sim/cache.h"
#include "sim/dram.h"
#include "sim/sim.h"

/* A request for bytes of one line, on its way to a partition. */
typedef struct mem_request {
    int64_t time;     /* tick of arrival at the partition */
    uint64_t address; /* of the line at the requester's level */
    bytemask mask;
    uint32_t token; /* the requester's: comes back in the answer */
    uint16_t core;  /* within the cluster; the cluster itself when it has a cache (CORE_IS_CLUSTER) */
    uint16_t write;
} mem_request;

enum {
    CORE_IS_CLUSTER = 0xffff,
    CORE_IS_CROSSBAR = 0xfffe, /* an answer that gives a credit back: its token is the partition */
};

typedef struct mem_response {
    int64_t cycle; /* at which the core can use it */
    bytemask mask;
    uint32_t token;
    uint16_t core, write;
} mem_response;

typedef struct request_list {
    mem_request *item;
    size_t count, capacity, next; /* next: the first not yet taken */
} request_list;

typedef struct response_list {
    mem_response *item;
    size_t count, capacity;
} response_list;

/* False: not enough memory. */
static inline bool request_list_push(request_list *l, const mem_request *r) {
    if (l->count == l->capacity && !mem_reserve((void **)&l->item, &l->capacity, l->count + 1, sizeof *l->item))
        return false;
    l->item[l->count++] = *r;
    return true;
}

static inline bool response_list_push(response_list *l, const mem_response *r) {
    if (l->count == l->capacity && !mem_reserve((void **)&l->item, &l->capacity, l->count + 1, sizeof *l->item))
        return false;
    l->item[l->count++] = *r;
    return true;
}

typedef struct slice {
    cache tags;
    int64_t port_free;            /* tick */
    int64_t busy;                 /* ticks in which the port was taken */
    int64_t busy_before, backlog; /* at the end of the last window; taken but not yet worked off */
} slice;

typedef struct partition {
    const machine *mach;
    uint32_t id, levels, first_level;    /* device levels: mach->level[first_level ..] */
    uint32_t slices[MACHINE_LEVELS_MAX]; /* per device level, in this partition */
    slice *slice[MACHINE_LEVELS_MAX];
    uint64_t per_byte[MACHINE_LEVELS_MAX];
    int64_t forward[MACHINE_LEVELS_MAX + 1];  /* ticks from level l-1 (0: from the core) to level l; the last is DRAM */
    int64_t backward[MACHINE_LEVELS_MAX + 1]; /* and back; together the difference of the latencies */
    level_counters count[MACHINE_LEVELS_MAX];
    dram_channel dram;
    response_list *out; /* per cluster */
    uint32_t clusters;
    cache_waiter *direct; /* without a device-scope cache: who waits for DRAM */
    size_t direct_capacity;
    int32_t direct_free;
    uint32_t direct_count;
    bool failed;                                 /* out of memory */
    int64_t window_busy[MACHINE_LEVELS_MAX + 1]; /* of the busiest slice, and of the DRAM channel, in the last window */
    int64_t blocked_before, blocked_backlog;
    int64_t began;      /* tick at which the first level last took a request */
    int64_t last_write; /* tick at which the last store was taken in */
} partition;

/* `clusters` response lists are made. */
status partition_init(partition *p, const machine *mach, uint32_t id, uint32_t clusters, message *m);
void partition_free(partition *p);

/* Which partition an address belongs to. */
uint32_t partition_of(const machine *mach, uint64_t address);
/* The address within the channel: chunks of one channel are numbered without gaps. */
uint64_t partition_local(const machine *mach, uint64_t address);

/* Where the requests to come are known: has the host fetch what this one will touch, in two steps (cache.h). */
void partition_prefetch(const partition *p, const mem_request *r, bool lines);
/* Handles one request; r->time is not before that of the last one. */
void partition_request(partition *p, uint32_t cluster, const mem_request *r);
/* Lets DRAM and fills go on up to `tick` (exclusive). */
void partition_advance(partition *p, int64_t tick);
/* Ends a window of so many ticks: fills window_busy. */
void partition_window(partition *p, int64_t ticks);
/* Writes back nothing, but empties the queues: the tick at which everything asked for is done. */
int64_t partition_drain(partition *p);

/* One-way time from a core's first-level lookup to the partition, in ticks, and the shortest round trip in cycles. */
int64_t partition_forward_ticks(const machine *mach);
uint32_t partition_round_trip_cycles(const machine *mach);

#endif

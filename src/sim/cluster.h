/* cluster.h - the cores that share a cluster-scope cache (RDNA's L1 of a shader array), and that cache.
 *
 * Where no level has that scope a cluster is one core. A cluster is the unit of parallel simulation: cluster_run needs
 * nothing but the answers delivered before, and leaves its requests in its crossbar port's lists.
 */
#ifndef COALIGN_SIM_CLUSTER_H
#define COALIGN_SIM_CLUSTER_H

#include "sim/core.h"
#include "sim/crossbar.h"

typedef struct cluster {
    const core_shared *shared;
    const machine *mach;
    uint32_t id, cores;
    core **core;
    bool has_level;
    uint32_t level_index;
    slice level; /* the shared cache */
    level_counters level_count;
    uint64_t per_byte;
    int64_t hit_ticks;     /* from a request's start here to its use in the core */
    int64_t forward_ticks; /* from here to the partition */
    int64_t window;        /* cycles that the cores may run ahead of the shared cache */
    crossbar_port port;    /* to the partitions */
    bool blocked;          /* the first request waits for an answer from below */
    const char *fault;
} cluster;

/* `first_core` .. are simulated by this cluster; shared->forward_ticks is set for the cores. */
status cluster_init(cluster *cl, const core_shared *shared, uint32_t id, uint32_t cores, message *m);
void cluster_free(cluster *cl);

/* Has the host fetch what delivering this answer will touch. */
void cluster_prefetch(const cluster *cl, const mem_response *r);
void cluster_deliver(cluster *cl, const mem_response *r);
void cluster_run(cluster *cl, int64_t from, int64_t to);

/* The machine's cluster-scope level, or -1. */
int32_t cluster_level(const machine *mach);

#endif

/* engine.h - the parts of one run, as the engine and the result share them. */
#ifndef COALIGN_SIM_ENGINE_H
#define COALIGN_SIM_ENGINE_H

#include "kernel/occupancy.h"
#include "sim/cluster.h"
#include "sim/sample.h"

typedef struct engine {
    const machine *mach;
    const kernel *k;
    const sim_options *options;
    core_inst *code;
    uint32_t code_count; /* decoded */
    status source;       /* what reading the recording has come to, and why */
    message source_message;
    core_shared shared;
    occupancy_result occupancy;
    cluster *clusters;
    partition *partitions;
    uint32_t cluster_count, core_count;
    uint32_t working; /* clusters that get blocks: the first ones */
    int64_t quantum;  /* cycles */
    int64_t now;      /* all cores have been simulated up to here */
    uint64_t blocks;  /* to be simulated: all, until the sampler has seen enough */
    uint64_t next_block, finished_blocks;
    sampler sample;
    uint64_t peak_ticks[MACHINE_LEVELS_MAX + 1]; /* per level, then DRAM: see level_counters.busy_peak */
    int64_t last_dispatch;                       /* in dispatch steps of 1/1000 cycle */
    int64_t end;                                 /* cycle of the last event of the run */
    struct finish *finish;                       /* blocks that ended in this quantum */
    size_t finish_capacity;
} engine;

/* Sums the counters, works out the limiter and, when asked to, checks the conservation laws. */
status engine_result(const engine *e, sim_result *r, message *m);

/* The parts of it that results of CPUs share: the sum of two levels' counters, a resource that may be the limiter, the
 * share of its capacity from which on it is one, the checksum. */
void result_add_level(level_counters *to, const level_counters *from);
void result_offer(sim_result *r, limit_kind kind, uint32_t level, double utilisation);
extern const double result_busy_enough;
uint64_t result_checksum(const sim_result *r);

#endif

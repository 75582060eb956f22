/* pattern_run.h - what a pattern costs once the caches are as it leaves them.
 *
 * Two runs, one that ends with the warm-up and one that goes on: the difference of their times and counters is the
 * steady part. Up to PATTERN_WARM_UNITS units the warm-up is whole passes; a larger working set exceeds every private
 * cache, and the warm-up and the measured part are parts of its first pass.
 */
#ifndef COALIGN_SIM_PATTERN_RUN_H
#define COALIGN_SIM_PATTERN_RUN_H

#include "kernel/pattern.h"
#include "sim/sim.h"

enum {
    PATTERN_WARM_UNITS = 400000,
    PATTERN_ACCESSES = 20000 /* at least so many are measured, where there are passes */
};

/* Fills *steady, whose shares (busy ...) are those of the longer run, and *accesses, how many it counts. `wanted`:
 * about how many are to be measured, 0: as many as make sense. ERR_INPUT: sizes that make no sense, or that no lane of
 * the GPU can load. */
status pattern_run(const machine *mach, const pattern *p, uint64_t wanted, const sim_options *options,
                   sim_result *steady, uint64_t *accesses, message *m);

#endif

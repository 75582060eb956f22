#include "sim/pattern_run.h"

#include "sim/steady.h"

enum { GPU_ACCESS_MAX = 16 }; /* kernel/ir.h */

static uint64_t passes(uint64_t accesses, uint64_t units) {
    return (accesses + units - 1) / units * units;
}

static status run(const machine *mach, const pattern *p, uint64_t accesses, const sim_options *options,
                  sim_result *result, uint64_t *done, message *m) {
    kernel k = {0};
    status s = pattern_kernel_build(p, accesses, &k, done, m);
    *done *= k.blocks;
    if (s == OK)
        s = sim_run(mach, &k, options, result, m);
    kernel_free(&k);
    return s;
}

status pattern_run(const machine *mach, const pattern *p, uint64_t wanted, const sim_options *options,
                   sim_result *steady, uint64_t *accesses, message *m) {
    if (mach->kind == MACHINE_GPU && p->access_bytes > GPU_ACCESS_MAX)
        return fail(m, ERR_INPUT, "accesses of %u B: a lane of %s has at most %d", (unsigned)p->access_bytes,
                    mach->name, GPU_ACCESS_MAX);
    const uint64_t units = pattern_units(p);
    uint64_t warm = PATTERN_WARM_UNITS / 2, measured = wanted ? wanted : PATTERN_WARM_UNITS / 2;
    if (units && units <= PATTERN_WARM_UNITS) {
        warm = passes(PATTERN_ACCESSES, units);
        measured = passes(wanted ? wanted : 2 * PATTERN_ACCESSES, units);
    }
    sim_result before;
    uint64_t done_before = 0, done = 0;
    TRY(run(mach, p, warm, options, &before, &done_before, m));
    TRY(run(mach, p, warm + measured, options, steady, &done, m));
    steady_difference(mach, steady, &before);
    *accesses = done - done_before;
    return OK;
}

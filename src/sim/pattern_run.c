#include "sim/pattern_run.h"

#include <stddef.h>

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

/* to - from, word by word: both counted the same beginning. */
static void subtract(void *to, const void *from, size_t bytes) {
    uint64_t *t = to;
    const uint64_t *f = from;
    for (size_t i = 0; i < bytes / sizeof *t; i++)
        t[i] -= f[i] < t[i] ? f[i] : t[i];
}

static void keep_difference(const machine *mach, sim_result *r, const sim_result *warm) {
    r->cycles -= warm->cycles < r->cycles ? warm->cycles : r->cycles;
    r->time_s = (double)r->cycles / mach->clock_hz;
    subtract(r->instructions, warm->instructions,
             offsetof(sim_result, level_count) - offsetof(sim_result, instructions));
    for (uint32_t l = 0; l < r->level_count; l++)
        subtract(&r->level[l], &warm->level[l], offsetof(level_counters, busy_max));
    subtract(&r->dram, &warm->dram, offsetof(dram_counters, busy_max));
    const uint64_t cores = r->cpu.cores, dirty_left = r->cpu.dirty_left;
    subtract(&r->cpu, &warm->cpu, sizeof r->cpu);
    r->cpu.cores = cores;
    r->cpu.dirty_left = dirty_left;
    subtract(&r->resident_cycles, &warm->resident_cycles,
             offsetof(sim_result, achieved_occupancy) - offsetof(sim_result, resident_cycles));
}

status pattern_run(const machine *mach, const pattern *p, uint64_t wanted, const sim_options *options,
                   sim_result *steady, uint64_t *accesses, message *m) {
    if (mach->kind != MACHINE_CPU)
        return fail(m, ERR_INPUT, "patterns are for CPUs; %s is a GPU", mach->name);
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
    keep_difference(mach, steady, &before);
    *accesses = done - done_before;
    return OK;
}

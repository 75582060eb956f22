#include "sim/steady.h"

#include <stddef.h>

/* to - from, word by word: both counted the same beginning. */
static void subtract(void *to, const void *from, size_t bytes) {
    uint64_t *t = to;
    const uint64_t *f = from;
    for (size_t i = 0; i < bytes / sizeof *t; i++)
        t[i] -= f[i] < t[i] ? f[i] : t[i];
}

void steady_difference(const machine *mach, sim_result *r, const sim_result *warm) {
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

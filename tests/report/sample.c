#include "sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

machine sample_machine(void) {
    machine m = {
        .name = "Test GPU",
        .id = "test",
        .vendor = "nobody",
        .clock_hz = 1e9,
        .core = {.count = 10, .schedulers = 4, .max_warps = 64, .warp_width = 32},
        .level_count = 2,
        .level = {{.name = "L1", .scope = SCOPE_CORE, .line_bytes = 128, .sector_bytes = 32},
                  {.name = "L2 cache", .scope = SCOPE_DEVICE, .line_bytes = 128, .sector_bytes = 32}},
        .dram = {.bandwidth_bytes_per_s = 1e12},
    };
    return m;
}

run_record sample_record(const machine *mach) {
    run_record r = {
        .case_name = "slice",
        .strategy = "general",
        .dataset = "[4][5]i32",
        .plan_reason = "general: because this is a test",
        .mach = mach,
        .block_threads = 256,
        .registers = 32,
        .element_bytes = 4,
        .elements = 125000000,
        .useful_bytes = 1000000000,
        .measured_us = 800,
        .measured_low_us = 790,
        .measured_high_us = 810,
    };
    sim_result *s = &r.sim;
    s->cycles = 1000000;
    s->time_s = 1e-3;
    s->blocks = s->simulated_blocks = 2;
    s->warps = 16;
    s->instructions[OP_INT] = 300;
    s->instructions[OP_LOAD] = 100;
    s->requests[0] = s->requests[1] = 1;
    s->sectors[0] = 32;
    s->sectors[1] = 4;
    s->useful_bytes[0] = s->useful_bytes[1] = 128;
    s->tag_wavefronts_milli[0] = 1250;
    s->level_count = 2;
    s->level[0] = (level_counters){.read_sectors = 32, .read_miss_sectors = 32};
    s->level[1] = (level_counters){.read_sectors = 32,
                                   .read_hit_sectors = 8,
                                   .read_pending_sectors = 16,
                                   .read_miss_sectors = 8,
                                   .write_sectors = 4,
                                   .write_nofill_sectors = 4};
    s->level[1].cold_allocations = 5;
    s->level[1].busy_max = 0.6;
    s->level[1].busy_peak = 0.7;
    s->dram = (dram_counters){.read_bytes = 300000000,
                              .write_bytes = 200000000,
                              .row_hits = 3,
                              .row_misses = 1,
                              .blocked_max = 0.8,
                              .blocked_peak = 0.9};
    s->resident_blocks = 4;
    s->resident_warps = 32;
    s->occupancy_limit = "registers";
    s->resident_cycles = 4000;
    s->issue_cycles = 400;
    s->stall_cycles[STALL_WAIT] = 600;
    s->stall_cycles[STALL_LONG_SCOREBOARD] = 3000;
    s->scheduler_active_cycles = 10000000;
    s->achieved_occupancy = 0.45;
    s->pipe_busy[PIPE_ALU] = 0.91;
    s->limit[0] = (limiter){.kind = LIMIT_ISSUE, .utilisation = 0.93};
    s->limit[1] = (limiter){.kind = LIMIT_LEVEL, .level = 1, .utilisation = 0.81};
    s->checksum = 0xabc;
    return r;
}

run_record sample_empty(const machine *mach) {
    run_record r = {
        .case_name = "empty",
        .strategy = "nothing",
        .dataset = "[0]i32",
        .plan_reason = "",
        .mach = mach,
        .element_bytes = 4,
        .measured_us = NAN,
        .measured_low_us = NAN,
        .measured_high_us = NAN,
    };
    r.sim.level_count = mach->level_count;
    return r;
}

char *report_string(const report_options *options, const run_record *records, size_t count, size_t *size) {
    char *text = NULL;
    message m;
    FILE *out = open_memstream(&text, size);
    status s = report_write(out, options, records, count, &m);
    fclose(out);
    if (s != OK) {
        free(text);
        return NULL;
    }
    return text;
}

static char *field(const char *line, size_t index) {
    for (; index > 0; index--) {
        line += strcspn(line, ",\n");
        if (*line++ != ',')
            return NULL;
    }
    return strndup(line, strcspn(line, ",\n"));
}

char *csv_at(const char *csv, const char *column, size_t row) {
    size_t index = 0;
    for (;; index++) {
        char *name = field(csv, index);
        if (!name)
            return NULL;
        bool found = strcmp(name, column) == 0;
        free(name);
        if (found)
            break;
    }
    for (; row + 1 > 0; row--) {
        csv = strchr(csv, '\n');
        if (!csv || !*++csv)
            return NULL;
        if (row == 0)
            break;
    }
    return field(csv, index);
}

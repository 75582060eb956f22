/* Every row of tests/golden/memory_arithmetic.csv, and the ECM model against its authors' example. */
#include "model/arithmetic.h"
#include "model/ecm.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double texel(uint32_t bits, int height) {
    uint32_t w = 0, h = 0;
    cr_assert(texel_rectangle(32, bits, &w, &h));
    return height ? h : w;
}

typedef struct row {
    const char *quantity;
    double value;
} row;

/* The post's CPU and GPU; each row by the function that a user would call. */
static size_t compute(row *rows) {
    const double cpu_hz = 2e9, g80_hz = 1512e6, line = 128;
    const double stream = stream_bytes_per_s(line, 200, cpu_hz);
    const double issue = warp_issue_clocks(32, 8);
    const double texels = 39.2e9, lines = units_per_s(64e9, 32);
    const row list[] = {
        {"streaming output of the CPU", stream / 1e9},
        {"half of it for reads", stream / 2 / 1e9},
        {"floats read in a second", units_per_s(stream / 2, 4) / 1e9},
        {"operations per float read", ops_per_value(lane_ops_per_s(cpu_hz, 1, 4), stream / 2, 4)},
        {"throughput of L2 to that of L1", stream_bytes_per_s(line, 20, cpu_hz) / stream_bytes_per_s(line, 2, cpu_hz)},
        {"throughput of memory to that of L1", stream / stream_bytes_per_s(line, 2, cpu_hz)},
        {"G80 instruction rate", lane_ops_per_s(g80_hz, 16, 8) / 1e9},
        {"G80 clocks of a warp instruction", issue},
        {"G80 warps that hide 24 clocks of ALU latency", warps_to_hide(24, issue)},
        {"instructions that hide 400 clocks with 6 warps", insts_to_hide(400, 6, issue)},
        {"instructions that hide 600 clocks with 6 warps", insts_to_hide(600, 6, issue)},
        {"instructions that hide 400 clocks with 24 warps", insts_to_hide(400, 24, issue)},
        {"instructions that hide 600 clocks with 24 warps", insts_to_hide(600, 24, issue)},
        {"texture floats per ALU cycle", lane_ops_per_s(612e6, 64, 4) / lane_ops_per_s(g80_hz, 16, 8)},
        {"waste of 16 B texels in 32 B", wasted_share(16, 32)},
        {"waste of 4 B texels in 32 B", wasted_share(4, 32)},
        {"texels across at 8 bit", texel(8, 0)},
        {"texels down at 8 bit", texel(8, 1)},
        {"texels across at 32 bit", texel(32, 0)},
        {"texels down at 32 bit", texel(32, 1)},
        {"texels across at 64 bit", texel(64, 0)},
        {"texels down at 64 bit", texel(64, 1)},
        {"texels across at 128 bit", texel(128, 0)},
        {"texels down at 128 bit", texel(128, 1)},
        {"lines in a second at 64 GB/s", lines / 1e9},
        {"hits per line at 39.2 Gtexel/s", hits_per_miss(texels, lines)},
        {"hit rate at 39.2 Gtexel/s", hit_rate(texels, lines)},
    };
    memcpy(rows, list, sizeof list);
    return sizeof list / sizeof *list;
}

Test(arithmetic, golden) {
    row rows[64];
    const size_t count = compute(rows);
    FILE *f = fopen("tests/golden/memory_arithmetic.csv", "r");
    cr_assert(f);
    char line[256];
    size_t seen = 0;
    while (fgets(line, sizeof line, f)) {
        if (*line == '#' || strncmp(line, "quantity,", 9) == 0)
            continue;
        char *comma = strchr(line, ',');
        cr_assert(comma);
        *comma = '\0';
        char *rest = NULL;
        const double result = strtod(comma + 1, &rest);
        const double text = strtod(rest + 1, NULL);
        const bool in_text = strncmp(rest + 1, "n/a", 3) != 0;
        size_t i = 0;
        while (i < count && strcmp(rows[i].quantity, line) != 0)
            i++;
        cr_assert_lt(i, count, "no function computes '%s'", line);
        seen++;
        cr_expect_float_eq(rows[i].value, result, 1e-5 * result, "%s: %.9g is not %.9g", line, rows[i].value, result);
        /* The post rounds, instructions up to the next whole one. */
        const double slack = strstr(line, "instructions that hide") ? 1 : 0.02 * text;
        if (in_text)
            cr_expect_leq(fabs(rows[i].value - text), slack, "%s: %.9g, the post says %.9g", line, rows[i].value, text);
    }
    fclose(f);
    cr_expect_eq(seen, count);
}

Test(arithmetic, edges) {
    cr_expect_eq(wasted_share(32, 32), 0);
    cr_expect_float_eq(wasted_share(48, 32), 0.25, 1e-12); /* two granules for one and a half */
    cr_expect_eq(hits_per_miss(1, 2), 0);                  /* fetches faster than accesses: no hit is needed */
    cr_expect_eq(hit_rate(1, 2), 0);
    cr_expect_eq(warp_issue_clocks(32, 32), 1);
    cr_expect_eq(warp_issue_clocks(16, 32), 1);
    cr_expect_eq(warps_to_hide(25, 4), 7);
    uint32_t w = 0, h = 0;
    cr_expect_not(texel_rectangle(32, 24, &w, &h)); /* 10.67 texels */
    cr_expect_not(texel_rectangle(96, 32, &w, &h)); /* 24 texels: no power of two */
    cr_expect_not(texel_rectangle(32, 0, &w, &h));
    /* 1 TB/s over 500 ns: half a megabyte under way. */
    cr_expect_float_eq(bytes_in_flight(500e-9, 1e12), 500e3, 1e-6);
}

/* The post's CPU as ECM: one stream, 2 clocks in the core for a line in L1, none overlapping with anything. */
Test(ecm, of_the_example) {
    const ecm_machine cpu = {.line_bytes = 128, .boundaries = 2, .bytes_per_cycle = {128.0 / 18, 128.0 / 180}};
    const ecm_work read = {.not_overlapping_cycles = 2, .load_streams = 1};
    cr_expect_float_eq(ecm_cycles(&cpu, &read, 0), 2, 1e-12);
    cr_expect_float_eq(ecm_cycles(&cpu, &read, 1), 20, 1e-9);
    cr_expect_float_eq(ecm_cycles(&cpu, &read, 2), 200, 1e-9);
}

/* By hand: a line of 64 B, 64 B/cycle to L2, 32 B/cycle to L3, 7 cycles a line to memory. Dot product: two load
 * streams, 2 cycles of loads, 2 of arithmetic: {2 || 2 | 2 | 4 | 14} -> 2, 4, 8, 22. */
Test(ecm, streams) {
    const ecm_machine m = {
        .line_bytes = 64, .boundaries = 3, .bytes_per_cycle = {64, 32, 64.0 / 7}, .write_allocate = true};
    const ecm_work dot = {.overlapping_cycles = 2, .not_overlapping_cycles = 2, .load_streams = 2};
    const double expected[] = {2, 4, 8, 22};
    for (uint32_t level = 0; level < 4; level++)
        cr_expect_float_eq(ecm_cycles(&m, &dot, level), expected[level], 1e-9, "level %u", level);
    cr_expect_eq(ecm_saturation_cores(&m, &dot), 2); /* 22 / 14 */
    /* A copy with allocation moves 3 lines over every boundary, without only 2 over the last and 1 over the others. */
    const ecm_work copy = {.not_overlapping_cycles = 2, .load_streams = 1, .store_streams = 1};
    const ecm_work stream = {.not_overlapping_cycles = 2, .load_streams = 1, .nontemporal_streams = 1};
    cr_expect_float_eq(ecm_cycles(&m, &copy, 3), 2 + 3 * (1 + 2 + 7), 1e-9);
    cr_expect_float_eq(ecm_cycles(&m, &stream, 3), 2 + 1 + 2 + 2 * 7, 1e-9);
    /* Arithmetic that takes longer than the data hides it. */
    const ecm_work heavy = {.overlapping_cycles = 100, .not_overlapping_cycles = 2, .load_streams = 1};
    cr_expect_eq(ecm_cycles(&m, &heavy, 3), 100);
}

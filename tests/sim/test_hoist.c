/* Loop bodies on the simulator: the schedules that the case for hoisting rests on, and what is known of stalls. */
#include "fixture.h"
#include "kernel/body.h"
#include "kernel/hoist.h"
#include "kernel/lower.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static body parsed(const char *text) {
    body b;
    message m = {{0}};
    cr_assert_eq(body_parse("t", text, strlen(text), &b, &m), OK, "%s", m.text);
    return b;
}

static sim_result run_body(const machine *mach, const body *b, const lower_options *o, lowered *l) {
    message m = {{0}};
    sim_result r;
    cr_assert_eq(lower(mach, b, "body", o, l, &m), OK, "%s", m.text);
    const sim_options s = {.threads = 1, .check = true};
    cr_assert_eq(sim_run(mach, &l->k, &s, &r, &m), OK, "%s", m.text);
    return r;
}

/* Cycles of the text, with up to `limit` loads hoisted; *r may be NULL. */
static uint64_t cycles_of(const machine *mach, const char *text, uint32_t limit, lower_options o, sim_result *r) {
    body b = parsed(text), moved = {.params = 0};
    hoist_report report = {.leaves = 0};
    message m = {{0}};
    lowered l;
    cr_assert_eq(hoist(&b, limit, &moved, &report, &m), OK, "%s", m.text);
    const sim_result result = run_body(mach, &moved, &o, &l);
    if (r)
        *r = result;
    uint64_t states = result.issue_cycles;
    for (int i = 0; i < STALL_COUNT; i++)
        states += result.stall_cycles[i];
    cr_expect_eq(states, result.resident_cycles, "warp states add up to the resident cycles");
    lowered_free(&l);
    hoist_report_free(&report);
    body_free(&moved);
    body_free(&b);
    return result.cycles;
}

/* I1 load x1; I2 x2 = x0 + x1; I3 load x3; I4 x4 = x2 * x3, each from a DRAM row of its own: T0 = 313 (300 and the
 * row's 10, and the three further bursts of the line). By hand, in cycles: as written   I1 0, I2 313, I3 314, I4 314 +
 * 313 = 627, EXIT 628, end 629 hoisted      I1 0, I3 1, I2 313, I4: the second line comes from another bank a cycle
 * after the first, but the bus takes 4 cycles a line, so at 317, just when I2's result is there too; EXIT 318, end 319
 */
Test(hoist, four_instructions) {
    const machine mach = fixture_machine();
    const place first = {.per_thread = 4}, second = {.base = 1024, .per_thread = 4};
    kernel k = fixture_kernel(1, 32);
    add_memory(&k, OP_LOAD, 1, 0, 4, first);
    add_op(&k, OP_FP32, 2, 1);
    add_memory(&k, OP_LOAD, 3, 0, 4, second);
    add_op(&k, OP_FP32, 4, 3);
    sim_result r = fixture_run(&mach, &k);
    cr_expect_eq(r.cycles, 629, "%llu", (unsigned long long)r.cycles);
    cr_expect_eq(r.stall_cycles[STALL_LONG_SCOREBOARD], 312 + 312);
    kernel_free(&k);

    k = fixture_kernel(1, 32);
    add_memory(&k, OP_LOAD, 1, 0, 4, first);
    add_memory(&k, OP_LOAD, 3, 0, 4, second);
    add_op(&k, OP_FP32, 2, 1);
    add_op(&k, OP_FP32, 4, 3);
    r = fixture_run(&mach, &k);
    cr_expect_eq(r.cycles, 319, "%llu", (unsigned long long)r.cycles);
    kernel_free(&k);
}

/* A core of four schedulers with the latencies of Hopper's: FFMA 4 cycles, one a cycle and scheduler. */
static machine hopper_like(void) {
    machine mach = fixture_machine();
    mach.core.schedulers = 4;
    mach.core.max_warps = 64;
    mach.core.registers = 65536;
    mach.core.op[OP_FP32] = (op_timing){PIPE_FMA, 4, 1};
    mach.core.op[OP_INT] = (op_timing){PIPE_ALU, 4, 2};
    mach.core.op[OP_BRANCH] = (op_timing){PIPE_BRANCH, 8, 2};
    mach.isa[ISA_LOOP] = (isa_mix){.count = {[OP_INT] = 2}, .ilp = 1};
    return mach;
}

/* Measured on an H100 (cases.md 18): N warps on one SM, each a chain of 2048 dependent FFMA; in results a cycle. The
 * compiler's unrolling is not known: 16. */
Test(hoist, chains_of_fma) {
    static const struct {
        uint32_t warps;
        double ops;
    } rows[] = {{1, 7.2}, {4, 28.8}, {8, 56.8}};
    const machine mach = hopper_like();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "param f32 x = 1.5\nglobal f32 r[1024]\nlocal f32 s[1]\nthreads %u\n"
                 "for (k, 0, 2048) { s[0] = s[0] * x + x }\nr[tid] = s[0]",
                 32 * rows[i].warps);
        sim_result r;
        const uint64_t cycles = cycles_of(&mach, text, 0, (lower_options){.unroll = 16, .window = 32}, &r);
        const double ops = 32.0 * 2048 * rows[i].warps / (double)cycles;
        cr_expect(ops > 0.95 * rows[i].ops && ops < 1.05 * rows[i].ops, "%u warps: %.1f, measured %.1f", rows[i].warps,
                  ops, rows[i].ops);
        for (int k = 0; k < STALL_COUNT; k++)
            cr_expect_leq(r.stall_cycles[k], r.stall_cycles[STALL_WAIT], "%s exceeds Wait",
                          stall_label((stall_reason)k));
    }
}

static const char *const two_blocks = "global f32 a[64, 32], b[64, 32], c[64, 32], d[64, 32], e[64, 32]\nthreads 32\n"
                                      "for (k, 0, 64) {\nd[k, tid] = a[k, tid] * a[k, tid] + 1\n"
                                      "e[k, tid] = b[k, tid] * b[k, tid]\nd[k, tid] = c[k, tid] * 2\n}";

/* Case 31: a gain for a latency-bound kernel, none where the loads are together already, and none to speak of where the
 * loads that are hoisted are few. */
Test(hoist, gains_where_loads_were_apart) {
    const machine mach = fixture_machine();
    const uint64_t before = cycles_of(&mach, two_blocks, 0, (lower_options){.unroll = 1}, NULL);
    uint64_t last = before;
    for (uint32_t limit = 1; limit <= 3; limit++) {
        const uint64_t now = cycles_of(&mach, two_blocks, limit, (lower_options){.unroll = 1}, NULL);
        cr_expect_leq(now, last + last / 100, "%u hoisted: %llu after %llu", limit, (unsigned long long)now,
                      (unsigned long long)last);
        last = now;
    }
    cr_expect_gt((double)before / (double)last, 2.0, "three latencies become one");
    const char *together = "global f32 a[64, 32], b[64, 32], c[64, 32]\nthreads 32\n"
                           "for (k, 0, 64) { c[k, tid] = a[k, tid] * b[k, tid] }";
    const uint64_t apart = cycles_of(&mach, together, 0, (lower_options){.unroll = 1}, NULL);
    const uint64_t hoisted = cycles_of(&mach, together, 8, (lower_options){.unroll = 1}, NULL);
    cr_expect_leq(apart > hoisted ? apart - hoisted : hoisted - apart, apart / 100);
}

/* Case 33: under a register limit what is hoisted spills, and the spills cost more than the overlap brings. */
Test(hoist, loses_by_spills) {
    machine mach = fixture_machine();
    const char *text =
        "global f32 a[32], r[32]\nthreads 32\nfor (k, 0, 32) { r[tid] = r[tid] + a[tid] * 2 + a[31 - tid] * 3"
        " + a[tid / 2] * 4 + a[tid / 4] * 5 + a[tid / 8] * 6 + a[16 + tid / 2] * 7 + a[tid % 4] * 8"
        " + a[tid % 8] * 9 }";
    sim_result roomy, tight;
    const uint64_t free = cycles_of(&mach, text, 8, (lower_options){.unroll = 1}, &roomy);
    const uint64_t bound = cycles_of(&mach, text, 8, (lower_options){.unroll = 1, .max_registers = 16}, &tight);
    cr_expect_eq(roomy.resident_warps, tight.resident_warps, "occupancy says nothing");
    cr_expect_gt(tight.instructions[OP_STORE], roomy.instructions[OP_STORE], "values are spilled");
    cr_expect_gt((double)bound, 1.1 * (double)free, "%llu, %llu", (unsigned long long)bound, (unsigned long long)free);
}

/* Case 38 (cuda-oxide #684): a table of 16 floats that is read at a run-time index, from memory, or copied to every
 * thread's local memory first: measured 3.46 times as long; the local stores dominate. */
Test(hoist, copies_of_tables_cost_their_stores) {
    const machine mach = fixture_machine();
    const char *reference = "global f32 table[16], o[64, 128]\nglobal i32 at[64, 128]\nblocks 64\nthreads 128\n"
                            "o[bid, tid] = table[at[bid, tid]]";
    const char *copy = "global f32 table[16], o[64, 128]\nglobal i32 at[64, 128]\nlocal f32 t[16]\nblocks 64\n"
                       "threads 128\nfor (i, 0, 16) { t[i] = table[i] }\no[bid, tid] = t[at[bid, tid]]";
    sim_result by_copy;
    const uint64_t one = cycles_of(&mach, reference, 0, (lower_options){.unroll = 1}, NULL);
    const uint64_t other = cycles_of(&mach, copy, 0, (lower_options){.unroll = 1}, &by_copy);
    cr_expect_gt((double)other, 2.0 * (double)one, "%llu, %llu", (unsigned long long)other, (unsigned long long)one);
    cr_expect_eq(by_copy.instructions[OP_STORE], 64 * 4 * (16 + 1));
}

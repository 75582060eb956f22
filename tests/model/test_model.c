/* Bounds and times known by hand, on a small machine and on the G80 of the 2008 post. */
#include "base/mem.h"
#include "config/machine_config.h"
#include "model/arithmetic.h"
#include "model/balance.h"
#include "model/model.h"
#include "model/move.h"
#include "model/warp_time.h"
#include "sim/sim.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static machine load(const char *name) {
    machine mach;
    message m = {{0}};
    cr_assert_eq(machine_load(name, &mach, &m), OK, "%s", m.text);
    return mach;
}

static void op(kernel *k, op_class class, uint8_t dst, uint8_t src) {
    message m;
    cr_assert_eq(
        ir_add_inst(k, (ir_inst){.op = (uint8_t) class, .dst = dst, .src = {src}, .access = IR_NONE, .loop = IR_NONE},
                    &m),
        OK);
}

/* A load or store of 4 bytes a lane at base + thread * per_thread + block * per_block + turn * per_turn. */
static void memory(kernel *k, op_class class, uint8_t reg, int64_t base, int64_t per_thread, int64_t per_block,
                   int64_t per_turn) {
    message m;
    uint32_t index = 0;
    uint16_t access = 0;
    const ir_index x = {.per_thread = per_thread, .per_block = per_block, .per_loop = {per_turn}};
    cr_assert_eq(ir_add_index(k, x, &index, &m), OK);
    const ir_access a = {.space = SPACE_GLOBAL, .bytes = 4, .base = base, .first_term = k->term_count, .terms = 1};
    cr_assert_eq(ir_add_term(k, (ir_term){.index = index, .div = 1, .mul = 1}, &m), OK);
    cr_assert_eq(ir_add_access(k, a, &access, &m), OK);
    const bool store = class == OP_STORE;
    const ir_inst inst = {
        .op = (uint8_t) class, .dst = store ? 0 : reg, .src = {store ? reg : 0}, .access = access, .loop = IR_NONE};
    cr_assert_eq(ir_add_inst(k, inst, &m), OK);
}

static void close_loop(kernel *k, uint32_t first, uint64_t trips) {
    message m;
    uint16_t id = 0;
    cr_assert_eq(ir_add_loop(k, (ir_loop){.first = first, .last = k->code_count, .trips = trips}, &id, &m), OK);
    cr_assert_eq(ir_add_inst(k, (ir_inst){.op = OP_BRANCH, .access = IR_NONE, .loop = id}, &m), OK);
}

/* One load, `between` independent instructions, one that needs the load; again and again, without a loop. */
static kernel load_and_compute(uint32_t warps, uint32_t between, uint32_t times) {
    message m = {{0}};
    kernel k = {.name = "one load", .blocks = warps / 6, .block_threads = 192, .registers = 8};
    memory(&k, OP_LOAD, 1, 1 << 20, 4, 0, 0);
    const ir_inst load = k.code[0];
    for (uint32_t t = 0; t < times; t++) {
        if (t)
            cr_assert_eq(ir_add_inst(&k, load, &m), OK);
        for (uint32_t i = 0; i < between; i++)
            op(&k, OP_FP32, (uint8_t)(2 + i % 24), 0);
        op(&k, OP_FP32, 30, 1);
    }
    op(&k, OP_EXIT, 0, 0);
    cr_assert_eq(ir_check(&k, &m), OK, "%s", m.text);
    return k;
}

/* Cycles of a turn, start and end left out. */
static double turn_cycles(const machine *mach, uint32_t warps, uint32_t between, bool simulate) {
    enum { SHORT = 20, LONG = 60 };
    double cycles[2];
    for (int i = 0; i < 2; i++) {
        message m = {{0}};
        kernel k = load_and_compute(warps, between, i ? LONG : SHORT);
        if (simulate) {
            sim_result r;
            const sim_options o = {.threads = 1, .check = true};
            cr_assert_eq(sim_run(mach, &k, &o, &r, &m), OK, "%s", m.text);
            cycles[i] = (double)r.cycles;
        } else {
            model *b = mem_zero(1, sizeof *b);
            cr_assert_eq(model_of(mach, &k, NULL, 0, b, &m), OK, "%s", m.text);
            cycles[i] = b->cycles;
            mem_free(b);
        }
        kernel_free(&k);
    }
    return (cycles[1] - cycles[0]) / (LONG - SHORT);
}

/* The least number of independent instructions for each load with which all take their issue time and no longer. */
static uint32_t hidden_at(const machine *mach, uint32_t warps, bool simulate) {
    for (uint32_t between = 0; between < 64; between++) {
        const double issue = (between + 2.0) * warps * 4;
        if (turn_cycles(mach, warps, between, simulate) <= issue * 1.001)
            return between;
    }
    return UINT32_MAX;
}

/* The post: 400 to 600 clocks are hidden by 17 to 25 instructions with 6 warps, by 5 to 7 with 24. Simulated, load and
 * use come on top, because the warps take turns: between use and next load every other warp issues once. For the bound
 * they are among the instructions, because nothing keeps one warp from issuing both at once. */
Test(g80, instructions_that_hide_a_load) {
    machine mach = load("g80");
    static const struct { uint32_t latency, warps; } cases[] = {{400, 6}, {600, 6}, {400, 24}, {600, 24}};
    mach.core.count = 1;
    /* Latency alone: no queues for bandwidth, no refresh that closes the one row that is read. */
    mach.dram.t_refi_ns = 1e9;
    mach.dram.bandwidth_bytes_per_s *= 100;
    mach.fabric.request_bytes_per_cycle = mach.fabric.response_bytes_per_cycle = 1000;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mach.dram.latency_cycles = cases[i].latency;
        const double closed = insts_to_hide(cases[i].latency, cases[i].warps, 4);
        const double simulated = hidden_at(&mach, cases[i].warps, true);
        cr_expect_leq(fabs(simulated - closed), 1.0, "%u clocks, %u warps: %.2f, simulated %.0f", cases[i].latency,
                      cases[i].warps, closed, simulated);
        const double bounded = hidden_at(&mach, cases[i].warps, false) + 2.0;
        cr_expect_leq(fabs(bounded - closed), 1.0, "%u clocks, %u warps: %.2f, bound %.0f", cases[i].latency,
                      cases[i].warps, closed, bounded);
    }
}

/* Half warps that are in order and aligned make one transaction of 64 B for 4-byte lanes, others 16 of 32 B: seven
 * eighths are wasted, and the bounds say so (cases.md 6: 74 and 7 GB/s). */
Test(g80, granularity_waste) {
    const machine mach = load("g80");
    static const struct {
        int64_t offset;
        double bytes;
    } cases[] = {{0, 128}, {4, 32 * 32}};
    for (size_t i = 0; i < 2; i++) {
        message m = {{0}};
        kernel k = {.name = "read", .blocks = 250, .block_threads = 256, .registers = 8};
        memory(&k, OP_LOAD, 1, (1 << 20) + cases[i].offset, 4, 1024, 0);
        op(&k, OP_FP32, 2, 1);
        op(&k, OP_EXIT, 0, 0);
        k.useful_bytes = 250 * 1024;
        model *b = mem_zero(1, sizeof *b);
        cr_assert_eq(model_of(&mach, &k, NULL, 0, b, &m), OK, "%s", m.text);
        cr_expect_float_eq(b->work.moved_bytes[0].least, 2000 * cases[i].bytes, 1e-6);
        cr_expect_float_eq(b->dram_bytes[0], 2000 * cases[i].bytes, 1e-6);
        const double waste = 1 - (double)b->useful_bytes / b->dram_bytes[0];
        cr_expect_float_eq(waste, i ? wasted_share(4, 32) : 0, 1e-12);
        mem_free(b);
        kernel_free(&k);
    }
}

static double quantity(const balance *b, const char *name) {
    for (uint32_t i = 0; i < b->count; i++)
        if (strcmp(b->row[i].quantity, name) == 0)
            return b->row[i].value;
    cr_assert_fail("no quantity '%s'", name);
    return NAN;
}

/* What the post derives of the G80, from its machine file. */
Test(balance, of_the_g80) {
    machine mach = load("g80");
    balance b;
    balance_of(&mach, &b);
    cr_expect_float_eq(quantity(&b, "operations of all lanes"), 193.536, 1e-9);
    cr_expect_eq(quantity(&b, "cycles of a core for a warp instruction"), 4);
    cr_expect_eq(quantity(&b, "warps of a core that hide arithmetic latency"), 6);
    /* 42 to 10 registers, 21 to 5 floats of shared memory. */
    cr_expect_eq(floor(quantity(&b, "registers of a thread with 6 warps")), 42);
    cr_expect_eq(floor(quantity(&b, "registers of a thread with 24 warps")), 10);
    cr_expect_eq(floor(quantity(&b, "floats of shared memory of a thread with 6 warps")), 21);
    cr_expect_eq(floor(quantity(&b, "floats of shared memory of a thread with 24 warps")), 5);
    cr_expect_eq(quantity(&b, "bandwidth wasted by accesses of 16 B, granules of 32 B"), 50);
    cr_expect_eq(quantity(&b, "bandwidth wasted by accesses of 4 B, granules of 32 B"), 87.5);
    /* A machine with caches: V100's L1 at 80 x 128 B x 1.38 GHz against 898 GB/s. */
    mach = load("v100");
    balance_of(&mach, &b);
    const double l1 = 80 * 128 * 1.38;
    cr_expect_float_eq(quantity(&b, "bandwidth of L1"), l1, 1e-6 * l1);
    cr_expect_float_eq(quantity(&b, "hits in L1 for each miss, so that DRAM keeps up"), l1 / 898 - 1, 1e-6);
    for (uint32_t i = 0; i < b.count; i++)
        cr_expect_lt(strlen(b.row[i].quantity), 63, "%s", b.row[i].quantity);
}

/* A V100 streams 2^20 blocks of 256 threads of 4 bytes: every figure by hand. */
Test(model, of_a_stream) {
    const machine mach = load("v100");
    message m = {{0}};
    kernel k = {.name = "copy", .blocks = 1 << 20, .block_threads = 256, .registers = 16};
    memory(&k, OP_LOAD, 1, INT64_C(1) << 32, 4, 1024, 0);
    memory(&k, OP_STORE, 1, INT64_C(1) << 40, 4, 1024, 0);
    op(&k, OP_EXIT, 0, 0);
    k.useful_bytes = UINT64_C(2) << 30;
    model *b = mem_zero(1, sizeof *b);
    cr_assert_eq(model_of(&mach, &k, NULL, 0, b, &m), OK, "%s", m.text);
    const double warps = 1 << 23, bytes = 1 << 30;
    cr_expect_not(b->whole);
    cr_expect_eq(b->work.warps, 1 << 23);
    cr_expect_eq(b->work.instructions.estimate, 3 * warps);
    cr_expect_eq(b->work.sectors[0].estimate, 4 * warps);
    cr_expect_eq(b->work.sectors[1].estimate, 4 * warps);
    cr_expect_leq(b->work.sectors[1].least, 4 * warps);
    cr_expect_geq(b->work.sectors[1].least, 0.995 * 4 * warps);
    cr_expect_eq(b->dram_bytes[0], bytes);
    /* All that is stored but what 6 MiB of L2 and 32 write queues of 64 lines keep. */
    cr_expect_eq(b->dram_bytes[1], bytes - 6 * 1048576 - 32 * 64 * 128);
    /* DRAM binds: 2 GiB at 898 GB/s, of which 130 in 3900 ns go to refreshes. */
    const double seconds = (b->dram_bytes[0] + b->dram_bytes[1]) / 898e9 / (1 - 130.0 / 3900);
    cr_expect_eq(b->bound[0].kind, BOUND_DRAM);
    cr_expect_float_eq(b->cycles / mach.clock_hz, seconds, 1e-4 * seconds);
    /* A warp: the load issues in cycle 0, the store when it is there, 411; the memory pipe is free; EXIT one later. */
    cr_expect_eq(b->warp_cycles, 411 + 1 + 1);
    /* Every load is the first to touch its sectors, so all warps last that long: 2^20 blocks on 80 x 8 places. */
    const bound *latency = model_bound(b, BOUND_LATENCY);
    cr_assert(latency);
    const double rounds = (1 << 20) / 640.0;
    cr_expect_float_eq(latency->cycles, rounds * (413 + 260) - 260, 0.006 * latency->cycles);
    const bound *lsu = model_bound(b, BOUND_LSU);
    cr_assert(lsu);
    cr_expect_float_eq(lsu->cycles, 2 * warps / 80, 0.006 * lsu->cycles);
    /* And what would move it: nothing is wasted. */
    cr_expect_eq(model_move(&mach, b).kind, MOVE_NONE);
    mem_free(b);
    kernel_free(&k);
}

/* Strided stores: 32 sectors and lines each. */
Test(model, of_strided_stores) {
    const machine mach = load("v100");
    message m = {{0}};
    kernel k = {.name = "strided", .blocks = 80, .block_threads = 256, .registers = 16};
    op(&k, OP_INT, 1, 0);
    memory(&k, OP_STORE, 1, INT64_C(1) << 40, 4096, 1 << 20, 0);
    op(&k, OP_EXIT, 0, 0);
    k.useful_bytes = 80 * 1024;
    model *b = mem_zero(1, sizeof *b);
    cr_assert_eq(model_of(&mach, &k, NULL, 0, b, &m), OK, "%s", m.text);
    cr_expect(b->whole);
    cr_expect_eq(b->work.sectors[1].least, 640 * 32);
    cr_expect_eq(b->work.lines[1].least, 640 * 32);
    /* 640 x 32 transactions, 64 credits in each of 80 cores, 212 cycles to L2; nobody waits for the last ones. */
    const bound *stores = model_bound(b, BOUND_STORES);
    cr_assert(stores);
    cr_expect_float_eq(stores->cycles, (640.0 * 32 / (80 * 64) - 1) * 212, 1e-6);
    cr_expect_eq(b->bound[0].kind, BOUND_STORES);
    const move w = model_move(&mach, b);
    cr_expect_eq(w.kind, MOVE_COALESCE);
    cr_expect_float_eq(w.factor, 1.0 / 8, 1e-12);
    cr_expect_lt(w.cycles, b->cycles);
    mem_free(b);
    kernel_free(&k);
}

/* A loop of 2^40 turns takes no longer to time than one of 100, and exactly as much per turn. */
Test(warp_time, of_long_loops) {
    const machine mach = load("v100");
    message m = {{0}};
    uint64_t cycles[3] = {0};
    const uint64_t trips[] = {100, 101, UINT64_C(1) << 40};
    for (int i = 0; i < 3; i++) {
        kernel k = {.name = "loop", .blocks = 1, .block_threads = 32, .registers = 8};
        memory(&k, OP_LOAD, 1, 4096, 4, 0, 128);
        op(&k, OP_FP32, 2, 1);
        close_loop(&k, 0, trips[i]);
        op(&k, OP_EXIT, 0, 0);
        const uint32_t load_cycles[] = {411, 0, 0, 0};
        cr_assert_eq(warp_time(&mach, &k, load_cycles, &cycles[i], &m), OK);
        kernel_free(&k);
    }
    /* Load, 411 to its use, 1 to the branch, 8 to the next turn. */
    cr_expect_eq(cycles[0], 100 * (411 + 1 + 8) + 1);
    cr_expect_eq(cycles[1] - cycles[0], 420);
    cr_expect_eq(cycles[2] - cycles[0], 420 * (trips[2] - 100));
}

Test(model, of_nothing_and_too_much) {
    machine mach = load("v100");
    message m = {{0}};
    model *b = mem_zero(1, sizeof *b);
    kernel none = {.name = "none", .blocks = 0, .block_threads = 32, .registers = 8};
    op(&none, OP_EXIT, 0, 0);
    cr_assert_eq(model_of(&mach, &none, NULL, 0, b, &m), OK, "%s", m.text);
    cr_expect_eq(b->bound_count, 0);
    cr_expect_eq(b->cycles, 0);
    cr_expect_eq(model_move(&mach, b).kind, MOVE_NONE);
    none.shared_bytes = 1 << 20;
    none.blocks = 1;
    cr_expect_eq(model_of(&mach, &none, NULL, 0, b, &m), ERR_INPUT);
    none.shared_bytes = 0;
    none.blocks = UINT64_MAX;
    none.block_threads = 64;
    cr_expect_eq(model_of(&mach, &none, NULL, 0, b, &m), ERR_INPUT);
    none.blocks = 4;
    for (size_t n = 1; n < 8; n++) {
        mem_fail_after(n);
        const status s = model_of(&mach, &none, NULL, 0, b, &m);
        mem_fail_after(0);
        cr_expect(s == ERR_MEMORY || s == OK);
        if (n == 1)
            cr_expect_eq(s, ERR_MEMORY);
    }
    kernel_free(&none);
    mem_free(b);
}

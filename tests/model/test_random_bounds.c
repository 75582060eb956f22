/* Random kernels on random machines: no bound is above the simulated time. */
#include "base/mem.h"
#include "base/num.h"
#include "config/machine_config.h"
#include "model/model.h"
#include "sim/sim.h"

#include <criterion/criterion.h>

static uint32_t below(prng *g, uint32_t n) {
    return (uint32_t)prng_below(g, n);
}

static uint32_t one_of(prng *g, uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t list[] = {a, b, c};
    return list[below(g, 3)];
}

/* A shipped machine with fewer cores and other figures; every change keeps it consistent. */
static machine random_machine(prng *g) {
    static const char *const names[] = {"v100", "a100-40", "rx7900xt", "g80", "gt200"};
    machine mach;
    message m = {{0}};
    cr_assert_eq(machine_load(names[below(g, 5)], &mach, &m), OK, "%s", m.text);
    if (mach.core.per_cluster == 1)
        mach.core.count = 1 + below(g, 6);
    mach.core.block_launch_cycles = one_of(g, 0, 40, 300);
    mach.lsu.queue = one_of(g, 1, 8, 64);
    mach.lsu.store_credits = one_of(g, 1, 8, 64);
    mach.fabric.request_bytes_per_cycle = one_of(g, 8, 32, 64);
    mach.fabric.response_bytes_per_cycle = one_of(g, 8, 32, 64);
    mach.dram.bandwidth_bytes_per_s *= 0.25 * (1 + below(g, 8));
    mach.dram.masked_writes = below(g, 2);
    for (uint32_t l = 0; l < mach.level_count; l++) {
        mach.level[l].mshrs = one_of(g, 4, 32, 256);
        mach.level[l].mshr_merges = one_of(g, 1, 4, 32);
        mach.level[l].partial = (partial_write)below(g, 3);
        mach.level[l].bytes_per_cycle *= 0.25 * (1 + below(g, 8));
    }
    return mach;
}

static void random_access(prng *g, kernel *k, op_class op, uint8_t reg, bool in_loop) {
    static const int64_t strides[] = {0, 4, 4, 4, 8, 20, 64, 128, 4096};
    message m;
    uint32_t index = 0;
    uint16_t access = 0;
    const int64_t stride = strides[below(g, 9)];
    const ir_index x = {.base = below(g, 64) * 4,
                        .per_thread = stride / 4,
                        .per_block = below(g, 2) ? stride / 4 * k->block_threads : below(g, 100),
                        .per_loop = {in_loop ? below(g, 2000) : 0}};
    cr_assert_eq(ir_add_index(k, x, &index, &m), OK);
    const uint32_t kind = below(g, 4);
    const ir_term t = {
        .index = index, .div = kind == 1 ? 1 + below(g, 9) : 1, .mod = kind == 2 ? 1 + below(g, 999) : 0, .mul = 4};
    ir_access a = {.space = SPACE_GLOBAL,
                   .bytes = 4,
                   .base = (int64_t)(1 + below(g, 3)) << 24,
                   .first_term = k->term_count,
                   .terms = 1};
    cr_assert_eq(ir_add_term(k, t, &m), OK);
    if (kind == 3) { /* masked */
        a.first_bound = k->bound_count;
        a.bounds = 1;
        cr_assert_eq(ir_add_bound(k, (ir_bound){a.first_term, 1, below(g, 4000)}, &m), OK);
    }
    cr_assert_eq(ir_add_access(k, a, &access, &m), OK);
    const bool store = op == OP_STORE;
    const ir_inst inst = {
        .op = (uint8_t)op, .dst = store ? 0 : reg, .src = {store ? reg : 0}, .access = access, .loop = IR_NONE};
    cr_assert_eq(ir_add_inst(k, inst, &m), OK);
}

static void random_piece(prng *g, kernel *k, bool in_loop) {
    static const op_class ops[] = {OP_INT, OP_FP32, OP_IMUL, OP_SFU, OP_BARRIER};
    message m;
    for (uint32_t n = 1 + below(g, 6); n > 0; n--) {
        const uint32_t what = below(g, 10);
        const uint8_t reg = (uint8_t)(1 + below(g, 8));
        if (what < 3) {
            random_access(g, k, OP_LOAD, reg, in_loop);
        } else if (what < 5) {
            random_access(g, k, OP_STORE, reg, in_loop);
        } else {
            const op_class op = ops[below(g, 5)];
            const ir_inst inst = {.op = (uint8_t)op,
                                  .dst = op == OP_BARRIER ? 0 : reg,
                                  .src = {op == OP_BARRIER ? 0 : (uint8_t)(1 + below(g, 8))},
                                  .access = IR_NONE,
                                  .loop = IR_NONE};
            cr_assert_eq(ir_add_inst(k, inst, &m), OK);
        }
    }
}

static kernel random_kernel(prng *g) {
    message m = {{0}};
    kernel k = {.name = "random", .blocks = 1 + below(g, 60), .block_threads = 1 + below(g, 256), .registers = 16};
    random_piece(g, &k, false);
    if (below(g, 2)) {
        const uint32_t first = k.code_count;
        uint16_t id = 0;
        random_piece(g, &k, true);
        cr_assert_eq(
            ir_add_loop(&k, (ir_loop){.first = first, .last = k.code_count, .trips = 1 + below(g, 100)}, &id, &m), OK);
        cr_assert_eq(ir_add_inst(&k, (ir_inst){.op = OP_BRANCH, .access = IR_NONE, .loop = id}, &m), OK);
    }
    random_piece(g, &k, false);
    for (uint8_t r = 1; r <= 8; r = (uint8_t)(r + 2)) /* no load is in vain: the warp waits for it */
        cr_assert_eq(
            ir_add_inst(
                &k, (ir_inst){.op = OP_INT, .dst = 9, .src = {r, (uint8_t)(r + 1)}, .access = IR_NONE, .loop = IR_NONE},
                &m),
            OK);
    cr_assert_eq(ir_add_inst(&k, (ir_inst){.op = OP_EXIT, .access = IR_NONE, .loop = IR_NONE}, &m), OK);
    cr_assert_eq(ir_check(&k, &m), OK, "%s", m.text);
    return k;
}

Test(bounds, of_random_kernels, .timeout = 120) {
    prng g = {.state = 2026};
    double nearest = 0;
    uint32_t binding[BOUND_KIND_COUNT] = {0}, kinds = 0;
    model *b = mem_zero(1, sizeof *b);
    cr_assert(b);
    for (int i = 0; i < 150; i++) {
        const machine mach = random_machine(&g);
        kernel k = random_kernel(&g);
        message m = {{0}};
        sim_result sim;
        const sim_options o = {.threads = 1, .check = true};
        cr_assert_eq(model_of(&mach, &k, NULL, 0, b, &m), OK, "%s", m.text);
        cr_assert_eq(sim_run(&mach, &k, &o, &sim, &m), OK, "kernel %d on %s: %s", i, mach.id, m.text);
        for (uint32_t n = 0; n < b->bound_count; n++) {
            char label[64];
            cr_expect_leq(b->bound[n].cycles, (double)sim.cycles, "kernel %d on %s: %s bound %.1f, simulated %lu", i,
                          mach.id, bound_label(label, sizeof label, &mach, &b->bound[n]), b->bound[n].cycles,
                          (unsigned long)sim.cycles);
        }
        nearest = b->cycles / (double)sim.cycles > nearest ? b->cycles / (double)sim.cycles : nearest;
        if (b->bound_count)
            binding[b->bound[0].kind]++;
        /* Counted whole: the counts are the simulator's. */
        if (b->whole) {
            for (int d = 0; d < 2; d++) {
                cr_expect_eq((uint64_t)b->work.requests[d].least, sim.requests[d], "kernel %d", i);
                cr_expect_eq((uint64_t)b->work.sectors[d].least, sim.sectors[d], "kernel %d", i);
                cr_expect_eq((uint64_t)b->work.lines[d].least, sim.lines[d], "kernel %d", i);
                cr_expect_eq((uint64_t)b->work.useful_bytes[d].least, sim.useful_bytes[d], "kernel %d", i);
            }
            for (int c = 0; c < OP_CLASS_COUNT; c++)
                cr_expect_eq((uint64_t)b->work.op[c].least, sim.instructions[c], "kernel %d, %s", i,
                             op_class_name((op_class)c));
        }
        kernel_free(&k);
    }
    mem_free(b);
    for (int c = 0; c < BOUND_KIND_COUNT; c++)
        kinds += binding[c] > 0;
    cr_expect_gt(nearest, 0.9);
    cr_expect_geq(kinds, 5, "%u kinds of bounds ever bind", kinds);
}

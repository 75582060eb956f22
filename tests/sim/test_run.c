/* Whole simulations: schedules worked out by hand, latencies, and counts known from vendors and hardware. */
#include "config/machine_config.h"
#include "fixture.h"

#include <criterion/criterion.h>
#include <string.h>

static uint64_t stalls(const sim_result *r) {
    uint64_t sum = 0;
    for (int i = 0; i < STALL_COUNT; i++)
        sum += r->stall_cycles[i];
    return sum;
}

/* --- issue ---------------------------------------------------------------------------------------------------------
 */

/* The first warp issues at cycle 0; EXIT issues a cycle after what stands before it and ends a cycle later. */
Test(issue, dependent_and_independent_instructions) {
    static const struct {
        const char *what;
        op_class op;
        uint32_t warps, count;
        bool chain;
        uint64_t cycles;
    } rows[] = {
        {"a chain waits for the latency, 4", OP_FP32, 1, 10, true, 4 * 9 + 2},
        {"free ones for the interval, 1", OP_FP32, 1, 10, false, 9 + 2},
        {"free ones for the interval, 2", OP_INT, 1, 10, false, 2 * 9 + 2},
        {"the latency exceeds the interval", OP_INT, 1, 10, true, 4 * 9 + 2},
        /* greedy: in the last round each warp's EXIT goes before the next warp's instruction */
        {"two chains fill each other's gaps", OP_FP32, 2, 10, true, 4 * 9 + 2 * 2},
        {"four chains fill them all", OP_FP32, 4, 10, true, 4 * 9 + 2 * 4},
        {"two of interval 2 share the pipe", OP_INT, 2, 10, false, 2 * 19 + 2},
    };
    const machine mach = fixture_machine();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kernel k = fixture_kernel(1, 32 * rows[i].warps);
        for (uint32_t n = 0; n < rows[i].count; n++)
            add_op(&k, rows[i].op, (uint8_t)(rows[i].chain ? 1 : n + 1), rows[i].chain ? 1 : 0);
        const sim_result r = fixture_run(&mach, &k);
        cr_expect_eq(r.cycles, rows[i].cycles, "%s: %llu cycles", rows[i].what, (unsigned long long)r.cycles);
        cr_expect_eq(r.instructions[rows[i].op], rows[i].warps * rows[i].count);
        cr_expect_eq(r.issue_cycles, rows[i].warps * (rows[i].count + 1));
        cr_expect_eq(r.issue_cycles + stalls(&r), r.resident_cycles);
        kernel_free(&k);
    }
}

/* Waits are charged to what is waited for. */
Test(issue, stall_reasons) {
    const machine mach = fixture_machine();
    kernel k = fixture_kernel(1, 32);
    add_op(&k, OP_FP32, 1, 0);
    add_op(&k, OP_FP32, 2, 1); /* waits 3 cycles for a fixed latency */
    add_op(&k, OP_INT, 3, 0);
    add_op(&k, OP_INT, 4, 0); /* waits 1 cycle for the pipe */
    add_memory(&k, OP_LOAD, 5, 0, 4, (place){.per_thread = 4});
    add_op(&k, OP_FP32, 6, 5); /* waits 312 cycles for DRAM */
    add_memory(&k, OP_SHARED_LOAD, 7, 0, 4, (place){.per_thread = 4});
    add_op(&k, OP_FP32, 8, 7); /* waits 14 cycles for shared memory */
    const sim_result r = fixture_run(&mach, &k);
    cr_expect_eq(r.stall_cycles[STALL_WAIT], 3);
    cr_expect_eq(r.stall_cycles[STALL_MATH_PIPE_THROTTLE], 1);
    cr_expect_eq(r.stall_cycles[STALL_LONG_SCOREBOARD], 312);
    cr_expect_eq(r.stall_cycles[STALL_SHORT_SCOREBOARD], 14);
    cr_expect_eq(stalls(&r), 3 + 1 + 312 + 14);
    kernel_free(&k);
}

/* A turn: the instruction, a cycle later the branch, 8 cycles later the next turn. */
Test(issue, loop) {
    const machine mach = fixture_machine();
    for (uint64_t trips = 1; trips <= 5; trips++) {
        kernel k = fixture_kernel(1, 32);
        add_op(&k, OP_FP32, 1, 0);
        add_loop(&k, 0, trips);
        const sim_result r = fixture_run(&mach, &k);
        cr_expect_eq(r.cycles, 9 * trips + 1, "%llu turns: %llu", (unsigned long long)trips,
                     (unsigned long long)r.cycles);
        cr_expect_eq(r.instructions[OP_FP32], trips);
        cr_expect_eq(r.instructions[OP_BRANCH], trips);
        kernel_free(&k);
    }
}

/* Warps that are wholly out of bounds leave at the test; others run on with fewer lanes. */
Test(issue, exit_test) {
    const machine mach = fixture_machine();
    for (int64_t limit = 1; limit <= 256; limit += 17) {
        kernel k = fixture_kernel(2, 128);
        const place at = {.per_thread = 4, .per_block = 512, .limit = limit};
        add_exit_test(&k, limit);
        add_memory(&k, OP_LOAD, 1, 0, 4, at);
        const sim_result r = fixture_run(&mach, &k);
        cr_expect_eq(r.instructions[OP_LOAD], ceil_div((uint64_t)limit, 32));
        cr_expect_eq(r.instructions[OP_BRANCH], 8);
        cr_expect_eq(r.instructions[OP_EXIT], 8);
        cr_expect_eq(r.useful_bytes[0], 4 * (uint64_t)limit);
        cr_expect_eq(r.sectors[0], ceil_div((uint64_t)limit, 8));
        kernel_free(&k);
    }
}

/* One warp waits for DRAM, the other has nothing to do; both go on 6 cycles after the last has come. */
Test(issue, barrier) {
    const machine mach = fixture_machine();
    kernel k = fixture_kernel(1, 64);
    add_memory(&k, OP_LOAD, 1, 0, 4, (place){.per_thread = 4, .limit = 32});
    add_op(&k, OP_FP32, 2, 1);
    add_op(&k, OP_BARRIER, 0, 0);
    const sim_result r = fixture_run(&mach, &k);
    /* load 0, its use 313, barrier 314, EXITs 320 and 321 */
    cr_expect_eq(r.cycles, 322, "%llu", (unsigned long long)r.cycles);
    cr_expect_eq(r.requests[0], 1);
    cr_expect_eq(r.requests_empty[0], 1);
    cr_expect_gt(r.stall_cycles[STALL_BARRIER], 300);
    kernel_free(&k);
}

/* A barrier does not wait for warps that have left. */
Test(issue, barrier_without_the_dead) {
    const machine mach = fixture_machine();
    kernel k = fixture_kernel(1, 128);
    add_exit_test(&k, 33);
    add_op(&k, OP_BARRIER, 0, 0);
    const sim_result r = fixture_run(&mach, &k);
    cr_expect_eq(r.instructions[OP_BARRIER], 2);
    cr_expect_leq(r.cycles, 40);
    kernel_free(&k);
}

/* Blocks that do not fit at once follow when a place is free, block_launch_cycles later. */
Test(issue, blocks_follow) {
    machine mach = fixture_machine();
    mach.core.max_blocks = 1;
    mach.core.block_launch_cycles = 500;
    kernel k = fixture_kernel(3, 32);
    add_op(&k, OP_FP32, 1, 0);
    const sim_result r = fixture_run(&mach, &k);
    cr_expect_eq(r.blocks, 3);
    cr_expect_eq(r.cycles, 2 + 500 + 2 + 500 + 2, "%llu", (unsigned long long)r.cycles);
    cr_expect_eq(r.resident_blocks, 1);
    cr_expect_eq(r.resident_cycles, 6);
    kernel_free(&k);
}

/* A kernel that the machine or the engine cannot run is the user's error, named. */
Test(issue, kernels_that_do_not_fit) {
    const machine mach = fixture_machine();
    const sim_options o = {.threads = 1};
    sim_result r;
    message m = {{0}};
    kernel k = fixture_kernel(1, 32);
    add_op(&k, OP_FP32, 255, 0); /* every name that an instruction can have is followed */
    add_op(&k, OP_EXIT, 0, 0);
    cr_expect_eq(sim_run(&mach, &k, &o, &r, &m), OK, "%s", m.text);
    k.shared_bytes = mach.core.shared_bytes + 1;
    cr_expect_eq(sim_run(&mach, &k, &o, &r, &m), ERR_INPUT);
    cr_expect(strstr(m.text, "shared memory") != NULL, "%s", m.text);
    kernel_free(&k);
}

/* --- latencies -----------------------------------------------------------------------------------------------------
 */

/* The use of a load issues exactly the level's latency after it: cycles = latency + use + EXIT + end. From DRAM the
 * line is four bursts, of which the latency holds one. */
Test(latency, of_every_level) {
    const machine mach = fixture_machine();
    static const place word = {.per_thread = 4};
    kernel k = fixture_kernel(1, 32);
    add_memory(&k, OP_LOAD, 1, 0, 4, word);
    add_op(&k, OP_FP32, 2, 1);
    sim_result r = fixture_run(&mach, &k);
    cr_expect_eq(r.cycles, 300 + 10 + 3 + 2, "DRAM, closed row: %llu", (unsigned long long)r.cycles);
    kernel_free(&k);

    k = fixture_kernel(1, 32);
    add_memory(&k, OP_LOAD, 1, 0, 4, word);
    add_op(&k, OP_FP32, 2, 1);
    add_memory(&k, OP_LOAD, 3, 2, 4, word); /* 317 */
    add_op(&k, OP_FP32, 4, 3);
    r = fixture_run(&mach, &k);
    cr_expect_eq(r.cycles, 313 + 4 + 20 + 2, "L1: %llu", (unsigned long long)r.cycles);
    cr_expect_eq(r.level[0].read_hit_sectors, 4);
    kernel_free(&k);

    k = fixture_kernel(1, 32);
    add_memory(&k, OP_STORE, 9, 0, 4, word); /* passes L1, stays in L2 */
    add_op(&k, OP_FP32, 1, 0);
    add_memory(&k, OP_LOAD, 2, 1, 4, word); /* 5 */
    add_op(&k, OP_FP32, 3, 2);
    r = fixture_run(&mach, &k);
    cr_expect_eq(r.cycles, 5 + 100 + 2, "L2: %llu", (unsigned long long)r.cycles);
    cr_expect_eq(r.level[1].read_hit_sectors, 4);
    cr_expect_eq(r.dram.read_requests, 0);
    kernel_free(&k);

    k = fixture_kernel(1, 32);
    add_memory(&k, OP_LOAD, 1, 0, 4, word);
    add_op(&k, OP_FP32, 2, 1);
    add_memory(&k, OP_LOAD, 3, 2, 4, (place){.base = 256, .per_thread = 4}); /* the same row, now open */
    add_op(&k, OP_FP32, 4, 3);
    r = fixture_run(&mach, &k);
    cr_expect_eq(r.cycles, 313 + 4 + 303 + 2, "DRAM, open row: %llu", (unsigned long long)r.cycles);
    kernel_free(&k);
}

/* The same without device caches, and without any. */
Test(latency, of_machines_with_fewer_levels) {
    machine mach = fixture_machine();
    for (int left = 1; left >= 0; left--) {
        fixture_drop_levels(&mach, 1);
        kernel k = fixture_kernel(1, 32);
        add_memory(&k, OP_LOAD, 1, 0, 4, (place){.per_thread = 4});
        add_op(&k, OP_FP32, 2, 1);
        add_memory(&k, OP_LOAD, 3, 2, 4, (place){.per_thread = 4});
        add_op(&k, OP_FP32, 4, 3);
        const sim_result r = fixture_run(&mach, &k);
        const uint64_t second = left ? 20 : 303;
        cr_expect_eq(r.cycles, 313 + 4 + second + 2, "%d levels: %llu", left, (unsigned long long)r.cycles);
        cr_expect_eq(r.dram.read_bytes, left ? 128 : 256);
        kernel_free(&k);
    }
}

/* Without a cache of the core a request may be answered in pieces: a sector that L2 has at once, the rest from DRAM.
 * The load is there when all of it is. */
Test(latency, of_an_answer_in_pieces) {
    machine mach = fixture_machine();
    mach.level[0] = mach.level[1];
    mach.level_count = 1;
    kernel k = fixture_kernel(1, 32);
    add_memory(&k, OP_STORE, 9, 0, 4, (place){.per_thread = 4, .limit = 8}); /* one sector stays in L2 */
    add_op(&k, OP_FP32, 1, 0);
    add_memory(&k, OP_LOAD, 2, 1, 4, (place){.per_thread = 4}); /* 5 */
    add_op(&k, OP_FP32, 3, 2);
    const sim_result r = fixture_run(&mach, &k);
    cr_expect_eq(r.level[0].read_hit_sectors, 1);
    cr_expect_eq(r.level[0].read_miss_sectors, 3);
    cr_expect_eq(r.cycles, 5 + 300 + 10 + 2 + 2, "%llu", (unsigned long long)r.cycles); /* three bursts */
    kernel_free(&k);
}

/* One warp follows a chain of lines, each load's address from the one before, `lines` of them in an order that leaps
 * about; cycles of one step when they have all been seen once. */
static double chase(const machine *mach, int64_t lines, uint64_t steps) {
    uint64_t cycles[2];
    for (int pass = 0; pass < 2; pass++) {
        kernel k = fixture_kernel(1, 1);
        message m = {{0}};
        uint32_t index = 0;
        uint16_t access = 0;
        cr_assert_eq(ir_add_index(&k, (ir_index){.per_loop = {100003}}, &index, &m), OK);
        cr_assert_eq(ir_add_term(&k, (ir_term){.index = index, .div = 1, .mod = (uint64_t)lines, .mul = 128}, &m), OK);
        cr_assert_eq(ir_add_access(&k, (ir_access){.space = SPACE_GLOBAL, .bytes = 8, .terms = 1}, &access, &m), OK);
        const ir_inst load = {.op = OP_LOAD, .dst = 1, .src = {1}, .access = access, .loop = IR_NONE};
        cr_assert_eq(ir_add_inst(&k, load, &m), OK);
        add_loop(&k, 0, pass ? 2 * steps : steps);
        cycles[pass] = fixture_run(mach, &k).cycles;
        kernel_free(&k);
    }
    return (double)(cycles[1] - cycles[0]) / (double)steps;
}

/* Loads that nobody waits for are requests all the same: the warp is gone long before the one MSHR has let them all
 * through, and the run goes on until it has. */
Test(latency, of_loads_that_nobody_uses) {
    machine mach = fixture_machine();
    mach.level[0].mshrs = 1;
    mach.level[0].mshr_merges = 0;
    mach.lsu.queue = 8;
    kernel k = fixture_kernel(1, 32);
    for (int i = 0; i < 8; i++)
        add_memory(&k, OP_LOAD, 1 + (uint8_t)i, 0, 4, (place){.base = 1 << 20, .per_thread = 128 * (1 + i)});
    const sim_result r = fixture_run(&mach, &k);
    cr_expect_eq(r.requests[0], 8);
    cr_expect_eq(r.level[0].read_requests, r.lines[0]);
    kernel_free(&k);
}

/* RRZE-HPC/gpu-benches, gpu-latency/v100.txt: a random chase on a V100 takes 27.9 cycles in L1, 212 in L2, 434 in DRAM.
 */
Test(latency, of_a_v100) {
    machine mach;
    message m = {{0}};
    cr_assert_eq(machine_load("v100", &mach, &m), OK, "%s", m.text);
    const double l1 = chase(&mach, 512, 1024), l2 = chase(&mach, 8191, 8191), dram = chase(&mach, 1 << 22, 4000);
    cr_expect_float_eq(l1, 27.9, 3, "L1: %g", l1);
    cr_expect_float_eq(l2, 212, 3, "L2: %g", l2);
    cr_expect_float_eq(dram, 434, 3, "DRAM: %g", dram);
}

/* --- known counts --------------------------------------------------------------------------------------------------
 */

typedef struct term {
    uint32_t index; /* 0: thread, 1: block */
    uint64_t div, mod;
    int64_t mul;
} term;

/* A memory instruction whose address is a sum of terms of the thread's and the block's number. */
static void add_terms(kernel *k, op_class op, uint8_t reg, uint32_t bytes, const term *terms, uint32_t count) {
    message m = {{0}};
    uint32_t index[2] = {0, 0};
    uint16_t access = 0;
    const bool shared = op == OP_SHARED_LOAD || op == OP_SHARED_STORE;
    cr_assert_eq(ir_add_index(k, (ir_index){.per_thread = 1}, &index[0], &m), OK);
    cr_assert_eq(ir_add_index(k, (ir_index){.per_block = 1}, &index[1], &m), OK);
    const ir_access a = {
        .space = shared ? SPACE_SHARED : SPACE_GLOBAL, .bytes = bytes, .first_term = k->term_count, .terms = count};
    for (uint32_t i = 0; i < count; i++)
        cr_assert_eq(ir_add_term(k,
                                 (ir_term){.index = index[terms[i].index],
                                           .div = terms[i].div,
                                           .mod = terms[i].mod,
                                           .mul = terms[i].mul},
                                 &m),
                     OK);
    cr_assert_eq(ir_add_access(k, a, &access, &m), OK);
    ir_inst inst = {.op = (uint8_t)op, .access = access, .loop = IR_NONE};
    if (op == OP_STORE || op == OP_SHARED_STORE)
        inst.src[0] = reg;
    else
        inst.dst = reg;
    cr_assert_eq(ir_add_inst(k, inst, &m), OK);
}

/* Nsight Compute on the transposition of 4096 x 4096 doubles, 32 x 32 tile without padding, block 32 x 32 (text log of
 * an HPC training): 524 288 requests each way, 8.0 sectors a request; shared loads at the ideal of 2 wavefronts a
 * request, shared stores at 32 by the rule (the hardware counted 1.7 % more), 15 728 640 conflicts, 11.76 % of the
 * bytes of the wavefronts used. Here 256 x 256: a 256th of it. */
Test(known, unpadded_transposition_of_doubles) {
    machine mach = fixture_machine();
    mach.core.count = 4;
    mach.core.max_block_threads = 1024;
    kernel k = fixture_kernel(64, 1024);
    k.shared_bytes = 8192;
    const int64_t n = 256, e = 8;
    add_terms(&k, OP_LOAD, 1, 8, (term[]){{0, 1, 32, e}, {0, 32, 0, n * e}, {1, 1, 8, 32 * e}, {1, 8, 0, 32 * n * e}},
              4);
    add_terms(&k, OP_SHARED_STORE, 1, 8, (term[]){{0, 1, 32, 32 * e}, {0, 32, 0, e}}, 2);
    add_op(&k, OP_BARRIER, 0, 0);
    add_terms(&k, OP_SHARED_LOAD, 2, 8, (term[]){{0, 1, 32, e}, {0, 32, 0, 32 * e}}, 2);
    add_terms(&k, OP_STORE, 2, 8, (term[]){{0, 1, 32, e}, {0, 32, 0, n * e}, {1, 8, 0, 32 * e}, {1, 1, 8, 32 * n * e}},
              4);
    const sim_result r = fixture_run(&mach, &k);
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(r.requests[i], 524288 / 256);
        cr_expect_eq(r.sectors[i], 4194304 / 256);
        cr_expect_eq(r.useful_bytes[i], 32 * r.sectors[i]);
        cr_expect_eq(r.shared_ideal_wavefronts[i], 1048576 / 256);
    }
    cr_expect_eq(r.shared_wavefronts[0], 1048576 / 256);
    cr_expect_eq(r.shared_wavefronts[1], 16777216 / 256);
    cr_expect_eq(r.shared_wavefronts[1] - r.shared_ideal_wavefronts[1], 15728640 / 256);
    const double used = 100.0 * (double)(r.shared_bytes[0] + r.shared_bytes[1]) /
                        (128.0 * (double)(r.shared_wavefronts[0] + r.shared_wavefronts[1]));
    cr_expect_float_eq(used, 11.76, 0.01, "%g %%", used);
    kernel_free(&k);
}

/* c[i] = a[i] + b[i] on doubles, each touched once: 0 % hits in L1 and in L2, and what DRAM reads passes through both
 * (forums.developer.nvidia.com/t/l1-and-l2-cache-hit-rate/32799). */
Test(known, streams_never_hit) {
    machine mach = fixture_machine();
    mach.core.count = 2;
    kernel k = fixture_kernel(64, 256);
    const int64_t n = 64 * 256;
    add_memory(&k, OP_LOAD, 1, 0, 8, (place){.per_thread = 8, .per_block = 2048});
    add_memory(&k, OP_LOAD, 2, 0, 8, (place){.base = 8 * n, .per_thread = 8, .per_block = 2048});
    add_op(&k, OP_FP64, 3, 2);
    add_memory(&k, OP_STORE, 3, 0, 8, (place){.base = 16 * n, .per_thread = 8, .per_block = 2048});
    const sim_result r = fixture_run(&mach, &k);
    for (int l = 0; l < 2; l++) {
        cr_expect_eq(r.level[l].read_hit_sectors, 0);
        cr_expect_eq(r.level[l].read_pending_sectors, 0);
        cr_expect_eq(r.level[l].read_sectors, (uint64_t)n * 16 / 32);
        cr_expect_eq(r.level[l].down_read_bytes, (uint64_t)n * 16);
    }
    cr_expect_eq(r.dram.read_bytes, (uint64_t)n * 16);
    kernel_free(&k);
}

/* Streaming stores of whole sectors: the hardware says about 100 % L2 write hits, because nothing is fetched
 * (github.com/accel-sim/gpgpu-sim_distribution/pull/141); no line was present, so by our count none hit. */
Test(known, streaming_stores_need_no_fill) {
    const machine mach = fixture_machine();
    kernel k = fixture_kernel(256, 256);
    add_memory(&k, OP_STORE, 1, 0, 4, (place){.per_thread = 4, .per_block = 1024});
    const sim_result r = fixture_run(&mach, &k);
    cr_expect_eq(r.level[1].write_sectors, 8192);
    cr_expect_eq(r.level[1].write_nofill_sectors, 8192);
    cr_expect_eq(r.level[1].write_hit_sectors, 0);
    cr_expect_eq(r.dram.read_bytes, 0);
    kernel_free(&k);
}

/* Any byte address is simulated; an access across lines is two transactions (gpgpu-sim_distribution issue 251: abort).
 */
Test(known, misaligned_accesses) {
    const machine mach = fixture_machine();
    kernel k = fixture_kernel(1, 32);
    add_memory(&k, OP_LOAD, 1, 0, 16, (place){.base = 4096 + 121, .per_thread = 1000});
    add_memory(&k, OP_STORE, 1, 0, 8, (place){.base = 65536 + 125, .per_thread = 128});
    const sim_result r = fixture_run(&mach, &k);
    cr_expect_eq(r.lines[1], 33);
    cr_expect_eq(r.sectors[1], 64);
    cr_expect_eq(r.useful_bytes[0], 512);
    cr_expect_eq(r.useful_bytes[1], 256);
    cr_expect_eq(r.level[0].down_write_bytes, 256);
    cr_expect_eq(r.level[1].write_requests, 33);
    kernel_free(&k);
}

/* 8 and 16 bytes a lane: 8 and 16 sectors a request (gpgpu-sim pull request 80: only one of a lane's requests). */
Test(known, wide_loads) {
    const machine mach = fixture_machine();
    for (uint32_t bytes = 1; bytes <= 16; bytes *= 2) {
        kernel k = fixture_kernel(4, 64);
        add_memory(&k, OP_LOAD, 1, 0, bytes, (place){.per_thread = bytes, .per_block = 64 * bytes});
        const sim_result r = fixture_run(&mach, &k);
        cr_expect_eq(r.requests[0], 8);
        cr_expect_eq(r.sectors[0], 8 * bytes);
        cr_expect_eq(r.dram.read_bytes, 8 * 32 * bytes);
        kernel_free(&k);
    }
}

/* --- copies --------------------------------------------------------------------------------------------------------
 */

static sim_result run_copy(const machine *mach, const copy_desc *c, const copy_options *o) {
    kernel k = {0};
    message m = {{0}};
    cr_assert_eq(copy_kernel_build(mach, c, o, 1 << 20, 1 << 28, &k, &m), OK, "%s", m.text);
    cr_assert_eq(k.code[k.code_count - 1].op, OP_EXIT);
    const sim_result r = fixture_run(mach, &k);
    kernel_free(&k);
    return r;
}

/* A transposition of rank 2: source row-major [rows][columns], destination its transpose. */
static copy_desc transposition(int64_t rows, int64_t columns, uint32_t bytes) {
    return (copy_desc){.element_bytes = bytes,
                       .src = {.rank = 2, .size = {columns, rows}, .stride = {1, columns}},
                       .dst = {.rank = 2, .size = {columns, rows}, .stride = {rows, 1}}};
}

/* Futhark issue 483: a transposition of shape 0 x 32 crashed. */
Test(copies, of_nothing) {
    const machine mach = fixture_machine();
    const copy_desc c = transposition(0, 32, 4);
    kernel k = {0};
    message m = {{0}};
    const copy_options o = {.strategy = COPY_NOTHING, .elements_per_thread = 1};
    cr_assert_eq(copy_kernel_build(&mach, &c, &o, 0, 0, &k, &m), OK, "%s", m.text);
    cr_assert_eq(k.blocks, 0);
    sim_result r;
    const sim_options options = {.threads = 2, .check = true};
    cr_assert_eq(sim_run(&mach, &k, &options, &r, &m), OK, "%s", m.text);
    cr_expect(r.cycles == 0 && r.blocks == 0 && r.warps == 0 && r.requests[0] == 0 && r.dram.read_bytes == 0);
    cr_expect(r.time_s == 0 && r.achieved_occupancy == 0 && r.limit[0].utilisation == 0, "no division by zero");
    kernel_free(&k);
}

/* Matrices that are no multiple of the tile: lanes beyond the edge make no transactions (onnxruntime issue 5294). */
Test(copies, partial_tiles) {
    machine mach = fixture_machine();
    mach.core.count = 2;
    static const int64_t sides[][2] = {{462, 64}, {33, 31}, {100, 2}, {37, 65}};
    static const copy_strategy strategies[] = {COPY_TRANSPOSE_DEFAULT, COPY_TRANSPOSE_UNPADDED, COPY_TRANSPOSE_LARGE,
                                               COPY_TRANSPOSE_NAIVE, COPY_TRANSPOSE_SMALL};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        for (size_t s = 0; s < sizeof strategies / sizeof *strategies; s++) {
            const copy_desc c = transposition(sides[i][0], sides[i][1], 4);
            const copy_options o = {.strategy = strategies[s], .elements_per_thread = 1};
            const sim_result r = run_copy(&mach, &c, &o);
            const uint64_t bytes = 4 * (uint64_t)(sides[i][0] * sides[i][1]);
            cr_expect_eq(r.useful_bytes[0], bytes, "%s", copy_strategy_name(strategies[s]));
            cr_expect_eq(r.useful_bytes[1], bytes, "%s", copy_strategy_name(strategies[s]));
            cr_expect_eq(r.level[0].down_write_bytes, bytes, "every byte is stored once");
        }
}

/* The padding column takes the conflicts away; without it one side of the tile takes a bank's worth of passes. */
Test(copies, padding_removes_conflicts) {
    const machine mach = fixture_machine();
    for (uint32_t bytes = 4; bytes <= 8; bytes *= 2) {
        const copy_desc c = transposition(128, 128, bytes);
        const sim_result padded =
            run_copy(&mach, &c, &(copy_options){.strategy = COPY_TRANSPOSE_DEFAULT, .elements_per_thread = 1});
        const sim_result plain =
            run_copy(&mach, &c, &(copy_options){.strategy = COPY_TRANSPOSE_UNPADDED, .elements_per_thread = 1});
        for (int i = 0; i < 2; i++)
            cr_expect_eq(padded.shared_wavefronts[i], padded.shared_ideal_wavefronts[i]);
        const uint64_t ideal = plain.shared_ideal_wavefronts[0];
        cr_expect_eq(plain.shared_ideal_wavefronts[1], ideal);
        cr_expect_eq(plain.shared_wavefronts[0] + plain.shared_wavefronts[1], ideal + ideal * (bytes == 4 ? 32 : 16));
        cr_expect_gt(plain.cycles, padded.cycles);
    }
}

/* Lines and sectors of a warp's load and store, for slices and reversals of the Futhark copies with fewer rows. Worked
 * out from the addresses alone: 32 consecutive elements start at every residue of a line equally often. */
Test(copies, lines_and_sectors) {
    static const struct {
        const char *what;
        int64_t rows, columns, src_offset, src_row, src_column;
        bool sorted;
        double load_lines, load_sectors, store_lines, store_sectors;
    } rows[] = {
        {"[64][8193][:,1:], sorted", 64, 8192, 1, 8193, 1, true, 1.96875, 4.875, 1, 4},
        {"[64][8193][:,1:]", 64, 8192, 1, 8193, 1, false, 32, 32, 32, 32},
        {"[128][65][:,1:], sorted", 128, 64, 1, 65, 1, true, 1.96875, 4.875, 1, 4},
        {"[32768][5][:,1:], sorted", 32768, 4, 1, 5, 1, true, 2, 5, 1, 4},
        {"[32768][5][:,1:]", 32768, 4, 1, 5, 1, false, 5, 20, 4, 16},
        {"rows reversed, sorted", 64, 8192, 8191, 8192, -1, true, 1, 4, 1, 4},
        {"rows reversed", 64, 8192, 8191, 8192, -1, false, 32, 32, 32, 32},
        {"rows of 4 reversed, sorted", 32768, 4, 3, 4, -1, true, 1, 4, 1, 4},
        {"rows of 4 reversed", 32768, 4, 3, 4, -1, false, 4, 16, 4, 16},
    };
    machine mach = fixture_machine();
    mach.core.count = 8;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const copy_desc c = {
            .element_bytes = 4,
            .src = {.offset = rows[i].src_offset,
                    .rank = 2,
                    .size = {rows[i].rows, rows[i].columns},
                    .stride = {rows[i].src_row, rows[i].src_column}},
            .dst = {.rank = 2, .size = {rows[i].rows, rows[i].columns}, .stride = {rows[i].columns, 1}}};
        const copy_options o = {.strategy = COPY_GENERAL, .elements_per_thread = 1, .sorted = rows[i].sorted};
        const sim_result r = run_copy(&mach, &c, &o);
        const double warps = (double)(rows[i].rows * rows[i].columns) / 32;
        cr_expect_eq((double)r.lines[0] / warps, rows[i].load_lines, "%s: %g load lines", rows[i].what,
                     (double)r.lines[0] / warps);
        cr_expect_eq((double)r.sectors[0] / warps, rows[i].load_sectors, "%s: %g load sectors", rows[i].what,
                     (double)r.sectors[0] / warps);
        cr_expect_eq((double)r.lines[1] / warps, rows[i].store_lines, "%s", rows[i].what);
        cr_expect_eq((double)r.sectors[1] / warps, rows[i].store_sectors, "%s", rows[i].what);
    }
}

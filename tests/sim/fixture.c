#include "fixture.h"

#include <criterion/criterion.h>
#include <string.h>

machine fixture_machine(void) {
    machine mach = {
        .name = "test GPU",
        .id = "test",
        .clock_hz = 1e9,
        .core = {.count = 1,
                 .per_cluster = 1,
                 .warp_width = 32,
                 .schedulers = 1,
                 .issue_width = 1,
                 .max_warps = 32,
                 .max_blocks = 16,
                 .max_block_threads = 1024,
                 .registers = 65536,
                 .register_granule = 8,
                 .max_thread_registers = 255,
                 .shared_bytes = 65536,
                 .shared_granule_bytes = 128,
                 .shared_banks = 32,
                 .shared_bank_bytes = 4,
                 .shared_latency_cycles = 15},
        .lsu = {.rule = COALESCE_SECTORS,
                .queue = 8,
                .tag_lines_per_pass = 4,
                .tag_banks = 1,
                .data_banks = 32,
                .data_bank_bytes = 4,
                .bytes_per_cycle = 128,
                .store_credits = 16},
        .level_count = 2,
        .level = {{.name = "L1",
                   .scope = SCOPE_CORE,
                   .size_bytes = 4096,
                   .ways = 4,
                   .line_bytes = 128,
                   .sector_bytes = 32,
                   .slices = 1,
                   .bytes_per_cycle = 1e6,
                   .request_cycles = 1,
                   .latency_cycles = 20,
                   .mshrs = 32,
                   .mshr_merges = 8},
                  {.name = "L2",
                   .scope = SCOPE_DEVICE,
                   .size_bytes = 65536,
                   .ways = 8,
                   .line_bytes = 128,
                   .sector_bytes = 32,
                   .slices = 1,
                   .write = WRITE_BACK,
                   .bytes_per_cycle = 1e6,
                   .request_cycles = 1,
                   .latency_cycles = 100,
                   .mshrs = 32,
                   .mshr_merges = 8}},
        .fabric = {.request_bytes_per_cycle = 1e6, .response_bytes_per_cycle = 1e6},
        .channels = 1,
        .interleave_bytes = 256,
        .dram = {.bandwidth_bytes_per_s = 32e9,
                 .latency_cycles = 300,
                 .burst_bytes = 32,
                 .banks = 4,
                 .row_bytes = 1024,
                 .t_rcd_ns = 10,
                 .t_rp_ns = 10,
                 .t_ras_ns = 30,
                 .t_rrd_ns = 2,
                 .t_faw_ns = 10,
                 .t_wr_ns = 10,
                 .t_wtr_ns = 5,
                 .t_rtw_ns = 2,
                 .t_refi_ns = 1e9,
                 .t_rfc_ns = 100,
                 .read_queue = 16,
                 .write_queue_high = 8,
                 .write_queue_low = 2,
                 .masked_writes = true},
    };
    for (int i = 0; i < OP_CLASS_COUNT; i++)
        mach.core.op[i] = (op_timing){PIPE_ALU, 4, 2};
    mach.core.op[OP_FP32] = (op_timing){PIPE_FMA, 4, 1};
    mach.core.op[OP_BRANCH] = (op_timing){PIPE_BRANCH, 8, 1};
    mach.core.op[OP_BARRIER] = (op_timing){PIPE_BRANCH, 6, 1};
    mach.core.op[OP_EXIT] = (op_timing){PIPE_BRANCH, 1, 1};
    for (int i = OP_LOAD; i <= OP_SHARED_STORE; i++)
        mach.core.op[i] = (op_timing){PIPE_MEMORY, 1, 1};
    mach.isa[ISA_FLAT] = (isa_mix){.count = {[OP_INT] = 6}, .ilp = 2};
    mach.isa[ISA_GENERAL64] = (isa_mix){.count = {[OP_INT] = 6, [OP_BRANCH] = 1}, .ilp = 2};
    mach.isa[ISA_GENERAL64_DIM] = (isa_mix){.count = {[OP_INT] = 6, [OP_FP32] = 2}, .ilp = 2};
    mach.isa[ISA_GENERAL64_SLOW] = (isa_mix){.count = {[OP_INT] = 12}, .ilp = 2};
    mach.isa[ISA_GENERAL32] = (isa_mix){.count = {[OP_INT] = 4}, .ilp = 2};
    mach.isa[ISA_GENERAL32_DIM] = (isa_mix){.count = {[OP_INT] = 4}, .ilp = 2};
    mach.isa[ISA_INVARIANT] = (isa_mix){.count = {[OP_INT] = 3}, .ilp = 2};
    mach.isa[ISA_INVARIANT_DIM] = (isa_mix){.count = {[OP_INT] = 3}, .ilp = 2};
    mach.isa[ISA_TILE32] = (isa_mix){.count = {[OP_INT] = 24}, .ilp = 4};
    mach.isa[ISA_TILE64] = (isa_mix){.count = {[OP_INT] = 32}, .ilp = 4};
    mach.isa[ISA_LOOP] = (isa_mix){.count = {[OP_INT] = 1}, .ilp = 1};
    return mach;
}

void fixture_drop_levels(machine *mach, uint32_t count) {
    mach->level_count -= count;
}

kernel fixture_kernel(uint64_t blocks, uint32_t block_threads) {
    return (kernel){.name = "by hand", .blocks = blocks, .block_threads = block_threads, .registers = 16};
}

static void must(status code, const message *m) {
    cr_assert_eq(code, OK, "%s", m->text);
}

void add_op(kernel *k, op_class op, uint8_t dst, uint8_t src) {
    message m = {{0}};
    must(ir_add_inst(k, (ir_inst){.op = (uint8_t)op, .dst = dst, .src = {src}, .access = IR_NONE, .loop = IR_NONE}, &m),
         &m);
}

/* A bound on the flat thread number of the grid. */
static void add_limit(kernel *k, ir_access *a, int64_t limit) {
    message m = {{0}};
    uint32_t id = 0;
    a->first_bound = k->bound_count;
    if (limit <= 0)
        return;
    must(ir_add_index(k, (ir_index){.per_thread = 1, .per_block = k->block_threads}, &id, &m), &m);
    const uint32_t first = k->term_count;
    must(ir_add_term(k, (ir_term){.index = id, .div = 1, .mul = 1}, &m), &m);
    must(ir_add_bound(k, (ir_bound){first, 1, limit}, &m), &m);
    a->bounds = 1;
}

void add_memory(kernel *k, op_class op, uint8_t reg, uint8_t address, uint32_t bytes, place at) {
    message m = {{0}};
    const bool shared = op == OP_SHARED_LOAD || op == OP_SHARED_STORE;
    const bool store = op == OP_STORE || op == OP_SHARED_STORE;
    ir_access a = {.space = shared ? SPACE_SHARED : SPACE_GLOBAL, .bytes = bytes, .base = at.base};
    uint32_t index = 0;
    uint16_t access = 0;
    must(ir_add_index(k, (ir_index){.per_thread = at.per_thread, .per_block = at.per_block, .per_loop = {at.per_turn}},
                      &index, &m),
         &m);
    a.first_term = k->term_count;
    a.terms = 1;
    must(ir_add_term(k, (ir_term){.index = index, .div = 1, .mul = 1}, &m), &m);
    add_limit(k, &a, at.limit);
    must(ir_add_access(k, a, &access, &m), &m);
    const ir_inst inst = {.op = (uint8_t)op,
                          .dst = store ? 0 : reg,
                          .src = {store ? reg : address, store ? address : 0},
                          .access = access,
                          .loop = IR_NONE};
    must(ir_add_inst(k, inst, &m), &m);
}

void add_exit_test(kernel *k, int64_t limit) {
    message m = {{0}};
    ir_access a = {.space = SPACE_GLOBAL, .bytes = 4, .first_term = k->term_count};
    uint16_t access = 0;
    add_limit(k, &a, limit);
    must(ir_add_access(k, a, &access, &m), &m);
    must(ir_add_inst(k, (ir_inst){.op = OP_BRANCH, .access = access, .loop = IR_NONE}, &m), &m);
}

void add_loop(kernel *k, uint32_t first, uint64_t trips) {
    message m = {{0}};
    uint16_t id = 0;
    must(ir_add_loop(k, (ir_loop){.first = first, .last = k->code_count, .trips = trips}, &id, &m), &m);
    must(ir_add_inst(k, (ir_inst){.op = OP_BRANCH, .access = IR_NONE, .loop = id}, &m), &m);
}

sim_result fixture_run(const machine *mach, kernel *k) {
    message m = {{0}};
    if (!k->code_count || k->code[k->code_count - 1].op != OP_EXIT)
        add_op(k, OP_EXIT, 0, 0);
    must(ir_check(k, &m), &m);
    sim_result r;
    const sim_options o = {.threads = 1, .check = true};
    must(sim_run(mach, k, &o, &r, &m), &m);
    return r;
}

int64_t between(prng *g, int64_t lo, int64_t hi) {
    return lo + (int64_t)prng_below(g, (uint64_t)(hi - lo) + 1);
}

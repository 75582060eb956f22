#include "cpu_fixture.h"

static cache_level level(const char *name, uint64_t bytes, uint32_t ways, uint32_t latency) {
    cache_level l = {.size_bytes = bytes,
                     .ways = ways,
                     .line_bytes = 64,
                     .sector_bytes = 64,
                     .slices = 1,
                     .write = WRITE_BACK,
                     .partial = PARTIAL_FILL,
                     .bytes_per_cycle = 64,
                     .request_cycles = 1,
                     .latency_cycles = latency,
                     .mshrs = 16};
    for (int i = 0; name[i]; i++)
        l.name[i] = name[i];
    return l;
}

machine cpu_fixture_machine(void) {
    machine mach = {
        .name = "test CPU",
        .id = "test",
        .kind = MACHINE_CPU,
        .clock_hz = 1e9,
        .core = {.count = 2,
                 .per_cluster = 1,
                 .warp_width = 1,
                 .schedulers = 1,
                 .issue_width = 4,
                 .max_warps = 1,
                 .max_blocks = 1,
                 .max_block_threads = 1},
        .cpu = {.window = 64,
                .load_queue = 32,
                .store_buffer = 16,
                .fill_buffers = 8,
                .simd_bytes = 32,
                .load_ports = 2,
                .store_ports = 1,
                .mispredict_cycles = 10,
                .predicted_trips = 64,
                .tlb = {.walkers = 1,
                        .walk_cache = {64, 64, 64},
                        .reads_per_level = 1,
                        .page_count = 1,
                        .pages = {{.bytes = 4096, .first_entries = 16, .first_ways = 16, .second_ways = 1}}},
                .prefetch = {.boundary_bytes = 4096}},
        .level_count = 3,
        .level = {level("L1", 4096, 4, 4), level("L2", 32768, 8, 12), level("L3", 262144, 16, 40)},
        .fabric = {.request_bytes_per_cycle = 64, .response_bytes_per_cycle = 64},
        .channels = 1,
        .interleave_bytes = 256,
        .dram = {.bandwidth_bytes_per_s = 32e9,
                 .latency_cycles = 100,
                 .burst_bytes = 64,
                 .banks = 4,
                 .row_bytes = 4096,
                 .t_refi_ns = 1e9,
                 .read_queue = 16,
                 .write_queue_high = 8,
                 .write_queue_low = 2,
                 .masked_writes = true},
    };
    mach.level[2].scope = SCOPE_DEVICE;
    for (int i = 0; i < OP_CLASS_COUNT; i++)
        mach.core.op[i] = (op_timing){PIPE_ALU, 1, 1};
    mach.core.op[OP_BRANCH] = (op_timing){PIPE_BRANCH, 1, 1};
    mach.core.op[OP_LOAD] = mach.core.op[OP_STORE] = (op_timing){PIPE_MEMORY, 1, 1};
    for (int p = 0; p < PIPE_COUNT; p++)
        mach.cpu.ports[p] = 4;
    return mach;
}

/* CPUs of all shapes run patterns, copies and threads that write each other's lines: the conservation laws hold, no
 * answer comes before its time, what is dirty reaches memory or stays in a cache, and the number of host threads
 * changes no bit. */
#include "config/machine_config.h"
#include "cpu_fixture.h"
#include "fixture.h"
#include "kernel/pattern.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static uint32_t pick(prng *g, uint32_t lo, uint32_t hi) {
    return (uint32_t)between(g, lo, hi);
}

static address_hash random_hash(prng *g) {
    address_hash h = {0};
    h.count = pick(g, 0, 3);
    for (uint32_t i = 0; i < h.count; i++)
        h.shift[i] = (uint8_t)pick(g, 1, 9);
    return h;
}

static void random_level(prng *g, machine *mach, cache_scope scope, uint32_t line) {
    const uint32_t i = mach->level_count++;
    cache_level *l = &mach->level[i];
    static const inclusion second[] = {INCLUSION_FREE, INCLUSION_INCLUSIVE, INCLUSION_EXCLUSIVE, INCLUSION_MOSTLY};
    *l = (cache_level){.scope = scope,
                       .ways = pick(g, 1, 6),
                       .line_bytes = line,
                       .sector_bytes = line,
                       .slices = scope == SCOPE_DEVICE ? mach->channels * pick(g, 1, 3) : 1,
                       .replace = (replacement)pick(g, REPLACE_LRU, REPLACE_RANDOM),
                       .write = WRITE_BACK,
                       .partial = PARTIAL_FILL,
                       .set_hash = random_hash(g),
                       .bytes_per_cycle = 0.5 + pick(g, 0, 100),
                       .request_cycles = pick(g, 1, 4),
                       .latency_cycles = (i ? mach->level[i - 1].latency_cycles : 0) + pick(g, 1, 60),
                       .mshrs = pick(g, 1, 20),
                       .holds = i ? second[prng_below(g, scope == SCOPE_DEVICE ? 4 : 3)] : INCLUSION_FREE};
    snprintf(l->name, sizeof l->name, "level %u", i);
    l->size_bytes = (uint64_t)l->slices * l->ways * line * pick(g, 1, 9);
}

static void random_core(prng *g, machine *mach, uint32_t line) {
    cpu_desc *cpu = &mach->cpu;
    mach->core.count = pick(g, 1, 5);
    mach->core.issue_width = pick(g, 1, 6);
    cpu->window = pick(g, 1, 100);
    cpu->load_queue = pick(g, 1, cpu->window);
    cpu->store_buffer = pick(g, 1, cpu->window);
    cpu->fill_buffers = pick(g, 1, 16);
    cpu->simd_bytes = line < 64 ? line : 64;
    cpu->load_ports = pick(g, 1, 3);
    cpu->store_ports = pick(g, 1, 2);
    cpu->predicted_trips = pick(g, 1, 64);
    cpu->mispredict_cycles = pick(g, 0, 20);
    for (int p = 0; p < PIPE_COUNT; p++)
        cpu->ports[p] = pick(g, 1, 3);
    tlb_desc *t = &cpu->tlb;
    t->second_cycles = pick(g, 0, 9);
    t->walkers = pick(g, 1, 3);
    for (int i = 0; i < MACHINE_WALK_LEVELS - 1; i++)
        t->walk_cache[i] = pick(g, 0, 4);
    t->reads_per_level = pick(g, 1, 2);
    t->scattered = prng_below(g, 2);
    t->pages[0] = (page_desc){
        .bytes = UINT64_C(4096) << pick(g, 0, 3) * 9, .first_entries = pick(g, 1, 8), .second_entries = pick(g, 0, 16)};
    t->pages[0].first_ways = t->pages[0].first_entries;
    t->pages[0].second_ways = t->pages[0].second_entries ? t->pages[0].second_entries : 1;
    prefetch_desc *p = &cpu->prefetch;
    p->boundary_bytes = 1024u << prng_below(g, 4);
    p->next_line = prng_below(g, 2);
    p->stride_entries = pick(g, 0, 8);
    p->stride_distance = pick(g, 0, 8);
    p->adjacent_line = prng_below(g, 2);
    p->streams = pick(g, 0, 8);
    p->stream_distance = pick(g, 0, 20);
    p->stream_degree = pick(g, 0, 4);
}

static machine random_machine(prng *g) {
    machine mach = cpu_fixture_machine();
    const uint32_t line = 32u << prng_below(g, 3);
    random_core(g, &mach, line);
    mach.channels = pick(g, 1, 4);
    mach.channel_hash = random_hash(g);
    mach.interleave_bytes = line << prng_below(g, 4);
    mach.fabric.request_bytes_per_cycle = 0.5 + pick(g, 0, 40);
    mach.fabric.response_bytes_per_cycle = 0.5 + pick(g, 0, 40);
    mach.level_count = 0;
    for (uint32_t n = pick(g, 1, 2); n > 0; n--)
        random_level(g, &mach, SCOPE_CORE, line);
    if (prng_below(g, 3))
        random_level(g, &mach, SCOPE_DEVICE, line);
    dram_desc *dram = &mach.dram;
    dram->bandwidth_bytes_per_s = 1e9 * pick(g, 1, 200);
    dram->latency_cycles = mach.level[mach.level_count - 1].latency_cycles + pick(g, 1, 200);
    dram->burst_bytes = 16u << prng_below(g, 3);
    dram->banks = pick(g, 1, 9);
    dram->row_bytes = 512u << prng_below(g, 3);
    dram->bank_hash = random_hash(g);
    dram->t_rcd_ns = pick(g, 0, 20);
    dram->t_rp_ns = pick(g, 0, 20);
    dram->t_ras_ns = dram->t_rcd_ns + pick(g, 0, 20);
    dram->t_wtr_ns = pick(g, 0, 9);
    dram->t_rtw_ns = pick(g, 0, 9);
    dram->t_refi_ns = 200 + pick(g, 0, 3000);
    dram->t_rfc_ns = pick(g, 0, 150);
    dram->read_queue = pick(g, 1, 20);
    dram->write_queue_high = pick(g, 1, 10);
    dram->write_queue_low = pick(g, 0, dram->write_queue_high - 1);
    dram->masked_writes = prng_below(g, 2);
    return mach;
}

/* Loads and stores at random distances, so that threads share lines, straddle them and read what they have written. */
static kernel random_walk(prng *g, const machine *mach) {
    static const int64_t steps[] = {0, 4, 8, 12, 64, 72, 256, 4096};
    kernel k = fixture_kernel(pick(g, 1, 2 * mach->core.count), 1);
    for (uint32_t n = pick(g, 1, 6); n > 0; n--) {
        const bool store = prng_below(g, 2);
        const place at = {.base = 4096 + between(g, 0, 40) * 4,
                          .per_block = steps[prng_below(g, 8)],
                          .per_turn = steps[prng_below(g, 8)],
                          .limit = prng_below(g, 5) ? 0 : pick(g, 1, 3)};
        add_memory(&k, store ? OP_STORE : OP_LOAD, (uint8_t)pick(g, 1, 4), (uint8_t)pick(g, 0, 4),
                   4u << prng_below(g, 3), at);
        if (store && prng_below(g, 6) == 0)
            k.accesses[k.access_count - 1].nontemporal = true;
        if (prng_below(g, 2))
            add_op(&k, OP_INT, (uint8_t)pick(g, 1, 4), (uint8_t)pick(g, 1, 4));
    }
    add_loop(&k, 0, pick(g, 1, 200));
    add_op(&k, OP_EXIT, 0, 0);
    message m = {{0}};
    cr_assert_eq(ir_check(&k, &m), OK, "%s", m.text);
    return k;
}

static kernel random_pattern(prng *g, const machine *mach) {
    pattern p = {.kind = (pattern_kind)pick(g, 0, PATTERN_COUNT - 1),
                 .access_bytes = 1u << prng_below(g, 6),
                 .random = prng_below(g, 2),
                 .nontemporal = prng_below(g, 3) == 0,
                 .threads = pick(g, 1, mach->core.count)};
    p.stride_bytes = p.access_bytes * pick(g, 1, 40);
    p.bytes = p.stride_bytes * pick(g, 2, 400);
    if (prng_below(g, 2))
        p.thread_bytes = between(g, 1, 200); /* threads meet */
    kernel k = {0};
    uint64_t done = 0;
    message m = {{0}};
    cr_assert_eq(pattern_kernel_build(&p, pick(g, 1, 1500), &k, &done, &m), OK, "%s", m.text);
    return k;
}

static void describe(const machine *mach, const kernel *k, uint64_t seed, char *text, size_t size) {
    int used = snprintf(text, size, "seed %llu: %s, %llu threads on %u cores, levels", (unsigned long long)seed,
                        k->name, (unsigned long long)k->blocks, mach->core.count);
    for (uint32_t i = 0; i < mach->level_count; i++) {
        const cache_level *l = &mach->level[i];
        used += snprintf(text + used, size - (size_t)used, " [%s %llu B, holds %d, %u cycles]",
                         l->scope == SCOPE_CORE ? "core" : "shared", (unsigned long long)l->size_bytes, (int)l->holds,
                         l->latency_cycles);
    }
    snprintf(text + used, size - (size_t)used, " DRAM %u cycles", mach->dram.latency_cycles);
}

static void run_one(uint64_t seed, bool threads) {
    prng g = {seed};
    const machine mach = random_machine(&g);
    machine_part part;
    message m = {{0}};
    cr_assert_eq(machine_check(&mach, &part, &m), OK, "seed %llu: %s", (unsigned long long)seed, m.text);
    kernel k = prng_below(&g, 2) ? random_walk(&g, &mach) : random_pattern(&g, &mach);
    char what[1024];
    describe(&mach, &k, seed, what, sizeof what);
    sim_result first = {0};
    for (uint32_t n = 1; n <= (threads ? 3 : 1); n++) {
        const sim_options o = {.threads = n, .check = true};
        sim_result r;
        cr_assert_eq(sim_run(&mach, &k, &o, &r, &m), OK, "%s; %u host threads: %s", what, n, m.text);
        if (n == 1)
            first = r;
        cr_assert_eq(r.checksum, first.checksum, "%s; %u host threads differ", what, n);
    }
    kernel_free(&k);
}

Test(cpu_random, conservation_and_determinism, .timeout = 60) {
    for (uint64_t seed = 1; seed <= 400; seed++)
        run_one(seed, seed % 20 == 0);
}

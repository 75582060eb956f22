/* Small machines of all shapes run copies of all shapes: the conservation laws hold, and neither the number of host
 * threads nor the affine shortcut changes a bit. */
#include "config/machine_config.h"
#include "fixture.h"

#include <criterion/criterion.h>
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

static void random_level(prng *g, machine *mach, cache_scope scope) {
    const uint32_t i = mach->level_count++;
    cache_level *l = &mach->level[i];
    const uint32_t inner_line = i ? mach->level[i - 1].line_bytes : 32;
    *l = (cache_level){.scope = scope,
                       .ways = pick(g, 1, 6),
                       .slices = scope == SCOPE_DEVICE ? mach->channels * pick(g, 1, 3) : 1,
                       .replace = (replacement)pick(g, REPLACE_LRU, REPLACE_RANDOM),
                       .write = scope == SCOPE_DEVICE ? (write_policy)pick(g, 0, 1) : WRITE_THROUGH,
                       .partial = (partial_write)pick(g, PARTIAL_MASK, PARTIAL_FILL),
                       .set_hash = random_hash(g),
                       .bytes_per_cycle = 0.5 + pick(g, 0, 100),
                       .request_cycles = pick(g, 1, 4),
                       .latency_cycles = (i ? mach->level[i - 1].latency_cycles : 0) + pick(g, 30, 120),
                       .mshrs = pick(g, 1, 8),
                       .mshr_merges = pick(g, 0, 4)};
    snprintf(l->name, sizeof l->name, "level %u", i);
    l->line_bytes = inner_line;
    while (l->line_bytes < 128 && prng_below(g, 2))
        l->line_bytes *= 2;
    l->sector_bytes = l->line_bytes;
    while (l->sector_bytes > 8 && prng_below(g, 2))
        l->sector_bytes /= 2;
    l->size_bytes = (uint64_t)l->slices * l->ways * l->line_bytes * pick(g, 1, 9);
}

static machine random_machine(prng *g) {
    machine mach = fixture_machine();
    core_desc *core = &mach.core;
    core->count = pick(g, 1, 5);
    core->warp_width = 16u << prng_below(g, 3);
    core->schedulers = 1u << prng_below(g, 3);
    core->issue_width = pick(g, 1, 2);
    core->policy = (warp_policy)pick(g, WARP_GTO, WARP_LRR);
    core->max_warps = core->schedulers == 1 ? 64 : 64 + core->schedulers * pick(g, 0, 3);
    core->max_blocks = pick(g, 1, 8);
    core->block_launch_cycles = prng_below(g, 2) ? 0 : pick(g, 60, 200);
    core->dispatch_blocks_per_kilocycle = prng_below(g, 2) ? 0 : pick(g, 5, 2000);
    mach.lsu.rule = (coalesce_rule)pick(g, 0, COALESCE_COUNT - 1);
    mach.lsu.queue = pick(g, 1, 6);
    mach.lsu.tag_banks = 1u << prng_below(g, 3);
    mach.lsu.tag_lines_per_pass = mach.lsu.tag_banks * pick(g, 1, 2);
    mach.lsu.store_credits = pick(g, 1, 8);
    mach.lsu.bytes_per_cycle = 16u << prng_below(g, 4);
    mach.channels = pick(g, 1, 4);
    mach.channel_hash = random_hash(g);
    mach.fabric.request_bytes_per_cycle = 1 + pick(g, 0, 40);
    mach.fabric.response_bytes_per_cycle = 1 + pick(g, 0, 40);
    mach.fabric.slice_queue = pick(g, 0, 4);
    mach.level_count = 0;
    if (prng_below(g, 4))
        random_level(g, &mach, SCOPE_CORE);
    if (prng_below(g, 3) == 0) {
        core->per_cluster = pick(g, 1, core->count);
        random_level(g, &mach, SCOPE_CLUSTER);
    }
    for (uint32_t n = pick(g, 0, 2); n > 0; n--)
        random_level(g, &mach, SCOPE_DEVICE);
    const uint32_t line = mach.level_count ? mach.level[mach.level_count - 1].line_bytes : 128;
    mach.interleave_bytes = line << prng_below(g, 4);
    dram_desc *dram = &mach.dram;
    dram->bandwidth_bytes_per_s = 1e9 * pick(g, 2, 200);
    dram->latency_cycles = (mach.level_count ? mach.level[mach.level_count - 1].latency_cycles : 0) + pick(g, 20, 200);
    dram->burst_bytes = 16u << prng_below(g, 3);
    dram->banks = pick(g, 1, 9);
    dram->row_bytes = 512u << prng_below(g, 3);
    dram->bank_hash = random_hash(g);
    dram->t_refi_ns = 200 + pick(g, 0, 3000);
    dram->t_rfc_ns = pick(g, 0, 150);
    dram->read_queue = pick(g, 1, 20);
    dram->write_queue_high = pick(g, 1, 10);
    dram->write_queue_low = pick(g, 0, dram->write_queue_high - 1);
    dram->masked_writes = prng_below(g, 2);
    return mach;
}

/* A view of the shape with its dimensions nested in a random order, now and then reversed or with gaps. */
static void random_view(prng *g, lmad *l) {
    bool done[3] = {false};
    int64_t extent = 1;
    l->offset = 0;
    for (uint32_t n = 0; n < l->rank; n++) {
        uint32_t d = pick(g, 0, l->rank - 1);
        while (done[d])
            d = (d + 1) % l->rank;
        done[d] = true;
        l->stride[d] = extent + (prng_below(g, 3) == 0 ? between(g, 0, 3) : 0);
        extent = l->stride[d] * l->size[d];
        if (prng_below(g, 5) == 0) {
            l->offset += l->stride[d] * (l->size[d] - 1);
            l->stride[d] = -l->stride[d];
        }
    }
    l->offset += between(g, 0, 9);
}

static bool random_kernel(prng *g, const machine *mach, kernel *k) {
    copy_desc c = {.element_bytes = 1u << prng_below(g, 5)};
    c.src.rank = c.dst.rank = pick(g, 1, 3);
    int64_t left = 1500;
    for (uint32_t d = 0; d < c.src.rank; d++) {
        c.src.size[d] = c.dst.size[d] = between(g, 1, left > 60 ? 60 : left);
        left /= c.src.size[d];
    }
    random_view(g, &c.src);
    random_view(g, &c.dst);
    const copy_options o = {.strategy = (copy_strategy)pick(g, COPY_MEMCPY, COPY_STRATEGY_COUNT - 1),
                            .index = (index_variant)pick(g, INDEX_64, INDEX_INVARIANT),
                            .elements_per_thread = 1u << prng_below(g, 4),
                            .sorted = prng_below(g, 2),
                            .collapse = prng_below(g, 2)};
    message m = {{0}};
    *k = (kernel){0};
    const status code = copy_kernel_build(mach, &c, &o, 1 << 16, 1 << 20, k, &m);
    if (code == OK)
        return true;
    cr_assert_eq(code, ERR_INPUT, "%s", m.text);
    kernel_free(k);
    return false;
}

static void describe(const machine *mach, const kernel *k, uint64_t seed, char *text, size_t size) {
    int used = snprintf(text, size, "seed %llu: kernel %s, %u cores of %u lanes, %u channels of %u B, levels",
                        (unsigned long long)seed, k->name, mach->core.count, mach->core.warp_width, mach->channels,
                        mach->interleave_bytes);
    for (uint32_t i = 0; i < mach->level_count; i++) {
        const cache_level *l = &mach->level[i];
        used +=
            snprintf(text + used, size - (size_t)used, " [%s %u/%u B, %u ways, %u mshrs + %u, write %d, partial %d]",
                     (const char *[]){"core", "cluster", "device"}[l->scope], l->line_bytes, l->sector_bytes, l->ways,
                     l->mshrs, l->mshr_merges, (int)l->write, (int)l->partial);
    }
}

/* threads: also on 2 and 3 host threads, which takes much longer where the host is busy. */
static void run_one(uint64_t seed, bool threads) {
    prng g = {seed};
    const machine mach = random_machine(&g);
    machine_part part;
    message m = {{0}};
    cr_assert_eq(machine_check(&mach, &part, &m), OK, "seed %llu: %s", (unsigned long long)seed, m.text);
    kernel k;
    while (!random_kernel(&g, &mach, &k))
        ;
    char what[1024];
    describe(&mach, &k, seed, what, sizeof what);
    sim_result first;
    static const sim_options ways[] = {
        {.threads = 1, .check = true},
        {.threads = 1, .check = true, .lane_loop = true},
        {.threads = 2, .check = true},
        {.threads = 3, .check = true},
    };
    for (size_t i = 0; i < (threads ? 4 : 2); i++) {
        sim_result r;
        cr_assert_eq(sim_run(&mach, &k, &ways[i], &r, &m), OK, "%s; run %zu: %s", what, i, m.text);
        if (i == 0)
            first = r;
        cr_assert_eq(r.checksum, first.checksum, "%s; run %zu differs", what, i);
        cr_assert(r.cycles == first.cycles && memcmp(r.level, first.level, sizeof r.level) == 0, "%s; run %zu", what,
                  i);
    }
    cr_assert_eq(first.useful_bytes[1], (uint64_t)(k.useful_bytes / 2), "%s: stores", what);
    cr_assert_geq(first.useful_bytes[0], first.useful_bytes[1], "%s: loads", what);
    kernel_free(&k);
}

Test(random, conservation_and_determinism, .timeout = 60) {
    for (uint64_t seed = 1; seed <= 100; seed++)
        run_one(seed, seed % 10 == 0);
}

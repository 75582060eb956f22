/* machine_check.c - a machine must not contradict itself. */
#include "base/num.h"
#include "config/machine_read.h"

#include <inttypes.h>

enum { LINE_MIN = 32 }; /* a lane's 16 bytes lie in at most two lines */

static bool power_of_two(uint64_t n) {
    return n != 0 && (n & (n - 1)) == 0;
}

static status check_core(const machine *mach, message *m) {
    const core_desc *core = &mach->core;
    if (core->per_cluster > core->count)
        return fail(m, ERR_INPUT, "a cluster of %" PRIu32 " cores is larger than the device, which has %" PRIu32,
                    core->per_cluster, core->count);
    if (!power_of_two(core->warp_width))
        return fail(m, ERR_INPUT, "a warp of %" PRIu32 " lanes: the width must be a power of two", core->warp_width);
    if (core->max_warps % core->schedulers != 0)
        return fail(m, ERR_INPUT, "%" PRIu32 " warps cannot be shared evenly by %" PRIu32 " schedulers",
                    core->max_warps, core->schedulers);
    if (core->max_warps / core->schedulers > MACHINE_SCHEDULER_WARPS_MAX)
        return fail(m, ERR_INPUT, "%" PRIu32 " warps a scheduler; the engine follows up to %d",
                    core->max_warps / core->schedulers, MACHINE_SCHEDULER_WARPS_MAX);
    if (core->max_block_threads > core->max_warps * core->warp_width)
        return fail(m, ERR_INPUT,
                    "a block of %" PRIu32 " threads does not fit a core of %" PRIu32 " warps of %" PRIu32 " lanes",
                    core->max_block_threads, core->max_warps, core->warp_width);
    if (core->register_granule > core->max_thread_registers ||
        core->max_thread_registers * core->warp_width > core->registers)
        return fail(m, ERR_INPUT,
                    "%" PRIu32 " registers cannot hold one warp of %" PRIu32 " lanes with %" PRIu32
                    " registers a thread in steps of %" PRIu32,
                    core->registers, core->warp_width, core->max_thread_registers, core->register_granule);
    return OK;
}

/* Sizes that work are whole sets in every slice. */
status machine_check_level_size(const cache_level *level, message *m) {
    uint64_t set_bytes = (uint64_t)level->line_bytes * level->ways * level->slices;
    if (level->size_bytes % set_bytes == 0)
        return OK;
    uint64_t below = level->size_bytes / set_bytes * set_bytes;
    char size[32], low[32], high[32];
    format_bytes(size, sizeof size, level->size_bytes);
    format_bytes(low, sizeof low, below);
    format_bytes(high, sizeof high, below + set_bytes);
    if (below == 0)
        return fail(m, ERR_INPUT,
                    "level '%s': %s is less than one set of %" PRIu32 " ways of %" PRIu32 " B in each of %" PRIu32
                    " slices; the smallest size is %s",
                    level->name, size, level->ways, level->line_bytes, level->slices, high);
    return fail(m, ERR_INPUT,
                "level '%s': %s is not a whole number of sets of %" PRIu32 " ways of %" PRIu32 " B in each of %" PRIu32
                " slices; the nearest sizes that are: %s and %s",
                level->name, size, level->ways, level->line_bytes, level->slices, low, high);
}

static status check_level(const machine *mach, uint32_t i, message *m) {
    const cache_level *level = &mach->level[i];
    if (level->ways == 0)
        return fail(m, ERR_INPUT, "level '%s' has no ways", level->name);
    if (!power_of_two(level->line_bytes) || level->line_bytes < LINE_MIN || level->line_bytes > MACHINE_LINE_MAX)
        return fail(m, ERR_INPUT, "level '%s': a line of %" PRIu32 " B; it must be a power of two from %d to %d",
                    level->name, level->line_bytes, LINE_MIN, MACHINE_LINE_MAX);
    if (level->sector_bytes == 0 || level->line_bytes % level->sector_bytes != 0)
        return fail(m, ERR_INPUT, "level '%s': sectors of %" PRIu32 " B do not divide a line of %" PRIu32 " B",
                    level->name, level->sector_bytes, level->line_bytes);
    if (level->scope == SCOPE_DEVICE ? level->slices == 0 || level->slices % mach->channels != 0 : level->slices != 1)
        return fail(m, ERR_INPUT,
                    level->scope == SCOPE_DEVICE
                        ? "level '%s' has %" PRIu32 " slices; it needs a multiple of the %" PRIu32 " memory channels"
                        : "level '%s' has %" PRIu32 " slices; a cache of a core or cluster has 1 (only one with "
                          "device scope is spread over the %" PRIu32 " channels)",
                    level->name, level->slices, mach->channels);
    TRY(machine_check_level_size(level, m));
    if (level->write == WRITE_BACK && level->scope != SCOPE_DEVICE)
        return fail(m, ERR_INPUT,
                    "level '%s': a write-back cache of a %s would need a coherence protocol, which is not modelled; "
                    "write = \"through\"",
                    level->name, level->scope == SCOPE_CORE ? "core" : "cluster");
    if (i == 0)
        return OK;
    const cache_level *inner = &mach->level[i - 1];
    if (level->scope < inner->scope)
        return fail(m, ERR_INPUT, "level '%s' serves fewer cores than level '%s', which is nearer to the core",
                    level->name, inner->name);
    if (level->scope == inner->scope && level->scope != SCOPE_DEVICE)
        return fail(m, ERR_INPUT, "levels '%s' and '%s' both have %s scope: one is modelled", inner->name, level->name,
                    level->scope == SCOPE_CORE ? "core" : "cluster");
    if (level->line_bytes < inner->line_bytes)
        return fail(m, ERR_INPUT,
                    "level '%s' has lines of %" PRIu32 " B, level '%s', which is nearer to the core, of %" PRIu32
                    " B: lines must not shrink outwards",
                    level->name, level->line_bytes, inner->name, inner->line_bytes);
    if (level->latency_cycles <= inner->latency_cycles)
        return fail(m, ERR_INPUT,
                    "level '%s' answers in %" PRIu32 " cycles, level '%s', which is nearer to the core, in %" PRIu32
                    ": latencies are load-to-use and must grow outwards",
                    level->name, level->latency_cycles, inner->name, inner->latency_cycles);
    return OK;
}

status machine_check_memory(const machine *mach, message *m) {
    if (!power_of_two(mach->interleave_bytes))
        return fail(m, ERR_INPUT, "an interleave of %" PRIu32 " B: it must be a power of two", mach->interleave_bytes);
    for (uint32_t i = 0; i < mach->level_count; i++)
        if (mach->interleave_bytes % mach->level[i].line_bytes != 0)
            return fail(m, ERR_INPUT, "an interleave of %" PRIu32 " B splits the %" PRIu32 " B lines of level '%s'",
                        mach->interleave_bytes, mach->level[i].line_bytes, mach->level[i].name);
    if (!mach->level_count && mach->interleave_bytes < MACHINE_LINE_MAX)
        return fail(m, ERR_INPUT, "an interleave of %" PRIu32 " B splits requests of up to %d B",
                    mach->interleave_bytes, MACHINE_LINE_MAX);
    return OK;
}

status machine_check_dram(const machine *mach, message *m) {
    const cache_level *last = mach->level_count ? &mach->level[mach->level_count - 1] : NULL;
    const dram_desc *dram = &mach->dram;
    if (last && dram->latency_cycles <= last->latency_cycles)
        return fail(m, ERR_INPUT,
                    "DRAM answers in %" PRIu32 " cycles, level '%s' in %" PRIu32
                    ": latencies are load-to-use and must grow outwards",
                    dram->latency_cycles, last->name, last->latency_cycles);
    if (!power_of_two(dram->burst_bytes) || dram->row_bytes % dram->burst_bytes != 0)
        return fail(m, ERR_INPUT,
                    "bursts of %" PRIu32 " B: a power of two that divides the row of %" PRIu32 " B is needed",
                    dram->burst_bytes, dram->row_bytes);
    const uint32_t request = last ? last->line_bytes : MACHINE_LINE_MAX;
    if (dram->burst_bytes > MACHINE_LINE_MAX || dram->row_bytes < request)
        return fail(m, ERR_INPUT,
                    "bursts of %" PRIu32 " B in rows of %" PRIu32
                    " B: a burst has at most %d B, a row at least the %" PRIu32 " B of a request",
                    dram->burst_bytes, dram->row_bytes, MACHINE_LINE_MAX, request);
    if (dram->write_queue_low >= dram->write_queue_high)
        return fail(m, ERR_INPUT,
                    "writes drain from write_queue_high = %" PRIu32 " down to write_queue_low = %" PRIu32
                    ": low must be less",
                    dram->write_queue_high, dram->write_queue_low);
    if (dram->t_rfc_ns >= dram->t_refi_ns)
        return fail(m, ERR_INPUT, "a refresh of %g ns every %g ns leaves no time for data", dram->t_rfc_ns,
                    dram->t_refi_ns);
    if (dram->t_ras_ns < dram->t_rcd_ns)
        return fail(m, ERR_INPUT, "t_ras_ns = %g is less than t_rcd_ns = %g: a row would close before its first access",
                    dram->t_ras_ns, dram->t_rcd_ns);
    return OK;
}

static status check_lsu(const machine *mach, message *m) {
    const lsu_desc *lsu = &mach->lsu;
    if (!power_of_two(lsu->tag_banks) || lsu->tag_lines_per_pass % lsu->tag_banks != 0)
        return fail(m, ERR_INPUT,
                    "%" PRIu32 " tag banks: a power of two is needed that divides the %" PRIu32 " lines of a pass",
                    lsu->tag_banks, lsu->tag_lines_per_pass);
    return OK;
}

status machine_check(const machine *mach, machine_part *part, message *m) {
    if (mach->kind == MACHINE_CPU)
        return machine_check_cpu(mach, part, m);
    *part = (machine_part){"core", 0};
    TRY(check_core(mach, m));
    *part = (machine_part){"lsu", 0};
    TRY(check_lsu(mach, m));
    for (uint32_t i = 0; i < mach->level_count; i++) {
        *part = (machine_part){"levels", i};
        TRY(check_level(mach, i, m));
    }
    *part = (machine_part){"memory", 0};
    TRY(machine_check_memory(mach, m));
    *part = (machine_part){"dram", 0};
    return machine_check_dram(mach, m);
}

#include "model/balance.h"

#include "base/num.h"
#include "model/arithmetic.h"

#include <stdarg.h>
#include <stdio.h>

enum { FLOAT_BYTES = 4 };

typedef struct filler {
    balance *b;
    const char *group;
} filler;

static void add(filler *f, const char *unit, double value, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void add(filler *f, const char *unit, double value, const char *format, ...) {
    if (f->b->count == BALANCE_ROWS_MAX)
        return;
    balance_row *r = &f->b->row[f->b->count++];
    r->group = f->group;
    r->unit = unit;
    r->value = value;
    va_list args;
    va_start(args, format);
    vsnprintf(r->quantity, sizeof r->quantity, format, args);
    va_end(args);
}

static void compute_rows(filler *f, const machine *mach) {
    const core_desc *c = &mach->core;
    const double ops = lane_ops_per_s(mach->clock_hz, (double)c->count * c->schedulers, c->warp_width) /
                       c->op[OP_FP32].interval_cycles;
    const double dram = mach->dram.bandwidth_bytes_per_s;
    f->group = "compute for memory";
    add(f, "Gop/s", ops / 1e9, "operations of all lanes");
    add(f, "Gfloat/s", units_per_s(dram, FLOAT_BYTES) / 1e9, "floats that DRAM reads");
    add(f, "op", ops_per_value(ops, dram, FLOAT_BYTES), "operations for each float read, when nothing is written");
    add(f, "op", ops_per_value(ops, dram / 2, FLOAT_BYTES),
        "operations for each float read, when one is written as well");
}

static void hiding_rows(filler *f, const machine *mach, uint32_t warps) {
    const core_desc *c = &mach->core;
    const double issue = (double)c->op[OP_FP32].interval_cycles / c->schedulers;
    for (uint32_t l = 0; l <= mach->level_count; l++) {
        const bool dram = l == mach->level_count;
        add(f, "inst", insts_to_hide(dram ? mach->dram.latency_cycles : mach->level[l].latency_cycles, warps, issue),
            "instructions of each of %u warps that hide a load from %s", warps, dram ? "DRAM" : mach->level[l].name);
    }
    add(f, "register", (double)c->registers / c->warp_width / warps, "registers of a thread with %u warps", warps);
    add(f, "float", (double)c->shared_bytes / FLOAT_BYTES / c->warp_width / warps,
        "floats of shared memory of a thread with %u warps", warps);
}

static void latency_rows(filler *f, const machine *mach) {
    const core_desc *c = &mach->core;
    const double issue = (double)c->op[OP_FP32].interval_cycles / c->schedulers;
    f->group = "hiding latency";
    const uint32_t least = warps_to_hide(c->op[OP_FP32].latency_cycles, issue);
    add(f, "cycle", issue, "cycles of a core for a warp instruction");
    add(f, "warp", least, "warps of a core that hide arithmetic latency");
    if (least < c->max_warps)
        hiding_rows(f, mach, least);
    hiding_rows(f, mach, c->max_warps);
    const double bytes = bytes_in_flight(mach->dram.latency_cycles / mach->clock_hz, mach->dram.bandwidth_bytes_per_s);
    add(f, "KiB", bytes / 1024, "bytes in flight that keep DRAM busy (Little)");
    add(f, "byte", bytes / c->count / c->max_warps, "of these, for each of %u warps of every core", c->max_warps);
}

/* Bytes a second of a level, all its instances together. */
static double level_rate(const machine *mach, uint32_t l) {
    const cache_level *level = &mach->level[l];
    const double port = level->bytes_per_cycle * mach->clock_hz;
    if (level->scope == SCOPE_CORE)
        return mach->clock_hz * mach->core.count * mach->lsu.bytes_per_cycle;
    return port *
           (level->scope == SCOPE_DEVICE ? level->slices : (double)ceil_div(mach->core.count, mach->core.per_cluster));
}

static void level_rows(filler *f, const machine *mach) {
    f->group = "levels";
    const double dram = mach->dram.bandwidth_bytes_per_s;
    const uint32_t line = mach->level_count ? mach->level[0].line_bytes : MACHINE_LINE_MAX;
    for (uint32_t l = 0; l < mach->level_count; l++) {
        const char *name = mach->level[l].name;
        add(f, "GB/s", level_rate(mach, l) / 1e9, "bandwidth of %s", name);
        add(f, "cycle", line * mach->core.count * mach->clock_hz / level_rate(mach, l),
            "cycles for a line of %u B from %s, all cores reading", line, name);
        add(f, "hit", hits_per_miss(level_rate(mach, l), dram), "hits in %s for each miss, so that DRAM keeps up",
            name);
        add(f, "%", 100 * hit_rate(level_rate(mach, l), dram), "hit rate of %s, so that DRAM keeps up", name);
    }
    add(f, "GB/s", dram / 1e9, "bandwidth of DRAM");
    add(f, "cycle", line * mach->core.count * mach->clock_hz / dram,
        "cycles for a line of %u B from DRAM, all cores reading", line);
}

static void waste_rows(filler *f, const machine *mach) {
    f->group = "random access";
    uint32_t granule = mach->dram.burst_bytes;
    for (uint32_t l = 0; l < mach->level_count; l++)
        granule = mach->level[l].sector_bytes > granule ? mach->level[l].sector_bytes : granule;
    for (uint32_t bytes = 1; bytes <= 16; bytes *= 2)
        add(f, "%", 100 * wasted_share(bytes, granule), "bandwidth wasted by accesses of %u B, granules of %u B", bytes,
            granule);
    add(f, "G/s", units_per_s(mach->dram.bandwidth_bytes_per_s, granule) / 1e9, "granules of %u B that DRAM brings",
        granule);
}

void balance_of(const machine *mach, balance *b) {
    filler f = {.b = b};
    b->count = 0;
    compute_rows(&f, mach);
    latency_rows(&f, mach);
    level_rows(&f, mach);
    waste_rows(&f, mach);
}

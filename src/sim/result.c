/* result.c - from the parts' counters to one sim_result: sums, shares, the limiter, the conservation laws. */
#include "base/hash.h"
#include "sim/engine.h"
#include "sim/tick.h"

#include <string.h>

/* Below this share of its capacity nothing counts as the limiter: the run waits on latency. Nsight Compute's
 * speed-of-light rule draws the line at the same 60 %. */
const double result_busy_enough = 0.60;

#define ADD_ARRAY(to, from)                                                                                            \
    for (size_t i_ = 0; i_ < sizeof(to) / sizeof((to)[0]); i_++)                                                       \
    (to)[i_] += (from)[i_]

/* The level counters are uint64_t up to busy_max. */
void result_add_level(level_counters *to, const level_counters *from) {
    uint64_t *t = &to->read_requests;
    const uint64_t *f = &from->read_requests;
    for (size_t i = 0; i < offsetof(level_counters, busy_max) / sizeof *t; i++)
        t[i] += f[i];
}

static void add_busy(double *max, double *mean, int64_t busy_ticks, double run_ticks, uint32_t instances) {
    const double share = run_ticks > 0 ? (double)busy_ticks / run_ticks : 0;
    if (share > *max)
        *max = share;
    *mean += share / instances;
}

typedef struct shares {
    double lsu, shared, link, issue, dispatch;
} shares;

static double share(uint64_t part, double whole) {
    return whole > 0 ? (double)part / whole : 0;
}

static void sum_cores(const engine *e, sim_result *r, shares *s) {
    const double cycles = (double)r->cycles;
    const uint32_t schedulers = e->mach->core.schedulers;
    int64_t lsu_max = 0, shared_max = 0, link_max = 0;
    uint64_t lsu_milli[2] = {0, 0}, pipe[PIPE_COUNT] = {0};
    for (uint32_t i = 0; i < e->cluster_count; i++)
        for (uint32_t k = 0; k < e->clusters[i].cores; k++) {
            const core_counters *n = core_count(e->clusters[i].core[k]);
            r->blocks += n->blocks;
            r->warps += n->warps;
            ADD_ARRAY(r->instructions, n->instructions);
            ADD_ARRAY(r->requests, n->requests);
            ADD_ARRAY(r->requests_empty, n->requests_empty);
            ADD_ARRAY(r->lines, n->lines);
            ADD_ARRAY(r->sectors, n->sectors);
            ADD_ARRAY(r->useful_bytes, n->useful_bytes);
            ADD_ARRAY(r->data_wavefronts, n->data_wavefronts);
            ADD_ARRAY(r->tag_wavefronts_milli, n->tag_wavefronts_milli);
            ADD_ARRAY(lsu_milli, n->lsu_milli);
            ADD_ARRAY(r->shared_requests, n->shared_requests);
            ADD_ARRAY(r->shared_wavefronts, n->shared_wavefronts);
            ADD_ARRAY(r->shared_ideal_wavefronts, n->shared_ideal_wavefronts);
            ADD_ARRAY(r->shared_bytes, n->shared_bytes);
            ADD_ARRAY(r->stall_cycles, n->stall_cycles);
            ADD_ARRAY(pipe, n->pipe_cycles);
            r->resident_cycles += n->resident_cycles;
            r->issue_cycles += n->issue_cycles;
            r->scheduler_active_cycles += n->scheduler_active_cycles;
            lsu_max = n->lsu_busy_ticks > lsu_max ? n->lsu_busy_ticks : lsu_max;
            shared_max = n->shared_busy_cycles > shared_max ? n->shared_busy_cycles : shared_max;
            const int64_t link =
                n->link_busy_ticks > n->response_busy_ticks ? n->link_busy_ticks : n->response_busy_ticks;
            link_max = link > link_max ? link : link_max;
            if (e->shared.has_level)
                result_add_level(&r->level[0], core_level_count(e->clusters[i].core[k]));
        }
    for (int i = 0; i < 2; i++)
        r->lsu_cycles[i] = (lsu_milli[i] + 500) / 1000;
    const double scheduler_cycles = cycles * schedulers * e->core_count;
    for (int p = 0; p < PIPE_COUNT; p++) {
        r->pipe_busy[p] = share(pipe[p], scheduler_cycles);
        if (p != PIPE_MEMORY && r->pipe_busy[p] > s->issue)
            s->issue = r->pipe_busy[p];
    }
    const double slots = share(r->issue_cycles, scheduler_cycles * e->mach->core.issue_width);
    s->issue = slots > s->issue ? slots : s->issue;
    s->lsu = share((uint64_t)lsu_max, cycles * TICKS);
    s->link = share((uint64_t)link_max, cycles * TICKS);
    s->shared = share((uint64_t)shared_max, cycles);
    if (e->mach->core.dispatch_blocks_per_kilocycle)
        s->dispatch = share(r->blocks * 1000, cycles * e->mach->core.dispatch_blocks_per_kilocycle);
    r->achieved_occupancy = share(r->resident_cycles, cycles * e->core_count * e->mach->core.max_warps);
    if (e->shared.has_level) {
        r->level[0].busy_max = s->lsu;
        r->level[0].busy_mean = s->lsu;
        r->level[0].busy_peak = s->lsu;
    }
}

static void sum_clusters(const engine *e, sim_result *r, double ticks) {
    for (uint32_t i = 0; i < e->cluster_count; i++) {
        const cluster *cl = &e->clusters[i];
        if (!cl->has_level)
            return;
        level_counters *to = &r->level[cl->level_index];
        result_add_level(to, &cl->level_count);
        add_busy(&to->busy_max, &to->busy_mean, cl->level.busy, ticks, e->cluster_count);
        to->busy_peak = to->busy_max;
    }
}

/* Never less than the busiest instance over the whole run, of which it is a refinement. */
static double peak_share(uint64_t peak, double run_ticks, double max) {
    const double part = share(peak, run_ticks);
    return part < max ? max : part > 1 ? 1 : part;
}

static void sum_partitions(const engine *e, sim_result *r, double ticks) {
    const uint32_t channels = e->mach->channels;
    for (uint32_t i = 0; i < channels; i++) {
        const partition *p = &e->partitions[i];
        for (uint32_t l = 0; l < p->levels; l++) {
            level_counters *to = &r->level[p->first_level + l];
            result_add_level(to, &p->count[l]);
            for (uint32_t s = 0; s < p->slices[l]; s++)
                add_busy(&to->busy_max, &to->busy_mean, p->slice[l][s].busy, ticks, channels * p->slices[l]);
        }
        const dram_channel *d = &p->dram;
        dram_counters *n = &r->dram;
        n->read_requests += d->read_requests;
        n->write_requests += d->write_requests;
        n->read_bytes += d->read_bursts * d->desc->burst_bytes;
        n->write_bytes += d->write_bursts * d->desc->burst_bytes;
        n->row_hits += d->row_hits;
        n->row_misses += d->row_misses;
        n->turnarounds += d->turnarounds;
        n->refreshes += d->refreshes;
        add_busy(&n->busy_max, &n->busy_mean, d->busy, ticks, channels);
        double mean = 0;
        add_busy(&n->blocked_max, &mean, d->blocked, ticks, channels);
    }
    for (uint32_t l = 0; l < e->partitions[0].levels; l++) {
        level_counters *n = &r->level[e->partitions[0].first_level + l];
        n->busy_peak = peak_share(e->peak_ticks[e->partitions[0].first_level + l], ticks, n->busy_max);
    }
    r->dram.blocked_peak = peak_share(e->peak_ticks[r->level_count], ticks, r->dram.blocked_max);
}

/* --- limiter -------------------------------------------------------------------------------------------------------
 */

void result_offer(sim_result *r, limit_kind kind, uint32_t level, double utilisation) {
    const limiter l = {kind, level, utilisation > 1 ? 1 : utilisation};
    if (l.utilisation > r->limit[0].utilisation) {
        r->limit[1] = r->limit[0];
        r->limit[0] = l;
    } else if (l.utilisation > r->limit[1].utilisation) {
        r->limit[1] = l;
    }
}

static void find_limiter(sim_result *r, const shares *s, bool first_is_core) {
    r->limit[0] = r->limit[1] = (limiter){LIMIT_LATENCY, 0, 0};
    result_offer(r, LIMIT_ISSUE, 0, s->issue);
    result_offer(r, LIMIT_LSU, 0, s->lsu);
    result_offer(r, LIMIT_SHARED, 0, s->shared);
    result_offer(r, LIMIT_FABRIC, 0, s->link);
    result_offer(r, LIMIT_DISPATCH, 0, s->dispatch);
    for (uint32_t l = first_is_core; l < r->level_count; l++)
        result_offer(r, LIMIT_LEVEL, l, r->level[l].busy_peak);
    result_offer(r, LIMIT_DRAM, 0, r->dram.blocked_peak);
    if (r->limit[0].utilisation < result_busy_enough) {
        r->limit[1] = r->limit[0];
        r->limit[0] = (limiter){LIMIT_LATENCY, 0, r->limit[1].utilisation};
    }
}

/* --- conservation laws ---------------------------------------------------------------------------------------------
 */

#define LAW(what, left, right)                                                                                         \
    do {                                                                                                               \
        const uint64_t left_ = (left), right_ = (right);                                                               \
        if (left_ != right_)                                                                                           \
            return fail(m, ERR_INTERNAL, "conservation law broken: %s: %llu is not %llu", what,                        \
                        (unsigned long long)left_, (unsigned long long)right_);                                        \
    } while (0)

static status check_laws(const engine *e, const sim_result *r, message *m) {
    uint64_t stalls = 0;
    for (int i = 0; i < STALL_COUNT; i++)
        stalls += r->stall_cycles[i];
    uint64_t issued = 0;
    for (int i = 0; i < OP_CLASS_COUNT; i++)
        issued += r->instructions[i];
    LAW("issue cycles + stall cycles = resident warp cycles", r->issue_cycles + stalls, r->resident_cycles);
    LAW("instructions issued = issue cycles", issued, r->issue_cycles);
    LAW("blocks run = blocks started", r->blocks, e->blocks);
    LAW("warps run = warps of the grid", r->warps, e->blocks * e->shared.warps_per_block);
    if (e->shared.has_level) {
        LAW("read requests of the first level = lines of loads", r->level[0].read_requests, r->lines[0]);
        LAW("write requests of the first level = lines of stores", r->level[0].write_requests, r->lines[1]);
    }
    for (uint32_t l = 0; l < r->level_count; l++) {
        const level_counters *n = &r->level[l];
        const uint64_t sector = e->mach->level[l].sector_bytes;
        LAW("sectors read = hit + pending + missed", n->read_sectors,
            n->read_hit_sectors + n->read_pending_sectors + n->read_miss_sectors);
        LAW("bytes fetched from below = sectors filled", n->down_read_bytes, n->fill_sectors * sector);
        const bool last = l + 1 == r->level_count;
        LAW("misses = read requests of the level below", n->down_read_requests,
            last ? r->dram.read_requests : r->level[l + 1].read_requests);
        LAW("stores passed down = write requests of the level below", n->down_write_requests,
            last ? r->dram.write_requests : r->level[l + 1].write_requests);
    }
    if (r->level_count) {
        const level_counters *n = &r->level[r->level_count - 1];
        const uint64_t burst = e->mach->dram.burst_bytes;
        if (e->mach->level[r->level_count - 1].sector_bytes % burst == 0 && e->mach->dram.masked_writes)
            LAW("bytes read from DRAM = bytes fetched by the last level", r->dram.read_bytes, n->down_read_bytes);
        if (r->dram.write_bytes < n->down_write_bytes)
            return fail(m, ERR_INTERNAL, "conservation law broken: fewer bytes written to DRAM than evicted");
    }
    return OK;
}

/* --- checksum ------------------------------------------------------------------------------------------------------
 */

uint64_t result_checksum(const sim_result *r) {
    uint64_t h = HASH_START;
    h = hash_bytes(h, r, offsetof(sim_result, level_count));
    h = hash_bytes(h, r->level, sizeof r->level);
    h = hash_bytes(h, &r->dram, sizeof r->dram);
    h = hash_bytes(h, &r->cpu, sizeof r->cpu);
    h = hash_bytes(h, &r->resident_cycles, offsetof(sim_result, limit) - offsetof(sim_result, resident_cycles));
    return h;
}

/* --- sampled runs --------------------------------------------------------------------------------------------------
 */

static void scale(uint64_t *counter, size_t n, double factor) {
    for (size_t i = 0; i < n; i++)
        counter[i] = (uint64_t)((double)counter[i] * factor + 0.5);
}

/* The blocks that were left out need the steady mean time each, and make as much traffic as those that were not. */
static void extrapolate(const engine *e, sim_result *r) {
    const uint64_t left = e->k->blocks - e->blocks;
    const double factor = (double)e->k->blocks / (double)e->blocks;
    const double cycles = (double)left * e->sample.block_cycles;
    r->cycles += (uint64_t)(cycles + 0.5);
    r->time_half_s = (double)left * e->sample.block_cycles_half / e->mach->clock_hz;
    r->blocks = e->k->blocks;
    r->warps = r->blocks * e->shared.warps_per_block;
    scale(r->instructions, OP_CLASS_COUNT, factor);
    scale(r->requests, (offsetof(sim_result, level_count) - offsetof(sim_result, requests)) / sizeof(uint64_t), factor);
    for (uint32_t l = 0; l < r->level_count; l++)
        scale(&r->level[l].read_requests, offsetof(level_counters, busy_max) / sizeof(uint64_t), factor);
    scale(&r->dram.read_requests, offsetof(dram_counters, busy_max) / sizeof(uint64_t), factor);
    scale(&r->resident_cycles, 1, factor);
    scale(&r->issue_cycles, 1, factor);
    scale(r->stall_cycles, STALL_COUNT, factor);
    scale(&r->scheduler_active_cycles, 1, factor);
}

status engine_result(const engine *e, sim_result *r, message *m) {
    const machine *mach = e->mach;
    shares s = {0};
    r->cycles = (uint64_t)e->end;
    r->simulated_blocks = e->blocks;
    r->level_count = mach->level_count;
    r->resident_blocks = e->occupancy.blocks;
    r->resident_warps = e->occupancy.warps;
    r->occupancy_limit = resource_name(e->occupancy.limit);
    const double ticks = (double)r->cycles * TICKS;
    sum_cores(e, r, &s);
    sum_clusters(e, r, ticks);
    sum_partitions(e, r, ticks);
    find_limiter(r, &s, e->shared.has_level);
    if (e->options->check)
        TRY(check_laws(e, r, m));
    if (e->blocks < e->k->blocks)
        extrapolate(e, r);
    r->time_s = (double)r->cycles / mach->clock_hz + (e->k->blocks ? mach->launch_overhead_s : 0);
    r->checksum = result_checksum(r);
    return OK;
}

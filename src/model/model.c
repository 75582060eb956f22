#include "model/model.h"

#include "base/mem.h"
#include "base/num.h"
#include "model/arithmetic.h"
#include "model/footprint.h"
#include "model/warp_time.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *bound_kind_name(bound_kind k) {
    static const char *const names[] = {
#define X(id, name) name,
        BOUND_LIST(X)
#undef X
    };
    return names[k];
}

char *bound_label(char *buffer, size_t size, const machine *mach, const bound *b) {
    static const char *const words[BOUND_KIND_COUNT] = {
        [BOUND_ISSUE] = "issue slots",      [BOUND_LSU] = "LSU passes",       [BOUND_SHARED] = "shared memory",
        [BOUND_REQUESTS] = "request links", [BOUND_ANSWERS] = "answer links", [BOUND_PORT] = "port",
        [BOUND_MISSES] = "MSHRs",           [BOUND_STORES] = "store credits", [BOUND_DRAM] = "DRAM",
        [BOUND_DISPATCH] = "dispatch",      [BOUND_LATENCY] = "latency"};
    if (b->kind == BOUND_PIPE)
        snprintf(buffer, size, "%s pipe", pipe_name((pipe_id)b->index));
    else if (b->kind == BOUND_PORT || b->kind == BOUND_MISSES)
        snprintf(buffer, size, "%s %s", mach->level[b->index].name, words[b->kind]);
    else
        snprintf(buffer, size, "%s", words[b->kind]);
    return buffer;
}

/* --- what has to move ----------------------------------------------------------------------------------------------
 */

typedef struct modelling {
    const machine *mach;
    const kernel *k;
    model *out;
    model_array array[MODEL_ARRAYS_MAX];
    uint32_t arrays;
    bool apart;   /* no array shares a byte range with another */
    double cores; /* that have a block */
    bool *active;
    uint32_t *load_cycles;
    message *m;
} modelling;

/* First and last byte; false when there are none. */
static bool byte_range(const model_array *a, int64_t *low, int64_t *high) {
    message m;
    if (lmad_empty(&a->layout) || lmad_range(&a->layout, low, high, &m) != OK)
        return false;
    *low = a->base + *low * a->element_bytes;
    *high = a->base + (*high + 1) * a->element_bytes - 1;
    return true;
}

static bool all_apart(const modelling *x) {
    for (uint32_t i = 0; i < x->arrays; i++)
        for (uint32_t j = 0; j < i; j++) {
            int64_t a_low, a_high, b_low, b_high;
            if (byte_range(&x->array[i], &a_low, &a_high) && byte_range(&x->array[j], &b_low, &b_high) &&
                a_low <= b_high && b_low <= a_high)
                return false;
        }
    return true;
}

/* An access without bounds and divisions, run by every thread of every turn, is an array. */
static void find_array(modelling *x, const ir_inst *inst) {
    const kernel *k = x->k;
    const ir_access *a = &k->accesses[inst->access];
    if (x->arrays == MODEL_ARRAYS_MAX || a->space != SPACE_GLOBAL || a->bounds)
        return;
    model_array array = {.store = inst->op == OP_STORE, .element_bytes = 1, .base = a->base};
    lmad *l = &array.layout;
    l->rank = 3 + IR_LOOPS_MAX;
    l->size[0] = (int64_t)k->blocks;
    l->size[1] = k->block_threads;
    l->size[2] = a->bytes;
    l->stride[2] = 1;
    for (int d = 0; d < IR_LOOPS_MAX; d++)
        l->size[3 + d] = 1;
    for (uint32_t i = 0; i < k->loop_count; i++) {
        const uint32_t at = (uint32_t)(inst - k->code);
        if (at >= k->loops[i].first && at <= k->loops[i].last)
            l->size[3 + k->loops[i].depth] = (int64_t)k->loops[i].trips;
    }
    for (uint32_t t = a->first_term; t < a->first_term + a->terms; t++) {
        const ir_term *term = &k->terms[t];
        const ir_index *index = &k->indices[term->index];
        if (term->div != 1 || term->mod)
            return;
        l->offset += index->base * term->mul; /* ir_check: addresses fit */
        l->stride[0] += index->per_block * term->mul;
        l->stride[1] += index->per_thread * term->mul;
        for (int d = 0; d < IR_LOOPS_MAX; d++)
            l->stride[3 + d] += index->per_loop[d] * term->mul;
    }
    message m;
    if (lmad_check(l, "", &m) == OK)
        x->array[x->arrays++] = array;
}

static void find_arrays(modelling *x) {
    bool leaves = false; /* threads may end before */
    for (uint32_t i = 0; i < x->k->code_count; i++) {
        const ir_inst *inst = &x->k->code[i];
        leaves |= inst->op == OP_BRANCH && inst->access != IR_NONE;
        if (!leaves && (inst->op == OP_LOAD || inst->op == OP_STORE))
            find_array(x, inst);
    }
}

/* Different units that loads or stores touch, at least. */
static double footprint(const modelling *x, bool store, uint32_t unit) {
    double sum = 0, most = 0;
    for (uint32_t i = 0; i < x->arrays; i++) {
        const model_array *a = &x->array[i];
        bool exact = false;
        if (a->store != store)
            continue;
        const double n = (double)footprint_units(&a->layout, a->element_bytes, a->base, unit, &exact);
        sum += n;
        most = fmax(most, n);
    }
    return x->apart ? sum : most;
}

/* Units of loads that nothing in the kernel has touched before: their first access goes to DRAM. */
static double first_touches(const modelling *x, uint32_t unit) {
    const double loads = footprint(x, false, unit);
    return x->apart ? loads : fmax(loads - footprint(x, true, unit), 0);
}

/* Bytes that a level takes in from below at once: at least a sector, and all that the rule fetches. */
static uint32_t fetch_unit(const machine *mach, uint32_t from) {
    uint32_t unit = mach->level_count ? 1 : MACHINE_BARE_SECTOR;
    for (uint32_t l = from; l < mach->level_count; l++)
        unit = mach->level[l].sector_bytes > unit ? mach->level[l].sector_bytes : unit;
    return unit;
}

/* --- the bounds ----------------------------------------------------------------------------------------------------
 */

static void add(modelling *x, bound_kind kind, uint32_t index, double cycles) {
    model *b = x->out;
    if (cycles > 0 && b->bound_count < BOUNDS_MAX)
        b->bound[b->bound_count++] = (bound){kind, index, cycles};
}

static bool core_has_cache(const machine *mach) {
    return mach->level_count && mach->level[0].scope == SCOPE_CORE;
}

static double instances(const modelling *x, const cache_level *level) {
    const core_desc *c = &x->mach->core;
    if (level->scope == SCOPE_DEVICE)
        return level->slices;
    return level->scope == SCOPE_CORE ? x->cores : (double)ceil_div(c->count, c->per_cluster);
}

static void core_bounds(modelling *x) {
    const core_desc *c = &x->mach->core;
    const fabric_desc *f = &x->mach->fabric;
    const work *w = &x->out->work;
    const double schedulers = x->cores * c->schedulers;
    uint32_t busiest = 0, last = 1;
    for (uint32_t p = 1; p < PIPE_COUNT; p++)
        if (w->pipe_cycles[p].least > w->pipe_cycles[busiest].least)
            busiest = p;
    for (int i = 0; i < OP_CLASS_COUNT; i++)
        if (c->op[i].pipe == busiest && w->op[i].estimate > 0 && c->op[i].interval_cycles > last)
            last = c->op[i].interval_cycles;
    /* The run may end when the last piece of work of a part begins. */
    add(x, BOUND_ISSUE, 0, w->instructions.least / (schedulers * c->issue_width) - 1);
    add(x, BOUND_PIPE, busiest, w->pipe_cycles[busiest].least / schedulers - last);
    add(x, BOUND_LSU, 0, w->lsu_cycles.least / x->cores - w->lsu_per_access);
    add(x, BOUND_SHARED, 0, w->shared_cycles.least / x->cores - w->shared_per_access);
    const bool cache = core_has_cache(x->mach);
    const cache_level *first = &x->mach->level[0];
    const double requests = cache ? footprint(x, false, first->line_bytes) : w->lines[0].least;
    const double answers =
        cache ? footprint(x, false, first->sector_bytes) * first->sector_bytes : w->moved_bytes[0].least;
    add(x, BOUND_REQUESTS, 0,
        (requests + w->store_link_cycles.least) / x->cores - MACHINE_LINE_MAX / f->request_bytes_per_cycle - 1);
    add(x, BOUND_ANSWERS, 0, (answers / x->cores - MACHINE_LINE_MAX) / f->response_bytes_per_cycle);
    if (c->dispatch_blocks_per_kilocycle)
        add(x, BOUND_DISPATCH, 0, ((double)x->k->blocks - 1) * 1000 / c->dispatch_blocks_per_kilocycle);
}

static uint32_t memory_side_latency(const machine *mach) {
    for (uint32_t l = 0; l < mach->level_count; l++)
        if (mach->level[l].scope == SCOPE_DEVICE)
            return mach->level[l].latency_cycles;
    return mach->dram.latency_cycles;
}

/* Bytes of stores that have to leave level l and those above it, because they cannot all stay. */
static double evicted_bytes(const modelling *x, uint32_t levels, uint32_t unit) {
    double stays = 0;
    bool back = false;
    for (uint32_t l = 0; l < levels; l++)
        if (x->mach->level[l].write == WRITE_BACK) {
            stays += (double)x->mach->level[l].size_bytes;
            back = true;
        }
    if (!back)
        return -1; /* nothing stays */
    return fmax(footprint(x, true, unit) * unit - stays, 0);
}

static void level_bounds(modelling *x) {
    const machine *mach = x->mach;
    const work *w = &x->out->work;
    for (uint32_t l = 0; l < mach->level_count; l++) {
        const cache_level *level = &mach->level[l];
        const double n = instances(x, level), reads = footprint(x, false, level->sector_bytes) * level->sector_bytes;
        const double held = (double)mach->dram.latency_cycles - level->latency_cycles;
        add(x, BOUND_MISSES, l, first_touches(x, level->line_bytes) * held / (n * level->mshrs));
        if (level->scope == SCOPE_CORE)
            continue; /* its port is the load/store unit's */
        double cycles = l == 0 ? w->load_port_cycles[0].least
                               : fmax(reads / level->bytes_per_cycle,
                                      footprint(x, false, level->line_bytes) * level->request_cycles);
        const double passed = evicted_bytes(x, l, level->sector_bytes);
        cycles += passed < 0 ? w->store_port_cycles[l].least : passed / level->bytes_per_cycle;
        if (level->scope == SCOPE_DEVICE) { /* nothing waits for the last fills of a slice, one for each MSHR */
            const double fills = first_touches(x, level->sector_bytes) * level->sector_bytes;
            cycles += fmax(fills - n * level->mshrs * level->line_bytes, 0) / level->bytes_per_cycle;
        }
        if (level->write == WRITE_BACK)
            cycles += evicted_bytes(x, l + 1, level->sector_bytes) / level->bytes_per_cycle;
        const double last = 2 * level->line_bytes / level->bytes_per_cycle + level->request_cycles;
        add(x, BOUND_PORT, l, cycles / n - last);
    }
    /* The credits of the last stores need not come back. */
    const double rounds = w->lines[1].least / (x->cores * mach->lsu.store_credits) - 1;
    add(x, BOUND_STORES, 0, rounds * memory_side_latency(mach));
}

/* While data moves, every tREFI all banks of a channel refresh for tRFC; the last refresh may not have come yet. */
static double with_refresh(const machine *mach, double cycles) {
    const double rfc = mach->dram.t_rfc_ns * 1e-9 * mach->clock_hz;
    const double share = mach->dram.t_rfc_ns / mach->dram.t_refi_ns;
    return fmax(cycles, (cycles - rfc) / (1 - share));
}

static void dram_bounds(modelling *x) {
    const machine *mach = x->mach;
    const dram_desc *d = &mach->dram;
    model *b = x->out;
    const work *w = &b->work;
    const uint32_t fetched = fetch_unit(mach, mach->level_count ? mach->level_count - 1 : 0);
    const uint32_t unit = fetched > d->burst_bytes ? fetched : d->burst_bytes;
    b->dram_bytes[0] = mach->level_count ? first_touches(x, unit) * unit : w->bursts[0].least * d->burst_bytes;
    const double evicted = evicted_bytes(x, mach->level_count, d->burst_bytes);
    const double queued = (double)mach->channels * 2 * d->write_queue_high * MACHINE_LINE_MAX;
    b->dram_bytes[1] = fmax((evicted < 0 ? w->bursts[1].least * d->burst_bytes : evicted) - queued, 0);
    const double seconds = (b->dram_bytes[0] + b->dram_bytes[1]) / d->bandwidth_bytes_per_s;
    add(x, BOUND_DRAM, 0, with_refresh(mach, seconds * mach->clock_hz));
}

/* --- latency -------------------------------------------------------------------------------------------------------
 */

static uint32_t first_latency(const machine *mach) {
    return mach->level_count ? mach->level[0].latency_cycles : mach->dram.latency_cycles;
}

/* A warp's time with all loads from DRAM (which = IR_NONE), or only that of instruction `which`, or none (code_count).
 */
static status timed(modelling *x, uint32_t which, uint64_t *cycles) {
    for (uint32_t i = 0; i < x->k->code_count; i++)
        if (x->active[i])
            x->load_cycles[i] = which == IR_NONE || which == i ? x->mach->dram.latency_cycles : first_latency(x->mach);
    return warp_time(x->mach, x->k, x->load_cycles, cycles, x->m);
}

static bool in_loop(const kernel *k, uint32_t at) {
    for (uint32_t i = 0; i < k->loop_count; i++)
        if (at >= k->loops[i].first && at <= k->loops[i].last)
            return true;
    return false;
}

/* The least that a warp takes one of whose loads comes from DRAM. */
static status one_from_dram(modelling *x, uint64_t none, uint64_t *cycles) {
    *cycles = UINT64_MAX;
    for (uint32_t i = 0; i < x->k->code_count; i++) {
        if (!x->active[i])
            continue;
        uint64_t c = none > x->mach->dram.latency_cycles ? none : x->mach->dram.latency_cycles;
        if (!in_loop(x->k, i))
            TRY(timed(x, i, &c));
        *cycles = c < *cycles ? c : *cycles;
    }
    if (*cycles == UINT64_MAX)
        *cycles = none;
    return OK;
}

/* Share of the load requests that have to wait for DRAM: no request can be the first to touch more than its sectors. */
static double dram_share(const modelling *x) {
    const work *w = &x->out->work;
    if (x->mach->level_count == 0)
        return 1;
    if (w->requests[0].estimate <= 0 || !w->sectors_per_load)
        return 0;
    uint32_t unit = fetch_unit(x->mach, 0);
    if (x->mach->lsu.rule == COALESCE_LINE128)
        unit = x->mach->level[0].line_bytes > unit ? x->mach->level[0].line_bytes : unit;
    return fmin(first_touches(x, unit) / w->sectors_per_load / w->requests[0].estimate, 1);
}

/* Blocks follow each other in the places that the cores have for them; each lasts as long as its warps on average, at
 * least, and the next starts a while later. */
static status latency_bound(modelling *x) {
    model *b = x->out;
    const core_desc *c = &x->mach->core;
    const work *w = &b->work;
    uint64_t none = 0, one = 0;
    TRY(timed(x, IR_NONE, &b->warp_cycles));
    TRY(timed(x, x->k->code_count, &none));
    TRY(one_from_dram(x, none, &one));
    const double share = dram_share(x), blocks = (double)x->k->blocks;
    double mean = (double)b->warp_cycles;
    if (share < 1) {
        const double loads = w->requests[0].estimate / (double)w->warps;
        const double touched = fmin(share * loads / fmax(loads, 1), 1); /* share of the warps with such a load */
        mean = touched * (double)one + (1 - touched) * (double)none;
    }
    mean *= w->full_warps.least / (double)w->warps;
    const double places = (double)c->count * b->occupancy.blocks;
    const double launch = c->block_launch_cycles;
    const bool uniform = work_exact(w) && w->full_warps.least == (double)w->warps && share >= 1;
    const double rounds = uniform ? ceil(blocks / places) : fmax(blocks / places, 1);
    add(x, BOUND_LATENCY, 0, rounds * (mean + launch) - launch);
    const double moved = w->moved_bytes[0].estimate + w->moved_bytes[1].estimate;
    b->flight_needed_bytes =
        bytes_in_flight(x->mach->dram.latency_cycles / x->mach->clock_hz, x->mach->dram.bandwidth_bytes_per_s);
    if (b->warp_cycles)
        b->flight_bytes = fmin(places, blocks) * b->occupancy.warps_per_block * (moved / (double)w->warps) *
                          x->mach->dram.latency_cycles / (double)b->warp_cycles;
    return OK;
}

/* --- all of it -----------------------------------------------------------------------------------------------------
 */

static int longer(const void *a, const void *b) {
    const bound *x = a, *y = b;
    if (x->cycles != y->cycles)
        return x->cycles > y->cycles ? -1 : 1;
    return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static void roofs(modelling *x) {
    const machine *mach = x->mach;
    model *b = x->out;
    const work *w = &b->work;
    roof *r = b->roof;
    b->peak_insts_per_s = mach->clock_hz * mach->core.count * mach->core.schedulers * mach->core.issue_width;
    *r++ = (roof){"LSU", mach->clock_hz * mach->core.count * mach->lsu.bytes_per_cycle,
                  w->useful_bytes[0].estimate + w->useful_bytes[1].estimate};
    for (uint32_t l = 0; l < mach->level_count; l++) {
        const cache_level *level = &mach->level[l];
        if (level->scope == SCOPE_CORE)
            continue;
        const double stores = evicted_bytes(x, l, level->sector_bytes);
        const double n =
            level->scope == SCOPE_DEVICE ? level->slices : (double)ceil_div(mach->core.count, mach->core.per_cluster);
        *r++ = (roof){
            level->name, mach->clock_hz * n * level->bytes_per_cycle,
            (l == 0 ? w->moved_bytes[0].estimate : footprint(x, false, level->sector_bytes) * level->sector_bytes) +
                (stores < 0 ? w->moved_bytes[1].estimate : stores)};
    }
    *r++ = (roof){"DRAM", mach->dram.bandwidth_bytes_per_s, b->dram_bytes[0] + b->dram_bytes[1]};
    b->roof_count = (uint32_t)(r - b->roof);
}

static status bounds(modelling *x) {
    const machine *mach = x->mach;
    model *b = x->out;
    TRY(occupancy(mach, x->k, &b->occupancy, x->m));
    TRY(work_of(mach, x->k, &b->work, &x->active, x->m));
    b->whole = work_exact(&b->work);
    b->useful_bytes = x->k->useful_bytes;
    if (x->k->blocks == 0)
        return OK;
    x->load_cycles = mem_zero(x->k->code_count, sizeof *x->load_cycles);
    if (!x->load_cycles)
        return fail(x->m, ERR_MEMORY, "not enough memory to model kernel %s", x->k->name);
    x->cores = fmin((double)x->k->blocks, mach->core.count);
    x->apart = all_apart(x);
    core_bounds(x);
    level_bounds(x);
    dram_bounds(x);
    TRY(latency_bound(x));
    roofs(x);
    qsort(b->bound, b->bound_count, sizeof *b->bound, longer);
    b->cycles = b->bound_count ? b->bound[0].cycles : 0;
    b->time_s = b->cycles / mach->clock_hz + mach->launch_overhead_s;
    return OK;
}

status model_of(const machine *mach, const kernel *k, const model_array *arrays, uint32_t array_count, model *out,
                message *m) {
    *out = (model){0};
    modelling *x = mem_zero(1, sizeof *x);
    if (!x)
        return fail(m, ERR_MEMORY, "not enough memory to model kernel %s", k->name);
    *x = (modelling){.mach = mach, .k = k, .out = out, .m = m};
    for (uint32_t i = 0; i < array_count && i < MODEL_ARRAYS_MAX; i++)
        x->array[x->arrays++] = arrays[i];
    if (array_count == 0)
        find_arrays(x);
    const status s = bounds(x);
    mem_free(x->active);
    mem_free(x->load_cycles);
    mem_free(x);
    return s;
}

const bound *model_bound(const model *b, bound_kind kind) {
    for (uint32_t i = 0; i < b->bound_count; i++)
        if (b->bound[i].kind == kind)
            return &b->bound[i];
    return NULL;
}

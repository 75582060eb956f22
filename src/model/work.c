#include "model/work.h"

#include "base/mem.h"
#include "base/num.h"
#include "kernel/address.h"
#include "model/loops.h"
#include "sim/coalesce.h"

#include <math.h>
#include <string.h>

enum {
    TURNS = 64,          /* of a loop that are looked at */
    STEPS_MAX = 1 << 16, /* instructions of a warp whose loop has an exit test: later turns are not counted */
};
#define GOLDEN UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / golden ratio */

/* What is counted, as one vector of numbers per warp. */
enum {
    Q_FULL,
    Q_INSTRUCTIONS,
    Q_OP,
    Q_PIPE = Q_OP + OP_CLASS_COUNT,
    Q_REQUESTS = Q_PIPE + PIPE_COUNT,
    Q_LINES = Q_REQUESTS + 2,
    Q_SECTORS = Q_LINES + 2,
    Q_USEFUL = Q_SECTORS + 2,
    Q_MOVED = Q_USEFUL + 2,
    Q_BURSTS = Q_MOVED + 2,
    Q_LSU = Q_BURSTS + 2,
    Q_SHARED,
    Q_STORE_LINK,
    Q_LOAD_PORT,
    Q_STORE_PORT = Q_LOAD_PORT + MACHINE_LEVELS_MAX,
    Q_COUNT = Q_STORE_PORT + MACHINE_LEVELS_MAX
};

typedef struct walker {
    const machine *mach;
    const kernel *k;
    coalescer coal;
    coalesced out;
    warp_access access;
    warp_place place;
    uint64_t warp; /* flat number: where the turns that are looked at begin */
    uint64_t steps;
    bool *active, *tests; /* per instruction; per loop: an exit test inside */
    uint32_t first_line_bytes, most_sectors, most_lines;
    double most_lsu, most_shared;
    bool gone, turns_sampled, truncated;
    double q[Q_COUNT];
} walker;

/* --- one memory instruction ----------------------------------------------------------------------------------------
 */

/* Cycles of the port of level l for one transaction, as the level sees it: whole sectors of its own. */
static double port_cycles(const walker *w, uint32_t l, const transaction *x, bool store) {
    const cache_level *level = &w->mach->level[l];
    const uint32_t offset = (uint32_t)(x->line % level->line_bytes);
    const bytemask asked = x->mask << offset, whole = bytemask_round(asked, level->sector_bytes);
    double cycles = fmax(bytemask_count(whole) / level->bytes_per_cycle, level->request_cycles);
    if (store && level->partial == PARTIAL_MERGE && whole != asked)
        cycles += bytemask_count(bytemask_round(whole & ~asked, level->sector_bytes)) / level->bytes_per_cycle;
    return cycles;
}

static void count_transactions(walker *w, bool store, double weight) {
    const double link = w->mach->fabric.request_bytes_per_cycle;
    for (uint32_t i = 0; i < w->out.count; i++) {
        const transaction *x = &w->out.item[i];
        const uint32_t bytes = bytemask_count(x->mask);
        w->q[Q_MOVED + store] += weight * bytes;
        w->q[Q_BURSTS + store] += weight * bytemask_units(x->mask, w->mach->dram.burst_bytes);
        if (store)
            w->q[Q_STORE_LINK] += weight * fmax(bytes / link, 1);
        for (uint32_t l = 0; l < w->mach->level_count; l++)
            w->q[(store ? Q_STORE_PORT : Q_LOAD_PORT) + l] += weight * port_cycles(w, l, x, store);
    }
}

static void count_global(walker *w, uint32_t at, double weight) {
    const ir_inst *inst = &w->k->code[at];
    const ir_access *a = &w->k->accesses[inst->access];
    const bool store = inst->op == OP_STORE;
    address_warp(w->k, a, &w->place, false, &w->access);
    if (!w->access.mask) {
        w->active[at] = false;
        return;
    }
    coalesce(&w->coal, &w->access, a->bytes, store, &w->out);
    const coalesced *x = &w->out;
    w->q[Q_REQUESTS + store] += weight;
    w->q[Q_LINES + store] += weight * x->count;
    w->q[Q_SECTORS + store] += weight * x->sectors;
    w->q[Q_USEFUL + store] += weight * x->useful_bytes;
    w->q[Q_LSU] += weight * x->cycles_milli / 1000;
    w->most_lsu = fmax(w->most_lsu, x->cycles_milli / 1000.0);
    if (!store && x->sectors > w->most_sectors)
        w->most_sectors = x->sectors;
    if (!store && x->count > w->most_lines)
        w->most_lines = x->count;
    count_transactions(w, store, weight);
}

static void count_shared(walker *w, uint32_t at, double weight) {
    const core_desc *d = &w->mach->core;
    const ir_access *a = &w->k->accesses[w->k->code[at].access];
    uint32_t ideal = 0;
    address_warp(w->k, a, &w->place, false, &w->access);
    const uint32_t passes =
        bank_passes(&w->access, a->bytes, d->warp_width, d->shared_banks, d->shared_bank_bytes, &ideal);
    w->q[Q_SHARED] += weight * passes;
    w->most_shared = fmax(w->most_shared, passes);
}

static void count_instruction(walker *w, uint32_t at, double weight) {
    const ir_inst *inst = &w->k->code[at];
    const op_timing *timing = &w->mach->core.op[inst->op];
    w->steps++;
    w->q[Q_INSTRUCTIONS] += weight;
    w->q[Q_OP + inst->op] += weight;
    w->q[Q_PIPE + timing->pipe] += weight * timing->interval_cycles;
    if (inst->op == OP_LOAD || inst->op == OP_STORE)
        count_global(w, at, weight);
    else if (inst->op == OP_SHARED_LOAD || inst->op == OP_SHARED_STORE)
        count_shared(w, at, weight);
    else if (inst->op == OP_BRANCH && inst->access != IR_NONE)
        w->gone = !address_mask(w->k, &w->k->accesses[inst->access], &w->place);
}

/* --- one warp ------------------------------------------------------------------------------------------------------
 */

/* Number i of 0 .. count - 1 places that are spread evenly, the first of them anywhere: `start`. */
static uint64_t spread(uint64_t start, uint64_t i, uint64_t count) {
    return (uint64_t)((unsigned __int128)((start + i) * GOLDEN) * count >> 64);
}

static void walk(walker *w, uint32_t from, uint32_t end, int64_t depth, double weight);

/* The turns are counted one after the other where one of them may be the last, else some of them stand for all. */
static void walk_loop(walker *w, uint32_t id, double weight) {
    const ir_loop *l = &w->k->loops[id];
    const bool some = l->trips > TURNS && !w->tests[id];
    const uint64_t turns = some ? TURNS : l->trips;
    const double each = some ? weight * ((double)l->trips / TURNS) : weight;
    w->turns_sampled |= some;
    for (uint64_t i = 0; i < turns && !w->gone; i++) {
        if (w->tests[id] && w->steps > STEPS_MAX) {
            w->truncated = true;
            w->gone = true;
            break;
        }
        w->place.loop[l->depth] = some ? spread(w->warp, i, l->trips) : i;
        walk(w, l->first, l->last + 1, l->depth, each);
    }
    w->place.loop[l->depth] = 0;
}

static void walk(walker *w, uint32_t from, uint32_t end, int64_t depth, double weight) {
    for (uint32_t at = from; at < end && !w->gone;) {
        const uint32_t id = loop_at(w->k, at, depth);
        if (id == IR_NONE) {
            count_instruction(w, at++, weight);
        } else {
            walk_loop(w, id, weight);
            at = w->k->loops[id].last + 1;
        }
    }
}

static void walk_warp(walker *w, uint64_t warp, uint64_t per_block) {
    const uint32_t width = w->mach->core.warp_width;
    const uint32_t first = (uint32_t)(warp % per_block) * width;
    const uint32_t left = w->k->block_threads - first;
    w->place = (warp_place){.block = warp / per_block, .first_thread = first, .width = left < width ? left : width};
    w->warp = warp;
    w->steps = 0;
    w->gone = false;
    memset(w->q, 0, sizeof w->q);
    walk(w, 0, w->k->code_count, -1, 1);
    if (w->gone) /* its EXIT */
        count_instruction(w, w->k->code_count - 1, 1);
    w->q[Q_FULL] = !w->gone;
}

/* --- the grid ------------------------------------------------------------------------------------------------------
 */

typedef struct sums {
    double sum[Q_COUNT], squares[Q_COUNT];
} sums;

static work_count count_of(const sums *s, int q, const work *w) {
    if (w->looked_at == 0)
        return (work_count){0};
    const double n = (double)w->looked_at, all = (double)w->warps, mean = s->sum[q] / n;
    if (work_exact(w))
        return (work_count){s->sum[q], s->sum[q]};
    const double variance = n > 1 ? fmax(s->squares[q] - n * mean * mean, 0) / (n - 1) : 0;
    const double samples = n * (w->turns_sampled ? TURNS : 1);
    const double least = (mean - 3.3 * sqrt(variance / n)) * (1 - fmin(7 / samples, 1));
    const double lower = fmax(least, 0) * all;
    return (work_count){mean * all, lower};
}

static void fill(work *w, const sums *s) {
#define COUNT(field, q) w->field = count_of(s, q, w)
    COUNT(full_warps, Q_FULL);
    COUNT(instructions, Q_INSTRUCTIONS);
    COUNT(lsu_cycles, Q_LSU);
    COUNT(shared_cycles, Q_SHARED);
    COUNT(store_link_cycles, Q_STORE_LINK);
    for (int i = 0; i < OP_CLASS_COUNT; i++)
        COUNT(op[i], Q_OP + i);
    for (int i = 0; i < PIPE_COUNT; i++)
        COUNT(pipe_cycles[i], Q_PIPE + i);
    for (int i = 0; i < 2; i++) {
        COUNT(requests[i], Q_REQUESTS + i);
        COUNT(lines[i], Q_LINES + i);
        COUNT(sectors[i], Q_SECTORS + i);
        COUNT(useful_bytes[i], Q_USEFUL + i);
        COUNT(moved_bytes[i], Q_MOVED + i);
        COUNT(bursts[i], Q_BURSTS + i);
    }
    for (int l = 0; l < MACHINE_LEVELS_MAX; l++) {
        COUNT(load_port_cycles[l], Q_LOAD_PORT + l);
        COUNT(store_port_cycles[l], Q_STORE_PORT + l);
    }
#undef COUNT
}

static void look_for_tests(walker *w) {
    const kernel *k = w->k;
    for (uint32_t i = 0; i < k->loop_count; i++)
        for (uint32_t at = k->loops[i].first; at <= k->loops[i].last; at++)
            w->tests[i] |= k->code[at].op == OP_BRANCH && k->code[at].access != IR_NONE;
    for (uint32_t at = 0; at < k->code_count; at++)
        w->active[at] = k->code[at].op == OP_LOAD;
}

static void look(walker *w, work *out) {
    const uint64_t per_block = ceil_div(w->k->block_threads, w->mach->core.warp_width);
    sums s = {{0}, {0}};
    look_for_tests(w);
    out->looked_at = out->warps < WORK_WARPS ? out->warps : WORK_WARPS;
    for (uint64_t i = 0; i < out->looked_at; i++) {
        walk_warp(w, out->looked_at == out->warps ? i : spread(1, i, out->warps), per_block);
        for (int q = 0; q < Q_COUNT; q++) {
            s.sum[q] += w->q[q];
            s.squares[q] += w->q[q] * w->q[q];
        }
    }
    out->turns_sampled = w->turns_sampled || w->truncated;
    out->sectors_per_load = w->most_sectors;
    out->lines_per_load = w->most_lines;
    out->lsu_per_access = w->most_lsu;
    out->shared_per_access = w->most_shared;
    fill(out, &s);
}

bool work_exact(const work *w) {
    return w->looked_at == w->warps && !w->turns_sampled;
}

status work_of(const machine *mach, const kernel *k, work *out, bool **active, message *m) {
    *out = (work){0};
    if (!mul_u64(k->blocks, ceil_div(k->block_threads, mach->core.warp_width), &out->warps))
        return fail(m, ERR_INPUT, "kernel %s: its warps cannot be counted in 64 bits; use fewer blocks", k->name);
    walker *w = mem_zero(1, sizeof *w);
    if (w) {
        w->mach = mach;
        w->k = k;
        w->active = mem_zero(k->code_count, sizeof *w->active);
        w->tests = mem_zero(k->loop_count, sizeof *w->tests);
    }
    status s = OK;
    if (!w || !w->active || !w->tests) {
        s = fail(m, ERR_MEMORY, "not enough memory to count the work of kernel %s", k->name);
    } else {
        coalescer_init(&w->coal, mach);
        look(w, out);
        if (active) {
            *active = w->active;
            w->active = NULL;
        }
    }
    if (w) {
        mem_free(w->active);
        mem_free(w->tests);
    }
    mem_free(w);
    return s;
}

#include "model/move.h"

#include <math.h>

/* Nothing is to be gained from a change that leaves more than this share of the work. */
static const double worthwhile = 0.95;

/* Sectors that the accessed bytes would fill, over those that they touch. */
static double fill(const machine *mach, const work *w, int store) {
    const double sector = mach->level_count ? mach->level[0].sector_bytes : MACHINE_BARE_SECTOR;
    return w->sectors[store].estimate > 0 ? w->useful_bytes[store].estimate / sector / w->sectors[store].estimate : 1;
}

static bool is_memory(bound_kind k) {
    return k == BOUND_LSU || k == BOUND_REQUESTS || k == BOUND_ANSWERS || k == BOUND_PORT || k == BOUND_STORES;
}

/* The change that helps most against what binds, and its factor. */
static move choose(const machine *mach, const model *b) {
    const work *w = &b->work;
    const double loads = fill(mach, w, 0), stores = fill(mach, w, 1);
    const double useful = (double)b->useful_bytes, dram = b->dram_bytes[0] + b->dram_bytes[1];
    switch (b->bound[0].kind) {
    case BOUND_ISSUE:
    case BOUND_PIPE:
        return (move){.kind = MOVE_INSTRUCTIONS, .factor = 0.5};
    case BOUND_SHARED: {
        const double requests = w->op[OP_SHARED_LOAD].estimate + w->op[OP_SHARED_STORE].estimate;
        return (move){.kind = MOVE_BANKS, .factor = fmin(requests / w->shared_cycles.estimate, 1)};
    }
    case BOUND_STORES:
    case BOUND_REQUESTS:
        return (move){.kind = MOVE_COALESCE, .factor = fmin(stores, 1)};
    case BOUND_LSU:
    case BOUND_PORT:
    case BOUND_ANSWERS:
        return (move){.kind = MOVE_COALESCE, .factor = fmin(fmin(loads, stores), 1)};
    case BOUND_DRAM:
        return (move){.kind = MOVE_WASTE, .factor = dram > 0 ? fmin(useful / dram, 1) : 1};
    case BOUND_LATENCY:
    case BOUND_MISSES:
        return (move){.kind = MOVE_CONCURRENCY, .factor = 0.5};
    case BOUND_DISPATCH:
        return (move){.kind = MOVE_BLOCKS, .factor = 0.5};
    default:
        return (move){.kind = MOVE_NONE, .factor = 1};
    }
}

static bool concerns(move_kind m, bound_kind k) {
    switch (m) {
    case MOVE_INSTRUCTIONS:
        return k == BOUND_ISSUE || k == BOUND_PIPE;
    case MOVE_COALESCE:
        return is_memory(k);
    case MOVE_BANKS:
        return k == BOUND_SHARED;
    case MOVE_WASTE:
        return k == BOUND_DRAM;
    case MOVE_CONCURRENCY:
        return k == BOUND_LATENCY;
    case MOVE_BLOCKS:
        return k == BOUND_DISPATCH;
    default:
        return false;
    }
}

move model_move(const machine *mach, const model *b) {
    if (b->bound_count == 0)
        return (move){.kind = MOVE_NONE, .factor = 1};
    move m = choose(mach, b);
    if (m.factor > worthwhile)
        m = (move){.kind = MOVE_NONE, .factor = 1};
    for (uint32_t i = 0; i < b->bound_count; i++) {
        const double cycles = b->bound[i].cycles * (concerns(m.kind, b->bound[i].kind) ? m.factor : 1);
        if (cycles > m.cycles) {
            m.cycles = cycles;
            m.next = b->bound[i];
        }
    }
    return m;
}

#include "sim/core.h"

#include "base/mem.h"
#include "sim/tick.h"

#include <string.h>

/* --- state ---------------------------------------------------------------------------------------------------------
 */

typedef struct warp {
    warp_place place;
    const recorded_step *step; /* recorded: its instructions, by pc; NULL: the kernel's */
    uint32_t pc;
    uint32_t block_slot;
    int64_t start;
    int64_t gap_start;       /* first cycle not yet accounted for */
    int64_t dependence;      /* cycle from which its operands allow it to issue; TICK_NEVER while unknown */
    int64_t throttle_since;  /* first cycle in which a full queue refused it; TICK_NEVER */
    uint64_t blocked_before; /* what its pipe's count of blocked cycles was when it became eligible */
    uint8_t dependence_reason, throttle_reason;
    uint8_t pipe;                /* of its next instruction */
    uint8_t scheduler, position; /* its scheduler, and where it stands there */
    bool resident, exited, at_barrier;
    uint32_t stores_queued; /* in the LSU queue */
} warp;

typedef struct block_slot {
    bool resident;
    uint32_t warps_left, alive, at_barrier; /* not released; not exited; waiting at the barrier */
    uint64_t block;
    recorded_block *recorded; /* or NULL */
} block_slot;

/* A scheduler's warps stand at positions in order of age, and sets of warps are masks of positions: the lowest bit is
 * the oldest warp. What becomes eligible soon waits in a wheel of one mask per cycle. So the cost of a look depends on
 * what can issue, not on how many warps wait. */
enum { POSITIONS = MACHINE_SCHEDULER_WARPS_MAX, WHEEL_CYCLES = 64 }; /* bits of a mask */

typedef struct scheduler {
    uint64_t live;                /* positions of resident warps; the others are empty until compact() */
    uint64_t ready[PIPE_COUNT];   /* eligible at `looked`, by the pipe they need */
    uint32_t waiting;             /* bit p: ready[p] may not be empty */
    uint64_t fresh;               /* of those, the ones that no look has met yet */
    uint64_t due;                 /* to become ready with the next look, whenever that is */
    uint64_t wheel_turns;         /* bit i: wheel[i] is not empty */
    uint64_t wheel[WHEEL_CYCLES]; /* [cycle % WHEEL_CYCLES], for the cycles looked + 1 .. looked + WHEEL_CYCLES - 1 */
    uint64_t later;               /* eligible at a known cycle after that */
    int64_t later_next;           /* the first of them */
    int64_t looked;               /* cycle of the last look */
    int64_t next;                 /* cycle at which it has to look again */
    int64_t pipe_free[PIPE_COUNT];
    uint64_t pipe_blocked[PIPE_COUNT]; /* cycles, also future ones, in which the pipe takes nothing */
    uint32_t greedy;                   /* slot of the warp that issued last */
    uint32_t end;                      /* positions used */
    uint8_t slot[POSITIONS];           /* warp slot at each position */
} scheduler;

/* A load under way: what it still waits for (MSHRs of its own level; without one, bytes), and when the last came. */
typedef struct tracker {
    uint32_t warp;
    uint32_t left;
    int64_t ready;
    uint8_t reg;
    int32_t next_free;
} tracker;

typedef struct lsu_entry {
    warp_access access;
    int64_t issued;
    uint32_t warp;
    int32_t tracker; /* loads */
    uint16_t bytes;
    bool store;
} lsu_entry;

typedef struct launch {
    uint64_t block;
    recorded_block *recorded;
    int64_t cycle;
} launch;

typedef struct inbox_entry {
    int64_t cycle;
    uint32_t order;  /* of delivery; compared modulo 2^32 */
    uint32_t answer; /* index */
} inbox_entry;

struct core {
    const core_shared *shared;
    const machine *mach;
    const kernel *k;
    uint32_t id, number; /* within its cluster, among all */

    warp *warps;
    int64_t *reg_ready; /* [slot * registers + reg] */
    uint8_t *reg_reason;
    uint32_t registers;
    uint32_t slots;
    block_slot *blocks;
    scheduler *schedulers;

    launch *launches; /* a ring as large as resident_blocks, in order of time */
    uint32_t launch_head, launch_count;
    uint32_t resident_blocks;

    /* load/store unit */
    lsu_entry *queue; /* ring */
    uint32_t queue_head, queue_count;
    coalescer coal;
    coalesced head;                           /* transactions of the queue's head, once begun */
    bool head_open, lsu_blocked, lsu_refused; /* refused: a warp waits for room in the queue */
    uint32_t head_next;
    int64_t head_start, head_cost; /* ticks */
    int64_t lsu_free;              /* tick */
    uint32_t credits;
    tracker *trackers;
    uint32_t tracker_count;
    int32_t tracker_free;
    cache level;
    level_counters level_count;
    uint64_t request_per_byte, response_per_byte;
    int64_t link_free, response_free; /* ticks */

    int64_t shared_free; /* cycle */

    inbox_entry *inbox; /* heap by (cycle, order) */
    size_t inbox_count, inbox_capacity;
    uint32_t inbox_next;
    mem_response *answer; /* what the entries stand for; a free one's token is the next free one, as answer_free */
    size_t answer_count, answer_capacity;
    uint32_t answer_free; /* index + 1; 0 = none */

    request_list out;
    int64_t *finished;
    size_t finished_count, finished_capacity;
    core_counters count;
    int64_t now; /* cycle of the last event */
    int64_t end;
    const char *fault;
};

static stall_reason reason_of(uint8_t op) {
    switch (op) {
    case OP_LOAD:
        return STALL_LONG_SCOREBOARD;
    case OP_SHARED_LOAD:
    case OP_SFU:
        return STALL_SHORT_SCOREBOARD;
    case OP_CONST_LOAD:
        return STALL_IMC_MISS;
    default:
        return STALL_WAIT;
    }
}

status core_decode(const machine *mach, const kernel *k, core_inst **out, message *m) {
    core_inst *code = mem_zero(k->code_count, sizeof *code);
    *out = code;
    if (!code)
        return fail(m, ERR_MEMORY, "not enough memory for %u instructions", k->code_count);
    for (uint32_t i = 0; i < k->code_count; i++) {
        const ir_inst *inst = &k->code[i];
        const op_timing *timing = &mach->core.op[inst->op];
        code[i] = (core_inst){.latency_cycles = timing->latency_cycles,
                              .interval_cycles = timing->interval_cycles,
                              .op = inst->op,
                              .pipe = (uint8_t)timing->pipe,
                              .dst = inst->dst,
                              .reason = (uint8_t)reason_of(inst->op)};
        if (inst->dst)
            code[i].reg[code[i].reg_count++] = inst->dst;
        for (int r = 0; r < IR_SOURCES_MAX; r++)
            if (inst->src[r])
                code[i].reg[code[i].reg_count++] = inst->src[r];
    }
    return OK;
}

/* Tokens: MSHR number of the first level; without one, the tracker; for stores nothing is needed. */

status core_new(const core_shared *shared, uint32_t id, uint32_t number, core **out, message *m) {
    const machine *mach = shared->mach;
    core *c = mem_zero(1, sizeof *c);
    *out = c;
    if (!c)
        return fail(m, ERR_MEMORY, "not enough memory for a core");
    if (mach->core.max_warps > mach->core.schedulers * POSITIONS)
        return fail(m, ERR_INPUT, "%u warps are too many for %u schedulers: the engine follows %d each",
                    mach->core.max_warps, mach->core.schedulers, POSITIONS);
    c->shared = shared;
    c->mach = mach;
    c->k = shared->k;
    c->id = id;
    c->number = number;
    c->slots = mach->core.max_warps;
    c->registers = shared->registers;
    c->tracker_count = c->slots * c->registers; /* a load waits for the one before it that has the same register */
    c->warps = mem_zero(c->slots, sizeof *c->warps);
    c->reg_ready = mem_zero((size_t)c->slots * c->registers, sizeof *c->reg_ready);
    c->reg_reason = mem_zero((size_t)c->slots * c->registers, sizeof *c->reg_reason);
    c->blocks = mem_zero(shared->resident_blocks, sizeof *c->blocks);
    c->launches = mem_zero(shared->resident_blocks, sizeof *c->launches);
    c->schedulers = mem_zero(mach->core.schedulers, sizeof *c->schedulers);
    c->queue = mem_zero(mach->lsu.queue, sizeof *c->queue);
    c->trackers = mem_zero(c->tracker_count, sizeof *c->trackers);
    if (!c->warps || !c->reg_ready || !c->reg_reason || !c->blocks || !c->launches || !c->schedulers || !c->queue ||
        !c->trackers)
        return fail(m, ERR_MEMORY, "not enough memory for a core of %u warps", c->slots);
    for (uint32_t i = 0; i < mach->core.schedulers; i++)
        c->schedulers[i] = (scheduler){.next = TICK_NEVER, .later_next = TICK_NEVER, .looked = -1, .greedy = i};
    for (uint32_t i = 0; i < c->tracker_count; i++)
        c->trackers[i].next_free = i + 1 < c->tracker_count ? (int32_t)i + 1 : CACHE_NONE;
    coalescer_init(&c->coal, mach);
    c->credits = mach->lsu.store_credits;
    c->request_per_byte = tick_per_byte(mach->fabric.request_bytes_per_cycle);
    c->response_per_byte = tick_per_byte(mach->fabric.response_bytes_per_cycle);
    if (shared->has_level)
        TRY(cache_init(&c->level, &mach->level[0], 1, m));
    return OK;
}

void core_free(core *c) {
    if (!c)
        return;
    for (uint32_t i = 0; c->blocks && i < c->shared->resident_blocks; i++)
        if (c->blocks[i].resident)
            recorded_block_free(c->blocks[i].recorded);
    for (; c->launches && c->launch_count; c->launch_count--) {
        recorded_block_free(c->launches[c->launch_head].recorded);
        c->launch_head = (c->launch_head + 1) % c->shared->resident_blocks;
    }
    mem_free(c->warps);
    mem_free(c->reg_ready);
    mem_free(c->reg_reason);
    mem_free(c->blocks);
    mem_free(c->launches);
    mem_free(c->schedulers);
    mem_free(c->queue);
    mem_free(c->trackers);
    cache_free(&c->level);
    mem_free(c->inbox);
    mem_free(c->answer);
    mem_free(c->out.item);
    mem_free(c->finished);
    mem_free(c);
}

static int64_t max64(int64_t a, int64_t b) {
    return a > b ? a : b;
}
static int64_t min64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* --- inbox: answers in order of time -------------------------------------------------------------------------------
 */

static bool inbox_before(const inbox_entry *a, const inbox_entry *b) {
    return a->cycle != b->cycle ? a->cycle < b->cycle : (int32_t)(a->order - b->order) < 0;
}

/* Keeps the answer; *id: which. False: not enough memory. */
static bool answer_keep(core *c, const mem_response *r, uint32_t *id) {
    if (c->answer_free) {
        *id = c->answer_free - 1;
        c->answer_free = c->answer[*id].token;
    } else {
        if (!mem_reserve((void **)&c->answer, &c->answer_capacity, c->answer_count + 1, sizeof *c->answer))
            return false;
        *id = (uint32_t)c->answer_count++;
    }
    c->answer[*id] = *r;
    return true;
}

bool core_deliver(core *c, const mem_response *r) {
    inbox_entry e = {.cycle = r->cycle, .order = c->inbox_next++};
    if (!mem_reserve((void **)&c->inbox, &c->inbox_capacity, c->inbox_count + 1, sizeof *c->inbox) ||
        !answer_keep(c, r, &e.answer))
        return false;
    if (c->shared->has_level && !r->write)
        cache_prefetch_mshr(&c->level, r->token);
    size_t i = c->inbox_count++;
    for (; i > 0 && inbox_before(&e, &c->inbox[(i - 1) / 2]); i = (i - 1) / 2)
        c->inbox[i] = c->inbox[(i - 1) / 2];
    c->inbox[i] = e;
    return true;
}

static mem_response inbox_pop(core *c) {
    const uint32_t id = c->inbox[0].answer;
    const mem_response first = c->answer[id];
    c->answer[id].token = c->answer_free;
    c->answer_free = id + 1;
    const size_t n = --c->inbox_count;
    const inbox_entry moved = c->inbox[n];
    size_t i = 0;
    for (size_t child = 1; child < n; child = 2 * i + 1) {
        if (child + 1 < n && inbox_before(&c->inbox[child + 1], &c->inbox[child]))
            child++;
        if (!inbox_before(&c->inbox[child], &moved))
            break;
        c->inbox[i] = c->inbox[child];
        i = child;
    }
    c->inbox[i] = moved;
    return first;
}

/* --- warps ---------------------------------------------------------------------------------------------------------
 */

static scheduler *scheduler_of(core *c, const warp *w) {
    return &c->schedulers[w->scheduler];
}

/* The warp at this position becomes eligible at `cycle`. */
static void schedule(scheduler *s, uint32_t position, int64_t cycle) {
    const uint64_t bit = UINT64_C(1) << position;
    if (cycle <= s->looked) {
        s->due |= bit;
    } else if (cycle - s->looked < WHEEL_CYCLES) {
        const uint32_t i = (uint32_t)cycle % WHEEL_CYCLES;
        s->wheel[i] |= bit;
        s->wheel_turns |= UINT64_C(1) << i;
    } else {
        s->later |= bit;
        s->later_next = min64(s->later_next, cycle);
    }
    s->next = min64(s->next, cycle);
}

/* The cycle of the wheel's first turn; TICK_NEVER. */
static int64_t next_turn(const scheduler *s) {
    if (!s->wheel_turns)
        return TICK_NEVER;
    const uint32_t first = (uint32_t)(s->looked + 1) % WHEEL_CYCLES;
    const uint64_t turns = s->wheel_turns >> first | s->wheel_turns << (-first % WHEEL_CYCLES);
    return s->looked + 1 + __builtin_ctzll(turns);
}

/* Goes on to cycle t: whoever has become eligible by then is ready, and fresh. */
static void look_at(core *c, scheduler *s, int64_t t) {
    uint64_t due = s->due;
    for (int64_t turn = next_turn(s); turn <= t; turn = next_turn(s)) {
        const uint32_t i = (uint32_t)turn % WHEEL_CYCLES;
        due |= s->wheel[i];
        s->wheel[i] = 0;
        s->wheel_turns &= ~(UINT64_C(1) << i);
    }
    if (s->later_next <= t) {
        s->later_next = TICK_NEVER;
        for (uint64_t left = s->later; left; left &= left - 1) {
            const uint64_t bit = left & -left;
            const int64_t cycle = c->warps[s->slot[__builtin_ctzll(left)]].dependence;
            if (cycle > t) {
                s->later_next = min64(s->later_next, cycle);
                continue;
            }
            s->later &= ~bit;
            due |= bit;
        }
    }
    s->due = 0;
    s->looked = t;
    s->fresh = due;
    for (; due; due &= due - 1) {
        const uint8_t pipe = c->warps[s->slot[__builtin_ctzll(due)]].pipe;
        s->ready[pipe] |= due & -due;
        s->waiting |= 1u << pipe;
    }
}

/* Moves the bits of mask that are in `live` together, at the low end and in order. */
static uint64_t squeeze(uint64_t mask, uint64_t live) {
    uint64_t out = 0;
    for (; mask; mask &= mask - 1)
        out |= UINT64_C(1) << __builtin_popcountll(live & ((mask & -mask) - 1));
    return out;
}

/* Closes the gaps that ended warps have left. */
static void compact(core *c, scheduler *s) {
    const uint64_t live = s->live;
    for (int p = 0; p < PIPE_COUNT; p++)
        s->ready[p] = squeeze(s->ready[p], live);
    for (uint32_t i = 0; i < WHEEL_CYCLES; i++)
        s->wheel[i] = squeeze(s->wheel[i], live);
    s->fresh = squeeze(s->fresh, live);
    s->due = squeeze(s->due, live);
    s->later = squeeze(s->later, live);
    s->live = squeeze(live, live);
    s->end = 0;
    for (uint64_t left = live; left; left &= left - 1) {
        const uint8_t slot = s->slot[__builtin_ctzll(left)];
        c->warps[slot].position = (uint8_t)s->end;
        s->slot[s->end++] = slot;
    }
}

/* A new warp, the youngest of its scheduler. */
static void enter(core *c, uint32_t slot) {
    warp *w = &c->warps[slot];
    w->scheduler = (uint8_t)(slot % c->mach->core.schedulers);
    scheduler *s = scheduler_of(c, w);
    if (s->end == POSITIONS)
        compact(c, s);
    w->position = (uint8_t)s->end;
    s->live |= UINT64_C(1) << s->end;
    s->slot[s->end++] = (uint8_t)slot;
}

/* Where the warp's next instruction stands in the code. */
static inline uint32_t code_at(const warp *w) {
    return w->step ? w->step[w->pc].inst : w->pc;
}

/* Works out when the warp's next instruction may issue: not before `earliest` (with its reason), nor before its
 * registers are there. */
static void find_wake(core *c, uint32_t slot, int64_t earliest, stall_reason reason) {
    warp *w = &c->warps[slot];
    const core_inst *inst = &c->shared->code[code_at(w)];
    const int64_t *ready = c->reg_ready + (size_t)slot * c->registers;
    uint32_t last = 0; /* the register that is ready last; register 0 always is */
    for (uint32_t i = 0; i < inst->reg_count; i++)
        if (ready[inst->reg[i]] > earliest) {
            last = inst->reg[i];
            earliest = ready[last];
        }
    w->dependence = earliest;
    w->dependence_reason = last ? c->reg_reason[(size_t)slot * c->registers + last] : (uint8_t)reason;
    w->throttle_since = TICK_NEVER;
    w->pipe = inst->pipe;
    if (earliest != TICK_NEVER)
        schedule(scheduler_of(c, w), w->position, earliest);
}

uint32_t core_room(const core *c) {
    return c->shared->resident_blocks - c->resident_blocks;
}

bool core_launch(core *c, uint64_t block, recorded_block *recorded, int64_t cycle) {
    if (!core_room(c))
        return false;
    c->resident_blocks++;
    const uint32_t n = c->shared->resident_blocks;
    c->launches[(c->launch_head + c->launch_count) % n] = (launch){block, recorded, cycle};
    c->launch_count++;
    return true;
}

static void end_block(core *c, block_slot *b, int64_t cycle) {
    b->resident = false;
    recorded_block_free(b->recorded);
    b->recorded = NULL;
    c->resident_blocks--;
    c->end = max64(c->end, cycle);
    if (!mem_reserve((void **)&c->finished, &c->finished_capacity, c->finished_count + 1, sizeof *c->finished)) {
        c->fault = "not enough memory";
        return;
    }
    c->finished[c->finished_count++] = cycle;
}

static void start_block(core *c, const launch *l) {
    const core_shared *sh = c->shared;
    const uint32_t width = c->mach->core.warp_width;
    uint32_t b = 0;
    while (c->blocks[b].resident)
        b++;
    block_slot *bs = &c->blocks[b];
    *bs = (block_slot){.resident = true,
                       .warps_left = sh->warps_per_block,
                       .alive = sh->warps_per_block,
                       .block = l->block,
                       .recorded = l->recorded};
    uint32_t slot = 0;
    for (uint32_t i = 0; i < sh->warps_per_block; i++) {
        c->count.warps++;
        if (l->recorded && !l->recorded->warp[i].steps) {
            bs->warps_left--;
            bs->alive--;
            continue;
        }
        while (c->warps[slot].resident)
            slot++;
        const uint32_t first = i * width;
        const uint32_t lanes = c->k->block_threads - first < width ? c->k->block_threads - first : width;
        c->warps[slot] = (warp){.place = {.block = l->block, .first_thread = first, .width = lanes},
                                .block_slot = b,
                                .start = l->cycle,
                                .gap_start = l->cycle,
                                .resident = true};
        memset(c->reg_ready + (size_t)slot * c->registers, 0, c->registers * sizeof *c->reg_ready);
        if (l->recorded)
            c->warps[slot].step = l->recorded->step + l->recorded->warp[i].first;
        enter(c, slot);
        find_wake(c, slot, l->cycle, STALL_WAIT);
    }
    c->count.blocks++;
    if (!bs->warps_left)
        end_block(c, bs, l->cycle);
}

static void release_warp(core *c, uint32_t slot, int64_t cycle) {
    warp *w = &c->warps[slot];
    c->count.stall_cycles[STALL_DRAIN] += (uint64_t)(cycle - w->gap_start);
    c->count.resident_cycles += (uint64_t)(cycle - w->start);
    w->resident = false;
    scheduler_of(c, w)->live &= ~(UINT64_C(1) << w->position);
    block_slot *b = &c->blocks[w->block_slot];
    if (--b->warps_left == 0)
        end_block(c, b, cycle);
}

static void barrier_arrive(core *c, block_slot *b, int64_t cycle) {
    if (b->at_barrier < b->alive)
        return;
    b->at_barrier = 0;
    for (uint32_t slot = 0; slot < c->slots; slot++) {
        warp *w = &c->warps[slot];
        if (w->resident && &c->blocks[w->block_slot] == b && w->at_barrier) {
            w->at_barrier = false;
            find_wake(c, slot, cycle + c->mach->core.op[OP_BARRIER].latency_cycles, STALL_BARRIER);
        }
    }
}

/* --- load/store unit -----------------------------------------------------------------------------------------------
 */

static bool in_timeline(const core *c, uint32_t slot) {
    const timeline *l = c->shared->line;
    const warp_place *p = &c->warps[slot].place;
    return l && p->block == l->block && p->first_thread == l->warp * c->mach->core.warp_width;
}

/* The latest instruction that writes this register has its result. */
static void timeline_ready(timeline *l, const kernel *k, uint8_t reg, int64_t ready) {
    for (uint32_t i = l->count; i-- > 0;)
        if (k->code[l->event[i].pc].dst == reg) {
            l->event[i].ready = ready;
            return;
        }
}

static int32_t tracker_new(core *c, uint32_t warp_slot, uint8_t reg) {
    const int32_t id = c->tracker_free;
    if (id == CACHE_NONE)
        return id;
    tracker *t = &c->trackers[id];
    c->tracker_free = t->next_free;
    *t = (tracker){.warp = warp_slot, .reg = reg, .left = 1, .ready = 0};
    return id;
}

/* `parts` of what a load waits for are there at `cycle`. */
static void tracker_answer(core *c, int32_t id, uint32_t parts, int64_t cycle) {
    tracker *t = &c->trackers[id];
    t->ready = max64(t->ready, cycle);
    t->left -= parts;
    if (t->left)
        return;
    const uint32_t slot = t->warp;
    c->reg_ready[(size_t)slot * c->registers + t->reg] = t->ready;
    if (in_timeline(c, slot))
        timeline_ready(c->shared->line, c->k, t->reg, t->ready);
    t->next_free = c->tracker_free;
    c->tracker_free = id;
    warp *w = &c->warps[slot];
    if (w->dependence == TICK_NEVER && w->resident && !w->exited && !w->at_barrier)
        find_wake(c, slot, w->gap_start, STALL_WAIT);
}

static void send(core *c, uint64_t line, bytemask mask, uint32_t token, bool write, int64_t cycle) {
    const int64_t start = max64(c->link_free, cycle_to_tick(cycle));
    int64_t length = write ? tick_for_bytes(c->request_per_byte, bytemask_count(mask)) : TICKS;
    if (length < TICKS)
        length = TICKS;
    c->link_free = start + length;
    c->count.link_busy_ticks += length;
    const mem_request r = {.time = start + c->shared->forward_ticks,
                           .address = line,
                           .mask = mask,
                           .token = token,
                           .core = (uint16_t)c->id,
                           .write = write};
    if (!request_list_push(&c->out, &r))
        c->fault = "not enough memory";
}

/* One transaction of a load looks up the first level at `cycle`; false when it has to wait for an answer. */
static bool load_lookup(core *c, const transaction *x, int32_t track, int64_t cycle) {
    tracker *t = &c->trackers[track];
    if (!c->shared->has_level) {
        t->left += bytemask_count(x->mask); /* the answer may come in pieces */
        send(c, x->line, x->mask, (uint32_t)track, false, cycle);
        return true;
    }
    cache *l = &c->level;
    level_counters *n = &c->level_count;
    const uint32_t sector = l->desc->sector_bytes;
    const int64_t line = (int64_t)(x->line / l->line_bytes);
    const bytemask need = bytemask_round(x->mask, sector);
    int32_t slot = cache_find(l, line);
    bytemask missing = slot == CACHE_NONE ? need : bytemask_round(need & ~l->line[slot].present, sector);
    const bytemask hit = need & ~missing;
    if (missing) {
        /* First see whether it can be taken, so that a refused transaction leaves no trace. */
        bytemask fresh = missing;
        uint32_t joins = 0;
        if (slot != CACHE_NONE)
            for (int32_t i = l->line[slot].mshr; i != CACHE_NONE; i = l->mshr[i].next)
                if (l->mshr[i].mask & missing) {
                    fresh &= ~l->mshr[i].mask;
                    joins++;
                    if (l->mshr[i].waiter_count > l->desc->mshr_merges)
                        return false;
                }
        if (fresh && l->free_mshr == CACHE_NONE) {
            n->mshr_full_events++;
            return false;
        }
        if (slot == CACHE_NONE) {
            slot = cache_victim(l, line);
            if (slot == CACHE_NONE)
                return false;
            n->evictions += l->line[slot].number >= 0;
            cache_replace(l, slot, line);
        }
        const cache_waiter w = {.who = (uint32_t)track, .mask = missing};
        for (int32_t i = l->line[slot].mshr; joins && i != CACHE_NONE; i = l->mshr[i].next)
            if (l->mshr[i].mask & missing) {
                n->read_pending_sectors += bytemask_whole_units(l->mshr[i].mask & missing, sector);
                cache_mshr_wait(l, i, w);
                t->left++;
                joins--;
            }
        if (fresh) {
            const int32_t mshr = cache_mshr_new(l, slot, line, fresh);
            cache_mshr_wait(l, mshr, w);
            t->left++;
            n->read_miss_sectors += bytemask_whole_units(fresh, sector);
            n->fill_sectors += bytemask_whole_units(fresh, sector);
            n->down_read_requests++;
            n->down_read_bytes += bytemask_count(fresh);
            send(c, x->line, fresh, (uint32_t)mshr, false, cycle);
        }
    }
    n->read_requests++;
    n->read_sectors += bytemask_whole_units(need, sector);
    n->read_hit_sectors += bytemask_whole_units(hit, sector);
    if (hit)
        t->ready = max64(t->ready, cycle + l->desc->latency_cycles);
    return true;
}

static bool store_lookup(core *c, const transaction *x, int64_t cycle) {
    if (c->credits == 0)
        return false;
    if (c->shared->has_level) {
        cache *l = &c->level;
        level_counters *n = &c->level_count;
        const uint32_t sectors = bytemask_units(x->mask, l->desc->sector_bytes);
        const int32_t slot = cache_find(l, (int64_t)(x->line / l->line_bytes));
        n->write_requests++;
        n->write_sectors += sectors;
        n->write_nofill_sectors += sectors;
        n->down_write_requests++;
        n->down_write_bytes += bytemask_count(x->mask);
        if (slot != CACHE_NONE) {
            n->write_hit_sectors += sectors;
            l->line[slot].present |= x->mask;
        }
    }
    c->credits--;
    send(c, x->line, x->mask, 0, true, cycle);
    return true;
}

/* The tick at which the LSU does something next; TICK_NEVER when it is empty or blocked. */
static int64_t lsu_next_tick(const core *c) {
    if (!c->queue_count || c->lsu_blocked)
        return TICK_NEVER;
    if (!c->head_open)
        return max64(c->lsu_free, cycle_to_tick(c->queue[c->queue_head].issued));
    return c->head_start + c->head_cost * c->head_next / (c->head.count ? c->head.count : 1);
}

static void lsu_open_head(core *c, int64_t tick) {
    const lsu_entry *e = &c->queue[c->queue_head];
    coalesced *h = &c->head;
    coalesce(&c->coal, &e->access, e->bytes, e->store, h);
    c->head_open = true;
    c->head_next = 0;
    c->head_start = tick;
    c->head_cost = (int64_t)h->cycles_milli * TICKS / 1000;
    core_counters *n = &c->count;
    const int i = e->store;
    n->requests[i]++;
    n->lines[i] += h->count;
    n->sectors[i] += h->sectors;
    n->useful_bytes[i] += h->useful_bytes;
    n->data_wavefronts[i] += h->data_passes;
    n->tag_wavefronts_milli[i] += h->tag_milli;
    n->lsu_milli[i] += h->cycles_milli;
    n->lsu_busy_ticks += c->head_cost;
}

static void lsu_close_head(core *c, int64_t cycle) {
    const lsu_entry *e = &c->queue[c->queue_head];
    warp *w = &c->warps[e->warp];
    c->lsu_free = max64(c->head_start + c->head_cost, c->lsu_free);
    if (e->store) {
        if (--w->stores_queued == 0 && w->exited)
            release_warp(c, e->warp, max64(cycle, w->gap_start));
    } else {
        tracker_answer(c, e->tracker, 1, 0);
    }
    c->head_open = false;
    c->queue_head = (c->queue_head + 1) % c->mach->lsu.queue;
    c->queue_count--;
    if (c->lsu_refused) {
        c->lsu_refused = false;
        for (uint32_t s = 0; s < c->mach->core.schedulers; s++)
            c->schedulers[s].next = min64(c->schedulers[s].next, cycle);
    }
}

/* Does everything that the LSU has to do up to and including `cycle`. */
static void lsu_run(core *c, int64_t cycle) {
    for (;;) {
        const int64_t tick = lsu_next_tick(c);
        if (tick == TICK_NEVER || tick / TICKS > cycle)
            return;
        if (!c->head_open) {
            lsu_open_head(c, tick);
            continue;
        }
        const lsu_entry *e = &c->queue[c->queue_head];
        const transaction *x = &c->head.item[c->head_next];
        if (!(e->store ? store_lookup(c, x, cycle) : load_lookup(c, x, e->tracker, cycle))) {
            c->lsu_blocked = true;
            return;
        }
        if (++c->head_next == c->head.count)
            lsu_close_head(c, cycle);
    }
}

static void lsu_unblock(core *c, int64_t cycle) {
    if (!c->lsu_blocked)
        return;
    c->lsu_blocked = false;
    /* What is left of the head goes on from here. */
    const int64_t due = c->head_start + c->head_cost * c->head_next / c->head.count;
    const int64_t late = cycle_to_tick(cycle) - due;
    if (late > 0)
        c->head_start += late;
}

static void take_response(core *c, const mem_response *r, int64_t cycle) {
    if (r->write) {
        c->credits++;
        lsu_unblock(c, cycle);
        return;
    }
    const int64_t start = max64(c->response_free, cycle_to_tick(cycle));
    const int64_t length = tick_for_bytes(c->response_per_byte, bytemask_count(r->mask));
    c->response_free = start + length;
    c->count.response_busy_ticks += length;
    const int64_t ready = max64(cycle, tick_to_cycle(start));
    if (!c->shared->has_level) {
        tracker_answer(c, (int32_t)r->token, bytemask_count(r->mask), ready);
        return;
    }
    cache *l = &c->level;
    cache_mshr *h = &l->mshr[r->token];
    h->remaining &= ~r->mask;
    h->fill_time = h->fill_time == CACHE_UNKNOWN ? ready : max64(h->fill_time, ready);
    if (h->remaining)
        return;
    const int64_t time = h->fill_time;
    const int32_t first = cache_take_waiters(l, (int32_t)r->token);
    for (int32_t i = first; i != CACHE_NONE; i = l->waiter[i].next)
        tracker_answer(c, (int32_t)l->waiter[i].who, 1, time);
    cache_release_waiters(l, first);
    cache_fill(l, (int32_t)r->token);
    lsu_unblock(c, cycle);
}

/* --- issue ---------------------------------------------------------------------------------------------------------
 */

/* Charges the cycles since the warp's last issue to their reasons; it issues at t. */
static void account(core *c, const scheduler *s, warp *w, pipe_id pipe, int64_t t) {
    uint64_t *stall = c->count.stall_cycles;
    int64_t from = w->gap_start;
    const int64_t dependence = min64(w->dependence, t);
    if (dependence > from) {
        stall[w->dependence_reason] += (uint64_t)(dependence - from);
        from = dependence;
    }
    int64_t to = t;
    if (w->throttle_since < t) {
        const int64_t since = max64(w->throttle_since, from);
        stall[w->throttle_reason] += (uint64_t)(t - since);
        to = since;
    }
    if (to > from) {
        const uint64_t gap = (uint64_t)(to - from);
        uint64_t blocked = s->pipe_blocked[pipe] - w->blocked_before;
        if (blocked > gap)
            blocked = gap;
        stall[STALL_MATH_PIPE_THROTTLE] += blocked;
        stall[STALL_NOT_SELECTED] += gap - blocked;
    }
    w->gap_start = t + 1;
    c->count.issue_cycles++;
}

static void set_register(core *c, uint32_t slot, uint8_t reg, int64_t ready, stall_reason why) {
    if (!reg)
        return;
    if (in_timeline(c, slot) && ready != TICK_NEVER)
        timeline_ready(c->shared->line, c->k, reg, ready);
    c->reg_ready[(size_t)slot * c->registers + reg] = ready;
    c->reg_reason[(size_t)slot * c->registers + reg] = (uint8_t)why;
}

/* account, and a note of it in the timeline. */
static void account_and_note(core *c, const scheduler *s, warp *w, pipe_id pipe, int64_t t) {
    timeline *l = c->shared->line;
    uint64_t before[STALL_COUNT];
    memcpy(before, c->count.stall_cycles, sizeof before);
    account(c, s, w, pipe, t);
    if (l->count == l->capacity)
        return;
    timeline_event *e = &l->event[l->count++];
    *e = (timeline_event){.cycle = t, .ready = -1, .pc = code_at(w)};
    for (int i = 0; i < STALL_COUNT; i++)
        e->stall[i] = (uint32_t)(c->count.stall_cycles[i] - before[i]);
}

/* Where the warp stands for this access. Local memory belongs to the resident slot and not to the block, as on NVIDIA's
 * GPUs: the block number of its addresses is that of the slot, counted over all cores. */
static warp_place place_for(const core *c, const warp *w, const ir_access *a) {
    warp_place p = w->place;
    if (a->space == SPACE_LOCAL)
        p.block = (uint64_t)c->number * c->shared->resident_blocks + w->block_slot;
    return p;
}

/* The lanes of the warp's next instruction, which accesses a. A recorded thread's local words stand beside those of the
 * other resident threads, as NVIDIA's GPUs lay them out. */
static void access_of(const core *c, const warp *w, const ir_access *a, warp_access *out) {
    if (!w->step) {
        const warp_place place = place_for(c, w, a);
        address_warp(c->k, a, &place, c->shared->lane_loop, out);
        return;
    }
    recorded_access(c->blocks[w->block_slot].recorded, w->step[w->pc].access, out);
    if (a->space != SPACE_LOCAL || out->affine)
        return;
    const int64_t slots = (int64_t)c->shared->resident_blocks, threads = c->k->block_threads;
    const int64_t thread = (c->number * slots + w->block_slot) * threads + w->place.first_thread;
    for (uint64_t left = out->mask; left; left &= left - 1) {
        int64_t *at = &out->lane[__builtin_ctzll(left)];
        *at = (*at / 4 * slots * threads * c->shared->cores + thread + __builtin_ctzll(left)) * 4 + *at % 4;
    }
}

/* Puts a global or local access into the LSU queue, which has room. */
static void issue_memory(core *c, uint32_t slot, const ir_inst *inst, int64_t t) {
    warp *w = &c->warps[slot];
    const ir_access *a = &c->k->accesses[inst->access];
    const bool store = inst->op == OP_STORE;
    lsu_entry *e = &c->queue[(c->queue_head + c->queue_count) % c->mach->lsu.queue];
    access_of(c, w, a, &e->access);
    if (!e->access.mask) {
        c->count.requests_empty[store]++;
        set_register(c, slot, inst->dst, t + c->mach->core.op[inst->op].latency_cycles, STALL_WAIT);
        return;
    }
    e->issued = t;
    e->warp = slot;
    e->bytes = (uint16_t)a->bytes;
    e->store = store;
    if (store) {
        w->stores_queued++;
    } else {
        e->tracker = tracker_new(c, slot, inst->dst);
        if (e->tracker == CACHE_NONE) {
            c->fault = "more loads in flight than the engine can follow";
            return;
        }
        set_register(c, slot, inst->dst, TICK_NEVER, STALL_LONG_SCOREBOARD);
    }
    c->queue_count++;
}

static void issue_shared(core *c, uint32_t slot, const ir_inst *inst, int64_t t) {
    warp_access access;
    const ir_access *a = &c->k->accesses[inst->access];
    const core_desc *d = &c->mach->core;
    const int store = inst->op == OP_SHARED_STORE;
    access_of(c, &c->warps[slot], a, &access);
    uint32_t ideal = 0;
    const uint32_t passes =
        bank_passes(&access, a->bytes, d->warp_width, d->shared_banks, d->shared_bank_bytes, &ideal);
    if (passes) {
        c->count.shared_requests[store]++;
        c->count.shared_wavefronts[store] += passes;
        c->count.shared_ideal_wavefronts[store] += ideal;
        c->count.shared_bytes[store] += (uint64_t)__builtin_popcountll(access.mask) * a->bytes;
    }
    const int64_t start = max64(c->shared_free, t);
    c->shared_free = start + passes;
    c->count.shared_busy_cycles += passes;
    const int64_t ready = start + (passes ? passes - 1 : 0) + d->shared_latency_cycles;
    set_register(c, slot, inst->dst, ready, STALL_SHORT_SCOREBOARD);
}

/* True when the queue in front of the unit that the instruction needs has no room. */
static bool refused(core *c, warp *w, const core_inst *inst, int64_t t) {
    stall_reason reason = STALL_LG_THROTTLE;
    if (inst->op == OP_LOAD || inst->op == OP_STORE) {
        if (c->queue_count < c->mach->lsu.queue)
            return false;
        c->lsu_refused = true;
    } else if (inst->op == OP_SHARED_LOAD || inst->op == OP_SHARED_STORE) {
        if (c->shared_free - t < (int64_t)c->mach->lsu.queue)
            return false;
        reason = STALL_MIO_THROTTLE;
    } else {
        return false;
    }
    if (w->throttle_since == TICK_NEVER) {
        w->throttle_since = t;
        w->throttle_reason = (uint8_t)reason;
    }
    return true;
}

/* Issues the next instruction of this warp at t and works out what comes after it. */
static void issue(core *c, scheduler *s, uint32_t slot, int64_t t) {
    warp *w = &c->warps[slot];
    const uint32_t at = code_at(w);
    const core_inst *inst = &c->shared->code[at];
    const pipe_id pipe = (pipe_id)inst->pipe;
    if (in_timeline(c, slot))
        account_and_note(c, s, w, pipe, t);
    else
        account(c, s, w, pipe, t);
    s->pipe_free[pipe] = t + inst->interval_cycles;
    s->pipe_blocked[pipe] += inst->interval_cycles - 1;
    c->count.pipe_cycles[pipe] += inst->interval_cycles;
    c->count.instructions[inst->op]++;
    int64_t earliest = t + 1;
    stall_reason reason = STALL_WAIT;
    uint32_t next = w->pc + 1;
    switch (inst->op) {
    case OP_LOAD:
    case OP_STORE:
        issue_memory(c, slot, &c->k->code[at], t);
        break;
    case OP_SHARED_LOAD:
    case OP_SHARED_STORE:
        issue_shared(c, slot, &c->k->code[at], t);
        break;
    case OP_BRANCH: {
        const ir_inst *branch = &c->k->code[at];
        earliest = t + inst->latency_cycles;
        reason = STALL_BRANCH_RESOLVING;
        if (branch->access != IR_NONE) {
            if (!address_mask(c->k, &c->k->accesses[branch->access], &w->place))
                next = c->k->code_count - 1; /* its EXIT */
        } else if (branch->loop != IR_NONE) {
            const ir_loop *l = &c->k->loops[branch->loop];
            if (++w->place.loop[l->depth] < l->trips)
                next = l->first;
            else
                w->place.loop[l->depth] = 0;
        }
        break;
    }
    case OP_BARRIER: {
        block_slot *b = &c->blocks[w->block_slot];
        w->pc = next;
        w->at_barrier = true;
        w->dependence = TICK_NEVER;
        b->at_barrier++;
        barrier_arrive(c, b, t);
        return;
    }
    case OP_EXIT: {
        w->exited = true;
        w->dependence = TICK_NEVER;
        block_slot *b = &c->blocks[w->block_slot];
        if (w->stores_queued == 0)
            release_warp(c, slot, t + 1);
        if (--b->alive)
            barrier_arrive(c, b, t);
        return;
    }
    default:
        set_register(c, slot, inst->dst, t + inst->latency_cycles, (stall_reason)inst->reason);
    }
    w->pc = next;
    find_wake(c, slot, earliest, reason);
}

/* The warp became eligible since the scheduler last looked: remember how long its pipe had been blocked by then.
 * Between two looks nothing issues, so the blocked cycles since are those up to pipe_free. */
static void note_eligible(const scheduler *s, warp *w, pipe_id pipe, int64_t t) {
    const int64_t free = s->pipe_free[pipe];
    const int64_t from = max64(w->dependence, w->gap_start);
    const uint64_t future = free > t ? (uint64_t)(free - t) : 0;
    const int64_t until = min64(t, free);
    const uint64_t since = until > from ? (uint64_t)(until - from) : 0;
    w->blocked_before = s->pipe_blocked[pipe] - future - since;
}

/* The warps that come before all others: the one that issued last, or, in a loose round robin, all behind it. */
static uint64_t preferred(const core *c, const scheduler *s) {
    const warp *w = &c->warps[s->greedy];
    if (c->mach->core.policy == WARP_GTO)
        return w->resident ? UINT64_C(1) << w->position : 0;
    const uint64_t last = w->resident ? UINT64_C(1) << w->position : s->live & -s->live;
    return ~(last | (last - 1));
}

/* One look at cycle t: issues what the policy picks among the ready warps whose pipe is free. */
static void scheduler_run(core *c, scheduler *s, int64_t t) {
    const uint32_t width = c->mach->core.issue_width;
    const uint64_t first = preferred(c, s);
    look_at(c, s, t);
    uint64_t look = s->fresh;
    for (uint32_t left = s->waiting; left; left &= left - 1) {
        const int p = __builtin_ctz(left);
        if (s->pipe_free[p] <= t)
            look |= s->ready[p];
    }
    uint32_t issued = 0;
    bool again = false; /* in the next cycle */
    while (look) {
        const uint64_t choice = look & first ? look & first : look;
        const uint64_t bit = choice & -choice;
        look &= ~bit;
        const uint32_t slot = s->slot[__builtin_ctzll(bit)];
        warp *w = &c->warps[slot];
        const pipe_id pipe = (pipe_id)w->pipe;
        if (s->fresh & bit)
            note_eligible(s, w, pipe, t);
        if (s->pipe_free[pipe] > t)
            continue;
        if (issued == width) {
            again = true;
            look &= s->fresh;
            continue;
        }
        const core_inst *inst = &c->shared->code[code_at(w)];
        if (refused(c, w, inst, t)) {
            again |= inst->op == OP_SHARED_LOAD || inst->op == OP_SHARED_STORE;
            continue;
        }
        s->ready[pipe] &= ~bit;
        issue(c, s, slot, t);
        issued++;
        s->greedy = slot;
        look &= ~s->ready[pipe] | s->fresh; /* the pipe is taken */
    }
    if (issued)
        c->count.scheduler_active_cycles++;
    s->next = again || s->due ? t + 1 : min64(next_turn(s), s->later_next);
    for (uint32_t left = s->waiting; left; left &= left - 1) {
        const int p = __builtin_ctz(left);
        if (!s->ready[p])
            s->waiting &= ~(1u << p);
        else if (s->pipe_free[p] > t)
            s->next = min64(s->next, s->pipe_free[p]);
    }
}

/* --- the core ------------------------------------------------------------------------------------------------------
 */

int64_t core_next_event(const core *c) {
    int64_t next = c->inbox_count ? c->inbox[0].cycle : TICK_NEVER;
    if (c->launch_count)
        next = min64(next, c->launches[c->launch_head].cycle);
    const int64_t lsu = lsu_next_tick(c);
    if (lsu != TICK_NEVER)
        next = min64(next, lsu / TICKS);
    for (uint32_t i = 0; i < c->mach->core.schedulers; i++)
        next = min64(next, c->schedulers[i].next);
    return next;
}

void core_run(core *c, int64_t to) {
    for (;;) {
        const int64_t t = core_next_event(c);
        if (t >= to || c->fault)
            return;
        if (t < c->now) {
            c->fault = "an answer reached a core in its past";
            return;
        }
        c->now = t;
        while (c->inbox_count && c->inbox[0].cycle <= t) {
            const mem_response r = inbox_pop(c);
            take_response(c, &r, t);
        }
        while (c->launch_count && c->launches[c->launch_head].cycle <= t) {
            const launch l = c->launches[c->launch_head];
            c->launch_head = (c->launch_head + 1) % c->shared->resident_blocks;
            c->launch_count--;
            start_block(c, &l);
        }
        lsu_run(c, t);
        /* They share the load/store unit's queue: each in turn is the first. */
        const uint32_t schedulers = c->mach->core.schedulers;
        for (uint32_t i = 0, s = (uint32_t)(t % schedulers); i < schedulers; i++, s = s + 1 == schedulers ? 0 : s + 1)
            if (c->schedulers[s].next <= t)
                scheduler_run(c, &c->schedulers[s], t);
    }
}

request_list *core_requests(core *c) {
    return &c->out;
}
const int64_t *core_finished(const core *c, uint32_t *count) {
    *count = (uint32_t)c->finished_count;
    return c->finished;
}
void core_clear_finished(core *c) {
    c->finished_count = 0;
}
const core_counters *core_count(const core *c) {
    return &c->count;
}
const level_counters *core_level_count(const core *c) {
    return &c->level_count;
}
int64_t core_end(const core *c) {
    return c->end;
}
const char *core_fault(const core *c) {
    return c->fault;
}

#include "model/warp_time.h"

#include "base/mem.h"
#include "model/loops.h"

#include <stdbool.h>
#include <string.h>

#define CYCLES_MAX (INT64_C(1) << 62)
enum { LOOK_TURNS = 256 }; /* a scoreboard that has not settled by then is followed by its fastest turn */

/* Times are relative to `now`, the earliest cycle of the next issue, and never negative: what lies behind does not
 * matter. */
typedef struct scoreboard {
    uint32_t reg[IR_REGISTERS_MAX], pipe[PIPE_COUNT];
} scoreboard;

typedef struct timer {
    const machine *mach;
    const kernel *k;
    const uint32_t *load_cycles;
    int64_t now;
    scoreboard board;
    scoreboard *before; /* one a loop depth */
} timer;

static uint32_t less(uint32_t a, uint64_t b) {
    return a > b ? a - (uint32_t)b : 0;
}

/* Time goes on by so many cycles. */
static void advance(timer *t, uint64_t cycles) {
    for (int i = 0; i < IR_REGISTERS_MAX; i++)
        t->board.reg[i] = less(t->board.reg[i], cycles);
    for (int i = 0; i < PIPE_COUNT; i++)
        t->board.pipe[i] = less(t->board.pipe[i], cycles);
    t->now = t->now + (int64_t)cycles > CYCLES_MAX ? CYCLES_MAX : t->now + (int64_t)cycles;
}

static uint32_t result_cycles(const timer *t, uint32_t at) {
    const uint8_t op = t->k->code[at].op;
    if (op == OP_SHARED_LOAD || op == OP_SHARED_STORE)
        return t->mach->core.shared_latency_cycles;
    if (op == OP_LOAD && t->load_cycles[at])
        return t->load_cycles[at];
    return t->mach->core.op[op].latency_cycles;
}

static void issue(timer *t, uint32_t at) {
    const ir_inst *inst = &t->k->code[at];
    const op_timing *timing = &t->mach->core.op[inst->op];
    const uint8_t names[] = {inst->dst, inst->src[0], inst->src[1], inst->src[2]};
    uint32_t wait = t->board.pipe[timing->pipe];
    for (int i = 0; i < 4; i++)
        if (names[i] && t->board.reg[names[i]] > wait)
            wait = t->board.reg[names[i]];
    advance(t, wait);
    t->board.pipe[timing->pipe] = timing->interval_cycles;
    if (inst->dst)
        t->board.reg[inst->dst] = result_cycles(t, at);
    advance(t, inst->op == OP_BRANCH || inst->op == OP_BARRIER ? timing->latency_cycles : 1);
}

static void follow(timer *t, uint32_t from, uint32_t end, int64_t depth);

static void follow_loop(timer *t, const ir_loop *l) {
    scoreboard *before = &t->before[l->depth];
    int64_t fastest = INT64_MAX;
    for (uint64_t turn = 0; turn < l->trips && t->now < CYCLES_MAX; turn++) {
        const int64_t start = t->now;
        *before = t->board;
        follow(t, l->first, l->last + 1, l->depth);
        const int64_t took = t->now - start;
        fastest = took < fastest ? took : fastest;
        const bool settled = memcmp(before, &t->board, sizeof *before) == 0;
        if (!settled && turn + 1 < LOOK_TURNS)
            continue;
        const uint64_t left = l->trips - turn - 1;
        const int64_t each = settled ? took : fastest;
        t->now = each && left > (uint64_t)(CYCLES_MAX - t->now) / (uint64_t)each ? CYCLES_MAX
                                                                                 : t->now + (int64_t)left * each;
        return;
    }
}

static void follow(timer *t, uint32_t from, uint32_t end, int64_t depth) {
    for (uint32_t at = from; at < end;) {
        const uint32_t id = loop_at(t->k, at, depth);
        if (id == IR_NONE) {
            issue(t, at++);
        } else {
            follow_loop(t, &t->k->loops[id]);
            at = t->k->loops[id].last + 1;
        }
    }
}

status warp_time(const machine *mach, const kernel *k, const uint32_t *load_cycles, uint64_t *cycles, message *m) {
    timer *t = mem_zero(1, sizeof *t);
    scoreboard *before = mem_zero(IR_LOOPS_MAX, sizeof *before);
    if (!t || !before) {
        mem_free(t);
        mem_free(before);
        return fail(m, ERR_MEMORY, "not enough memory to time a warp of kernel %s", k->name);
    }
    *t = (timer){.mach = mach, .k = k, .load_cycles = load_cycles, .before = before};
    follow(t, 0, k->code_count, -1);
    *cycles = (uint64_t)t->now;
    mem_free(before);
    mem_free(t);
    return OK;
}

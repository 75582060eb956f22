#include "kernel/pattern.h"

#include "base/num.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    UNROLL_MAX = 8,
    STAGGER_LINES = 64, /* of a page */
    STAGGER_BYTES = 64,
    COUNTER_REGISTER = 1,
    DATA_REGISTER = 2,                        /* one for each access of a turn */
    SUM_REGISTER = DATA_REGISTER + UNROLL_MAX /* likewise */
};

static const uint64_t order_seed = UINT64_C(0x6f72646572);
static const int64_t base_address = INT64_C(1) << 30;

const char *pattern_kind_name(pattern_kind k) {
    static const char *const name[] = {
#define X(id, text, what) text,
        PATTERN_LIST(X)
#undef X
    };
    return name[k];
}

uint64_t pattern_units(const pattern *p) {
    const uint64_t units = p->stride_bytes ? p->bytes / p->stride_bytes : 0;
    return p->kind == PATTERN_COPY ? units / 2 : units;
}

static status check(const pattern *p, message *m) {
    if (p->access_bytes == 0 || (p->access_bytes & (p->access_bytes - 1)) || p->access_bytes > IR_ACCESS_MAX)
        return fail(m, ERR_INPUT, "accesses of %" PRIu32 " B: a power of two up to %d is possible", p->access_bytes,
                    IR_ACCESS_MAX);
    if (p->stride_bytes < p->access_bytes)
        return fail(m, ERR_INPUT, "accesses of %" PRIu32 " B every %" PRIu64 " B overlap", p->access_bytes,
                    p->stride_bytes);
    if (p->bytes > UINT64_C(1) << 40)
        return fail(m, ERR_INPUT, "a working set of %" PRIu64 " B is more than 2^40 B", p->bytes);
    if (!pattern_units(p))
        return fail(m, ERR_INPUT, "a working set of %" PRIu64 " B has no room for a stride of %" PRIu64 " B", p->bytes,
                    p->stride_bytes);
    if (p->stagger && p->stride_bytes < (uint64_t)STAGGER_LINES * STAGGER_BYTES)
        return fail(m, ERR_INPUT, "staggered accesses need a stride of at least %d B", STAGGER_LINES * STAGGER_BYTES);
    return OK;
}

typedef struct shape {
    uint64_t unroll, turns, passes;
} shape;

/* As many accesses as asked for, in whole turns; more than a pass in whole passes. */
static shape shape_of(uint64_t units, uint64_t accesses) {
    shape s = {.unroll = UNROLL_MAX, .passes = 1};
    const uint64_t once = accesses < units ? accesses : units;
    while (units % s.unroll || once < s.unroll)
        s.unroll /= 2;
    s.turns = once / s.unroll;
    if (accesses > units)
        s.passes = ceil_div(accesses, units);
    return s;
}

/* Access number `nth` of a turn, in the half `second` of a copy. */
static status add_access(kernel *k, const pattern *p, uint64_t nth, const shape *s, bool second, uint16_t *id,
                         message *m) {
    const uint64_t units = pattern_units(p);
    uint32_t index = 0, thread = 0;
    const int64_t away = p->thread_bytes ? p->thread_bytes : (int64_t)p->bytes;
    TRY(ir_add_index(k, (ir_index){.base = (int64_t)nth, .per_loop = {0, (int64_t)s->unroll}}, &index, m));
    TRY(ir_add_index(k, (ir_index){.per_block = 1}, &thread, m));
    ir_access a = {.space = SPACE_GLOBAL,
                   .bytes = p->access_bytes,
                   .base = base_address + (second ? (int64_t)(units * p->stride_bytes) : 0),
                   .nontemporal = second && p->nontemporal,
                   .first_term = k->term_count};
    ir_term at = {.index = index, .div = 1, .mul = (int64_t)p->stride_bytes};
    if (p->random || p->kind == PATTERN_CHASE) {
        at.mod = units;
        at.scatter = order_seed;
        at.permute = true;
    }
    TRY(ir_add_term(k, at, m));
    if (p->stagger)
        TRY(ir_add_term(k, (ir_term){.index = index, .div = 1, .mod = STAGGER_LINES, .mul = STAGGER_BYTES}, m));
    if (p->threads > 1)
        TRY(ir_add_term(k, (ir_term){.index = thread, .div = 1, .mul = away}, m));
    a.terms = k->term_count - a.first_term;
    a.nontemporal = p->nontemporal && (second || p->kind == PATTERN_WRITE);
    return ir_add_access(k, a, id, m);
}

static status add_inst(kernel *k, op_class op, uint64_t dst, uint64_t a, uint64_t b, uint16_t access, message *m) {
    return ir_add_inst(
        k,
        (ir_inst){
            .op = (uint8_t)op, .dst = (uint8_t)dst, .src = {(uint8_t)a, (uint8_t)b}, .access = access, .loop = IR_NONE},
        m);
}

static status add_turn(kernel *k, const pattern *p, const shape *s, message *m) {
    uint16_t from = 0, to = 0;
    for (uint64_t i = 0; i < s->unroll; i++) {
        const uint64_t data = DATA_REGISTER + (p->kind == PATTERN_CHASE ? 0 : i), sum = SUM_REGISTER + i;
        TRY(add_access(k, p, i, s, false, &from, m));
        if (p->kind == PATTERN_WRITE) {
            TRY(add_inst(k, OP_STORE, 0, DATA_REGISTER, COUNTER_REGISTER, from, m));
            continue;
        }
        TRY(add_inst(k, OP_LOAD, data, p->kind == PATTERN_CHASE ? data : COUNTER_REGISTER, 0, from, m));
        if (p->kind == PATTERN_READ)
            TRY(add_inst(k, OP_INT, sum, data, sum, IR_NONE, m));
        if (p->kind == PATTERN_COPY) {
            TRY(add_access(k, p, i, s, true, &to, m));
            TRY(add_inst(k, OP_STORE, 0, data, COUNTER_REGISTER, to, m));
        }
    }
    return add_inst(k, OP_INT, COUNTER_REGISTER, COUNTER_REGISTER, 0, IR_NONE, m);
}

static status close_loop(kernel *k, uint32_t depth, uint64_t trips, message *m) {
    uint16_t id = 0;
    TRY(ir_add_loop(k, (ir_loop){.first = 0, .last = k->code_count, .trips = trips, .depth = depth}, &id, m));
    return ir_add_inst(k, (ir_inst){.op = OP_BRANCH, .src = {COUNTER_REGISTER}, .access = IR_NONE, .loop = id}, m);
}

status pattern_kernel_build(const pattern *p, uint64_t accesses, kernel *k, uint64_t *done, message *m) {
    memset(k, 0, sizeof *k);
    TRY(check(p, m));
    const uint64_t units = pattern_units(p);
    const shape s = shape_of(units, accesses ? accesses : 1);
    snprintf(k->name, sizeof k->name, "%s", pattern_kind_name(p->kind));
    k->blocks = p->threads ? p->threads : 1;
    k->block_threads = 1;
    k->registers = SUM_REGISTER + UNROLL_MAX;
    TRY(add_turn(k, p, &s, m));
    TRY(close_loop(k, 1, s.turns, m));
    TRY(close_loop(k, 0, s.passes, m));
    TRY(add_inst(k, OP_EXIT, 0, 0, 0, IR_NONE, m));
    *done = s.passes * s.turns * s.unroll;
    k->element_bytes = p->access_bytes;
    k->elements = *done * k->blocks;
    k->useful_bytes = k->elements * p->access_bytes * (p->kind == PATTERN_COPY ? 2 : 1);
    return ir_check(k, m);
}

#include "kernel/copy_build.h"

#include "base/num.h"
#include "kernel/mix.h"

#include <string.h>

/* --- instructions --- */

static const ir_inst plain = {.access = IR_NONE, .loop = IR_NONE};

status mix_begin(copy_build *b, isa_piece piece, mix_cursor *c) {
    const isa_mix *mix = &b->mach->isa[piece];
    static const op_class own[] = {OP_BARRIER, OP_LOAD, OP_STORE, OP_SHARED_LOAD, OP_SHARED_STORE, OP_EXIT};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (mix->count[own[i]])
            return fail(b->m, ERR_INPUT, "Machine %s: instruction mix %s lists %s instructions, which the kernel adds.",
                        b->mach->name, isa_piece_name(piece), op_class_name(own[i]));
    *c = (mix_cursor){.mix = mix, .ilp = mix->ilp, .count = mix_count(mix)};
    if (c->ilp < 1)
        c->ilp = 1;
    if (c->ilp > HALF_REGISTERS)
        c->ilp = HALF_REGISTERS;
    return OK;
}

/* A piece that begins, or goes on after another one, starts all its chains from the latest value. */
static void take_registers(copy_build *b, mix_cursor *c) {
    b->half ^= 1;
    c->first_register = b->half ? 1 : 1 + HALF_REGISTERS;
    memset(c->holder, b->value, sizeof c->holder);
}

status mix_until(copy_build *b, mix_cursor *c, uint32_t part, uint32_t parts) {
    uint32_t end = (uint32_t)((uint64_t)c->count * part / parts);
    if (c->done == 0 || b->value != c->last)
        take_registers(b, c);
    while (c->done < end) {
        op_class op = mix_next(c->mix, c->emitted, c->done, c->count);
        uint32_t chain = c->done % c->ilp;
        ir_inst x = plain;
        x.op = (uint8_t)op;
        x.src[0] = c->holder[chain];
        if (op != OP_BRANCH)
            x.dst = b->value = c->holder[chain] = (uint8_t)(c->first_register + chain);
        TRY(ir_add_inst(b->k, x, b->m));
        c->emitted[op]++;
        c->done++;
    }
    c->last = b->value;
    return OK;
}

status mix_whole(copy_build *b, isa_piece piece) {
    mix_cursor c = {0};
    TRY(mix_begin(b, piece, &c));
    return mix_until(b, &c, 1, 1);
}

status emit_exit_test(copy_build *b, uint16_t access) {
    ir_inst x = plain;
    x.op = OP_BRANCH;
    x.src[0] = b->value;
    x.access = access;
    return ir_add_inst(b->k, x, b->m);
}

status emit_load(copy_build *b, op_class op, uint16_t access, uint32_t data) {
    ir_inst x = plain;
    x.op = (uint8_t)op;
    x.dst = (uint8_t)(DATA_REGISTER + data);
    x.src[0] = b->value;
    x.access = access;
    return ir_add_inst(b->k, x, b->m);
}

status emit_store(copy_build *b, op_class op, uint16_t access, uint32_t data) {
    ir_inst x = plain;
    x.op = (uint8_t)op;
    x.src[0] = (uint8_t)(DATA_REGISTER + data);
    x.src[1] = b->value;
    x.access = access;
    return ir_add_inst(b->k, x, b->m);
}

status emit_barrier(copy_build *b) {
    ir_inst x = plain;
    x.op = OP_BARRIER;
    return ir_add_inst(b->k, x, b->m);
}

status emit_exit(copy_build *b) {
    ir_inst x = plain;
    x.op = OP_EXIT;
    return ir_add_inst(b->k, x, b->m);
}

/* --- addresses --- */

status product(copy_build *b, int64_t a, int64_t c, int64_t *out) {
    return mul_i64(a, c, out) ? OK : fail(b->m, ERR_INPUT, "The copy's addresses do not fit 64 bits.");
}

status sum(copy_build *b, int64_t a, int64_t c, int64_t *out) {
    return add_i64(a, c, out) ? OK : fail(b->m, ERR_INPUT, "The copy's addresses do not fit 64 bits.");
}

span span_open(const copy_build *b) {
    return (span){.first = b->k->term_count};
}

void span_close(const copy_build *b, span *s) {
    s->count = b->k->term_count - s->first;
}

status add_term(copy_build *b, uint32_t index, uint64_t div, uint64_t mod, int64_t a, int64_t c) {
    ir_term t = {.index = index, .div = div, .mod = mod};
    TRY(product(b, a, c, &t.mul));
    return t.mul ? ir_add_term(b->k, t, b->m) : OK;
}

status add_coordinate(copy_build *b, const coordinate *x, int64_t scale) {
    for (uint32_t i = 0; i < x->count; i++)
        TRY(add_term(b, x->part[i].index, x->part[i].div, x->part[i].mod, x->part[i].mul, scale));
    return OK;
}

status add_bound(copy_build *b, span terms, int64_t limit) {
    return ir_add_bound(b->k, (ir_bound){.first_term = terms.first, .terms = terms.count, .limit = limit}, b->m);
}

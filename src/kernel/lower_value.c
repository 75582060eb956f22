/* lower_value.c - expressions as instructions. */
#include "kernel/body_value.h"
#include "kernel/lower_build.h"
#include "kernel/mix.h"

#include "base/mem.h"

#include <string.h>

static bool is_64(body_type t) {
    return body_type_bytes(t) == 8;
}

/* What no instruction computes: reg 0 is an operand like any other. */
static value constant_value(body_type type) {
    return (value){.type = type};
}

static status one(lowering *l, op_class op, body_type type, uint32_t a, uint32_t b, uint32_t c, value *out) {
    *out = (value){.type = type, .fresh = true};
    return lower_op(l, op, lower_width(type), a, b, c, &out->reg);
}

/* A further instruction that changes the value in its register. */
static status more(lowering *l, op_class op, value *v) {
    return lower_emit(l, op, v->reg, v->reg, 0, 0);
}

status lower_constant(lowering *l, body_type type, uint32_t *reg) {
    TRY(lower_op(l, OP_INT, lower_width(type), 0, 0, 0, reg));
    return is_64(type) ? lower_emit(l, OP_INT, *reg, 0, 0, 0) : OK;
}

/* ---- pieces of several instructions ------------------------------------------------------------------------------ */

/* The machine's instructions for the piece: instruction i takes what instruction i - ilp made, the first ones the
 * operands, and the last one makes the result. */
static status piece(lowering *l, body_place at, isa_piece which, body_type type, uint32_t a, uint32_t b, value *out) {
    const isa_mix *mix = &l->mach->isa[which];
    if (!mix->ilp)
        return lower_fail(l, at, "machine %s says nothing of %s in its isa group", l->mach->name,
                          isa_piece_name(which));
    uint32_t emitted[OP_CLASS_COUNT] = {0}, holder[64] = {0};
    const uint32_t count = mix_count(mix), ilp = mix->ilp < 64 ? mix->ilp : 64;
    const uint32_t width = lower_width(type);
    for (uint32_t i = 0; i < count; i++) {
        const op_class op = mix_next(mix, emitted, i, count);
        const uint32_t from = i < ilp ? a : holder[i % ilp], also = i < ilp ? b : 0;
        if (op == OP_BRANCH) {
            TRY(lower_emit(l, op, 0, from, also, 0));
            holder[i % ilp] = from;
        } else {
            TRY(lower_op(l, op, width, from, also, 0, &holder[i % ilp]));
        }
        emitted[op]++;
    }
    /* What the last chains hold belongs together. */
    uint32_t reg = holder[(count - 1) % ilp];
    *out = (value){.reg = reg, .type = type};
    return OK;
}

/* ---- conversions ------------------------------------------------------------------------------------------------- */

status lower_convert(lowering *l, value v, body_type type, value *out) {
    *out = v;
    out->type = type;
    if (v.type == type || !v.reg)
        return OK;
    const bool from_float = body_type_is_float(v.type), to_float = body_type_is_float(type);
    if (!from_float && !to_float) /* i64 to i32 takes the lower half; i32 to i64 makes an upper one */
        return is_64(type) ? one(l, OP_INT, type, v.reg, 0, 0, out) : OK;
    return one(l, OP_CONVERT, type, v.reg, 0, 0, out);
}

static status converted(lowering *l, const body_expr *e, body_type type, value *out) {
    value v;
    TRY(lower_value(l, e, &v));
    return lower_convert(l, v, type, out);
}

/* ---- conditions -------------------------------------------------------------------------------------------------- */

static bool is_comparison(const body_expr *e) {
    return e->kind >= EXPR_EQ && e->kind <= EXPR_GE;
}

static body_type operand_type(const body_expr *e) {
    return body_common_type(e->arg[0]->type, e->arg[1]->type);
}

/* a compared with b, and the predicate `also`: 64-bit integers need two instructions. */
static status compare(lowering *l, body_type type, uint32_t a, uint32_t b, uint32_t also, uint32_t *predicate) {
    const op_class op = type == TYPE_F64 ? OP_FP64 : OP_INT;
    TRY(lower_op(l, op, 0, a, b, also, predicate));
    return type == TYPE_I64 ? lower_emit(l, OP_INT, *predicate, a, b, *predicate) : OK;
}

static status condition(lowering *l, const body_expr *e, uint32_t also, uint32_t *predicate) {
    value a, b;
    if (e->kind == EXPR_NOT)
        return condition(l, e->arg[0], also, predicate);
    if (is_comparison(e)) {
        const body_type type = operand_type(e);
        TRY(converted(l, e->arg[0], type, &a));
        TRY(converted(l, e->arg[1], type, &b));
        return compare(l, type, a.reg, b.reg, also, predicate);
    }
    if (e->kind == EXPR_AND || e->kind == EXPR_OR) {
        uint32_t left = 0;
        TRY(condition(l, e->arg[0], also, &left));
        return condition(l, e->arg[1], left, predicate); /* combined by its last comparison */
    }
    TRY(lower_value(l, e, &a));
    return compare(l, a.type, a.reg, 0, also, predicate);
}

status lower_condition(lowering *l, const body_expr *e, uint32_t *predicate) {
    const lower_note note = l->note;
    l->note.origin = ORIGIN_CONDITION;
    l->note.line = e->at.line ? e->at.line : note.line;
    status s = condition(l, e, 0, predicate);
    l->note = note;
    return s;
}

/* ---- operators --------------------------------------------------------------------------------------------------- */

static op_class multiply_class(body_type t) {
    return t == TYPE_F64 ? OP_FP64 : t == TYPE_F32 ? OP_FP32 : t == TYPE_I32 ? OP_IMUL : OP_IMUL_WIDE;
}

/* a + b: for 64-bit integers with carry. */
static status add(lowering *l, body_type type, uint32_t a, uint32_t b, value *out) {
    const op_class op = type == TYPE_F64 ? OP_FP64 : type == TYPE_F32 ? OP_FP32 : OP_INT;
    TRY(one(l, op, type, a, b, 0, out));
    return type == TYPE_I64 ? more(l, OP_INT, out) : OK;
}

/* a * b + c; the 64-bit integer product takes the two cross products besides. */
static status multiply_add(lowering *l, body_type type, uint32_t a, uint32_t b, uint32_t c, value *out) {
    TRY(one(l, multiply_class(type), type, a, b, c, out));
    if (type != TYPE_I64)
        return OK;
    TRY(more(l, OP_IMUL, out));
    return more(l, OP_IMUL, out);
}

/* A product that a sum can take in. */
static bool fuses(const body_expr *e, body_type type) {
    return e->kind == EXPR_MUL && e->type == type;
}

static status sum(lowering *l, const body_expr *e, value *out) {
    value a, b, c;
    const body_type type = e->type;
    const bool left = fuses(e->arg[0], type), right = !left && fuses(e->arg[1], type);
    if (left) {
        TRY(converted(l, e->arg[0]->arg[0], type, &a));
        TRY(converted(l, e->arg[0]->arg[1], type, &b));
        TRY(converted(l, e->arg[1], type, &c));
        return multiply_add(l, type, a.reg, b.reg, c.reg, out);
    }
    TRY(converted(l, e->arg[0], type, &c));
    if (right) {
        TRY(converted(l, e->arg[1]->arg[0], type, &a));
        TRY(converted(l, e->arg[1]->arg[1], type, &b));
        return multiply_add(l, type, a.reg, b.reg, c.reg, out);
    }
    TRY(converted(l, e->arg[1], type, &a));
    return add(l, type, c.reg, a.reg, out);
}

static bool constant_divisor(const lowering *l, const body_expr *e, int64_t *c) {
    if (body_type_is_float(e->type))
        return false;
    const form f = form_of(&l->scope, e);
    return form_is_constant(&f, c) && *c > 0;
}

static status quotient(lowering *l, const body_expr *e, value *out) {
    value a, b;
    int64_t c = 0;
    TRY(converted(l, e->arg[0], e->type, &a));
    if (!body_type_is_float(e->type) && constant_divisor(l, e->arg[1], &c)) {
        /* As compilers do: the sign, then a shift, or a multiplication by the reciprocal; then for a remainder back. */
        const bool shift = (c & (c - 1)) == 0;
        TRY(one(l, shift ? OP_INT : is_64(e->type) ? OP_IMUL_WIDE : OP_IMUL_HI, e->type, a.reg, 0, 0, out));
        TRY(more(l, OP_INT, out));
        return e->kind == EXPR_MOD ? one(l, multiply_class(e->type), e->type, out->reg, a.reg, 0, out) : OK;
    }
    TRY(converted(l, e->arg[1], e->type, &b));
    if (e->type == TYPE_F32 && !b.reg) /* by a constant: times its reciprocal, with one correction */
        return multiply_add(l, e->type, a.reg, 0, 0, out);
    static const isa_piece pieces[] = {
        [TYPE_I32] = ISA_DIV_I32, [TYPE_I64] = ISA_DIV_I64, [TYPE_F32] = ISA_DIV_F32, [TYPE_F64] = ISA_DIV_F64};
    return piece(l, e->at, pieces[e->type], e->type, a.reg, b.reg, out);
}

static status function(lowering *l, const body_expr *e, value *out) {
    static const isa_piece single[] = {
        [EXPR_EXP] = ISA_EXP_F32, [EXPR_LOG] = ISA_LOG_F32, [EXPR_SQRT] = ISA_SQRT_F32, [EXPR_RSQRT] = ISA_RSQRT_F32};
    static const isa_piece dual[] = {
        [EXPR_EXP] = ISA_EXP_F64, [EXPR_LOG] = ISA_LOG_F64, [EXPR_SQRT] = ISA_SQRT_F64, [EXPR_RSQRT] = ISA_RSQRT_F64};
    value a;
    TRY(converted(l, e->arg[0], e->type, &a));
    if (!a.reg) {
        *out = constant_value(e->type);
        return OK;
    }
    return piece(l, e->at, (e->type == TYPE_F64 ? dual : single)[e->kind], e->type, a.reg, 0, out);
}

/* b or c, by a predicate: one instruction for each 32 bits. */
static status choose(lowering *l, body_type type, uint32_t predicate, uint32_t b, uint32_t c, value *out) {
    TRY(one(l, OP_INT, type, b, c, predicate, out));
    return is_64(type) ? more(l, OP_INT, out) : OK;
}

static status extremum(lowering *l, const body_expr *e, value *out) {
    value a, b;
    uint32_t predicate = 0;
    TRY(converted(l, e->arg[0], e->type, &a));
    TRY(converted(l, e->arg[1], e->type, &b));
    if (!is_64(e->type))
        return one(l, OP_INT, e->type, a.reg, b.reg, 0, out);
    TRY(compare(l, e->type, a.reg, b.reg, 0, &predicate));
    return choose(l, e->type, predicate, a.reg, b.reg, out);
}

/* The side that is chosen decides which lanes load: exactly where the condition is a closed form. */
static status branch_of_select(lowering *l, const body_expr *e, bool negated, uint32_t predicate, value *out) {
    guard g = {.outer = l->guard, .predicate = predicate};
    form_guard_of(&l->scope, e->arg[0], negated, &g.what);
    const size_t held = l->load_count;
    l->guard = &g;
    status s = converted(l, e->arg[negated ? 2 : 1], e->type, out);
    l->guard = g.outer;
    l->load_count = held < l->load_count ? held : l->load_count; /* not all lanes have them */
    return s;
}

static status select_value(lowering *l, const body_expr *e, value *out) {
    uint32_t predicate = 0;
    value a, b;
    TRY(lower_condition(l, e->arg[0], &predicate));
    TRY(branch_of_select(l, e, false, predicate, &a));
    TRY(branch_of_select(l, e, true, predicate, &b));
    return choose(l, e->type, predicate, a.reg, b.reg, out);
}

static status sign(lowering *l, const body_expr *e, value *out) {
    TRY(converted(l, e->arg[0], e->type, out));
    if (body_type_is_float(e->type) || !out->reg) {
        out->fresh = false; /* a modifier of the operand, wherever it is used */
        return OK;
    }
    const uint32_t reg = out->reg;
    TRY(one(l, OP_INT, e->type, reg, 0, 0, out));
    return is_64(e->type) ? more(l, OP_INT, out) : OK;
}

static status logic(lowering *l, const body_expr *e, value *out) {
    uint32_t predicate = 0;
    TRY(lower_condition(l, e, &predicate));
    return choose(l, e->type, predicate, 0, 0, out);
}

/* ---- loads ------------------------------------------------------------------------------------------------------- */

static bool is_promoted(const lowering *l, const body_array *a) {
    return l->promoted[a->id] != NULL;
}

static status promoted_value(lowering *l, const body_expr *e, value *out) {
    int64_t at = 0;
    const form f = form_of_element(&l->scope, e->array, e->arg);
    if (!form_is_constant(&f, &at) || at < 0 || at >= e->array->elements)
        return lower_fail(l, e->at, "a subscript of '%s' lies outside its extent", e->array->name);
    *out = (value){.reg = l->promoted[e->array->id][at], .type = e->type};
    return OK;
}

static bool find_load(const lowering *l, const body_array *a, const form *element, uint32_t *reg) {
    int64_t difference = 0;
    for (size_t i = l->load_count; i-- > 0;) {
        const held_load *h = &l->loads[i];
        if (h->array == a && form_alike(&h->element, element, &difference) && difference == 0) {
            *reg = h->reg;
            return true;
        }
    }
    return false;
}

static status hold_load(lowering *l, const body_array *a, const form *element, uint32_t reg, bool vector) {
    if (element->kind != FORM_CLOSED)
        return OK;
    if (!mem_reserve((void **)&l->loads, &l->load_capacity, l->load_count + 1, sizeof *l->loads))
        return lower_memory(l);
    l->loads[l->load_count++] = (held_load){.array = a, .element = *element, .reg = reg, .vector = vector};
    return OK;
}

static status load_value(lowering *l, const body_expr *e, value *out) {
    const body_array *a = e->array;
    if (is_promoted(l, a))
        return promoted_value(l, e, out);
    const int32_t line = l->note.line;
    l->note.line = e->at.line ? e->at.line : line;
    const form element = form_of_element(&l->scope, a, e->arg);
    uint32_t reg = 0;
    if (!find_load(l, a, &element, &reg)) {
        const uint32_t width = lower_vector_width(l, a, &element, e->arg);
        TRY(lower_load(l, a, e->arg, &element, width, &reg));
        for (uint32_t i = 0; i < width; i++) {
            form f = element;
            f.linear.base += i;
            TRY(hold_load(l, a, &f, reg, width > 1));
        }
    }
    *out = (value){.reg = reg, .type = e->type};
    status s = OK;
    if (a->type == TYPE_F16) /* widened where it is used */
        s = one(l, OP_CONVERT, TYPE_F32, reg, 0, 0, out);
    l->note.line = line;
    return s;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static status integer_value(lowering *l, const form *f, body_type type, value *out) {
    *out = constant_value(type);
    return lower_index(l, f, &out->reg);
}

status lower_value(lowering *l, const body_expr *e, value *out) {
    if (!body_type_is_float(e->type) && e->kind != EXPR_LOAD) {
        const form f = form_of(&l->scope, e);
        if (f.kind == FORM_CLOSED)
            return integer_value(l, &f, e->type, out);
    }
    value a, b;
    switch (e->kind) {
    case EXPR_INTEGER:
    case EXPR_REAL:
    case EXPR_PARAM:
    case EXPR_LOOP:
    case EXPR_TID:
    case EXPR_BID:
        *out = constant_value(e->type);
        return OK;
    case EXPR_LET:
        *out = (value){.reg = l->let_reg[e->variable->id], .type = e->type};
        return OK;
    case EXPR_LOAD:
        return load_value(l, e, out);
    case EXPR_ADD:
    case EXPR_SUB:
        return sum(l, e, out);
    case EXPR_MUL:
        TRY(converted(l, e->arg[0], e->type, &a));
        TRY(converted(l, e->arg[1], e->type, &b));
        return multiply_add(l, e->type, a.reg, b.reg, 0, out);
    case EXPR_DIV:
    case EXPR_MOD:
        return quotient(l, e, out);
    case EXPR_MIN:
    case EXPR_MAX:
        return extremum(l, e, out);
    case EXPR_SELECT:
        return select_value(l, e, out);
    case EXPR_NEG:
    case EXPR_ABS:
        return sign(l, e, out);
    case EXPR_EXP:
    case EXPR_LOG:
    case EXPR_SQRT:
    case EXPR_RSQRT:
        return function(l, e, out);
    default:
        return logic(l, e, out);
    }
}

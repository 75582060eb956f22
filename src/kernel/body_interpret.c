#include "kernel/body_interpret.h"

#include "base/half.h"
#include "kernel/body_value.h"

#include <inttypes.h>
#include <string.h>

typedef struct state {
    const body *b;
    void **memory;     /* by array: the caller's, or our own for shared and local ones */
    body_value *value; /* by variable */
    int64_t block[3], thread[3];
    message *m;
} state;

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static body_value read_element(const void *data, body_type type, int64_t at) {
    body_value v = {.type = body_value_type(type)};
    switch (type) {
    case TYPE_I32:
        v.integer = ((const int32_t *)data)[at];
        break;
    case TYPE_I64:
        v.integer = ((const int64_t *)data)[at];
        break;
    case TYPE_F16:
        v.real = half_to_double(((const uint16_t *)data)[at]);
        break;
    case TYPE_F32:
        v.real = (double)((const float *)data)[at];
        break;
    case TYPE_F64:
        v.real = ((const double *)data)[at];
        break;
    }
    return v;
}

static void write_element(void *data, body_type type, int64_t at, body_value v) {
    switch (type) {
    case TYPE_I32:
        ((int32_t *)data)[at] = (int32_t)body_convert(v, type).integer;
        break;
    case TYPE_I64:
        ((int64_t *)data)[at] = body_convert(v, type).integer;
        break;
    case TYPE_F16: /* from a double, so that an f64 is rounded once */
        ((uint16_t *)data)[at] = half_from_double(body_convert(v, TYPE_F64).real);
        break;
    case TYPE_F32:
        ((float *)data)[at] = (float)body_convert(v, type).real;
        break;
    case TYPE_F64:
        ((double *)data)[at] = body_convert(v, type).real;
        break;
    }
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

static status evaluate(state *s, const body_expr *e, body_value *out);

static status element(state *s, const body_array *a, body_expr *const *subscript, int64_t *at) {
    *at = a->offset;
    for (uint32_t d = 0; d < a->rank; d++) {
        body_value i;
        TRY(evaluate(s, subscript[d], &i));
        if (i.integer < 0 || i.integer >= a->size[d]) {
            body_place where = subscript[d]->at;
            return fail(s->m, ERR_INPUT, "%d:%d: subscript %u of '%s' is %" PRId64 ", outside its extent of %" PRId64,
                        where.line, where.column, d + 1, a->name, i.integer, a->size[d]);
        }
        *at += i.integer * a->stride[d]; /* within a->elements, so no overflow */
    }
    return OK;
}

/* tid or bid along an axis, or flat. */
static int64_t position(const int64_t at[3], const int64_t size[3], body_axis axis) {
    return axis == AXIS_FLAT ? at[0] + size[0] * (at[1] + size[1] * at[2]) : at[axis - AXIS_X];
}

static status evaluate_operation(state *s, const body_expr *e, body_value *out) {
    body_value operand[2];
    for (uint32_t i = 0; i < e->args; i++)
        TRY(evaluate(s, e->arg[i], &operand[i]));
    if (!body_apply(e->kind, e->type, operand, out))
        return fail(s->m, ERR_INPUT, "%d:%d: division by zero", e->at.line, e->at.column);
    return OK;
}

static status evaluate(state *s, const body_expr *e, body_value *out) {
    *out = (body_value){.type = e->type};
    int64_t at = 0;
    switch (e->kind) {
    case EXPR_INTEGER:
        out->integer = e->integer;
        return OK;
    case EXPR_REAL:
        *out = body_convert((body_value){.type = TYPE_F64, .real = e->real}, e->type);
        return OK;
    case EXPR_PARAM:
        if (body_type_is_float(e->type))
            out->real = e->param->real;
        else
            out->integer = e->param->integer;
        return OK;
    case EXPR_LOOP:
    case EXPR_LET:
        *out = s->value[e->variable->id];
        return OK;
    case EXPR_TID:
        out->integer = position(s->thread, s->b->threads, e->axis);
        return OK;
    case EXPR_BID:
        out->integer = position(s->block, s->b->blocks, e->axis);
        return OK;
    case EXPR_LOAD:
        TRY(element(s, e->array, e->arg, &at));
        *out = read_element(s->memory[e->array->id], e->array->type, at);
        return OK;
    case EXPR_SELECT: {
        body_value condition;
        TRY(evaluate(s, e->arg[0], &condition));
        TRY(evaluate(s, e->arg[body_is_true(condition) ? 1 : 2], out));
        *out = body_convert(*out, e->type);
        return OK;
    }
    default:
        return evaluate_operation(s, e, out);
    }
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

static status run_list(state *s, const body_list *list);

static status run_statement(state *s, const body_stmt *st) {
    body_value v;
    int64_t at = 0;
    switch (st->kind) {
    case STMT_STORE:
        TRY(evaluate(s, st->value, &v));
        TRY(element(s, st->array, st->subscript, &at));
        write_element(s->memory[st->array->id], st->array->type, at, v);
        return OK;
    case STMT_LET:
        return evaluate(s, st->value, &s->value[st->variable->id]);
    case STMT_IF:
        TRY(evaluate(s, st->value, &v));
        return run_list(s, body_is_true(v) ? &st->body : &st->otherwise);
    case STMT_FOR:
        for (int64_t i = st->start; i < st->end; i += st->step) {
            s->value[st->variable->id] = (body_value){.type = TYPE_I32, .integer = i};
            TRY(run_list(s, &st->body));
        }
        return OK;
    case STMT_BLOCK:
        return run_list(s, &st->body);
    }
    return OK;
}

static status run_list(state *s, const body_list *list) {
    for (const body_stmt *st = list->first; st; st = st->next)
        TRY(run_statement(s, st));
    return OK;
}

/* ---- blocks and threads ------------------------------------------------------------------------------------------ */

static void clear(const state *s, ir_space space) {
    for (uint32_t i = 0; i < s->b->arrays; i++) {
        const body_array *a = s->b->array[i];
        if (a->space == space)
            memset(s->memory[i], 0, (size_t)a->elements * body_type_bytes(a->type));
    }
}

/* Steps `at` through the box, x fastest; false behind its end. */
static bool advance(int64_t at[3], const int64_t size[3]) {
    for (int i = 0; i < 3; i++) {
        if (++at[i] < size[i])
            return true;
        at[i] = 0;
    }
    return false;
}

static status run_grid(state *s) {
    do {
        clear(s, SPACE_SHARED);
        do {
            clear(s, SPACE_LOCAL);
            TRY(run_list(s, &s->b->list));
        } while (advance(s->thread, s->b->threads));
    } while (advance(s->block, s->b->blocks));
    return OK;
}

static bool make_memory(state *s, void *const *memory) {
    for (uint32_t i = 0; i < s->b->arrays; i++) {
        const body_array *a = s->b->array[i];
        s->memory[i] = a->space == SPACE_GLOBAL ? memory[i] : mem_zero((size_t)a->elements, body_type_bytes(a->type));
        if (!s->memory[i])
            return false;
    }
    return true;
}

status body_interpret(const body *b, void *const *memory, message *m) {
    state s = {.b = b, .m = m};
    s.memory = mem_zero(b->arrays, sizeof *s.memory);
    s.value = mem_zero(b->variables, sizeof *s.value);
    status st = s.memory && s.value && make_memory(&s, memory)
                    ? run_grid(&s)
                    : fail(m, ERR_MEMORY, "not enough memory to execute the loop body");
    for (uint32_t i = 0; s.memory && i < b->arrays; i++)
        if (b->array[i]->space != SPACE_GLOBAL)
            mem_free(s.memory[i]);
    mem_free(s.memory);
    mem_free(s.value);
    return st;
}

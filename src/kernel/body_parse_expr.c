#include "kernel/body_parse.h"

#include "base/nearest.h"
#include "base/num.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

static const struct operator_row {
    const char *text;
    body_expr_kind kind;
    uint32_t operands;
    int precedence;
} operators[] = {
#define X(id, text, operands, precedence) {text, id, operands, precedence},
    BODY_OPERATOR_LIST(X)
#undef X
        {"select", EXPR_SELECT, 3, 0},
};

enum { OPERATORS = sizeof operators / sizeof *operators, LOOSEST = 2 /* precedence of || */ };

status parse_enter(parser *p) {
    if (++p->nesting > BODY_NESTING_MAX)
        return lex_fail(&p->lex, p->lex.current.at, "nested more than %d deep", BODY_NESTING_MAX);
    return OK;
}

void parse_leave(parser *p) {
    p->nesting--;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

bool parse_is_word(const interned *name) {
    static const char *const words[] = {"param",          "global",  "shared", "local", "strides", "offset",
                                        "blocks",         "threads", "for",    "if",    "else",    "block",
                                        "ScheduleBlock",  "let",     "tid",    "bid",
#define X(id, type, bytes) type,
                                        BODY_TYPE_LIST(X)
#undef X
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(name->text, words[i]) == 0)
            return true;
    for (size_t i = 0; i < OPERATORS; i++)
        if (strcmp(name->text, operators[i].text) == 0)
            return true;
    return false;
}

/* "; did you mean ...?" among the names in scope. */
static char *hint(const parser *p, const interned *name, char *out, size_t size) {
    enum { LISTED = 8, COMPARED = 512 };
    const char *words[COMPARED];
    size_t count = 0;
    for (const symbol *s = p->newest; s && count < COMPARED; s = s->outer)
        words[count++] = s->name->text;
    for (size_t i = 0; i < count / 2; i++) { /* in the order of their declaration */
        const char *word = words[i];
        words[i] = words[count - 1 - i];
        words[count - 1 - i] = word;
    }
    out[0] = '\0';
    return count > LISTED && !nearest_word(name->text, words, count)
               ? out
               : nearest_hint(out, size, name->text, words, count);
}

status parse_symbol(parser *p, const char *what, symbol **s) {
    const token t = p->lex.current;
    char more[400];
    if (t.kind != TOKEN_NAME || parse_is_word(t.name)) {
        snprintf(more, sizeof more, "%s %s", strchr("aeiou", what[0]) ? "an" : "a", what);
        return lex_fail_expected(&p->lex, more);
    }
    *s = t.name->value;
    if (!*s) {
        char next = p->lex.next < p->lex.end ? *p->lex.next : '\0';
        what = next == '[' ? "array" : next == '(' ? "function" : what;
        return lex_fail(&p->lex, t.at, "unknown %s '%s'%s", what, t.name->text, hint(p, t.name, more, sizeof more));
    }
    if ((*s)->pending)
        return lex_fail(&p->lex, t.at, "'%s' is used in its own declaration", t.name->text);
    return lex_next(&p->lex);
}

/* ---- nodes and types --------------------------------------------------------------------------------------------- */

void parse_adapt(body_expr *e, body_type type) {
    if (!e->untyped || type <= e->type || body_type_is_float(type) != body_type_is_float(e->type))
        return;
    e->type = type;
    for (uint32_t i = 0; i < e->args; i++)
        parse_adapt(e->arg[i], type);
}

static status new_expr(parser *p, body_expr_kind kind, body_type type, uint32_t args, body_place at, body_expr **out) {
    *out = body_new_expr(p->b, kind, type, args, at);
    return *out ? OK : lex_fail_memory(&p->lex);
}

static status set_height(parser *p, body_expr *e) {
    uint32_t height = 0;
    for (uint32_t i = 0; i < e->args; i++)
        height = e->arg[i]->height > height ? e->arg[i]->height : height;
    if (height + 1 > BODY_HEIGHT_MAX)
        return lex_fail(&p->lex, e->at, "this expression is more than %d operations deep", BODY_HEIGHT_MAX);
    e->height = (uint16_t)(height + 1);
    return OK;
}

static bool gives_truth(body_expr_kind k) {
    return (k >= EXPR_OR && k <= EXPR_GE) || k == EXPR_NOT;
}

static bool is_float_function(body_expr_kind k) {
    return k >= EXPR_EXP && k <= EXPR_RSQRT;
}

/* An operation on up to three operands, with its type. */
static status operation(parser *p, body_expr_kind kind, body_place at, body_expr *const *operand, uint32_t operands,
                        body_expr **out) {
    TRY(new_expr(p, kind, TYPE_I32, operands, at, out));
    body_expr *e = *out;
    memcpy(e->arg, operand, operands * sizeof(body_expr *));
    TRY(set_height(p, e));
    /* The condition of a select, and the two sides of && and ||, do not meet. */
    uint32_t first = kind == EXPR_SELECT;
    bool meet = kind != EXPR_AND && kind != EXPR_OR;
    body_type type = e->arg[first]->type;
    bool untyped = e->arg[first]->untyped;
    if (operands - first == 2) {
        body_expr *a = e->arg[first], *b = e->arg[first + 1];
        if (meet && a->untyped != b->untyped)
            parse_adapt(a->untyped ? a : b, a->untyped ? b->type : a->type);
        type = body_common_type(a->type, b->type);
        untyped = a->untyped && b->untyped;
        if (meet && untyped) {
            parse_adapt(a, type);
            parse_adapt(b, type);
        }
    }
    if (kind == EXPR_MOD && body_type_is_float(type))
        return lex_fail(&p->lex, at, "%% needs integers, and this is %s", body_type_name(type));
    if (is_float_function(kind) && !body_type_is_float(type))
        type = TYPE_F32;
    e->type = gives_truth(kind) ? TYPE_I32 : type;
    e->untyped = untyped && !gives_truth(kind) && !is_float_function(kind);
    return OK;
}

/* ---- primaries --------------------------------------------------------------------------------------------------- */

static status literal(parser *p, body_expr **out) {
    const token t = p->lex.current;
    if (t.kind == TOKEN_INTEGER) {
        TRY(new_expr(p, EXPR_INTEGER, t.integer <= INT32_MAX ? TYPE_I32 : TYPE_I64, 0, t.at, out));
        (*out)->integer = t.integer;
    } else {
        TRY(new_expr(p, EXPR_REAL, t.real <= (double)FLT_MAX ? TYPE_F32 : TYPE_F64, 0, t.at, out));
        (*out)->real = t.real;
        (*out)->suffixed = t.suffixed;
    }
    (*out)->untyped = !t.suffixed;
    return lex_next(&p->lex);
}

static status thread_or_block(parser *p, body_expr **out) {
    body_expr_kind kind = lex_is(&p->lex, "tid") ? EXPR_TID : EXPR_BID;
    TRY(new_expr(p, kind, TYPE_I32, 0, p->lex.current.at, out));
    TRY(lex_next(&p->lex));
    bool found = false;
    TRY(lex_accept(&p->lex, ".", &found));
    if (!found)
        return OK;
    static const char *const letters[] = {"x", "y", "z"};
    for (int i = 0; i < 3; i++)
        if (lex_is(&p->lex, letters[i])) {
            (*out)->axis = (body_axis)(AXIS_X + i);
            return lex_next(&p->lex);
        }
    return lex_fail_expected(&p->lex, "x, y or z");
}

static status call(parser *p, const struct operator_row *function, body_expr **out) {
    body_place at = p->lex.current.at;
    body_expr *operand[3] = {NULL};
    char after[64];
    TRY(lex_next(&p->lex));
    snprintf(after, sizeof after, "after %s", function->text);
    TRY(lex_expect(&p->lex, "(", after));
    for (uint32_t i = 0; i < function->operands; i++) {
        snprintf(after, sizeof after, "before argument %u of %s", i + 1, function->text);
        if (i > 0)
            TRY(lex_expect(&p->lex, ",", after));
        TRY(parse_expr(p, &operand[i]));
    }
    snprintf(after, sizeof after, "after the %s of %s", function->operands == 1 ? "argument" : "arguments",
             function->text);
    TRY(lex_expect(&p->lex, ")", after));
    return operation(p, function->kind, at, operand, function->operands, out);
}

status parse_subscripts(parser *p, const body_array *array, body_place at, body_expr ***subscript) {
    body_expr *list[BODY_RANK_MAX];
    uint32_t count = 0;
    bool more = false;
    TRY(lex_accept(&p->lex, "[", &more));
    while (more) {
        if (count == array->rank)
            return lex_fail(&p->lex, p->lex.current.at, "'%s' has %u dimension%s, and this is subscript %u",
                            array->name, array->rank, array->rank == 1 ? "" : "s", count + 1);
        TRY(parse_expr(p, &list[count]));
        if (body_type_is_float(list[count]->type))
            return lex_fail(&p->lex, list[count]->at, "a subscript must be an integer, and this is %s",
                            body_type_name(list[count]->type));
        count++;
        TRY(lex_accept(&p->lex, ",", &more));
        if (!more)
            TRY(lex_expect(&p->lex, "]", "after the subscripts"));
    }
    if (count != array->rank)
        return lex_fail(&p->lex, at, "'%s' has %u dimension%s, and here %s %u subscript%s", array->name, array->rank,
                        array->rank == 1 ? "" : "s", count == 1 ? "is" : "are", count, count == 1 ? "" : "s");
    *subscript = NULL;
    if (count) {
        *subscript = arena_alloc(&p->b->memory, count * sizeof(body_expr *));
        if (!*subscript)
            return lex_fail_memory(&p->lex);
        memcpy(*subscript, list, count * sizeof(body_expr *));
    }
    return OK;
}

static status named(parser *p, body_expr **out) {
    body_place at = p->lex.current.at;
    symbol *s = NULL;
    TRY(parse_symbol(p, "name", &s));
    if (lex_is(&p->lex, "(") && s->kind != SYMBOL_ARRAY)
        return lex_fail(&p->lex, at, "'%s' is not a function", s->name->text);
    if (lex_is(&p->lex, "[") && s->kind != SYMBOL_ARRAY)
        return lex_fail(&p->lex, at, "'%s' is not an array", s->name->text);
    switch (s->kind) {
    case SYMBOL_PARAM:
        TRY(new_expr(p, EXPR_PARAM, s->param->type, 0, at, out));
        (*out)->param = s->param;
        return OK;
    case SYMBOL_LOOP:
    case SYMBOL_LET:
        TRY(new_expr(p, s->kind == SYMBOL_LOOP ? EXPR_LOOP : EXPR_LET, s->variable->type, 0, at, out));
        (*out)->variable = s->variable;
        return OK;
    case SYMBOL_ARRAY:
        break;
    }
    TRY(new_expr(p, EXPR_LOAD, body_value_type(s->array->type), 0, at, out));
    (*out)->array = s->array;
    TRY(parse_subscripts(p, s->array, at, &(*out)->arg));
    (*out)->args = s->array->rank;
    return set_height(p, *out);
}

static status primary(parser *p, body_expr **out) {
    const token *t = &p->lex.current;
    bool found = false;
    if (t->kind == TOKEN_INTEGER || t->kind == TOKEN_REAL)
        return literal(p, out);
    TRY(lex_accept(&p->lex, "(", &found));
    if (found) {
        TRY(parse_expr(p, out));
        return lex_expect(&p->lex, ")", NULL);
    }
    if (lex_is(&p->lex, "tid") || lex_is(&p->lex, "bid"))
        return thread_or_block(p, out);
    for (size_t i = 0; i < OPERATORS && t->kind == TOKEN_NAME; i++)
        if (operators[i].precedence == 0 && lex_is(&p->lex, operators[i].text))
            return call(p, &operators[i], out);
    if (t->kind != TOKEN_NAME || parse_is_word(t->name))
        return lex_fail_expected(&p->lex, "an expression");
    return named(p, out);
}

/* ---- operators --------------------------------------------------------------------------------------------------- */

static status unary(parser *p, body_expr **out) {
    body_place at = p->lex.current.at;
    bool minus = false, negation = false;
    TRY(lex_accept(&p->lex, "-", &minus));
    if (!minus)
        TRY(lex_accept(&p->lex, "!", &negation));
    if (!minus && !negation)
        return primary(p, out);
    body_expr *operand = NULL;
    TRY(parse_enter(p));
    TRY(unary(p, &operand));
    parse_leave(p);
    return operation(p, minus ? EXPR_NEG : EXPR_NOT, at, &operand, 1, out);
}

/* The binary operator at the current token, or NULL. */
static const struct operator_row *binary_operator(const parser *p) {
    if (p->lex.current.kind == TOKEN_SIGN)
        for (size_t i = 0; i < OPERATORS; i++)
            if (operators[i].operands == 2 && operators[i].precedence > 0 && lex_is(&p->lex, operators[i].text))
                return &operators[i];
    return NULL;
}

/* Precedence climbing: operands of operators at least as tight as `least`. */
static status binary(parser *p, int least, body_expr **out) {
    TRY(unary(p, out));
    const struct operator_row *op = NULL;
    while ((op = binary_operator(p)) && op->precedence >= least) {
        body_place at = p->lex.current.at;
        body_expr *operand[2] = {*out, NULL};
        TRY(lex_next(&p->lex));
        TRY(binary(p, op->precedence + 1, &operand[1]));
        TRY(operation(p, op->kind, at, operand, 2, out));
    }
    return OK;
}

status parse_expr(parser *p, body_expr **out) {
    TRY(parse_enter(p));
    TRY(binary(p, LOOSEST, out));
    body_place at = p->lex.current.at;
    bool select = false;
    TRY(lex_accept(&p->lex, "?", &select));
    if (select) {
        body_expr *operand[3] = {*out, NULL, NULL};
        TRY(parse_expr(p, &operand[1]));
        TRY(lex_expect(&p->lex, ":", "of the select"));
        TRY(parse_expr(p, &operand[2]));
        TRY(operation(p, EXPR_SELECT, at, operand, 3, out));
    }
    parse_leave(p);
    return OK;
}

/* ---- constants --------------------------------------------------------------------------------------------------- */

/* The sum, product ... without wrapping around; both operands are of the type. */
static bool fits(body_expr_kind op, body_type type, int64_t a, int64_t b) {
    int64_t r = 0;
    bool ok = true;
    if (op == EXPR_ADD)
        ok = add_i64(a, b, &r);
    else if (op == EXPR_SUB)
        ok = !__builtin_sub_overflow(a, b, &r);
    else if (op == EXPR_MUL)
        ok = mul_i64(a, b, &r);
    else if (op == EXPR_NEG || (op == EXPR_ABS && a < 0) || (op == EXPR_DIV && b == -1))
        ok = !__builtin_sub_overflow(0, a, &r);
    return ok && (type == TYPE_I64 || (r >= INT32_MIN && r <= INT32_MAX));
}

static status evaluate_operation(parser *p, const body_expr *e, body_value *value) {
    body_value operand[2] = {{.type = TYPE_I32}, {.type = TYPE_I32}};
    for (uint32_t i = 0; i < e->args; i++)
        TRY(parse_evaluate(p, e->arg[i], &operand[i]));
    if (!body_apply(e->kind, e->type, operand, value))
        return lex_fail(&p->lex, e->at, "division by zero");
    if (!body_type_is_float(e->type) && !fits(e->kind, e->type, operand[0].integer, operand[1].integer))
        return lex_fail(&p->lex, e->at, "the result does not fit %s", body_type_name(e->type));
    return OK;
}

status parse_evaluate(parser *p, const body_expr *e, body_value *value) {
    *value = (body_value){.type = e->type};
    switch (e->kind) {
    case EXPR_INTEGER:
        value->integer = e->integer;
        return OK;
    case EXPR_REAL:
        *value = body_convert((body_value){.type = TYPE_F64, .real = e->real}, e->type);
        return OK;
    case EXPR_PARAM:
        if (body_type_is_float(e->type))
            value->real = e->param->real;
        else
            value->integer = e->param->integer;
        return OK;
    case EXPR_SELECT: {
        body_value condition;
        TRY(parse_evaluate(p, e->arg[0], &condition));
        TRY(parse_evaluate(p, e->arg[body_is_true(condition) ? 1 : 2], value));
        *value = body_convert(*value, e->type);
        return OK;
    }
    case EXPR_LOAD:
        return lex_fail(&p->lex, e->at, "this must be a constant, and '%s' is an array", e->array->name);
    case EXPR_LOOP:
    case EXPR_LET:
        return lex_fail(&p->lex, e->at, "this must be a constant, and '%s' is not", e->variable->name);
    case EXPR_TID:
    case EXPR_BID:
        return lex_fail(&p->lex, e->at, "this must be a constant, and %s is not", e->kind == EXPR_TID ? "tid" : "bid");
    default:
        return evaluate_operation(p, e, value);
    }
}

status parse_constant(parser *p, body_expr **e, body_value *value) {
    TRY(parse_expr(p, e));
    return parse_evaluate(p, *e, value);
}

status parse_constant_integer(parser *p, const char *what, body_expr **e, int64_t *value) {
    body_value v;
    TRY(parse_constant(p, e, &v));
    if (body_type_is_float(v.type))
        return lex_fail(&p->lex, (*e)->at, "%s must be an integer, and this is %s", what, body_type_name(v.type));
    *value = v.integer;
    return OK;
}

#include "kernel/body_parse.h"

#include "base/num.h"

#include <math.h>
#include <string.h>

/* ---- scopes ------------------------------------------------------------------------------------------------------ */

static const char *kind_of(const symbol *s) {
    static const char *const names[] = {[SYMBOL_PARAM] = "a param",
                                        [SYMBOL_ARRAY] = "an array",
                                        [SYMBOL_LOOP] = "a loop variable",
                                        [SYMBOL_LET] = "a let"};
    return names[s->kind];
}

/* Takes the current token as a new name; it is pending until the caller says otherwise. */
static status declare(parser *p, symbol_kind kind, symbol **out) {
    const token t = p->lex.current;
    if (t.kind != TOKEN_NAME)
        return lex_fail_expected(&p->lex, "a new name");
    if (parse_is_word(t.name))
        return lex_fail(&p->lex, t.at, "'%s' is a word of the language and cannot be a name", t.name->text);
    const symbol *known = t.name->value;
    if (known)
        return lex_fail(&p->lex, t.at, "'%s' is already %s, declared at line %d", t.name->text, kind_of(known),
                        known->at.line);
    symbol *s = arena_alloc(&p->lex.names.memory, sizeof *s);
    if (!s)
        return lex_fail_memory(&p->lex);
    *s = (symbol){.kind = kind, .pending = true, .name = t.name, .at = t.at, .outer = p->newest};
    t.name->value = p->newest = s;
    *out = s;
    return lex_next(&p->lex);
}

/* Forgets what was declared after `mark`. */
static void close_scope(parser *p, symbol *mark) {
    for (; p->newest != mark; p->newest = p->newest->outer)
        p->newest->name->value = NULL;
}

static status copy_name(parser *p, const symbol *s, const char **name) {
    *name = arena_string(&p->b->memory, s->name->text);
    return *name ? OK : lex_fail_memory(&p->lex);
}

/* ---- declarations ------------------------------------------------------------------------------------------------ */

static status type_word(parser *p, body_type *type) {
    static const body_type types[] = {
#define X(id, name, bytes) id,
        BODY_TYPE_LIST(X)
#undef X
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (lex_is(&p->lex, body_type_name(types[i]))) {
            *type = types[i];
            return lex_next(&p->lex);
        }
    return lex_fail_expected(&p->lex, "a type (f16, f32, f64, i32 or i64)");
}

static status add_param(parser *p, symbol *s, body_type type) {
    body *b = p->b;
    void *list = b->param;
    body_param *param = arena_alloc(&b->memory, sizeof *param);
    if (!param || !mem_reserve(&list, &b->param_capacity, b->params + 1, sizeof(body_param *)))
        return lex_fail_memory(&p->lex);
    b->param = list;
    *param = (body_param){.at = s->at, .type = type, .id = b->params};
    TRY(copy_name(p, s, &param->name));
    b->param[b->params++] = s->param = param;
    return OK;
}

static status param_declaration(parser *p) {
    body_place at = p->lex.current.at;
    body_type type;
    symbol *s = NULL;
    body_expr *e = NULL;
    body_value v;
    TRY(type_word(p, &type));
    if (type == TYPE_F16)
        return lex_fail(&p->lex, at, "a param cannot be f16; f16 is a type of arrays only");
    TRY(declare(p, SYMBOL_PARAM, &s));
    TRY(add_param(p, s, type));
    TRY(lex_expect(&p->lex, "=", "and the value of the param"));
    TRY(parse_constant(p, &e, &v));
    for (size_t i = 0; i < p->setting_count; i++)
        if (strcmp(p->settings[i].name, s->param->name) == 0)
            v = (body_value){.type = TYPE_I64, .integer = p->settings[i].value};
    if (!body_type_is_float(type) && body_type_is_float(v.type))
        return lex_fail(&p->lex, e->at, "the value of an %s param must be an integer, and this is %s",
                        body_type_name(type), body_type_name(v.type));
    if (type == TYPE_I32 && (v.integer < INT32_MIN || v.integer > INT32_MAX))
        return lex_fail(&p->lex, e->at, "the value does not fit i32");
    if (type == TYPE_F64 && e->untyped) { /* its digits were for this type */
        parse_adapt(e, TYPE_F64);
        TRY(parse_evaluate(p, e, &v));
    }
    v = body_convert(v, type);
    if (body_type_is_float(type) && !isfinite(v.real))
        return lex_fail(&p->lex, e->at, "the value is not a finite %s", body_type_name(type));
    if (body_type_is_float(type))
        s->param->real = v.real;
    else
        s->param->integer = v.integer;
    s->pending = false;
    return OK;
}

static bool names_param(const body_expr *e) {
    bool found = e->kind == EXPR_PARAM;
    for (uint32_t i = 0; i < e->args && !found; i++)
        found = names_param(e->arg[i]);
    return found;
}

static status extents(parser *p, body_array *a) {
    bool more = false;
    a->estimate = 1;
    TRY(lex_accept(&p->lex, "[", &more));
    while (more) {
        body_place at = p->lex.current.at;
        uint32_t d = a->rank;
        if (d == BODY_RANK_MAX)
            return lex_fail(&p->lex, at, "more than %d dimensions", BODY_RANK_MAX);
        TRY(parse_constant_integer(p, "an extent", &a->extent[d], &a->size[d]));
        if (a->size[d] <= 0)
            return lex_fail(&p->lex, at, "an extent must be positive, and this is %lld", (long long)a->size[d]);
        if (!mul_i64(a->estimate, names_param(a->extent[d]) ? BODY_UNKNOWN_EXTENT : a->size[d], &a->estimate))
            a->estimate = INT64_MAX;
        a->rank++;
        TRY(lex_accept(&p->lex, ",", &more));
        if (!more)
            TRY(lex_expect(&p->lex, "]", "after the extents"));
    }
    return OK;
}

static status row_major(parser *p, body_array *a, body_place at) {
    int64_t stride = 1;
    for (uint32_t d = a->rank; d-- > 0;) {
        a->stride[d] = stride;
        if (!mul_i64(stride, a->size[d], &stride))
            return lex_fail(&p->lex, at, "'%s' has more elements than fit 63 bits", a->name);
    }
    return OK;
}

static status strides(parser *p, body_array *a) {
    TRY(lex_expect(&p->lex, "(", "after strides"));
    for (uint32_t d = 0; d < a->rank; d++) {
        if (d > 0)
            TRY(lex_expect(&p->lex, ",", "and one stride for each dimension"));
        TRY(parse_constant_integer(p, "a stride", &a->stride_text[d], &a->stride[d]));
    }
    return lex_expect(&p->lex, ")", "after one stride for each dimension");
}

/* The elements from the lowest to the highest that a subscript in range reaches. */
static status span(parser *p, body_array *a, body_place at) {
    int64_t lowest = a->offset, highest = lowest, bytes = 0;
    bool fits = true;
    for (uint32_t d = 0; d < a->rank; d++) {
        int64_t reach = 0;
        fits = fits && mul_i64(a->size[d] - 1, a->stride[d], &reach);
        fits = fits && (reach < 0 ? add_i64(lowest, reach, &lowest) : add_i64(highest, reach, &highest));
    }
    fits = fits && add_i64(highest, 1, &a->elements) && mul_i64(a->elements, body_type_bytes(a->type), &bytes);
    if (!fits)
        return lex_fail(&p->lex, at, "'%s' does not fit 63 bits of addresses", a->name);
    if (lowest < 0)
        return lex_fail(&p->lex, at, "the layout of '%s' reaches element %lld, before its first", a->name,
                        (long long)lowest);
    return OK;
}

static status array_declaration(parser *p, ir_space space, body_type type) {
    body *b = p->b;
    body_place at = p->lex.current.at;
    symbol *s = NULL;
    TRY(declare(p, SYMBOL_ARRAY, &s));
    void *list = b->array;
    body_array *a = arena_alloc(&b->memory, sizeof *a);
    if (!a || !mem_reserve(&list, &b->array_capacity, b->arrays + 1, sizeof(body_array *)))
        return lex_fail_memory(&p->lex);
    b->array = list;
    *a = (body_array){.at = at, .type = type, .space = space, .id = b->arrays};
    TRY(copy_name(p, s, &a->name));
    b->array[b->arrays++] = s->array = a;
    bool found = false;
    TRY(extents(p, a));
    TRY(lex_accept(&p->lex, "strides", &found));
    TRY(found ? strides(p, a) : row_major(p, a, at));
    TRY(lex_accept(&p->lex, "offset", &found));
    if (found)
        TRY(parse_constant_integer(p, "an offset", &a->offset_text, &a->offset));
    TRY(span(p, a, at));
    s->pending = false;
    return OK;
}

static status array_declarations(parser *p, ir_space space) {
    body_type type;
    bool more = true;
    TRY(type_word(p, &type));
    while (more) {
        TRY(array_declaration(p, space, type));
        TRY(lex_accept(&p->lex, ",", &more));
    }
    return OK;
}

static status launch(parser *p, const char *word, int64_t size[3], bool *written) {
    body_place at = p->lex.current.at;
    if (*written)
        return lex_fail(&p->lex, at, "the %s are given a second time", word);
    *written = true;
    int64_t product = 1;
    bool more = true;
    TRY(lex_next(&p->lex));
    for (int i = 0; i < 3 && more; i++) {
        body_expr *e = NULL;
        body_place number = p->lex.current.at;
        TRY(parse_constant_integer(p, "a number of blocks or threads", &e, &size[i]));
        if (size[i] <= 0)
            return lex_fail(&p->lex, number, "the number of %s must be positive, and this is %lld", word,
                            (long long)size[i]);
        if (!mul_i64(product, size[i], &product) || product > INT32_MAX)
            return lex_fail(&p->lex, number, "the number of %s does not fit 31 bits", word);
        TRY(lex_accept(&p->lex, ",", &more));
    }
    return more ? lex_fail(&p->lex, p->lex.current.at, "%s have three dimensions at most", word) : OK;
}

/* One declaration if there is one. */
static status declaration(parser *p, bool *found) {
    static const struct {
        const char *word;
        ir_space space;
    } spaces[] = {{"global", SPACE_GLOBAL}, {"shared", SPACE_SHARED}, {"local", SPACE_LOCAL}};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        TRY(lex_accept(&p->lex, spaces[i].word, found));
        if (*found)
            return array_declarations(p, spaces[i].space);
    }
    TRY(lex_accept(&p->lex, "param", found));
    if (*found)
        return param_declaration(p);
    *found = true;
    if (lex_is(&p->lex, "blocks"))
        return launch(p, "blocks", p->b->blocks, &p->b->blocks_written);
    if (lex_is(&p->lex, "threads"))
        return launch(p, "threads", p->b->threads, &p->b->threads_written);
    *found = false;
    return OK;
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

static status statement(parser *p, body_list *list);

static status new_stmt(parser *p, body_stmt_kind kind, body_place at, body_stmt **s) {
    *s = body_new_stmt(p->b, kind, at);
    return *s ? OK : lex_fail_memory(&p->lex);
}

static status semicolons(parser *p) {
    bool found = true;
    while (found)
        TRY(lex_accept(&p->lex, ";", &found));
    return OK;
}

/* "{" ... "}", with a scope of its own. `after`: what it belongs to. */
static status braces(parser *p, const char *after, body_list *list) {
    body_place open = p->lex.current.at;
    symbol *mark = p->newest;
    TRY(lex_expect(&p->lex, "{", after));
    TRY(semicolons(p));
    while (!lex_is(&p->lex, "}")) {
        if (p->lex.current.kind == TOKEN_END)
            return lex_fail(&p->lex, open, "this '{' is never closed");
        TRY(statement(p, list));
    }
    close_scope(p, mark);
    return lex_next(&p->lex);
}

static status loop_number(parser *p, const char *what, body_expr **e, int64_t *value) {
    body_place at = p->lex.current.at;
    TRY(parse_constant_integer(p, what, e, value));
    if (*value < INT32_MIN || *value > INT32_MAX)
        return lex_fail(&p->lex, at, "%s must fit 32 bits, and this is %lld", what, (long long)*value);
    return OK;
}

static status new_variable(parser *p, symbol *s, body_type type, body_stmt *definition) {
    body_variable *v = arena_alloc(&p->b->memory, sizeof *v);
    if (!v)
        return lex_fail_memory(&p->lex);
    *v = (body_variable){.at = s->at, .type = type, .definition = definition, .id = p->b->variables++};
    TRY(copy_name(p, s, &v->name));
    s->variable = v;
    s->pending = false;
    definition->variable = v;
    return OK;
}

static status for_statement(parser *p, body_place at, body_list *list) {
    body_stmt *s = NULL;
    symbol *mark = p->newest, *name = NULL;
    if (p->block)
        return lex_fail(&p->lex, at, "a loop cannot stand in the schedule block '%s'", p->block->name);
    TRY(new_stmt(p, STMT_FOR, at, &s));
    TRY(lex_expect(&p->lex, "(", "after for"));
    TRY(declare(p, SYMBOL_LOOP, &name));
    TRY(lex_expect(&p->lex, ",", "and the start of the loop"));
    TRY(loop_number(p, "the start of a loop", &s->bound[0], &s->start));
    TRY(lex_expect(&p->lex, ",", "and the end of the loop"));
    TRY(loop_number(p, "the end of a loop", &s->bound[1], &s->end));
    s->step = 1;
    bool stepped = false;
    TRY(lex_accept(&p->lex, ",", &stepped));
    body_place step_at = p->lex.current.at;
    if (stepped)
        TRY(loop_number(p, "the step of a loop", &s->bound[2], &s->step));
    if (s->step <= 0)
        return lex_fail(&p->lex, step_at, "the step of a loop must be positive, and this is %lld", (long long)s->step);
    s->trips = s->start < s->end ? ceil_div((uint64_t)(s->end - s->start), (uint64_t)s->step) : 0;
    TRY(lex_expect(&p->lex, ")", "after the bounds of the loop"));
    TRY(new_variable(p, name, TYPE_I32, s));
    TRY(braces(p, "after the head of the loop", &s->body));
    close_scope(p, mark);
    body_append(list, s);
    return OK;
}

static status if_statement(parser *p, body_place at, body_list *list) {
    body_stmt *s = NULL;
    TRY(new_stmt(p, STMT_IF, at, &s));
    TRY(lex_expect(&p->lex, "(", "after if"));
    TRY(parse_expr(p, &s->value));
    TRY(lex_expect(&p->lex, ")", "after the condition"));
    TRY(braces(p, "after the condition", &s->body));
    body_append(list, s);
    bool otherwise = false;
    TRY(lex_accept(&p->lex, "else", &otherwise));
    if (!otherwise)
        return OK;
    return lex_is(&p->lex, "if") ? statement(p, &s->otherwise) : braces(p, "or 'if' after else", &s->otherwise);
}

static status block_statement(parser *p, body_place at, body_list *list) {
    body_stmt *s = NULL;
    if (p->block)
        return lex_fail(&p->lex, at, "a block cannot stand in the schedule block '%s'", p->block->name);
    TRY(new_stmt(p, STMT_BLOCK, at, &s));
    TRY(lex_expect(&p->lex, "(", "after block"));
    if (p->lex.current.kind != TOKEN_NAME)
        return lex_fail_expected(&p->lex, "the name of the block");
    s->name = arena_string(&p->b->memory, p->lex.current.name->text);
    if (!s->name)
        return lex_fail_memory(&p->lex);
    TRY(lex_next(&p->lex));
    TRY(lex_expect(&p->lex, ")", "after the name of the block"));
    body_append(list, s);
    if (body_is_root(s))
        return braces(p, "after the name of the block", &s->body);
    p->block = s;
    p->stores = 0;
    TRY(braces(p, "after the name of the block", &s->body));
    p->block = NULL;
    if (p->stores == 0)
        return lex_fail(&p->lex, at, "the schedule block '%s' stores nothing; it must hold one store", s->name);
    return OK;
}

static status let_statement(parser *p, body_place at, body_list *list) {
    body_stmt *s = NULL;
    symbol *name = NULL;
    TRY(new_stmt(p, STMT_LET, at, &s));
    TRY(declare(p, SYMBOL_LET, &name));
    TRY(lex_expect(&p->lex, "=", "and the value of the let"));
    TRY(parse_expr(p, &s->value));
    TRY(new_variable(p, name, s->value->type, s));
    body_append(list, s);
    return OK;
}

static status store_statement(parser *p, body_place at, body_list *list) {
    symbol *target = NULL;
    body_stmt *s = NULL, *block = NULL;
    TRY(parse_symbol(p, p->lex.current.kind == TOKEN_NAME ? "array" : "statement", &target));
    if (target->kind != SYMBOL_ARRAY)
        return lex_fail(&p->lex, at, "'%s' is %s, and only arrays are stored to", target->name->text, kind_of(target));
    TRY(new_stmt(p, STMT_STORE, at, &s));
    s->array = target->array;
    target->array->stored = true;
    TRY(parse_subscripts(p, s->array, at, &s->subscript));
    TRY(lex_expect(&p->lex, "=", "and the value to store"));
    TRY(parse_expr(p, &s->value));
    parse_adapt(s->value, body_value_type(s->array->type));
    if (p->block) {
        if (p->stores++ > 0)
            return lex_fail(&p->lex, at, "a second store in the schedule block '%s', which must hold one",
                            p->block->name);
        body_append(list, s);
        return OK;
    }
    TRY(new_stmt(p, STMT_BLOCK, at, &block));
    block->name = s->array->name;
    block->implicit = true;
    body_append(&block->body, s);
    body_append(list, block);
    return OK;
}

/* A word that begins a statement, or none. */
static status statement_word(parser *p, body_list *list) {
    static const struct {
        const char *word;
        status (*read)(parser *p, body_place at, body_list *list);
    } words[] = {{"for", for_statement},
                 {"if", if_statement},
                 {"block", block_statement},
                 {"ScheduleBlock", block_statement},
                 {"let", let_statement}};
    body_place at = p->lex.current.at;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        bool found = false;
        TRY(lex_accept(&p->lex, words[i].word, &found));
        if (found)
            return words[i].read(p, at, list);
    }
    bool found = false;
    TRY(declaration(p, &found));
    if (found)
        return lex_fail(&p->lex, at, "a declaration comes before the first statement");
    return store_statement(p, at, list);
}

static status statement(parser *p, body_list *list) {
    TRY(parse_enter(p));
    TRY(statement_word(p, list));
    parse_leave(p);
    return semicolons(p);
}

static status whole_body(parser *p) {
    bool found = true;
    for (int i = 0; i < 3; i++)
        p->b->blocks[i] = p->b->threads[i] = 1;
    while (found) {
        TRY(semicolons(p));
        TRY(declaration(p, &found));
    }
    while (p->lex.current.kind != TOKEN_END) {
        if (lex_is(&p->lex, "}"))
            return lex_fail(&p->lex, p->lex.current.at, "this '}' closes nothing");
        TRY(statement(p, &p->b->list));
    }
    return OK;
}

/* Every setting was for a param. */
static status check_settings(const char *file, const parser *p, message *m) {
    for (size_t i = 0; i < p->setting_count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < p->b->params; k++)
            found = found || (strcmp(p->b->param[k]->name, p->settings[i].name) == 0 &&
                              !body_type_is_float(p->b->param[k]->type));
        if (!found)
            return fail(m, ERR_INPUT, "%s: the body has no integer param '%s'", file, p->settings[i].name);
    }
    return OK;
}

status body_parse(const char *file, const char *text, size_t length, body *b, message *m) {
    return body_parse_with(file, text, length, NULL, 0, b, m);
}

status body_parse_with(const char *file, const char *text, size_t length, const body_setting *settings, size_t count,
                       body *b, message *m) {
    *b = (body){0};
    parser p = {.b = b, .settings = settings, .setting_count = count};
    status st = lex_open(&p.lex, file, text, length, m);
    if (st == OK)
        st = whole_body(&p);
    if (st == OK)
        st = check_settings(file, &p, m);
    intern_free(&p.lex.names);
    if (st != OK)
        body_free(b);
    return st;
}

/* A deep copy: params first, then arrays, then statements, so that what a node refers to is there already. */
#include "kernel/body.h"

#include <string.h>

typedef struct copier {
    const body *from;
    body *to;
    body_variable **variable; /* by id */
    bool failed;
} copier;

static void *take(copier *c, size_t size) {
    void *p = c->failed ? NULL : arena_alloc(&c->to->memory, size);
    c->failed = !p;
    return p;
}

static const char *copy_name(copier *c, const char *name) {
    size_t size = strlen(name) + 1;
    char *text = take(c, size);
    return text ? memcpy(text, name, size) : NULL;
}

static body_expr *copy_expr(copier *c, const body_expr *e);

static body_expr **copy_exprs(copier *c, body_expr *const *e, uint32_t count) {
    body_expr **list = count ? take(c, count * sizeof(body_expr *)) : NULL;
    for (uint32_t i = 0; list && i < count; i++)
        list[i] = copy_expr(c, e[i]);
    return list;
}

static body_expr *copy_expr(copier *c, const body_expr *e) {
    body_expr *copy = e ? take(c, sizeof *copy) : NULL;
    if (!copy)
        return NULL;
    *copy = *e;
    copy->arg = copy_exprs(c, e->arg, e->args);
    if (e->kind == EXPR_PARAM)
        copy->param = c->to->param[e->param->id];
    else if (e->kind == EXPR_LOAD)
        copy->array = c->to->array[e->array->id];
    else if (e->kind == EXPR_LOOP || e->kind == EXPR_LET)
        copy->variable = c->variable[e->variable->id];
    return copy;
}

static const body_variable *copy_variable(copier *c, const body_variable *v, const body_stmt *definition) {
    body_variable *copy = take(c, sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *v;
    copy->name = copy_name(c, v->name);
    copy->definition = definition;
    return c->variable[v->id] = copy;
}

static void copy_list(copier *c, const body_list *from, body_list *to);

static body_stmt *copy_stmt(copier *c, const body_stmt *s) {
    body_stmt *copy = take(c, sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *s;
    copy->next = NULL;
    copy->name = s->name ? copy_name(c, s->name) : NULL;
    copy->value = copy_expr(c, s->value); /* before a let's own variable, which it cannot name */
    for (int i = 0; i < 3; i++)
        copy->bound[i] = copy_expr(c, s->bound[i]);
    if (s->array) {
        copy->array = c->to->array[s->array->id];
        copy->subscript = copy_exprs(c, s->subscript, s->array->rank);
    }
    if (s->variable)
        copy->variable = copy_variable(c, s->variable, copy);
    copy_list(c, &s->body, &copy->body);
    copy_list(c, &s->otherwise, &copy->otherwise);
    return copy;
}

static void copy_list(copier *c, const body_list *from, body_list *to) {
    *to = (body_list){0};
    for (const body_stmt *s = from->first; s && !c->failed; s = s->next) {
        body_stmt *copy = copy_stmt(c, s);
        if (copy)
            body_append(to, copy);
    }
}

static void copy_param(copier *c, uint32_t id) {
    body_param *copy = take(c, sizeof *copy);
    if (!copy)
        return;
    *copy = *c->from->param[id];
    copy->name = copy_name(c, copy->name);
    c->to->param[id] = copy;
}

static void copy_array(copier *c, uint32_t id) {
    body_array *copy = take(c, sizeof *copy);
    if (!copy)
        return;
    *copy = *c->from->array[id];
    copy->name = copy_name(c, copy->name);
    for (uint32_t d = 0; d < copy->rank; d++) {
        copy->extent[d] = copy_expr(c, copy->extent[d]);
        copy->stride_text[d] = copy_expr(c, copy->stride_text[d]);
    }
    copy->offset_text = copy_expr(c, copy->offset_text);
    c->to->array[id] = copy;
}

status body_copy(const body *from, body *to, message *m) {
    *to = *from;
    to->memory = (arena){0};
    to->param_capacity = from->params;
    to->array_capacity = from->arrays;
    to->param = mem_zero(from->params, sizeof(body_param *));
    to->array = mem_zero(from->arrays, sizeof(body_array *));
    copier c = {.from = from, .to = to, .variable = mem_zero(from->variables, sizeof(body_variable *))};
    c.failed = !to->param || !to->array || !c.variable;
    for (uint32_t i = 0; i < from->params && !c.failed; i++)
        copy_param(&c, i);
    for (uint32_t i = 0; i < from->arrays && !c.failed; i++)
        copy_array(&c, i);
    copy_list(&c, &from->list, &to->list);
    mem_free(c.variable);
    if (!c.failed)
        return OK;
    body_free(to);
    return fail(m, ERR_MEMORY, "not enough memory to copy the loop body");
}

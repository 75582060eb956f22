#include "kernel/body.h"

#include <string.h>

const char *body_type_name(body_type t) {
    static const char *const names[] = {
#define X(id, name, bytes) [id] = name,
        BODY_TYPE_LIST(X)
#undef X
    };
    return names[t];
}

uint32_t body_type_bytes(body_type t) {
    static const uint32_t sizes[] = {
#define X(id, name, bytes) [id] = bytes,
        BODY_TYPE_LIST(X)
#undef X
    };
    return sizes[t];
}

const char *body_operator_text(body_expr_kind k) {
    static const char *const texts[] = {
#define X(id, text, operands, precedence) [id] = text,
        BODY_OPERATOR_LIST(X)
#undef X
    };
    return texts[k];
}

bool body_is_root(const body_stmt *block) {
    return strncmp(block->name, "root", 4) == 0;
}

void body_free(body *b) {
    arena_free(&b->memory);
    mem_free(b->param);
    mem_free(b->array);
    *b = (body){0};
}

body_expr *body_new_expr(body *b, body_expr_kind kind, body_type type, uint32_t args, body_place at) {
    body_expr *e = arena_alloc(&b->memory, sizeof *e);
    if (!e)
        return NULL;
    *e = (body_expr){.kind = kind, .type = type, .at = at, .height = 1, .args = args};
    if (args) {
        e->arg = arena_alloc(&b->memory, args * sizeof(body_expr *));
        if (!e->arg)
            return NULL;
    }
    return e;
}

body_stmt *body_new_stmt(body *b, body_stmt_kind kind, body_place at) {
    body_stmt *s = arena_alloc(&b->memory, sizeof *s);
    if (s)
        *s = (body_stmt){.kind = kind, .at = at};
    return s;
}

void body_append(body_list *list, body_stmt *s) {
    if (list->last)
        list->last->next = s;
    else
        list->first = s;
    list->last = s;
    list->count++;
}

#include "kernel/body_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *body_real_text(char text[REAL_TEXT_MAX], double value, bool f32) {
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, REAL_TEXT_MAX, "%.*g", digits, value);
        if (f32 ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)
            break;
    }
    size_t length = strlen(text);
    if (!strpbrk(text, ".e"))
        snprintf(text + length, REAL_TEXT_MAX - length, ".0");
    return text;
}

int body_precedence(const body_expr *e) {
    static const int precedences[] = {
#define X(id, text, operands, precedence) [id] = precedence,
        BODY_OPERATOR_LIST(X)
#undef X
    };
    bool operation = e->kind < EXPR_INTEGER && precedences[e->kind] > 0;
    return operation ? precedences[e->kind] : TIGHTEST;
}

void body_indent(textbuf *out, int depth) {
    textbuf_printf(out, "%*s", 4 * depth, "");
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

static void print_operand(textbuf *out, const body_expr *e, int least) {
    bool parentheses = body_precedence(e) < least;
    textbuf_put(out, parentheses ? "(" : "");
    body_print_expr(out, e);
    textbuf_put(out, parentheses ? ")" : "");
}

static void print_operation(textbuf *out, const body_expr *e) {
    const char *text = body_operator_text(e->kind);
    int precedence = body_precedence(e);
    if (precedence == TIGHTEST) {
        textbuf_printf(out, "%s(", text);
        for (uint32_t i = 0; i < e->args; i++) {
            textbuf_put(out, i ? ", " : "");
            body_print_expr(out, e->arg[i]);
        }
        textbuf_put(out, ")");
    } else if (e->kind == EXPR_SELECT) {
        print_operand(out, e->arg[0], precedence + 1);
        textbuf_put(out, " ? ");
        body_print_expr(out, e->arg[1]);
        textbuf_put(out, " : ");
        body_print_expr(out, e->arg[2]);
    } else if (e->args == 1) {
        textbuf_put(out, text);
        print_operand(out, e->arg[0], e->arg[0]->kind == e->kind ? TIGHTEST : precedence); /* -(-x) */
    } else {
        print_operand(out, e->arg[0], precedence);
        textbuf_printf(out, " %s ", text);
        print_operand(out, e->arg[1], precedence + 1);
    }
}

void body_print_access(textbuf *out, const body_array *array, body_expr *const *subscript) {
    textbuf_put(out, array->name);
    for (uint32_t d = 0; d < array->rank; d++) {
        textbuf_put(out, d ? ", " : "[");
        body_print_expr(out, subscript[d]);
    }
    textbuf_put(out, array->rank ? "]" : "");
}

void body_print_expr(textbuf *out, const body_expr *e) {
    static const char *const axes[] = {"", ".x", ".y", ".z"};
    char text[REAL_TEXT_MAX];
    switch (e->kind) {
    case EXPR_INTEGER:
        textbuf_printf(out, "%" PRId64, e->integer);
        break;
    case EXPR_REAL:
        textbuf_printf(out, "%s%s", body_real_text(text, e->real, e->suffixed), e->suffixed ? "f" : "");
        break;
    case EXPR_PARAM:
        textbuf_put(out, e->param->name);
        break;
    case EXPR_LOOP:
    case EXPR_LET:
        textbuf_put(out, e->variable->name);
        break;
    case EXPR_TID:
    case EXPR_BID:
        textbuf_printf(out, "%s%s", e->kind == EXPR_TID ? "tid" : "bid", axes[e->axis]);
        break;
    case EXPR_LOAD:
        body_print_access(out, e->array, e->arg);
        break;
    default:
        print_operation(out, e);
        break;
    }
}

/* ---- declarations ------------------------------------------------------------------------------------------------ */

static void print_param(textbuf *out, const body_param *p) {
    char text[REAL_TEXT_MAX];
    textbuf_printf(out, "param %s %s = ", body_type_name(p->type), p->name);
    if (body_type_is_float(p->type))
        textbuf_printf(out, "%s%s\n", body_real_text(text, p->real, p->type == TYPE_F32),
                       p->type == TYPE_F32 ? "f" : "");
    else if (p->integer == INT64_MIN) /* its digits alone are too large for a literal */
        textbuf_printf(out, "-%" PRId64 " - 1\n", INT64_MAX);
    else
        textbuf_printf(out, "%" PRId64 "\n", p->integer);
}

static void print_list_of(textbuf *out, const char *open, body_expr *const *e, uint32_t count, const char *close) {
    for (uint32_t i = 0; i < count; i++) {
        textbuf_put(out, i ? ", " : open);
        body_print_expr(out, e[i]);
    }
    textbuf_put(out, count ? close : "");
}

static void print_array(textbuf *out, const body_array *a) {
    static const char *const spaces[] = {[SPACE_GLOBAL] = "global", [SPACE_SHARED] = "shared", [SPACE_LOCAL] = "local"};
    textbuf_printf(out, "%s %s %s", spaces[a->space], body_type_name(a->type), a->name);
    print_list_of(out, "[", a->extent, a->rank, "]");
    if (a->stride_text[0])
        print_list_of(out, " strides (", a->stride_text, a->rank, ")");
    if (a->offset_text) {
        textbuf_put(out, " offset ");
        body_print_expr(out, a->offset_text);
    }
    textbuf_put(out, "\n");
}

static void print_launch(textbuf *out, const char *word, const int64_t size[3], bool written) {
    int dimensions = size[2] > 1 ? 3 : size[1] > 1 ? 2 : 1;
    for (int i = 0; i < dimensions && written; i++)
        textbuf_printf(out, "%s %" PRId64, i ? "," : word, size[i]);
    textbuf_put(out, written ? "\n" : "");
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

static void print_list(textbuf *out, const body_list *list, int depth);

static void print_if(textbuf *out, const body_stmt *s, int depth) {
    textbuf_put(out, "if (");
    body_print_expr(out, s->value);
    textbuf_put(out, ") {\n");
    print_list(out, &s->body, depth + 1);
    body_indent(out, depth);
    textbuf_put(out, "}");
    const body_list *otherwise = &s->otherwise;
    if (otherwise->count == 1 && otherwise->first->kind == STMT_IF) {
        textbuf_put(out, " else ");
        print_if(out, otherwise->first, depth);
        return;
    }
    if (otherwise->count) {
        textbuf_put(out, " else {\n");
        print_list(out, otherwise, depth + 1);
        body_indent(out, depth);
        textbuf_put(out, "}");
    }
    textbuf_put(out, "\n");
}

static void print_braces(textbuf *out, const body_list *list, int depth) {
    textbuf_put(out, ") {\n");
    print_list(out, list, depth + 1);
    body_indent(out, depth);
    textbuf_put(out, "}\n");
}

static void print_statement(textbuf *out, const body_stmt *s, int depth) {
    if (s->kind == STMT_BLOCK && s->implicit) {
        print_list(out, &s->body, depth);
        return;
    }
    body_indent(out, depth);
    switch (s->kind) {
    case STMT_STORE:
        body_print_access(out, s->array, s->subscript);
        textbuf_put(out, " = ");
        body_print_expr(out, s->value);
        textbuf_put(out, "\n");
        break;
    case STMT_LET:
        textbuf_printf(out, "let %s = ", s->variable->name);
        body_print_expr(out, s->value);
        textbuf_put(out, "\n");
        break;
    case STMT_IF:
        print_if(out, s, depth);
        break;
    case STMT_FOR:
        textbuf_printf(out, "for (%s", s->variable->name);
        print_list_of(out, ", ", s->bound, s->bound[2] ? 3 : 2, "");
        print_braces(out, &s->body, depth);
        break;
    case STMT_BLOCK:
        textbuf_printf(out, "block(%s", s->name);
        print_braces(out, &s->body, depth);
        break;
    }
}

static void print_list(textbuf *out, const body_list *list, int depth) {
    for (const body_stmt *s = list->first; s; s = s->next)
        print_statement(out, s, depth);
}

void body_print(textbuf *out, const body *b) {
    for (uint32_t i = 0; i < b->params; i++)
        print_param(out, b->param[i]);
    for (uint32_t i = 0; i < b->arrays; i++)
        print_array(out, b->array[i]);
    print_launch(out, "blocks", b->blocks, b->blocks_written);
    print_launch(out, "threads", b->threads, b->threads_written);
    print_list(out, &b->list, 0);
}

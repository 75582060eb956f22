/* Loop bodies as C and as CUDA. The two differ in how a thread finds itself, in f16, and in a few names. */
#include "kernel/body_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct emitter {
    textbuf *out;
    const body *b;
    bool cuda;
} emitter;

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* What a variable cannot be called: keywords of C11 and C++17, CUDA's variables, macros, and the functions that the
 * text calls. (Our own words cannot be names anyway.) */
static const char *const reserved[] = {
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "blockDim",
    "blockIdx",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "compl",
    "const",
    "const_cast",
    "constexpr",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "enum",
    "explicit",
    "export",
    "extern",
    "fabs",
    "fabsf",
    "false",
    "float",
    "fmax",
    "fmaxf",
    "fmin",
    "fminf",
    "expf",
    "friend",
    "goto",
    "gridDim",
    "half",
    "inline",
    "int",
    "int32_t",
    "int64_t",
    "logf",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "restrict",
    "return",
    "rsqrtf",
    "short",
    "signed",
    "sizeof",
    "sqrtf",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "threadIdx",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "warpSize",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
    "INFINITY",
    "NAN",
    "NULL",
    "HUGE_VAL",
    "INT32_C",
    "INT64_C",
    "linux",
    "unix",
};

/* A reserved word gets an underscore more than it had, and so do names like the helpers'; a name that begins with an
 * underscore, which is the compiler's, gets a v in front, and one like the result a further v. So no two become one. */
static void put_name(const emitter *e, const char *name) {
    size_t length = strlen(name);
    while (length > 0 && name[length - 1] == '_')
        length--;
    bool taken = strncmp(name, "body_", 5) == 0;
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved && !taken; i++)
        taken = strlen(reserved[i]) == length && memcmp(reserved[i], name, length) == 0;
    bool prefixed = name[strspn(name, "v")] == '_';
    textbuf_printf(e->out, "%s%s%s", prefixed ? "v" : "", name, taken ? "_" : "");
}

static const char *type_name(const emitter *e, body_type t) {
    switch (t) {
    case TYPE_I32:
        return "int32_t";
    case TYPE_I64:
        return "int64_t";
    case TYPE_F16:
        return e->cuda ? "__half" : "_Float16";
    case TYPE_F32:
        return "float";
    case TYPE_F64:
        break;
    }
    return "double";
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

static void put_expr(const emitter *e, const body_expr *x);

static void put_operand(const emitter *e, const body_expr *x, int least) {
    bool parentheses = body_precedence(x) < least;
    textbuf_put(e->out, parentheses ? "(" : "");
    put_expr(e, x);
    textbuf_put(e->out, parentheses ? ")" : "");
}

static void put_real(const emitter *e, double value, body_type type) {
    char text[REAL_TEXT_MAX];
    bool f32 = type == TYPE_F32;
    textbuf_printf(e->out, "%s%s", body_real_text(text, f32 ? (double)(float)value : value, f32), f32 ? "f" : "");
}

enum { MULTIPLIED = 7, ADDED = 6 }; /* precedences */

/* Row-major: ((i) * size + j) * size + k. The first subscript decides how wide the rest is computed. */
static void put_row_major(const emitter *e, const body_array *a, body_expr *const *subscript) {
    bool wide = a->elements > INT32_MAX;
    for (uint32_t d = 2; d < a->rank; d++)
        textbuf_put(e->out, "(");
    textbuf_put(e->out, wide ? "(int64_t)" : "");
    put_operand(e, subscript[0], wide ? TIGHTEST : a->rank > 1 ? MULTIPLIED : ADDED);
    for (uint32_t d = 1; d < a->rank; d++) {
        textbuf_put(e->out, " * ");
        put_operand(e, a->extent[d], MULTIPLIED + 1);
        textbuf_put(e->out, " + ");
        put_operand(e, subscript[d], ADDED);
        textbuf_put(e->out, d + 1 < a->rank ? ")" : "");
    }
}

static void put_strided(const emitter *e, const body_array *a, body_expr *const *subscript) {
    for (uint32_t d = 0; d < a->rank; d++) {
        bool wide = a->elements > INT32_MAX;
        textbuf_printf(e->out, "%s%s", d ? " + " : "", wide ? "(int64_t)" : "");
        put_operand(e, subscript[d], wide ? TIGHTEST : MULTIPLIED);
        textbuf_put(e->out, " * ");
        put_operand(e, a->stride_text[d], MULTIPLIED + 1);
    }
}

static void put_element(const emitter *e, const body_array *a, body_expr *const *subscript) {
    put_name(e, a->name);
    bool index = a->rank > 0 || a->offset_text;
    if (!index && a->space == SPACE_LOCAL) /* a variable */
        return;
    textbuf_put(e->out, "[");
    if (a->rank > 0 && a->stride_text[0])
        put_strided(e, a, subscript);
    else if (a->rank > 0)
        put_row_major(e, a, subscript);
    if (a->offset_text) {
        textbuf_put(e->out, a->rank ? " + " : "");
        put_operand(e, a->offset_text, ADDED);
    }
    textbuf_put(e->out, index ? "]" : "0]");
}

static void put_call(const emitter *e, const body_expr *x) {
    bool f32 = x->type == TYPE_F32, real = body_type_is_float(x->type);
    static const char *const real_names[] = {
        [EXPR_MIN] = "fmin",  [EXPR_MAX] = "fmax",    [EXPR_EXP] = "exp", [EXPR_LOG] = "log",
        [EXPR_SQRT] = "sqrt", [EXPR_RSQRT] = "rsqrt", [EXPR_ABS] = "fabs"};
    if (x->kind == EXPR_RSQRT && !e->cuda)
        textbuf_printf(e->out, f32 ? "(1.0f / sqrtf(" : "(1.0 / sqrt(");
    else if (real)
        textbuf_printf(e->out, "%s%s(", real_names[x->kind], f32 ? "f" : "");
    else
        textbuf_printf(e->out, "body_%s_%s(", body_operator_text(x->kind), body_type_name(x->type));
    for (uint32_t i = 0; i < x->args; i++) {
        textbuf_put(e->out, i ? ", " : "");
        put_expr(e, x->arg[i]);
    }
    textbuf_put(e->out, x->kind == EXPR_RSQRT && !e->cuda ? "))" : ")");
}

static bool compares(body_expr_kind k) {
    return k >= EXPR_EQ && k <= EXPR_GE;
}

/* Compilers warn of operators that people mix up; those get parentheses, though the precedence is C's. */
static int least_of(const body_expr *x, const body_expr *operand, int otherwise) {
    bool mixed = (x->kind == EXPR_OR && operand->kind == EXPR_AND) ||
                 (compares(x->kind) && (compares(operand->kind) || operand->kind == EXPR_NOT));
    return mixed ? TIGHTEST : otherwise;
}

static void put_operation(const emitter *e, const body_expr *x) {
    int precedence = body_precedence(x);
    if (precedence == TIGHTEST) {
        put_call(e, x);
    } else if (x->kind == EXPR_SELECT) {
        put_operand(e, x->arg[0], precedence + 1);
        textbuf_put(e->out, " ? ");
        put_operand(e, x->arg[1], precedence + 1);
        textbuf_put(e->out, " : ");
        put_expr(e, x->arg[2]);
    } else if (x->args == 1) {
        textbuf_put(e->out, body_operator_text(x->kind));
        put_operand(e, x->arg[0], x->arg[0]->kind == x->kind ? TIGHTEST : precedence); /* not "--x" */
    } else {
        put_operand(e, x->arg[0], least_of(x, x->arg[0], precedence));
        textbuf_printf(e->out, " %s ", body_operator_text(x->kind));
        put_operand(e, x->arg[1], least_of(x, x->arg[1], precedence + 1));
    }
}

static void put_place(const emitter *e, bool thread, body_axis axis) {
    const char *name = thread ? "tid" : "bid";
    static const char *const letters[] = {[AXIS_X] = "x", [AXIS_Y] = "y", [AXIS_Z] = "z"};
    const int64_t *size = thread ? e->b->threads : e->b->blocks;
    if (axis == AXIS_FLAT)
        textbuf_put(e->out, name);
    else if (e->cuda)
        textbuf_printf(e->out, "(int32_t)%sIdx.%s", thread ? "thread" : "block", letters[axis]);
    else if (axis == AXIS_X)
        textbuf_printf(e->out, "(%s %% %" PRId64 ")", name, size[0]);
    else if (axis == AXIS_Y)
        textbuf_printf(e->out, "(%s / %" PRId64 " %% %" PRId64 ")", name, size[0], size[1]);
    else
        textbuf_printf(e->out, "(%s / %" PRId64 ")", name, size[0] * size[1]);
}

static void put_expr(const emitter *e, const body_expr *x) {
    switch (x->kind) {
    case EXPR_INTEGER:
        textbuf_printf(e->out, "%" PRId64 "%s", x->integer, x->type == TYPE_I64 ? "LL" : "");
        break;
    case EXPR_REAL:
        put_real(e, x->real, x->type);
        break;
    case EXPR_PARAM:
        put_name(e, x->param->name);
        break;
    case EXPR_LOOP:
    case EXPR_LET:
        put_name(e, x->variable->name);
        break;
    case EXPR_TID:
    case EXPR_BID:
        put_place(e, x->kind == EXPR_TID, x->axis);
        break;
    case EXPR_LOAD:
        if (x->array->type == TYPE_F16)
            textbuf_put(e->out, e->cuda ? "__half2float(" : "(float)");
        put_element(e, x->array, x->arg);
        textbuf_put(e->out, x->array->type == TYPE_F16 && e->cuda ? ")" : "");
        break;
    default:
        put_operation(e, x);
        break;
    }
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

static void put_list(const emitter *e, const body_list *list, int depth);

static void put_store(const emitter *e, const body_stmt *s) {
    put_element(e, s->array, s->subscript);
    textbuf_put(e->out, " = ");
    bool half = e->cuda && s->array->type == TYPE_F16;
    if (half)
        textbuf_put(e->out, s->value->type == TYPE_F64 ? "__double2half(" : "__float2half(");
    put_expr(e, s->value);
    textbuf_put(e->out, half ? ");\n" : ";\n");
}

static void put_for(const emitter *e, const body_stmt *s, int depth) {
    textbuf_put(e->out, "for (int32_t ");
    put_name(e, s->variable->name);
    textbuf_put(e->out, " = ");
    put_expr(e, s->bound[0]);
    textbuf_put(e->out, "; ");
    put_name(e, s->variable->name);
    textbuf_put(e->out, " < ");
    put_operand(e, s->bound[1], ADDED);
    textbuf_put(e->out, "; ");
    put_name(e, s->variable->name);
    textbuf_put(e->out, s->bound[2] ? " += " : "++");
    if (s->bound[2])
        put_expr(e, s->bound[2]);
    textbuf_put(e->out, ") {\n");
    put_list(e, &s->body, depth + 1);
    body_indent(e->out, depth);
    textbuf_put(e->out, "}\n");
}

static void put_if(const emitter *e, const body_stmt *s, int depth) {
    textbuf_put(e->out, "if (");
    put_expr(e, s->value);
    textbuf_put(e->out, ") {\n");
    put_list(e, &s->body, depth + 1);
    body_indent(e->out, depth);
    textbuf_put(e->out, "}");
    if (s->otherwise.count) {
        textbuf_put(e->out, " else {\n");
        put_list(e, &s->otherwise, depth + 1);
        body_indent(e->out, depth);
        textbuf_put(e->out, "}");
    }
    textbuf_put(e->out, "\n");
}

static void put_statement(const emitter *e, const body_stmt *s, int depth) {
    if (s->kind == STMT_BLOCK && s->implicit) {
        put_list(e, &s->body, depth);
        return;
    }
    body_indent(e->out, depth);
    switch (s->kind) {
    case STMT_STORE:
        put_store(e, s);
        break;
    case STMT_LET:
        textbuf_printf(e->out, "const %s ", type_name(e, s->variable->type));
        put_name(e, s->variable->name);
        textbuf_put(e->out, " = ");
        put_expr(e, s->value);
        textbuf_put(e->out, ";\n");
        break;
    case STMT_IF:
        put_if(e, s, depth);
        break;
    case STMT_FOR:
        put_for(e, s, depth);
        break;
    case STMT_BLOCK:
        textbuf_printf(e->out, "{ /* %s */\n", s->name);
        put_list(e, &s->body, depth + 1);
        body_indent(e->out, depth);
        textbuf_put(e->out, "}\n");
        break;
    }
}

static void put_list(const emitter *e, const body_list *list, int depth) {
    for (const body_stmt *s = list->first; s; s = s->next)
        put_statement(e, s, depth);
}

/* ---- the function around them ------------------------------------------------------------------------------------ */

static void put_signature(const emitter *e, const char *function) {
    const body *b = e->b;
    textbuf_printf(e->out, "%svoid %s(", e->cuda ? "__global__ " : "", function);
    const char *between = "";
    for (uint32_t i = 0; i < b->arrays; i++) {
        const body_array *a = b->array[i];
        if (a->space != SPACE_GLOBAL)
            continue;
        textbuf_printf(e->out, "%s%s%s *%s ", between, a->stored ? "" : "const ", type_name(e, a->type),
                       e->cuda ? "__restrict__" : "restrict");
        put_name(e, a->name);
        between = ", ";
    }
    for (uint32_t i = 0; i < b->params; i++) {
        textbuf_printf(e->out, "%s%s ", between, type_name(e, b->param[i]->type));
        put_name(e, b->param[i]->name);
        between = ", ";
    }
    textbuf_put(e->out, *between ? ") {\n" : "void) {\n");
}

/* Shared or local arrays; in C they begin as zeros where they are declared. */
static void put_arrays(const emitter *e, ir_space space, int depth) {
    for (uint32_t i = 0; i < e->b->arrays; i++) {
        const body_array *a = e->b->array[i];
        if (a->space != space)
            continue;
        body_indent(e->out, depth);
        bool shared = e->cuda && space == SPACE_SHARED;
        textbuf_printf(e->out, "%s%s ", shared ? "__shared__ " : "", type_name(e, a->type));
        put_name(e, a->name);
        if (a->rank == 0 && !a->offset_text && space == SPACE_LOCAL)
            textbuf_put(e->out, e->cuda && a->type == TYPE_F16 ? " = __float2half(0.0f);\n" : " = 0;\n");
        else
            textbuf_printf(e->out, "[%" PRId64 "]%s;\n", a->elements, shared ? "" : e->cuda ? " = {}" : " = {0}");
    }
}

/* CUDA leaves shared memory as it was. */
static void clear_shared(const emitter *e) {
    const body *b = e->b;
    bool any = false;
    for (uint32_t i = 0; i < b->arrays; i++) {
        const body_array *a = b->array[i];
        if (a->space != SPACE_SHARED)
            continue;
        any = true;
        textbuf_printf(e->out, "    for (int64_t body_i = tid; body_i < %" PRId64 "; body_i += %" PRId64 ")\n        ",
                       a->elements, b->threads[0] * b->threads[1] * b->threads[2]);
        put_name(e, a->name);
        textbuf_put(e->out, a->type == TYPE_F16 ? "[body_i] = __float2half(0.0f);\n" : "[body_i] = 0;\n");
    }
    textbuf_put(e->out, any ? "    __syncthreads();\n" : "");
}

static bool uses_integer(const body_expr *x, body_expr_kind kind, body_type type) {
    bool found = x->kind == kind && x->type == type;
    for (uint32_t i = 0; i < x->args && !found; i++)
        found = uses_integer(x->arg[i], kind, type);
    return found;
}

static bool list_uses(const body_list *list, body_expr_kind kind, body_type type) {
    bool found = false;
    for (const body_stmt *s = list->first; s && !found; s = s->next) {
        found = s->value && uses_integer(s->value, kind, type);
        for (uint32_t i = 0; s->kind == STMT_STORE && i < s->array->rank && !found; i++)
            found = uses_integer(s->subscript[i], kind, type);
        for (int i = 0; i < 3 && !found; i++)
            found = s->bound[i] && uses_integer(s->bound[i], kind, type);
        found = found || list_uses(&s->body, kind, type) || list_uses(&s->otherwise, kind, type);
    }
    return found;
}

/* An extent, a stride or an offset, which subscripts turn into. */
static bool layouts_use(const body *b, body_expr_kind kind, body_type type) {
    bool found = false;
    for (uint32_t i = 0; i < b->arrays && !found; i++) {
        const body_array *a = b->array[i];
        for (uint32_t d = 0; d < a->rank && !found; d++)
            found = uses_integer(a->extent[d], kind, type) ||
                    (a->stride_text[d] && uses_integer(a->stride_text[d], kind, type));
        found = found || (a->offset_text && uses_integer(a->offset_text, kind, type));
    }
    return found;
}

/* C has no functions for integers that evaluate their arguments once. */
static void put_helpers(const emitter *e) {
    static const body_expr_kind kinds[] = {EXPR_MIN, EXPR_MAX, EXPR_ABS};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (body_type t = TYPE_I32; t <= TYPE_I64; t++) {
            if (!list_uses(&e->b->list, kinds[i], t) && !layouts_use(e->b, kinds[i], t))
                continue;
            const char *type = type_name(e, t);
            textbuf_printf(e->out, "static %sinline %s body_%s_%s(", e->cuda ? "__device__ " : "", type,
                           body_operator_text(kinds[i]), body_type_name(t));
            if (kinds[i] == EXPR_ABS)
                textbuf_printf(e->out, "%s a) {\n    return a < 0 ? -a : a;\n}\n\n", type);
            else
                textbuf_printf(e->out, "%s a, %s b) {\n    return a %c b ? a : b;\n}\n\n", type, type,
                               kinds[i] == EXPR_MIN ? '<' : '>');
        }
}

void body_emit_c(textbuf *out, const body *b, const char *function) {
    emitter e = {.out = out, .b = b};
    textbuf_put(out, "#include <math.h>\n#include <stdint.h>\n\n");
    put_helpers(&e);
    put_signature(&e, function);
    textbuf_printf(out, "    for (int32_t bid = 0; bid < %" PRId64 "; bid++) {\n",
                   b->blocks[0] * b->blocks[1] * b->blocks[2]);
    put_arrays(&e, SPACE_SHARED, 2);
    textbuf_printf(out, "        for (int32_t tid = 0; tid < %" PRId64 "; tid++) {\n",
                   b->threads[0] * b->threads[1] * b->threads[2]);
    put_arrays(&e, SPACE_LOCAL, 3);
    put_list(&e, &b->list, 3);
    textbuf_put(out, "        }\n    }\n}\n");
}

void body_emit_cuda(textbuf *out, const body *b, const char *function) {
    emitter e = {.out = out, .b = b, .cuda = true};
    bool half = false;
    for (uint32_t i = 0; i < b->arrays; i++)
        half = half || b->array[i]->type == TYPE_F16;
    textbuf_put(out, half ? "#include <cuda_fp16.h>\n#include <stdint.h>\n\n" : "#include <stdint.h>\n\n");
    put_helpers(&e);
    textbuf_printf(
        out, "/* <<<dim3(%" PRId64 ", %" PRId64 ", %" PRId64 "), dim3(%" PRId64 ", %" PRId64 ", %" PRId64 ")>>> */\n",
        b->blocks[0], b->blocks[1], b->blocks[2], b->threads[0], b->threads[1], b->threads[2]);
    put_signature(&e, function);
    static const char *const flat[][2] = {{"bid", "block"}, {"tid", "thread"}};
    for (int i = 0; i < 2; i++) {
        const char *size = i ? "blockDim" : "gridDim", *index = flat[i][1];
        textbuf_printf(out, "    const int32_t %s = (int32_t)(%sIdx.x + %s.x * (%sIdx.y + %s.y * %sIdx.z));\n",
                       flat[i][0], index, size, index, size, index);
    }
    put_arrays(&e, SPACE_SHARED, 1);
    clear_shared(&e);
    put_arrays(&e, SPACE_LOCAL, 1);
    put_list(&e, &b->list, 1);
    textbuf_put(out, "}\n");
}

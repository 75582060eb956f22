/* body.h - a loop body as its author writes it: text, syntax tree, and back.
 *
 *     param i32 n = 4096                     // a number the compiler does not know; also good as an extent
 *     global f32 a[n, 32], b[n, 32], r[n]    // row-major unless strides are given
 *     blocks 128
 *     threads 32
 *     if (bid * 32 + tid < n) {
 *         for (k, 0, 32) {
 *             r[bid * 32 + tid] = r[bid * 32 + tid] + a[bid * 32 + tid, k] * b[bid * 32 + tid, k]
 *         }
 *     }
 *
 * Grammar (EBNF). A semicolon may follow any declaration or statement and means nothing; comments are // and C's.
 *
 *     body        = { declaration } { statement }
 *     declaration = "param" type NAME "=" constant
 *                 | space type array { "," array }
 *                 | "blocks" constant [ "," constant [ "," constant ] ]         grid in x, y, z; 1 unless given
 *                 | "threads" constant [ "," constant [ "," constant ] ]        threads of a block, likewise
 *     array       = NAME [ "[" constant { "," constant } "]" ] [ "strides" "(" constant { "," constant } ")" ]
 *                   [ "offset" constant ]                                       in elements
 *     space       = "global" | "shared" | "local"
 *     type        = "f16" | "f32" | "f64" | "i32" | "i64"
 *     statement   = "for" "(" NAME "," constant "," constant [ "," constant ] ")" list      start, end, step (> 0)
 *                 | "if" "(" expr ")" list [ "else" ( list | if statement ) ]
 *                 | "block" "(" NAME ")" list                                   "ScheduleBlock" is the same word
 *                 | "let" NAME "=" expr
 *                 | NAME [ "[" expr { "," expr } "]" ] "=" expr                 a store
 *     list        = "{" { statement } "}"
 *     expr        = or [ "?" expr ":" expr ]
 *     or .. mul   = C's binary operators || && == != < <= > >= + - * / % with C's precedence, left to right
 *     unary       = ( "-" | "!" ) unary | primary
 *     primary     = INTEGER | REAL [ "f" ] | NAME | NAME "[" expr { "," expr } "]" | "(" expr ")"
 *                 | ( "tid" | "bid" ) [ "." ( "x" | "y" | "z" ) ]               without a letter: flat, x fastest
 *                 | ( "min" | "max" ) "(" expr "," expr ")" | "select" "(" expr "," expr "," expr ")"
 *                 | ( "exp" | "log" | "sqrt" | "rsqrt" | "abs" ) "(" expr ")"
 *     constant    = an expr of literals and params; integer except as the value of a floating param
 *
 * Schedule blocks. A `block` holds exactly one store, and no loop; a store outside any block is a block of its own. A
 * block whose name begins with "root" is only a pair of braces.
 *
 * Types are C's: i32 < i64 < f32 < f64, an operation is done in the greater type of its operands. f16 is a type of
 * storage only: it is read as f32, computed as f32, and rounded to nearest even where it is stored. Loop variables and
 * tid and bid are i32. A literal without "f" is i32 or f32, or i64 or f64 where it does not fit or what it meets is.
 * exp, log, sqrt and rsqrt of an integer are f32. Comparisons, &&, || and ! give 0 or 1 in i32. `c ? a : b` evaluates
 * only what it selects; && and || evaluate both sides, as predicates do. Integer arithmetic wraps around.
 *
 * Names: one space for all, no shadowing. A param, array or block size comes before the first statement. An array of no
 * dimensions is read and stored by its name alone. Global arrays belong to the caller, shared ones to a block, local
 * ones to a thread; the latter two begin as zeros.
 */
#ifndef COALIGN_KERNEL_BODY_H
#define COALIGN_KERNEL_BODY_H

#include "base/mem.h"
#include "base/status.h"
#include "base/textbuf.h"
#include "kernel/ir.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BODY_RANK_MAX = 8,
    BODY_NESTING_MAX = 200,   /* of parentheses, calls, subscripts, signs, selects and statements in the text */
    BODY_HEIGHT_MAX = 1000,   /* of an expression's tree: a sum of n terms is n high */
    BODY_NAME_MAX = 63,       /* bytes of a name */
    BODY_UNKNOWN_EXTENT = 32, /* what an extent that names a param counts in body_array.estimate */
};

/* Where a node begins in the text: line and column from 1, the column in bytes. Line 0: made by a pass. */
typedef struct body_place {
    int32_t line, column;
} body_place;

/* X(enumerator, name, bytes), in the order of C's conversions */
#define BODY_TYPE_LIST(X)                                                                                              \
    X(TYPE_I32, "i32", 4)                                                                                              \
    X(TYPE_I64, "i64", 8)                                                                                              \
    X(TYPE_F16, "f16", 2) /* of arrays only, never of an expression */                                                 \
    X(TYPE_F32, "f32", 4)                                                                                              \
    X(TYPE_F64, "f64", 8)

typedef enum body_type {
#define X(id, name, bytes) id,
    BODY_TYPE_LIST(X)
#undef X
} body_type;

/* X(enumerator, text, operands, precedence). Precedence: 0 for what needs no parentheses, else C's order, the larger
 * the tighter. Operators first, then the functions. */
#define BODY_OPERATOR_LIST(X)                                                                                          \
    X(EXPR_SELECT, "?", 3, 1)                                                                                          \
    X(EXPR_OR, "||", 2, 2)                                                                                             \
    X(EXPR_AND, "&&", 2, 3)                                                                                            \
    X(EXPR_EQ, "==", 2, 4)                                                                                             \
    X(EXPR_NE, "!=", 2, 4)                                                                                             \
    X(EXPR_LT, "<", 2, 5)                                                                                              \
    X(EXPR_LE, "<=", 2, 5)                                                                                             \
    X(EXPR_GT, ">", 2, 5)                                                                                              \
    X(EXPR_GE, ">=", 2, 5)                                                                                             \
    X(EXPR_ADD, "+", 2, 6)                                                                                             \
    X(EXPR_SUB, "-", 2, 6)                                                                                             \
    X(EXPR_MUL, "*", 2, 7)                                                                                             \
    X(EXPR_DIV, "/", 2, 7)                                                                                             \
    X(EXPR_MOD, "%", 2, 7)                                                                                             \
    X(EXPR_NEG, "-", 1, 8)                                                                                             \
    X(EXPR_NOT, "!", 1, 8)                                                                                             \
    X(EXPR_MIN, "min", 2, 0)                                                                                           \
    X(EXPR_MAX, "max", 2, 0)                                                                                           \
    X(EXPR_EXP, "exp", 1, 0)                                                                                           \
    X(EXPR_LOG, "log", 1, 0)                                                                                           \
    X(EXPR_SQRT, "sqrt", 1, 0)                                                                                         \
    X(EXPR_RSQRT, "rsqrt", 1, 0)                                                                                       \
    X(EXPR_ABS, "abs", 1, 0)

typedef enum body_expr_kind {
#define X(id, text, operands, precedence) id,
    BODY_OPERATOR_LIST(X)
#undef X
        EXPR_INTEGER, /* integer */
    EXPR_REAL,        /* real */
    EXPR_PARAM,       /* param */
    EXPR_LOOP,        /* variable: a loop's */
    EXPR_LET,         /* variable: a let's */
    EXPR_TID,         /* axis */
    EXPR_BID,         /* axis */
    EXPR_LOAD,        /* array; arg[] are the subscripts */
} body_expr_kind;

typedef enum body_axis { AXIS_FLAT, AXIS_X, AXIS_Y, AXIS_Z } body_axis;

typedef struct body_expr body_expr;
typedef struct body_stmt body_stmt;

typedef struct body_param {
    const char *name;
    body_place at;
    body_type type; /* not f16 */
    union {
        int64_t integer; /* type i32 or i64 */
        double real;     /* type f32 (rounded to it) or f64 */
    };
    uint32_t id; /* body.param[id] */
} body_param;

typedef struct body_array {
    const char *name;
    body_place at;
    body_type type;
    ir_space space;
    uint32_t rank;
    body_expr *extent[BODY_RANK_MAX];      /* as written */
    int64_t size[BODY_RANK_MAX];           /* its value, > 0 */
    body_expr *stride_text[BODY_RANK_MAX]; /* as written; all NULL when row-major */
    int64_t stride[BODY_RANK_MAX];         /* in elements */
    body_expr *offset_text;                /* NULL when not written */
    int64_t offset;                        /* of element [0, 0, ...] */
    int64_t elements;                      /* that the layout spans from 0 on; elements * bytes fits 63 bits */
    int64_t estimate;                      /* product of the sizes, those that name a param counted as 32; saturates */
    bool stored;                           /* some store names it */
    uint32_t id;                           /* body.array[id] */
} body_array;

/* A name for a value: of a loop's counter, or of a let. */
typedef struct body_variable {
    const char *name;
    body_place at;
    body_type type;
    const body_stmt *definition; /* STMT_FOR or STMT_LET */
    uint32_t id;                 /* 0 .. body.variables - 1 */
} body_variable;

struct body_expr {
    body_expr_kind kind;
    body_type type;  /* of the value: not f16 */
    body_place at;   /* an operator's is that of its sign */
    bool untyped;    /* made of literals that still adapt to what they meet */
    bool suffixed;   /* a literal with "f" */
    uint16_t height; /* of this tree; a leaf's is 1 */
    uint32_t args;
    body_expr **arg; /* operands, or subscripts of a load */
    union {
        int64_t integer;
        double real;
        body_axis axis;
        const body_param *param;
        const body_variable *variable;
        const body_array *array;
    };
};

typedef enum body_stmt_kind {
    STMT_STORE, /* array[subscript] = value */
    STMT_LET,   /* variable = value */
    STMT_IF,    /* if (value) body else otherwise */
    STMT_FOR,   /* variable from start to below end by step: body */
    STMT_BLOCK, /* name, body: a schedule block, or braces when body_is_root */
} body_stmt_kind;

typedef struct body_list {
    body_stmt *first, *last;
    uint32_t count;
} body_list;

struct body_stmt {
    body_stmt_kind kind;
    body_place at;
    body_stmt *next;
    const char *name;              /* of a block: as written, or that of the array stored */
    bool implicit;                 /* a block that nobody wrote: one store */
    const body_array *array;       /* store */
    body_expr **subscript;         /* store: array->rank of them */
    const body_variable *variable; /* let, for */
    body_expr *value;              /* store, let; the condition of an if */
    body_expr *bound[3];           /* for: start, end and step as written; the step may be NULL */
    int64_t start, end, step;      /* for: their values, all within 32 bits */
    uint64_t trips;                /* for: how often its body runs */
    body_list body, otherwise;
};

/* Owns everything that its nodes point to. Zero-initialise, or let body_parse and body_copy fill it. */
typedef struct body {
    arena memory;
    body_param **param;
    body_array **array;
    size_t param_capacity, array_capacity;
    uint32_t params, arrays, variables;
    int64_t blocks[3], threads[3]; /* x, y, z; each product fits 31 bits */
    bool blocks_written, threads_written;
    body_list list;
} body;

/* Reads the text; `file` names it in messages. On failure b is empty and the message is
 *     file:line:column: what is wrong
 *      line | the line of the text
 *           |      ^
 * ERR_INPUT, ERR_MEMORY. Free with body_free, also after a failure. */
status body_parse(const char *file, const char *text, size_t length, body *b, message *m);

/* The same with other values for integer params of the text. ERR_INPUT when it has none of that name. */
typedef struct body_setting {
    const char *name;
    int64_t value;
} body_setting;
status body_parse_with(const char *file, const char *text, size_t length, const body_setting *settings, size_t count,
                       body *b, message *m);
void body_free(body *b);

/* A deep copy with the same ids and places; `to` is overwritten. */
status body_copy(const body *from, body *to, message *m);

const char *body_type_name(body_type t);
uint32_t body_type_bytes(body_type t);
static inline bool body_type_is_float(body_type t) {
    return t >= TYPE_F16;
}
const char *body_operator_text(body_expr_kind k); /* of the kinds of BODY_OPERATOR_LIST */
/* What an array's element has as a value: f32 for f16, else its own type. */
static inline body_type body_value_type(body_type t) {
    return t == TYPE_F16 ? TYPE_F32 : t;
}
/* A block that is braces only. */
bool body_is_root(const body_stmt *block);

/* For passes that make nodes; NULL when there is not enough memory. */
body_expr *body_new_expr(body *b, body_expr_kind kind, body_type type, uint32_t args, body_place at);
body_stmt *body_new_stmt(body *b, body_stmt_kind kind, body_place at);
void body_append(body_list *list, body_stmt *s);

/* The text of a tree in the language above: parsing it gives an equal tree. */
void body_print(textbuf *out, const body *b);
void body_print_expr(textbuf *out, const body_expr *e);
void body_print_access(textbuf *out, const body_array *array, body_expr *const *subscript);

/* The body as a C11 function (blocks and threads are loops around it, one after the other) and as a CUDA kernel.
 * Arguments: the global arrays, then the params, each in order of declaration. Names that mean something in C or CUDA
 * get an underscore. */
void body_emit_c(textbuf *out, const body *b, const char *function);
void body_emit_cuda(textbuf *out, const body *b, const char *function);

#endif

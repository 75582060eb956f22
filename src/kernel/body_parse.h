/* body_parse.h - the two halves of the parser of loop bodies: declarations and statements (body_parse.c), expressions
 * and their types (body_parse_expr.c). Internal. */
#ifndef COALIGN_KERNEL_BODY_PARSE_H
#define COALIGN_KERNEL_BODY_PARSE_H

#include "kernel/body_lex.h"
#include "kernel/body_value.h"

typedef enum symbol_kind { SYMBOL_PARAM, SYMBOL_ARRAY, SYMBOL_LOOP, SYMBOL_LET } symbol_kind;

/* What a name means, while it is in scope; the name's `value` points here. */
typedef struct symbol {
    symbol_kind kind;
    bool pending; /* its own declaration is still being read */
    interned *name;
    body_place at;
    union {
        body_param *param;
        body_array *array;
        body_variable *variable;
    };
    struct symbol *outer; /* the one declared before it */
} symbol;

typedef struct parser {
    lexer lex;
    body *b;
    uint32_t nesting;
    symbol *newest;   /* of those in scope */
    body_stmt *block; /* the schedule block around the current place, or NULL */
    uint32_t stores;  /* in it so far */
    const body_setting *settings;
    size_t setting_count;
} parser;

/* Around everything that recurses: fails when the text nests too deep for it. */
status parse_enter(parser *p);
void parse_leave(parser *p);

/* The current token as a name in scope; goes past it. `what` is what an unknown name should have been: "array". */
status parse_symbol(parser *p, const char *what, symbol **s);
/* Is the name a word of the language? */
bool parse_is_word(const interned *name);

status parse_expr(parser *p, body_expr **e);
/* "[" ... "]" behind the name of the array at `at`; none for an array of no dimensions. */
status parse_subscripts(parser *p, const body_array *array, body_place at, body_expr ***subscript);
/* Lets the literals of e adapt to the type that they meet. */
void parse_adapt(body_expr *e, body_type type);

/* An expr of literals and params, and its value. An integer's overflow is an error here. */
status parse_constant(parser *p, body_expr **e, body_value *value);
/* The value of an expr that is there already. */
status parse_evaluate(parser *p, const body_expr *e, body_value *value);
/* The same; it must be an integer. what: "an extent". */
status parse_constant_integer(parser *p, const char *what, body_expr **e, int64_t *value);

#endif

/* body_lex.h - the words of a loop body's text, and messages that point at them (internal to the parser). */
#ifndef COALIGN_KERNEL_BODY_LEX_H
#define COALIGN_KERNEL_BODY_LEX_H

#include "base/intern.h"
#include "kernel/body.h"

typedef enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_INTEGER, TOKEN_REAL, TOKEN_SIGN } token_kind;

typedef struct token {
    token_kind kind;
    body_place at;
    const char *text; /* not NUL-terminated */
    size_t length;
    interned *name; /* of a NAME */
    int64_t integer;
    double real;
    bool suffixed; /* a REAL with f */
} token;

typedef struct lexer {
    const char *file, *text, *end; /* the whole text */
    const char *next, *line_start; /* behind the current token */
    int32_t line;
    token current;
    intern_table names;
    message *m;
} lexer;

/* Starts at the first token. `text` must outlive the lexer; intern_free(&l->names) afterwards. */
status lex_open(lexer *l, const char *file, const char *text, size_t length, message *m);
/* Goes on to the next token. */
status lex_next(lexer *l);

/* Is the current token this sign or word? */
bool lex_is(const lexer *l, const char *text);
/* The same, and goes past it if so. */
status lex_accept(lexer *l, const char *text, bool *found);
/* Goes past it, or fails. `after`: what it belongs to, for the message; may be NULL. */
status lex_expect(lexer *l, const char *text, const char *after);

/* Fills the message with the place, what is wrong there, the line of the text and a caret. */
void lex_report(const lexer *l, body_place at, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same, as an expression that is ERR_INPUT. */
#define lex_fail(...) (lex_report(__VA_ARGS__), ERR_INPUT)
/* "expected ..., found ..." at the current token. */
void lex_report_expected(const lexer *l, const char *expected);
#define lex_fail_expected(l, expected) (lex_report_expected(l, expected), ERR_INPUT)
static inline status lex_fail_memory(const lexer *l) {
    fail(l->m, ERR_MEMORY, "not enough memory to read the loop body");
    return ERR_MEMORY;
}

#endif

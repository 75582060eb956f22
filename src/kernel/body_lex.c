#include "kernel/body_lex.h"

#include "base/num.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHOWN_MAX = 100,  /* bytes of a source line in a message */
    NUMBER_MAX = 350, /* bytes of a number; the longest exact f64 without an exponent has fewer */
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static const char *start_of_line(const lexer *l, int32_t line) {
    const char *at = l->text;
    while (line > 1 && at < l->end)
        line -= *at++ == '\n';
    return at;
}

static bool continues_character(char c) {
    return ((unsigned char)c & 0xc0) == 0x80; /* UTF-8 */
}

/* The line, cut to what fits around the column, and a caret below the column. */
static void show_line(const lexer *l, body_place at, char *out, size_t size) {
    const char *line = start_of_line(l, at.line);
    const char *stop = line;
    while (stop < l->end && *stop != '\n' && *stop != '\r')
        stop++;
    const char *mark = line + at.column - 1;
    const char *from = mark - line > SHOWN_MAX / 2 ? mark - SHOWN_MAX / 2 : line;
    while (from < mark && continues_character(*from))
        from++;
    if (stop - from > SHOWN_MAX)
        stop = from + SHOWN_MAX;
    char text[SHOWN_MAX + 1], blanks[SHOWN_MAX + 1];
    size_t shown = 0, before = 0;
    for (const char *c = from; c < stop; c++) {
        text[shown++] = (unsigned char)*c < ' ' || *c == 0x7f ? ' ' : *c;
        if (c < mark && !continues_character(*c))
            blanks[before++] = ' ';
    }
    text[shown] = blanks[before] = '\0';
    snprintf(out, size, "\n%5d | %s\n      | %s^", at.line, text, blanks);
}

void lex_report(const lexer *l, body_place at, const char *format, ...) {
    char shown[2 * SHOWN_MAX + 64], what[MESSAGE_MAX - sizeof shown];
    show_line(l, at, shown, sizeof shown);
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    /* The file's name is what gives way in a long message. */
    int room = (int)(sizeof what - strlen(what)) - 32;
    fail(l->m, ERR_INPUT, "%.*s:%d:%d: %s%s", room > 0 ? room : 0, l->file, at.line, at.column, what, shown);
}

void lex_report_expected(const lexer *l, const char *expected) {
    const token *t = &l->current;
    if (t->kind == TOKEN_END)
        lex_report(l, t->at, "expected %s, found the end of the text", expected);
    else
        lex_report(l, t->at, "expected %s, found '%.*s'", expected, (int)(t->length < 80 ? t->length : 80), t->text);
}

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

static char peek(const lexer *l, size_t ahead) {
    return (size_t)(l->end - l->next) > ahead ? l->next[ahead] : '\0';
}

static body_place place_here(const lexer *l) {
    return (body_place){l->line, (int32_t)(l->next - l->line_start) + 1};
}

static void step(lexer *l) {
    if (*l->next++ == '\n') {
        l->line++;
        l->line_start = l->next;
    }
}

/* Blanks and comments. */
static status skip(lexer *l) {
    while (l->next < l->end) {
        char c = *l->next;
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            step(l);
        } else if (c == '/' && peek(l, 1) == '/') {
            while (l->next < l->end && *l->next != '\n')
                step(l);
        } else if (c == '/' && peek(l, 1) == '*') {
            body_place at = place_here(l);
            for (l->next += 2; !(peek(l, 0) == '*' && peek(l, 1) == '/'); step(l))
                if (l->next >= l->end)
                    return lex_fail(l, at, "this comment does not end");
            l->next += 2;
        } else {
            break;
        }
    }
    return OK;
}

static status read_name(lexer *l, token *t) {
    while (is_letter(peek(l, 0)) || is_digit(peek(l, 0)))
        l->next++;
    t->kind = TOKEN_NAME;
    t->length = (size_t)(l->next - t->text);
    if (t->length > BODY_NAME_MAX)
        return lex_fail(l, t->at, "this name has more than %d bytes", BODY_NAME_MAX);
    t->name = intern(&l->names, t->text, t->length);
    return t->name ? OK : lex_fail_memory(l);
}

static bool skip_digits(lexer *l) {
    const char *start = l->next;
    while (is_digit(peek(l, 0)))
        l->next++;
    return l->next > start;
}

static status read_integer(lexer *l, token *t) {
    t->kind = TOKEN_INTEGER;
    for (const char *c = t->text; c < l->next; c++)
        if (!mul_i64(t->integer, 10, &t->integer) || !add_i64(t->integer, *c - '0', &t->integer))
            return lex_fail(l, t->at, "this number does not fit 64 bits");
    return OK;
}

static status read_real(lexer *l, token *t, size_t length) {
    char digits[NUMBER_MAX + 1];
    if (length > NUMBER_MAX)
        return lex_fail(l, t->at, "this number has more than %d digits", NUMBER_MAX);
    memcpy(digits, t->text, length);
    digits[length] = '\0';
    t->kind = TOKEN_REAL;
    t->real = t->suffixed ? (double)strtof(digits, NULL) : strtod(digits, NULL);
    if (!isfinite(t->real))
        return lex_fail(l, t->at, "this number does not fit %s", t->suffixed ? "f32" : "f64");
    return OK;
}

static status read_number(lexer *l, token *t) {
    bool real = false;
    skip_digits(l);
    if (peek(l, 0) == '.') {
        real = true;
        l->next++;
        skip_digits(l);
    }
    bool sign = peek(l, 1) == '+' || peek(l, 1) == '-';
    if ((peek(l, 0) == 'e' || peek(l, 0) == 'E') && is_digit(peek(l, sign ? 2 : 1))) {
        real = true;
        l->next += sign ? 2 : 1;
        skip_digits(l);
    }
    size_t length = (size_t)(l->next - t->text);
    if (real && (peek(l, 0) == 'f' || peek(l, 0) == 'F')) {
        t->suffixed = true;
        l->next++;
    }
    t->length = (size_t)(l->next - t->text);
    if (is_letter(peek(l, 0)) || is_digit(peek(l, 0)) || peek(l, 0) == '.') {
        while (is_letter(peek(l, 0)) || is_digit(peek(l, 0)) || peek(l, 0) == '.')
            l->next++;
        int shown = (int)(l->next - t->text > 40 ? 40 : l->next - t->text);
        return lex_fail(l, t->at, "'%.*s' is not a number", shown, t->text);
    }
    return real ? read_real(l, t, length) : read_integer(l, t);
}

static status read_sign(lexer *l, token *t) {
    static const char *const doubles[] = {"||", "&&", "==", "!=", "<=", ">="};
    t->kind = TOKEN_SIGN;
    t->length = 1;
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++)
        if (peek(l, 0) == doubles[i][0] && peek(l, 1) == doubles[i][1])
            t->length = 2;
    unsigned char c = (unsigned char)*l->next;
    if (c < ' ' || c > '~')
        return lex_fail(l, t->at, "byte 0x%02x does not belong here", c);
    if (t->length == 1 && !strchr("?:<>+-*/%!()[]{},;=.", c))
        return lex_fail(l, t->at, "'%c' does not belong here", c);
    l->next += t->length;
    return OK;
}

status lex_next(lexer *l) {
    TRY(skip(l));
    token *t = &l->current;
    *t = (token){.at = place_here(l), .text = l->next};
    if (l->next >= l->end)
        return OK;
    if (is_letter(*l->next))
        return read_name(l, t);
    if (is_digit(*l->next) || (*l->next == '.' && is_digit(peek(l, 1))))
        return read_number(l, t);
    return read_sign(l, t);
}

status lex_open(lexer *l, const char *file, const char *text, size_t length, message *m) {
    *l = (lexer){.file = file, .text = text, .end = text + length, .next = text, .line_start = text, .line = 1, .m = m};
    if (length > INT32_MAX)
        return fail(m, ERR_INPUT, "%s: more than 2 GiB of text", file);
    return lex_next(l);
}

bool lex_is(const lexer *l, const char *text) {
    const token *t = &l->current;
    return (t->kind == TOKEN_NAME || t->kind == TOKEN_SIGN) && strlen(text) == t->length &&
           memcmp(text, t->text, t->length) == 0;
}

status lex_accept(lexer *l, const char *text, bool *found) {
    *found = lex_is(l, text);
    return *found ? lex_next(l) : OK;
}

status lex_expect(lexer *l, const char *text, const char *after) {
    if (lex_is(l, text))
        return lex_next(l);
    char expected[160];
    snprintf(expected, sizeof expected, "'%s'%s%s", text, after ? " " : "", after ? after : "");
    return lex_fail_expected(l, expected);
}

#include "layout/syntax.h"

#include "base/num.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    uint32_t bytes;
} types[] = {
#define X(name, bytes, what) {name, bytes},
    ELEMENT_TYPE_LIST(X)
#undef X
};

typedef struct cursor {
    const char *text, *at;
    message *m;
} cursor;

static void skip_blanks(cursor *c) {
    while (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r')
        c->at++;
}

static status fail_here(const cursor *c, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static status fail_here(const cursor *c, const char *where, const char *format, ...) {
    char text[MESSAGE_MAX / 2];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return fail(c->m, ERR_INPUT, "column %td: %s", where - c->text + 1, text);
}

/* What stands at the cursor, for "expected ..., found ...". */
static status fail_expected(const cursor *c, const char *expected) {
    unsigned char found = (unsigned char)*c->at;
    if (found == '\0')
        return fail_here(c, c->at, "expected %s, found the end", expected);
    if (found < ' ' || found > '~')
        return fail_here(c, c->at, "expected %s, found byte 0x%02x", expected, found);
    return fail_here(c, c->at, "expected %s, found '%c'", expected, found);
}

static bool accept(cursor *c, char token) {
    skip_blanks(c);
    if (*c->at != token)
        return false;
    c->at++;
    return true;
}

static status expect(cursor *c, char token, const char *expected) {
    return accept(c, token) ? OK : fail_expected(c, expected);
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* A decimal number with an optional sign; *where is its first byte. */
static status number(cursor *c, const char *expected, int64_t *value, const char **where) {
    skip_blanks(c);
    const char *start = *where = c->at;
    bool negative = *c->at == '-';
    if (*c->at == '-' || *c->at == '+')
        c->at++;
    if (!is_digit(*c->at)) {
        c->at = start;
        return fail_expected(c, expected);
    }
    bool fits = true;
    int64_t sum = 0;
    for (; is_digit(*c->at); c->at++) {
        int64_t digit = *c->at - '0';
        fits = fits && mul_i64(sum, 10, &sum) && add_i64(sum, negative ? -digit : digit, &sum);
    }
    if (!fits)
        return fail_here(c, start, "%.*s does not fit 64 bits", (int)(c->at - start > 60 ? 60 : c->at - start), start);
    *value = sum;
    return OK;
}

static status size_number(cursor *c, int64_t *size) {
    const char *where = NULL;
    TRY(number(c, "a size", size, &where));
    if (*size < 0)
        return fail_here(c, where, "size %" PRId64 " is negative (a stride may be, a size may not)", *size);
    return OK;
}

static status end_of_text(cursor *c, const char *expected) {
    skip_blanks(c);
    return *c->at == '\0' ? OK : fail_expected(c, expected);
}

static status one_more_dimension(const cursor *c, uint32_t rank) {
    if (rank < LMAD_RANK_MAX)
        return OK;
    return fail_here(c, c->at, "more than %d dimensions", LMAD_RANK_MAX);
}

static status element_type(cursor *c, dataset *d) {
    skip_blanks(c);
    size_t length = strspn(c->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    if (length == 0)
        return fail_expected(c, "'[' or an element type");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == length && memcmp(types[i].name, c->at, length) == 0) {
            d->type = types[i].name;
            d->element_bytes = types[i].bytes;
            c->at += length;
            return OK;
        }
    char known[160] = "";
    for (size_t i = 0, used = 0; i < sizeof types / sizeof *types; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? " " : "", types[i].name);
    return fail_here(c, c->at, "no element type '%.*s' (there are %s)", (int)(length > 40 ? 40 : length), c->at, known);
}

status parse_dataset(const char *text, dataset *d, message *m) {
    cursor c = {text, text, m};
    *d = (dataset){0};
    while (accept(&c, '[')) {
        TRY(one_more_dimension(&c, d->rank));
        TRY(size_number(&c, &d->size[d->rank++]));
        TRY(expect(&c, ']', "']'"));
    }
    TRY(element_type(&c, d));
    return end_of_text(&c, "the end after the element type");
}

static status dimension(cursor *c, lmad *l) {
    const char *where = NULL;
    TRY(expect(c, '(', "'(size,stride)'"));
    TRY(one_more_dimension(c, l->rank));
    TRY(size_number(c, &l->size[l->rank]));
    TRY(expect(c, ',', "',' and a stride"));
    TRY(number(c, "a stride", &l->stride[l->rank++], &where));
    return expect(c, ')', "')'");
}

status parse_lmad(const char *text, lmad *l, message *m) {
    cursor c = {text, text, m};
    const char *where = NULL;
    *l = (lmad){0};
    if (!accept(&c, '[')) {
        TRY(number(&c, "an offset or '['", &l->offset, &where));
        TRY(expect(&c, ':', "':' after the offset"));
        TRY(expect(&c, '[', "'['"));
    }
    if (!accept(&c, ']')) {
        do
            TRY(dimension(&c, l));
        while (accept(&c, ','));
        TRY(expect(&c, ']', "',' or ']'"));
    }
    return end_of_text(&c, "the end after ']'");
}

status parse_permutation(const char *text, uint32_t rank, uint32_t *order, message *m) {
    cursor c = {text, text, m};
    uint32_t count = 0, seen = 0;
    TRY(expect(&c, '{', "'{'"));
    if (!accept(&c, '}')) {
        do {
            int64_t entry = 0;
            const char *where = NULL;
            TRY(number(&c, "a dimension number", &entry, &where));
            if (entry < 0)
                return fail_here(&c, where, "perm entry %" PRId64 " is negative: dimensions count from 0", entry);
            if (entry >= LMAD_RANK_MAX || (entry >= rank && count < rank))
                return fail_here(&c, where, "perm entry %" PRId64 " is out of range, rank is %" PRIu32, entry, rank);
            if (seen >> entry & 1)
                return fail_here(&c, where, "perm entry %" PRId64 " occurs twice", entry);
            seen |= UINT32_C(1) << entry;
            if (count < rank)
                order[count] = (uint32_t)entry;
            count++;
        } while (accept(&c, ','));
        TRY(expect(&c, '}', "',' or '}'"));
    }
    TRY(end_of_text(&c, "the end after '}'"));
    if (count != rank)
        return fail_here(&c, c.text, "perm has %" PRIu32 " entries, rank is %" PRIu32, count, rank);
    return OK;
}

typedef struct writer {
    char *buffer;
    size_t size, used;
} writer;

static void put(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(writer *w, const char *format, ...) {
    if (w->used >= w->size)
        return;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(w->buffer + w->used, w->size - w->used, format, args);
    va_end(args);
    if (n > 0)
        w->used += (size_t)n;
}

char *format_dataset(char *buffer, size_t size, const dataset *d) {
    writer w = {buffer, size, 0};
    for (uint32_t k = 0; k < d->rank; k++)
        put(&w, "[%" PRId64 "]", d->size[k]);
    put(&w, "%s", d->type);
    return buffer;
}

char *format_lmad(char *buffer, size_t size, const lmad *l) {
    writer w = {buffer, size, 0};
    if (l->offset != 0)
        put(&w, "%" PRId64 ":", l->offset);
    put(&w, "[");
    for (uint32_t k = 0; k < l->rank; k++)
        put(&w, "%s(%" PRId64 ",%" PRId64 ")", k ? "," : "", l->size[k], l->stride[k]);
    put(&w, "]");
    return buffer;
}

char *format_permutation(char *buffer, size_t size, const uint32_t *order, uint32_t rank) {
    writer w = {buffer, size, 0};
    put(&w, "{");
    for (uint32_t k = 0; k < rank; k++)
        put(&w, "%s%" PRIu32, k ? "," : "", order[k]);
    put(&w, "}");
    return buffer;
}

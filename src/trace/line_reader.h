/* line_reader.h - the lines of a text file, plain or in any compression that libarchive knows, and the numbers in them.
 * Memory does not depend on the length of the file. CR LF and a missing last line end are accepted. */
#ifndef COALIGN_TRACE_LINE_READER_H
#define COALIGN_TRACE_LINE_READER_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINE_MAX_BYTES = 4096 }; /* a longer line is an error */

typedef struct line_reader line_reader;

/* path "-": standard input. The path must outlive the reader. ERR_IO, ERR_MEMORY; *out is NULL then. */
status line_reader_open(const char *path, line_reader **out, message *m);
void line_reader_close(line_reader *r);

/* The next line without its end, valid until the next call; *text NULL after the last. ERR_INPUT with file:line. */
status line_reader_next(line_reader *r, const char **text, const char **end, message *m);

/* The last line given out comes once more. */
void line_reader_again(line_reader *r);

/* The next line that is not blank, from its first character that is none; otherwise the same. */
status line_reader_next_text(line_reader *r, const char **text, const char **end, message *m);

/* The file as messages call it, and the number of the last line given out, from 1. */
const char *line_reader_name(const line_reader *r);
int line_reader_line(const line_reader *r);

/* ERR_INPUT at the last line: "'text': what". */
status line_reader_bad(const line_reader *r, const char *text, const char *end, const char *what, message *m);

/* The value of a digit in any base up to 16; 99 for what is none. */
static inline int line_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

/* At *p: at least one digit, less than 2^64; false otherwise. *p moves behind it. */
static inline bool line_number(const char **p, const char *end, int base, uint64_t *value) {
    uint64_t v = 0;
    const char *first = *p;
    for (; *p < end && line_digit(**p) < base; (*p)++)
        if (__builtin_mul_overflow(v, (uint64_t)base, &v) || __builtin_add_overflow(v, (uint64_t)line_digit(**p), &v))
            return false;
    *value = v;
    return *p > first;
}

/* The same in base 16, with or without 0x. */
static inline bool line_hexadecimal(const char **p, const char *end, uint64_t *value) {
    if (end - *p > 2 && (*p)[0] == '0' && ((*p)[1] == 'x' || (*p)[1] == 'X'))
        *p += 2;
    return line_number(p, end, 16, value);
}

static inline void line_skip_blanks(const char **p, const char *end) {
    while (*p < end && (**p == ' ' || **p == '\t'))
        (*p)++;
}

#endif

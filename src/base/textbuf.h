/* textbuf.h - text that grows. Zero-initialise, append, textbuf_free. */
#ifndef COALIGN_BASE_TEXTBUF_H
#define COALIGN_BASE_TEXTBUF_H

#include <stdbool.h>
#include <stddef.h>

/* text is NULL until something was appended, and then ends with a NUL that length does not count. */
typedef struct textbuf {
    char *text;
    size_t length, capacity;
    bool failed; /* there was not enough memory; what is appended from then on is dropped */
} textbuf;

void textbuf_put(textbuf *b, const char *text);
void textbuf_printf(textbuf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void textbuf_free(textbuf *b);

#endif

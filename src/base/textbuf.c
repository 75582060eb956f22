#include "base/textbuf.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool reserve(textbuf *b, size_t more) {
    void *data = b->text;
    b->failed = b->failed || !mem_reserve(&data, &b->capacity, b->length + more + 1, 1);
    b->text = data;
    return !b->failed;
}

static void put_bytes(textbuf *b, const char *text, size_t length) {
    if (!reserve(b, length))
        return;
    memcpy(b->text + b->length, text, length);
    b->length += length;
    b->text[b->length] = '\0';
}

void textbuf_put(textbuf *b, const char *text) {
    put_bytes(b, text, strlen(text));
}

void textbuf_printf(textbuf *b, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0 || !reserve(b, (size_t)length))
        return;
    va_start(args, format);
    vsnprintf(b->text + b->length, (size_t)length + 1, format, args);
    va_end(args);
    b->length += (size_t)length;
}

void textbuf_free(textbuf *b) {
    mem_free(b->text);
    *b = (textbuf){0};
}

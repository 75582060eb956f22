#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t fail_countdown;

static int told_to_fail(void) {
    return fail_countdown != 0 && --fail_countdown == 0;
}

void mem_fail_after(size_t n) {
    fail_countdown = n;
}

void *mem_zero(size_t count, size_t size) {
    size_t bytes = 0;
    if (told_to_fail() || __builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return calloc(count ? count : 1, size ? size : 1);
}

void *mem_resize(void *old, size_t count, size_t size) {
    size_t bytes = 0;
    if (told_to_fail() || __builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return realloc(old, bytes ? bytes : 1);
}

void mem_free(void *p) {
    free(p);
}

int mem_reserve(void **data, size_t *capacity, size_t need, size_t size) {
    if (need <= *capacity)
        return 1;
    size_t grown = *capacity ? *capacity : 16;
    while (grown < need) {
        if (grown > SIZE_MAX / 2)
            return 0;
        grown *= 2;
    }
    void *p = mem_resize(*data, grown, size);
    if (!p)
        return 0;
    *data = p;
    *capacity = grown;
    return 1;
}

enum { ARENA_CHUNK = 16384, ARENA_ALIGN = 16 };

struct arena_chunk {
    struct arena_chunk *next;
    size_t used, size;
};

/* The payload starts at an aligned offset behind the header. */
static const size_t arena_header = (sizeof(struct arena_chunk) + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;

void *arena_alloc(arena *a, size_t size) {
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    struct arena_chunk *chunk = a->chunks;
    if (!chunk || chunk->size - chunk->used < size) {
        size_t payload = size > ARENA_CHUNK ? size : ARENA_CHUNK;
        chunk = mem_zero(1, arena_header + payload);
        if (!chunk)
            return NULL;
        chunk->next = a->chunks;
        chunk->size = payload;
        a->chunks = chunk;
    }
    char *p = (char *)chunk + arena_header + chunk->used;
    chunk->used += size;
    return p;
}

char *arena_string(arena *a, const char *text) {
    size_t n = strlen(text) + 1;
    char *copy = arena_alloc(a, n);
    if (copy)
        memcpy(copy, text, n);
    return copy;
}

void arena_free(arena *a) {
    struct arena_chunk *chunk = a->chunks;
    while (chunk) {
        struct arena_chunk *next = chunk->next;
        mem_free(chunk);
        chunk = next;
    }
    a->chunks = NULL;
}

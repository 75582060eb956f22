/* mem.h - memory: checked allocation, growable arrays, and an arena.
 *
 * Every allocation of the program goes through here, so that a test can make the n-th one fail. Sizes are checked for
 * overflow; a NULL return means "not enough memory" and nothing else.
 */
#ifndef COALIGN_BASE_MEM_H
#define COALIGN_BASE_MEM_H

#include <stddef.h>

/* count * size zeroed bytes; NULL when there is not enough memory or the product overflows. Free with mem_free. */
void *mem_zero(size_t count, size_t size);

/* Grows or shrinks like realloc, in elements; new bytes are not cleared. On failure returns NULL, old stays valid. */
void *mem_resize(void *old, size_t count, size_t size);

void mem_free(void *p);

/* Makes room for at least `need` elements of `size` bytes in *data, whose capacity is *capacity (doubling). */
int mem_reserve(void **data, size_t *capacity, size_t need, size_t size);

/* Test hook: the n-th allocation from now on fails (1 = the next one); 0 switches it off. Not thread-safe. */
void mem_fail_after(size_t n);

/* An arena: many small objects that live and die together. Zero-initialise, use, arena_free. */
typedef struct arena {
    struct arena_chunk *chunks;
} arena;

/* `size` zeroed bytes aligned for any type, or NULL. They live until arena_free. */
void *arena_alloc(arena *a, size_t size);
/* A copy of the string, or NULL when there is not enough memory. */
char *arena_string(arena *a, const char *text);
void arena_free(arena *a);

#endif

/* What the tests of src/layout share: copies from short tables, random copies, and element-by-element enumeration. */
#ifndef COALIGN_TESTS_LAYOUT_TEST_H
#define COALIGN_TESTS_LAYOUT_TEST_H

#include "base/num.h"
#include "layout/lmad.h"

#include <stddef.h>

/* "10,4,5" into values; the number of them. */
uint32_t list_of(const char *text, int64_t *values);
/* An i32 copy, offsets 0, from three lists. */
copy_desc copy_of(const char *shape, const char *dst, const char *src);

/* Counts an index up in row-major order; false after the last one. */
bool next_index(const lmad *l, int64_t *index);
/* Offset by the definition. */
int64_t offset_of(const lmad *l, const int64_t *index);

typedef struct pair {
    int64_t src, dst;
} pair;

enum { PAIRS_MAX = 1 << 16 };

/* All (source, destination) offsets in row-major order; their number. */
size_t pairs_of(const copy_desc *c, pair *pairs);
void sort_pairs(pair *pairs, size_t count);

/* A copy of rank 0..max_rank and few elements: permuted, sliced, reversed, padded, sometimes with arbitrary strides. */
copy_desc random_copy(prng *g, uint32_t max_rank);
/* A uniform number of [low, high]. */
int64_t between(prng *g, int64_t low, int64_t high);
void random_order(prng *g, uint32_t rank, uint32_t *order);

#endif

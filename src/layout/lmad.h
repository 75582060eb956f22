/* lmad.h - linear memory access descriptors: how an n-dimensional index becomes an offset in memory.
 *
 * An LMAD is an offset and, per dimension, a size n >= 0 and a stride s of either sign, all in elements. Element
 * (i_0 .. i_{r-1}) lies at offset + sum of i_k * s_k. Dimension 0 is written first and is the outermost.
 * Source of the term and of the uses here: "Optimising the identity function" (Futhark blog).
 */
#ifndef COALIGN_LAYOUT_LMAD_H
#define COALIGN_LAYOUT_LMAD_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { LMAD_RANK_MAX = 16 };

typedef struct lmad {
    int64_t offset;
    uint32_t rank;
    int64_t size[LMAD_RANK_MAX];
    int64_t stride[LMAD_RANK_MAX];
} lmad;

/* One copy: dst[i] = src[i] for every index of the common shape. The sizes of src and dst are equal. */
typedef struct copy_desc {
    uint32_t element_bytes; /* 1, 2, 4, 8 or 16 */
    lmad src, dst;
} copy_desc;

/* OK, or ERR_INPUT that names the value at fault: rank above LMAD_RANK_MAX, a negative size, a number of elements or an
 * offset of an element that does not fit 64 bits. `what` begins the message: "source", "destination". Functions below
 * that cannot fail expect an LMAD (or copy) that passed its check. */
status lmad_check(const lmad *l, const char *what, message *m);

/* Row-major layout without gaps, offset 0. ERR_INPUT as lmad_check. */
status lmad_row_major(const int64_t *size, uint32_t rank, lmad *out, message *m);

/* Product of the sizes; 1 for rank 0. ERR_INPUT when it does not fit. */
status lmad_elements(const lmad *l, int64_t *count, message *m);

/* Lowest and highest offset of an element. An empty LMAD touches nothing: lowest 0, highest -1. */
status lmad_range(const lmad *l, int64_t *lowest, int64_t *highest, message *m);

/* Offset of one element. ERR_INPUT when an index is outside its size. */
status lmad_apply(const lmad *l, const int64_t *index, int64_t *offset, message *m);

/* Some size is 0. */
bool lmad_empty(const lmad *l);

/* Dimension k of the result is dimension order[k] of l. */
lmad lmad_permute(const lmad *l, const uint32_t *order);

/* Merges neighbours, (n1,s1),(n2,s2) -> (n1*n2,s2) where s1 = n2*s2, and drops singletons. The row-major sequence of
 * offsets stays the same. An empty LMAD becomes the one dimension (0,1). */
lmad lmad_collapse(const lmad *l);

/* OK, or ERR_INPUT: both sides as lmad_check, equal shapes, element width 1, 2, 4, 8 or 16, addresses within 64 bits
 * of byte offset. */
status copy_check(const copy_desc *c, message *m);

/* Elements to copy. */
int64_t copy_elements(const copy_desc *c);

/* The same permutation on both sides. */
copy_desc copy_permute(const copy_desc *c, const uint32_t *order);

/* lmad_collapse where both sides allow it. The row-major sequence of (source, destination) pairs stays the same. */
copy_desc copy_collapse(const copy_desc *c);

/* Merges any two dimensions, neighbours or not, that both sides allow. The set of (source, destination) pairs stays
 * the same, their sequence may not: for kernels that may visit the elements in any order. */
copy_desc copy_collapse_any(const copy_desc *c);

/* --- the order of dimensions (order.c) --- */

/* The permutation that the general kernel sorts by, dimension 0 of the result fastest: selection sort by source stride,
 * then destination stride, first minimum wins, minimum and current position swap (so it is not stable). Strides
 * compare by magnitude, or with their sign if signed_strides. Source: the post names the two keys and selection sort;
 * it does not say what happens to signs and ties. */
void copy_sort_order(const copy_desc *c, bool signed_strides, uint32_t *order);
/* The copy so permuted. */
copy_desc copy_sort(const copy_desc *c, bool signed_strides);

typedef enum contiguity {
    CONTIGUITY_FUTHARK,           /* singletons count: their stride must fit into the chain 1, n, n*n', ... as well */
    CONTIGUITY_IGNORE_SINGLETONS, /* the rule as the post words it */
} contiguity;

/* Whether the dimensions, in some order, have strides 1, n, n*n', ...: no gaps, no negative strides. order (may be
 * NULL) receives that order, stride 1 first, ignored singletons last; of several the lexicographically first. An empty
 * LMAD is contiguous. */
bool lmad_contiguous(const lmad *l, contiguity rule, uint32_t *order);

/* --- elements that share a place (collide.c) --- */

/* Result of an exact search with a bounded number of steps. */
typedef enum answer { ANSWER_NO, ANSWER_YES, ANSWER_UNKNOWN } answer;

/* Two indices that lie at the same offset. */
typedef struct lmad_collision {
    int64_t first[LMAD_RANK_MAX], second[LMAD_RANK_MAX];
} lmad_collision;

/* Whether different indices always lie at different offsets. YES and NO are proofs, NO comes with a collision (if not
 * NULL). UNKNOWN only when the search ran out of its 65536 steps; layouts whose strides nest, as slices, transposes,
 * reversals and padding produce them, take a few steps a dimension whatever their size. */
answer lmad_injective(const lmad *l, lmad_collision *collision);

typedef enum copy_overlap {
    OVERLAP_NONE,        /* the byte ranges are apart */
    OVERLAP_SELF,        /* every element is copied onto itself */
    OVERLAP_INTERLEAVED, /* the byte ranges intersect, but no source byte is a destination byte */
    OVERLAP_SHARED,      /* some byte is both read and written: the result depends on the order */
    OVERLAP_UNKNOWN,     /* the byte ranges intersect; the search for a shared byte gave up */
} copy_overlap;

/* How source and destination lie to each other in one memory; bases are the byte addresses of element offset 0. */
copy_overlap copy_overlaps(const copy_desc *c, int64_t src_base, int64_t dst_base);

#endif

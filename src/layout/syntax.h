/* syntax.h - the text forms of shapes, layouts and permutations that users type, and the views that they name.
 *
 *   dataset      [8192][8193]i32                         rank 0: i32
 *   layout       1:[(8192,8193),(8192,1)]                offset:[(size,stride), ...], outermost first; "1:" may be left
 *                                                        out; rank 0: []
 *   permutation  {0,2,1}                                 dimension k of the result is dimension entry[k] of the array
 *
 * Blanks may stand between any two tokens. Datasets are written as Futhark writes types (its benchmarks name data sets
 * so). Errors are ERR_INPUT and begin with "column N: ", counted in bytes from 1.
 */
#ifndef COALIGN_LAYOUT_SYNTAX_H
#define COALIGN_LAYOUT_SYNTAX_H

#include "layout/lmad.h"

#include <stddef.h>

/* X(name, bytes, what). b128 is PTX's name for 16 untyped bytes. */
#define ELEMENT_TYPE_LIST(X)                                                                                           \
    X("i8", 1, "signed integer")                                                                                       \
    X("u8", 1, "unsigned integer")                                                                                     \
    X("i16", 2, "signed integer")                                                                                      \
    X("u16", 2, "unsigned integer")                                                                                    \
    X("i32", 4, "signed integer")                                                                                      \
    X("u32", 4, "unsigned integer")                                                                                    \
    X("i64", 8, "signed integer")                                                                                      \
    X("u64", 8, "unsigned integer")                                                                                    \
    X("f16", 2, "floating point")                                                                                      \
    X("f32", 4, "floating point")                                                                                      \
    X("f64", 8, "floating point")                                                                                      \
    X("bool", 1, "truth value")                                                                                        \
    X("b128", 16, "16 untyped bytes, as a vector of four f32")

typedef struct dataset {
    uint32_t rank;
    int64_t size[LMAD_RANK_MAX];
    uint32_t element_bytes;
    const char *type; /* one of ELEMENT_TYPE_LIST, static */
} dataset;

status parse_dataset(const char *text, dataset *d, message *m);
status parse_lmad(const char *text, lmad *l, message *m);
/* Exactly `rank` entries, each of 0 .. rank-1 once. */
status parse_permutation(const char *text, uint32_t rank, uint32_t *order, message *m);

/* Room for any of the texts below, NUL included. */
enum { SYNTAX_TEXT_MAX = 48 * (LMAD_RANK_MAX + 1) };

/* The same syntax back, without blanks; an offset of 0 is left out. Cut to `size` bytes, NUL included; size >= 1. The
 * result is `buffer`. */
char *format_dataset(char *buffer, size_t size, const dataset *d);
char *format_lmad(char *buffer, size_t size, const lmad *l);
char *format_permutation(char *buffer, size_t size, const uint32_t *order, uint32_t rank);

/* X(name, rank it needs or 0 for any, what): copies of a view of a row-major array into a new row-major array. */
#define VIEW_LIST(X)                                                                                                   \
    X(copy, 0, "the whole array")                                                                                      \
    X(transpose, 0, "the array with its dimensions permuted; without a permutation, reversed")                         \
    X(slice_2d, 2, "all rows without their first element: xss[:, 1:]")                                                 \
    X(slice_3d, 3, "without the first element of the innermost dimension: xsss[:, :, 1:]")                             \
    X(reversed_rows, 2, "each row backwards")

/* The copy that the view of that name makes of the array. `permutation` (text as above, or NULL) goes with transpose
 * only. ERR_INPUT: no such view, wrong rank, nothing to drop, a bad permutation, sizes too large. */
status view_copy(const char *name, const dataset *d, const char *permutation, copy_desc *c, message *m);

#endif

/* factor.h - data factoring: where the misses of a stated order of accesses come from, array by array.
 *
 * Arrays lie one after the other, each at a page boundary, all line-aligned. Passes follow each other; a pass walks its
 * touches in step, element by element, and may be repeated. Misses of one cache, as if it saw every access itself
 * (three C's: M. D. Hill, "Aspects of Cache Memory and Instruction Buffer Performance", 1987): compulsory   the first
 * access to a line capacity     further misses of a fully associative LRU cache of the same size conflict     what the
 * real sets add to that; negative where they happen to do better than LRU Counts are exact. Loads and stores count
 * alike (stores allocate).
 */
#ifndef COALIGN_MODEL_FACTOR_H
#define COALIGN_MODEL_FACTOR_H

#include "base/status.h"
#include "layout/lmad.h"
#include "machine/machine.h"

#include <stdint.h>

enum {
    FACTOR_ARRAYS_MAX = 16,
    FACTOR_TOUCHES_MAX = 64,
    FACTOR_PASSES_MAX = 32,
    FACTOR_NAME_MAX = 32,
    FACTOR_ALIGN = 4096
};

typedef struct factor_array {
    char name[FACTOR_NAME_MAX];
    uint32_t element_bytes;
    uint64_t elements;
} factor_array;

typedef struct factor_touch {
    uint32_t array;
    lmad layout; /* the elements in the order of the walk, innermost dimension fastest */
} factor_touch;

typedef struct factor_pass {
    uint32_t first_touch, touches;
    uint64_t repeat; /* >= 1 */
} factor_pass;

typedef struct factoring {
    uint32_t arrays, touches, passes;
    factor_array array[FACTOR_ARRAYS_MAX];
    factor_touch touch[FACTOR_TOUCHES_MAX];
    factor_pass pass[FACTOR_PASSES_MAX];
} factoring;

typedef struct factor_count {
    uint64_t accesses;   /* of lines */
    uint64_t compulsory; /* = the lines that are ever touched: the working set of the whole */
    uint64_t capacity;
    int64_t conflict;
} factor_count;

/* OK, or ERR_INPUT: a pass whose touches differ in elements, a touch outside its array, more accesses or lines than can
 * be followed (2^32, 2^28). *which: the pass at fault. */
status factor_check(const factoring *f, uint32_t *which, message *m);

/* The checked factoring on one cache, empty at the start of the first pass: count[p][a] for each pass and array.
 * ERR_MEMORY. */
status factor_cache(const factoring *f, const cache_level *cache, factor_count (*count)[FACTOR_ARRAYS_MAX], message *m);

/* Bytes of lines that a pass touches, all arrays together: its working set. */
uint64_t factor_working_set(const factoring *f, uint32_t pass, uint32_t line_bytes);

#endif

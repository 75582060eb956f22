/* pattern.h - simple walks over memory as kernels: what microbenchmarks of caches measure. On a GPU one thread walks.
 *
 * A pattern touches `bytes` of memory in units of `stride_bytes`, one access of `access_bytes` at each, in ascending or
 * in random order; a pass visits every unit once, in the same order each time. The random order is a permutation in
 * closed form (ir_permuted), so any number of units costs no memory. Chase: each load's address depends on the load
 * before. Copy: the second half of the units is the destination. The loop is unrolled as far as the number of units
 * allows: per access the load (and store), for a read one addition of what was read, and once a turn a counter and a
 * branch.
 */
#ifndef COALIGN_KERNEL_PATTERN_H
#define COALIGN_KERNEL_PATTERN_H

#include "kernel/ir.h"

#include <stdbool.h>

/* X(enumerator, name in configs and measured files, what it does) */
#define PATTERN_LIST(X)                                                                                                \
    X(PATTERN_CHASE, "chase", "dependent loads")                                                                       \
    X(PATTERN_READ, "read", "independent loads")                                                                       \
    X(PATTERN_WRITE, "write", "stores")                                                                                \
    X(PATTERN_COPY, "copy", "loads from the first half, stores to the second")

typedef enum pattern_kind {
#define X(id, name, what) id,
    PATTERN_LIST(X)
#undef X
        PATTERN_COUNT
} pattern_kind;

typedef struct pattern {
    pattern_kind kind;
    uint64_t bytes;        /* working set: all arrays together */
    uint64_t stride_bytes; /* distance of neighbouring units */
    uint32_t access_bytes; /* a power of two, at most IR_ACCESS_MAX */
    bool random;           /* order of the units; a chase is always random */
    bool stagger;          /* unit i of a pass is entered (i mod 64) lines of 64 B in: lines of pages in all sets */
    bool nontemporal;      /* stores go past the caches */
    uint32_t threads;      /* each walks a working set of its own, one behind the other; 0 = 1 */
    int64_t thread_bytes;  /* distance of the threads' working sets; 0: `bytes` */
} pattern;

const char *pattern_kind_name(pattern_kind k);

/* Units that a pass visits. */
uint64_t pattern_units(const pattern *p);

/* The kernel that makes `accesses` accesses, rounded to whole turns of its loop: passes over all units one after the
 * other, or the beginning of one. *k is to be freed with kernel_free, also after a failure. *done: how many it makes.
 * ERR_INPUT: sizes that make no sense. */
status pattern_kernel_build(const pattern *p, uint64_t accesses, kernel *k, uint64_t *done, message *m);

#endif

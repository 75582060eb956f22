/* mrc.h - miss-ratio curve: the misses of fully associative LRU caches of all sizes, in one pass over the accesses.
 *
 * LRU caches include each other, so that one number per access tells all of them: its stack distance, the distinct
 * other lines since the last access to its line. It hits where the cache has more lines than that (Mattson, Gecsei,
 * Slutz, Traiger 1970). The number of distinct lines comes from a tree over the times of last use (Olken 1981): O(log
 * n) steps an access, and memory for the lines, not for the accesses.
 *
 * Sampled: only lines whose hash falls into a share of the hash space are followed, and distances count that many times
 * more (SHARDS: Waldspurger, Park, Garthwaite, Ahmad 2015). The share is a power of two that is halved whenever more
 * than `lines_max` lines would have to be kept, so that memory is bounded and all arithmetic is in whole numbers.
 *
 * An access that touches several lines is one access to each; a modify is one read.
 */
#ifndef COALIGN_SIM_MRC_H
#define COALIGN_SIM_MRC_H

#include "base/status.h"
#include "trace/access.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mrc mrc;

enum { MRC_LINES_MIN = 1024, MRC_LINES_MAX = 1 << 28 }; /* of a sample */

/* line_bytes: a power of two from 4. lines_max: 0 for the exact curve, else from MRC_LINES_MIN to MRC_LINES_MAX.
 * ERR_INPUT, ERR_MEMORY; *out is NULL then. */
status mrc_new(uint32_t line_bytes, uint64_t lines_max, mrc **out, message *m);
void mrc_free(mrc *c);

/* The next accesses; fetches are left out. ERR_MEMORY: more lines than memory. */
status mrc_run(mrc *c, const trace_access *access, size_t count, message *m);

typedef struct mrc_point {
    double read_misses, write_misses; /* whole numbers where the curve is exact */
    double low, high;                 /* 95 % interval of read_misses + write_misses; equal to it where exact */
} mrc_point;

/* Of a cache of `lines` lines. */
mrc_point mrc_at(const mrc *c, uint64_t lines);

typedef struct mrc_total {
    uint64_t reads, writes;  /* line accesses, all of them */
    uint64_t distinct_lines; /* touched; estimated where sampled */
    uint32_t sampled_shift;  /* of the lines 1 in 2^sampled_shift was followed at the end; 0: all */
    uint64_t followed_lines; /* at the end */
} mrc_total;

mrc_total mrc_totals(const mrc *c);

#endif

/* plan.h - which strategy a copy should use, and why. */
#ifndef COALIGN_LAYOUT_PLAN_H
#define COALIGN_LAYOUT_PLAN_H

#include "layout/lmad.h"

/* X(enumerator, name in configs and reports) */
#define STRATEGY_LIST(X)                                                                                               \
    X(COPY_NOTHING, "nothing") /* an empty shape */                                                                    \
    X(COPY_MEMCPY, "memcpy")                                                                                           \
    X(COPY_GENERAL, "general")                     /* one thread an element, dimension 0 fastest */                    \
    X(COPY_TRANSPOSE_DEFAULT, "transpose_default") /* 32x32 tile with padding, 32x4 threads, 8 elements a thread */    \
    X(COPY_TRANSPOSE_LARGE, "transpose_large")     /* the same, 64-bit indices */                                      \
    X(COPY_TRANSPOSE_SMALL, "transpose_small")                                                                         \
    X(COPY_TRANSPOSE_LOW_WIDTH, "transpose_low_width")                                                                 \
    X(COPY_TRANSPOSE_LOW_HEIGHT, "transpose_low_height")                                                               \
    X(COPY_TRANSPOSE_UNPADDED, "transpose_unpadded") /* default without the padding column: bank conflicts */          \
    X(COPY_TRANSPOSE_NAIVE, "transpose_naive")       /* no tile: contiguous reads, strided writes */

typedef enum copy_strategy {
#define X(id, name) id,
    STRATEGY_LIST(X)
#undef X
        COPY_STRATEGY_COUNT
} copy_strategy;

/* How the general kernel turns a flat index into coordinates. */
typedef enum index_variant {
    INDEX_64,        /* 64-bit division by run-time sizes: what Futhark's run-time system does */
    INDEX_32,        /* 32-bit division; needs every offset below 2^31 */
    INDEX_INVARIANT, /* 32-bit, division by multiplication with precomputed reciprocals */
} index_variant;

typedef struct copy_options {
    copy_strategy strategy;
    index_variant index;
    uint32_t elements_per_thread; /* general kernel: 1, 2, 4, 8 */
    bool sorted;                  /* general kernel: permute the dimensions by stride first */
    bool signed_sort;             /* compare strides with their sign (the post's literal wording) */
    bool collapse;                /* general kernel: merge mergeable dimensions first */
    bool nontemporal;             /* CPUs, memcpy: stores past the caches */
    uint32_t tile;                /* CPUs, transpositions: side of the tiles, in rows; 0: by recursion */
    uint32_t cores;               /* CPUs: cores that share the copy; 0 = 1 */
} copy_options;

/* A transposition as memory sees it: `batches` row-major matrices of `rows` x `columns` become their transposes.
 * Matrix b starts src_batch_stride * b (dst_ likewise) elements after the first. */
typedef struct transpose_shape {
    int64_t batches, rows, columns;
    int64_t src_batch_stride, dst_batch_stride;
} transpose_shape;

const char *copy_strategy_name(copy_strategy s);
const char *index_variant_name(index_variant v);

/* --- transpositions (transpose.c) --- */

typedef enum batch_rule {
    BATCHES_ABUT,    /* Futhark's run-time system: batch strides are those of the row-major shape on both sides */
    BATCHES_MAY_GAP, /* also batches at any one distance from each other, as the post words it */
} batch_rule;

/* Whether the copy, as given, is a (batched) transposition. Leading dimensions with row-major strides on both sides are
 * batches. Of the rest one side must be row-major, and the other the same after some split: the dimensions before the
 * split run fastest, then those from the split on; the first split that fits is taken. If that fails and batches may
 * gap, leading dimensions that merge into one on both sides are tried as batches, the fewest first, for a rest of at
 * least two rows and columns. The copy has passed copy_check and is not empty. */
bool copy_find_transpose(const copy_desc *c, batch_rule rule, transpose_shape *t);

/* The kernel for a transposition, by the rules of Futhark's run-time system, in 64-bit arithmetic. */
copy_strategy transpose_kernel(const copy_desc *c, const transpose_shape *t);

/* The batches of t do not abut on some side. */
bool transpose_has_gaps(const transpose_shape *t);

/* 32-bit indices reach every element of the transposition. */
bool transpose_fits_32(const copy_desc *c, const transpose_shape *t);

/* --- what limits the width of accesses and indices (width.c) --- */

enum { PLAN_TEXT_MAX = 512 };

/* A sentence for the user. */
typedef struct plan_text {
    char text[PLAN_TEXT_MAX];
} plan_text;

/* The widest access, a power of two of at most 16 bytes, that is aligned wherever it starts: at the base address plus
 * offset and after every stride; wider than an element only along a dimension of stride 1 whose size is a whole number
 * of such accesses. Below element_bytes: not even single elements are aligned (real hardware faults). `why` (may be
 * NULL) names what limits it. base: byte address of element offset 0. */
uint32_t lmad_vector_bytes(const lmad *l, uint32_t element_bytes, int64_t base, plan_text *why);

/* A kernel with 32-bit signed indices can do the copy: every offset fits, and so does the flat index even after the
 * last `grid_step` that a grid-stride loop adds before it compares with the element count. `why_not` may be NULL. */
bool copy_fits_32(const copy_desc *c, uint64_t grid_step, plan_text *why_not);

/* --- the plan (plan.c) --- */

typedef struct plan_options {
    batch_rule batches;
    contiguity contiguous;
    copy_options general;       /* how the general kernel is set up where it is chosen; .strategy is not read */
    bool same_memory;           /* both sides are views of one memory: look for overlap */
    int64_t src_base, dst_base; /* byte addresses of element offset 0 */
    uint64_t grid_step;         /* threads of the grid, for the 32-bit warning; 0: one an element, blocks of 256 */
} plan_options;

/* Batches may gap; the general kernel sorts by magnitude, one element a thread, 64-bit indices; separate memories,
 * bases aligned as far as any access needs. */
plan_options plan_options_default(void);
/* The decisions of Futhark's run-time system (commit 48a0c814, 2026-08): batches abut, nothing is sorted. */
plan_options plan_options_futhark(void);

/* X(enumerator, name in reports) */
#define PLAN_NOTE_LIST(X)                                                                                              \
    X(NOTE_GAPPED_BATCHES, "gapped_batches") /* the strategy rests on BATCHES_MAY_GAP */                               \
    X(NOTE_OVERLAP, "overlap")               /* source and destination meet in memory */                               \
    X(NOTE_COLLISION, "collision")           /* two elements have, or may have, the same destination */                \
    X(NOTE_INDEX_32, "index_32")             /* a kernel with 32-bit indices would overflow */                         \
    X(NOTE_MISALIGNED, "misaligned")         /* an element's address is no multiple of its width */                    \
    X(NOTE_RANK, "rank")                     /* more dimensions than Futhark's general kernel takes */

typedef enum plan_note_kind {
#define X(id, name) id,
    PLAN_NOTE_LIST(X)
#undef X
        PLAN_NOTE_COUNT
} plan_note_kind;

typedef struct plan_verdict {
    bool applicable;
    plan_text why; /* why it is, or why not */
} plan_verdict;

typedef struct copy_plan {
    copy_options options; /* .strategy is the choice */
    int64_t elements;
    bool transposes;                     /* the copy is a transposition, whatever the choice */
    transpose_shape transpose;           /* if it is */
    uint32_t rank, order[LMAD_RANK_MAX]; /* the general kernel's dimensions, after collapsing, fastest first */
    plan_text reason;                    /* "memcpy: ..." */
    plan_verdict verdict[COPY_STRATEGY_COUNT];
    uint32_t src_vector_bytes, dst_vector_bytes; /* lmad_vector_bytes */
    plan_text src_vector_why, dst_vector_why;
    bool noted[PLAN_NOTE_COUNT];
    plan_text note[PLAN_NOTE_COUNT]; /* of those noted */
} copy_plan;

const char *plan_note_name(plan_note_kind k);

/* Whether the strategy can do this copy (which has passed copy_check), not whether it should; `why` says why or why
 * not. t (may be NULL) receives the shape where the strategy is a transposition and applies. */
bool plan_applicable(const copy_desc *c, copy_strategy s, const plan_options *o, transpose_shape *t, plan_text *why);

/* Decides as Futhark's run-time system does, in this order: empty, transposition, memcpy, general. ERR_INPUT when the
 * copy does not pass copy_check. */
status plan_copy(const copy_desc *c, const plan_options *o, copy_plan *plan, message *m);

#endif

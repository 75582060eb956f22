/* hoist.h - global loads moved to the front of the innermost loops' bodies, so that their latencies overlap.
 *
 * The rules are those of CINN's pass "rearrange load instruction" (PaddlePaddle #70258):
 *
 * 1. The function is walked once in program order. Whatever a schedule block stores to counts as written from there on,
 *    and, as a list is treated after its blocks, also within its own list.
 * 2. A leaf block is a list of statements inside a loop that are schedule blocks, all of them. Only leaf blocks change.
 * 3. Their loads are those of the stored values, in order. A block with an if, and one that fills a local array with a
 *    single load, contribute none.
 * 4. A load qualifies if its array is global and not written and no load stands in its subscripts. Ours besides: nor
 *    a let of its own schedule block, which would not be known yet in front.
 * 5. In c ? a : b the loads of c count; those of a and b only where they qualify in both, in a's order.
 * 6. Loads with the same text are one, at the place of the first.
 * 7. They are sorted by body_array.estimate, largest first, equal ones as they came; the first `limit` stay.
 * 8. Each becomes a let in front, in that order, and takes the place of every load of that text in the list: also in
 *    the blocks that contributed none, in conditions, in one side of a select, and in subscripts of stores. The
 *    subscripts of loads that stay are left alone.
 */
#ifndef COALIGN_KERNEL_HOIST_H
#define COALIGN_KERNEL_HOIST_H

#include "kernel/body.h"

enum { HOIST_LIMIT_DEFAULT = 8 };

/* X(enumerator, in words) */
#define HOIST_VERDICT_LIST(X)                                                                                          \
    X(HOIST_DONE, "hoisted")                                                                                           \
    X(HOIST_LIMIT, "beyond the limit")                                                                                 \
    X(HOIST_NOT_GLOBAL, "not in global memory")                                                                        \
    X(HOIST_WRITTEN, "its array is written here or earlier")                                                           \
    X(HOIST_INDIRECT, "its index contains a load")                                                                     \
    X(HOIST_NEEDS_LET, "its index uses a let of its own schedule block")                                               \
    X(HOIST_ONE_SIDED, "only in one branch of a select")                                                               \
    X(HOIST_IN_IF, "its schedule block contains an if")                                                                \
    X(HOIST_LOCAL_INIT, "its schedule block only fills a local array")                                                 \
    X(HOIST_IN_SUBSCRIPT, "only inside an index")                                                                      \
    X(HOIST_IN_LET, "only in a let of a schedule block")

typedef enum hoist_verdict {
#define X(id, words) id,
    HOIST_VERDICT_LIST(X)
#undef X
} hoist_verdict;

const char *hoist_verdict_text(hoist_verdict v);

/* A load of a leaf block, by its text. */
typedef struct hoist_load {
    const char *text;
    const char *let;         /* its new name; NULL when it was not hoisted */
    const body_array *array; /* of the new body */
    body_place at;           /* of its first use */
    uint32_t uses;           /* loads of this text in the leaf block as written */
    hoist_verdict verdict;
} hoist_load;

/* A list of statements that holds schedule blocks. */
typedef struct hoist_leaf {
    body_place at;         /* of its first statement */
    const body_stmt *loop; /* of the new body: the innermost loop around it, or NULL */
    const char *obstacle;  /* why it is no leaf block, in words; its loads are not listed then. NULL: it is one */
    hoist_load *load;      /* the hoisted ones in their new order, then the others as they came */
    uint32_t loads, hoisted;
} hoist_leaf;

/* In program order, inner lists before outer ones. Zero-initialise; free with hoist_report_free. */
typedef struct hoist_report {
    arena memory;
    hoist_leaf *leaf;
    size_t leaf_capacity;
    uint32_t leaves;  /* entries, those with an obstacle included */
    uint32_t hoisted; /* in all */
    uint32_t limit;
} hoist_report;

/* Fills *out (free with body_free, also after a failure) with the transformed copy of `in`, and *report with what was
 * done and why. limit 0 hoists nothing. The report points into *out. ERR_MEMORY. */
status hoist(const body *in, uint32_t limit, body *out, hoist_report *report, message *m);
void hoist_report_free(hoist_report *r);

#endif

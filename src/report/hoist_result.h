/* hoist_result.h - what hoisting loads does to a kernel: the simulated variants, why one is faster, and the report. */
#ifndef COALIGN_REPORT_HOIST_RESULT_H
#define COALIGN_REPORT_HOIST_RESULT_H

#include "kernel/hoist.h"
#include "kernel/lower.h"
#include "report/report.h"

/* X(enumerator, name in CSV and JSON) */
#define HOIST_CAUSE_LIST(X)                                                                                            \
    X(CAUSE_NOTHING, "nothing_to_hoist")                                                                               \
    X(CAUSE_OVERLAP, "more_loads_overlap")                                                                             \
    X(CAUSE_FEWER_LOADS, "fewer_loads")                                                                                \
    X(CAUSE_BANDWIDTH, "bandwidth_bound")                                                                              \
    X(CAUSE_ENOUGH_WARPS, "enough_warps")                                                                              \
    X(CAUSE_ALREADY, "loads_overlap_already")                                                                          \
    X(CAUSE_OCCUPANCY, "occupancy_step")                                                                               \
    X(CAUSE_SPILLS, "spills")                                                                                          \
    X(CAUSE_QUEUE, "load_burst")                                                                                       \
    X(CAUSE_THRASH, "cache_thrash")                                                                                    \
    X(CAUSE_DRAM, "dram_turnarounds")                                                                                  \
    X(CAUSE_OTHER, "other")

typedef enum hoist_cause {
#define X(id, name) id,
    HOIST_CAUSE_LIST(X)
#undef X
} hoist_cause;

enum { HOIST_REASON_MAX = 768 };

/* One number of hoisted loads. */
typedef struct hoist_variant {
    uint32_t limit, hoisted;
    lowered code;
    timeline line;                 /* of the first warp of the first block */
    uint32_t turn_first, turn_end; /* its events of one turn of the innermost loop; all when there is none */
    uint32_t loads_in_flight;      /* global loads of that warp, at most */
    run_record run;
} hoist_variant;

typedef struct hoist_result {
    const char *name, *place;
    const char *before_text, *after_text; /* the bodies */
    const hoist_report *pass;             /* with the limit asked for */
    hoist_variant *variant;               /* by rising number of hoisted loads */
    uint32_t variants, before, after, best;
    uint64_t same_warps_cycles; /* of `after`, were its registers those of `before`; 0: not simulated */
    hoist_cause cause;
    char reason[HOIST_REASON_MAX]; /* one sentence */
} hoist_result;

const char *hoist_cause_name(hoist_cause c);

/* How many times as fast as the body as written. */
double hoist_speedup(const hoist_result *r, uint32_t variant);
/* Cycles that a warp spends on this reason, on average. */
double hoist_stall(const hoist_variant *v, stall_reason reason);

/* Warps that a core holds: what its resources allow, and what the grid gives it. */
uint32_t hoist_warps(const hoist_variant *v);

/* Finds the turn in the timeline and the loads in flight. */
void hoist_watch(hoist_variant *v);
/* Fills cause and reason from the counters. */
void hoist_explain(hoist_result *r);

/* Text: a page for each result; CSV: a row for each variant; JSON: everything. */
status report_hoist(FILE *out, const report_options *o, const hoist_result *results, size_t count, message *m);
/* CSV of the timelines of before and after: a row for each instruction of a turn. */
status report_timeline(FILE *out, const hoist_result *results, size_t count, message *m);

/* The text of one result; part of report_hoist. */
status hoist_page(FILE *out, const report_options *o, const hoist_result *r, message *m);
/* A row for each result: what hoisting brings, and why. */
status hoist_summary(FILE *out, const report_options *o, const hoist_result *results, size_t count, message *m);

/* Two rows of a turn, `columns` wide, `scale` cycles a column: what was issued, and loads in flight. The buffers hold
 * columns + 1 bytes. */
void timeline_rows(const hoist_variant *v, uint32_t columns, int64_t scale, char *issue, char *flight);
int64_t timeline_span(const hoist_variant *v); /* cycles of the turn */

#endif

/* metrics.h - every figure a report can show: its name, its unit, what it means, and how to get it from a record.
 *
 * One table feeds the CSV columns, the JSON keys, the details page and `coalign metrics`. A metric that Nsight Compute
 * has too carries Nsight Compute's name; where our meaning is wider (another vendor's caches), the description says so.
 * A figure that is not known, such as the hit rate of a cache that saw no access, is VALUE_NONE: never 0.
 */
#ifndef COALIGN_REPORT_METRICS_H
#define COALIGN_REPORT_METRICS_H

#include "report/record.h"

#include <stddef.h>
#include <stdint.h>

typedef enum value_kind {
    VALUE_NONE,  /* not known or not applicable: printed as n/a, null in JSON */
    VALUE_COUNT, /* an exact integer */
    VALUE_REAL,
    VALUE_TEXT,
    VALUE_HASH, /* 64 bits, printed as 16 hexadecimal digits */
} value_kind;

typedef struct metric_value {
    value_kind kind;
    union {
        uint64_t count; /* VALUE_COUNT, VALUE_HASH */
        double real;
        const char *text; /* the record's or the machine's */
    };
} metric_value;

/* X(enumerator, title on the details page) */
#define SECTION_LIST(X)                                                                                                \
    X(SECTION_RESULT, "Result")                                                                                        \
    X(SECTION_TIME, "Time")                                                                                            \
    X(SECTION_MEMORY, "Memory workload")                                                                               \
    X(SECTION_SHARED, "Shared memory")                                                                                 \
    X(SECTION_CACHES, "Caches")                                                                                        \
    X(SECTION_DRAM, "DRAM")                                                                                            \
    X(SECTION_CPU, "CPU")                                                                                              \
    X(SECTION_OCCUPANCY, "Launch and occupancy")                                                                       \
    X(SECTION_INSTRUCTIONS, "Instructions")                                                                            \
    X(SECTION_STALLS, "Warp state")

typedef enum section {
#define X(id, title) id,
    SECTION_LIST(X)
#undef X
        SECTION_COUNT
} section;

typedef struct metric {
    section where;
    const char *name;
    const char *label; /* for people; a load/store pair shares it and stands in adjacent rows of the table */
    const char *unit;  /* "" for texts and ratios without one */
    const char *what;
    metric_value (*get)(const run_record *r, uint32_t argument);
    uint32_t argument; /* which direction, stall reason, class or pipe */
} metric;

/* Figures of one cache level; in CSV their columns are "<level name in lower case>_<name>". */
typedef struct level_metric {
    const char *name, *label, *unit, *what;
    metric_value (*get)(const run_record *r, uint32_t level);
} level_metric;

extern const metric metric_table[];
extern const size_t metric_count;
extern const level_metric level_metric_table[];
extern const size_t level_metric_count;

const char *section_title(section s);

/* Share of the read sectors of a level, in %, that needed no fetch of their own: present, or on their way already. */
metric_value level_read_hit(const run_record *r, uint32_t level);

/* NULL when there is no metric of that name. */
const metric *metric_find(const char *name);
/* VALUE_NONE when there is no such metric. */
metric_value metric_get(const run_record *r, const char *name);

#endif

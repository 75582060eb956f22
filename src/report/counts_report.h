/* counts_report.h - the counts of a cache-only replay as text, JSON or CSV (a row a level). */
#ifndef COALIGN_REPORT_COUNTS_REPORT_H
#define COALIGN_REPORT_COUNTS_REPORT_H

#include "report/report.h"
#include "sim/counts.h"

typedef struct counts_record {
    const char *trace; /* its name */
    uint64_t accesses; /* of the program, fetches included */
    const counts_hierarchy *caches;
    counts_level fetch; /* where caches has one */
    counts_level data[COUNTS_LEVELS_MAX];
} counts_record;

status report_counts(FILE *out, const report_options *options, const counts_record *r, message *m);

#endif

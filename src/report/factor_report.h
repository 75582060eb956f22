/* factor_report.h - the misses of a factoring by cause, array by array and level by level, and what fits where.
 *
 * Text: a table of working sets, a table of misses. CSV: a row for each level, pass and array. JSON: {"version",
 * "machine", "passes": [...], "levels": [{"level", "size_bytes", "arrays": [...]}]}.
 */
#ifndef COALIGN_REPORT_FACTOR_REPORT_H
#define COALIGN_REPORT_FACTOR_REPORT_H

#include "model/factor.h"
#include "report/report.h"

typedef struct factor_record {
    const machine *mach;
    const factoring *f;
    factor_count count[MACHINE_LEVELS_MAX][FACTOR_PASSES_MAX][FACTOR_ARRAYS_MAX];
} factor_record;

status report_factoring(FILE *out, const report_options *options, const factor_record *record, message *m);

#endif

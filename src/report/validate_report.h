/* validate_report.h - predictions beside measurements: text, JSON, CSV (a row a point), or the accuracy table. */
#ifndef COALIGN_REPORT_VALIDATE_REPORT_H
#define COALIGN_REPORT_VALIDATE_REPORT_H

#include "measure/comparison.h"
#include "report/report.h"

/* Text: for each set its statistics, plateaus and knees, and with details or few points every point. ERR_IO,
 * ERR_MEMORY. */
status report_validate(FILE *out, const report_options *options, const comparison *sets, size_t count, message *m);

/* A row a set and metric in Markdown. */
void report_accuracy_table(FILE *out, const comparison *sets, size_t count);

#endif

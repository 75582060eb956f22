/* text.h - the parts of the text report (internal to src/report). */
#ifndef COALIGN_REPORT_TEXT_H
#define COALIGN_REPORT_TEXT_H

#include "report/report.h"

#include <stdbool.h>

enum { CELL = 64 }; /* bytes of a cell's text */

/* Three to five digits, no grouping: narrow, and readable by awk. Writes to buffer[CELL] and returns it. */
char *short_metric(char *buffer, const run_record *r, const char *name);
/* The error with its sign, likewise. */
char *signed_error(char *buffer, const run_record *r);
/* The 95 % confidence interval of a sampled run, "[3062, 3084]"; else n/a. */
char *predicted_interval(char *buffer, const run_record *r);

/* The table with a row for each run, and what should be known beside it. */
status text_summary(FILE *out, const report_options *options, const run_record *records, size_t count, message *m);

/* Everything about one run. */
status text_page(FILE *out, const report_options *options, const run_record *r, message *m);

#endif

/* report.h - finished runs as a table for people, JSON, or CSV.
 *
 * Text: a summary with a row per run and, with details or for a single run, a page per run. JSON: an object
 * {"version", "units": {metric: unit}, "runs": [...]}, each run with every metric under its name (null when unknown)
 * and "levels". CSV (RFC 4180, LF): a header and a row per run, the metrics in table order, then the levels'; unknown
 * is n/a. What a metric means: metrics.h.
 */
#ifndef COALIGN_REPORT_REPORT_H
#define COALIGN_REPORT_REPORT_H

#include "base/status.h"
#include "report/metrics.h"
#include "report/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum report_format { REPORT_TEXT, REPORT_JSON, REPORT_CSV } report_format;

enum { REPORT_WIDTH = 100 }; /* columns of text where the caller knows no better */

typedef struct report_options {
    report_format format;
    size_t width;               /* text: columns */
    const char *title;          /* text: a line above the table, or NULL */
    bool details;               /* text: a page per run even when there are several */
    const char *version;        /* JSON: of the program */
    const run_record *baseline; /* text: NULL, or the run that the others' speed is compared to */
} report_options;

/* Writes records[0 .. count) to out. ERR_MEMORY, or ERR_IO when the stream has an error (out is not closed). */
status report_write(FILE *out, const report_options *options, const run_record *records, size_t count, message *m);

/* The list of metrics: name, unit, meaning; text, JSON or CSV. */
status report_metrics(FILE *out, const report_options *options, message *m);

/* The three formats; called by report_write. */
status report_text(FILE *out, const report_options *options, const run_record *records, size_t count, message *m);
status report_json(FILE *out, const report_options *options, const run_record *records, size_t count, message *m);
status report_csv(FILE *out, const run_record *records, size_t count, message *m);

/* A value for people: four significant digits, counts in groups of three, "n/a". Returns buffer. */
char *format_value(char *buffer, size_t size, metric_value v);

/* ERR_IO with errno's reason when the stream is in error. `what` names it in the message. */
status stream_status(FILE *out, const char *what, message *m);

#endif

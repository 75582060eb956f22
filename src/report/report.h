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

/* The CSV table piece by piece, for those who have not all records at once. Runs may be of machines with different
 * levels: first the machines are named, in order, then there are columns for the levels of all of them. */
enum { REPORT_PREFIXES_MAX = 32, REPORT_PREFIX_MAX = sizeof((cache_level){0}.name) };
typedef struct report_columns {
    char level[REPORT_PREFIXES_MAX][REPORT_PREFIX_MAX]; /* how the columns of each begin */
    size_t count;
} report_columns;
void report_columns_add(report_columns *c, const machine *mach);
void report_csv_header(FILE *out, const report_columns *c);
void report_csv_row(FILE *out, const report_columns *c, const run_record *r);
/* A row of a run that could not be: only its name is known. */
void report_csv_unknown(FILE *out, const report_columns *c, const char *case_name);

/* One field of CSV, quoted when it must be. */
void csv_field(FILE *out, const char *text);

/* A value for people: four significant digits, counts in groups of three, "n/a". Returns buffer. */
char *format_value(char *buffer, size_t size, metric_value v);

/* ERR_IO with errno's reason when the stream is in error. `what` names it in the message. */
status stream_status(FILE *out, const char *what, message *m);

#endif

/* write.h - pieces of the formats (internal to src/report). */
#ifndef COALIGN_REPORT_WRITE_H
#define COALIGN_REPORT_WRITE_H

#include "report/report.h"

#include <jansson.h>
#include <stdio.h>

/* Full precision; n/a when unknown. */
void csv_value(FILE *out, metric_value v);

/* null when unknown. NULL when there is not enough memory: json_*_new of it then fails in turn. */
json_t *json_value(metric_value v);

/* {metric: unit} and the array of runs; NULL when there is not enough memory or a text is not UTF-8. */
json_t *json_units(void);
json_t *json_runs(const run_record *records, size_t count);

/* Prints root and releases it. `bad`: building it has failed somewhere: ERR_MEMORY. */
status json_print(FILE *out, json_t *root, int bad, message *m);

/* "  label" and the text, broken between words; continuation lines are indented alike. */
void text_paragraph(FILE *out, const char *label, const char *text, size_t width);
/* A sentence of at most 1023 bytes from the first column on, broken alike. */
void text_line(FILE *out, size_t width, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif

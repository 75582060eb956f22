/* output.h - where results go: stdout, or files that appear whole or not at all.
 *
 * A file is written beside its final name and renamed at the end, so that a failure leaves the old one untouched. What
 * is not a regular file (a device, a pipe) is written directly. Results of which only a part was done never take the
 * name that was asked for: they go to FILE.partial.
 */
#ifndef COALIGN_CMD_OUTPUT_H
#define COALIGN_CMD_OUTPUT_H

#include "cmd/command.h"

#include <stdio.h>

typedef struct output {
    FILE *stream;
    char *path, *temporary; /* NULL for stdout; temporary NULL when written directly */
    report_format format;
} output;

typedef struct outputs {
    output *list;
    size_t count;
    bool partial; /* set before the commit, when the work was interrupted */
} outputs;

/* Opens what -o asks for (stdout when nothing) before any work is done. ERR_IO. Free with outputs_close in any case. */
status outputs_open(outputs *o, const arguments *args, message *m);

/* Writes the records to each and puts the files in place. */
status outputs_report(outputs *o, const arguments *args, const char *title, const run_record *records, size_t count,
                      message *m);

/* What writing to one output came to: a reader of stdout that has seen enough (| head) does not keep the other outputs
 * from being written. */
status output_written(const output *o, status s);

/* Flushes and puts the files in place, for what was written to list[i].stream by other means. */
status outputs_commit(outputs *o, message *m);

/* Removes what was not committed. */
void outputs_close(outputs *o);

/* How a report for this output looks: its format, the terminal's width (REPORT_WIDTH when it is no terminal),
 * --details. The title may be NULL. */
report_options output_options(const output *o, const arguments *args, const char *title);

#endif

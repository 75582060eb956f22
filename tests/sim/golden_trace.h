/* golden_trace.h - the traces of tests/golden/cpu, and the rows of its tables. */
#ifndef COALIGN_TESTS_SIM_GOLDEN_TRACE_H
#define COALIGN_TESTS_SIM_GOLDEN_TRACE_H

#include "trace/access.h"

#include <stddef.h>
#include <stdio.h>

typedef struct golden_trace {
    trace_access *access;
    size_t count;
} golden_trace;

/* All accesses of a file. The test fails when it cannot be read. */
golden_trace golden_load(const char *path);
/* "zipf": tests/golden/cpu/zipf.<any suffix>.xz. */
golden_trace golden_peer(const char *name);
void golden_free(golden_trace *t);

enum { GOLDEN_FIELDS_MAX = 16, GOLDEN_LINE_MAX = 512 };

/* A line of a CSV without quotes; an empty field is NULL. */
typedef struct golden_row {
    char text[GOLDEN_LINE_MAX];
    const char *field[GOLDEN_FIELDS_MAX];
    size_t fields;
} golden_row;

/* The table, positioned after its header. */
FILE *golden_table(const char *path);
/* False at the end. */
int golden_next(FILE *table, golden_row *row);

#endif

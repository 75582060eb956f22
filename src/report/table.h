/* table.h - aligned columns of text that fit a given width. */
#ifndef COALIGN_REPORT_TABLE_H
#define COALIGN_REPORT_TABLE_H

#include "base/mem.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { TABLE_COLUMNS_MAX = 16 };

typedef struct table_column {
    const char *head, *unit; /* two header lines */
    int right;               /* aligned right: numbers */
    int rank;                /* 0 is always shown; when the table is too wide the highest rank goes first */
} table_column;

/* Zero-initialise, set columns and count, add cells row by row, print, free. */
typedef struct table {
    const table_column *columns;
    size_t column_count;
    bool bare; /* no rule below the header */
    arena text;
    char **cells; /* row after row */
    size_t cell_count, cell_capacity;
} table;

/* Copies the text into the next cell. ERR_MEMORY. */
status table_add(table *t, message *m, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Prints all rows, each no wider than `width` columns where that can be done: first the first cells (names) get lines
 * of their own above the rest of their rows, then columns are left out, those of high rank first. */
void table_print(const table *t, FILE *out, size_t width);

/* Names of columns that a table of this width leaves out, separated by ", "; "" when none. Returns buffer. */
char *table_left_out(const table *t, size_t width, char *buffer, size_t size);

void table_free(table *t);

#endif

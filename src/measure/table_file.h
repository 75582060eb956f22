/* table_file.h - a CSV file as rows of texts (libcsv). */
#ifndef COALIGN_MEASURE_TABLE_FILE_H
#define COALIGN_MEASURE_TABLE_FILE_H

#include "base/mem.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct table_row {
    size_t first, count; /* fields */
    int line;            /* of the file, where it ends */
} table_row;

typedef struct table_file {
    arena text;
    const char **field;
    table_row *row;
    size_t field_count, row_count, field_capacity, row_capacity;
} table_file;

/* Reads the file; empty lines and those that begin with `skip` are left out. Zero-initialise; free with
 * table_file_free, also after a failure. ERR_IO, ERR_INPUT (no CSV, larger than 2^28 bytes), ERR_MEMORY. */
status table_file_read(const char *path, const char *skip, table_file *t, message *m);
void table_file_free(table_file *t);

/* The field of a row, or "" where the row is shorter. */
const char *table_file_field(const table_file *t, size_t row, size_t column);
/* The column of that name in row `header`; -1: none. */
int table_file_column(const table_file *t, size_t header, const char *name);

#endif

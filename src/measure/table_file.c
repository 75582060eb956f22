#include "measure/table_file.h"

#include <csv.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PIECE = 1 << 16 };
static const size_t file_max = (size_t)1 << 28;

typedef struct table_reader {
    table_file *t;
    size_t row_first; /* field of the row under way */
    int line;
    bool failed;
} table_reader;

static void take_field(void *bytes, size_t length, void *context) {
    table_reader *r = context;
    table_file *t = r->t;
    char *copy = arena_alloc(&t->text, length + 1);
    void *fields = t->field;
    if (!copy || !mem_reserve(&fields, &t->field_capacity, t->field_count + 1, sizeof *t->field)) {
        r->failed = true;
        return;
    }
    memcpy(copy, bytes, length);
    t->field = fields;
    t->field[t->field_count++] = copy;
}

static void end_row(int separator, void *context) {
    (void)separator;
    table_reader *r = context;
    table_file *t = r->t;
    void *rows = t->row;
    if (!mem_reserve(&rows, &t->row_capacity, t->row_count + 1, sizeof *t->row)) {
        r->failed = true;
        return;
    }
    t->row = rows;
    t->row[t->row_count++] =
        (table_row){.first = r->row_first, .count = t->field_count - r->row_first, .line = r->line};
    r->row_first = t->field_count;
}

/* One line of the file, or part of a long one, goes to the parser. */
static bool feed(struct csv_parser *parser, table_reader *r, const char *text, size_t length) {
    return csv_parse(parser, text, length, take_field, end_row, r) == length && !r->failed;
}

static bool skipped(const char *line, const char *skip) {
    return *skip && strncmp(line, skip, strlen(skip)) == 0;
}

static status read_lines(FILE *f, const char *path, const char *skip, struct csv_parser *parser, table_reader *r,
                         message *m) {
    char line[PIECE];
    bool begins = true, skipping = false;
    size_t total = 0;
    while (fgets(line, sizeof line, f)) {
        const size_t length = strlen(line);
        const bool ends = length && line[length - 1] == '\n';
        if (begins) {
            r->line++;
            skipping = skipped(line, skip) && r->row_first == r->t->field_count;
        }
        begins = ends;
        total += length;
        if (total > file_max || (!ends && !feof(f) && length + 1 < sizeof line))
            return fail_at(m, path, r->line, "this is no table of text");
        if (!skipping && !feed(parser, r, line, length))
            return r->failed ? fail(m, ERR_MEMORY, "not enough memory for %s", path)
                             : fail_at(m, path, r->line, "this is no CSV: %s", csv_strerror(csv_error(parser)));
    }
    if (ferror(f))
        return fail(m, ERR_IO, "%s: %s", path, strerror(errno));
    if (csv_fini(parser, take_field, end_row, r) != 0)
        return fail_at(m, path, r->line, "this is no CSV: a quoted field does not end");
    return r->failed ? fail(m, ERR_MEMORY, "not enough memory for %s", path) : OK;
}

status table_file_read(const char *path, const char *skip, table_file *t, message *m) {
    struct csv_parser parser;
    table_reader r = {.t = t};
    FILE *f = fopen(path, "r");
    if (!f)
        return fail(m, ERR_IO, "%s: %s", path, strerror(errno));
    status s = csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) == 0 ? OK : fail(m, ERR_MEMORY, "not enough memory");
    if (s == OK) {
        s = read_lines(f, path, skip, &parser, &r, m);
        csv_free(&parser);
    }
    fclose(f);
    return s;
}

void table_file_free(table_file *t) {
    arena_free(&t->text);
    mem_free(t->field);
    mem_free(t->row);
    *t = (table_file){.row_count = 0};
}

const char *table_file_field(const table_file *t, size_t row, size_t column) {
    const table_row *r = &t->row[row];
    return column < r->count ? t->field[r->first + column] : "";
}

int table_file_column(const table_file *t, size_t header, const char *name) {
    for (size_t i = 0; header < t->row_count && i < t->row[header].count; i++)
        if (strcmp(table_file_field(t, header, i), name) == 0)
            return (int)i;
    return -1;
}

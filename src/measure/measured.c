#include "measure/measured.h"

#include "measure/table_file.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The columns of the file, in the order of `names`; the first REQUIRED must be there. */
enum { SET, CASE, METRIC, VALUE, REQUIRED, X = REQUIRED, UNIT, LOW, HIGH, SOURCE, COLUMNS };
static const char *const names[COLUMNS] = {"set", "case", "metric", "value", "x", "unit", "low", "high", "source"};

int measured_add(measured *d, const measured_row *row) {
    void *rows = d->row;
    if (!mem_reserve(&rows, &d->capacity, d->count + 1, sizeof *d->row))
        return 0;
    d->row = rows;
    measured_row copy = *row;
    const char **texts[] = {&copy.set, &copy.name, &copy.metric, &copy.unit, &copy.source};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        *texts[i] = arena_string(&d->text, *texts[i] ? *texts[i] : "");
        if (!*texts[i])
            return 0;
    }
    d->row[d->count++] = copy;
    return 1;
}

/* Empty and n/a: NAN. False: no number. */
static bool number(const char *text, double *value) {
    *value = NAN;
    if (!*text || strcmp(text, "n/a") == 0)
        return true;
    char *end = NULL;
    *value = strtod(text, &end);
    return end != text && !*end && isfinite(*value);
}

static status read_row(const char *path, const table_file *t, size_t i, const int column[COLUMNS], const char *set,
                       measured *out, message *m) {
    const char *text[COLUMNS];
    for (int k = 0; k < COLUMNS; k++)
        text[k] = column[k] < 0 ? "" : table_file_field(t, i, (size_t)column[k]);
    if (set && strcmp(text[SET], set) != 0)
        return OK;
    measured_row row = {.set = text[SET],
                        .name = text[CASE],
                        .metric = text[METRIC],
                        .unit = text[UNIT],
                        .source = text[SOURCE],
                        .line = t->row[i].line};
    const struct {
        int column;
        double *to;
    } numbers[] = {{X, &row.x}, {VALUE, &row.value}, {LOW, &row.low}, {HIGH, &row.high}};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        if (!number(text[numbers[k].column], numbers[k].to))
            return fail_at(m, path, row.line, "'%s' in column '%s' is no number", text[numbers[k].column],
                           names[numbers[k].column]);
    return measured_add(out, &row) ? OK : fail(m, ERR_MEMORY, "not enough memory for %s", path);
}

static status read_rows(const char *path, const table_file *t, const char *set, measured *out, message *m) {
    int column[COLUMNS];
    for (int k = 0; k < COLUMNS; k++) {
        column[k] = table_file_column(t, 0, names[k]);
        if (column[k] < 0 && k < REQUIRED)
            return fail_at(m, path, t->row_count ? t->row[0].line : 0, "the header has no column '%s'", names[k]);
    }
    for (size_t i = 1; i < t->row_count; i++)
        TRY(read_row(path, t, i, column, set, out, m));
    return OK;
}

status measured_read(const char *path, const char *set, measured *out, message *m) {
    table_file t = {.row_count = 0};
    const size_t before = out->count;
    status s = table_file_read(path, "#", &t, m);
    if (s == OK)
        s = read_rows(path, &t, set, out, m);
    if (s == OK && set && out->count == before)
        s = fail(m, ERR_INPUT, "%s: no row is of the set '%s'", path, set);
    table_file_free(&t);
    return s;
}

void measured_free(measured *d) {
    arena_free(&d->text);
    mem_free(d->row);
    *d = (measured){.count = 0};
}

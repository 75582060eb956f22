/* check.c - two results of run or sweep side by side: what has become worse. */
#include "cmd/command.h"
#include "cmd/output.h"
#include "measure/table_file.h"
#include "report/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Less of each is better. */
static const char *const watched[] = {
    "predicted_us",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
};
enum { WATCHED = sizeof watched / sizeof *watched, LABEL_MAX = 400 };

/* The files have nine digits. */
static const double rounding = 1e-9;

/* Row 0 is the header. */
typedef struct result {
    const char *path;
    table_file file;
    int name; /* column "case" */
    int column[WATCHED];
    size_t key_count; /* columns that, with the name, tell the rows apart: those a sweep puts in front */
    size_t key[64];
} result;

static bool is_key(const char *name) {
    static const char *const others[] = {"sweep", "point", "points", "impossible"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i]) == 0)
            return false;
    return true;
}

static status read_result(result *r, const char *path, message *m) {
    r->path = path;
    TRY(table_file_read(path, "", &r->file, m));
    r->name = table_file_column(&r->file, 0, "case");
    if (r->name < 0)
        return fail_at(m, path, 1, "this is no CSV of coalign run or sweep: it has no column 'case'");
    for (size_t i = 0; i < WATCHED; i++) {
        r->column[i] = table_file_column(&r->file, 0, watched[i]);
        if (r->column[i] < 0)
            return fail_at(m, path, 1, "there is no column '%s'", watched[i]);
    }
    for (size_t i = 0; i < (size_t)r->name; i++)
        if (is_key(table_file_field(&r->file, 0, i)) && r->key_count < sizeof r->key / sizeof *r->key)
            r->key[r->key_count++] = i;
    for (size_t row = 1; row < r->file.row_count; row++)
        if (r->file.row[row].count != r->file.row[0].count)
            return fail_at(m, path, r->file.row[row].line, "%zu columns, the header has %zu: the file was cut off",
                           r->file.row[row].count, r->file.row[0].count);
    return OK;
}

static char *label(char *buffer, const result *r, size_t row) {
    size_t used = (size_t)snprintf(buffer, LABEL_MAX, "%s", table_file_field(&r->file, row, (size_t)r->name));
    for (size_t i = 0; i < r->key_count && used < LABEL_MAX; i++)
        used += (size_t)snprintf(buffer + used, LABEL_MAX - used, " %s=%s", table_file_field(&r->file, 0, r->key[i]),
                                 table_file_field(&r->file, row, r->key[i]));
    return buffer;
}

static bool same_row(const result *a, size_t i, const result *b, size_t k) {
    bool same =
        strcmp(table_file_field(&a->file, i, (size_t)a->name), table_file_field(&b->file, k, (size_t)b->name)) == 0;
    for (size_t c = 0; c < a->key_count && same; c++)
        same = strcmp(table_file_field(&a->file, i, a->key[c]), table_file_field(&b->file, k, b->key[c])) == 0;
    return same;
}

/* The first row of b that is row i of a; 0: none. */
static size_t first_same(const result *a, size_t i, const result *b) {
    for (size_t k = 1; k < b->file.row_count; k++)
        if (same_row(a, i, b, k))
            return k;
    return 0;
}

/* The same for rows that are most often at the same place. */
static size_t find(const result *a, size_t i, const result *b) {
    return i < b->file.row_count && same_row(a, i, b, i) ? i : first_same(a, i, b);
}

static status number(const result *r, size_t row, size_t which, double *value, message *m) {
    const char *text = table_file_field(&r->file, row, (size_t)r->column[which]);
    char *end = NULL;
    *value = strcmp(text, "n/a") == 0 ? NAN : strtod(text, &end);
    if (end && (end == text || *end || !isfinite(*value)))
        return fail_at(m, r->path, r->file.row[row].line, "'%s' of %s is no number", text, watched[which]);
    return OK;
}

typedef struct tally {
    table worse;
    size_t compared, better, regressions, missing;
} tally;

static status compare_row(const result *base, size_t i, const result *now, size_t k, double allowed, tally *t,
                          message *m) {
    char name[LABEL_MAX];
    for (size_t w = 0; w < WATCHED; w++) {
        double old = 0, fresh = 0;
        TRY(number(base, i, w, &old, m));
        TRY(number(now, k, w, &fresh, m));
        if (isnan(old))
            continue;
        t->compared++;
        t->better += fresh < old;
        if (fresh <= old * (1 + allowed) * (1 + rounding))
            continue;
        t->regressions++;
        TRY(table_add(&t->worse, m, "%s", label(name, base, i)));
        TRY(table_add(&t->worse, m, "%s", watched[w]));
        TRY(table_add(&t->worse, m, "%s", table_file_field(&base->file, i, (size_t)base->column[w])));
        TRY(table_add(&t->worse, m, "%s", table_file_field(&now->file, k, (size_t)now->column[w])));
        if (isnan(fresh) || !(old > 0))
            TRY(table_add(&t->worse, m, "n/a"));
        else
            TRY(table_add(&t->worse, m, "%+.2f", (fresh / old - 1) * 100));
    }
    return OK;
}

static status compare(const result *base, const result *now, double allowed, tally *t, message *m) {
    char name[LABEL_MAX];
    for (size_t i = 1; i < base->file.row_count; i++) {
        const size_t k = find(base, i, now);
        if (first_same(base, i, base) != i)
            return fail_at(m, base->path, base->file.row[i].line, "'%s' is there twice", label(name, base, i));
        if (k) {
            TRY(compare_row(base, i, now, k, allowed, t, m));
            continue;
        }
        t->missing++;
        TRY(table_add(&t->worse, m, "%s", label(name, base, i)));
        TRY(table_add(&t->worse, m, "the case is missing"));
        for (int column = 0; column < 3; column++)
            TRY(table_add(&t->worse, m, "n/a"));
    }
    return OK;
}

static status check(result *base, result *now, const arguments *args, message *m) {
    static const table_column columns[] = {
        {"case", "", 0, 0}, {"metric", "", 0, 0}, {"baseline", "", 1, 0}, {"result", "", 1, 0}, {"change", "%", 1, 0}};
    TRY(read_result(base, args->operands[0], m));
    TRY(read_result(now, args->operands[1], m));
    if (base->key_count != now->key_count)
        return fail_at(m, now->path, 1, "%zu swept keys, %s has %zu: these are different sweeps", now->key_count,
                       base->path, base->key_count);
    for (size_t i = 0; i < base->key_count; i++)
        if (strcmp(table_file_field(&base->file, 0, base->key[i]), table_file_field(&now->file, 0, now->key[i])) != 0)
            return fail_at(m, now->path, 1, "the swept keys differ from those of %s", base->path);
    tally t = {.worse = {.columns = columns, .column_count = sizeof columns / sizeof *columns}};
    status st = compare(base, now, args->max_regress, &t, m);
    if (st == OK && base->file.row_count < 2)
        st = fail_at(m, base->path, 0, "there is no case to compare with");
    if (st == OK) {
        if (t.regressions || t.missing)
            table_print(&t.worse, stdout, REPORT_WIDTH);
        printf("%zu figures of %zu cases: %zu worse by more than %.4g %%, %zu better; cases missing: %zu\n", t.compared,
               base->file.row_count - 1, t.regressions, args->max_regress * 100, t.better, t.missing);
        st = stream_status(stdout, "standard output", m);
    }
    table_free(&t.worse);
    return st == OK && (t.regressions || t.missing) ? ERR_CHECK : st;
}

status check_command(const arguments *args, message *m) {
    result base = {.path = NULL}, now = {.path = NULL};
    const status st = check(&base, &now, args, m);
    table_file_free(&base.file);
    table_file_free(&now.file);
    return st;
}

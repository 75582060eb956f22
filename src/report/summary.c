/* summary.c - the table with a row for each run. */
#include "report/limiter.h"
#include "report/table.h"
#include "report/text.h"
#include "report/value.h"
#include "report/write.h"

#include <math.h>
#include <string.h>

static bool any_measured(const run_record *records, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!isnan(records[i].measured_us))
            return true;
    return false;
}

static bool any_sampled(const run_record *records, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (sampled(&records[i]))
            return true;
    return false;
}

static bool one_machine(const run_record *records, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (strcmp(records[i].mach->name, records[0].mach->name) != 0)
            return false;
    return true;
}

/* Appends to a cell: one of several figures, separated by blanks. known NULL: n/a. */
static size_t append(char *buffer, size_t used, const char *format, const double *known) {
    size_t room = used < CELL ? CELL - used : 0;
    used += (size_t)snprintf(buffer + used, room, "%s", used ? " " : "");
    room = used < CELL ? CELL - used : 0;
    used += (size_t)(known ? snprintf(buffer + used, room, format, *known) : snprintf(buffer + used, room, "n/a"));
    return used < CELL ? used : CELL - 1;
}

/* Sectors a request, loads and stores: "4 32", "4.5 n/a"; nothing known: "n/a". */
static char *sectors_per_request(char *buffer, const run_record *r) {
    static const char *const names[] = {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
                                        "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"};
    size_t used = 0;
    int known = 0;
    for (int d = 0; d < 2; d++) {
        metric_value v = metric_get(r, names[d]);
        known += v.kind == VALUE_REAL;
        used = append(buffer, used, "%.3g", v.kind == VALUE_REAL ? &v.real : NULL);
    }
    if (!known)
        snprintf(buffer, CELL, "n/a");
    return buffer;
}

/* Read hit rates of all levels, nearest first: "0 87 100". */
static char *hit_rates(char *buffer, const run_record *r) {
    size_t used = 0;
    int known = 0;
    for (uint32_t l = 0; l < r->mach->level_count; l++) {
        metric_value v = level_read_hit(r, l);
        known += v.kind == VALUE_REAL;
        used = append(buffer, used, "%.0f", v.kind == VALUE_REAL ? &v.real : NULL);
    }
    if (!known)
        snprintf(buffer, CELL, "n/a");
    return buffer;
}

static char *level_names(char *buffer, const machine *mach) {
    size_t used = 0;
    buffer[0] = '\0';
    for (uint32_t l = 0; l < mach->level_count && used < CELL; l++)
        used += (size_t)snprintf(buffer + used, CELL - used, "%s%s", l ? " " : "", mach->level[l].name);
    return buffer;
}

static char *whole_percent(char *buffer, const run_record *r, const char *name) {
    metric_value v = metric_get(r, name);
    if (v.kind == VALUE_REAL)
        snprintf(buffer, CELL, "%.0f", v.real);
    else
        format_value(buffer, CELL, v);
    return buffer;
}

/* " ±92", in microseconds; "" when all was simulated. */
static char *half_width(char *buffer, const run_record *r) {
    double us = r->sim.time_half_s * 1e6;
    buffer[0] = '\0';
    if (sampled(r))
        snprintf(buffer, CELL, " ±%.*f", us >= 9.95 ? 0 : us >= 0.995 ? 1 : 2, us);
    return buffer;
}

static char *limiter_cell(char *buffer, const run_record *r) {
    metric_value name = metric_get(r, "limiter"), use = metric_get(r, "limiter_pct");
    if (name.kind == VALUE_TEXT && use.kind == VALUE_REAL)
        snprintf(buffer, CELL, "%s %.0f", name.text, use.real);
    else
        format_value(buffer, CELL, name);
    return buffer;
}

/* Columns that not every summary has. */
typedef struct summary_columns {
    bool cases, machines, measured, sampled;
    const run_record *baseline;
} summary_columns;

static status summary_rows(table *t, const run_record *records, size_t count, const summary_columns *extra,
                           message *m) {
    const run_record *baseline = extra->baseline;
    char a[CELL], b[CELL];
    for (size_t i = 0; i < count; i++) {
        const run_record *r = &records[i];
        if (extra->cases)
            TRY(table_add(t, m, "%s", r->case_name));
        if (extra->machines)
            TRY(table_add(t, m, "%s", r->mach->name));
        TRY(table_add(t, m, "%s", r->strategy));
        TRY(table_add(t, m, "%s%s", short_metric(a, r, "predicted_us"), half_width(b, r)));
        if (extra->measured) {
            TRY(table_add(t, m, "%s", short_metric(a, r, "measured_us")));
            TRY(table_add(t, m, "%s", signed_error(a, r)));
        }
        if (baseline)
            TRY(table_add(t, m, "%.2f", baseline->sim.time_s / r->sim.time_s));
        TRY(table_add(t, m, "%s", short_metric(a, r, "useful_gib_per_s")));
        TRY(table_add(t, m, "%s", short_metric(a, r, "dram_gb_per_s")));
        TRY(table_add(t, m, "%s", sectors_per_request(a, r)));
        TRY(table_add(t, m, "%s", hit_rates(a, r)));
        if (extra->sampled)
            TRY(table_add(t, m, "%s", whole_percent(a, r, "simulated_pct")));
        TRY(table_add(t, m, "%s", limiter_cell(a, r)));
    }
    return OK;
}

static void measured_note(FILE *out, size_t width, const run_record *records, size_t count) {
    double sum = 0, worst = 0;
    size_t n = 0;
    const char *where = "";
    for (size_t i = 0; i < count; i++) {
        metric_value v = metric_get(&records[i], "error_pct");
        if (v.kind != VALUE_REAL)
            continue;
        n++;
        sum += fabs(v.real);
        if (fabs(v.real) >= fabs(worst)) {
            worst = v.real;
            where = records[i].case_name;
        }
    }
    if (n > 1)
        text_line(out, width, "Mean absolute error of %zu cases %.1f %%; largest %+.1f %% (%s).", n, sum / (double)n,
                  worst, where);
}

static bool is_noted(const run_record *r, int kind) {
    return r->note[kind] && *r->note[kind];
}

/* Each text once, with the first case that it is about and the number of others. */
static void note_lines(FILE *out, size_t width, const run_record *records, size_t count, int kind) {
    for (size_t i = 0; i < count; i++) {
        size_t same = 0, before = 0;
        if (!is_noted(&records[i], kind))
            continue;
        for (size_t k = 0; k < count; k++)
            if (is_noted(&records[k], kind) && strcmp(records[i].note[kind], records[k].note[kind]) == 0) {
                same++;
                before += k < i;
            }
        if (before)
            continue;
        fprintf(out, "Note on %s", records[i].case_name);
        if (same > 1)
            fprintf(out, " and %zu more", same - 1);
        fputs(":\n", out);
        text_paragraph(out, "", records[i].note[kind], width);
    }
}

status text_summary(FILE *out, const report_options *options, const run_record *records, size_t count, message *m) {
    /* Compared runs are variants of one case. */
    summary_columns extra = {.cases = !options->baseline,
                             .machines = !one_machine(records, count),
                             .measured = any_measured(records, count),
                             .sampled = any_sampled(records, count),
                             .baseline = options->baseline};
    char levels[CELL];
    table_column columns[TABLE_COLUMNS_MAX];
    size_t n = 0;
    if (extra.cases)
        columns[n++] = (table_column){"case", "", 0, 0};
    if (extra.machines)
        columns[n++] = (table_column){"machine", "", 0, 0};
    columns[n++] = (table_column){"strategy", "", 0, extra.cases};
    columns[n++] = (table_column){"predicted", "us", 1, 0};
    if (extra.measured) {
        columns[n++] = (table_column){"measured", "us", 1, 0};
        columns[n++] = (table_column){"error", "%", 1, 0};
    }
    if (extra.baseline)
        columns[n++] = (table_column){"speed", "x", 1, 0};
    columns[n++] = (table_column){"useful", "GiB/s", 1, 0};
    columns[n++] = (table_column){"DRAM", "GB/s", 1, 2};
    columns[n++] = (table_column){"sect/req", "ld st", 1, 3};
    columns[n++] = (table_column){"hit %", extra.machines ? "by level" : level_names(levels, records[0].mach), 1, 4};
    if (extra.sampled)
        columns[n++] = (table_column){"run", "%", 1, 5};
    columns[n++] = (table_column){"limiter", "%", 0, 0};
    table t = {.columns = columns, .column_count = n};
    status s = summary_rows(&t, records, count, &extra, m);
    if (s == OK) {
        if (options->title && *options->title)
            fprintf(out, "%s\n", options->title);
        if (!extra.machines)
            fprintf(out, "Machine: %s\n", records[0].mach->name);
        fputc('\n', out);
        table_print(&t, out, options->width);
        char left_out[128];
        if (*table_left_out(&t, options->width, left_out, sizeof left_out))
            fprintf(out, "Left out for want of width: %s.\n", left_out);
        if (extra.sampled)
            text_line(out, options->width,
                      "±: half the 95 %% confidence interval of a sampled run; run %%: blocks simulated "
                      "(--exact: all).");
        measured_note(out, options->width, records, count);
        for (int kind = 0; kind < PLAN_NOTE_COUNT; kind++)
            note_lines(out, options->width, records, count, kind);
    }
    table_free(&t);
    return s;
}

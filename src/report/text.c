#include "base/num.h"
#include "report/limiter.h"
#include "report/report.h"
#include "report/table.h"
#include "report/write.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CELL = 64 };

/* ---- summary ------------------------------------------------------------------------------------------------------
 */

static bool any_measured(const run_record *records, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!isnan(records[i].measured_us))
            return true;
    return false;
}

static bool one_machine(const run_record *records, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (strcmp(records[i].mach->name, records[0].mach->name) != 0)
            return false;
    return true;
}

/* Three to five digits, no grouping: narrow, and readable by awk. */
static char *short_real(char *buffer, size_t size, metric_value v) {
    if (v.kind != VALUE_REAL)
        return format_value(buffer, size, v);
    double magnitude = fabs(v.real);
    snprintf(buffer, size, "%.*f", magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2, v.real);
    return buffer;
}

static char *short_metric(char *buffer, const run_record *r, const char *name) {
    return short_real(buffer, CELL, metric_get(r, name));
}

static char *signed_error(char *buffer, const run_record *r) {
    metric_value v = metric_get(r, "error_pct");
    if (v.kind == VALUE_REAL)
        snprintf(buffer, CELL, "%+.1f", v.real);
    else
        format_value(buffer, CELL, v);
    return buffer;
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
    bool cases, machines, measured;
    const run_record *baseline;
} summary_columns;

static status summary_rows(table *t, const run_record *records, size_t count, const summary_columns *extra,
                           message *m) {
    const run_record *baseline = extra->baseline;
    char a[CELL];
    for (size_t i = 0; i < count; i++) {
        const run_record *r = &records[i];
        if (extra->cases)
            TRY(table_add(t, m, "%s", r->case_name));
        if (extra->machines)
            TRY(table_add(t, m, "%s", r->mach->name));
        TRY(table_add(t, m, "%s", r->strategy));
        TRY(table_add(t, m, "%s", short_metric(a, r, "predicted_us")));
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
        TRY(table_add(t, m, "%s", limiter_cell(a, r)));
    }
    return OK;
}

static void measured_note(FILE *out, const run_record *records, size_t count) {
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
        fprintf(out, "Mean absolute error of %zu cases %.1f %%; largest %+.1f %% (%s).\n", n, sum / (double)n, worst,
                where);
}

static status summary(FILE *out, const report_options *options, const run_record *records, size_t count, message *m) {
    /* Compared runs are variants of one case. */
    summary_columns extra = {.cases = !options->baseline,
                             .machines = !one_machine(records, count),
                             .measured = any_measured(records, count),
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
        measured_note(out, records, count);
    }
    table_free(&t);
    return s;
}

/* ---- the page of one run ------------------------------------------------------------------------------------------
 */

static void heading(FILE *out, const char *title) {
    fprintf(out, "\n  %s\n  ", title);
    for (size_t i = 0; i < REPORT_WIDTH - 4; i++)
        fputc('-', out);
    fputc('\n', out);
}

void text_paragraph(FILE *out, const char *label, const char *text, size_t width) {
    size_t indent = 2 + strlen(label), column = indent;
    fprintf(out, "  %s", label);
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column > indent && column + 1 + word > width) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        }
        if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, word, out);
        column += word;
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

static void plain_section(FILE *out, const run_record *r, section where) {
    heading(out, section_title(where));
    for (size_t i = 0; i < metric_count; i++) {
        const metric *m = &metric_table[i];
        if (m->where != where)
            continue;
        metric_value v = m->get(r, m->argument);
        /* A class or pipe that was not used is not news. */
        if (where == SECTION_INSTRUCTIONS && m->label[0] == ' ' &&
            ((v.kind == VALUE_COUNT && v.count == 0) || (v.kind == VALUE_REAL && v.real <= 0)))
            continue;
        char cell[CELL];
        fprintf(out, "  %-44s %-16s %24s\n", m->label, m->unit, format_value(cell, sizeof cell, v));
    }
}

/* Load/store pairs side by side. */
static void pair_section(FILE *out, const run_record *r, section where) {
    heading(out, section_title(where));
    fprintf(out, "  %-44s %-16s %16s %16s\n", "", "", "loads", "stores");
    for (size_t i = 0; i + 1 < metric_count; i++) {
        const metric *ld = &metric_table[i], *st = &metric_table[i + 1];
        if (ld->where != where || st->where != where || ld->argument != 0)
            continue;
        char a[CELL], b[CELL];
        fprintf(out, "  %-44s %-16s %16s %16s\n", ld->label, ld->unit, format_value(a, sizeof a, ld->get(r, 0)),
                format_value(b, sizeof b, st->get(r, 1)));
    }
}

/* Labelled level metrics downwards, levels sideways: there are few levels. */
static status level_section(FILE *out, const run_record *r, message *m) {
    heading(out, section_title(SECTION_CACHES));
    table_column columns[2 + MACHINE_LEVELS_MAX] = {{"  ", "", 0, 0}, {"", "", 0, 0}};
    size_t levels = r->mach->level_count;
    for (size_t l = 0; l < levels; l++)
        columns[2 + l] = (table_column){r->mach->level[l].name, "", 1, 0};
    table t = {.columns = columns, .column_count = 2 + levels, .bare = true};
    status s = OK;
    for (size_t i = 0; i < level_metric_count && s == OK; i++) {
        const level_metric *lm = &level_metric_table[i];
        if (!*lm->label)
            continue;
        s = table_add(&t, m, "  %-24s", lm->label);
        if (s == OK)
            s = table_add(&t, m, "%s", lm->unit);
        for (uint32_t l = 0; l < levels && s == OK; l++) {
            char cell[CELL];
            s = table_add(&t, m, "%s", format_value(cell, sizeof cell, lm->get(r, l)));
        }
    }
    if (s == OK)
        table_print(&t, out, SIZE_MAX);
    table_free(&t);
    return s;
}

static void stall_line(FILE *out, const char *label, uint64_t cycles, const sim_result *s) {
    enum { BAR = 30 };
    double part = (double)cycles / (double)s->resident_cycles;
    char bar[BAR + 1] = {0};
    memset(bar, '#', (size_t)(fmin(fmax(part, 0), 1) * BAR + 0.5));
    fprintf(out, "  %-28s %10.2f cycle/inst %8.1f %%   %s\n", label, (double)cycles / (double)s->issue_cycles,
            part * 100, bar);
}

static void stall_section(FILE *out, const run_record *r) {
    const sim_result *s = &r->sim;
    heading(out, section_title(SECTION_STALLS));
    if (s->issue_cycles == 0 || s->resident_cycles == 0) {
        fprintf(out, "  no instruction was issued\n");
        return;
    }
    fprintf(out, "  A warp issues an instruction every %.2f cycles; it spends them so:\n\n",
            (double)s->resident_cycles / (double)s->issue_cycles);
    stall_line(out, "Selected (issues)", s->issue_cycles, s);
    /* Largest first; ties in the order of the list. */
    bool shown[STALL_COUNT] = {false};
    for (int turn = 0; turn < STALL_COUNT; turn++) {
        int best = -1;
        for (int i = 0; i < STALL_COUNT; i++)
            if (!shown[i] && (best < 0 || s->stall_cycles[i] > s->stall_cycles[best]))
                best = i;
        shown[best] = true;
        if (s->stall_cycles[best])
            stall_line(out, stall_label((stall_reason)best), s->stall_cycles[best], s);
    }
}

static status page(FILE *out, const report_options *options, const run_record *r, message *m) {
    char words[256], a[CELL], b[CELL];
    fprintf(out, "%s: %s of %s on %s\n", r->case_name, r->strategy, r->dataset, r->mach->name);
    if (*r->plan_reason)
        text_paragraph(out, "Plan:      ", r->plan_reason, options->width);
    fprintf(out, "  Predicted: %s us", short_metric(a, r, "predicted_us"));
    metric_value rate = metric_get(r, "useful_gib_per_s");
    if (rate.kind == VALUE_REAL)
        fprintf(out, ", %s GiB/s useful", short_real(b, sizeof b, rate));
    fputc('\n', out);
    if (!isnan(r->measured_us))
        fprintf(out, "  Measured:  %s us, error %s %%\n", short_metric(a, r, "measured_us"), signed_error(b, r));
    text_paragraph(out, "Limiter:   ", limiter_words(words, sizeof words, r), options->width);
    plain_section(out, r, SECTION_TIME);
    pair_section(out, r, SECTION_MEMORY);
    if (r->sim.shared_requests[0] || r->sim.shared_requests[1])
        pair_section(out, r, SECTION_SHARED);
    TRY(level_section(out, r, m));
    plain_section(out, r, SECTION_DRAM);
    plain_section(out, r, SECTION_OCCUPANCY);
    plain_section(out, r, SECTION_INSTRUCTIONS);
    stall_section(out, r);
    return OK;
}

status report_text(FILE *out, const report_options *options, const run_record *records, size_t count, message *m) {
    if (count == 0)
        return OK;
    if (count > 1 || options->baseline)
        TRY(summary(out, options, records, count, m));
    if (options->details || (count == 1 && !options->baseline))
        for (size_t i = 0; i < count; i++) {
            if (count > 1 || options->baseline)
                fputc('\n', out);
            TRY(page(out, options, &records[i], m));
        }
    return OK;
}

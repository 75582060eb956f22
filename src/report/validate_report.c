#include "report/validate_report.h"

#include "report/table.h"
#include "report/write.h"

#include <math.h>
#include <string.h>

enum { POINTS_SHOWN = 24, CELL_MAX = 256 };

static const char *verdict_word(verdict v) {
    static const char *const words[] = {"", "ok", "FAILS"};
    return words[v];
}

/* The gravest of what was judged of a metric. */
static verdict verdict_of(const comparison_metric *x) {
    verdict v = x->mape > x->within ? x->mape : x->within;
    return v > x->order ? v : x->order;
}

/* "n/a" where it is not known. Returns buffer. */
static char *figure(char buffer[CELL_MAX], const char *format, double x) __attribute__((format(printf, 2, 0)));
static char *figure(char buffer[CELL_MAX], const char *format, double x) {
    if (!isfinite(x))
        return strcpy(buffer, "n/a");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(buffer, CELL_MAX, format, x);
#pragma GCC diagnostic pop
    return buffer;
}

/* "float stride, x = 3": the case of a row. Returns buffer. */
static char *case_of(char buffer[CELL_MAX], const measured_row *row) {
    if (!row)
        return strcpy(buffer, "n/a");
    if (isnan(row->x))
        snprintf(buffer, CELL_MAX, "%s", row->name);
    else
        snprintf(buffer, CELL_MAX, "%s, x = %.6g", row->name, row->x);
    return buffer;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static status metric_rows(table *t, const comparison *c, message *m) {
    char text[CELL_MAX];
    for (size_t i = 0; i < c->metric_count; i++) {
        const comparison_metric *x = &c->metric[i];
        TRY(table_add(t, m, "%s", x->what->name));
        TRY(table_add(t, m, "%zu", x->a.points));
        TRY(table_add(t, m, "%s", figure(text, "%.2f", 100 * x->a.mape)));
        TRY(table_add(t, m, "%s", figure(text, "%+.1f", 100 * x->a.worst_error)));
        TRY(table_add(t, m, "%s", verdict_word(verdict_of(x))));
        TRY(table_add(t, m, "%s", figure(text, "%.3f", x->a.mean_ratio)));
        TRY(table_add(t, m, "%s", figure(text, "%.4f", x->a.pearson)));
        TRY(table_add(t, m, "%s", figure(text, "%.3f", x->a.kendall)));
        TRY(table_add(t, m, "%s", case_of(text, x->worst)));
    }
    return OK;
}

static status metric_table_print(FILE *out, const report_options *options, const comparison *c, message *m) {
    static const table_column columns[] = {
        {"metric", "", 0, 0},  {"points", "", 1, 1},     {"MAPE", "%", 1, 0},
        {"worst", "%", 1, 0},  {"", "", 0, 0},           {"ratio", "geo. mean", 1, 2},
        {"Pearson", "", 1, 4}, {"Kendall", "tau", 1, 3}, {"worst at", "", 0, 5}};
    table t = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    const status s = metric_rows(&t, c, m);
    if (s == OK)
        table_print(&t, out, options->width);
    table_free(&t);
    return s;
}

static status level_rows(table *t, const comparison *c, message *m) {
    char text[CELL_MAX];
    for (size_t i = 0; i < c->level_count; i++) {
        const comparison_level *l = &c->level[i];
        TRY(table_add(t, m, "%s", l->name));
        TRY(table_add(t, m, l->knee ? "knee between %g and %g" : "plateau %g to %g", l->from, l->to));
        TRY(table_add(t, m, "%s", figure(text, "%.4g", l->level.predicted)));
        TRY(table_add(t, m, "%s", figure(text, "%.4g", l->level.measured)));
        TRY(table_add(t, m, "%s", figure(text, "%+.1f", 100 * l->error)));
        TRY(table_add(t, m, "%s", verdict_word(l->judged)));
    }
    return OK;
}

static status level_table_print(FILE *out, const report_options *options, const comparison *c, message *m) {
    static const table_column columns[] = {{"curve", "", 0, 1},    {"x", "", 0, 0},      {"predicted", "", 1, 0},
                                           {"measured", "", 1, 0}, {"error", "%", 1, 0}, {"", "", 0, 0}};
    table t = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    const status s = level_rows(&t, c, m);
    if (s == OK) {
        fputc('\n', out);
        table_print(&t, out, options->width);
    }
    table_free(&t);
    return s;
}

static status point_rows(table *t, const comparison *c, message *m) {
    char text[CELL_MAX];
    for (size_t i = 0; i < c->point_count; i++) {
        const comparison_point *p = &c->point[i];
        const measured_row *row = p->row;
        TRY(table_add(t, m, "%s", case_of(text, row)));
        TRY(table_add(t, m, "%s", row->metric));
        TRY(table_add(t, m, "%s", figure(text, "%.5g", p->predicted)));
        TRY(table_add(t, m, "%s", figure(text, "%.5g", row->value)));
        TRY(table_add(t, m, "%s", row->unit));
        TRY(table_add(t, m, "%s", figure(text, "%+.1f", 100 * accuracy_error(p->predicted, row->value))));
    }
    return OK;
}

static status point_table_print(FILE *out, const report_options *options, const comparison *c, message *m) {
    static const table_column columns[] = {{"case", "", 0, 0},     {"metric", "", 0, 1}, {"predicted", "", 1, 0},
                                           {"measured", "", 1, 0}, {"unit", "", 0, 2},   {"error", "%", 1, 0}};
    table t = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    const status s = point_rows(&t, c, m);
    if (s == OK) {
        fputc('\n', out);
        table_print(&t, out, options->width);
    }
    table_free(&t);
    return s;
}

/* What was asked of the set, and what of it does not hold. */
static void say_verdicts(FILE *out, const report_options *options, const comparison *c) {
    for (size_t i = 0; i < c->metric_count; i++) {
        const comparison_metric *x = &c->metric[i];
        const validation_metric *w = x->what;
        if (x->mape == VERDICT_FAIL)
            text_line(out, options->width, "%s: MAPE %.2f %%; at most %g %% is allowed", w->name, 100 * x->a.mape,
                      w->mape_pct);
        if (x->within == VERDICT_FAIL)
            text_line(out, options->width, "%s: %.1f %% of the points are within %g %%; %g %% should be", w->name,
                      100 * x->a.within, w->within_pct, w->share_pct);
        if (x->order == VERDICT_FAIL)
            text_line(out, options->width, "%s: %zu of %zu pairs that differ by more than %g %% are in the wrong order",
                      w->name, x->a.wrong_pairs, x->a.ranked_pairs, w->order_pct);
        if (x->unknown)
            text_line(out, options->width, "%s: %zu points have no prediction", w->name, x->unknown);
    }
}

static status set_text(FILE *out, const report_options *options, const comparison *c, message *m) {
    text_line(out, options->width, "%s on %s, %s", c->set, c->machine,
              c->fitted ? "which was fitted to some of these rows" : "predicted");
    fputc('\n', out);
    TRY(metric_table_print(out, options, c, m));
    if (c->level_count)
        TRY(level_table_print(out, options, c, m));
    if (options->details || c->point_count <= POINTS_SHOWN)
        TRY(point_table_print(out, options, c, m));
    else
        fprintf(out, "\n--details shows all %zu points.\n", c->point_count);
    say_verdicts(out, options, c);
    return OK;
}

static status validate_text(FILE *out, const report_options *options, const comparison *sets, size_t count,
                            message *m) {
    for (size_t i = 0; i < count; i++) {
        if (i)
            fputc('\n', out);
        TRY(set_text(out, options, &sets[i], m));
    }
    return OK;
}

/* ---- CSV and JSON ------------------------------------------------------------------------------------------------ */

static void csv_number(FILE *out, double x) {
    if (isfinite(x))
        fprintf(out, ",%.9g", x);
    else
        fputs(",n/a", out);
}

static void validate_csv(FILE *out, const comparison *sets, size_t count) {
    fputs("set,case,x,metric,unit,predicted,measured,low,high,error\n", out);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < sets[i].point_count; k++) {
            const comparison_point *p = &sets[i].point[k];
            csv_field(out, sets[i].set);
            fputc(',', out);
            csv_field(out, p->row->name);
            csv_number(out, p->row->x);
            fputc(',', out);
            csv_field(out, p->row->metric);
            fputc(',', out);
            csv_field(out, p->row->unit);
            const double figures[] = {p->predicted, p->row->value, p->row->low, p->row->high,
                                      accuracy_error(p->predicted, p->row->value)};
            for (size_t n = 0; n < sizeof figures / sizeof *figures; n++)
                csv_number(out, figures[n]);
            fputc('\n', out);
        }
}

static json_t *json_number(double x) {
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *json_verdict(verdict v) {
    return v == VERDICT_NONE ? json_null() : json_boolean(v == VERDICT_PASS);
}

static json_t *json_metric(const comparison_metric *x) {
    char worst[CELL_MAX];
    return json_pack("{s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:s, s:I, s:I, s:o}", "metric", x->what->name,
                     "unit", x->unit, "points", (json_int_t)x->a.points, "points_unknown", (json_int_t)x->unknown,
                     "mape_pct", json_number(100 * x->a.mape), "ratio_geometric_mean", json_number(x->a.mean_ratio),
                     "pearson", json_number(x->a.pearson), "kendall_tau_b", json_number(x->a.kendall),
                     "worst_error_pct", json_number(100 * x->a.worst_error), "worst_at", case_of(worst, x->worst),
                     "pairs_ranked", (json_int_t)x->a.ranked_pairs, "pairs_wrong", (json_int_t)x->a.wrong_pairs,
                     "within_tolerance", json_verdict(verdict_of(x)));
}

static json_t *json_level(const comparison *c, const comparison_level *l) {
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "case", l->name, "metric",
                     c->metric[l->metric].what->name, "kind", l->knee ? "knee" : "plateau", "from",
                     json_number(l->from), "to", json_number(l->to), "predicted", json_number(l->level.predicted),
                     "measured", json_number(l->level.measured), "error_pct", json_number(100 * l->error),
                     "within_tolerance", json_verdict(l->judged));
}

static json_t *json_point(const comparison_point *p) {
    const measured_row *row = p->row;
    return json_pack("{s:s, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:s}", "case", row->name, "x", json_number(row->x),
                     "metric", row->metric, "unit", row->unit, "predicted", json_number(p->predicted), "measured",
                     json_number(row->value), "low", json_number(row->low), "high", json_number(row->high), "error",
                     json_number(accuracy_error(p->predicted, row->value)), "source", row->source);
}

static json_t *json_set(const comparison *c, int *bad) {
    json_t *metrics = json_array(), *levels = json_array(), *points = json_array();
    for (size_t i = 0; i < c->metric_count; i++)
        *bad |= json_array_append_new(metrics, json_metric(&c->metric[i]));
    for (size_t i = 0; i < c->level_count; i++)
        *bad |= json_array_append_new(levels, json_level(c, &c->level[i]));
    for (size_t i = 0; i < c->point_count; i++)
        *bad |= json_array_append_new(points, json_point(&c->point[i]));
    return json_pack("{s:s, s:s, s:b, s:o, s:o, s:o, s:o}", "set", c->set, "machine", c->machine, "fitted", c->fitted,
                     "within_tolerance", json_verdict(c->judged), "metrics", metrics, "levels", levels, "points",
                     points);
}

static status validate_json(FILE *out, const report_options *options, const comparison *sets, size_t count,
                            message *m) {
    json_t *list = json_array();
    int bad = !list;
    for (size_t i = 0; i < count; i++)
        bad |= json_array_append_new(list, json_set(&sets[i], &bad));
    json_t *root = json_pack("{s:s, s:o}", "version", options->version, "sets", list);
    return json_print(out, root, bad || !root, m);
}

status report_validate(FILE *out, const report_options *options, const comparison *sets, size_t count, message *m) {
    switch (options->format) {
    case REPORT_TEXT:
        return validate_text(out, options, sets, count, m);
    case REPORT_CSV:
        validate_csv(out, sets, count);
        return OK;
    case REPORT_JSON:
        return validate_json(out, options, sets, count, m);
    }
    return OK;
}

/* ---- the accuracy table ------------------------------------------------------------------------------------------ */

static double worst_level(const comparison *c, bool knee) {
    double worst = NAN;
    for (size_t i = 0; i < c->level_count; i++)
        if (c->level[i].knee == knee && isfinite(c->level[i].error) && !(fabs(c->level[i].error) <= fabs(worst)))
            worst = c->level[i].error;
    return worst;
}

void report_accuracy_table(FILE *out, const comparison *sets, size_t count) {
    char mape[CELL_MAX], worst[CELL_MAX], at[CELL_MAX], plateau[CELL_MAX], knee[CELL_MAX];
    fputs("| set | machine | metric | points | MAPE % | worst % | plateaus, knees: worst % | |\n"
          "|---|---|---|---|---|---|---|---|\n",
          out);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < sets[i].metric_count; k++) {
            const comparison *c = &sets[i];
            const comparison_metric *x = &c->metric[k];
            fprintf(out, "| %s | %s | %s | %zu | %s | %s (%s) | ", c->set, c->machine, x->what->name, x->a.points,
                    figure(mape, "%.1f", 100 * x->a.mape), figure(worst, "%+.0f", 100 * x->a.worst_error),
                    case_of(at, x->worst));
            if (c->level_count)
                fprintf(out, "%s, %s", figure(plateau, "%+.1f", 100 * worst_level(c, false)),
                        figure(knee, "%+.1f", 100 * worst_level(c, true)));
            fprintf(out, " | %s |\n", c->fitted ? "fitted" : "predicted");
        }
}

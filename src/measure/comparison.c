#include "measure/comparison.h"

#include <math.h>
#include <string.h>

status comparison_add_metric(comparison *c, const validation_metric *what, const char *unit, size_t *id, message *m) {
    void *list = c->metric;
    if (!mem_reserve(&list, &c->metric_capacity, c->metric_count + 1, sizeof *c->metric))
        return fail(m, ERR_MEMORY, "not enough memory for the metrics of %s", c->set);
    c->metric = list;
    *id = c->metric_count++;
    c->metric[*id] = (comparison_metric){.what = what, .unit = unit};
    return OK;
}

status comparison_add_point(comparison *c, const measured_row *row, size_t metric, double predicted, message *m) {
    void *list = c->point;
    if (!mem_reserve(&list, &c->point_capacity, c->point_count + 1, sizeof *c->point))
        return fail(m, ERR_MEMORY, "not enough memory for the points of %s", c->set);
    c->point = list;
    c->point[c->point_count++] = (comparison_point){row, metric, predicted};
    return OK;
}

static verdict judge(double value, double limit) {
    if (isnan(value) || isnan(limit))
        return VERDICT_NONE;
    return value <= limit * (1 + 1e-12) ? VERDICT_PASS : VERDICT_FAIL;
}

/* The points of a metric, of one series or of all (name NULL), as the statistics want them. */
static size_t collect(const comparison *c, size_t metric, const char *name, accuracy_point *to,
                      const comparison_point **from) {
    size_t n = 0;
    for (size_t i = 0; i < c->point_count; i++) {
        const comparison_point *p = &c->point[i];
        if (p->metric != metric || (name && strcmp(p->row->name, name) != 0))
            continue;
        if (from)
            from[n] = p;
        to[n++] = (accuracy_point){p->row->x, p->predicted, p->row->value};
    }
    return n;
}

static void judge_metric(const comparison *c, size_t id, accuracy_point *points, const comparison_point **from) {
    comparison_metric *x = &c->metric[id];
    const validation_metric *what = x->what;
    const size_t n = collect(c, id, NULL, points, from);
    x->a = accuracy_of(points, n, what->within_pct / 100, what->order_pct / 100);
    x->worst = x->a.points ? from[x->a.worst]->row : NULL;
    for (size_t i = 0; i < n; i++)
        x->unknown += isnan(points[i].predicted) != 0;
    x->mape = judge(100 * x->a.mape, what->mape_pct);
    x->within = judge(what->share_pct, isnan(what->within_pct) ? NAN : 100 * x->a.within);
    x->order = !isnan(what->order_pct) && x->a.ranked_pairs ? judge((double)x->a.wrong_pairs, 0) : VERDICT_NONE;
}

static status add_level(comparison *c, const comparison_level *l, message *m) {
    void *list = c->level;
    if (!mem_reserve(&list, &c->level_capacity, c->level_count + 1, sizeof *c->level))
        return fail(m, ERR_MEMORY, "not enough memory for the plateaus of %s", c->set);
    c->level = list;
    c->level[c->level_count++] = *l;
    return OK;
}

/* Plateaus of a series, and the knees between them. */
static status add_levels(comparison *c, size_t metric, const char *name, accuracy_point *points, message *m) {
    const validation *v = c->what;
    const size_t n = collect(c, metric, name, points, NULL);
    accuracy_level before = {NAN, NAN};
    for (size_t i = 0; i < v->plateau_count; i++) {
        const double *range = v->plateau[i];
        comparison_level l = {.name = name, .metric = metric, .from = range[0], .to = range[1]};
        l.level = accuracy_plateau(points, n, range[0], range[1]);
        l.error = accuracy_error(l.level.predicted, l.level.measured);
        l.judged = judge(100 * fabs(l.error), v->plateau_pct);
        if (i > 0) {
            comparison_level knee = {.name = name, .metric = metric, .knee = true};
            knee.from = v->plateau[i - 1][0];
            knee.to = range[1];
            knee.level = accuracy_knee(points, n, knee.from, knee.to, before, l.level);
            knee.error = accuracy_error(knee.level.predicted, knee.level.measured);
            knee.judged = judge(100 * fabs(knee.error), v->knee_pct);
            TRY(add_level(c, &knee, m));
        }
        TRY(add_level(c, &l, m));
        before = l.level;
    }
    return OK;
}

static status find_levels(comparison *c, accuracy_point *points, message *m) {
    for (size_t metric = 0; metric < c->metric_count; metric++) {
        const char *last = NULL;
        for (size_t i = 0; i < c->point_count; i++) {
            const comparison_point *p = &c->point[i];
            if (p->metric != metric || isnan(p->row->x) || (last && strcmp(last, p->row->name) == 0))
                continue;
            last = p->row->name;
            TRY(add_levels(c, metric, last, points, m));
        }
    }
    return OK;
}

static void add_verdict(verdict *whole, verdict part) {
    if (part > *whole)
        *whole = part;
}

static status judge_all(comparison *c, accuracy_point *points, const comparison_point **from, message *m) {
    for (size_t i = 0; i < c->metric_count; i++)
        judge_metric(c, i, points, from);
    if (c->what && c->what->plateau_count)
        TRY(find_levels(c, points, m));
    for (size_t i = 0; i < c->metric_count; i++) {
        add_verdict(&c->judged, c->metric[i].mape);
        add_verdict(&c->judged, c->metric[i].within);
        add_verdict(&c->judged, c->metric[i].order);
    }
    for (size_t i = 0; i < c->level_count; i++)
        add_verdict(&c->judged, c->level[i].judged);
    return OK;
}

status comparison_judge(comparison *c, message *m) {
    accuracy_point *points = mem_zero(c->point_count + 1, sizeof *points);
    const comparison_point **from = mem_zero(c->point_count + 1, sizeof *from);
    status s = points && from ? judge_all(c, points, from, m)
                              : fail(m, ERR_MEMORY, "not enough memory for the points of %s", c->set);
    mem_free(points);
    mem_free(from);
    return s;
}

void comparison_free(comparison *c) {
    mem_free(c->point);
    mem_free(c->metric);
    mem_free(c->level);
    *c = (comparison){.point_count = 0};
}

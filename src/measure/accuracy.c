#include "measure/accuracy.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MEDIAN_MAX = 4096 };

double accuracy_error(double predicted, double measured) {
    if (!isfinite(predicted) || !isfinite(measured))
        return NAN;
    if (measured == 0)
        return predicted == 0 ? 0 : NAN;
    return (predicted - measured) / fabs(measured);
}

static bool counts(const accuracy_point *p) {
    return isfinite(accuracy_error(p->predicted, p->measured));
}

static void add_errors(const accuracy_point *point, size_t count, double limit, accuracy *a) {
    double sum = 0, logs = 0;
    size_t within = 0, positive = 0;
    a->worst_error = NAN;
    for (size_t i = 0; i < count; i++) {
        const double error = accuracy_error(point[i].predicted, point[i].measured);
        if (isnan(error))
            continue;
        a->points++;
        sum += fabs(error);
        within += fabs(error) <= limit * (1 + 1e-12);
        if (isnan(a->worst_error) || fabs(error) > fabs(a->worst_error)) {
            a->worst_error = error;
            a->worst = i;
        }
        if (point[i].predicted > 0 && point[i].measured > 0) {
            logs += log(point[i].predicted / point[i].measured);
            positive++;
        }
    }
    a->mape = a->points ? sum / (double)a->points : NAN;
    a->within = a->points && !isnan(limit) ? (double)within / (double)a->points : NAN;
    a->mean_ratio = positive ? exp(logs / (double)positive) : NAN;
}

static double pearson_of(const accuracy_point *point, size_t count, size_t n) {
    double mean[2] = {0, 0}, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < count; i++)
        if (counts(&point[i])) {
            mean[0] += point[i].predicted / (double)n;
            mean[1] += point[i].measured / (double)n;
        }
    for (size_t i = 0; i < count; i++)
        if (counts(&point[i])) {
            const double x = point[i].predicted - mean[0], y = point[i].measured - mean[1];
            xx += x * x;
            yy += y * y;
            xy += x * y;
        }
    return n > 1 && xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

static int sign(double x) {
    return (x > 0) - (x < 0);
}

static void add_ranks(const accuracy_point *point, size_t count, double apart, accuracy *a) {
    double agree = 0, untied[2] = {0, 0};
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++) {
            if (!counts(&point[i]) || !counts(&point[k]))
                continue;
            const double m = point[k].measured - point[i].measured;
            const int order[2] = {sign(point[k].predicted - point[i].predicted), sign(m)};
            agree += order[0] * order[1];
            untied[0] += order[0] != 0;
            untied[1] += order[1] != 0;
            if (fabs(m) > apart * fmin(fabs(point[i].measured), fabs(point[k].measured))) {
                a->ranked_pairs++;
                a->wrong_pairs += order[0] != order[1];
            }
        }
    a->kendall = untied[0] > 0 && untied[1] > 0 ? agree / sqrt(untied[0] * untied[1]) : NAN;
}

accuracy accuracy_of(const accuracy_point *point, size_t count, double limit, double apart) {
    accuracy a = {.points = 0};
    add_errors(point, count, limit, &a);
    a.pearson = pearson_of(point, count, a.points);
    add_ranks(point, count, apart, &a);
    return a;
}

static int ascending(const void *a, const void *b) {
    return sign(*(const double *)a - *(const double *)b);
}

static double median(double *value, size_t n) {
    if (!n)
        return NAN;
    qsort(value, n, sizeof *value, ascending);
    return n % 2 ? value[n / 2] : (value[n / 2 - 1] + value[n / 2]) / 2;
}

accuracy_level accuracy_plateau(const accuracy_point *point, size_t count, double from, double to) {
    double value[2][MEDIAN_MAX];
    size_t n = 0;
    for (size_t i = 0; i < count && n < MEDIAN_MAX; i++)
        if (counts(&point[i]) && point[i].x >= from && point[i].x <= to) {
            value[0][n] = point[i].predicted;
            value[1][n++] = point[i].measured;
        }
    return (accuracy_level){median(value[0], n), median(value[1], n)};
}

/* Where the straight line through (x0, y0) and (x1, y1) is y. */
static double crossing(double x0, double y0, double x1, double y1, double y) {
    const double part = (y - y0) / (y1 - y0);
    return x0 > 0 ? x0 * pow(x1 / x0, part) : x0 + part * (x1 - x0);
}

static double knee_of(const accuracy_point *point, size_t count, double from, double to, bool predicted, double before,
                      double after) {
    const double half = (before + after) / 2;
    double x0 = NAN, y0 = NAN;
    for (size_t i = 0; i < count; i++) {
        if (!counts(&point[i]) || point[i].x < from || point[i].x > to)
            continue;
        const double x = point[i].x, y = predicted ? point[i].predicted : point[i].measured;
        if (sign(y - half) != sign(before - half))
            return isnan(x0) ? x : crossing(x0, y0, x, y, half);
        x0 = x;
        y0 = y;
    }
    return NAN;
}

accuracy_level accuracy_knee(const accuracy_point *point, size_t count, double from, double to, accuracy_level before,
                             accuracy_level after) {
    return (accuracy_level){knee_of(point, count, from, to, true, before.predicted, after.predicted),
                            knee_of(point, count, from, to, false, before.measured, after.measured)};
}

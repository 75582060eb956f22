/* comparison.h - predictions beside a set of measurements: errors, statistics, plateaus and knees, verdicts. */
#ifndef COALIGN_MEASURE_COMPARISON_H
#define COALIGN_MEASURE_COMPARISON_H

#include "base/status.h"
#include "config/validation_config.h"
#include "measure/accuracy.h"
#include "measure/measured.h"

/* Unknown: no tolerance was stated, or nothing was there to judge. */
typedef enum verdict { VERDICT_NONE, VERDICT_PASS, VERDICT_FAIL } verdict;

typedef struct comparison_point {
    const measured_row *row;
    size_t metric;
    double predicted; /* NAN: not known */
} comparison_point;

typedef struct comparison_metric {
    const validation_metric *what;
    const char *unit; /* as the file has it */
    accuracy a;
    size_t unknown;            /* points without a prediction */
    const measured_row *worst; /* NULL: none */
    verdict mape, within, order;
} comparison_metric;

/* A plateau of a series, or the knee behind it. */
typedef struct comparison_level {
    const char *name; /* of the series */
    size_t metric;
    bool knee;
    double from, to; /* x */
    accuracy_level level;
    double error;
    verdict judged;
} comparison_level;

typedef struct comparison {
    const char *set, *machine;
    bool fitted;
    const validation *what; /* its tolerances; NULL: none */
    comparison_point *point;
    comparison_metric *metric;
    comparison_level *level;
    size_t point_count, metric_count, level_count;
    size_t point_capacity, metric_capacity, level_capacity;
    verdict judged; /* of the whole set */
} comparison;

/* Appends a metric: its number in *id. `what` and the texts must outlive the comparison. ERR_MEMORY. */
status comparison_add_metric(comparison *c, const validation_metric *what, const char *unit, size_t *id, message *m);
status comparison_add_point(comparison *c, const measured_row *row, size_t metric, double predicted, message *m);

/* Once all points are there, series by series in order of x: the rest. ERR_MEMORY. */
status comparison_judge(comparison *c, message *m);
void comparison_free(comparison *c);

#endif

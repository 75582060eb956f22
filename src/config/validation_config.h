/* validation_config.h - what `coalign validate` compares: the `validation` group of a config.
 *
 *     validation = {
 *         set = "strides_a100";            whose rows of the measured file are meant
 *         measured = "gpu_strides.csv";    beside the machines in models/measured, or a path; --measured replaces it
 *         fitted = false;                  true: constants of the machine were chosen with these rows
 *         metrics = ( {
 *             name = "cycles";             as the file calls it
 *             of = "sm__cycles_elapsed.max"; per = "lines_ld";    metrics of coalign: the first over the second
 *             scale = 1.0;                 times this
 *             mape_pct = 10.0;             fails when the mean absolute percentage error is greater
 *             within_pct = 6.0; share_pct = 95.0;     or when less than this share of the points is within that
 *             order_pct = 15.0;            or when two measured values that differ by more come in the other order
 *         }, ... );
 *         plateaus = ( [2, 100], [200, 4000] );       ranges of x on which a curve is flat, in ascending order;
 *         plateau_pct = 5.0; knee_pct = 10.0;         tolerance of their medians, and of x where it goes half way
 *     };
 *
 * `per`, `scale`, tolerances and plateaus may be left out: 1, 1, and no verdict.
 */
#ifndef COALIGN_CONFIG_VALIDATION_CONFIG_H
#define COALIGN_CONFIG_VALIDATION_CONFIG_H

#include "base/status.h"
#include "config/reader.h"

#include <stdbool.h>

enum { VALIDATION_TEXT_MAX = 128, VALIDATION_METRICS_MAX = 8, VALIDATION_PLATEAUS_MAX = 6 };

/* NAN: no such tolerance. */
typedef struct validation_metric {
    char name[VALIDATION_TEXT_MAX], of[VALIDATION_TEXT_MAX], per[VALIDATION_TEXT_MAX]; /* per "": 1 */
    double scale, mape_pct, within_pct, share_pct, order_pct;
} validation_metric;

typedef struct validation {
    char set[VALIDATION_TEXT_MAX];
    char measured[2 * VALIDATION_TEXT_MAX];
    bool fitted;
    validation_metric metric[VALIDATION_METRICS_MAX];
    size_t metric_count;
    double plateau[VALIDATION_PLATEAUS_MAX][2]; /* x from, to */
    size_t plateau_count;
    double plateau_pct, knee_pct;
} validation;

/* ERR_INPUT with file and line. */
status validation_read(const config *c, const config_setting_t *group, validation *v, message *m);

#endif

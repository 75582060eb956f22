/* accuracy.h - how near predictions come to measurements.
 *
 * A point counts where both values are known. Errors are (predicted - measured) / measured; a measured 0 has an error
 * only where the prediction is 0 too.
 */
#ifndef COALIGN_MEASURE_ACCURACY_H
#define COALIGN_MEASURE_ACCURACY_H

#include <stddef.h>

typedef struct accuracy_point {
    double x, predicted, measured; /* NAN: not known */
} accuracy_point;

/* NAN: too few points for it, or values that do not vary. */
typedef struct accuracy {
    size_t points;       /* that count */
    double mape;         /* mean of |error| */
    double mean_ratio;   /* geometric mean of predicted / measured, over points where both are positive */
    double pearson;      /* of the values */
    double kendall;      /* tau-b (Kendall 1945): with ties */
    double within;       /* share of the points whose |error| is at most accuracy_of's `limit` */
    size_t worst;        /* the point with the greatest |error| */
    double worst_error;  /* its error */
    size_t wrong_pairs;  /* pairs whose measured values differ by more than `apart`, of the smaller, ... */
    size_t ranked_pairs; /* ... of which so many there are, and whose predictions come in the other order or tie */
} accuracy;

/* NAN where it is not known. */
double accuracy_error(double predicted, double measured);
accuracy accuracy_of(const accuracy_point *point, size_t count, double limit, double apart);

/* A level of a curve: the medians of both values where from <= x <= to. NAN: no point there. */
typedef struct accuracy_level {
    double predicted, measured;
} accuracy_level;
accuracy_level accuracy_plateau(const accuracy_point *point, size_t count, double from, double to);

/* The x, between `from` and `to`, at which each curve first is half way from one level to the other; between points on
 * a straight line over log x (over x where that is not positive). Points come in order of x. */
accuracy_level accuracy_knee(const accuracy_point *point, size_t count, double from, double to, accuracy_level before,
                             accuracy_level after);

#endif

/* measured.h - recorded measurements, as models/measured holds them.
 *
 * A CSV file (RFC 4180) whose lines beginning with # are comments, with a header that names at least the columns set,
 * case, metric and value; x, unit, low, high and source may follow, in any order; other columns are ignored. One row a
 * figure:
 *     set,case,x,metric,unit,value,low,high,source
 *     strides_a100,float stride,3,cycles,cycle,1.63,,,RRZE-HPC/gpu-benches
 * case: of a config, without x; x: of its series, else empty; low, high: of the measurement, where known. An empty
 * value and n/a are not known.
 */
#ifndef COALIGN_MEASURE_MEASURED_H
#define COALIGN_MEASURE_MEASURED_H

#include "base/mem.h"
#include "base/status.h"

typedef struct measured_row {
    const char *set, *name, *metric, *unit, *source; /* never NULL */
    double x, value, low, high;                      /* NAN: none */
    int line;                                        /* of the file, or 0 */
} measured_row;

typedef struct measured {
    arena text;
    measured_row *row;
    size_t count, capacity;
} measured;

/* Appends the file's rows of this set; set NULL: all. Zero-initialise *out; free it with measured_free, also after a
 * failure. ERR_IO, ERR_INPUT with file and line. */
status measured_read(const char *path, const char *set, measured *out, message *m);
void measured_free(measured *d);

/* False where there is not enough memory. The texts are copied; set NULL and so on: "". */
int measured_add(measured *d, const measured_row *row);

#endif

/* native.h - the CPU's copies and walks over memory, run and timed on this host.
 *
 * The measuring thread is pinned to one core of those it may use. Each point is warmed by whole passes, then timed
 * NATIVE_REPEATS times, each for at least NATIVE_SAMPLE_S: median, lowest and highest are kept. The code is what the
 * simulated kernels describe (kernel/pattern.h, kernel/cpu_copy.h), as the compiler makes it of C.
 *
 *   case                         x                      metric, unit
 *   chase                        bytes of working set   latency, ns a load
 *   read, copy, memcpy, stream   bytes, both arrays     bandwidth, GB/s, read plus written
 *   stride                       bytes of the stride    time_per_access, ns, over NATIVE_STRIDE_BYTES
 *   transpose ...                side of the f32 matrix bandwidth, GB/s
 *   slice rows, slice columns    side                   bandwidth, GB/s; the copy of all but the first column
 *
 * Beside each, where the kernel gives them, core cycles and cache misses an access by perf_event_open(2); else n/a.
 */
#ifndef COALIGN_MEASURE_NATIVE_H
#define COALIGN_MEASURE_NATIVE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { NATIVE_REPEATS = 7, NATIVE_STRIDE_BYTES = 64 << 20, NATIVE_LINE_BYTES = 64 };
#define NATIVE_SAMPLE_S 2e-3

typedef struct native_row {
    const char *name, *metric, *unit; /* constants */
    double x, value, low, high;       /* median, least, most; NAN: n/a */
} native_row;

typedef struct native_result {
    native_row *row;
    size_t count, capacity;
    char host[128]; /* the processor's name */
    int core;       /* -1: the thread could not be pinned */
    bool counters;  /* the kernel gave performance counters */
} native_result;

/* Working sets up to `largest` bytes (at least 1 MiB). progress: called before each point, non-zero interrupts; may be
 * NULL. ERR_MEMORY, ERR_INTERRUPTED. Free with native_free, also after a failure. */
status native_measure(uint64_t largest, int (*progress)(void *context, const char *name), void *context,
                      native_result *out, message *m);
void native_free(native_result *r);

/* set,case,x,metric,unit,value,low,high,source: what models/measured holds; set is "native". */
void native_write_csv(FILE *out, const native_result *r);

#endif

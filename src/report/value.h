/* value.h - making metric values (internal to src/report). */
#ifndef COALIGN_REPORT_VALUE_H
#define COALIGN_REPORT_VALUE_H

#include "report/metrics.h"

#include <math.h>
#include <stdbool.h>

static inline metric_value none(void) {
    return (metric_value){.kind = VALUE_NONE};
}

static inline metric_value count(uint64_t n) {
    return (metric_value){.kind = VALUE_COUNT, .count = n};
}

static inline metric_value real(double x) {
    return isfinite(x) ? (metric_value){.kind = VALUE_REAL, .real = x} : none();
}

static inline metric_value text(const char *s) {
    return (metric_value){.kind = VALUE_TEXT, .text = s};
}

static inline metric_value ratio(double part, double whole) {
    return whole > 0 ? real(part / whole) : none();
}

/* A share of 0..1 as a percentage. Sums of rounded shares may pass 1 by an ulp: cut off. */
static inline metric_value share(double x) {
    return isfinite(x) ? real(fmin(fmax(x, 0), 1) * 100) : none();
}

static inline metric_value percent(uint64_t part, uint64_t whole) {
    return whole ? share((double)part / (double)whole) : none();
}

/* The run took time: shares of it exist. */
static inline bool ran(const run_record *r) {
    return r->sim.cycles > 0;
}

/* The end of the run was extrapolated. */
static inline bool sampled(const run_record *r) {
    return r->sim.simulated_blocks < r->sim.blocks;
}

/* Of the sectors that loads ask for, those that no transfer of their own had to bring. */
static inline metric_value read_hit(const level_counters *c) {
    return percent(c->read_hit_sectors + c->read_pending_sectors, c->read_sectors);
}

#endif

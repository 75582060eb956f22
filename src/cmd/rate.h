/* rate.h - how far a long job of many points is: a line on a terminal with bar, rate and time left, elsewhere a line a
 * minute. May be called from several threads. */
#ifndef COALIGN_CMD_RATE_H
#define COALIGN_CMD_RATE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct rate {
    bool quiet, terminal;
    uint64_t before, done, total; /* points: before this process began, with those it has finished, in all */
    double start, shown;          /* seconds of a monotonic clock */
} rate;

rate rate_start(uint64_t before, uint64_t total, bool quiet);

/* `finished` more points are done. Shows the line when it is time to. */
void rate_step(rate *r, uint64_t finished);

/* Removes the line from a terminal. */
void rate_clear(const rate *r);

/* "3 h 05 min", "4 min 10 s", "12 s". Returns buffer. */
char *format_duration(char *buffer, uint64_t size, double seconds);

#endif

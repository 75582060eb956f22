#include "cmd/rate.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 24 };
static const double terminal_period_s = 0.1, log_period_s = 60;

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

rate rate_start(uint64_t before, uint64_t total, bool quiet) {
    const double now = seconds_now();
    return (rate){.quiet = quiet,
                  .terminal = isatty(STDERR_FILENO),
                  .before = before,
                  .done = before,
                  .total = total,
                  .start = now,
                  .shown = now};
}

char *format_duration(char *buffer, uint64_t size, double seconds) {
    if (!(seconds < 1e9)) {
        snprintf(buffer, size, "ages");
        return buffer;
    }
    const unsigned s = (unsigned)(seconds + 0.5);
    if (s >= 3600)
        snprintf(buffer, size, "%u h %02u min", s / 3600, s % 3600 / 60);
    else if (s >= 60)
        snprintf(buffer, size, "%u min %02u s", s / 60, s % 60);
    else
        snprintf(buffer, size, "%u s", s);
    return buffer;
}

static void show(const rate *r, double now) {
    const double per_second = (double)(r->done - r->before) / (now - r->start);
    const bool known = r->done > r->before;
    char left[32] = "n/a", bar[BAR + 1] = {0};
    if (known)
        format_duration(left, sizeof left, (double)(r->total - r->done) / per_second);
    char speed[32] = "n/a";
    if (known && per_second >= 1)
        snprintf(speed, sizeof speed, "%.1f points/s", per_second);
    else if (known)
        snprintf(speed, sizeof speed, "%.1f points/min", per_second * 60);
    const double part = r->total ? (double)r->done / (double)r->total : 1;
    for (int i = 0; i < BAR; i++)
        bar[i] = i < part * BAR ? '#' : '.';
    if (r->terminal)
        fprintf(stderr, "\r\033[K[%s] %" PRIu64 "/%" PRIu64 "  %s, %s left", bar, r->done, r->total, speed, left);
    else
        fprintf(stderr, "%" PRIu64 " of %" PRIu64 " points, %s, %s left\n", r->done, r->total, speed, left);
    fflush(stderr);
}

void rate_step(rate *r, uint64_t finished) {
    const double now = seconds_now();
#pragma omp critical(rate)
    {
        r->done += finished;
        if (!r->quiet && now - r->shown >= (r->terminal ? terminal_period_s : log_period_s)) {
            show(r, now);
            r->shown = now;
        }
    }
}

void rate_clear(const rate *r) {
    if (r->terminal && !r->quiet)
        fputs("\r\033[K", stderr);
}

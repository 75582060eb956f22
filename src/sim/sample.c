#include "sim/sample.h"

#include <math.h>
#include <stddef.h>

void sampler_init(sampler *s, uint64_t resident) {
    *s = (sampler){.batch = resident ? resident : 1};
}

/* Mean and half width of the 95 % interval of the batch times first .. last - 1, grouped. */
static double group_mean(const sampler *s, uint32_t first, uint32_t last, double *half) {
    const uint32_t size = (last - first) / SAMPLE_GROUPS;
    const double student =
        2.365; /* two-sided 95 % point of Student's t with SAMPLE_GROUPS - 1 = 7 degrees of freedom */
    double sum = 0, squares = 0;
    first = last - size * SAMPLE_GROUPS;
    for (uint32_t g = 0; g < SAMPLE_GROUPS; g++) {
        const uint32_t from = first + g * size;
        const double time = (double)(s->cycle[from + size] - s->cycle[from]) / size;
        sum += time;
        squares += time * time;
    }
    const double mean = sum / SAMPLE_GROUPS;
    const double variance = (squares - sum * mean) / (SAMPLE_GROUPS - 1);
    *half = student * sqrt(variance > 0 ? variance / SAMPLE_GROUPS : 0);
    return mean;
}

/* Hardly any line was placed in an empty way between these marks. */
static bool is_warm(const sampler *s, uint32_t first, uint32_t last) {
    return (s->cold[last] - s->cold[first]) * 1000 <= (s->allocated[last] - s->allocated[first]) * SAMPLE_PERMILLE;
}

static bool is_steady(sampler *s) {
    const uint32_t last = s->marks;
    uint32_t first = last / 4;
    while (first + 2 * SAMPLE_GROUPS <= last && !is_warm(s, first, last))
        first++;
    if (first + 2 * SAMPLE_GROUPS > last)
        return false;
    const uint32_t middle = first + (last - first) / 2;
    double half = 0;
    const double mean = group_mean(s, first, last, &half);
    const double tolerance = mean * SAMPLE_PERMILLE / 1000;
    const double early = (double)(s->cycle[middle] - s->cycle[first]) / (middle - first);
    const double late = (double)(s->cycle[last] - s->cycle[middle]) / (last - middle);
    s->block_cycles = mean / (double)s->batch;
    s->block_cycles_half = half / (double)s->batch;
    return half <= tolerance && fabs(early - late) <= tolerance;
}

static void join_batches(sampler *s) {
    for (size_t i = 1; i <= SAMPLE_BATCHES / 2; i++) {
        s->cycle[i] = s->cycle[2 * i];
        s->allocated[i] = s->allocated[2 * i];
        s->cold[i] = s->cold[2 * i];
    }
    s->marks = SAMPLE_BATCHES / 2;
    s->batch *= 2;
}

void sampler_note(sampler *s, int64_t cycle, uint64_t allocated, uint64_t cold) {
    if (s->steady || ++s->finished % s->batch != 0)
        return;
    s->marks++;
    s->cycle[s->marks] = cycle;
    s->allocated[s->marks] = allocated;
    s->cold[s->marks] = cold;
    /* Look at every eighth batch, once there are enough for the groups. */
    if (s->marks >= 4 * SAMPLE_GROUPS && s->marks % SAMPLE_GROUPS == 0)
        s->steady = is_steady(s);
    if (s->marks == SAMPLE_BATCHES)
        join_batches(s);
}

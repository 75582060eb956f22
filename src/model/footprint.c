#include "model/footprint.h"

#include "base/num.h"

enum { UNIT_MAX = 4096 };

typedef struct dimension {
    uint64_t size, stride; /* bytes, made positive */
} dimension;

/* Negative strides run the other way over the same places. */
static uint32_t sorted_dimensions(const lmad *l, uint32_t element_bytes, int64_t *base, dimension *d) {
    uint32_t n = 0;
    *base += l->offset * element_bytes;
    for (uint32_t k = 0; k < l->rank; k++) {
        if (l->size[k] == 1 || l->stride[k] == 0)
            continue;
        const int64_t stride = l->stride[k] * element_bytes;
        if (stride < 0)
            *base += (l->size[k] - 1) * stride;
        dimension one = {(uint64_t)l->size[k], (uint64_t)(stride < 0 ? -stride : stride)};
        uint32_t at = n++;
        for (; at > 0 && d[at - 1].stride > one.stride; at--)
            d[at] = d[at - 1];
        d[at] = one;
    }
    return n;
}

/* rows[r]: how many rows begin at remainder r. One more dimension adds i * stride, i < size. */
static void spread(uint64_t *rows, uint32_t unit, const dimension *d) {
    uint64_t before[UNIT_MAX];
    for (uint32_t r = 0; r < unit; r++) {
        before[r] = rows[r];
        rows[r] = 0;
    }
    const uint32_t step = (uint32_t)(d->stride % unit);
    const uint32_t period = step ? unit / (step & -step) : 1; /* unit is a power of two */
    const uint32_t turns = d->size < period ? (uint32_t)d->size : period;
    for (uint32_t i = 0; i < turns; i++) {
        const uint64_t times = (d->size - i + period - 1) / period;
        const uint32_t shift = (uint32_t)((uint64_t)i * step % unit);
        for (uint32_t r = 0; r < unit; r++)
            if (before[r])
                rows[(r + shift) % unit] += before[r] * times;
    }
}

uint64_t footprint_units(const lmad *l, uint32_t element_bytes, int64_t base, uint32_t unit, bool *exact) {
    dimension d[LMAD_RANK_MAX];
    *exact = true;
    if (lmad_empty(l))
        return 0;
    const uint32_t n = sorted_dimensions(l, element_bytes, &base, d);
    uint64_t run = element_bytes;
    uint32_t k = 0;
    for (; k < n && d[k].stride < run + unit; k++)
        run += (d[k].size - 1) * d[k].stride;
    uint64_t rows[UNIT_MAX] = {0};
    rows[(uint64_t)base % unit] = 1;
    uint64_t extent = run;
    for (; k < n; k++) {
        if (d[k].stride < extent + unit) { /* interleaves */
            *exact = false;
            continue;
        }
        spread(rows, unit, &d[k]);
        extent += (d[k].size - 1) * d[k].stride;
    }
    uint64_t units = 0;
    for (uint32_t r = 0; r < unit; r++)
        units += rows[r] * ceil_div(r + run, unit);
    return units;
}

/* How wide an access may be, and whether 32-bit indices reach. */
#include "base/num.h"
#include "layout/plan.h"

#include <inttypes.h>
#include <stdio.h>

enum { WIDEST_ACCESS = 16 };

/* Greatest power of two, at most `widest`, that divides x. */
static uint32_t alignment_of(uint64_t x, uint32_t widest) {
    uint32_t a = widest;
    while (x % a != 0)
        a /= 2;
    return a;
}

/* Narrows *width to what divides `bytes`, and then says so. */
static void limit_width(uint32_t *width, uint64_t bytes, plan_text *why, const char *what, int64_t value) {
    uint32_t limit = alignment_of(bytes, *width);
    if (limit < *width && why)
        snprintf(why->text, sizeof why->text, "%s %" PRId64 " B allows no access wider than %" PRIu32 " B", what, value,
                 limit);
    *width = limit;
}

/* The dimension along which an access may be wider than an element; rank: none. */
static uint32_t unit_dimension(const lmad *l) {
    uint32_t k = 0;
    while (k < l->rank && l->stride[k] != 1)
        k++;
    return k;
}

uint32_t lmad_vector_bytes(const lmad *l, uint32_t element_bytes, int64_t base, plan_text *why) {
    lmad dims = lmad_collapse(l);
    uint32_t along = unit_dimension(&dims), width = WIDEST_ACCESS;
    int64_t e = element_bytes;
    if (why)
        snprintf(why->text, sizeof why->text, "every row starts at a multiple of %d B", WIDEST_ACCESS);
    if (along == dims.rank) {
        if (why)
            snprintf(why->text, sizeof why->text, "no dimension has stride 1: an access is one element of %d B",
                     (int)element_bytes);
        width = element_bytes;
    }
    /* Unsigned wrap-around keeps the low bits, which are all that alignment asks about. */
    uint64_t start = (uint64_t)base + (uint64_t)dims.offset * (uint64_t)e;
    limit_width(&width, start, why, "the first element's address", (int64_t)start);
    for (uint32_t k = 0; k < dims.rank; k++) {
        uint64_t step = (uint64_t)dims.stride[k] * (uint64_t)e, extent = (uint64_t)dims.size[k] * (uint64_t)e;
        if (k == along)
            limit_width(&width, extent, why, "the row length of", (int64_t)extent);
        else
            limit_width(&width, step, why, "the stride of", (int64_t)step);
    }
    return width;
}

static void say_overflow(plan_text *why_not, uint64_t elements, uint64_t step) {
    if (why_not)
        snprintf(why_not->text, sizeof why_not->text,
                 "a kernel with 32-bit indices would overflow: %" PRIu64 " elements plus a grid step of %" PRIu64
                 " pass 2147483648",
                 elements, step);
}

static bool offsets_fit_32(const lmad *l, const char *what, plan_text *why_not) {
    int64_t lowest = 0, highest = 0;
    if (lmad_range(l, &lowest, &highest, NULL) == OK && lowest >= INT32_MIN && highest <= INT32_MAX)
        return true;
    if (why_not)
        snprintf(why_not->text, sizeof why_not->text,
                 "a kernel with 32-bit indices would overflow: %s offsets reach from %" PRId64 " to %" PRId64, what,
                 lowest, highest);
    return false;
}

bool copy_fits_32(const copy_desc *c, uint64_t grid_step, plan_text *why_not) {
    uint64_t elements = (uint64_t)copy_elements(c), last = 0;
    if (elements == 0)
        return true;
    /* The thread of the last element adds the step to its index, elements - 1. */
    if (!add_u64(elements - 1, grid_step, &last) || last > INT32_MAX) {
        say_overflow(why_not, elements, grid_step);
        return false;
    }
    return offsets_fit_32(&c->src, "source", why_not) && offsets_fit_32(&c->dst, "destination", why_not);
}

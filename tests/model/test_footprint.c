/* Units that a layout touches: by hand, and against marking every unit of random layouts. */
#include "base/mem.h"
#include "base/num.h"
#include "model/footprint.h"

#include <criterion/criterion.h>
#include <string.h>

static uint64_t units(lmad l, uint32_t bytes, int64_t base, uint32_t unit) {
    bool exact = false;
    const uint64_t n = footprint_units(&l, bytes, base, unit, &exact);
    cr_expect(exact);
    return n;
}

Test(footprint, by_hand) {
    /* 2^26 floats in one piece: 2^21 lines, 2^23 sectors; one sector more when misaligned. */
    const lmad flat = {.rank = 1, .size = {1 << 26}, .stride = {1}};
    cr_expect_eq(units(flat, 4, 0, 128), 1 << 21);
    cr_expect_eq(units(flat, 4, 0, 32), 1 << 23);
    cr_expect_eq(units(flat, 4, 4, 32), (1 << 23) + 1);
    /* A transposed matrix touches what the matrix does. */
    const lmad transposed = {.rank = 2, .size = {3072, 3072}, .stride = {1, 3072}};
    cr_expect_eq(units(transposed, 4, 0, 32), 3072 * 3072 / 8);
    /* xss[:, 1:] of [8192][8193]i32: rows leave gaps of 4 bytes, which hide no sector: bytes 4 .. 268468223. */
    const lmad slice = {.offset = 1, .rank = 2, .size = {8192, 8192}, .stride = {8193, 1}};
    cr_expect_eq(units(slice, 4, 0, 32), 8389632);
    /* Every 64th float: one sector each. Every 2nd: all of them. Rows of 5 floats every 64 bytes: one each when
     * aligned, two when the row begins at byte 16 of a sector. */
    cr_expect_eq(units((lmad){.rank = 1, .size = {1000}, .stride = {64}}, 4, 0, 32), 1000);
    cr_expect_eq(units((lmad){.rank = 1, .size = {1000}, .stride = {2}}, 4, 0, 32), 250);
    cr_expect_eq(units((lmad){.rank = 2, .size = {100, 5}, .stride = {16, 1}}, 4, 0, 32), 100);
    cr_expect_eq(units((lmad){.rank = 2, .size = {100, 5}, .stride = {16, 1}}, 4, 16, 32), 200);
    /* Backwards, repeated, empty, single. */
    cr_expect_eq(units((lmad){.offset = 999, .rank = 1, .size = {1000}, .stride = {-1}}, 4, 0, 32), 125);
    cr_expect_eq(units((lmad){.rank = 2, .size = {7, 8}, .stride = {0, 1}}, 4, 0, 32), 1);
    cr_expect_eq(units((lmad){.rank = 1, .size = {0}, .stride = {1}}, 4, 0, 32), 0);
    cr_expect_eq(units((lmad){.rank = 0}, 4, 30, 32), 2);
}

/* A bit for every unit of the first 4 MiB. */
static uint64_t count_units(const lmad *l, uint32_t bytes, int64_t base, uint32_t unit, uint8_t *seen) {
    memset(seen, 0, 1 << 22);
    uint64_t total = 1, found = 0;
    for (uint32_t k = 0; k < l->rank; k++)
        total *= (uint64_t)l->size[k];
    for (uint64_t i = 0; i < total; i++) {
        uint64_t rest = i;
        int64_t offset = l->offset;
        for (uint32_t k = l->rank; k-- > 0; rest /= (uint64_t)l->size[k])
            offset += (int64_t)(rest % (uint64_t)l->size[k]) * l->stride[k];
        const uint64_t first = (uint64_t)(base + offset * bytes) / unit;
        const uint64_t last = (uint64_t)(base + offset * bytes + (int64_t)bytes - 1) / unit;
        for (uint64_t u = first; u <= last; u++) {
            cr_assert_lt(u, 1 << 22);
            found += !seen[u];
            seen[u] = 1;
        }
    }
    return found;
}

Test(footprint, of_random_layouts) {
    prng g = {.state = 17};
    uint8_t *seen = mem_zero(1 << 22, 1);
    cr_assert(seen);
    int exact_ones = 0;
    for (int i = 0; i < 3000; i++) {
        static const uint32_t widths[] = {1, 2, 4, 8, 16};
        const uint32_t bytes = widths[prng_below(&g, 5)], unit = 1u << (4 + prng_below(&g, 4));
        lmad l = {.rank = (uint32_t)prng_below(&g, 4)};
        int64_t extent = 1;
        l.offset = 20000;
        for (uint32_t k = 0; k < l.rank; k++) {
            l.size[k] = 1 + (int64_t)prng_below(&g, 9);
            l.stride[k] = prng_below(&g, 3) ? extent + (int64_t)prng_below(&g, 5) * (int64_t)prng_below(&g, 9)
                                            : (int64_t)prng_below(&g, 40);
            if (prng_below(&g, 4) == 0)
                l.stride[k] = -l.stride[k];
            const int64_t magnitude = l.stride[k] < 0 ? -l.stride[k] : l.stride[k];
            extent = magnitude * l.size[k] > extent ? magnitude * l.size[k] : extent;
        }
        const int64_t base = (int64_t)prng_below(&g, 200);
        bool exact = false;
        const uint64_t closed = footprint_units(&l, bytes, base, unit, &exact);
        const uint64_t counted = count_units(&l, bytes, base, unit, seen);
        if (exact)
            cr_assert_eq(closed, counted, "layout %d: %lu, counted %lu", i, (unsigned long)closed,
                         (unsigned long)counted);
        cr_assert_leq(closed, counted, "layout %d", i);
        cr_assert_gt(closed, 0);
        exact_ones += exact;
    }
    mem_free(seen);
    cr_expect_gt(exact_ones, 2000);
}

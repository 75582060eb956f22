/* The copy strategies as loops of CPU threads, executed: each moves every element, once, and nothing else. */
#include "fixture.h"
#include "kernel/address.h"
#include "kernel/interpret.h"
#include "kernel/pattern.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static machine cpu(prng *g) {
    machine mach = {.kind = MACHINE_CPU, .name = "test CPU", .core = {.count = 8}};
    mach.cpu.simd_bytes = UINT32_C(16) << prng_below(g, 3);
    return mach;
}

static uint8_t *noise(prng *g, size_t n) {
    uint8_t *p = malloc(n);
    cr_assert(p);
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)prng_next(g);
    return p;
}

static size_t bytes_of(const lmad *l, uint32_t element_bytes) {
    int64_t lo = 0, hi = 0;
    message m;
    cr_assert_eq(lmad_range(l, &lo, &hi, &m), OK, "%s", m.text);
    return (size_t)(hi + 1 + 70) * element_bytes; /* and a vector more, to see stores past the end */
}

/* The copy by its definition. */
static void by_hand(const copy_desc *c, const uint8_t *src, uint8_t *dst) {
    for (int64_t e = 0; e < copy_elements(c); e++) {
        int64_t rest = e, from = c->src.offset, to = c->dst.offset;
        for (uint32_t d = c->src.rank; d-- > 0;) {
            from += rest % c->src.size[d] * c->src.stride[d];
            to += rest % c->src.size[d] * c->dst.stride[d];
            rest /= c->src.size[d];
        }
        memcpy(dst + to * c->element_bytes, src + from * c->element_bytes, c->element_bytes);
    }
}

/* False when the strategy does not apply. */
static bool copies_right(prng *g, const copy_desc *c, const copy_options *o, const char *what) {
    const machine mach = cpu(g);
    const int64_t src_base = 4096, dst_base = INT64_C(1) << 40;
    const size_t src_bytes = bytes_of(&c->src, c->element_bytes), dst_bytes = bytes_of(&c->dst, c->element_bytes);
    uint8_t *src = noise(g, src_bytes), *dst = noise(g, dst_bytes), *want = malloc(dst_bytes);
    uint8_t *stores = calloc(dst_bytes, 1);
    cr_assert(want && stores);
    memcpy(want, dst, dst_bytes);
    by_hand(c, src, want);
    message m = {""};
    kernel k;
    const status built = copy_kernel_build(&mach, c, o, src_base, dst_base, &k, &m);
    if (built == OK) {
        cr_assert(k.blocks <= (o->cores ? o->cores : 1), "%s: %llu threads", what, (unsigned long long)k.blocks);
        const memory_region memory[] = {{src_base, src_bytes, src, NULL}, {dst_base, dst_bytes, dst, stores}};
        cr_assert_eq(interpret(&k, 1, memory, 2, &m), OK, "%s: %s", what, m.text);
        cr_assert_arr_eq(dst, want, dst_bytes, "%s: wrong data", what);
        uint64_t stored = 0;
        for (size_t i = 0; i < dst_bytes; i++)
            stored += stores[i];
        const uint64_t all = (uint64_t)copy_elements(c) * c->element_bytes;
        /* The last vector of memcpy may overlap the one before. */
        const uint64_t slack = o->strategy == COPY_MEMCPY ? mach.cpu.simd_bytes - 1 : 0;
        cr_assert(stored >= all && stored <= all + slack, "%s: stored %llu of %llu bytes", what,
                  (unsigned long long)stored, (unsigned long long)all);
    } else {
        cr_assert_eq(built, ERR_INPUT, "%s: %s", what, m.text);
    }
    kernel_free(&k);
    free(src);
    free(dst);
    free(want);
    free(stores);
    return built == OK;
}

Test(cpu_copy, every_strategy_copies_right) {
    static const copy_strategy strategies[] = {COPY_MEMCPY, COPY_GENERAL, COPY_TRANSPOSE_NAIVE, COPY_TRANSPOSE_DEFAULT};
    static const uint32_t tiles[] = {0, 0, 3, 8, 32};
    uint32_t built[4] = {0};
    for (uint32_t seed = 0; seed < 500; seed++) {
        prng g = {seed};
        const uint32_t width = UINT32_C(1) << prng_below(&g, 5);
        copy_desc c = fixture_copy(&g, width, 2500);
        if (prng_below(&g, 2))
            c = fixture_transpose(&g, width, fixture_between(&g, 1, 2), fixture_between(&g, 1, 150),
                                  fixture_between(&g, 1, 150));
        for (size_t s = 0; s < 4; s++) {
            const copy_options o = {.strategy = strategies[s],
                                    .elements_per_thread = 1,
                                    .sorted = prng_below(&g, 2),
                                    .signed_sort = prng_below(&g, 2),
                                    .collapse = prng_below(&g, 2),
                                    .nontemporal = prng_below(&g, 2),
                                    .tile = tiles[prng_below(&g, 5)],
                                    .cores = (uint32_t)fixture_between(&g, 0, 8)};
            char what[64];
            snprintf(what, sizeof what, "%s, seed %u", copy_strategy_name(o.strategy), seed);
            built[s] += copies_right(&g, &c, &o, what);
        }
    }
    cr_expect(built[0] > 20 && built[1] == 500 && built[2] > 100 && built[3] > 100, "%u %u %u %u", built[0], built[1],
              built[2], built[3]);
}

/* 1-dimensional copies of all small lengths, shared by up to 8 cores. */
Test(cpu_copy, short_copies) {
    for (int64_t n = 1; n < 300; n += n < 140 ? 1 : 13) {
        prng g = {(uint64_t)n};
        const copy_desc c = {.element_bytes = 4,
                             .src = {.offset = 1, .rank = 1, .size = {n}, .stride = {1}},
                             .dst = {.offset = 2, .rank = 1, .size = {n}, .stride = {1}}};
        for (int general = 0; general < 2; general++) {
            const copy_options o = {.strategy = general ? COPY_GENERAL : COPY_MEMCPY,
                                    .elements_per_thread = 1,
                                    .cores = (uint32_t)fixture_between(&g, 1, 8)};
            char what[32];
            snprintf(what, sizeof what, "%d elements", (int)n);
            cr_assert(copies_right(&g, &c, &o, what), "%s", what);
        }
    }
}

/* The recursion on 256 x 128: rows, again rows (128 x 128 is a tie) and columns are halved, so the leaves' first elements
 * come in this order (row, column), worked out by hand. */
Test(cpu_copy, recursion_visits_leaves_in_order) {
    static const int64_t order[8][2] = {{0, 0},   {0, 64},   {64, 0},  {64, 64},
                                        {128, 0}, {128, 64}, {192, 0}, {192, 64}};
    prng g = {1};
    const machine mach = cpu(&g);
    const copy_desc c = fixture_2d(128, 256, 256, 1, 0, 1, 128); /* source: 256 rows of 128 */
    const copy_options o = {.strategy = COPY_TRANSPOSE_DEFAULT, .elements_per_thread = 1};
    message m;
    kernel k;
    cr_assert_eq(copy_kernel_build(&mach, &c, &o, 0, INT64_C(1) << 30, &k, &m), OK, "%s", m.text);
    cr_expect_eq(k.loops[2].trips, 8);
    for (uint64_t leaf = 0; leaf < 8; leaf++) {
        int64_t at = 0;
        cr_assert(address_thread(&k, &k.accesses[0], 0, 0, (const uint64_t[IR_LOOPS_MAX]){leaf}, &at));
        cr_expect_eq(at / c.element_bytes, order[leaf][0] * 128 + order[leaf][1], "leaf %d: %d", (int)leaf,
                     (int)(at / c.element_bytes));
    }
    kernel_free(&k);
}

/* A permutation visits everything once, whatever the size. */
Test(pattern, permutations_are_permutations) {
    for (uint64_t n = 1; n < 300; n++) {
        bool seen[300] = {false};
        for (uint64_t i = 0; i < n; i++) {
            const uint64_t x = ir_permuted(7, (int64_t)(i + (i & 1 ? n : 0)), n);
            cr_assert(x < n && !seen[x], "%d of %d", (int)i, (int)n);
            seen[x] = true;
        }
    }
}

/* A pass of a chase touches every line of the working set once, and the second pass the same lines in the same order.
 */
Test(pattern, a_chase_is_one_cycle) {
    const pattern p = {.kind = PATTERN_CHASE, .bytes = 4096 + 64, .stride_bytes = 64, .access_bytes = 8};
    kernel k;
    message m;
    uint64_t done = 0;
    cr_assert_eq(pattern_kernel_build(&p, 130, &k, &done, &m), OK, "%s", m.text);
    cr_expect_eq(done, 130);
    bool seen[65] = {false};
    int64_t first = 0;
    for (uint64_t i = 0; i < 65; i++) {
        const uint64_t turn[IR_LOOPS_MAX] = {0, i}, again[IR_LOOPS_MAX] = {1, i};
        int64_t a = 0, b = 0;
        cr_assert(address_thread(&k, &k.accesses[0], 0, 0, turn, &a) &&
                  address_thread(&k, &k.accesses[0], 0, 0, again, &b));
        cr_expect_eq(a, b);
        first = i == 0 ? a - (int64_t)ir_permuted(UINT64_C(0x6f72646572), 0, 65) * 64 : first;
        const int64_t line = (a - first) / 64;
        cr_assert(line >= 0 && line < 65 && !seen[line]);
        seen[line] = true;
    }
    kernel_free(&k);
}

Test(pattern, sizes_that_make_no_sense_are_refused) {
    static const pattern wrong[] = {
        {.kind = PATTERN_READ, .bytes = 4096, .stride_bytes = 8, .access_bytes = 16},
        {.kind = PATTERN_READ, .bytes = 4, .stride_bytes = 8, .access_bytes = 8},
        {.kind = PATTERN_READ, .bytes = 4096, .stride_bytes = 12, .access_bytes = 12},
        {.kind = PATTERN_READ, .bytes = UINT64_C(1) << 60, .stride_bytes = 8, .access_bytes = 8},
        {.kind = PATTERN_CHASE, .bytes = 4096, .stride_bytes = 64, .access_bytes = 8, .stagger = true},
        {.kind = PATTERN_READ, .bytes = 4096, .stride_bytes = 0, .access_bytes = 8},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        kernel k;
        message m = {""};
        uint64_t done = 0;
        cr_expect_eq(pattern_kernel_build(&wrong[i], 1, &k, &done, &m), ERR_INPUT, "case %zu", i);
        cr_expect(strlen(m.text) > 10);
        kernel_free(&k);
    }
}

#include "fixture.h"
#include "kernel/address.h"
#include "kernel/interpret.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One copy with its memories: what is copied, what must be there afterwards. */
typedef struct trial {
    copy_desc copy;
    int64_t src_base, dst_base, src_bytes, dst_bytes;
    uint8_t *src, *dst, *want, *src_stores, *dst_stores, *want_stores;
} trial;

static int64_t bytes_of(const lmad *l, uint32_t element_bytes) {
    int64_t lo = 0, hi = 0;
    message m;
    cr_assert_eq(lmad_range(l, &lo, &hi, &m), OK, "%s", m.text);
    cr_assert(lo >= 0);
    return (hi + 1 + 3) * element_bytes; /* three elements more, to see stores past the end */
}

static uint8_t *bytes(int64_t n) {
    uint8_t *p = calloc((size_t)n, 1);
    cr_assert(p);
    return p;
}

/* The copy by its definition. */
static void copy_by_hand(trial *t) {
    const copy_desc *c = &t->copy;
    int64_t n = copy_elements(c);
    for (int64_t e = 0; e < n; e++) {
        int64_t rest = e, src = c->src.offset, dst = c->dst.offset;
        for (uint32_t d = c->src.rank; d-- > 0;) {
            int64_t i = rest % c->src.size[d];
            rest /= c->src.size[d];
            src += i * c->src.stride[d];
            dst += i * c->dst.stride[d];
        }
        memcpy(t->want + dst * c->element_bytes, t->src + src * c->element_bytes, c->element_bytes);
        for (uint32_t i = 0; i < c->element_bytes; i++)
            t->want_stores[dst * c->element_bytes + i]++;
    }
}

static void trial_open(trial *t, prng *g, const copy_desc *c) {
    *t = (trial){.copy = *c};
    t->src_base = fixture_between(g, 0, 9) * c->element_bytes + 4096;
    t->dst_base = t->src_base + (INT64_C(1) << 40) + fixture_between(g, 0, 9) * c->element_bytes;
    t->src_bytes = bytes_of(&c->src, c->element_bytes);
    t->dst_bytes = bytes_of(&c->dst, c->element_bytes);
    t->src = bytes(t->src_bytes);
    t->src_stores = bytes(t->src_bytes);
    t->dst = bytes(t->dst_bytes);
    t->want = bytes(t->dst_bytes);
    t->dst_stores = bytes(t->dst_bytes);
    t->want_stores = bytes(t->dst_bytes);
    for (int64_t i = 0; i < t->src_bytes; i++)
        t->src[i] = (uint8_t)prng_next(g);
    for (int64_t i = 0; i < t->dst_bytes; i++)
        t->want[i] = t->dst[i] = (uint8_t)prng_next(g);
    copy_by_hand(t);
}

static void trial_close(trial *t) {
    free(t->src);
    free(t->dst);
    free(t->want);
    free(t->src_stores);
    free(t->dst_stores);
    free(t->want_stores);
}

/* Every access of a few warps: the shortcut, the lane loop and the single threads say the same. */
static void check_addresses(prng *g, const kernel *k, const char *what) {
    for (uint32_t a = 0; a < k->access_count && k->blocks; a++) {
        uint32_t width = prng_below(g, 2) ? 32 : 64;
        warp_place p = {.block = prng_below(g, 3) ? prng_below(g, k->blocks) : k->blocks - 1,
                        .first_thread = (uint32_t)prng_below(g, ceil_div(k->block_threads, width)) * width};
        p.width = k->block_threads - p.first_thread < width ? k->block_threads - p.first_thread : width;
        warp_access fast, slow;
        address_warp(k, &k->accesses[a], &p, false, &fast);
        address_warp(k, &k->accesses[a], &p, true, &slow);
        for (uint32_t lane = 0; lane < p.width; lane++) {
            int64_t at = 0, by_fast = fast.affine ? fast.base + (int64_t)lane * fast.stride : fast.lane[lane];
            bool active = address_thread(k, &k->accesses[a], p.block, p.first_thread + lane, p.loop, &at);
            cr_assert_eq(active, (bool)(fast.mask >> lane & 1), "%s", what);
            cr_assert_eq(active, (bool)(slow.mask >> lane & 1), "%s", what);
            cr_assert(!active || (at == by_fast && at == slow.lane[lane]), "%s", what);
        }
    }
}

/* Builds and executes one strategy; false when it does not apply. */
static bool copies_right(prng *g, const copy_desc *c, const copy_options *o, const char *what) {
    machine mach = fixture_machine();
    message m = {""};
    trial t;
    trial_open(&t, g, c);
    kernel k;
    status built = copy_kernel_build(&mach, c, o, t.src_base, t.dst_base, &k, &m);
    if (built == OK) {
        memory_region memory[] = {{t.src_base, (uint64_t)t.src_bytes, t.src, t.src_stores},
                                  {t.dst_base, (uint64_t)t.dst_bytes, t.dst, t.dst_stores}};
        uint32_t width = prng_below(g, 2) ? 32 : 64;
        cr_assert_eq(interpret(&k, width, memory, 2, &m), OK, "%s: %s", what, m.text);
        cr_assert_arr_eq(t.dst, t.want, (size_t)t.dst_bytes, "%s: wrong data", what);
        cr_assert_arr_eq(t.dst_stores, t.want_stores, (size_t)t.dst_bytes, "%s: not every element once", what);
        for (int64_t i = 0; i < t.src_bytes; i++)
            cr_assert_eq(t.src_stores[i], 0, "%s: source written", what);
        check_addresses(g, &k, what);
    } else {
        cr_assert_eq(built, ERR_INPUT, "%s: %s", what, m.text);
        cr_assert(strlen(m.text) > 20, "%s: no reason", what);
    }
    kernel_free(&k);
    trial_close(&t);
    return built == OK;
}

static uint32_t some_width(prng *g) {
    return UINT32_C(1) << prng_below(g, 5);
}

Test(copy, general_kernel_copies_anything) {
    enum { COPIES = 600 };
    for (uint32_t seed = 0; seed < COPIES; seed++) {
        prng g = {seed};
        copy_desc c = fixture_copy(&g, some_width(&g), 3000);
        copy_options o = {.strategy = COPY_GENERAL,
                          .index = (index_variant)prng_below(&g, 3),
                          .elements_per_thread = UINT32_C(1) << prng_below(&g, 4),
                          .sorted = prng_below(&g, 2),
                          .signed_sort = prng_below(&g, 2),
                          .collapse = prng_below(&g, 2)};
        char what[64];
        snprintf(what, sizeof what, "seed %u", seed);
        cr_assert(copies_right(&g, &c, &o, what), "%s: not built", what);
    }
}

Test(copy, every_strategy_copies_right_or_says_why_not) {
    enum { COPIES = 500 };
    uint32_t built[COPY_STRATEGY_COUNT] = {0};
    for (uint32_t seed = 0; seed < COPIES; seed++) {
        prng g = {seed + 1000000};
        copy_desc c = fixture_copy(&g, some_width(&g), 2000);
        if (prng_below(&g, 3)) {
            static const int64_t most[] = {8, 17, 33, 100};
            int64_t rows = fixture_between(&g, 1, most[prng_below(&g, 4)]);
            int64_t columns = fixture_between(&g, 1, most[prng_below(&g, 4)]);
            c = fixture_transpose(&g, some_width(&g), fixture_between(&g, 1, 3), rows, columns);
        }
        for (copy_strategy s = 0; s < COPY_STRATEGY_COUNT; s++) {
            copy_options o = {.strategy = s, .elements_per_thread = 1};
            char what[64];
            snprintf(what, sizeof what, "%s, seed %u", copy_strategy_name(s), seed);
            built[s] += copies_right(&g, &c, &o, what);
        }
    }
    for (copy_strategy s = 0; s < COPY_STRATEGY_COUNT; s++)
        cr_expect(built[s] >= 10 && (s == COPY_GENERAL || built[s] < COPIES), "%s: %u", copy_strategy_name(s),
                  built[s]);
}

/* Every size of the narrow side, with tiles that are full, partly full and almost empty. */
Test(copy, narrow_transpositions_at_every_width) {
    static const int64_t lengths[] = {1, 15, 16, 17, 31, 80, 81, 257, 300};
    for (int64_t narrow = 2; narrow <= 16; narrow++)
        for (size_t i = 1; i < sizeof lengths / sizeof *lengths; i++) {
            prng g = {(uint64_t)narrow * 1000 + i};
            char what[64];
            snprintf(what, sizeof what, "%d x %d", (int)narrow, (int)lengths[i]);
            copy_desc low_width = fixture_transpose(&g, 4, 2, lengths[i], narrow);
            copy_desc low_height = fixture_transpose(&g, 2, 2, narrow, lengths[i]);
            copy_options o = {.strategy = COPY_TRANSPOSE_LOW_WIDTH};
            cr_assert(copies_right(&g, &low_width, &o, what), "%s", what);
            o.strategy = COPY_TRANSPOSE_LOW_HEIGHT;
            cr_assert(copies_right(&g, &low_height, &o, what), "%s", what);
        }
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int64_t n = lengths[i];
        prng g = {i};
        copy_desc column = fixture_2d(1, n, n, 1, 0, 1, 1), row = fixture_2d(n, 1, 1, 1, 0, 1, n);
        copy_options o = {.strategy = COPY_TRANSPOSE_LOW_WIDTH};
        cr_assert_eq(copies_right(&g, &column, &o, "one column"), n > 1); /* one element is no transposition */
        o.strategy = COPY_TRANSPOSE_LOW_HEIGHT;
        copies_right(&g, &row, &o, "one row");
    }
}

Test(copy, memcpy_takes_the_widest_aligned_vector) {
    static const struct {
        uint32_t element;
        int64_t n, src_offset, dst_offset;
        uint32_t width, accesses;
        uint64_t blocks;
    } cases[] = {
        {4, 4096, 0, 0, 16, 2, 4}, {4, 4097, 0, 0, 16, 4, 5 - 1},  {4, 4096, 1, 0, 4, 2, 16}, {4, 4096, 2, 2, 8, 2, 8},
        {1, 7, 0, 0, 4, 4, 1},     {1, 1, 0, 0, 1, 2, 1},          {2, 3, 0, 0, 4, 4, 1},     {16, 5, 0, 0, 16, 2, 1},
        {1, 100, 1, 1, 1, 2, 1},   {1, 4096 + 15, 0, 0, 16, 4, 1},
    };
    machine mach = fixture_machine();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        copy_desc c = {.element_bytes = cases[i].element,
                       .src = {.offset = cases[i].src_offset, .rank = 1, .size = {cases[i].n}, .stride = {1}},
                       .dst = {.offset = cases[i].dst_offset, .rank = 1, .size = {cases[i].n}, .stride = {1}}};
        copy_options o = {.strategy = COPY_MEMCPY};
        message m;
        kernel k;
        cr_assert_eq(copy_kernel_build(&mach, &c, &o, 4096, 1 << 20, &k, &m), OK, "case %zu: %s", i, m.text);
        cr_expect_eq(k.accesses[0].bytes, cases[i].width, "case %zu: %u", i, k.accesses[0].bytes);
        cr_expect_eq(k.access_count, cases[i].accesses, "case %zu: %u", i, k.access_count);
        cr_expect_eq(k.blocks, cases[i].blocks, "case %zu: %llu", i, (unsigned long long)k.blocks);
        kernel_free(&k);
        prng g = {i};
        cr_assert(copies_right(&g, &c, &o, "memcpy"));
    }
}

#include "fixture.h"
#include "kernel/address.h"

#include <criterion/criterion.h>

/* Random numbers of all sizes, small ones more often, so that carries happen sometimes, always and never. */
static int64_t some(prng *g, int bits) {
    return (int64_t)(prng_next(g) >> (64 - fixture_between(g, 1, bits)));
}

static int64_t some_signed(prng *g, int bits) {
    int64_t value = some(g, bits);
    return prng_below(g, 3) ? value : -value;
}

static void add_random_terms(prng *g, kernel *k, uint32_t *first, uint32_t *count) {
    message m;
    *first = k->term_count;
    *count = (uint32_t)prng_below(g, 4);
    for (uint32_t i = 0; i < *count; i++) {
        ir_index x = {.base = some_signed(g, 40), .per_thread = some_signed(g, 12), .per_block = some_signed(g, 16)};
        if (prng_below(g, 2))
            x.per_thread = fixture_between(g, -1, 1);
        for (int d = 0; d < IR_LOOPS_MAX; d++)
            x.per_loop[d] = some_signed(g, 10);
        ir_term t = {.div = (uint64_t)some(g, 12) | 1, .mod = (uint64_t)some(g, 12), .mul = some_signed(g, 16)};
        if (prng_below(g, 4) == 0)
            t.mod = 0;
        if (prng_below(g, 16) == 0)
            t.div = (uint64_t)some(g, 62) + 1;
        cr_assert_eq(ir_add_index(k, x, &t.index, &m), OK);
        cr_assert_eq(ir_add_term(k, t, &m), OK);
    }
}

static void add_random_access(prng *g, kernel *k) {
    message m;
    ir_access a = {.space = SPACE_GLOBAL,
                   .bytes = 4,
                   .base = some_signed(g, 40),
                   .first_bound = k->bound_count,
                   .bounds = (uint32_t)prng_below(g, 4)};
    for (uint32_t i = 0; i < a.bounds; i++) {
        ir_bound b;
        add_random_terms(g, k, &b.first_term, &b.terms);
        b.limit = 0;
        cr_assert_eq(ir_add_bound(k, b, &m), OK);
    }
    add_random_terms(g, k, &a.first_term, &a.terms);
    uint16_t id;
    cr_assert_eq(ir_add_access(k, a, &id, &m), OK);
}

static int64_t bound_value(kernel *k, const ir_bound *b, const warp_place *p, uint32_t thread) {
    ir_access only = {.bytes = 4, .first_term = b->first_term, .terms = b->terms};
    int64_t value = 0;
    address_thread(k, &only, p->block, thread, p->loop, &value);
    return value;
}

/* Sets limits near the values that the warp's lanes have, so that masks are rarely all or nothing. */
static void aim_bounds(prng *g, kernel *k, const warp_place *p) {
    for (uint32_t b = 0; b < k->bound_count; b++) {
        uint32_t lane = (uint32_t)prng_below(g, p->width);
        k->bounds[b].limit = bound_value(k, &k->bounds[b], p, p->first_thread + lane) + fixture_between(g, -1, 3);
    }
}

static uint64_t reference_mask(const kernel *k, const ir_access *a, const warp_place *p, int64_t at[WARP_WIDTH_MAX]) {
    uint64_t mask = 0;
    for (uint32_t lane = 0; lane < p->width; lane++)
        if (address_thread(k, a, p->block, p->first_thread + lane, p->loop, &at[lane]))
            mask |= UINT64_C(1) << lane;
    return mask;
}

static void check_warp(const kernel *k, const ir_access *a, const warp_place *p, bool lane_loop, uint64_t mask,
                       const int64_t at[WARP_WIDTH_MAX], uint32_t seed) {
    warp_access w;
    address_warp(k, a, p, lane_loop, &w);
    cr_assert_eq(w.mask, mask, "seed %u: mask %llx instead of %llx", seed, (unsigned long long)w.mask,
                 (unsigned long long)mask);
    cr_assert_not(lane_loop && w.affine);
    for (uint32_t lane = 0; lane < p->width; lane++) {
        int64_t got = w.affine ? w.base + w.stride * (int64_t)lane : w.lane[lane];
        if (mask >> lane & 1)
            cr_assert_eq(got, at[lane], "seed %u lane %u: %lld instead of %lld (affine %d)", seed, lane, (long long)got,
                         (long long)at[lane], w.affine);
    }
}

Test(address, warps_agree_with_threads) {
    enum { KERNELS = 20000 };
    uint32_t affine = 0, partly = 0;
    for (uint32_t seed = 0; seed < KERNELS; seed++) {
        prng g = {seed};
        kernel k = {.block_threads = (uint32_t)fixture_between(&g, 1, 300), .blocks = 1000};
        add_random_access(&g, &k);
        uint32_t width = prng_below(&g, 2) ? 32 : 64;
        warp_place p = {.block = prng_below(&g, k.blocks),
                        .first_thread = (uint32_t)prng_below(&g, (k.block_threads - 1) / width + 1) * width};
        p.width = k.block_threads - p.first_thread < width ? k.block_threads - p.first_thread : width;
        for (int d = 0; d < IR_LOOPS_MAX; d++)
            p.loop[d] = prng_below(&g, 100);
        aim_bounds(&g, &k, &p);
        int64_t at[WARP_WIDTH_MAX];
        uint64_t mask = reference_mask(&k, &k.accesses[0], &p, at);
        cr_assert_eq(address_mask(&k, &k.accesses[0], &p), mask, "seed %u", seed);
        check_warp(&k, &k.accesses[0], &p, false, mask, at, seed);
        check_warp(&k, &k.accesses[0], &p, true, mask, at, seed);
        warp_access w;
        address_warp(&k, &k.accesses[0], &p, false, &w);
        affine += w.affine;
        partly += mask && (mask & (mask + 1));
        kernel_free(&k);
    }
    /* Both ways and odd masks did occur. */
    cr_assert(affine > KERNELS / 10 && affine < KERNELS * 9 / 10, "%u affine", affine);
    cr_assert(partly > KERNELS / 10, "%u odd masks", partly);
}

typedef struct one_term {
    ir_index index;
    ir_term term;
    bool affine;
    int64_t stride;
} one_term;

Test(address, affine_where_nothing_carries) {
    static const one_term cases[] = {
        /* plain, strided and reversed */
        {{.per_thread = 1}, {.div = 1, .mul = 4}, true, 4},
        {{.per_thread = 3, .base = 7}, {.div = 1, .mul = -4}, true, -12},
        {{.per_thread = -1, .base = 31}, {.div = 1, .mul = 4}, true, -4},
        /* within one row, and a row's end in the warp's midst */
        {{.per_thread = 1}, {.div = 1, .mod = 32, .mul = 4}, true, 4},
        {{.per_thread = 1, .base = 1}, {.div = 1, .mod = 32, .mul = 4}, false, 0},
        {{.per_thread = 1}, {.div = 32, .mul = 4}, true, 0},
        {{.per_thread = 1, .base = 1}, {.div = 32, .mul = 4}, false, 0},
        /* a division whose remainder stays the same, and one that carries at every lane */
        {{.per_thread = 5, .base = 3}, {.div = 5, .mul = 4}, true, 4},
        {{.per_thread = -1, .base = 1000}, {.div = 2000, .mul = 4}, true, 0},
        {{.per_thread = 1999, .base = 1000}, {.div = 2000, .mul = 4}, true, 4},
        /* a modulo that goes round at every lane */
        {{.per_thread = 99, .base = 50}, {.div = 1, .mod = 100, .mul = 4}, true, -4},
        {{.per_thread = 1, .base = -16}, {.div = 32, .mul = 4}, false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        message m;
        kernel k = {.block_threads = 32, .blocks = 1};
        uint32_t id;
        uint16_t a;
        cr_assert_eq(ir_add_index(&k, cases[i].index, &id, &m), OK);
        cr_assert_eq(ir_add_term(&k, cases[i].term, &m), OK);
        cr_assert_eq(ir_add_access(&k, (ir_access){.bytes = 4, .terms = 1}, &a, &m), OK);
        warp_place p = {.width = 32};
        warp_access w;
        address_warp(&k, k.accesses, &p, false, &w);
        cr_expect_eq(w.affine, cases[i].affine, "case %zu", i);
        cr_expect(!w.affine || w.stride == cases[i].stride, "case %zu: stride %lld", i, (long long)w.stride);
        kernel_free(&k);
    }
}

typedef struct tail {
    int64_t per_thread, base, limit;
    uint32_t width;
    uint64_t mask;
} tail;

Test(address, linear_bounds_cut_warps) {
    static const tail cases[] = {
        {1, 0, 32, 32, 0xffffffff}, {1, 0, 1, 32, 0x1},          {1, 0, 0, 32, 0},
        {1, 100, 107, 32, 0x7f},    {-1, 10, 7, 32, 0xfffffff0}, {7, 0, 15, 32, 0x7},
        {0, 5, 5, 32, 0},           {0, 4, 5, 7, 0x7f},          {1, 0, 63, 64, 0x7fffffffffffffff},
        {1, 0, 64, 64, UINT64_MAX}, {-3, 0, -3, 5, 0x1c},        {1, INT64_MAX - 40, INT64_MAX - 30, 32, 0x3ff},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        message m;
        kernel k = {.block_threads = 64, .blocks = 1};
        uint32_t id;
        uint16_t a;
        ir_index x = {.base = cases[i].base, .per_thread = cases[i].per_thread};
        cr_assert_eq(ir_add_index(&k, x, &id, &m), OK);
        cr_assert_eq(ir_add_term(&k, (ir_term){.div = 1, .mul = 1}, &m), OK);
        cr_assert_eq(ir_add_bound(&k, (ir_bound){.terms = 1, .limit = cases[i].limit}, &m), OK);
        cr_assert_eq(ir_add_access(&k, (ir_access){.bytes = 4, .bounds = 1}, &a, &m), OK);
        warp_place p = {.width = cases[i].width};
        cr_expect_eq(address_mask(&k, k.accesses, &p), cases[i].mask, "case %zu", i);
        kernel_free(&k);
    }
}

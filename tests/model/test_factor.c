/* The three C's by hand, and against brute force. */
#include "base/mem.h"
#include "base/num.h"
#include "model/factor.h"

#include <criterion/criterion.h>
#include <string.h>

typedef factor_count counts[FACTOR_PASSES_MAX][FACTOR_ARRAYS_MAX];

static cache_level cache(uint64_t lines, uint32_t ways) {
    return (cache_level){.name = "L1", .size_bytes = lines * 64, .ways = ways, .line_bytes = 64, .sector_bytes = 64};
}

static factor_array array(uint64_t elements) {
    return (factor_array){.name = "a", .element_bytes = 4, .elements = elements};
}

static void factor(const factoring *f, cache_level level, counts n) {
    uint32_t which = 0;
    message m = {{0}};
    cr_assert_eq(factor_check(f, &which, &m), OK, "%s", m.text);
    cr_assert_eq(factor_cache(f, &level, n, &m), OK, "%s", m.text);
}

/* 16 lines of 64 B, walked three times. */
Test(factor, repeated_walk) {
    const factoring f = {.arrays = 1,
                         .touches = 1,
                         .passes = 1,
                         .array = {array(256)},
                         .touch = {{0, {.rank = 1, .size = {256}, .stride = {1}}}},
                         .pass = {{0, 1, 3}}};
    counts n;
    /* They fit: compulsory misses only. */
    factor(&f, cache(16, 16), n);
    cr_expect_eq(n[0][0].accesses, 3 * 256);
    cr_expect_eq(n[0][0].compulsory, 16);
    cr_expect_eq(n[0][0].capacity, 0);
    cr_expect_eq(n[0][0].conflict, 0);
    /* One line too few, LRU, in a circle: every line misses every time. */
    factor(&f, cache(15, 15), n);
    cr_expect_eq(n[0][0].compulsory, 16);
    cr_expect_eq(n[0][0].capacity, 2 * 16);
    /* Direct mapped in 15 sets: only lines 0 and 15 share one; the others stay. Better than LRU by 2 x 14. */
    factor(&f, cache(15, 1), n);
    cr_expect_eq(n[0][0].capacity, 2 * 16);
    cr_expect_eq(n[0][0].conflict, -2 * 14);
    cr_expect_eq(factor_working_set(&f, 0, 64), 16 * 64);
}

/* 8 lines one page apart: they fit any 8 places, but a cache of 64 sets keeps them all in one. */
Test(factor, power_of_two_stride) {
    const factoring f = {.arrays = 1,
                         .touches = 1,
                         .passes = 1,
                         .array = {array(8 * 1024)},
                         .touch = {{0, {.rank = 1, .size = {8}, .stride = {1024}}}},
                         .pass = {{0, 1, 10}}};
    counts n;
    factor(&f, cache(64 * 4, 4), n);
    cr_expect_eq(n[0][0].compulsory, 8);
    cr_expect_eq(n[0][0].capacity, 0);
    cr_expect_eq(n[0][0].conflict, 9 * 8);
    /* With 8 ways they fit. With a hash of the upper bits (page number, 6 bits up) they spread over the sets. */
    factor(&f, cache(64 * 8, 8), n);
    cr_expect_eq(n[0][0].conflict, 0);
    cache_level hashed = cache(64 * 4, 4);
    hashed.set_hash = (address_hash){.count = 1, .shift = {6}};
    factor(&f, hashed, n);
    cr_expect_eq(n[0][0].conflict, 0);
}

/* Row by row and column by column over a 64 x 64 matrix of 4 lines a row, in 32 lines: 256 lines; by columns each
 * line comes back for each of its 16 columns after 64 others. The passes are told apart. */
Test(factor, rows_and_columns) {
    const factoring f = {.arrays = 1,
                         .touches = 2,
                         .passes = 2,
                         .array = {array(4096)},
                         .touch = {{0, {.rank = 2, .size = {64, 64}, .stride = {64, 1}}},
                                   {0, {.rank = 2, .size = {64, 64}, .stride = {1, 64}}}},
                         .pass = {{0, 1, 1}, {1, 1, 1}}};
    counts n;
    factor(&f, cache(32, 32), n);
    cr_expect_eq(n[0][0].compulsory, 256);
    cr_expect_eq(n[0][0].capacity, 0);
    cr_expect_eq(n[1][0].compulsory, 0);
    cr_expect_eq(n[1][0].capacity, 4096);
    /* 64 lines hold a column's: 256 misses again, but the last 16 rows' lines are found: 4 columns of lines x 64. */
    factor(&f, cache(64, 64), n);
    cr_expect_eq(n[1][0].capacity, 256);
}

/* Misses of an LRU set by counting, for each access, the other lines of its set since the last one. */
static uint64_t brute_force(const uint32_t *line, size_t count, uint32_t sets, uint32_t ways, uint64_t *first) {
    uint64_t missed = 0;
    *first = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t others = 0;
        size_t j = i;
        bool seen[1024] = {false}, again = false;
        while (j-- > 0 && !again) {
            again = line[j] == line[i];
            if (!again && line[j] % sets == line[i] % sets && !seen[line[j]]) {
                seen[line[j]] = true;
                others++;
            }
        }
        *first += !again;
        missed += again && others >= ways;
    }
    return missed;
}

Test(factor, of_random_walks) {
    prng g = {.state = 5};
    for (int i = 0; i < 60; i++) {
        enum { LINES = 64 };
        factoring f = {.arrays = 1, .touches = 2, .passes = 1, .array = {array(LINES * 16)}, .pass = {{0, 2, 2}}};
        const int64_t rows = 1 + (int64_t)prng_below(&g, 12), columns = 1 + (int64_t)prng_below(&g, 12);
        uint32_t line[1024];
        size_t count = 0;
        for (uint32_t t = 0; t < 2; t++)
            f.touch[t].layout = (lmad){.offset = (int64_t)prng_below(&g, 100),
                                       .rank = 2,
                                       .size = {rows, columns},
                                       .stride = {(int64_t)prng_below(&g, 40), (int64_t)prng_below(&g, 40)}};
        for (int turn = 0; turn < 2; turn++)
            for (int64_t r = 0; r < rows; r++)
                for (int64_t c = 0; c < columns; c++)
                    for (uint32_t t = 0; t < 2; t++) {
                        const lmad *l = &f.touch[t].layout;
                        line[count++] = (uint32_t)(l->offset + r * l->stride[0] + c * l->stride[1]) / 16;
                    }
        const uint32_t ways = 1 + (uint32_t)prng_below(&g, 4), sets = 1 + (uint32_t)prng_below(&g, 5);
        uint64_t first = 0;
        const uint64_t full = brute_force(line, count, 1, sets * ways, &first);
        const uint64_t real = brute_force(line, count, sets, ways, &first);
        counts n;
        factor(&f, cache((uint64_t)sets * ways, ways), n);
        cr_assert_eq(n[0][0].accesses, count);
        cr_assert_eq(n[0][0].compulsory, first);
        cr_assert_eq(n[0][0].capacity, full, "walk %d", i);
        cr_assert_eq(n[0][0].conflict, (int64_t)real - (int64_t)full, "walk %d", i);
    }
}

Test(factor, refusals) {
    message m = {{0}};
    uint32_t which = 0;
    factoring f = {
        .arrays = 1,
        .touches = 2,
        .passes = 1,
        .array = {array(100)},
        .touch = {{0, {.rank = 1, .size = {100}, .stride = {1}}}, {0, {.rank = 1, .size = {99}, .stride = {1}}}},
        .pass = {{0, 2, 1}}};
    cr_expect_eq(factor_check(&f, &which, &m), ERR_INPUT);
    cr_expect(strstr(m.text, "has 100 elements"), "%s", m.text);
    f.touch[1].layout.size[0] = 100;
    f.touch[1].layout.offset = 1;
    cr_expect_eq(factor_check(&f, &which, &m), ERR_INPUT);
    cr_expect(strstr(m.text, "lie outside"), "%s", m.text);
    f.touch[1].layout.offset = 0;
    f.pass[0].repeat = UINT64_MAX;
    cr_expect_eq(factor_check(&f, &which, &m), ERR_INPUT);
    f.pass[0].repeat = 1;
    f.array[0].elements = UINT64_MAX;
    cr_expect_eq(factor_check(&f, &which, &m), ERR_INPUT);
    f.array[0].elements = 100;
    cr_expect_eq(factor_check(&f, &which, &m), OK, "%s", m.text);
    const cache_level level = cache(16, 4);
    for (size_t i = 1; i <= 15; i++) {
        counts n;
        mem_fail_after(i);
        cr_expect_eq(factor_cache(&f, &level, n, &m), ERR_MEMORY);
        mem_fail_after(0);
    }
}

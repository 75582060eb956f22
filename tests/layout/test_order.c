#include "layout_test.h"

#include <criterion/criterion.h>
#include <inttypes.h>

static bool same_order(const uint32_t *order, const char *want, uint32_t rank) {
    int64_t values[LMAD_RANK_MAX] = {0};
    if (list_of(want, values) != rank)
        return false;
    for (uint32_t k = 0; k < rank; k++)
        if (order[k] != values[k])
            return false;
    return true;
}

/* The eight shapes of the post reverse their dimensions in both modes; the others tell the modes and ties apart. */
Test(sort, known_orders) {
    static const struct {
        const char *shape, *dst, *src, *by_sign, *by_magnitude;
    } cases[] = {
        {"8192,8192", "8192,1", "8193,1", "1,0", "1,0"},
        {"65536,1024", "1024,1", "1025,1", "1,0", "1,0"},
        {"1048576,64", "64,1", "65,1", "1,0", "1,0"},
        {"16777216,4", "4,1", "5,1", "1,0", "1,0"},
        {"256,256,1024", "262144,1024,1", "262400,1025,1", "2,1,0", "2,1,0"},
        {"65536,32,32", "1024,32,1", "1056,33,1", "2,1,0", "2,1,0"},
        {"8192,8192", "8192,1", "8192,-1", "1,0", "1,0"},
        {"16777216,4", "4,1", "4,-1", "1,0", "1,0"},
        {"8192,8192", "8192,1", "-8192,1", "0,1", "1,0"},
        {"100,8192", "8192,1", "-8192,-1", "0,1", "1,0"},
        {"3,4,5", "20,5,1", "4,12,1", "2,0,1", "2,0,1"},
        {"7,1,5", "5,5,1", "5,5,1", "2,1,0", "2,1,0"},
        /* equal source strides: the destination decides, by magnitude or with its sign */
        {"3,4", "7,-9", "0,0", "1,0", "0,1"},
        {"3,4", "9,7", "2,-2", "1,0", "1,0"},
        {"3,4", "7,9", "2,-2", "1,0", "0,1"},
        {"2,2", "1,1", "-9223372036854775808,9223372036854775807", "0,1", "1,0"},
        {"9", "1", "1", "0", "0"},
        {"", "", "", "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        copy_desc c = copy_of(cases[i].shape, cases[i].dst, cases[i].src);
        uint32_t order[LMAD_RANK_MAX] = {0};
        copy_sort_order(&c, true, order);
        cr_expect(same_order(order, cases[i].by_sign, c.src.rank), "case %zu by sign", i);
        copy_sort_order(&c, false, order);
        cr_expect(same_order(order, cases[i].by_magnitude, c.src.rank), "case %zu by magnitude", i);
    }
    /* The post's worked example, n = 8192 and m = 8193. */
    copy_desc c = copy_of("8192,8192", "8192,1", "8193,1"), sorted = copy_sort(&c, false);
    cr_expect(sorted.src.stride[0] == 1 && sorted.src.stride[1] == 8193);
    cr_expect(sorted.dst.stride[0] == 1 && sorted.dst.stride[1] == 8192);
}

Test(contiguity, known_layouts) {
    static const struct {
        const char *shape, *strides, *order, *without_singletons;
    } cases[] = {
        {"4,5", "5,1", "1,0", "1,0"}, {"4,5", "1,4", "0,1", "0,1"}, {"3,4,5", "1,3,12", "0,1,2", "0,1,2"},
        {"4,5", "8,1", NULL, NULL},   {"9", "-1", NULL, NULL},      {"9", "2", NULL, NULL},
        {"1,7", "99,1", NULL, "1,0"}, {"1,7", "7,1", "1,0", "1,0"}, {"1,7", "1,1", "0,1", "1,0"},
        {"7,1", "1,1", "1,0", "0,1"}, {"1,1", "1,1", "0,1", "0,1"}, {"1,1", "-3,0", NULL, "0,1"},
        {"2,2", "1,1", NULL, NULL},   {"0,5", "9,9", "0,1", "0,1"}, {"", "", "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        copy_desc c = copy_of(cases[i].shape, cases[i].strides, cases[i].strides);
        for (int rule = 0; rule < 2; rule++) {
            const char *want = rule ? cases[i].without_singletons : cases[i].order;
            uint32_t order[LMAD_RANK_MAX] = {0};
            contiguity how = rule ? CONTIGUITY_IGNORE_SINGLETONS : CONTIGUITY_FUTHARK;
            bool found = lmad_contiguous(&c.src, how, order);
            cr_expect_eq(found, want != NULL, "case %zu rule %d", i, rule);
            cr_expect(!want || same_order(order, want, c.src.rank), "case %zu rule %d", i, rule);
            cr_expect_eq(lmad_contiguous(&c.src, how, NULL), found);
        }
    }
}

/* The search by its definition: any dimension with the expected stride may come next, candidates in index order. */
static bool search(const lmad *l, bool ignore, uint32_t taken, int64_t expected, uint32_t count, uint32_t *order) {
    bool done = true;
    for (uint32_t k = 0; k < l->rank; k++) {
        if (taken >> k & 1 || (ignore && l->size[k] == 1))
            continue;
        done = false;
        if (l->stride[k] < 0 || l->stride[k] != expected)
            continue;
        order[count] = k;
        if (search(l, ignore, taken | UINT32_C(1) << k, expected * l->size[k], count + 1, order))
            return true;
    }
    for (uint32_t k = 0; done && k < l->rank; k++)
        if (ignore && l->size[k] == 1)
            order[count++] = k;
    return done;
}

Test(contiguity, greedy_choice_equals_the_search) {
    prng g = {.state = 2};
    int contiguous = 0;
    for (int round = 0; round < 20000; round++) {
        lmad l = random_copy(&g, 7).dst;
        for (uint32_t k = 0; k < l.rank; k++) /* more singletons, with strides that fit here and there */
            if (prng_below(&g, 4) == 0 && l.size[k] == 1)
                l.stride[k] = l.stride[prng_below(&g, l.rank)];
        for (int ignore = 0; ignore < 2; ignore++) {
            uint32_t order[LMAD_RANK_MAX] = {0}, want[LMAD_RANK_MAX] = {0};
            bool expected = search(&l, ignore, 0, 1, 0, want);
            bool found = lmad_contiguous(&l, ignore ? CONTIGUITY_IGNORE_SINGLETONS : CONTIGUITY_FUTHARK, order);
            if (found != expected)
                cr_assert(false, "round %d: found %d", round, found);
            for (uint32_t k = 0; found && k < l.rank; k++)
                if (order[k] != want[k])
                    cr_assert(false, "round %d: another order", round);
            contiguous += found;
        }
    }
    cr_expect(contiguous > 4000 && contiguous < 36000, "a lopsided sample: %d", contiguous);
}

/* Sixteen dimensions of stride 1 cost the search 15! * 2 steps; a hundred thousand of them take no time here. */
Test(contiguity, rank_16_is_cheap, .timeout = 10) {
    lmad l = {.rank = 16};
    for (uint32_t k = 0; k < 16; k++) {
        l.size[k] = 1;
        l.stride[k] = 1;
    }
    l.size[3] = l.size[9] = 2;
    int found = 0;
    for (int round = 0; round < 100000; round++)
        found += lmad_contiguous(&l, CONTIGUITY_FUTHARK, NULL);
    cr_expect_eq(found, 0);
    l.stride[9] = 2;
    uint32_t order[LMAD_RANK_MAX];
    cr_expect(lmad_contiguous(&l, CONTIGUITY_FUTHARK, order));
    cr_expect(order[14] == 3 && order[15] == 9);
}

#include "layout_test.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

static lmad lmad_of(int64_t offset, const char *shape, const char *strides) {
    lmad l = {.offset = offset};
    l.rank = list_of(shape, l.size);
    list_of(strides, l.stride);
    return l;
}

static bool same_lmad(const lmad *a, const lmad *b) {
    if (a->rank != b->rank || a->offset != b->offset)
        return false;
    for (uint32_t k = 0; k < a->rank; k++)
        if (a->size[k] != b->size[k] || a->stride[k] != b->stride[k])
            return false;
    return true;
}

/* The layouts that the blog post spells out for shape [4][5]. */
Test(lmad, apply) {
    lmad row_major = lmad_of(0, "4,5", "5,1"), column_major = lmad_of(3, "4,5", "1,4");
    int64_t offset = 0;
    message m;
    cr_assert_eq(lmad_apply(&row_major, (int64_t[]){2, 3}, &offset, &m), OK);
    cr_expect_eq(offset, 13);
    cr_assert_eq(lmad_apply(&column_major, (int64_t[]){2, 3}, &offset, &m), OK);
    cr_expect_eq(offset, 3 + 2 + 12);
    cr_expect_eq(lmad_apply(&row_major, (int64_t[]){2, 5}, &offset, &m), ERR_INPUT);
    cr_expect_str_eq(m.text, "index 5 is outside dimension 1 of size 5");
    cr_expect_eq(lmad_apply(&row_major, (int64_t[]){-1, 0}, &offset, &m), ERR_INPUT);
    lmad far = lmad_of(1, "3", "9223372036854775807");
    cr_expect_eq(lmad_apply(&far, (int64_t[]){1}, &offset, &m), ERR_INPUT);
    cr_expect(strstr(m.text, "stride 9223372036854775807"), "%s", m.text);
    lmad point = {.offset = 7};
    cr_assert_eq(lmad_apply(&point, NULL, &offset, &m), OK);
    cr_expect_eq(offset, 7);
}

Test(lmad, row_major_elements_range) {
    static const struct {
        const char *shape, *strides;
        int64_t elements, lowest, highest;
    } cases[] = {
        {"4,5", "5,1", 20, 0, 19},
        {"4,5", "-5,1", 20, -15, 4},
        {"2,3,4", "12,-4,-1", 24, -11, 12},
        {"7", "0", 7, 0, 0},
        {"", "", 1, 0, 0},
        {"0,32", "32,1", 0, 0, -1},
        {"4294967296,2147483647", "2147483647,1", INT64_C(9223372032559808512), 0, INT64_C(9223372032559808511)},
        {"4294967296,4294967296,0", "1,1,1", 0, 0, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lmad l = lmad_of(0, cases[i].shape, cases[i].strides);
        int64_t elements = -7, lowest = -7, highest = -7;
        message m = {""};
        cr_expect_eq(lmad_check(&l, "source", &m), OK, "%zu: %s", i, m.text);
        cr_expect_eq(lmad_elements(&l, &elements, &m), OK);
        cr_expect_eq(lmad_range(&l, &lowest, &highest, &m), OK);
        cr_expect(elements == cases[i].elements && lowest == cases[i].lowest && highest == cases[i].highest,
                  "case %zu: %" PRId64 " elements, %" PRId64 "..%" PRId64, i, elements, lowest, highest);
    }
    lmad l;
    message m;
    cr_assert_eq(lmad_row_major((int64_t[]){2, 3, 4}, 3, &l, &m), OK);
    lmad want = lmad_of(0, "2,3,4", "12,4,1");
    cr_expect(same_lmad(&l, &want));
}

Test(lmad, faults_name_the_value) {
    static const struct {
        const char *shape, *dst, *src, *said;
    } cases[] = {
        {"4294967296,2147483648", "1,1", "1,1", "4294967296 times size 2147483648 of dimension 1"},
        {"4,-5", "5,1", "5,1", "source: size -5 of dimension 1 is negative"},
        {"3,2", "1,1", "4611686018427387904,9223372036854775807", "dimension 0 has size 3"},
        {"2,2", "1,1", "9223372036854775807,1", "dimension 1 has size 2 and stride 1"},
        {"2", "-9223372036854775807", "1", "destination: byte offsets do not fit"},
        {"2305843009213693952", "0", "0", "moves 2305843009213693952 elements of 4 bytes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        copy_desc c = copy_of(cases[i].shape, cases[i].dst, cases[i].src);
        message m = {""};
        cr_expect_eq(copy_check(&c, &m), ERR_INPUT, "case %zu", i);
        cr_expect(strstr(m.text, cases[i].said), "case %zu: %s", i, m.text);
    }
    copy_desc c = copy_of("4,5", "5,1", "5,1");
    message m = {""};
    c.element_bytes = 12;
    cr_expect_eq(copy_check(&c, &m), ERR_INPUT);
    c.element_bytes = 16;
    cr_expect_eq(copy_check(&c, &m), OK);
    c.dst.size[1] = 6;
    cr_expect_eq(copy_check(&c, &m), ERR_INPUT);
    cr_expect_str_eq(m.text, "dimension 1 has size 5 in the source and 6 in the destination");
    c.dst.rank = 17;
    cr_expect_eq(copy_check(&c, &m), ERR_INPUT);
    cr_expect_str_eq(m.text, "destination: rank 17 is above 16");
    int64_t sizes[17] = {0};
    lmad l;
    cr_expect_eq(lmad_row_major(sizes, 17, &l, &m), ERR_INPUT);
    cr_expect_eq(lmad_row_major((int64_t[]){4, -1}, 2, &l, &m), ERR_INPUT);
}

Test(lmad, collapse_known) {
    static const struct {
        const char *shape, *dst, *src, *shape2, *dst2, *src2;
    } cases[] = {
        {"4,5", "5,1", "5,1", "20", "1", "1"},
        {"4,5", "5,1", "6,1", "4,5", "5,1", "6,1"},
        /* both slice_3d rows of the post become rank 2 */
        {"256,256,1024", "262144,1024,1", "262400,1025,1", "65536,1024", "1024,1", "1025,1"},
        {"65536,32,32", "1024,32,1", "1056,33,1", "2097152,32", "32,1", "33,1"},
        {"1,7,1", "99,1,5", "3,1,8", "7", "1", "1"},
        {"1,1", "3,4", "5,6", "", "", ""},
        {"2,3,4", "12,4,1", "12,4,1", "24", "1", "1"},
        {"2,1,4", "4,9,1", "4,7,1", "8", "1", "1"},
        {"3,4,5", "20,5,1", "4,12,1", "3,4,5", "20,5,1", "4,12,1"},
        {"4,5", "-5,-1", "-5,-1", "20", "-1", "-1"},
        {"3,0,5", "1,1,1", "7,7,7", "0", "1", "1"},
        {"", "", "", "", "", ""},
        {"4,4", "4,1", "4611686018427387904,4611686018427387904", "4,4", "4,1",
         "4611686018427387904,4611686018427387904"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        copy_desc c = copy_of(cases[i].shape, cases[i].dst, cases[i].src);
        copy_desc want = copy_of(cases[i].shape2, cases[i].dst2, cases[i].src2), got = copy_collapse(&c);
        cr_expect(same_lmad(&got.src, &want.src) && same_lmad(&got.dst, &want.dst), "case %zu: rank %" PRIu32, i,
                  got.src.rank);
    }
    lmad l = lmad_of(3, "2,3,4", "24,8,2"), want = lmad_of(3, "24", "2"), got = lmad_collapse(&l);
    cr_expect(same_lmad(&got, &want));
    /* 60,20,5,1 with dimensions 1 and 3 exchanged: no neighbours merge, all dimensions do */
    copy_desc c = copy_of("3,5,4,3", "60,1,5,20", "120,2,10,40"), any = copy_collapse_any(&c);
    cr_expect_eq(copy_collapse(&c).src.rank, 4);
    cr_expect(any.src.rank == 1 && any.src.size[0] == 180 && any.src.stride[0] == 2 && any.dst.stride[0] == 1);
}

static pair before[PAIRS_MAX], after[PAIRS_MAX];

static bool same_pairs(size_t n, size_t k) {
    return n == k && memcmp(before, after, n * sizeof *before) == 0;
}

Test(lmad, rewriting_keeps_the_pairs) {
    prng g = {.state = 1};
    int merged = 0;
    for (int round = 0; round < 4000; round++) {
        copy_desc c = random_copy(&g, 9);
        cr_assert_eq(copy_check(&c, NULL), OK);
        uint32_t order[LMAD_RANK_MAX];
        random_order(&g, c.src.rank, order);
        size_t n = pairs_of(&c, before);
        copy_desc collapsed = copy_collapse(&c);
        if (!same_pairs(n, pairs_of(&collapsed, after)))
            cr_assert(false, "round %d: copy_collapse changes the sequence", round);
        merged += collapsed.src.rank + 1 < c.src.rank;
        if (copy_collapse(&collapsed).src.rank != collapsed.src.rank)
            cr_assert(false, "round %d: collapsing twice collapses more", round);
        sort_pairs(before, n);
        copy_desc others[] = {copy_collapse_any(&c), copy_permute(&c, order), copy_sort(&c, false),
                              copy_sort(&c, true)};
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            size_t k = pairs_of(&others[i], after);
            sort_pairs(after, k);
            if (!same_pairs(n, k))
                cr_assert(false, "round %d: rewriting %zu changes the set", round, i);
        }
        if (others[0].src.rank > collapsed.src.rank)
            cr_assert(false, "round %d: copy_collapse_any merges less", round);
    }
    cr_expect_gt(merged, 400, "too few random copies collapse: %d", merged);
}

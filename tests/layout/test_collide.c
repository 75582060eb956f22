#include "layout_test.h"

#include <criterion/criterion.h>
#include <stdlib.h>

Test(injective, known_layouts) {
    static const struct {
        const char *shape, *strides;
        answer want;
    } cases[] = {
        {"8192,8193", "8193,1", ANSWER_YES},
        {"8192,8192", "8193,-1", ANSWER_YES},
        {"8192,8192", "-8192,-1", ANSWER_YES},
        {"50000,50000", "1,50000", ANSWER_YES},
        {"4,5", "4,1", ANSWER_NO},  /* rows overlap by one */
        {"2,3", "3,2", ANSWER_YES}, /* 0 2 4 3 5 7: not nested, still injective */
        {"3,3", "3,2", ANSWER_YES},
        {"3,4", "3,2", ANSWER_NO}, /* 2*3 = 3*2 */
        {"9", "0", ANSWER_NO},
        {"1,9", "0,1", ANSWER_YES},
        {"0,9", "0,0", ANSWER_YES},
        {"", "", ANSWER_YES},
        {"1000000000,1000000000", "3,2", ANSWER_NO},
        {"2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2", "1,2,4,8,16,32,64,128,256,512,1024,2048,4096,8192,16384,32768", ANSWER_YES},
        {"2,2,2,2", "1,2,4,7", ANSWER_NO}, /* 1+2+4 = 7 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        copy_desc c = copy_of(cases[i].shape, cases[i].strides, cases[i].strides);
        cr_expect_eq(lmad_injective(&c.dst, NULL), cases[i].want, "case %zu", i);
    }
}

static int compare_offsets(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static answer injective_by_listing(const lmad *l) {
    static int64_t offsets[PAIRS_MAX];
    int64_t index[LMAD_RANK_MAX] = {0};
    size_t count = 0;
    do
        offsets[count++] = offset_of(l, index);
    while (next_index(l, index));
    qsort(offsets, count, sizeof *offsets, compare_offsets);
    for (size_t i = 1; i < count; i++)
        if (offsets[i] == offsets[i - 1])
            return ANSWER_NO;
    return ANSWER_YES;
}

static bool is_collision(const lmad *l, const lmad_collision *at) {
    message m;
    int64_t first = 0, second = 0;
    bool differ = false;
    for (uint32_t k = 0; k < l->rank; k++)
        differ = differ || at->first[k] != at->second[k];
    return differ && lmad_apply(l, at->first, &first, &m) == OK && lmad_apply(l, at->second, &second, &m) == OK &&
           first == second;
}

Test(injective, agrees_with_listing_all_offsets) {
    prng g = {.state = 3};
    int collisions = 0;
    for (int round = 0; round < 6000; round++) {
        lmad l = random_copy(&g, 6).dst;
        for (uint32_t k = 0; round % 2 && k < l.rank; k++)
            l.stride[k] = between(&g, -30, 30);
        lmad_collision at;
        answer want = injective_by_listing(&l), got = lmad_injective(&l, &at);
        if (got != want)
            cr_assert(false, "round %d: %d, not %d", round, got, want);
        if (got == ANSWER_NO && !is_collision(&l, &at))
            cr_assert(false, "round %d: no collision there", round);
        collisions += got == ANSWER_NO;
    }
    cr_expect(collisions > 1000 && collisions < 5000, "a lopsided sample: %d", collisions);
}

/* Case U13: destination = source, and destination = source + offset. Memory is shared, offsets in elements of 4 B. */
Test(overlap, known_cases) {
    static const struct {
        const char *shape, *dst, *src;
        int64_t dst_offset, dst_base;
        copy_overlap want;
    } cases[] = {
        {"4,5", "5,1", "5,1", 0, 0, OVERLAP_SELF},
        {"1,5", "9,1", "7,1", 0, 0, OVERLAP_SELF},
        {"4,5", "5,1", "5,1", 0, 4, OVERLAP_SHARED},
        {"4,5", "5,1", "5,1", 1, -4, OVERLAP_SELF},
        {"4,5", "5,1", "5,1", 19, 0, OVERLAP_SHARED},
        {"4,5", "5,1", "5,1", 20, 0, OVERLAP_NONE},
        {"4,5", "5,1", "5,1", -20, 0, OVERLAP_NONE},
        {"4,5", "5,1", "5,1", 19, 3, OVERLAP_SHARED},
        {"4,5", "5,1", "5,1", 19, 4, OVERLAP_NONE},
        {"5,4", "4,1", "1,5", 0, 0, OVERLAP_SHARED}, /* transposition in place */
        {"10", "-1", "1", 9, 0, OVERLAP_SHARED},     /* reversal in place */
        {"10", "2", "2", 1, 0, OVERLAP_INTERLEAVED}, /* even to odd */
        {"10", "2", "2", 1, 1, OVERLAP_SHARED},      /* the same, one byte further */
        {"100000000,100000000", "200000000,1", "200000000,1", 100000000, 0, OVERLAP_INTERLEAVED},
        {"1000000000", "4", "2", 1, 0, OVERLAP_INTERLEAVED}, /* odd places meet no even ones */
        {"0,5", "5,1", "5,1", 0, 0, OVERLAP_NONE},
        {"", "", "", 0, 0, OVERLAP_SELF},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        copy_desc c = copy_of(cases[i].shape, cases[i].dst, cases[i].src);
        c.dst.offset = cases[i].dst_offset;
        cr_expect_eq(copy_overlaps(&c, 0, cases[i].dst_base), cases[i].want, "case %zu", i);
    }
}

static copy_overlap overlap_by_listing(const copy_desc *c, int64_t dst_base) {
    enum { BYTES = 1 << 16, MIDDLE = BYTES / 2 };
    static pair pairs[PAIRS_MAX];
    static unsigned char read[BYTES];
    for (size_t i = 0; i < BYTES; i++)
        read[i] = 0;
    size_t count = pairs_of(c, pairs);
    int64_t width = c->element_bytes, src_low = BYTES, src_high = -BYTES, dst_low = BYTES, dst_high = -BYTES;
    bool self = true, shared = false;
    for (size_t i = 0; i < count; i++) {
        int64_t src = pairs[i].src * width, dst = dst_base + pairs[i].dst * width;
        self = self && src == dst;
        src_low = src < src_low ? src : src_low;
        src_high = src > src_high ? src : src_high;
        dst_low = dst < dst_low ? dst : dst_low;
        dst_high = dst > dst_high ? dst : dst_high;
        for (int64_t b = 0; b < width; b++)
            read[MIDDLE + src + b] = 1;
    }
    for (size_t i = 0; i < count; i++)
        for (int64_t b = 0; b < width; b++)
            shared = shared || read[MIDDLE + dst_base + pairs[i].dst * width + b];
    if (src_low >= dst_high + width || dst_low >= src_high + width)
        return OVERLAP_NONE;
    return self ? OVERLAP_SELF : shared ? OVERLAP_SHARED : OVERLAP_INTERLEAVED;
}

Test(overlap, agrees_with_listing_all_bytes) {
    prng g = {.state = 4};
    int seen[OVERLAP_UNKNOWN + 1] = {0};
    for (int round = 0; round < 8000; round++) {
        copy_desc c = random_copy(&g, 5);
        for (uint32_t k = 0; round % 2 && k < c.src.rank; k++) {
            c.src.stride[k] = 2 * between(&g, -3, 3) * (1 + (round / 2) % 3);
            c.dst.stride[k] = 2 * between(&g, -3, 3) * (1 + (round / 2) % 3);
        }
        int64_t base = between(&g, -40, 40) * (round % 3 ? c.element_bytes : 1);
        copy_overlap want = overlap_by_listing(&c, base), got = copy_overlaps(&c, 0, base);
        if (got != want)
            cr_assert(false, "round %d: %d, not %d", round, got, want);
        seen[got]++;
    }
    cr_expect(seen[OVERLAP_NONE] > 100 && seen[OVERLAP_SELF] > 5 && seen[OVERLAP_INTERLEAVED] > 100 &&
                  seen[OVERLAP_SHARED] > 1000,
              "a lopsided sample: %d %d %d %d", seen[OVERLAP_NONE], seen[OVERLAP_SELF], seen[OVERLAP_INTERLEAVED],
              seen[OVERLAP_SHARED]);
}

/* Layouts made by slicing, permuting, reversing and padding are decided within the steps, whatever their size. */
Test(injective, huge_views_are_decided, .timeout = 20) {
    prng g = {.state = 5};
    for (int round = 0; round < 3000; round++) {
        lmad l = {.rank = 8};
        uint32_t order[LMAD_RANK_MAX];
        random_order(&g, l.rank, order);
        int64_t stride = 1;
        for (uint32_t k = 0; k < l.rank; k++) {
            int64_t n = between(&g, 1, 100), gap = between(&g, 0, 2);
            l.size[order[k]] = n;
            l.stride[order[k]] = prng_below(&g, 2) ? stride : -stride;
            stride *= n + gap;
        }
        if (lmad_injective(&l, NULL) != ANSWER_YES)
            cr_assert(false, "round %d is not decided", round);
    }
}

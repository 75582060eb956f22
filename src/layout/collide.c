/* Elements that share a place: one bounded search answers both whether a layout is injective and whether two meet. */
#include "layout/lmad.h"

#include <stddef.h>

enum { SEARCH_STEPS = 65536, TERMS_MAX = 2 * LMAD_RANK_MAX };

/* sum of stride[k] * x[k] = target, low[k] <= x[k] <= high[k], looked for with the largest strides first. Strides are
 * positive here. Below each term, `reach` bounds what the remaining terms can sum up to and `gcd` divides it: where
 * strides nest, both leave one or two candidates a term, so the search does not depend on the sizes. */
typedef struct equation {
    uint32_t terms;
    __int128 stride[TERMS_MAX], low[TERMS_MAX], high[TERMS_MAX], x[TERMS_MAX];
    uint32_t tag[TERMS_MAX]; /* the caller's name of a term */
    __int128 reach_low[TERMS_MAX + 1], reach_high[TERMS_MAX + 1], gcd[TERMS_MAX + 1];
    uint32_t steps;
} equation;

static __int128 gcd_of(__int128 a, __int128 b) {
    while (b != 0) {
        __int128 r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static __int128 floor_div(__int128 a, __int128 b) {
    return a / b - (a % b < 0);
}

static __int128 magnitude(int64_t s) {
    return s < 0 ? -(__int128)s : (__int128)s;
}

/* Inserts by falling stride. The stride is not 0. */
static void add_term(equation *e, uint32_t tag, __int128 stride, __int128 low, __int128 high) {
    uint32_t k = e->terms++;
    for (; k > 0 && e->stride[k - 1] < stride; k--) {
        e->stride[k] = e->stride[k - 1];
        e->low[k] = e->low[k - 1];
        e->high[k] = e->high[k - 1];
        e->tag[k] = e->tag[k - 1];
    }
    e->stride[k] = stride;
    e->low[k] = low;
    e->high[k] = high;
    e->tag[k] = tag;
}

static void bound_remainders(equation *e) {
    e->reach_low[e->terms] = e->reach_high[e->terms] = e->gcd[e->terms] = 0;
    for (uint32_t k = e->terms; k-- > 0;) {
        e->reach_low[k] = e->reach_low[k + 1] + e->stride[k] * e->low[k];
        e->reach_high[k] = e->reach_high[k + 1] + e->stride[k] * e->high[k];
        e->gcd[k] = gcd_of(e->stride[k], e->gcd[k + 1]);
    }
}

static answer solve(equation *e, uint32_t k, __int128 target) {
    if (k == e->terms)
        return target == 0 ? ANSWER_YES : ANSWER_NO;
    if (target % e->gcd[k] != 0)
        return ANSWER_NO;
    __int128 first = -floor_div(e->reach_high[k + 1] - target, e->stride[k]);
    __int128 last = floor_div(target - e->reach_low[k + 1], e->stride[k]);
    if (first < e->low[k])
        first = e->low[k];
    if (last > e->high[k])
        last = e->high[k];
    for (__int128 x = first; x <= last; x++) {
        if (e->steps == 0)
            return ANSWER_UNKNOWN;
        e->steps--;
        e->x[k] = x;
        answer found = solve(e, k + 1, target - e->stride[k] * x);
        if (found != ANSWER_NO)
            return found;
    }
    return ANSWER_NO;
}

/* x is the difference of two indices; split it into two that are both within the sizes. */
static void set_collision(lmad_collision *collision, const lmad *l, const equation *e) {
    *collision = (lmad_collision){0};
    for (uint32_t k = 0; k < e->terms; k++) {
        uint32_t d = e->tag[k];
        int64_t x = (int64_t)(l->stride[d] < 0 ? -e->x[k] : e->x[k]);
        collision->first[d] = x > 0 ? x : 0;
        collision->second[d] = x < 0 ? -x : 0;
    }
}

answer lmad_injective(const lmad *l, lmad_collision *collision) {
    equation e = {.steps = SEARCH_STEPS};
    if (lmad_empty(l))
        return ANSWER_YES;
    for (uint32_t k = 0; k < l->rank; k++) {
        if (l->size[k] == 1)
            continue;
        if (l->stride[k] == 0) {
            if (collision) {
                *collision = (lmad_collision){0};
                collision->second[k] = 1;
            }
            return ANSWER_NO;
        }
        add_term(&e, k, magnitude(l->stride[k]), 1 - (__int128)l->size[k], l->size[k] - 1);
    }
    bound_remainders(&e);
    /* The first difference that is not 0 may be taken as positive: the other sign swaps the two indices. */
    for (uint32_t lead = 0; lead < e.terms; lead++) {
        e.low[lead] = 1;
        answer met = solve(&e, lead, 0);
        if (met == ANSWER_YES && collision)
            set_collision(collision, l, &e);
        if (met != ANSWER_NO)
            return met == ANSWER_YES ? ANSWER_NO : ANSWER_UNKNOWN;
        e.x[lead] = 0;
    }
    return ANSWER_YES;
}

static bool same_place(const copy_desc *c, int64_t src_base, int64_t dst_base) {
    __int128 src = (__int128)c->src.offset * c->element_bytes + src_base;
    __int128 dst = (__int128)c->dst.offset * c->element_bytes + dst_base;
    for (uint32_t k = 0; k < c->src.rank; k++)
        if (c->src.size[k] != 1 && c->src.stride[k] != c->dst.stride[k])
            return false;
    return src == dst;
}

/* The sum of two terms of one stride is a term again, and the search need not try every pair. */
static void merge_term(equation *e, uint32_t tag, __int128 stride, __int128 low, __int128 high) {
    for (uint32_t k = 0; k < e->terms; k++)
        if (e->stride[k] == stride) {
            e->low[k] += low;
            e->high[k] += high;
            return;
        }
    add_term(e, tag, stride, low, high);
}

/* Source element minus destination element = `target` elements, offsets left out. */
static answer meets(const copy_desc *c, __int128 target) {
    equation e = {.steps = SEARCH_STEPS};
    for (uint32_t k = 0; k < c->src.rank; k++) {
        int64_t last = c->src.size[k] - 1, s = c->src.stride[k], d = c->dst.stride[k];
        if (last > 0 && s != 0)
            merge_term(&e, k, magnitude(s), s > 0 ? 0 : -last, s > 0 ? last : 0);
        if (last > 0 && d != 0)
            merge_term(&e, k, magnitude(d), d > 0 ? -last : 0, d > 0 ? 0 : last);
    }
    bound_remainders(&e);
    return solve(&e, 0, target);
}

static bool byte_ranges_meet(const copy_desc *c, int64_t src_base, int64_t dst_base) {
    int64_t src_low = 0, src_high = 0, dst_low = 0, dst_high = 0;
    if (lmad_range(&c->src, &src_low, &src_high, NULL) != OK || lmad_range(&c->dst, &dst_low, &dst_high, NULL) != OK)
        return true;
    __int128 width = c->element_bytes;
    return src_base + src_low * width < dst_base + (dst_high + (__int128)1) * width &&
           dst_base + dst_low * width < src_base + (src_high + (__int128)1) * width;
}

copy_overlap copy_overlaps(const copy_desc *c, int64_t src_base, int64_t dst_base) {
    if (lmad_empty(&c->src) || !byte_ranges_meet(c, src_base, dst_base))
        return OVERLAP_NONE;
    if (same_place(c, src_base, dst_base))
        return OVERLAP_SELF;
    /* Two elements share a byte when their addresses differ by less than a width: at most two distances in elements. */
    __int128 bases = (__int128)dst_base - src_base;
    __int128 nearest = floor_div(bases, c->element_bytes);
    __int128 target = nearest + c->dst.offset - c->src.offset;
    answer met = meets(c, target);
    if (met == ANSWER_NO && nearest * c->element_bytes != bases)
        met = meets(c, target + 1);
    if (met == ANSWER_UNKNOWN)
        return OVERLAP_UNKNOWN;
    return met == ANSWER_YES ? OVERLAP_SHARED : OVERLAP_INTERLEAVED;
}

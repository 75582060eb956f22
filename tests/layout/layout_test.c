#include "layout_test.h"

#include <stdlib.h>

uint32_t list_of(const char *text, int64_t *values) {
    uint32_t count = 0;
    while (*text) {
        char *end = NULL;
        values[count++] = strtoll(text, &end, 10);
        text = *end ? end + 1 : end;
    }
    return count;
}

copy_desc copy_of(const char *shape, const char *dst, const char *src) {
    copy_desc c = {.element_bytes = 4};
    c.src.rank = list_of(shape, c.src.size);
    c.dst.rank = list_of(shape, c.dst.size);
    list_of(src, c.src.stride);
    list_of(dst, c.dst.stride);
    return c;
}

bool next_index(const lmad *l, int64_t *index) {
    for (uint32_t k = l->rank; k-- > 0;) {
        if (++index[k] < l->size[k])
            return true;
        index[k] = 0;
    }
    return false;
}

int64_t offset_of(const lmad *l, const int64_t *index) {
    int64_t offset = l->offset;
    for (uint32_t k = 0; k < l->rank; k++)
        offset += index[k] * l->stride[k];
    return offset;
}

size_t pairs_of(const copy_desc *c, pair *pairs) {
    int64_t index[LMAD_RANK_MAX] = {0};
    size_t count = 0;
    for (uint32_t k = 0; k < c->src.rank; k++)
        if (c->src.size[k] == 0)
            return 0;
    do {
        pairs[count].src = offset_of(&c->src, index);
        pairs[count++].dst = offset_of(&c->dst, index);
    } while (next_index(&c->src, index));
    return count;
}

static int compare_pairs(const void *a, const void *b) {
    const pair *p = a, *q = b;
    if (p->dst != q->dst)
        return p->dst < q->dst ? -1 : 1;
    return p->src < q->src ? -1 : p->src > q->src;
}

void sort_pairs(pair *pairs, size_t count) {
    qsort(pairs, count, sizeof *pairs, compare_pairs);
}

int64_t between(prng *g, int64_t low, int64_t high) {
    return low + (int64_t)prng_below(g, (uint64_t)(high - low + 1));
}

void random_order(prng *g, uint32_t rank, uint32_t *order) {
    for (uint32_t k = 0; k < rank; k++) {
        uint32_t j = (uint32_t)prng_below(g, k + 1);
        order[k] = order[j];
        order[j] = k;
    }
}

/* Row-major in a random (or the given) order of dimensions, with gaps after some of them. */
static void random_strides(prng *g, lmad *l, bool permute, bool gaps, bool reverse) {
    uint32_t order[LMAD_RANK_MAX];
    random_order(g, l->rank, order);
    int64_t stride = 1;
    for (uint32_t k = l->rank; k-- > 0;) {
        uint32_t d = permute ? order[k] : k;
        l->stride[d] = stride;
        stride = stride * l->size[d] + (gaps && prng_below(g, 4) == 0 ? between(g, 1, 3) : 0);
        if (reverse && prng_below(g, 3) == 0) {
            l->offset += (l->size[d] - 1) * l->stride[d];
            l->stride[d] = -l->stride[d];
        }
    }
}

copy_desc random_copy(prng *g, uint32_t max_rank) {
    copy_desc c = {.element_bytes = UINT32_C(1) << prng_below(g, 5)};
    c.src.rank = c.dst.rank = (uint32_t)prng_below(g, max_rank + 1);
    int64_t room = 512;
    for (uint32_t k = 0; k < c.src.rank; k++) {
        int64_t n = between(g, 1, room < 5 ? room : 5);
        room /= n;
        c.src.size[k] = c.dst.size[k] = n;
    }
    c.src.offset = between(g, 0, 9);
    c.dst.offset = between(g, 0, 9);
    uint64_t kind = prng_below(g, 64);
    random_strides(g, &c.dst, kind & 1, kind & 2 && kind & 4, kind & 8 && kind & 4);
    random_strides(g, &c.src, kind & 16, kind & 32 && kind & 4, kind & 8 && kind & 4);
    if (kind & 1 && kind & 16 && kind & 2)
        for (uint32_t k = 0; k < c.src.rank; k++)
            c.src.stride[k] = c.dst.stride[k];
    if (prng_below(g, 6) == 0 && c.src.rank > 0)
        (prng_below(g, 2) ? &c.src : &c.dst)->stride[prng_below(g, c.src.rank)] = between(g, -12, 12);
    return c;
}

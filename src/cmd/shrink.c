#include "cmd/shrink.h"

#include "base/num.h"

static int64_t magnitude(int64_t x) {
    return x < 0 ? -x : x;
}

/* From the lowest element of a dimension to offset 0 of its index, in elements. */
static int64_t backwards(int64_t size, int64_t stride) {
    return stride < 0 ? (size - 1) * -stride : 0;
}

static lmad shrink_side(const lmad *l, uint32_t k, int64_t size) {
    lmad out = *l;
    int64_t extent = 0, shrunk = size * magnitude(l->stride[k]);
    if (!mul_i64(l->size[k], magnitude(l->stride[k]), &extent))
        extent = 0; /* beyond every stride */
    out.size[k] = size;
    for (uint32_t j = 0; j < l->rank; j++) {
        int64_t stride = magnitude(l->stride[j]);
        if (j != k && extent > 0 && stride > 0 && stride % extent == 0) {
            int64_t smaller = stride / extent * shrunk;
            out.stride[j] = l->stride[j] < 0 ? -smaller : smaller;
        }
        out.offset += backwards(out.size[j], out.stride[j]) - backwards(l->size[j], l->stride[j]);
    }
    return out;
}

bool shrink_copy(const copy_desc *c, int64_t factor, copy_desc *out) {
    const lmad *src = &c->src;
    uint32_t k = src->rank;
    int64_t best = 0;
    for (uint32_t j = 0; j < src->rank; j++) {
        /* The distance of a checked copy's first and last element fits. */
        int64_t reach = (src->size[j] - 1) * magnitude(src->stride[j]);
        if (src->size[j] >= 2 * factor && reach > best) {
            best = reach;
            k = j;
        }
    }
    if (k == src->rank)
        return false;
    *out = *c;
    out->src = shrink_side(&c->src, k, src->size[k] / factor);
    out->dst = shrink_side(&c->dst, k, src->size[k] / factor);
    return true;
}

/* The order of an LMAD's dimensions: sorting by stride, and contiguity in any order. */
#include "layout/lmad.h"

/* A stride as the sort compares it. The bias keeps the order of signed strides in unsigned arithmetic; the magnitude of
 * the lowest 64-bit integer is representable. */
static uint64_t sort_key(int64_t stride, bool signed_strides) {
    if (signed_strides)
        return (uint64_t)stride ^ (UINT64_C(1) << 63);
    return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
}

static bool comes_before(const copy_desc *c, uint32_t a, uint32_t b, bool signed_strides) {
    uint64_t src_a = sort_key(c->src.stride[a], signed_strides), src_b = sort_key(c->src.stride[b], signed_strides);
    if (src_a != src_b)
        return src_a < src_b;
    return sort_key(c->dst.stride[a], signed_strides) < sort_key(c->dst.stride[b], signed_strides);
}

void copy_sort_order(const copy_desc *c, bool signed_strides, uint32_t *order) {
    uint32_t rank = c->src.rank;
    for (uint32_t k = 0; k < rank; k++)
        order[k] = k;
    for (uint32_t k = 0; k < rank; k++) {
        uint32_t least = k;
        for (uint32_t j = k + 1; j < rank; j++)
            if (comes_before(c, order[j], order[least], signed_strides))
                least = j;
        uint32_t moved = order[k];
        order[k] = order[least];
        order[least] = moved;
    }
}

copy_desc copy_sort(const copy_desc *c, bool signed_strides) {
    uint32_t order[LMAD_RANK_MAX] = {0};
    copy_sort_order(c, signed_strides, order);
    return copy_permute(c, order);
}

/* The next dimension of the chain: not taken, stride `expected`, a singleton if there is one. rank: there is none. */
static uint32_t next_in_chain(const lmad *l, uint32_t taken, int64_t expected) {
    uint32_t found = l->rank;
    for (uint32_t k = 0; k < l->rank; k++)
        if (!(taken >> k & 1) && l->stride[k] == expected && (found == l->rank || l->size[found] != 1))
            if (found == l->rank || l->size[k] == 1)
                found = k;
    return found;
}

/* Greedy choice, r^2 steps, decides what the backtracking search over r! orders decides. All sizes are >= 1, so the
 * expected stride never falls. Singletons that have the expected stride must be taken while it has this value and do
 * not change it, so taking them first loses nothing. A larger dimension raises it for good, so a second one with the
 * same stride could never be placed: which of the two is taken does not matter, both ways end without an order. */
bool lmad_contiguous(const lmad *l, contiguity rule, uint32_t *order) {
    uint32_t scratch[LMAD_RANK_MAX];
    uint32_t *out = order ? order : scratch;
    uint32_t taken = 0, count = 0;
    int64_t expected = 1;
    bool empty = lmad_empty(l);
    bool ignore = rule == CONTIGUITY_IGNORE_SINGLETONS;
    for (uint32_t k = 0; k < l->rank; k++)
        if (ignore && !empty && l->size[k] == 1)
            taken |= UINT32_C(1) << k;
    uint32_t ignored = taken;
    for (uint32_t k; !empty && (k = next_in_chain(l, taken, expected)) < l->rank;) {
        taken |= UINT32_C(1) << k;
        out[count++] = k;
        expected *= l->size[k];
    }
    for (uint32_t k = 0; k < l->rank; k++)
        if (empty || ignored >> k & 1)
            out[count++] = k;
    return count == l->rank;
}

/* Recognising transpositions, and which kernel takes them. */
#include "layout/plan.h"

/* Strides of the row-major shape. Products fit: each is a part of the element count. */
static void row_major_strides(const lmad *l, int64_t *stride) {
    int64_t product = 1;
    for (uint32_t k = l->rank; k-- > 0;) {
        stride[k] = product;
        product *= l->size[k];
    }
}

static bool same_strides(const lmad *l, const int64_t *stride, uint32_t first) {
    for (uint32_t k = first; k < l->rank; k++)
        if (l->stride[k] != stride[k])
            return false;
    return true;
}

/* Dimensions [first, end), innermost last, continue the chain of strides that has reached *product. */
static bool chain(const lmad *l, uint32_t first, uint32_t end, int64_t *product) {
    for (uint32_t k = end; k-- > first;) {
        if (l->stride[k] != *product)
            return false;
        *product *= l->size[k];
    }
    return true;
}

/* Dimensions [first, rank) are a matrix whose two groups of dimensions are exchanged: fast elements in the dimensions
 * before the split, slow in those from it on. */
static bool exchanged(const lmad *l, uint32_t first, int64_t *fast, int64_t *slow) {
    for (uint32_t split = first + 1; split < l->rank; split++) {
        int64_t product = 1;
        if (!chain(l, first, split, &product))
            continue;
        *fast = product;
        if (chain(l, split, l->rank, &product)) {
            *slow = product / *fast;
            return true;
        }
    }
    return false;
}

/* The dimensions from `first` on are one transposition. */
static bool find_matrix(const copy_desc *c, uint32_t first, transpose_shape *t) {
    int64_t row_major[LMAD_RANK_MAX] = {0};
    row_major_strides(&c->src, row_major);
    if (same_strides(&c->dst, row_major, first))
        return exchanged(&c->src, first, &t->columns, &t->rows);
    if (same_strides(&c->src, row_major, first))
        return exchanged(&c->dst, first, &t->rows, &t->columns);
    return false;
}

static bool find_abutting(const copy_desc *c, transpose_shape *t) {
    int64_t row_major[LMAD_RANK_MAX] = {0};
    row_major_strides(&c->src, row_major);
    uint32_t first = 0;
    int64_t batches = 1;
    while (first < c->src.rank && c->src.stride[first] == row_major[first] && c->dst.stride[first] == row_major[first])
        batches *= c->src.size[first++];
    if (!find_matrix(c, first, t))
        return false;
    t->batches = batches;
    t->src_batch_stride = t->dst_batch_stride = t->rows * t->columns;
    return true;
}

/* A single row or column is no transposition but a strided copy, which the general kernel does better. */
static bool find_gapped(const copy_desc *c, transpose_shape *t) {
    for (uint32_t first = 1; first + 2 <= c->src.rank; first++) {
        copy_desc head = *c;
        head.src.rank = head.dst.rank = first;
        head = copy_collapse(&head);
        if (head.src.rank > 1 || !find_matrix(c, first, t) || t->rows < 2 || t->columns < 2)
            continue;
        bool one = head.src.rank == 0;
        t->batches = one ? 1 : head.src.size[0];
        t->src_batch_stride = one ? t->rows * t->columns : head.src.stride[0];
        t->dst_batch_stride = one ? t->rows * t->columns : head.dst.stride[0];
        return true;
    }
    return false;
}

bool copy_find_transpose(const copy_desc *c, batch_rule rule, transpose_shape *t) {
    *t = (transpose_shape){0};
    if (find_abutting(c, t) || (rule == BATCHES_MAY_GAP && find_gapped(c, t)))
        return true;
    *t = (transpose_shape){0};
    return false;
}

bool transpose_has_gaps(const transpose_shape *t) {
    int64_t matrix = t->rows * t->columns;
    return t->batches > 1 && (t->src_batch_stride != matrix || t->dst_batch_stride != matrix);
}

/* Futhark's test is offset + batches * rows * columns > 2^31 - 1; with gaps the last matrix starts elsewhere. */
static bool side_fits_32(int64_t offset, int64_t batch_stride, const transpose_shape *t) {
    __int128 last = (__int128)batch_stride * (t->batches - 1);
    __int128 end = (__int128)offset + (last > 0 ? last : 0) + (__int128)t->rows * t->columns;
    __int128 start = (__int128)offset + (last < 0 ? last : 0);
    return end <= INT32_MAX && start >= INT32_MIN;
}

bool transpose_fits_32(const copy_desc *c, const transpose_shape *t) {
    return side_fits_32(c->src.offset, t->src_batch_stride, t) && side_fits_32(c->dst.offset, t->dst_batch_stride, t);
}

copy_strategy transpose_kernel(const copy_desc *c, const transpose_shape *t) {
    enum { TILE_BLOCK = 16, NARROW = TILE_BLOCK / 2 };
    if (!transpose_fits_32(c, t))
        return COPY_TRANSPOSE_LARGE;
    if (t->columns <= NARROW && t->rows <= NARROW)
        return COPY_TRANSPOSE_SMALL;
    if (t->columns <= NARROW && t->rows > TILE_BLOCK)
        return COPY_TRANSPOSE_LOW_WIDTH;
    if (t->rows <= NARROW && t->columns > TILE_BLOCK)
        return COPY_TRANSPOSE_LOW_HEIGHT;
    return COPY_TRANSPOSE_DEFAULT;
}

/* The kernels without a tile: flat copy, general copy, and the two transpositions that need no shared memory. */
#include "kernel/copy_build.h"

#include "base/num.h"

enum { VECTOR_BYTES = 16 }; /* widest access of a lane */

/* Global thread number g of the thread's j-th element: a block does whole runs of FLAT_BLOCK elements one after the
 * other, so that neighbouring threads always work on neighbouring elements. */
static status global_thread(copy_build *b, uint32_t j, uint32_t per_thread, uint32_t *id) {
    ir_index x = {.base = (int64_t)j * FLAT_BLOCK, .per_thread = 1, .per_block = (int64_t)FLAT_BLOCK * per_thread};
    return ir_add_index(b->k, x, id, b->m);
}

static void flat_grid(copy_build *b, uint64_t work, uint32_t per_thread) {
    b->k->block_threads = FLAT_BLOCK;
    b->k->blocks = ceil_div(work, (uint64_t)FLAT_BLOCK * per_thread);
}

/* The bound g < limit. */
static status below(copy_build *b, uint32_t g, int64_t limit, uint32_t *bound) {
    span s = span_open(b);
    TRY(add_term(b, g, 1, 0, 1, 1));
    span_close(b, &s);
    *bound = b->k->bound_count;
    return add_bound(b, s, limit);
}

static status global_access(copy_build *b, uint32_t bytes, int64_t base, span terms, uint32_t bound, uint16_t *id) {
    ir_access a = {.space = SPACE_GLOBAL,
                   .bytes = bytes,
                   .base = base,
                   .first_term = terms.first,
                   .terms = terms.count,
                   .first_bound = bound,
                   .bounds = 1};
    return ir_add_access(b->k, a, id, b->m);
}

/* --- memcpy: one vector a thread, as wide as both addresses are aligned; what is left over by lanes of warp 0 --- */

static status memcpy_access(copy_build *b, uint32_t g, int64_t base, uint32_t bytes, uint32_t bound, uint16_t *id) {
    span s = span_open(b);
    TRY(add_term(b, g, 1, 0, bytes, 1));
    span_close(b, &s);
    return global_access(b, bytes, base, s, bound, id);
}

/* Loads and stores `count` pieces of `width` bytes from byte `skip` on. */
static status memcpy_accesses(copy_build *b, uint32_t g, int64_t src, int64_t dst, int64_t skip, uint32_t width,
                              int64_t count, uint16_t id[2]) {
    uint32_t bound = 0;
    TRY(below(b, g, count, &bound));
    TRY(sum(b, src, skip, &src));
    TRY(sum(b, dst, skip, &dst));
    TRY(memcpy_access(b, g, src, width, bound, &id[0]));
    return memcpy_access(b, g, dst, width, bound, &id[1]);
}

status build_memcpy(copy_build *b) {
    const copy_desc *c = b->copy;
    int64_t src = 0, dst = 0, bytes = 0;
    TRY(product(b, c->src.offset, c->element_bytes, &src));
    TRY(product(b, c->dst.offset, c->element_bytes, &dst));
    TRY(sum(b, src, b->src_base, &src));
    TRY(sum(b, dst, b->dst_base, &dst));
    TRY(product(b, copy_elements(c), c->element_bytes, &bytes));
    uint32_t width = VECTOR_BYTES;
    while (width > 1 && (((uint64_t)src | (uint64_t)dst) % width || (width > c->element_bytes && bytes < width)))
        width /= 2;
    int64_t vectors = bytes / width, tail = bytes % width / c->element_bytes;
    uint32_t g = 0;
    uint16_t vector[2] = {0}, rest[2] = {0};
    TRY(global_thread(b, 0, 1, &g));
    TRY(memcpy_accesses(b, g, src, dst, 0, width, vectors, vector));
    if (tail)
        TRY(memcpy_accesses(b, g, src, dst, vectors * width, c->element_bytes, tail, rest));
    flat_grid(b, (uint64_t)vectors, 1);
    b->k->registers = 16;

    mix_cursor mix;
    TRY(mix_begin(b, ISA_FLAT, &mix));
    TRY(mix_until(b, &mix, 1, 2));
    TRY(emit_exit_test(b, vector[0]));
    TRY(mix_until(b, &mix, 1, 1));
    TRY(emit_load(b, OP_LOAD, vector[0], 0));
    if (tail)
        TRY(emit_load(b, OP_LOAD, rest[0], 1));
    TRY(emit_store(b, OP_STORE, vector[1], 0));
    if (tail)
        TRY(emit_store(b, OP_STORE, rest[1], 1));
    return emit_exit(b);
}

/* --- general: dimension 0 fastest --- */

static const struct {
    isa_piece fixed, dim;
    uint32_t registers;
} variants[] = {
    [INDEX_64] = {ISA_GENERAL64, ISA_GENERAL64_DIM, 24},
    [INDEX_32] = {ISA_GENERAL32, ISA_GENERAL32_DIM, 20},
    [INDEX_INVARIANT] = {ISA_INVARIANT, ISA_INVARIANT_DIM, 16},
};

static uint32_t words(uint32_t bytes) {
    return (bytes + 3) / 4;
}

/* The address of element g of one side. The last dimension needs no modulo: g is below the product of the sizes. */
static status general_access(copy_build *b, const lmad *l, uint32_t bytes, int64_t base, uint32_t g, uint32_t bound,
                             uint16_t *id) {
    int64_t start = 0;
    TRY(product(b, l->offset, bytes, &start));
    TRY(sum(b, start, base, &start));
    uint64_t div = 1;
    span s = span_open(b);
    for (uint32_t d = 0; d < l->rank; d++) {
        uint64_t size = (uint64_t)l->size[d];
        if (size > 1)
            TRY(add_term(b, g, div, d + 1 < l->rank ? size : 0, l->stride[d], bytes));
        div *= size;
    }
    span_close(b, &s);
    return global_access(b, bytes, start, s, bound, id);
}

static status unpack_code(copy_build *b, const copy_desc *c, index_variant v) {
    uint64_t rest = (uint64_t)copy_elements(c); /* the dividend is below this */
    for (uint32_t d = 0; d < c->dst.rank; d++) {
        uint64_t size = (uint64_t)c->dst.size[d];
        bool slow = v == INDEX_64 && (rest - 1 > UINT32_MAX || size > UINT32_MAX);
        TRY(mix_whole(b, slow ? ISA_GENERAL64_SLOW : variants[v].dim));
        rest /= size;
    }
    return OK;
}

static copy_desc general_order(const copy_desc *c, const copy_options *options) {
    copy_desc ordered = *c;
    if (options->collapse)
        ordered = copy_collapse(&ordered);
    if (options->sorted)
        ordered = copy_sort(&ordered, options->signed_sort);
    return ordered;
}

status build_general(copy_build *b, const copy_options *options) {
    uint32_t each = options->elements_per_thread;
    if (each != 1 && each != 2 && each != 4 && each != 8)
        return fail(b->m, ERR_INPUT, "A thread of the general kernel copies 1, 2, 4 or 8 elements, not %u.", each);
    if (options->index != INDEX_64 && options->index != INDEX_32 && options->index != INDEX_INVARIANT)
        return fail(b->m, ERR_INPUT, "There is no index variant %d.", (int)options->index);
    plan_text why;
    if (options->index != INDEX_64 && !copy_fits_32(b->copy, (uint64_t)FLAT_BLOCK * each, &why))
        return fail(b->m, ERR_INPUT, "The general kernel cannot use 32-bit indices: %s.", why.text);
    copy_desc c = general_order(b->copy, options);
    int64_t n = copy_elements(&c);
    uint16_t load[ELEMENTS_MAX] = {0}, store[ELEMENTS_MAX] = {0};
    for (uint32_t j = 0; j < each; j++) {
        uint32_t g = 0, bound = 0;
        TRY(global_thread(b, j, each, &g));
        TRY(below(b, g, n, &bound));
        TRY(general_access(b, &c.src, c.element_bytes, b->src_base, g, bound, &load[j]));
        TRY(general_access(b, &c.dst, c.element_bytes, b->dst_base, g, bound, &store[j]));
    }
    flat_grid(b, (uint64_t)n, each);
    b->k->registers =
        variants[options->index].registers + words(c.element_bytes) - 1 + (each - 1) * (2 + words(c.element_bytes));

    mix_cursor fixed;
    TRY(mix_begin(b, variants[options->index].fixed, &fixed));
    TRY(mix_until(b, &fixed, 1, 2));
    TRY(emit_exit_test(b, load[0]));
    TRY(mix_until(b, &fixed, 1, 1));
    for (uint32_t j = 0; j < each; j++) {
        if (j > 0)
            TRY(mix_whole(b, ISA_LOOP));
        TRY(unpack_code(b, &c, options->index));
        TRY(emit_load(b, OP_LOAD, load[j], j));
    }
    for (uint32_t j = 0; j < each; j++)
        TRY(emit_store(b, OP_STORE, store[j], j));
    return emit_exit(b);
}

/* --- transpositions without a tile: thread g moves one element. small: element g of the destination, naive: of the
 * source. Either way g = (matrix, slow, fast) on the contiguous side and (matrix, fast, slow) on the other. --- */

static status flat_side(copy_build *b, const lmad *l, int64_t base, uint32_t g, const transpose_shape *t, int64_t fast,
                        int64_t slow, int64_t fast_stride, int64_t slow_stride, int64_t batch_stride, uint32_t bound,
                        uint16_t *id) {
    int64_t bytes = b->copy->element_bytes, start = 0;
    TRY(product(b, l->offset, bytes, &start));
    TRY(sum(b, start, base, &start));
    span s = span_open(b);
    TRY(add_term(b, g, 1, (uint64_t)fast, fast_stride, bytes));
    TRY(add_term(b, g, (uint64_t)fast, t->batches > 1 ? (uint64_t)slow : 0, slow_stride, bytes));
    if (t->batches > 1)
        TRY(add_term(b, g, (uint64_t)fast * (uint64_t)slow, 0, batch_stride, bytes));
    span_close(b, &s);
    return global_access(b, (uint32_t)bytes, start, s, bound, id);
}

status build_flat_transpose(copy_build *b, copy_strategy strategy, const transpose_shape *t) {
    bool small = strategy == COPY_TRANSPOSE_SMALL;
    bool wide = !transpose_fits_32(b->copy, t); /* naive only: small demands that they fit */
    int64_t fast = small ? t->rows : t->columns, slow = small ? t->columns : t->rows;
    const copy_desc *c = b->copy;
    uint32_t g = 0, bound = 0;
    uint16_t load = 0, store = 0;
    TRY(global_thread(b, 0, 1, &g));
    TRY(below(b, g, copy_elements(c), &bound));
    int64_t src_fast = small ? t->columns : 1, src_slow = small ? 1 : t->columns;
    int64_t dst_fast = small ? 1 : t->rows, dst_slow = small ? t->rows : 1;
    TRY(flat_side(b, &c->src, b->src_base, g, t, fast, slow, src_fast, src_slow, t->src_batch_stride, bound, &load));
    TRY(flat_side(b, &c->dst, b->dst_base, g, t, fast, slow, dst_fast, dst_slow, t->dst_batch_stride, bound, &store));
    flat_grid(b, (uint64_t)copy_elements(c), 1);
    b->k->registers = (wide ? 24 : 20) + words(c->element_bytes) - 1;

    mix_cursor fixed;
    TRY(mix_begin(b, wide ? ISA_GENERAL64 : ISA_GENERAL32, &fixed));
    TRY(mix_until(b, &fixed, 1, 2));
    TRY(emit_exit_test(b, load));
    TRY(mix_until(b, &fixed, 1, 1));
    for (int division = 0; division < (small ? 3 : 2); division++)
        TRY(mix_whole(b, wide ? ISA_GENERAL64_DIM : ISA_GENERAL32_DIM));
    TRY(emit_load(b, OP_LOAD, load, 0));
    TRY(emit_store(b, OP_STORE, store, 0));
    return emit_exit(b);
}

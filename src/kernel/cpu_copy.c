#include "kernel/cpu_copy.h"

#include "base/num.h"

#include <inttypes.h>

enum {
    LEAF = 64,    /* rows and columns at which the recursion ends */
    UNROLL = 4,   /* vectors of a turn of memcpy */
    SPLITS = 128, /* of both sides, at most 63 each */
    TURN = 1,     /* register of the loop counters */
    SRC = 2,      /* registers of the addresses */
    DST = 3,
    DATA = 4, /* and UNROLL - 1 more */
};

static const ir_inst plain = {.access = IR_NONE, .loop = IR_NONE};

static status op(copy_build *b, op_class what, uint8_t dst, uint8_t src) {
    ir_inst x = plain;
    x.op = (uint8_t)what;
    x.dst = dst;
    x.src[0] = src;
    return ir_add_inst(b->k, x, b->m);
}

static status load(copy_build *b, uint16_t access, uint8_t data) {
    ir_inst x = plain;
    x.op = OP_LOAD;
    x.dst = data;
    x.src[0] = SRC;
    x.access = access;
    return ir_add_inst(b->k, x, b->m);
}

static status store(copy_build *b, uint16_t access, uint8_t data) {
    ir_inst x = plain;
    x.op = OP_STORE;
    x.src[0] = data;
    x.src[1] = DST;
    x.access = access;
    return ir_add_inst(b->k, x, b->m);
}

/* The addresses move on, the loop over code[first ..] closes. */
static status close_loop(copy_build *b, uint32_t first, uint32_t depth, uint64_t trips) {
    TRY(op(b, OP_INT, SRC, SRC));
    TRY(op(b, OP_INT, DST, DST));
    uint16_t id = 0;
    const ir_loop l = {.first = first, .last = b->k->code_count, .trips = trips, .depth = depth};
    TRY(ir_add_loop(b->k, l, &id, b->m));
    ir_inst x = plain;
    x.op = OP_BRANCH;
    x.src[0] = SRC;
    x.loop = id;
    return ir_add_inst(b->k, x, b->m);
}

static status add_index(copy_build *b, int64_t base, int64_t per_block, int64_t a, int64_t c, int64_t d, uint32_t *id) {
    return ir_add_index(b->k, (ir_index){.base = base, .per_block = per_block, .per_loop = {a, c, d}}, id, b->m);
}

/* What both sides of one load and store have in common: bounds. */
typedef struct guard {
    uint32_t first, count;
} guard;

static guard no_guard(const copy_build *b) {
    return (guard){b->k->bound_count, 0};
}

/* index < limit */
static status guard_add(copy_build *b, guard *g, uint32_t index, int64_t limit) {
    span s = span_open(b);
    TRY(add_term(b, index, 1, 0, 1, 1));
    span_close(b, &s);
    g->count++;
    return add_bound(b, s, limit);
}

/* Only the last thread. */
static status guard_last(copy_build *b, guard *g) {
    uint32_t thread = 0;
    TRY(add_index(b, 0, -1, 0, 0, 0, &thread));
    return guard_add(b, g, thread, 2 - (int64_t)b->k->blocks);
}

static status add_access(copy_build *b, uint32_t bytes, int64_t base, span terms, guard g, bool nontemporal,
                         uint16_t *id) {
    const ir_access a = {.space = SPACE_GLOBAL,
                         .bytes = bytes,
                         .base = base,
                         .nontemporal = nontemporal,
                         .first_term = terms.first,
                         .terms = terms.count,
                         .first_bound = g.first,
                         .bounds = g.count};
    return ir_add_access(b->k, a, id, b->m);
}

/* Byte address of the side's element offset 0. */
static status start_of(copy_build *b, const lmad *l, int64_t base, int64_t *start) {
    TRY(product(b, l->offset, b->copy->element_bytes, start));
    return sum(b, *start, base, start);
}

static uint64_t cores_of(const copy_options *o) {
    return o->cores ? o->cores : 1;
}

/* --- memcpy --- */

static status vector_access(copy_build *b, uint32_t index, uint32_t width, int64_t base, guard g, bool nontemporal,
                            uint16_t *id) {
    span s = span_open(b);
    TRY(add_term(b, index, 1, 0, width, 1));
    span_close(b, &s);
    return add_access(b, width, base, s, g, nontemporal, id);
}

/* Single elements, where there is less than a vector. */
static status short_copy(copy_build *b, int64_t src, int64_t dst, int64_t count) {
    uint32_t i = 0;
    uint16_t from = 0, to = 0;
    TRY(add_index(b, 0, 0, 1, 0, 0, &i));
    TRY(vector_access(b, i, b->copy->element_bytes, src, no_guard(b), false, &from));
    TRY(vector_access(b, i, b->copy->element_bytes, dst, no_guard(b), false, &to));
    b->k->blocks = 1;
    TRY(load(b, from, DATA));
    TRY(store(b, to, DATA));
    TRY(close_loop(b, 0, 0, (uint64_t)count));
    return emit_exit(b);
}

static status memcpy_loops(copy_build *b, const copy_options *o) {
    const copy_desc *c = b->copy;
    int64_t src = 0, dst = 0, bytes = 0;
    TRY(start_of(b, &c->src, b->src_base, &src));
    TRY(start_of(b, &c->dst, b->dst_base, &dst));
    TRY(product(b, copy_elements(c), c->element_bytes, &bytes));
    const uint32_t width = b->mach->cpu.simd_bytes;
    if (bytes < width)
        return short_copy(b, src, dst, copy_elements(c));
    const int64_t vectors = bytes / width;
    const uint64_t turns = ceil_div((uint64_t)vectors, UNROLL);
    const uint64_t cores = cores_of(o) < turns ? cores_of(o) : turns, share = ceil_div(turns, cores);
    b->k->blocks = ceil_div(turns, share);
    uint16_t from[UNROLL] = {0}, to[UNROLL] = {0};
    for (int64_t i = 0; i < UNROLL; i++) {
        uint32_t v = 0;
        guard g = no_guard(b);
        TRY(add_index(b, i, (int64_t)share * UNROLL, UNROLL, 0, 0, &v));
        if ((uint64_t)vectors != share * UNROLL * b->k->blocks)
            TRY(guard_add(b, &g, v, vectors));
        TRY(vector_access(b, v, width, src, g, false, &from[i]));
        TRY(vector_access(b, v, width, dst, g, o->nontemporal, &to[i]));
    }
    for (uint8_t i = 0; i < UNROLL; i++)
        TRY(load(b, from[i], DATA + i));
    for (uint8_t i = 0; i < UNROLL; i++)
        TRY(store(b, to[i], DATA + i));
    TRY(close_loop(b, 0, 0, share));
    if (bytes % width) { /* the last thread: one more vector, up to the last byte */
        uint32_t nothing = 0;
        guard g = no_guard(b);
        TRY(add_index(b, 0, 0, 0, 0, 0, &nothing));
        TRY(guard_last(b, &g));
        TRY(vector_access(b, nothing, width, src + bytes - width, g, false, &from[0]));
        TRY(vector_access(b, nothing, width, dst + bytes - width, g, false, &to[0]));
        TRY(load(b, from[0], DATA));
        TRY(store(b, to[0], DATA));
    }
    return emit_exit(b);
}

/* --- general: the innermost dimension is a loop, the others together are one, whose number is taken apart --- */

typedef struct nest {
    copy_desc c;                  /* dimension 0 is the innermost */
    uint64_t inner, outer, share; /* turns; share: of the outer loop, a thread */
    uint64_t inner_share;         /* of the inner one, where there are fewer outer turns than threads */
    uint64_t lanes;               /* elements of a vector of the inner loop */
} nest;

static copy_desc reversed(const copy_desc *c) {
    copy_desc r = *c;
    for (uint32_t d = 0; d < c->src.rank; d++) {
        const uint32_t from = c->src.rank - 1 - d;
        r.src.size[d] = r.dst.size[d] = c->src.size[from];
        r.src.stride[d] = c->src.stride[from];
        r.dst.stride[d] = c->dst.stride[from];
    }
    return r;
}

static void make_nest(const copy_build *b, const copy_options *o, nest *n) {
    copy_desc c = *b->copy;
    if (o->collapse)
        c = copy_collapse(&c);
    n->c = o->sorted ? copy_sort(&c, o->signed_sort) : reversed(&c);
    if (n->c.src.rank == 0) {
        n->c.src.rank = n->c.dst.rank = 1;
        n->c.src.size[0] = n->c.dst.size[0] = 1;
        n->c.src.stride[0] = n->c.dst.stride[0] = 1;
    }
    n->inner = (uint64_t)n->c.src.size[0];
    n->outer = (uint64_t)copy_elements(&n->c) / n->inner;
    const uint64_t cores = cores_of(o);
    n->share = ceil_div(n->outer, cores);
    n->inner_share = n->inner;
    b->k->blocks = ceil_div(n->outer, n->share);
    if (n->outer < cores) {
        n->share = n->outer;
        n->inner_share = ceil_div(n->inner, cores);
    }
    n->lanes = b->mach->cpu.simd_bytes / n->c.element_bytes;
    if (n->c.src.stride[0] != 1 || n->c.dst.stride[0] != 1 || n->lanes < 1 || n->inner_share < n->lanes)
        n->lanes = 1;
    if (n->outer < cores) { /* whole vectors for each thread; what is over goes to the last one */
        n->inner_share = ceil_div(n->inner_share, n->lanes) * n->lanes;
        b->k->blocks = ceil_div(n->inner, n->inner_share);
    }
}

static bool splits_inner(const nest *n) {
    return n->inner_share < n->inner;
}

/* The address of inner element `i` (an index) in outer turn `o`. */
static status nest_access(copy_build *b, const nest *n, const lmad *l, int64_t base, uint32_t bytes, uint32_t o,
                          uint32_t i, guard g, uint16_t *id) {
    int64_t start = 0;
    TRY(start_of(b, l, base, &start));
    span s = span_open(b);
    TRY(add_term(b, i, 1, 0, l->stride[0], n->c.element_bytes));
    uint64_t div = 1;
    for (uint32_t d = 1; d < l->rank; d++) {
        const uint64_t size = (uint64_t)l->size[d];
        if (size > 1)
            TRY(add_term(b, o, div, d + 1 < l->rank ? size : 0, l->stride[d], n->c.element_bytes));
        div *= size;
    }
    span_close(b, &s);
    return add_access(b, bytes, start, s, g, false, id);
}

/* The loop over inner elements first, first + step, ... , `trips` of them, `lanes` each. `last`: for the last thread.
 */
static status nest_loop(copy_build *b, const nest *n, uint64_t first, uint64_t lanes, uint64_t trips, bool last) {
    if (!trips)
        return OK;
    const uint32_t begin = b->k->code_count;
    uint32_t o = 0, i = 0;
    uint16_t from = 0, to = 0;
    guard g = no_guard(b);
    const bool inner = splits_inner(n);
    TRY(add_index(b, 0, inner ? 0 : (int64_t)n->share, 1, 0, 0, &o));
    TRY(add_index(b, (int64_t)first, inner && !last ? (int64_t)n->inner_share : 0, 0, (int64_t)lanes, 0, &i));
    if (last)
        TRY(guard_last(b, &g));
    else if (inner && n->inner_share * b->k->blocks != n->inner)
        TRY(guard_add(b, &g, i, (int64_t)(n->inner - (lanes - 1))));
    else if (!inner && n->share * b->k->blocks != n->outer)
        TRY(guard_add(b, &g, o, (int64_t)n->outer));
    const uint32_t bytes = (uint32_t)lanes * n->c.element_bytes;
    TRY(nest_access(b, n, &n->c.src, b->src_base, bytes, o, i, g, &from));
    TRY(nest_access(b, n, &n->c.dst, b->dst_base, bytes, o, i, g, &to));
    TRY(load(b, from, DATA));
    TRY(store(b, to, DATA));
    return close_loop(b, begin, 1, trips);
}

static status general_loops(copy_build *b, const copy_options *options) {
    nest n;
    make_nest(b, options, &n);
    const bool split = splits_inner(&n);
    const uint64_t rest = split ? n.inner % n.lanes : n.inner_share % n.lanes;
    TRY(nest_loop(b, &n, 0, n.lanes, n.inner_share / n.lanes, false));
    TRY(nest_loop(b, &n, n.inner - rest, 1, rest, split));
    for (uint32_t d = 1; d < n.c.src.rank; d++) { /* the next dimension's counter and addresses */
        TRY(op(b, OP_INT, SRC, SRC));
        TRY(op(b, OP_INT, DST, DST));
    }
    TRY(close_loop(b, 0, 0, n.share));
    return emit_exit(b);
}

/* --- transpositions --- */

/* Where the tiles are: rows x columns of each, and how a tile's number says which it is. */
typedef struct tiling {
    uint64_t rows, columns; /* of a tile */
    uint64_t row_tiles, column_tiles;
    uint32_t splits;      /* recursion: how often a side is halved; outermost first */
    bool by_rows[SPLITS]; /* which side */
    bool by_row;          /* inside a tile: along the source's rows; else along the destination's */
} tiling;

static void by_recursion(const transpose_shape *t, tiling *x) {
    uint64_t rows = (uint64_t)t->rows, columns = (uint64_t)t->columns;
    *x = (tiling){.row_tiles = 1, .column_tiles = 1};
    while ((rows > LEAF || columns > LEAF) && x->splits < SPLITS) {
        const bool by_rows = rows >= columns;
        x->by_rows[x->splits++] = by_rows;
        *(by_rows ? &x->row_tiles : &x->column_tiles) *= 2;
        *(by_rows ? &rows : &columns) = ceil_div(by_rows ? rows : columns, 2);
    }
    x->rows = ceil_div((uint64_t)t->rows, x->row_tiles);
    x->columns = ceil_div((uint64_t)t->columns, x->column_tiles);
}

static void by_tiles(const transpose_shape *t, uint64_t side, tiling *x) {
    *x = (tiling){.rows = side < (uint64_t)t->rows ? side : (uint64_t)t->rows,
                  .columns = side < (uint64_t)t->columns ? side : (uint64_t)t->columns};
    x->row_tiles = ceil_div((uint64_t)t->rows, x->rows);
    x->column_tiles = ceil_div((uint64_t)t->columns, x->columns);
}

/* Adds scale * (first row, or column, of tile number `tile`). */
static status add_tile(copy_build *b, const tiling *x, uint32_t tile, bool rows, int64_t scale) {
    int64_t side = 0;
    TRY(product(b, (int64_t)(rows ? x->rows : x->columns), scale, &side));
    if (!x->splits) {
        const uint64_t div = rows ? x->column_tiles : 1;
        return add_term(b, tile, div, rows ? x->row_tiles : x->column_tiles, side, 1);
    }
    uint64_t weight = 1; /* of the innermost split of this side: one tile */
    for (uint32_t s = x->splits; s-- > 0;) {
        if (x->by_rows[s] != rows)
            continue;
        TRY(add_term(b, tile, UINT64_C(1) << (x->splits - 1 - s), 2, (int64_t)weight, side));
        weight *= 2;
    }
    return OK;
}

typedef struct cell {
    uint32_t tile, row, column; /* indices */
} cell;

/* row_stride and so on: in elements, of a step in the matrix of the source. */
static status cell_access(copy_build *b, const transpose_shape *t, const tiling *x, const cell *at, const lmad *l,
                          int64_t base, int64_t row_stride, int64_t column_stride, int64_t batch_stride, guard g,
                          uint16_t *id) {
    const int64_t bytes = b->copy->element_bytes;
    int64_t start = 0, row = 0, column = 0;
    TRY(start_of(b, l, base, &start));
    TRY(product(b, row_stride, bytes, &row));
    TRY(product(b, column_stride, bytes, &column));
    span s = span_open(b);
    TRY(add_term(b, at->row, 1, 0, row, 1));
    TRY(add_term(b, at->column, 1, 0, column, 1));
    TRY(add_tile(b, x, at->tile, true, row));
    TRY(add_tile(b, x, at->tile, false, column));
    if (t->batches > 1)
        TRY(add_term(b, at->tile, x->row_tiles * x->column_tiles, 0, batch_stride, bytes));
    span_close(b, &s);
    return add_access(b, (uint32_t)bytes, start, s, g, false, id);
}

/* tile's first row (column) + index < limit */
static status guard_tile(copy_build *b, const tiling *x, guard *g, uint32_t tile, uint32_t index, bool rows,
                         int64_t limit) {
    span s = span_open(b);
    TRY(add_term(b, index, 1, 0, 1, 1));
    TRY(add_tile(b, x, tile, rows, 1));
    span_close(b, &s);
    g->count++;
    return add_bound(b, s, limit);
}

static status tile_loops(copy_build *b, const copy_options *o, const transpose_shape *t, const tiling *x) {
    uint64_t tiles = 0;
    if (!mul_u64(x->row_tiles * x->column_tiles, (uint64_t)t->batches, &tiles))
        return fail(b->m, ERR_INPUT, "The copy has more than 2^64 tiles.");
    const uint64_t share = ceil_div(tiles, cores_of(o));
    b->k->blocks = ceil_div(tiles, share);
    cell at = {0};
    guard g = no_guard(b);
    uint16_t from = 0, to = 0;
    TRY(add_index(b, 0, (int64_t)share, 1, 0, 0, &at.tile));
    TRY(add_index(b, 0, 0, 0, x->by_row, !x->by_row, &at.row));
    TRY(add_index(b, 0, 0, 0, !x->by_row, x->by_row, &at.column));
    if (share * b->k->blocks != tiles)
        TRY(guard_add(b, &g, at.tile, (int64_t)tiles));
    if (x->rows * x->row_tiles != (uint64_t)t->rows)
        TRY(guard_tile(b, x, &g, at.tile, at.row, true, t->rows));
    if (x->columns * x->column_tiles != (uint64_t)t->columns)
        TRY(guard_tile(b, x, &g, at.tile, at.column, false, t->columns));
    const copy_desc *c = b->copy;
    TRY(cell_access(b, t, x, &at, &c->src, b->src_base, t->columns, 1, t->src_batch_stride, g, &from));
    TRY(cell_access(b, t, x, &at, &c->dst, b->dst_base, 1, t->rows, t->dst_batch_stride, g, &to));
    TRY(load(b, from, DATA));
    TRY(store(b, to, DATA));
    TRY(close_loop(b, 0, 2, x->by_row ? x->columns : x->rows));
    TRY(close_loop(b, 0, 1, x->by_row ? x->rows : x->columns));
    TRY(close_loop(b, 0, 0, share));
    return emit_exit(b);
}

static status naive_loops(copy_build *b, const copy_options *o, const transpose_shape *t) {
    const tiling rows = {
        .by_row = true, .rows = 1, .columns = (uint64_t)t->columns, .row_tiles = (uint64_t)t->rows, .column_tiles = 1};
    return tile_loops(b, o, t, &rows);
}

status cpu_copy_build(copy_build *b, const copy_options *options, const transpose_shape *t) {
    b->k->block_threads = 1;
    b->k->registers = DATA + UNROLL;
    if (cores_of(options) > b->mach->core.count)
        return fail(b->m, ERR_INPUT, "%" PRIu64 " cores: the machine has %" PRIu32 ".", cores_of(options),
                    b->mach->core.count);
    switch (options->strategy) {
    case COPY_MEMCPY:
        return memcpy_loops(b, options);
    case COPY_GENERAL:
        return general_loops(b, options);
    case COPY_TRANSPOSE_NAIVE:
        return naive_loops(b, options, t);
    default:
        break;
    }
    tiling x;
    if (options->tile)
        by_tiles(t, options->tile, &x);
    else
        by_recursion(t, &x);
    return tile_loops(b, options, t, &x);
}

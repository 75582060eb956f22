/* Transpositions through a tile of shared memory.
 *
 * Source: `batches` matrices of `rows` x `columns`; destination row r is source column r. A block reads a tile along
 * the source's rows, waits, and writes it along the destination's rows. Threads count (tx, ty) with tx fastest; blocks
 * count (bx along the columns, by along the rows, matrix), bx fastest. */
#include "kernel/copy_build.h"

#include "base/num.h"

enum {
    TILE = 32,
    TILE_ROWS = 4,                   /* rows of threads, 8 elements each */
    TILE_SHARED = TILE * (TILE + 1), /* elements of shared memory, whatever the kernel */
    LOW = 16,                        /* side of the narrow kernels' blocks */
    LOW_PITCH = LOW + 1,
};

/* One side of a tile: a matrix coordinate (row, column) in global memory, guarded, and a place in the tile. */
typedef struct face {
    uint32_t bytes;
    int64_t base;          /* byte address of element (0, 0) of matrix 0 */
    int64_t pitch;         /* bytes from row to row */
    int64_t rows, columns; /* guards */
    span row, column, global, tile;
    int64_t tile_pitch; /* bytes of shared memory that a step of one row moves on */
} face;

typedef struct tile_index {
    uint32_t thread, block;
} tile_index;

static status add_ids(copy_build *b, tile_index *x) {
    TRY(ir_add_index(b->k, (ir_index){.per_thread = 1}, &x->thread, b->m));
    return ir_add_index(b->k, (ir_index){.per_block = 1}, &x->block, b->m);
}

static status grid(copy_build *b, uint64_t along_columns, uint64_t along_rows, const transpose_shape *t) {
    uint64_t blocks = 0;
    if (!mul_u64(along_columns, along_rows, &blocks) || !mul_u64(blocks, (uint64_t)t->batches, &blocks) ||
        blocks > INT64_MAX)
        return fail(b->m, ERR_INPUT, "The number of tiles does not fit 64 bits.");
    b->k->blocks = blocks;
    return OK;
}

static ir_term part(uint32_t index, uint64_t div, uint64_t mod, int64_t mul) {
    return (ir_term){.index = index, .div = div, .mod = mod, .mul = mul};
}

static status coordinate_span(copy_build *b, const coordinate *x, span *s) {
    *s = span_open(b);
    TRY(add_coordinate(b, x, 1));
    span_close(b, s);
    return OK;
}

/* The terms of a face. `matrix` counts the batch. */
static status face_open(copy_build *b, const lmad *l, int64_t base, const coordinate *row, const coordinate *column,
                        ir_term matrix, int64_t rows, int64_t columns, int64_t batch_stride, face *f) {
    *f = (face){.bytes = b->copy->element_bytes, .rows = rows, .columns = columns};
    TRY(product(b, l->offset, f->bytes, &f->base));
    TRY(sum(b, f->base, base, &f->base));
    TRY(product(b, columns, f->bytes, &f->pitch));
    TRY(coordinate_span(b, row, &f->row));
    TRY(coordinate_span(b, column, &f->column));
    f->global = span_open(b);
    TRY(add_coordinate(b, column, f->bytes));
    TRY(add_coordinate(b, row, f->pitch));
    if (matrix.mod != 1)
        TRY(add_term(b, matrix.index, matrix.div, 0, batch_stride, f->bytes));
    span_close(b, &f->global);
    return OK;
}

/* Where thread (tx, ty) finds its element of the tile: tx * x_step + ty * y_step elements. */
static status face_tile(copy_build *b, face *f, uint32_t thread, uint32_t width, int64_t x_step, int64_t y_step) {
    f->tile = span_open(b);
    TRY(add_term(b, thread, 1, width, x_step, f->bytes));
    TRY(add_term(b, thread, width, 0, y_step, f->bytes));
    span_close(b, &f->tile);
    f->tile_pitch = y_step * f->bytes;
    return OK;
}

/* The accesses of the element `step` rows further on: global memory and tile, behind the same guards. */
static status face_accesses(copy_build *b, const face *f, int64_t step, uint16_t *global, uint16_t *tile) {
    ir_access a = {.space = SPACE_GLOBAL, .bytes = f->bytes, .first_bound = b->k->bound_count, .bounds = 2};
    TRY(add_bound(b, f->row, f->rows - step));
    TRY(add_bound(b, f->column, f->columns));
    TRY(product(b, step, f->pitch, &a.base));
    TRY(sum(b, a.base, f->base, &a.base));
    a.first_term = f->global.first;
    a.terms = f->global.count;
    TRY(ir_add_access(b->k, a, global, b->m));
    a.space = SPACE_SHARED;
    a.base = step * f->tile_pitch;
    a.first_term = f->tile.first;
    a.terms = f->tile.count;
    return ir_add_access(b->k, a, tile, b->m);
}

/* --- 32 x 32 tiles, 8 elements a thread --- */

static status tile_code(copy_build *b, isa_piece piece, const face *in, const face *out) {
    uint16_t load[ELEMENTS_MAX] = {0}, put[ELEMENTS_MAX] = {0}, get[ELEMENTS_MAX] = {0}, store[ELEMENTS_MAX] = {0};
    for (uint32_t j = 0; j < ELEMENTS_MAX; j++)
        TRY(face_accesses(b, in, (int64_t)j * TILE_ROWS, &load[j], &put[j]));
    for (uint32_t j = 0; j < ELEMENTS_MAX; j++)
        TRY(face_accesses(b, out, (int64_t)j * TILE_ROWS, &store[j], &get[j]));
    mix_cursor mix;
    TRY(mix_begin(b, piece, &mix));
    for (uint32_t j = 0; j < ELEMENTS_MAX; j++) {
        TRY(mix_until(b, &mix, j + 1, 2 * ELEMENTS_MAX));
        TRY(emit_load(b, OP_LOAD, load[j], j));
    }
    for (uint32_t j = 0; j < ELEMENTS_MAX; j++)
        TRY(emit_store(b, OP_SHARED_STORE, put[j], j));
    TRY(emit_barrier(b));
    for (uint32_t j = 0; j < ELEMENTS_MAX; j++)
        TRY(emit_load(b, OP_SHARED_LOAD, get[j], j));
    for (uint32_t j = 0; j < ELEMENTS_MAX; j++) {
        TRY(mix_until(b, &mix, ELEMENTS_MAX + j + 1, 2 * ELEMENTS_MAX));
        TRY(emit_store(b, OP_STORE, store[j], j));
    }
    return emit_exit(b);
}

status build_tile(copy_build *b, copy_strategy strategy, const transpose_shape *t) {
    bool large = strategy == COPY_TRANSPOSE_LARGE;
    int64_t pitch = strategy == COPY_TRANSPOSE_UNPADDED ? TILE : TILE + 1;
    uint64_t along_columns = ceil_div((uint64_t)t->columns, TILE), along_rows = ceil_div((uint64_t)t->rows, TILE);
    TRY(grid(b, along_columns, along_rows, t));
    tile_index x;
    TRY(add_ids(b, &x));
    /* Coordinates of the tile's corner plus those of the thread within: tx along the side that is contiguous. */
    ir_term bx = part(x.block, 1, along_columns, TILE), by = part(x.block, along_columns, along_rows, TILE);
    ir_term tx = part(x.thread, 1, TILE, 1), ty = part(x.thread, TILE, 0, 1);
    ir_term matrix = part(x.block, along_columns * along_rows, t->batches == 1, 0);
    coordinate in_row = {{by, ty}, 2}, in_column = {{bx, tx}, 2};
    coordinate out_row = {{bx, ty}, 2}, out_column = {{by, tx}, 2};
    face in, out;
    TRY(face_open(b, &b->copy->src, b->src_base, &in_row, &in_column, matrix, t->rows, t->columns, t->src_batch_stride,
                  &in));
    TRY(face_open(b, &b->copy->dst, b->dst_base, &out_row, &out_column, matrix, t->columns, t->rows,
                  t->dst_batch_stride, &out));
    TRY(face_tile(b, &in, x.thread, TILE, 1, pitch));
    TRY(face_tile(b, &out, x.thread, TILE, pitch, 1));
    b->k->block_threads = TILE * TILE_ROWS;
    b->k->registers = (large ? 24 : 16) + ELEMENTS_MAX * ((b->copy->element_bytes + 3) / 4);
    b->k->shared_bytes = TILE_SHARED * b->copy->element_bytes;
    return tile_code(b, large ? ISA_TILE64 : ISA_TILE32, &in, &out);
}

/* --- one side is narrow: 16 x 16 threads, several pieces of the long side share a tile so that it is full --- */

static status low_code(copy_build *b, const face *in, const face *out) {
    uint16_t load = 0, put = 0, get = 0, store = 0;
    TRY(face_accesses(b, in, 0, &load, &put));
    TRY(face_accesses(b, out, 0, &store, &get));
    mix_cursor fixed;
    TRY(mix_begin(b, ISA_GENERAL32, &fixed));
    TRY(mix_until(b, &fixed, 1, 2));
    TRY(mix_whole(b, ISA_GENERAL32_DIM));
    TRY(emit_load(b, OP_LOAD, load, 0));
    TRY(emit_store(b, OP_SHARED_STORE, put, 0));
    TRY(emit_barrier(b));
    TRY(mix_until(b, &fixed, 1, 1));
    TRY(mix_whole(b, ISA_GENERAL32_DIM));
    TRY(emit_load(b, OP_SHARED_LOAD, get, 0));
    TRY(emit_store(b, OP_STORE, store, 0));
    return emit_exit(b);
}

static void append(coordinate *x, ir_term t) {
    x->part[x->count++] = t;
}

/* mul * (tx div pack), tx = tid mod 16. Where pack does not divide 16 the quotient is counted out: tx has reached c
 * exactly if tid + 16 - c lies in the next 16 after tid. */
static status append_quotient(copy_build *b, coordinate *x, uint32_t thread, int64_t pack, int64_t mul) {
    if (LOW % pack == 0) {
        append(x, part(thread, (uint64_t)pack, (uint64_t)(LOW / pack), mul));
        return OK;
    }
    int64_t steps = 0;
    for (int64_t c = pack; c < LOW; c += pack, steps++) {
        uint32_t ahead = 0;
        TRY(ir_add_index(b->k, (ir_index){.base = LOW - c, .per_thread = 1}, &ahead, b->m));
        append(x, part(ahead, LOW, 0, mul));
    }
    append(x, part(thread, LOW, 0, -steps * mul));
    return OK;
}

/* Two thread coordinates of a 16 x 16 block become matrix coordinates: split div pack along the narrow side, and
 * other + 16 * (split mod pack) along the long one. The split one is tx or ty. */
static status split_threads(copy_build *b, uint32_t thread, bool split_tx, int64_t pack, coordinate *narrow,
                            coordinate *along) {
    ir_term tx = part(thread, 1, LOW, 1), ty = part(thread, LOW, 0, 1);
    append(along, split_tx ? ty : tx);
    if (!split_tx) {
        append(narrow, part(thread, (uint64_t)(LOW * pack), 0, 1));
        append(along, part(thread, LOW, (uint64_t)pack, LOW));
        return OK;
    }
    TRY(append_quotient(b, narrow, thread, pack, 1));
    tx.mul = LOW;
    append(along, tx);
    return append_quotient(b, along, thread, pack, -LOW * pack);
}

status build_low(copy_build *b, copy_strategy strategy, const transpose_shape *t) {
    bool width = strategy == COPY_TRANSPOSE_LOW_WIDTH;
    int64_t narrow = width ? t->columns : t->rows, other = width ? t->rows : t->columns;
    int64_t pack = LOW / narrow;                                        /* the plan admits no narrow side above 16 */
    uint64_t along = ceil_div((uint64_t)other, (uint64_t)(pack * LOW)); /* tiles; 1 suffices across */
    TRY(grid(b, along, 1, t));
    tile_index x;
    TRY(add_ids(b, &x));
    ir_term matrix = part(x.block, along, t->batches == 1, 0);
    coordinate in_narrow = {.count = 0}, out_narrow = in_narrow;
    coordinate in_along = {{part(x.block, 1, along, LOW * pack)}, 1}, out_along = in_along;
    TRY(split_threads(b, x.thread, width, pack, &in_narrow, &in_along));
    TRY(split_threads(b, x.thread, !width, pack, &out_narrow, &out_along));
    face in, out;
    TRY(face_open(b, &b->copy->src, b->src_base, width ? &in_along : &in_narrow, width ? &in_narrow : &in_along, matrix,
                  t->rows, t->columns, t->src_batch_stride, &in));
    TRY(face_open(b, &b->copy->dst, b->dst_base, width ? &out_narrow : &out_along, width ? &out_along : &out_narrow,
                  matrix, t->columns, t->rows, t->dst_batch_stride, &out));
    TRY(face_tile(b, &in, x.thread, LOW, 1, LOW_PITCH));
    TRY(face_tile(b, &out, x.thread, LOW, LOW_PITCH, 1));
    b->k->block_threads = LOW * LOW;
    b->k->registers = 20 + (b->copy->element_bytes + 3) / 4 - 1;
    b->k->shared_bytes = TILE_SHARED * b->copy->element_bytes;
    return low_code(b, &in, &out);
}

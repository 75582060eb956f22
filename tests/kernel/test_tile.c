/* Which thread moves which element: the index formulas of Futhark's transposition kernels (rts/cuda/transpose.cl),
 * written out per thread. Correct data alone would not show a wrong padding or a wrong order of threads. */
#include "fixture.h"
#include "kernel/address.h"

#include <criterion/criterion.h>

typedef struct place {
    int64_t x, y; /* column and row of the source, or row and column of the destination */
    int64_t tile; /* element of shared memory */
} place;

typedef struct shape {
    copy_strategy strategy;
    int64_t x, y; /* columns and rows */
} shape;

static int64_t tiles(int64_t n, int64_t size) {
    return (n + size - 1) / size;
}

static place default_load(int64_t bx, int64_t by, int64_t tx, int64_t ty, int64_t j, int64_t pitch) {
    return (place){bx * 32 + tx, by * 32 + ty + 4 * j, (ty + 4 * j) * pitch + tx};
}

static place default_store(int64_t bx, int64_t by, int64_t tx, int64_t ty, int64_t j, int64_t pitch) {
    return (place){bx * 32 + ty + 4 * j, by * 32 + tx, tx * pitch + ty + 4 * j};
}

static place low_load(const shape *s, int64_t bx, int64_t by, int64_t tx, int64_t ty) {
    int64_t mul = 16 / (s->strategy == COPY_TRANSPOSE_LOW_WIDTH ? s->x : s->y);
    if (s->strategy == COPY_TRANSPOSE_LOW_WIDTH)
        return (place){bx * 16 + tx / mul, by * 16 * mul + ty + tx % mul * 16, ty * 17 + tx};
    return (place){bx * 16 * mul + tx + ty % mul * 16, by * 16 + ty / mul, ty * 17 + tx};
}

static place low_store(const shape *s, int64_t bx, int64_t by, int64_t tx, int64_t ty) {
    int64_t mul = 16 / (s->strategy == COPY_TRANSPOSE_LOW_WIDTH ? s->x : s->y);
    if (s->strategy == COPY_TRANSPOSE_LOW_WIDTH)
        return (place){bx * 16 + ty / mul, by * 16 * mul + tx + ty % mul * 16, tx * 17 + ty};
    return (place){bx * 16 * mul + ty + tx % mul * 16, by * 16 + tx / mul, tx * 17 + ty};
}

static const ir_access *access_of(const kernel *k, op_class op, int64_t j) {
    for (uint32_t i = 0; i < k->code_count; i++)
        if (k->code[i].op == op && j-- == 0)
            return &k->accesses[k->code[i].access];
    cr_assert_fail("no such access");
    return NULL;
}

static void expect(const kernel *k, op_class op, int64_t j, uint64_t block, uint32_t thread, bool in, int64_t address) {
    uint64_t loop[IR_LOOPS_MAX] = {0};
    int64_t at = 0;
    bool active = address_thread(k, access_of(k, op, j), block, thread, loop, &at);
    cr_assert_eq(active, in, "%s, %s %d, block %d thread %u", k->name, op_class_name(op), (int)j, (int)block, thread);
    cr_assert(!in || at == address, "%s, %s %d, block %d thread %u: %lld, not %lld", k->name, op_class_name(op), (int)j,
              (int)block, thread, (long long)at, (long long)address);
}

static void check_thread(const kernel *k, const shape *s, int64_t grid_x, int64_t grid_y, uint64_t block,
                         uint32_t thread) {
    bool low = s->strategy == COPY_TRANSPOSE_LOW_WIDTH || s->strategy == COPY_TRANSPOSE_LOW_HEIGHT;
    int64_t width = low ? 16 : 32, pitch = s->strategy == COPY_TRANSPOSE_UNPADDED ? 32 : 33;
    int64_t bx = (int64_t)block % grid_x, by = (int64_t)block / grid_x % grid_y;
    int64_t batch = (int64_t)block / (grid_x * grid_y) * s->x * s->y;
    int64_t tx = thread % width, ty = thread / width;
    for (int64_t j = 0; j < (low ? 1 : 8); j++) {
        place from = low ? low_load(s, bx, by, tx, ty) : default_load(bx, by, tx, ty, j, pitch);
        place to = low ? low_store(s, bx, by, tx, ty) : default_store(bx, by, tx, ty, j, pitch);
        bool in = from.x < s->x && from.y < s->y, out = to.x < s->x && to.y < s->y;
        expect(k, OP_LOAD, j, block, thread, in, (batch + from.y * s->x + from.x) * 4);
        expect(k, OP_SHARED_STORE, j, block, thread, in, from.tile * 4);
        expect(k, OP_SHARED_LOAD, j, block, thread, out, to.tile * 4);
        expect(k, OP_STORE, j, block, thread, out, (1 << 30) + (batch + to.x * s->y + to.y) * 4);
    }
}

Test(tile, threads_move_the_elements_that_futhark_says) {
    static const shape shapes[] = {
        {COPY_TRANSPOSE_DEFAULT, 40, 70},   {COPY_TRANSPOSE_LARGE, 33, 9},      {COPY_TRANSPOSE_UNPADDED, 64, 33},
        {COPY_TRANSPOSE_LOW_WIDTH, 1, 300}, {COPY_TRANSPOSE_LOW_WIDTH, 3, 170}, {COPY_TRANSPOSE_LOW_WIDTH, 5, 50},
        {COPY_TRANSPOSE_LOW_WIDTH, 7, 33},  {COPY_TRANSPOSE_LOW_WIDTH, 8, 17},  {COPY_TRANSPOSE_LOW_HEIGHT, 170, 3},
        {COPY_TRANSPOSE_LOW_HEIGHT, 65, 4}, {COPY_TRANSPOSE_LOW_HEIGHT, 50, 5}, {COPY_TRANSPOSE_LOW_HEIGHT, 40, 6},
    };
    machine mach = fixture_machine();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const shape *s = &shapes[i];
        copy_desc c = {.element_bytes = 4,
                       .src = {.rank = 3, .size = {2, s->x, s->y}, .stride = {s->x * s->y, 1, s->x}},
                       .dst = {.rank = 3, .size = {2, s->x, s->y}, .stride = {s->x * s->y, s->y, 1}}};
        copy_options o = {.strategy = s->strategy};
        message m;
        kernel k;
        cr_assert_eq(copy_kernel_build(&mach, &c, &o, 0, 1 << 30, &k, &m), OK, "%s", m.text);
        bool wide = s->strategy == COPY_TRANSPOSE_LOW_HEIGHT, high = s->strategy == COPY_TRANSPOSE_LOW_WIDTH;
        int64_t grid_x = wide ? tiles(tiles(s->x, 16 / s->y), 16) : tiles(s->x, high ? 16 : 32);
        int64_t grid_y = high ? tiles(tiles(s->y, 16 / s->x), 16) : tiles(s->y, wide ? 16 : 32);
        cr_assert_eq(k.blocks, (uint64_t)(grid_x * grid_y * 2), "shape %zu", i);
        for (uint64_t block = 0; block < k.blocks; block++)
            for (uint32_t thread = 0; thread < k.block_threads; thread++)
                check_thread(&k, s, grid_x, grid_y, block, thread);
        kernel_free(&k);
    }
}

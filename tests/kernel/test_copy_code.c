/* What the copy kernels look like: instruction counts, grids, resources, and the transactions of known copies. */
#include "fixture.h"
#include "kernel/address.h"
#include "kernel/occupancy.h"

#include <criterion/criterion.h>

static kernel built(const copy_desc *c, copy_options o) {
    machine mach = fixture_machine();
    message m;
    kernel k;
    cr_assert_eq(copy_kernel_build(&mach, c, &o, 0, INT64_C(1) << 45, &k, &m), OK, "%s", m.text);
    return k;
}

static copy_desc cube(uint32_t rank, int64_t size) {
    copy_desc c = {.element_bytes = 4, .src = {.rank = rank}, .dst = {.rank = rank}};
    int64_t stride = 1;
    for (uint32_t d = 0; d < rank; d++, stride *= size) {
        c.src.size[d] = c.dst.size[d] = size;
        c.dst.stride[d] = stride;
        c.src.stride[rank - 1 - d] = -stride;
        c.src.offset += stride * (size - 1);
    }
    return c;
}

static uint32_t of_class(const kernel *k, op_class op) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->code_count; i++)
        n += k->code[i].op == op;
    return n;
}

/* Totals of compiled kernels, nvcc 13.0 for sm_80: 43 + 40 r with 64-bit run-time indices (slow path 42 + 116 r), 40
 * and 68 with 32-bit indices, 24 and 31 with division by multiplication, tiles 139 and 281. */
Test(copy_code, as_many_instructions_as_compiled) {
    for (uint32_t rank = 1; rank <= 7; rank++) {
        copy_desc c = cube(rank, 4);
        kernel k = built(&c, (copy_options){.strategy = COPY_GENERAL, .elements_per_thread = 1});
        cr_expect_eq(k.code_count, 43 + 40 * rank, "rank %u: %u", rank, k.code_count);
        cr_expect_eq(of_class(&k, OP_BRANCH) + of_class(&k, OP_EXIT), 10 + 3 * rank); /* the table's control column */
        cr_expect_eq(of_class(&k, OP_SFU), rank);
        kernel_free(&k);
    }
    static const struct {
        copy_options o;
        uint32_t rank, total;
    } cases[] = {
        {{.strategy = COPY_GENERAL, .index = INDEX_32, .elements_per_thread = 1}, 1, 40},
        {{.strategy = COPY_GENERAL, .index = INDEX_32, .elements_per_thread = 1}, 2, 68},
        {{.strategy = COPY_GENERAL, .index = INDEX_INVARIANT, .elements_per_thread = 1}, 2, 24},
        {{.strategy = COPY_GENERAL, .index = INDEX_INVARIANT, .elements_per_thread = 1}, 3, 31},
        /* two more instructions for the step, two loads and stores: 10 + 2 * 14 + 2 + 2 */
        {{.strategy = COPY_GENERAL, .index = INDEX_INVARIANT, .elements_per_thread = 2}, 2, 42},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        copy_desc c = cube(cases[i].rank, 4);
        kernel k = built(&c, cases[i].o);
        cr_expect_eq(k.code_count, cases[i].total, "case %zu: %u", i, k.code_count);
        kernel_free(&k);
    }
    copy_desc t = fixture_2d(1000, 2000, 2000, 1, 0, 1, 1000), flat = fixture_2d(4, 4, 4, 1, 0, 4, 1);
    kernel tile = built(&t, (copy_options){.strategy = COPY_TRANSPOSE_DEFAULT});
    kernel large = built(&t, (copy_options){.strategy = COPY_TRANSPOSE_LARGE});
    kernel copy = built(&flat, (copy_options){.strategy = COPY_MEMCPY});
    cr_expect_eq(tile.code_count, 139);
    cr_expect_eq(large.code_count, 281);
    cr_expect_eq(copy.code_count, 13);
    cr_expect_eq(of_class(&tile, OP_SHARED_LOAD), 8);
    cr_expect_eq(of_class(&tile, OP_BARRIER), 1);
    kernel_free(&tile);
    kernel_free(&large);
    kernel_free(&copy);
}

/* 2^20 x 2^20: the first division has operands past 32 bits, the second has not. */
Test(copy_code, huge_copies_cost_no_memory_and_divide_slowly) {
    int64_t n = INT64_C(1) << 20;
    copy_desc c = fixture_2d(n, n, n, 1, 0, n + 1, 1);
    kernel k = built(&c, (copy_options){.strategy = COPY_GENERAL, .elements_per_thread = 1});
    cr_expect_eq(k.elements, UINT64_C(1) << 40);
    cr_expect_eq(k.blocks, UINT64_C(1) << 32);
    cr_expect_eq(k.code_count, 43 + 40 + 116);
    int64_t address = 0;
    uint64_t loop[IR_LOOPS_MAX] = {0};
    cr_assert(address_thread(&k, &k.accesses[0], k.blocks - 1, 255, loop, &address));
    cr_expect_eq(address, ((n - 1) * (n + 1) + n - 1) * 4);
    kernel_free(&k);
    machine mach = fixture_machine();
    message m;
    copy_options o = {.strategy = COPY_GENERAL, .index = INDEX_32, .elements_per_thread = 1};
    cr_expect_eq(copy_kernel_build(&mach, &c, &o, 0, 0, &k, &m), ERR_INPUT);
    kernel_free(&k);
}

Test(copy_code, grids_and_shared_memory_as_futhark) {
    static const struct {
        copy_strategy strategy;
        int64_t rows, columns;
        uint64_t blocks;
        uint32_t threads, shared;
    } cases[] = {
        {COPY_TRANSPOSE_DEFAULT, 2000, 1000, 32 * 63, 128, 4224},
        {COPY_TRANSPOSE_LARGE, 33, 32, 2, 128, 4224},
        {COPY_TRANSPOSE_UNPADDED, 32, 33, 2, 128, 4224},
        {COPY_TRANSPOSE_LOW_WIDTH, 100, 4, 2, 256, 4224},
        {COPY_TRANSPOSE_LOW_HEIGHT, 3, 1000, 13, 256, 4224},
        {COPY_TRANSPOSE_SMALL, 7, 8, 1, 256, 0},
        {COPY_TRANSPOSE_NAIVE, 100, 100, 40, 256, 0},
    };
    machine mach = fixture_machine();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        copy_desc c = fixture_2d(cases[i].columns, cases[i].rows, cases[i].rows, 1, 0, 1, cases[i].columns);
        kernel k = built(&c, (copy_options){.strategy = cases[i].strategy});
        cr_expect_eq(k.blocks, cases[i].blocks, "case %zu: %llu", i, (unsigned long long)k.blocks);
        cr_expect_eq(k.block_threads, cases[i].threads, "case %zu", i);
        cr_expect_eq(k.shared_bytes, cases[i].shared, "case %zu", i);
        occupancy_result r;
        message m;
        cr_assert_eq(occupancy(&mach, &k, &r, &m), OK, "%s", m.text);
        cr_expect_eq(r.warps, 64, "case %zu: %u warps", i, r.warps);
        kernel_free(&k);
    }
}

typedef struct traffic {
    uint64_t lines, sectors;
} traffic;

/* Distinct units of an access whose lanes ascend, descend or jump. */
static uint64_t distinct(const warp_access *w, uint32_t unit) {
    int64_t seen[WARP_WIDTH_MAX];
    uint64_t n = 0;
    for (uint32_t lane = 0; lane < 32; lane++) {
        if (!(w->mask >> lane & 1))
            continue;
        int64_t at = (w->affine ? w->base + w->stride * (int64_t)lane : w->lane[lane]) / unit;
        uint64_t i = n;
        while (i > 0 && seen[i - 1] != at)
            i--;
        if (i == 0)
            seen[n++] = at;
    }
    return n;
}

static void count_traffic(const kernel *k, traffic total[2]) {
    for (int side = 0; side < 2; side++)
        total[side] = (traffic){0, 0};
    for (uint64_t block = 0; block < k->blocks; block++)
        for (uint32_t first = 0; first < k->block_threads; first += 32)
            for (int side = 0; side < 2; side++) {
                warp_place p = {.block = block, .first_thread = first, .width = 32};
                warp_access w;
                address_warp(k, &k->accesses[side], &p, false, &w);
                total[side].lines += distinct(&w, 128);
                total[side].sectors += distinct(&w, 32);
            }
}

/* Lines and sectors of whole copies of 2^26 / scale elements, worked out independently for the published shapes
 * (Futhark blog, "Optimising the identity function"); the counts are periodic in the rows that scale cuts off. */
Test(copy_code, transactions_of_known_copies) {
    static const struct {
        int64_t n, m, src_offset, src0, src1;
        bool sorted;
        uint64_t scale;
        traffic load, store;
    } cases[] = {
        {8192 / 64, 8192, 1, 8193, 1, true, 64, {4128768, 10223616}, {2097152, 8388608}},
        {1048576 / 64, 64, 1, 65, 1, true, 64, {4128768, 10223616}, {2097152, 8388608}},
        {16777216 / 64, 4, 1, 5, 1, false, 64, {10485760, 41943040}, {8388608, 33554432}},
        {16777216 / 64, 4, 1, 5, 1, true, 64, {4194304, 10485760}, {2097152, 8388608}},
        {8192 / 64, 8192, 8191, 8192, -1, false, 64, {67108864, 67108864}, {67108864, 67108864}},
        {16777216 / 64, 4, 3, 4, -1, false, 64, {8388608, 33554432}, {8388608, 33554432}},
        {16777216 / 64, 4, 3, 4, -1, true, 64, {2097152, 8388608}, {2097152, 8388608}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        copy_desc c =
            fixture_2d(cases[i].n, cases[i].m, cases[i].m, 1, cases[i].src_offset, cases[i].src0, cases[i].src1);
        kernel k =
            built(&c, (copy_options){.strategy = COPY_GENERAL, .elements_per_thread = 1, .sorted = cases[i].sorted});
        traffic got[2];
        count_traffic(&k, got);
        cr_expect_eq(got[0].lines * cases[i].scale, cases[i].load.lines, "case %zu: %llu load lines", i,
                     (unsigned long long)(got[0].lines * cases[i].scale));
        cr_expect_eq(got[0].sectors * cases[i].scale, cases[i].load.sectors, "case %zu: %llu load sectors", i,
                     (unsigned long long)(got[0].sectors * cases[i].scale));
        cr_expect_eq(got[1].lines * cases[i].scale, cases[i].store.lines, "case %zu", i);
        cr_expect_eq(got[1].sectors * cases[i].scale, cases[i].store.sectors, "case %zu", i);
        kernel_free(&k);
    }
}

/* Every instruction of a chain depends on what came ilp before, the load on the address, the store on the load. */
Test(copy_code, dependences) {
    copy_desc c = cube(2, 8);
    kernel k = built(&c, (copy_options){.strategy = COPY_GENERAL, .elements_per_thread = 1});
    uint8_t latest = 0, data = 0;
    bool written[IR_REGISTERS_MAX] = {[0] = true};
    for (uint32_t i = 0; i < k.code_count; i++) {
        const ir_inst *x = &k.code[i];
        for (int s = 0; s < 3; s++)
            cr_expect(written[x->src[s]], "instruction %u reads register %u before it is written", i, x->src[s]);
        cr_expect(x->dst < 64);
        if (x->op == OP_LOAD || x->op == OP_STORE)
            cr_expect_eq(x->src[x->op == OP_STORE], latest);
        if (x->op == OP_STORE)
            cr_expect_eq(x->src[0], data);
        if (x->op == OP_LOAD)
            data = x->dst;
        else if (x->dst)
            latest = x->dst;
        written[x->dst] = true;
    }
    kernel_free(&k);
}

Test(copy_code, refuses_mixes_with_memory_instructions) {
    static const op_class own[] = {OP_BARRIER, OP_LOAD, OP_STORE, OP_SHARED_LOAD, OP_SHARED_STORE, OP_EXIT};
    copy_desc c = cube(2, 4);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        machine mach = fixture_machine();
        mach.isa[ISA_GENERAL64_DIM].count[own[i]] = 1;
        copy_options o = {.strategy = COPY_GENERAL, .elements_per_thread = 1};
        message m;
        kernel k;
        cr_expect_eq(copy_kernel_build(&mach, &c, &o, 0, 0, &k, &m), ERR_INPUT);
        kernel_free(&k);
    }
}

/* The first dimension runs fastest over the threads; sorting makes that the one with the smallest source stride. Orders
 * as worked out by hand for selection sort, by magnitude and with signs. */
Test(copy_code, fastest_dimension) {
    static const struct {
        int64_t src_offset, src0, src1;
        bool sorted, with_sign;
        int64_t load_step, store_step; /* bytes from thread 0 to thread 1 */
    } cases[] = {
        {1, 8193, 1, false, false, 8193 * 4, 8192 * 4}, {1, 8193, 1, true, false, 4, 4},
        {8191, 8192, -1, true, false, -4, 4},           {8191, 8192, -1, true, true, -4, 4},
        {8191 * 8192, -8192, 1, true, false, 4, 4},     {8191 * 8192, -8192, 1, true, true, -8192 * 4, 8192 * 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        copy_desc c = fixture_2d(8192, 8192, 8192, 1, cases[i].src_offset, cases[i].src0, cases[i].src1);
        kernel k = built(&c, (copy_options){.strategy = COPY_GENERAL,
                                            .elements_per_thread = 1,
                                            .sorted = cases[i].sorted,
                                            .signed_sort = cases[i].with_sign});
        warp_place p = {.width = 32};
        warp_access load, store;
        address_warp(&k, &k.accesses[0], &p, false, &load);
        address_warp(&k, &k.accesses[1], &p, false, &store);
        cr_expect(load.affine && store.affine);
        cr_expect_eq(load.stride, cases[i].load_step, "case %zu: %lld", i, (long long)load.stride);
        cr_expect_eq(store.stride, cases[i].store_step, "case %zu: %lld", i, (long long)store.stride);
        kernel_free(&k);
    }
}

#include "fixture.h"

#include <string.h>

machine fixture_machine(void) {
    machine mach = {.name = "test GPU", .clock_hz = 1e9};
    mach.core = (core_desc){.count = 1,
                            .warp_width = 32,
                            .schedulers = 4,
                            .max_warps = 64,
                            .max_blocks = 32,
                            .max_block_threads = 1024,
                            .registers = 65536,
                            .register_granule = 8,
                            .max_thread_registers = 255,
                            .shared_bytes = 167936,
                            .shared_granule_bytes = 128};
    /* 43 + 40 r instructions, less exit test, load, store and EXIT. */
    isa_mix general64 = {.count = {[OP_INT] = 29, [OP_IMUL] = 1, [OP_BRANCH] = 8, [OP_CONST_LOAD] = 1}, .ilp = 3};
    isa_mix dim64 = {.count = {[OP_INT] = 23,
                               [OP_IMUL] = 7,
                               [OP_IMUL_HI] = 2,
                               [OP_IMUL_WIDE] = 2,
                               [OP_CONVERT] = 2,
                               [OP_SFU] = 1,
                               [OP_BRANCH] = 3},
                     .ilp = 2};
    isa_mix slow64 = {.count = {[OP_INT] = 71,
                                [OP_IMUL] = 15,
                                [OP_IMUL_HI] = 9,
                                [OP_IMUL_WIDE] = 9,
                                [OP_CONVERT] = 2,
                                [OP_SFU] = 1,
                                [OP_BRANCH] = 9},
                      .ilp = 2};
    /* 40 for rank 1 and 68 for rank 2; 24 and 31 for ranks 2 and 3; 13; 139 and 281. */
    isa_mix general32 = {.count = {[OP_INT] = 5, [OP_IMUL_WIDE] = 2, [OP_CONST_LOAD] = 1}, .ilp = 2};
    isa_mix dim32 = {.count = {[OP_INT] = 18, [OP_IMUL] = 5, [OP_IMUL_HI] = 2, [OP_CONVERT] = 2, [OP_SFU] = 1},
                     .ilp = 2};
    isa_mix invariant = {.count = {[OP_INT] = 4, [OP_IMUL_WIDE] = 2}, .ilp = 2};
    isa_mix dim_invariant = {.count = {[OP_INT] = 3, [OP_IMUL] = 3, [OP_IMUL_HI] = 1}, .ilp = 2};
    mach.isa[ISA_FLAT] = (isa_mix){.count = {[OP_INT] = 6, [OP_IMUL_WIDE] = 2, [OP_CONST_LOAD] = 1}, .ilp = 2};
    mach.isa[ISA_GENERAL64] = general64;
    mach.isa[ISA_GENERAL64_DIM] = dim64;
    mach.isa[ISA_GENERAL64_SLOW] = slow64;
    mach.isa[ISA_GENERAL32] = general32;
    mach.isa[ISA_GENERAL32_DIM] = dim32;
    mach.isa[ISA_INVARIANT] = invariant;
    mach.isa[ISA_INVARIANT_DIM] = dim_invariant;
    mach.isa[ISA_TILE32] =
        (isa_mix){.count = {[OP_INT] = 59, [OP_IMUL] = 23, [OP_IMUL_WIDE] = 16, [OP_BRANCH] = 7}, .ilp = 4};
    mach.isa[ISA_TILE64] =
        (isa_mix){.count = {[OP_INT] = 157, [OP_IMUL] = 39, [OP_IMUL_WIDE] = 23, [OP_BRANCH] = 28}, .ilp = 4};
    mach.isa[ISA_LOOP] = (isa_mix){.count = {[OP_INT] = 2}, .ilp = 1};
    return mach;
}

int64_t fixture_between(prng *g, int64_t lo, int64_t hi) {
    return lo + (int64_t)prng_below(g, (uint64_t)(hi - lo) + 1);
}

/* Strides of a random nesting of the dimensions: each is at least the extent of those inside. */
static void nest(prng *g, lmad *l, bool broadcasts) {
    uint32_t order[LMAD_RANK_MAX];
    for (uint32_t d = 0; d < l->rank; d++)
        order[d] = d;
    if (prng_below(g, 2))
        for (uint32_t d = l->rank; d > 1; d--) {
            uint32_t other = (uint32_t)prng_below(g, d), kept = order[d - 1];
            order[d - 1] = order[other];
            order[other] = kept;
        }
    bool gaps = prng_below(g, 2), reversals = prng_below(g, 2);
    int64_t extent = 1;
    for (uint32_t i = l->rank; i-- > 0;) {
        uint32_t d = order[i];
        int64_t size = l->size[d] > 0 ? l->size[d] : 1;
        int64_t stride = extent + (gaps ? fixture_between(g, 0, 2) : 0);
        if (broadcasts && prng_below(g, 8) == 0)
            stride = 0;
        else
            extent = stride * size;
        if (reversals && prng_below(g, 2)) {
            l->offset += stride * (size - 1);
            stride = -stride;
        }
        l->stride[d] = stride;
    }
    l->offset += fixture_between(g, 0, 5);
}

copy_desc fixture_copy(prng *g, uint32_t element_bytes, int64_t elements) {
    copy_desc c = {.element_bytes = element_bytes};
    c.src.rank = (uint32_t)prng_below(g, 10);
    int64_t left = elements;
    for (uint32_t d = 0; d < c.src.rank; d++) {
        int64_t most = left < 40 ? left : 40;
        c.src.size[d] = prng_below(g, 4) == 0 ? 1 : fixture_between(g, 1, most);
        left /= c.src.size[d];
    }
    if (c.src.rank && prng_below(g, 12) == 0)
        c.src.size[prng_below(g, c.src.rank)] = 0;
    c.dst = c.src;
    nest(g, &c.dst, false);
    if (prng_below(g, 4) == 0)
        c.src = c.dst;
    else
        nest(g, &c.src, true);
    return c;
}

copy_desc fixture_transpose(prng *g, uint32_t element_bytes, int64_t batches, int64_t rows, int64_t columns) {
    copy_desc c = {.element_bytes = element_bytes};
    bool gaps = rows > 1 && columns > 1 && prng_below(g, 3) == 0;
    lmad *row_major = &c.src, *other = &c.dst;
    int64_t inner = columns, outer = rows; /* of the side that the shape follows */
    if (prng_below(g, 2)) {
        row_major = &c.dst;
        other = &c.src;
        inner = rows;
        outer = columns;
    }
    *row_major = (lmad){.offset = fixture_between(g, 0, 9),
                        .rank = 3,
                        .size = {batches, outer, inner},
                        .stride = {outer * inner + (gaps ? fixture_between(g, 0, 7) : 0), inner, 1}};
    *other = (lmad){.offset = fixture_between(g, 0, 9),
                    .rank = 3,
                    .size = {batches, outer, inner},
                    .stride = {outer * inner + (gaps ? fixture_between(g, 0, 7) : 0), 1, outer}};
    return c;
}

copy_desc fixture_2d(int64_t n, int64_t m, int64_t dst0, int64_t dst1, int64_t src_offset, int64_t src0, int64_t src1) {
    return (copy_desc){.element_bytes = 4,
                       .src = {.offset = src_offset, .rank = 2, .size = {n, m}, .stride = {src0, src1}},
                       .dst = {.rank = 2, .size = {n, m}, .stride = {dst0, dst1}}};
}

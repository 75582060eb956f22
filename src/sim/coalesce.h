/* coalesce.h - one warp access becomes transactions, tag passes and data-bank passes.
 *
 * Rules (machine.h, coalesce_rule):
 *   half_warp_strict    NVIDIA CC 1.0/1.1 (CUDA programming guide): 16 lanes, lane k at element k of a block aligned to
 * 16 elements of 4, 8 or 16 bytes: one transaction (two for 16 bytes); else one of 32 bytes a lane. half_warp_segments
 * CC 1.2/1.3: per half warp, segments of 32/64/128 bytes, shrunk while only half is used. line128             Fermi,
 * cached: every touched line is fetched whole. sectors             Maxwell and later: every touched sector. amd_quad
 * RDNA/CDNA: every touched sector of the first level (whole or half lines). Passes: a data pass serves each bank once
 * (distinct words of one bank conflict, equal words do not); accesses of 8 bytes go by half warps, of 16 bytes by
 * quarter warps. A tag pass looks up its share of lines in each tag bank; which bank a line has is worked out from the
 * recorded A100 counters of RRZE-HPC/gpu-benches (tests/golden/gpu_strides_a100.csv): four banks, named by the line
 * number's base-4 digits added by XOR, give all 144 patterns to 2 % on average.
 */
#ifndef COALIGN_SIM_COALESCE_H
#define COALIGN_SIM_COALESCE_H

#include "kernel/address.h"
#include "machine/machine.h"
#include "sim/bytemask.h"

enum { TRANSACTIONS_MAX = 2 * WARP_WIDTH_MAX * 16 };

typedef struct transaction {
    uint64_t line; /* byte address of the line */
    bytemask mask; /* loads: bytes to fetch; stores: bytes to write */
} transaction;

typedef struct coalesced {
    uint32_t count;
    uint32_t data_passes;
    uint32_t tag_milli;    /* tag passes in thousandths */
    uint32_t cycles_milli; /* what the access occupies the unit for: max of both and of the register path's floor */
    uint32_t sectors;
    uint32_t useful_bytes; /* active lanes * width */
    transaction item[TRANSACTIONS_MAX];
} coalesced;

/* What the rule needs to know of the machine, worked out once. */
typedef struct coalescer {
    const lsu_desc *lsu;
    uint32_t warp_width, line_bytes, sector_bytes;
    /* The last access of each kind: copies repeat the same pattern, and only the pattern decides the passes. */
    int64_t last_stride;
    uint64_t last_mask;
    uint32_t last_phase, last_bytes, last_passes;
} coalescer;

void coalescer_init(coalescer *c, const machine *mach);
void coalesce(coalescer *c, const warp_access *a, uint32_t bytes, bool store, coalesced *out);

/* Passes over `banks` banks of `bank_bytes` that this access needs; *ideal: as few as its bytes allow. */
uint32_t bank_passes(const warp_access *a, uint32_t bytes, uint32_t warp_width, uint32_t banks, uint32_t bank_bytes,
                     uint32_t *ideal);

#endif

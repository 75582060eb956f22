/* address.h - the addresses of one warp access, lane by lane or as base + lane * stride. */
#ifndef COALIGN_KERNEL_ADDRESS_H
#define COALIGN_KERNEL_ADDRESS_H

#include "kernel/ir.h"

#include <stdbool.h>
#include <stdint.h>

enum { WARP_WIDTH_MAX = 64 };

/* The lanes of one warp access. Lanes of `mask` are active. affine: lane k is at base + k * stride; else at lane[k]. */
typedef struct warp_access {
    uint64_t mask;
    bool affine;
    int64_t base, stride;
    int64_t lane[WARP_WIDTH_MAX];
} warp_access;

/* Where a warp stands: lanes first_thread .. first_thread + width - 1 of block `block`, loop counters at loop[]. */
typedef struct warp_place {
    uint64_t block;
    uint32_t first_thread, width; /* width: lanes that exist, the last warp of a block may be partial */
    uint64_t loop[IR_LOOPS_MAX];
} warp_place;

/* Evaluates access a of kernel k. Never affine when lane_loop is set; the active lanes' addresses are the same. */
void address_warp(const kernel *k, const ir_access *a, const warp_place *place, bool lane_loop, warp_access *out);

/* Only the mask: which lanes are within the bounds of access a. */
uint64_t address_mask(const kernel *k, const ir_access *a, const warp_place *place);

/* One thread's address, the slow and obvious way (the reference for tests); false when it is out of bounds. */
bool address_thread(const kernel *k, const ir_access *a, uint64_t block, uint32_t thread,
                    const uint64_t loop[IR_LOOPS_MAX], int64_t *address);

#endif

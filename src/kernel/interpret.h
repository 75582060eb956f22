/* interpret.h - executes the data movement of a kernel on the host, to see that it moves what it should.
 *
 * Block after block; within a block all threads do one instruction before the next (so barriers cost nothing and hide
 * nothing: a shared load sees every shared store before it in the program). Only loads, stores and exit tests do
 * anything; storing a register that arithmetic produced, or that no load of this thread filled, is an error, except in
 * local memory, where spilled addresses go.
 */
#ifndef COALIGN_KERNEL_INTERPRET_H
#define COALIGN_KERNEL_INTERPRET_H

#include "kernel/ir.h"

/* Global memory: bytes base .. base + size - 1 live at data. stores (may be NULL) counts the stores to each byte, up to
 * 255. Regions must not overlap. */
typedef struct memory_region {
    int64_t base;
    uint64_t size;
    uint8_t *data;
    uint8_t *stores;
} memory_region;

/* warp_width: lanes that an exit test ends together. ERR_INTERNAL with the thread and the address where the kernel
 * leaves the regions or its shared memory or stores a register without data; ERR_MEMORY. */
status interpret(const kernel *k, uint32_t warp_width, const memory_region *regions, uint32_t region_count, message *m);

#endif

/* place.h - where the arrays of a simulated copy lie in memory. */
#ifndef COALIGN_CMD_PLACE_H
#define COALIGN_CMD_PLACE_H

#include "base/status.h"
#include "layout/lmad.h"

#include <stdbool.h>

/* Byte addresses of element offset 0, as a GPU allocator would place two large arrays: the source's lowest byte at
 * 4 GiB, the destination's at the next multiple of 2 MiB (the large page of current GPUs) after the source's end. Both
 * allocations hold offset 0, as arrays do whose slices begin further in. same_memory: both are views of one array,
 * whose lowest byte lies at 4 GiB and whose offset 0 they share. ERR_INPUT when that leaves the address space. */
status place_copy(const copy_desc *copy, bool same_memory, int64_t *src_base, int64_t *dst_base, message *m);

#endif

/* cpu_copy.h - the copy strategies as loops of CPU threads (internal to src/kernel: copy_kernel_build comes here for
 * CPUs).
 *
 *   strategy                  what a CPU does
 *   memcpy                    vectors as wide as the machine's, four a turn, what is left over by a last one that
 *                             overlaps; nontemporal: stores past the caches
 *   general                   one loop per dimension. As given: the last dimension is the innermost; sorted: the one
 * with the smallest stride. An innermost dimension of stride 1 on both sides moves vectors, and single elements at its
 * end, as compilers make it transpose_naive           two loops over the source's rows and columns other transpositions
 * tile 0: halves the longer side until both are at most 64, then two loops (Futhark's C run-time system; rows first
 * where both are equal), here with leaves of equal size; tile > 0: tiles of that side, in rows, two loops in each
 *
 * Per element or vector: load, store, an addition for each side's address, and per turn a compared and fused branch.
 * Each core takes an equal share of consecutive turns of the outermost loop. Registers, index variants and elements a
 * thread mean nothing here.
 */
#ifndef COALIGN_KERNEL_CPU_COPY_H
#define COALIGN_KERNEL_CPU_COPY_H

#include "kernel/copy_build.h"

/* Fills b->k. t: the shape, where the strategy is a transposition. */
status cpu_copy_build(copy_build *b, const copy_options *options, const transpose_shape *t);

#endif

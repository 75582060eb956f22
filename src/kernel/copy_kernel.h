/* copy_kernel.h - the copy strategies as kernels.
 *
 * A kernel is the instruction mixes of the machine's instruction set (machine.isa, from disassembly) plus the memory,
 * barrier and exit instructions that the builder adds itself. Mix + added = what the compiler emits in all:
 *
 *   strategy          mix                                                    added by the builder
 *   memcpy            flat                                                   exit test, load, store, EXIT; a load and a
 *                                                                            store more when there is a tail
 *   general, 64 bit   general64 + r * general64_dim                          exit test, load, store, EXIT
 *   general, 32 bit   general32 + r * general32_dim                          the same
 *   general,invariant invariant + r * invariant_dim                          the same
 *     j elements      + (j - 1) * (loop + r * ..._dim)                       exit test, j loads, j stores, EXIT
 *   default, unpadded tile32                                                 8 loads, 8 shared stores, barrier,
 *   large             tile64                                                 8 shared loads, 8 stores, EXIT
 *   low width/height  general32 + 2 * general32_dim                          load, shared store, barrier, shared load,
 *                                                                            store, EXIT
 *   small             general32 + 3 * general32_dim                          exit test, load, store, EXIT
 *   naive             general32 + 2 * general32_dim (64 bit past 32 bits)    exit test, load, store, EXIT
 *
 * The exit test is one OP_BRANCH (a predicated EXIT in SASS). So, with the 43 + 40 r instructions that nvcc 13.0 needs
 * for the general kernel on sm_80, general64 sums to 39 and general64_dim to 40; of the 139 of its 32-bit tile kernel,
 * tile32 sums to 105. A mix has no load, store, shared access, barrier or exit of its own (ERR_INPUT). general64_slow
 * takes the place of general64_dim in a dimension whose dividend or divisor can exceed 32 bits: compiled code tests
 * that per warp, here it holds for the dimension as a whole. The mixes of low width, low height, small and naive are
 * estimates by their number of divisions, one mix a division.
 *
 * Within a piece the classes are spread evenly and instruction i depends on instruction i - ilp (ilp at most 24), its
 * first ilp ones on the end of the piece before; a branch hands on what it depended on. Half of a fixed piece comes
 * before the exit test, half after it; where divisions stand between (low width and height), they do here too. A tile's
 * piece is spread over its loads and its stores to global memory.
 *
 * Registers per thread are estimates too: 24 for 64-bit indices, 20 for 32-bit, 16 invariant and flat, with 4 bytes of
 * data; more for wider data, and for every further element its data and two for its address.
 *
 * Shapes of the kernels are those of Futhark's run-time system (rts/c/copy.h, gpu.h, rts/cuda/{copy,transpose}.cl).
 * Where its grid would exceed 65535 blocks in y or z its kernels repeat; here blocks form one flat grid instead.
 */
#ifndef COALIGN_KERNEL_COPY_KERNEL_H
#define COALIGN_KERNEL_COPY_KERNEL_H

#include "kernel/ir.h"
#include "layout/plan.h"
#include "machine/machine.h"

/* Builds the kernel of one strategy in *k (to be freed with kernel_free, also after a failure). src_base and dst_base
 * are the byte addresses of element offset 0. An empty copy becomes a kernel of zero blocks, whatever the strategy.
 * ERR_INPUT when the strategy cannot do this copy, with the reason: plan_applicable's, singletons ignored. */
status copy_kernel_build(const machine *mach, const copy_desc *copy, const copy_options *options, int64_t src_base,
                         int64_t dst_base, kernel *k, message *m);

#endif

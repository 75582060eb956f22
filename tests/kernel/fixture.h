/* fixture.h - what the tests of this folder share. */
#ifndef COALIGN_TESTS_KERNEL_FIXTURE_H
#define COALIGN_TESTS_KERNEL_FIXTURE_H

#include "base/num.h"
#include "kernel/copy_kernel.h"

/* A core as on GA100 (CUDA C Programming Guide, table "Technical Specifications per Compute Capability"), with the
 * instruction mixes that nvcc 13.0 compiles for sm_80. */
machine fixture_machine(void);

/* Uniform in [lo, hi]. */
int64_t fixture_between(prng *g, int64_t lo, int64_t hi);

/* A random copy of at most `elements` elements; the destination's elements lie at different places, with gaps and
 * negative strides; the source's may coincide. Offsets make all addresses >= 0 with bases of 0. */
copy_desc fixture_copy(prng *g, uint32_t element_bytes, int64_t elements);

/* A random batched transposition, now and then with gaps between the batches (not of single rows or columns). */
copy_desc fixture_transpose(prng *g, uint32_t element_bytes, int64_t batches, int64_t rows, int64_t columns);

/* A copy of rank 2, for golden cases. */
copy_desc fixture_2d(int64_t n, int64_t m, int64_t dst0, int64_t dst1, int64_t src_offset, int64_t src0, int64_t src1);

#endif

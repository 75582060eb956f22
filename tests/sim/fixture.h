/* fixture.h - what the tests of this folder share: a small machine whose times are round numbers, and kernels by hand.
 */
#ifndef COALIGN_TESTS_SIM_FIXTURE_H
#define COALIGN_TESTS_SIM_FIXTURE_H

#include "base/num.h"
#include "kernel/copy_kernel.h"
#include "sim/sim.h"

/* One core of one scheduler, 1 GHz. L1 of a core: 4 KiB, 4 ways, 128 B lines of 32 B sectors, 20 cycles. L2: 64 KiB,
 * 8 ways, one slice, 100 cycles. DRAM: one channel, 300 cycles, a burst of 32 B a cycle, tRCD = tRP = 10, no refresh
 * within a test. Ports and links are wider than any test needs. Arithmetic: 4 cycles, every 2 cycles. A branch: 8. */
machine fixture_machine(void);

/* Takes the machine's last `count` levels away: from 2 levels to 1 (L1 only) or 0. */
void fixture_drop_levels(machine *mach, uint32_t count);

/* A kernel to be filled; free it with kernel_free. */
kernel fixture_kernel(uint64_t blocks, uint32_t block_threads);
void add_op(kernel *k, op_class op, uint8_t dst, uint8_t src);
/* A load or store of `bytes` a lane at base + thread * per_thread + block * per_block (+ turn * per_turn), for threads
 * of the grid whose flat number is below `limit` (0 = all). reg: destination of a load, source of a store. */
typedef struct place {
    int64_t base, per_thread, per_block, per_turn;
    int64_t limit;
} place;
void add_memory(kernel *k, op_class op, uint8_t reg, uint8_t address, uint32_t bytes, place at);
/* Ends warps whose flat thread numbers are all `limit` or more. */
void add_exit_test(kernel *k, int64_t limit);
/* Closes a loop over code[first ..] with its branch. */
void add_loop(kernel *k, uint32_t first, uint64_t trips);

/* Runs with the conservation laws checked; the test fails with the message when the run does. The kernel's EXIT is
 * added if it lacks one. */
sim_result fixture_run(const machine *mach, kernel *k);

/* Uniform in [lo, hi]. */
int64_t between(prng *g, int64_t lo, int64_t hi);

#endif

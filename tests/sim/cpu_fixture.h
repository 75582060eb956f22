/* cpu_fixture.h - a small CPU whose times are round numbers. */
#ifndef COALIGN_TESTS_SIM_CPU_FIXTURE_H
#define COALIGN_TESTS_SIM_CPU_FIXTURE_H

#include "sim/sim.h"

/* Two cores at 1 GHz, 4 instructions a cycle, a window of 64, 8 fill buffers. L1: 4 KiB, 4 ways, 64 B lines, 4 cycles.
 * L2: 32 KiB, 8 ways, 12 cycles. L3, shared: 256 KiB, 16 ways, 40 cycles. DRAM: one channel, 100 cycles, 64 B every 2
 * cycles, no row costs. One TLB of 16 pages of 4 KiB, frames as addresses; a walk reads one entry of 8 B, for the walk
 * caches hold everything above. No prefetcher. */
machine cpu_fixture_machine(void);

#endif

/* work.h - what a kernel asks of a machine: instructions, passes, transactions, counted from some of its warps.
 *
 * A grid of up to WORK_WARPS warps is counted whole. Of a larger one, WORK_WARPS warps are looked at, spread over the
 * grid by multiples of the golden ratio (Weyl's sequence: even, and in step with no power of two); of a loop that turns
 * often, some turns, spread likewise. Then `estimate` is the mean times the number, and `least` is what the whole can
 * hardly be below: 3.3 standard errors less, and a share of 7 / sample less for kinds of warps that the sample may have
 * missed altogether (none seen in n: with 99.9 % their share is below 7 / n). Counted whole, both are the exact count.
 *
 * The coalescing rule is the simulator's (sim/coalesce.h), applied to the warps' true addresses.
 */
#ifndef COALIGN_MODEL_WORK_H
#define COALIGN_MODEL_WORK_H

#include "base/status.h"
#include "kernel/ir.h"
#include "machine/machine.h"

#include <stdbool.h>
#include <stdint.h>

enum { WORK_WARPS = 2048 };

typedef struct work_count {
    double estimate, least;
} work_count;

/* Sums over the grid. [0] loads, [1] stores. Cycles are core cycles of one unit; divide by the units there are. */
typedef struct work {
    uint64_t warps, looked_at; /* of the grid; equal and not turns_sampled: counts are exact */
    bool turns_sampled;
    work_count full_warps; /* warps that no exit test ends early */
    work_count instructions;
    work_count op[OP_CLASS_COUNT];
    work_count pipe_cycles[PIPE_COUNT];
    work_count requests[2], lines[2], sectors[2], useful_bytes[2];
    work_count moved_bytes[2]; /* loads: of whole sectors as the rule fetches them; stores: as written */
    work_count bursts[2];      /* of DRAM that the transactions touch */
    work_count lsu_cycles;     /* data, tag and register passes */
    work_count shared_cycles;
    work_count store_link_cycles; /* of a core's request link */
    work_count load_port_cycles[MACHINE_LEVELS_MAX], store_port_cycles[MACHINE_LEVELS_MAX]; /* if all came here */
    uint32_t sectors_per_load;                                                              /* most of one request */
    uint32_t lines_per_load;
    double lsu_per_access, shared_per_access; /* cycles of one, most */
} work;

bool work_exact(const work *w);

/* *active, if not NULL, gets a flag for each instruction of k->code: a load with an active lane in every warp looked at
 * (mem_free it). ERR_MEMORY. The kernel passed ir_check. */
status work_of(const machine *mach, const kernel *k, work *w, bool **active, message *m);

#endif

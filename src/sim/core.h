/* core.h - one core (SM, CU): schedulers, warps, the load/store unit and the core's own first cache level.
 *
 * core_run simulates cycles [from, to) knowing all answers that arrive in them; what the core asks of the memory side
 * is appended to its outgoing requests in order of time. Issue is in order per warp, with a scoreboard; each scheduler
 * considers its warps in the policy's order every cycle in which anything can change and skips the rest. Every gap
 * between two issues of a warp is charged to the reasons in STALL_LIST, so that per warp
 *     issue cycles + all stalls = cycles from its launch to its release.
 */
#ifndef COALIGN_SIM_CORE_H
#define COALIGN_SIM_CORE_H

#include "kernel/address.h"
#include "sim/coalesce.h"
#include "sim/partition.h"
#include "sim/timeline.h"
#include "trace/recording.h"

typedef struct core_counters {
    uint64_t instructions[OP_CLASS_COUNT];
    uint64_t requests[2], requests_empty[2], lines[2], sectors[2], useful_bytes[2];
    uint64_t data_wavefronts[2], tag_wavefronts_milli[2], lsu_milli[2];
    uint64_t shared_requests[2], shared_wavefronts[2], shared_ideal_wavefronts[2], shared_bytes[2];
    uint64_t resident_cycles, issue_cycles, stall_cycles[STALL_COUNT];
    uint64_t scheduler_active_cycles, pipe_cycles[PIPE_COUNT];
    uint64_t warps, blocks;
    int64_t lsu_busy_ticks, shared_busy_cycles, link_busy_ticks, response_busy_ticks;
} core_counters;

typedef struct core core;

/* What issuing an instruction needs of it and of its timing, together. */
typedef struct core_inst {
    uint32_t latency_cycles, interval_cycles;
    uint8_t op, pipe, dst;
    uint8_t reason;                             /* stall_reason of those that wait for its result */
    uint8_t reg_count, reg[IR_SOURCES_MAX + 1]; /* registers that have to be ready: dst, then src; no zeros */
} core_inst;

/* k->code[] for this machine; mem_free it. */
status core_decode(const machine *mach, const kernel *k, core_inst **code, message *m);

/* What all cores of a run share, read-only. */
typedef struct core_shared {
    const machine *mach;
    const kernel *k;
    const core_inst *code; /* core_decode of k */
    bool lane_loop;
    timeline *line;     /* or NULL */
    uint32_t registers; /* scoreboard names of a warp: the kernel's highest + 1 */
    uint32_t warps_per_block, resident_blocks, cores;
    bool has_level;        /* mach->level[0] is the core's own */
    int64_t forward_ticks; /* from the first-level lookup to whoever takes the core's requests */
} core_shared;

/* id: within its cluster; number: among all cores. */
status core_new(const core_shared *shared, uint32_t id, uint32_t number, core **out, message *m);
void core_free(core *c);

/* Block `block` starts here at `cycle`; there must be room (core_room). recorded: what its warps do, which the core
 * frees; NULL: they run the kernel. */
bool core_launch(core *c, uint64_t block, recorded_block *recorded, int64_t cycle);
uint32_t core_room(const core *c);

/* An answer that the core can use from r->cycle on. */
bool core_deliver(core *c, const mem_response *r);

/* Simulates up to cycle `to`, exclusive. */
void core_run(core *c, int64_t to);

/* The next cycle in which anything happens without an answer from outside; TICK_NEVER if nothing does. */
int64_t core_next_event(const core *c);

/* What happened since they were last cleared: requests of the memory side, and the cycles at which blocks ended. */
request_list *core_requests(core *c);
const int64_t *core_finished(const core *c, uint32_t *count);
void core_clear_finished(core *c);

const core_counters *core_count(const core *c);
const level_counters *core_level_count(const core *c);
/* The last cycle in which something ended here. */
int64_t core_end(const core *c);
/* Set when memory ran out or an internal limit broke; the run must stop. */
const char *core_fault(const core *c);

#endif

/* cpu_core.h - one out-of-order core of a CPU with the caches, TLBs and prefetchers that it has for itself.
 *
 * It runs the threads of a kernel for CPUs: a block is one thread, its warp has one lane, and a lane's access may be as
 * wide as a vector register. Per cycle:
 *   - up to issue_width instructions enter the window (front end: loops and branches are followed as predicted; the
 * exit of a loop of more turns than the predictor can count costs mispredict_cycles), a load or store only when there
 * is room in the load queue or store buffer
 *   - an instruction executes when its operands are there and a port of its pipe is free, the oldest first
 *   - a load looks the TLB and the first level up; a miss takes a line-fill buffer, which is shared by all loads of the
 *     line; without a free one it waits. A load whose bytes an older store in the store buffer has takes them from
 * there
 *   - up to issue_width finished instructions leave the window, in order
 *   - stores that have left write the first level in order, up to store_ports a cycle to one line. They need the line
 * as its owner; lines of the stores behind the first are asked for ahead. Non-temporal stores gather in a fill buffer
 * instead, which is sent to memory when the line is whole, or when a buffer is needed A cycle in which nothing leaves
 * the window is charged to what its oldest instruction waits for: cycles with an instruction that left + all stalls =
 * cycles from the thread's start to its end.
 */
#ifndef COALIGN_SIM_CPU_CORE_H
#define COALIGN_SIM_CPU_CORE_H

#include "kernel/ir.h"
#include "sim/line_message.h"
#include "sim/sim.h"

typedef struct cpu_core_counters {
    uint64_t instructions[OP_CLASS_COUNT];
    uint64_t requests[2], requests_empty[2], lines[2], useful_bytes[2];
    uint64_t resident_cycles, leave_cycles, stall_cycles[STALL_COUNT];
    uint64_t pipe_cycles[PIPE_COUNT];
    uint64_t threads, blind_reads; /* of page tables, below the first level */
    int64_t first_busy_ticks, second_busy_ticks, link_busy_ticks;
    cpu_counters cpu;
} cpu_core_counters;

typedef struct cpu_core cpu_core;

/* Threads (blocks) first, first + step, ... of the kernel run here, one after the other. */
status cpu_core_new(const machine *mach, const kernel *k, uint32_t number, uint64_t first, uint64_t step,
                    cpu_core **out, message *m);
void cpu_core_free(cpu_core *c);

/* A message from the shared side, for the cycle in its time. False: not enough memory. */
bool cpu_core_deliver(cpu_core *c, const line_message *msg);
/* Simulates up to cycle `to`, exclusive. */
void cpu_core_run(cpu_core *c, int64_t to);
/* The next cycle in which anything happens without a message; TICK_NEVER. */
int64_t cpu_core_next_event(const cpu_core *c);
bool cpu_core_done(const cpu_core *c);

/* Messages to the shared side, per memory channel, in order of time; the reader advances `next`. */
message_list *cpu_core_out(cpu_core *c, uint32_t channel);

const cpu_core_counters *cpu_core_count(const cpu_core *c);
const level_counters *cpu_core_level(const cpu_core *c, uint32_t level);
/* Whether a level of this core has changed the line; and how many lines that holds for. */
bool cpu_core_dirty(const cpu_core *c, uint64_t line);
uint64_t cpu_core_dirty_lines(const cpu_core *c);
int64_t cpu_core_end(const cpu_core *c);
uint64_t cpu_core_retired(const cpu_core *c);
const char *cpu_core_fault(const cpu_core *c);

#endif

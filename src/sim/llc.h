/* llc.h - the shared side of a CPU behind one memory channel: its slices of the last-level cache, the directory of what
 * the cores hold, and the DRAM channel.
 *
 * (partition.h is the same place of a GPU. A GPU's level has sectors, byte masks and merging but neither owners nor
 * victims; a CPU's has it the other way round.)
 *
 * The directory is exact: cores tell of every line that they drop. A line has one owner, who may write it, or any
 * number of sharers. A request that needs the line out of other cores sends them probes and goes on when all have
 * answered; what arrives for that line meanwhile waits its turn (the protocol is MESI with a blocking directory: Sorin,
 * Hill and Wood, "A Primer on Memory Consistency and Cache Coherence", ch. 8). Messages between a core and a channel
 * stay in order. Requests that find the DRAM's write queue full wait, and what comes behind them too.
 */
#ifndef COALIGN_SIM_LLC_H
#define COALIGN_SIM_LLC_H

#include "sim/cache.h"
#include "sim/dram.h"
#include "sim/line_message.h"
#include "sim/linemap.h"
#include "sim/sim.h"

typedef struct llc_slice {
    cache tags;
    uint64_t *line; /* per slot: the physical line number */
    int64_t port_free, busy;
    uint32_t in_flight; /* reads of DRAM for this slice */
} llc_slice;

typedef struct llc_waiting { /* a message whose line is busy */
    line_message message;
    int32_t next;
} llc_waiting;

typedef struct llc_work { /* a request, or an eviction, that waits for probes or DRAM */
    line_message request;
    uint64_t local;
    int64_t ready; /* tick at which everything so far was there */
    uint32_t probes;
    bool eviction, has_data, dirty, from_dram, missed;
    int32_t first_waiting, last_waiting;
    int32_t next_free;
} llc_work;

typedef struct llc {
    const machine *mach;
    uint32_t id, line_bytes, line_shift, slices;
    const cache_level *desc; /* NULL: no shared cache */
    llc_slice *slice;
    dram_channel dram;
    linemap directory;
    llc_work *work;
    size_t work_count, work_capacity;
    int32_t work_free;
    llc_waiting *waiting;
    size_t waiting_count, waiting_capacity;
    int32_t waiting_free;
    message_list *out;                                      /* per core */
    int64_t forward, backward, dram_forward, dram_backward; /* ticks: from a core, to it; to DRAM and back */
    int64_t bus;                                            /* ticks that an answer without DRAM waits; see llc.c */
    uint64_t per_byte;
    level_counters count;
    uint64_t read_requests, write_requests, invalidations, downgrades, back_invalidations;
    int64_t last_write;
    const char *fault;
} llc;

status llc_init(llc *x, const machine *mach, uint32_t id, message *m);
void llc_free(llc *x);

/* Handles one message; its time is not before that of the last one. */
void llc_message(llc *x, const line_message *msg);
/* Lets DRAM go on up to `tick` (exclusive). */
void llc_advance(llc *x, int64_t tick);
/* Nothing waits for DRAM or for probes. */
bool llc_quiet(const llc *x);
void llc_drain(llc *x);

/* One way from a core to the shared side, in ticks, and the shortest round trip in cycles. */
int64_t llc_forward_ticks(const machine *mach);
uint32_t llc_round_trip_cycles(const machine *mach);

#endif

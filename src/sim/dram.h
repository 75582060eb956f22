/* dram.h - one DRAM channel: banks with row buffers, a data bus, reads first and writes in batches.
 *
 * The controller looks at the oldest `read_queue` reads (or, while it drains, writes), takes the oldest row hit, else
 * the request that can start first (FR-FCFS: Rixner et al., ISCA 2000); but a request that has been the oldest for
 * DRAM_STARVE_CYCLES goes before any. Activates are issued as early as their bank, tRRD and tFAW allow, also while the
 * bus is busy. Writes gather until `write_queue_high` of them wait, or nothing else is to do, and leave down to
 * `write_queue_low`; each change of direction costs tWTR or tRTW. Refresh closes all rows every tREFI for tRFC.
 */
#ifndef COALIGN_SIM_DRAM_H
#define COALIGN_SIM_DRAM_H

#include "base/status.h"
#include "machine/machine.h"
#include "sim/bytemask.h"

#include <stdbool.h>
#include <stdint.h>

enum { DRAM_STARVE_CYCLES = 4000, DRAM_NO_REQUESTER = -1 };

typedef struct dram_request {
    int64_t arrival; /* tick at which it reaches the controller */
    uint64_t row;    /* row number within its bank */
    uint32_t bank, bursts;
    int32_t requester; /* the owner's: whom to tell; DRAM_NO_REQUESTER for writes and read-modify-write fetches */
    bytemask mask;
} dram_request;

typedef struct dram_bank {
    int64_t open_row;    /* -1 = closed */
    int64_t column_ok;   /* first column command to the open row */
    int64_t activate_ok; /* an activate (after precharge) may be issued */
    int64_t activated;
} dram_bank;

typedef struct dram_queue {
    int64_t oldest_since; /* tick at which item[0] became the oldest */
    dram_request *item;
    uint32_t count, capacity;
} dram_queue;

typedef struct dram_channel {
    const dram_desc *desc;
    dram_bank *bank;
    dram_queue reads, writes;
    int64_t bus_free, last_activate, activates[4];
    int64_t next_refresh, read_after; /* read_after: tWTR */
    uint32_t activate_index;
    bool draining, last_was_write;
    int64_t burst, rcd, rp, ras, rrd, faw, wr, wtr, rtw, refi, rfc; /* ticks */
    uint32_t row_bursts;
    uint64_t read_requests, write_requests, read_bursts, write_bursts, row_hits, row_misses, turnarounds, refreshes;
    int64_t busy, blocked; /* ticks: bus moved data; bus moved data or could not for turnaround, refresh or activates */
} dram_channel;

status dram_init(dram_channel *d, const machine *mach, message *m);
void dram_free(dram_channel *d);

/* Bytes `mask` of the line at channel-local byte address `local` are wanted; they arrive at the controller at
 * `arrival`. The answer comes from a later dram_step. Capacity is the callers' MSHRs. False: out of memory. */
bool dram_read(dram_channel *d, uint64_t local, bytemask mask, int64_t arrival, int32_t requester);
/* True when the write queue takes no more: call dram_step until it does. */
bool dram_write_full(const dram_channel *d);
bool dram_write(dram_channel *d, uint64_t local, bytemask mask, int64_t arrival);

/* Makes the next decision if it falls before `limit`; false when there is none. If it was a read with a requester,
 * fills *requester, *mask and *done (tick of its last data); otherwise *requester = DRAM_NO_REQUESTER. */
bool dram_step(dram_channel *d, int64_t limit, int32_t *requester, bytemask *mask, int64_t *done);

/* When the last decided transfer ends. */
static inline int64_t dram_busy_until(const dram_channel *d) {
    return d->bus_free;
}

#endif

/* sim.h - the timed simulation of one kernel on one machine.
 *
 * Counts are exact for the modelled machine. Time is an integer number of core cycles. The same machine, kernel and
 * options give the same bits whatever the number of host threads. Memory use depends on the machine, never on the
 * number of blocks or elements.
 */
#ifndef COALIGN_SIM_SIM_H
#define COALIGN_SIM_SIM_H

#include "base/status.h"
#include "kernel/ir.h"
#include "machine/machine.h"
#include "sim/timeline.h"
#include "trace/recording.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct sim_options {
    uint32_t threads;  /* host threads, >= 1 */
    bool lane_loop;    /* expand every access lane by lane instead of the affine shortcut (same result, slower) */
    bool sample;       /* stop when the run is steady and extrapolate (sample.h); runs to the end if it never is */
    recording *source; /* its warps run instead of the kernel's code, and k is its; NULL = none. Not sampled. */
    timeline *line;    /* filled with what one warp does; NULL = none */
    bool check;        /* verify the conservation laws at the end; a breach is ERR_INTERNAL */
    /* Called about ten times a second with blocks finished and in all; a non-zero return interrupts. NULL = none. */
    int (*progress)(void *context, uint64_t done, uint64_t total);
    void *progress_context;
} sim_options;

/* Traffic of one cache level, summed over its instances. A "sector" is this level's sector size, a "request" one line
 * of one access. Reads: requested = hit + miss + pending (merged with a miss under way). */
typedef struct level_counters {
    uint64_t read_requests, write_requests;
    uint64_t read_sectors, read_hit_sectors, read_pending_sectors, read_miss_sectors;
    uint64_t write_sectors;        /* sectors touched by stores that arrive here */
    uint64_t write_hit_sectors;    /* of those, the line was present (our definition) */
    uint64_t write_nofill_sectors; /* of those, needed no fill: hits by NVIDIA's definition (cases.md 12) */
    uint64_t fill_sectors;         /* sectors fetched from below */
    uint64_t down_read_requests, down_read_bytes;           /* sent to the next level or DRAM */
    uint64_t down_write_requests, down_write_bytes;         /* bytes under the byte mask */
    uint64_t cold_allocations;                              /* lines placed in an empty way */
    uint64_t evictions, dirty_evictions, partial_evictions; /* lines; partial: not every byte of a dirty sector */
    uint64_t mshr_full_events;
    uint64_t prefetches;        /* lines that this level's prefetchers asked for (CPUs) */
    uint64_t prefetch_useful;   /* of those, asked for by the program later, also while still on their way */
    uint64_t prefetch_useless;  /* of those, dropped before anyone asked */
    uint64_t taken_lines;       /* reads that another core's private cache answered (shared level of a CPU) */
    double busy_max, busy_mean; /* share of the run in which the busiest / an average instance's port was taken */
    double busy_peak;           /* the same for whichever instance is the busiest at the time: hot spots that move */
} level_counters;

typedef struct dram_counters {
    uint64_t read_requests, write_requests;
    uint64_t read_bytes, write_bytes; /* on the bus, in whole bursts */
    uint64_t row_hits, row_misses;    /* per request (line) */
    uint64_t turnarounds, refreshes;
    double busy_max, busy_mean; /* share of the run in which the data bus moved data */
    double blocked_max;         /* busiest channel: share in which it moved data, turned round, activated or
                                   refreshed, that is, could not have served more of this stream */
    double blocked_peak;        /* the same for whichever channel is the busiest at the time */
} dram_counters;

/* What only CPUs count. */
typedef struct cpu_counters {
    uint64_t cores; /* that had work */
    uint64_t tlb_requests, tlb_second_hits, page_walks, walk_reads;
    uint64_t ownership_requests; /* lines that the first level asked for to write them */
    uint64_t invalidations;      /* lines taken from a core's caches because another core wants to write them */
    uint64_t downgrades;         /* lines that a core may no longer write because another core reads them */
    uint64_t back_invalidations; /* lines taken because an inclusive shared level dropped them */
    uint64_t mispredicted;       /* branches */
    uint64_t forwarded;          /* loads that a store still in the store buffer answered */
    uint64_t streamed_lines, streamed_partial; /* non-temporal stores: buffers sent; of those, not a whole line */
    uint64_t fill_full_cycles;                 /* core cycles in which no line-fill buffer was free */
    uint64_t dirty_left;                       /* lines still in some cache at the end that memory does not have yet */
} cpu_counters;

/* Everything that can limit a run. X(id, name in reports) */
#define LIMIT_LIST(X)                                                                                                  \
    X(LIMIT_ISSUE, "issue")   /* a scheduler's issue slots or the pipe that its instructions need */                   \
    X(LIMIT_LSU, "lsu")       /* data-bank or tag passes of the first level */                                         \
    X(LIMIT_SHARED, "shared") /* shared-memory passes */                                                               \
    X(LIMIT_LEVEL, "cache")   /* the port of a cache level: see limiter_level */                                       \
    X(LIMIT_FABRIC, "fabric")                                                                                          \
    X(LIMIT_DRAM, "dram")                                                                                              \
    X(LIMIT_FILL, "fill buffers") /* line-fill buffers of a CPU core: latency, at the most lines in flight */          \
    X(LIMIT_DISPATCH, "dispatch") /* starting blocks */                                                                \
    X(LIMIT_LATENCY, "latency")   /* nothing is busy: too few requests in flight */

typedef enum limit_kind {
#define X(id, name) id,
    LIMIT_LIST(X)
#undef X
        LIMIT_COUNT
} limit_kind;

typedef struct limiter {
    limit_kind kind;
    uint32_t level;     /* LIMIT_LEVEL: which */
    double utilisation; /* 0..1 of its capacity, busiest instance */
} limiter;

typedef struct sim_result {
    uint64_t cycles;           /* from the first block's start to the last write's arrival */
    double time_s;             /* cycles / clock + launch overhead */
    double time_half_s;        /* half width of the 95 % confidence interval of time_s; 0 when all was simulated */
    uint64_t simulated_blocks; /* fewer than `blocks`: sampled, and every count below is scaled by blocks / this */
    uint64_t blocks, warps;
    uint64_t instructions[OP_CLASS_COUNT]; /* warp instructions issued */

    /* [0] loads, [1] stores; global and local memory at the first level */
    uint64_t requests[2];       /* warp instructions with at least one active lane */
    uint64_t requests_empty[2]; /* with none */
    uint64_t lines[2];          /* tags looked up */
    uint64_t sectors[2];
    uint64_t useful_bytes[2];         /* active lanes * width */
    uint64_t data_wavefronts[2];      /* data-bank passes */
    uint64_t tag_wavefronts_milli[2]; /* tag passes, in thousandths */
    uint64_t lsu_cycles[2];           /* max(data, tag, floor) passes */
    /* [0] loads, [1] stores; shared memory */
    uint64_t shared_requests[2], shared_wavefronts[2], shared_ideal_wavefronts[2], shared_bytes[2];

    uint32_t level_count;
    level_counters level[MACHINE_LEVELS_MAX];
    dram_counters dram;
    cpu_counters cpu; /* all 0 on GPUs */

    uint32_t resident_blocks; /* per core, theoretical */
    uint32_t resident_warps;
    const char *occupancy_limit;        /* "warps", "blocks", "registers", "shared memory" */
    uint64_t resident_cycles;           /* warp-cycles: summed over warps, start to end */
    uint64_t issue_cycles;              /* of those, the warp issued (Nsight: "selected") */
    uint64_t stall_cycles[STALL_COUNT]; /* issue + all stalls = resident, exactly */
    uint64_t scheduler_active_cycles;   /* scheduler-cycles with at least one issue */
    double achieved_occupancy;          /* resident warps over the maximum, averaged over time and cores */
    double pipe_busy[PIPE_COUNT];       /* mean over schedulers */

    limiter limit[2];  /* the limiter and the runner-up */
    uint64_t checksum; /* of every counter above: equal bits, equal checksum */
} sim_result;

/* OK, ERR_INPUT (the kernel does not fit the machine: message says which resource), ERR_MEMORY, ERR_INTERRUPTED. */
status sim_run(const machine *mach, const kernel *k, const sim_options *options, sim_result *result, message *m);

#endif

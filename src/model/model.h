/* model.h - lower bounds on the time of a kernel, in closed form: a simulation never takes less.
 *
 * Every bound is work that cannot be avoided over the capacity of the part that does it. Work is counted from the
 * kernel's code and addresses (work.h); what has to come from memory at least once is the footprint of its arrays
 * (footprint.h). Nothing is assumed of hit rates: caches may serve every repeated access, and every part may be busy
 * all the time and evenly. Latency bounds are Little's law: a part that holds n things for t cycles each finishes at
 * most n / t in a cycle. A kernel is taken to use what it loads: the time of loads that nobody waits for is no bound.
 *
 *   issue      issue slots of the schedulers                 instructions / (schedulers x width)
 *   pipe       the busiest execution pipe of a scheduler     issue intervals of its instructions
 *   lsu        load/store unit of the first level            data, tag and register passes
 *   shared     shared memory                                 passes over its banks
 *   requests   link from a core                              a cycle a load request, bytes of stores
 *   answers    link to a core                                bytes of loads, the footprint where the core has a cache
 *   port       a cache level's slices                        reads, fills, stores, evictions of what cannot stay
 *   misses     a cache level's MSHRs                         lines of the footprint x time to DRAM
 *   stores     store credits of a core                       store transactions x time to the memory side and back
 *   dram       data bus, less refresh                        footprint; of stores what cannot stay in the caches
 *   dispatch   starting blocks
 *   latency    resident blocks                               the shortest time of a warp (warp_time.h)
 */
#ifndef COALIGN_MODEL_MODEL_H
#define COALIGN_MODEL_MODEL_H

#include "base/status.h"
#include "kernel/ir.h"
#include "kernel/occupancy.h"
#include "layout/lmad.h"
#include "machine/machine.h"
#include "model/work.h"

#include <stdbool.h>
#include <stdint.h>

#define BOUND_LIST(X)                                                                                                  \
    X(BOUND_ISSUE, "issue")                                                                                            \
    X(BOUND_PIPE, "pipe")                                                                                              \
    X(BOUND_LSU, "lsu")                                                                                                \
    X(BOUND_SHARED, "shared")                                                                                          \
    X(BOUND_REQUESTS, "requests")                                                                                      \
    X(BOUND_ANSWERS, "answers")                                                                                        \
    X(BOUND_PORT, "port")                                                                                              \
    X(BOUND_MISSES, "misses")                                                                                          \
    X(BOUND_STORES, "stores")                                                                                          \
    X(BOUND_DRAM, "dram")                                                                                              \
    X(BOUND_DISPATCH, "dispatch")                                                                                      \
    X(BOUND_LATENCY, "latency")

typedef enum bound_kind {
#define X(id, name) id,
    BOUND_LIST(X)
#undef X
        BOUND_KIND_COUNT
} bound_kind;

enum { BOUNDS_MAX = BOUND_KIND_COUNT + 2 * MACHINE_LEVELS_MAX, MODEL_ARRAYS_MAX = 8 };

typedef struct bound {
    bound_kind kind;
    uint32_t index; /* pipe: which; port, misses: which level */
    double cycles;  /* of the core clock: no run takes less */
} bound;

/* An array that the kernel reads or writes whole. */
typedef struct model_array {
    bool store;
    uint32_t element_bytes;
    lmad layout;
    int64_t base; /* byte address of element offset 0 */
} model_array;

/* One level as a roof: what it can move, and what at least it has to. Level 0 is the load/store unit, then the levels
 * beyond a core, then DRAM. */
typedef struct roof {
    const char *name; /* the machine's or a constant */
    double bytes_per_s;
    double bytes;
} roof;

typedef struct model {
    work work;
    occupancy_result occupancy;
    uint32_t bound_count;
    bound bound[BOUNDS_MAX];    /* longest first */
    double cycles, time_s;      /* the longest, and with the launch overhead */
    uint64_t useful_bytes;      /* that the user asked for */
    double dram_bytes[2];       /* read, written: at least */
    uint64_t warp_cycles;       /* a warp's shortest time when everything it loads comes from DRAM */
    double flight_needed_bytes; /* Little's law: DRAM bandwidth x DRAM latency */
    double flight_bytes;        /* that the resident warps have under way, by that shortest time */
    uint32_t roof_count;
    roof roof[MACHINE_LEVELS_MAX + 2];
    double peak_insts_per_s; /* warp instructions, all schedulers */
    bool whole;              /* counted whole: the bounds are exact, not from a sample */
} model;

const char *bound_kind_name(bound_kind k);
/* "L2 port", "alu pipe", "DRAM". Returns buffer. */
char *bound_label(char *buffer, size_t size, const machine *mach, const bound *b);

/* A kernel without arrays: those that its unbounded accesses without division describe are found by itself.
 * ERR_INPUT: the kernel does not fit the machine; ERR_MEMORY. An empty kernel has no bounds. */
status model_of(const machine *mach, const kernel *k, const model_array *arrays, uint32_t array_count, model *out,
                message *m);

/* The bound of this kind (index any), NULL when there is none. */
const bound *model_bound(const model *b, bound_kind kind);

#endif

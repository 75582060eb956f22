/* timeline.h - what one warp did and when: each instruction that it issued, what it had waited for, when its result was
 * there. For pictures and tests; the simulation is the same with and without. */
#ifndef COALIGN_SIM_TIMELINE_H
#define COALIGN_SIM_TIMELINE_H

#include "machine/opclass.h"

#include <stdint.h>

typedef struct timeline_event {
    int64_t cycle;               /* of the issue */
    int64_t ready;               /* when its result can be used; -1: it has none, or it never came */
    uint32_t pc;                 /* kernel.code[pc] */
    uint32_t stall[STALL_COUNT]; /* cycles since the warp's issue before, by reason */
} timeline_event;

/* The caller names the warp and gives the room; the run fills it. What does not fit is left out. */
typedef struct timeline {
    uint64_t block;
    uint32_t warp; /* of the block, from 0 */
    timeline_event *event;
    uint32_t capacity, count;
} timeline;

#endif

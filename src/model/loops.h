/* loops.h - finding the loops of a kernel while walking its code (internal to src/model). */
#ifndef COALIGN_MODEL_LOOPS_H
#define COALIGN_MODEL_LOOPS_H

#include "kernel/ir.h"

/* The outermost loop, of those deeper than `depth` (-1: any), that begins at this instruction; IR_NONE. */
static inline uint32_t loop_at(const kernel *k, uint32_t at, int64_t depth) {
    uint32_t found = IR_NONE;
    for (uint32_t i = 0; i < k->loop_count; i++)
        if (k->loops[i].first == at && (int64_t)k->loops[i].depth > depth &&
            (found == IR_NONE || k->loops[i].depth < k->loops[found].depth))
            found = i;
    return found;
}

#endif

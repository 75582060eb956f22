/* move.h - what would move the bound that binds: one change to the kernel, and what binds then. */
#ifndef COALIGN_MODEL_MOVE_H
#define COALIGN_MODEL_MOVE_H

#include "model/model.h"

typedef enum move_kind {
    MOVE_NONE,         /* only fewer useful bytes, or another machine */
    MOVE_INSTRUCTIONS, /* half of them */
    MOVE_COALESCE,     /* accesses that touch no more sectors than their bytes fill */
    MOVE_BANKS,        /* shared memory without bank conflicts */
    MOVE_WASTE,        /* DRAM moves no byte that nobody asked for */
    MOVE_CONCURRENCY,  /* twice the warps, or the independent loads of a warp */
    MOVE_BLOCKS,       /* twice the work of a block */
} move_kind;

typedef struct move {
    move_kind kind;
    double factor; /* by which the work of the parts concerned shrinks */
    double cycles; /* the longest bound then */
    bound next;    /* which */
} move;

move model_move(const machine *mach, const model *b);

#endif

/* recording.h - recorded kernels for the timed engine: one thread block at a time in memory, its instructions as steps
 * through a table of the different ones.
 *
 * The table is the code of a kernel (kernel/ir.h) that has no order of its own. Each register of 32 bits is a name of
 * the scoreboard; those that one instruction writes together share a name. Pairs that SASS does not print (addresses,
 * doubles) and vectors count whole. UR0 .. UR62 are named like R254 .. R192, which few kernels use.
 *
 * An EXIT that is not a warp's last instruction costs its time as a branch, as does a predicated-off barrier. Warps
 * without instructions are never there. Atomics count as the load, or without a result the store, that they contain.
 */
#ifndef COALIGN_TRACE_RECORDING_H
#define COALIGN_TRACE_RECORDING_H

#include "base/intern.h"
#include "trace/warp_stream.h"

typedef struct recorded_step {
    uint32_t inst;   /* kernel.code[] */
    uint32_t access; /* recorded_block.word[]: its lanes, if it accesses memory */
} recorded_step;

typedef struct recorded_warp {
    uint64_t first, steps; /* recorded_block.step[]; steps 0: the warp is not there */
} recorded_warp;

typedef struct recorded_block {
    recorded_warp *warp; /* [recording.warps] */
    recorded_step *step;
    int64_t *word;
    size_t step_count, step_capacity, word_count, word_capacity;
} recorded_block;

typedef struct recording {
    warp_stream *stream; /* the caller's */
    warp_event event;
    kernel k;       /* of the kernel under way; blocks: of its grid, and once all were read, as many as there were */
    uint32_t warps; /* of a block */
    uint64_t instructions;   /* warp instructions read */
    uint64_t exits_added;    /* warps whose last instruction was no EXIT: one was added */
    uint64_t unknown;        /* instructions with an opcode that the table lacks */
    char unknown_opcode[32]; /* the first */
    intern_table known;
    bool in_kernel;
} recording;

void recording_init(recording *r, warp_stream *stream);
void recording_free(recording *r);

/* Goes to the next kernel, past what is left of the one before; *any false: there is none. Errors as the stream's. */
status recording_next_kernel(recording *r, bool *any, message *m);

/* The kernel's next block, in order of the trace; NULL after the last. Free with recorded_block_free. */
status recording_next_block(recording *r, recorded_block **block, message *m);
void recorded_block_free(recorded_block *b);

/* The lanes of a step. Local memory: bytes from the begin of the thread's own. */
void recorded_access(const recorded_block *b, uint32_t access, warp_access *out);

#endif

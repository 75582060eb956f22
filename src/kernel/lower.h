/* lower.h - a loop body as the instructions of a GPU: what a compiler would make of it, so that it can be simulated.
 *
 * Assumptions, all of them:
 * - Statements keep their order, expressions are evaluated depth first, operands left to right ("as written"), unless
 *   the list scheduler is asked for. a * b + c is one instruction. Division, square root, exp, log take the instruction
 *   counts that the machine's compiler emits for them (machine.isa).
 * - An address that advances with a loop lives in a register of its own, or a pair for global memory, set before the
 *   loop and advanced at its end by an add, or two; accesses to an array that differ by a constant share it, the
 *   constant is an immediate. What depends on threads and blocks only is computed once, at the start. Quotients and
 *   remainders of a loop counter are computed where they are used. Kernel arguments are operands and cost nothing.
 * - A loop costs its counter's add and compare, and a branch. Only innermost loops are unrolled.
 * - Two loads of one address are one load until something is stored: to any global array, as pointers may be equal, or
 *   with no_alias to the same array.
 * - Both sides of an if are executed, predicated (up to 8 instructions) or between branches. Conditions on threads,
 *   blocks and loop counters switch lanes off exactly; of those that depend on data every lane takes both sides. A
 *   condition around the whole body ends warps that it leaves no lane.
 * - A subscript that depends on data is pseudo-random within its extent, and the same where the same element was read,
 * as far as that element's number is a plain sum; where it is a quotient or remainder, every thread and turn differs.
 * - Local arrays with at most 64 elements whose subscripts are all constants are registers. Zeroing shared and local
 *   arrays costs nothing.
 * - Registers are given by live ranges, first fit; 8-byte values and addresses take an even pair. Values beyond the
 *   limit live in local memory: a store behind each definition, a load before each use.
 */
#ifndef COALIGN_KERNEL_LOWER_H
#define COALIGN_KERNEL_LOWER_H

#include "kernel/body.h"
#include "kernel/ir.h"
#include "machine/machine.h"

enum {
    LOWER_UNROLL_MAX = 64,
    LOWER_WINDOW_MAX = 1024,
    LOWER_REGISTERS_MAX = 248, /* seven of the 255 names of the IR are the predicates' */
    LOWER_CODE_MAX = 1 << 20,  /* instructions */
};

typedef struct lower_options {
    uint32_t unroll;        /* turns of an innermost loop that are written out; 0 and 1: none */
    uint32_t vector;        /* 2 or 4: neighbouring turns share accesses where the layout allows; 0 and 1: no */
    uint32_t window;        /* instructions among which the list scheduler chooses; 0: as written */
    bool no_alias;          /* different arrays are different memory (restrict) */
    uint32_t max_registers; /* per thread; 0: the machine's limit */
    uint32_t min_blocks;    /* that a core must hold (launch bound); 0: any */
} lower_options;

/* X(enumerator, in words) */
#define LOWER_ORIGIN_LIST(X)                                                                                           \
    X(ORIGIN_VALUE, "value")                                                                                           \
    X(ORIGIN_ADDRESS, "address")                                                                                       \
    X(ORIGIN_LOOP, "loop")                                                                                             \
    X(ORIGIN_CONDITION, "condition")                                                                                   \
    X(ORIGIN_SPILL, "spill")

typedef enum lower_origin {
#define X(id, words) id,
    LOWER_ORIGIN_LIST(X)
#undef X
} lower_origin;

/* What an instruction is for. */
typedef struct lower_note {
    lower_origin origin;
    int32_t line;            /* of the body's text; 0: none */
    const body_array *array; /* of an access to one; NULL */
} lower_note;

typedef struct lowered {
    kernel k;
    lower_note *note;                   /* [k.code_count]; arrays are the body's */
    uint32_t spilled;                   /* values that live in local memory */
    uint32_t spill_loads, spill_stores; /* instructions in the code for them */
    uint32_t local_bytes;               /* per thread: spills and local arrays */
    uint32_t register_limit;            /* that the allocation kept to */
    uint32_t scattered;                 /* accesses whose address depends on data */
} lowered;

const char *lower_origin_name(lower_origin o);

/* Fills *out (free with lowered_free, also after a failure). name: of the kernel. Global arrays lie at 4 GiB, each at a
 * multiple of 2 MiB. ERR_INPUT with "line:column: ", for what the IR cannot say: a subscript that is no closed form,
 * more than IR_LOOPS_MAX loops around each other, an operation that the machine does not describe, code without end.
 * ERR_MEMORY. */
status lower(const machine *mach, const body *b, const char *name, const lower_options *o, lowered *out, message *m);
void lowered_free(lowered *l);

#endif

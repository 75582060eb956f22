/* opclass.h - the latency classes of warp instructions, the pipes that execute them, and the reasons a warp stalls. */
#ifndef COALIGN_MACHINE_OPCLASS_H
#define COALIGN_MACHINE_OPCLASS_H

/* X(enumerator, name in model files and reports, what it stands for) */
#define OP_CLASS_LIST(X)                                                                                               \
    X(OP_INT, "int", "integer add, logic, shift, compare, select, move")                                               \
    X(OP_IMUL, "imul", "32-bit integer multiply, low result, with or without add")                                     \
    X(OP_IMUL_HI, "imul_hi", "32-bit integer multiply, high result")                                                   \
    X(OP_IMUL_WIDE, "imul_wide", "32 x 32 -> 64-bit multiply-add")                                                     \
    X(OP_FP32, "fp32", "single-precision add, multiply, fused multiply-add")                                           \
    X(OP_FP64, "fp64", "double-precision add, multiply, fused multiply-add")                                           \
    X(OP_SFU, "sfu", "reciprocal, square root, exponential, logarithm, sine")                                          \
    X(OP_CONVERT, "convert", "conversion between integer and floating point")                                          \
    X(OP_SCALAR, "scalar", "uniform (scalar) arithmetic, constant operands, scheduling hints")                         \
    X(OP_CONST_LOAD, "const_load", "load of kernel arguments through the constant or scalar cache, a hit")             \
    X(OP_BRANCH, "branch", "branch, convergence and loop instructions")                                                \
    X(OP_BARRIER, "barrier", "block-wide barrier")                                                                     \
    X(OP_LOAD, "load", "load from global or local memory")                                                             \
    X(OP_STORE, "store", "store to global or local memory")                                                            \
    X(OP_SHARED_LOAD, "shared_load", "load from shared memory")                                                        \
    X(OP_SHARED_STORE, "shared_store", "store to shared memory")                                                       \
    X(OP_EXIT, "exit", "end of the warp")

typedef enum op_class {
#define X(id, name, what) id,
    OP_CLASS_LIST(X)
#undef X
        OP_CLASS_COUNT
} op_class;

/* Execution pipes of one scheduler. Where a scheduler may issue several instructions in a cycle (RDNA), they go to
 * different pipes and come from different warps. */
#define PIPE_LIST(X)                                                                                                   \
    X(PIPE_ALU, "alu")                                                                                                 \
    X(PIPE_FMA, "fma")                                                                                                 \
    X(PIPE_FP64, "fp64")                                                                                               \
    X(PIPE_SFU, "sfu")                                                                                                 \
    X(PIPE_SCALAR, "scalar")                                                                                           \
    X(PIPE_BRANCH, "branch")                                                                                           \
    X(PIPE_MEMORY, "memory")

typedef enum pipe_id {
#define X(id, name) id,
    PIPE_LIST(X)
#undef X
        PIPE_COUNT
} pipe_id;

/* X(enumerator, Nsight Compute's metric suffix, Nsight Compute's label). Meanings as in the Nsight Compute guide. */
#define STALL_LIST(X)                                                                                                  \
    X(STALL_LONG_SCOREBOARD, "long_scoreboard", "Stall Long Scoreboard")          /* waits for a global/local load */  \
    X(STALL_SHORT_SCOREBOARD, "short_scoreboard", "Stall Short Scoreboard")       /* waits for shared memory or SFU */ \
    X(STALL_LG_THROTTLE, "lg_throttle", "Stall LG Throttle")                      /* queue to the L1 is full */        \
    X(STALL_MIO_THROTTLE, "mio_throttle", "Stall MIO Throttle")                   /* queue to shared memory is full */ \
    X(STALL_MATH_PIPE_THROTTLE, "math_pipe_throttle", "Stall Math Pipe Throttle") /* pipe busy */                      \
    X(STALL_WAIT, "wait", "Stall Wait")                                           /* fixed-latency dependence */       \
    X(STALL_NOT_SELECTED, "not_selected", "Stall Not Selected")                   /* another warp was picked */        \
    X(STALL_BARRIER, "barrier", "Stall Barrier")                                                                       \
    X(STALL_DRAIN, "drain", "Stall Drain")          /* after EXIT, stores not yet taken */                             \
    X(STALL_IMC_MISS, "imc_miss", "Stall IMC Miss") /* constant or scalar load */                                      \
    X(STALL_BRANCH_RESOLVING, "branch_resolving", "Stall Branch Resolving")

typedef enum stall_reason {
#define X(id, metric, label) id,
    STALL_LIST(X)
#undef X
        STALL_COUNT
} stall_reason;

/* Names as in the lists above. */
const char *op_class_name(op_class c);
const char *pipe_name(pipe_id p);
const char *stall_metric(stall_reason r);
const char *stall_label(stall_reason r);

#endif

/* ir.h - a kernel as the warps see it: a short program of timed instructions whose addresses are closed forms.
 *
 * An instruction has a latency class, registers for the scoreboard, and, for memory, an access. Arithmetic
 * instructions carry no values: addresses come from the access, so a kernel of 2^40 threads costs as much memory as
 * one of 32, and only loads and stores move data (kernel/interpret.h executes them, for tests).
 *
 * An address is quasi-affine:
 *     base + sum over terms t of ((index_t / div_t) mod mod_t) * mul_t         in bytes
 * where index_t = base + per_thread * tid + per_block * bid + sum over loops k of per_loop[k] * counter_k,
 * tid is the flat thread number in its block (x fastest) and bid the flat block number (x fastest). A term may scatter:
 * its quotient is then replaced by a pseudo-random number below mod that depends on the quotient and on nothing else,
 * which stands for an index that was read from memory (equal reads give equal indices). Division rounds
 * towards minus infinity and a modulo is never negative, so an index of either sign means something. A lane is active
 * when every bound of the access holds:
 *     sum over the bound's terms of ((index / div) mod mod) * mul  <  limit.
 * Bounds are evaluated first, in order; an inactive lane makes no transaction. No index, bound or address may leave 64
 * bits for any thread, active or not (ir_check sees to it).
 *
 * Registers: src[0] of a store is the register it writes to memory; a load writes dst. Every other register read only
 * orders instructions.
 */
#ifndef COALIGN_KERNEL_IR_H
#define COALIGN_KERNEL_IR_H

#include "base/mem.h"
#include "base/status.h"
#include "machine/opclass.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    IR_LOOPS_MAX = 3,       /* nesting depth */
    IR_REGISTERS_MAX = 256, /* scoreboard names; 0 means none */
    IR_SOURCES_MAX = 7,     /* registers that an instruction waits for; generated code has at most 3 */
    IR_NONE = 0xffff,       /* no access, no loop, no guard */
    IR_ACCESS_MAX = 64,     /* bytes of a lane's access: a vector register of a CPU */
};

typedef enum ir_space { SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL } ir_space;

typedef struct ir_index {
    int64_t base, per_thread, per_block;
    int64_t per_loop[IR_LOOPS_MAX];
} ir_index;

typedef struct ir_term {
    uint32_t index;
    uint64_t div; /* 1 .. 2^63 - 1 */
    uint64_t mod; /* 0: no modulo; at most 2^63 - 1 */
    int64_t mul;
    uint64_t scatter; /* 0: none; else a seed: the value is ir_scattered of the quotient, and mod is not 0 */
    bool permute;     /* with scatter: ir_permuted instead, no two quotients below mod alike */
} ir_term;

typedef struct ir_bound {
    uint32_t first_term, terms;
    int64_t limit;
} ir_bound;

typedef struct ir_access {
    ir_space space;
    uint32_t bytes;   /* per lane: a power of two, at most 16 on GPUs and IR_ACCESS_MAX on CPUs */
    bool nontemporal; /* of a store on a CPU: past the caches */
    int64_t base;     /* byte address (global) or offset (shared) */
    uint32_t first_term, terms;
    uint32_t first_bound, bounds;
} ir_access;

typedef struct ir_inst {
    uint8_t op;                  /* op_class */
    uint8_t dst;                 /* register written, 0 = none */
    uint8_t src[IR_SOURCES_MAX]; /* registers read, 0 = none */
    uint8_t pad;
    uint16_t access; /* memory: which access. BRANCH as an exit test: the access whose bounds decide; else IR_NONE */
    uint16_t loop;   /* BRANCH that closes a loop: which; else IR_NONE */
} ir_inst;

/* Loop k runs code[first .. last], where code[last] is its closing BRANCH, `trips` >= 1 times. Loops nest. */
typedef struct ir_loop {
    uint32_t first, last;
    uint64_t trips;
    uint32_t depth; /* 0 = outermost: the per_loop slot */
} ir_loop;

/* A BRANCH with an access ends the warp if no lane is within the bounds of that access ("return past N"). A BRANCH with
 * a loop jumps back while turns are left. Any other BRANCH only costs its time. The last instruction is EXIT. */
typedef struct kernel {
    char name[64];
    uint64_t blocks;
    uint32_t block_threads;
    uint32_t registers;    /* per thread, as the compiler would allocate */
    uint32_t shared_bytes; /* per block */
    ir_inst *code;
    ir_access *accesses;
    ir_bound *bounds;
    ir_term *terms;
    ir_index *indices;
    ir_loop *loops;
    uint32_t code_count, access_count, bound_count, term_count, index_count, loop_count;
    uint64_t elements; /* useful elements moved */
    uint32_t element_bytes;
    uint64_t useful_bytes; /* read + written bytes that the user asked for */
    size_t capacity[6];    /* of the arrays above, in that order; the builders' business */
} kernel;

/* splitmix64 of seed + quotient, modulo mod. */
uint64_t ir_scattered(uint64_t seed, int64_t quotient, uint64_t mod);
/* A pseudo-random permutation of 0 .. mod - 1, applied to quotient modulo mod: a Feistel network of four rounds (Luby
 * and Rackoff 1988) over the next power of four, repeated until it is below mod. */
uint64_t ir_permuted(uint64_t seed, int64_t quotient, uint64_t mod);
/* The value of a term that scatters. */
uint64_t ir_scatter_value(const ir_term *t, int64_t quotient);

/* Builders. All return OK or ERR_MEMORY (message filled) and append; ids count from 0. */
status ir_add_inst(kernel *k, ir_inst inst, message *m);
status ir_add_index(kernel *k, ir_index index, uint32_t *id, message *m);
status ir_add_term(kernel *k, ir_term term, message *m);
status ir_add_bound(kernel *k, ir_bound bound, message *m);
/* The access takes over the terms and bounds that its ranges name. */
status ir_add_access(kernel *k, ir_access access, uint16_t *id, message *m);
status ir_add_loop(kernel *k, ir_loop loop, uint16_t *id, message *m);

/* Checks every reference, register, div and width, that loops nest and EXIT comes last, that accesses count only the
 * loops they are in, and that no address can leave 64 bits. ERR_INTERNAL if not. */
status ir_check(const kernel *k, message *m);
void kernel_free(kernel *k);

#endif

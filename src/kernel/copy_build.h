/* copy_build.h - what the builders of copy kernels share (internal to src/kernel). */
#ifndef COALIGN_KERNEL_COPY_BUILD_H
#define COALIGN_KERNEL_COPY_BUILD_H

#include "kernel/copy_kernel.h"

#include <stdbool.h>

enum {
    FLAT_BLOCK = 256,    /* threads of a block in the kernels without a tile */
    HALF_REGISTERS = 24, /* arithmetic results live in registers 1 .. 48, two pieces in turn */
    DATA_REGISTER = 49,  /* registers 49.. carry data */
    ELEMENTS_MAX = 8,    /* loads of a thread in flight */
};

typedef struct copy_build {
    kernel *k;
    const machine *mach;
    message *m;
    const copy_desc *copy;
    int64_t src_base, dst_base;
    uint8_t value; /* register with the latest arithmetic result, 0 = none yet */
    uint8_t half;  /* which half of the arithmetic registers the latest piece uses */
} copy_build;

/* A piece of the instruction set on its way into the code. */
typedef struct mix_cursor {
    const isa_mix *mix;
    uint32_t count, done, ilp;
    uint32_t emitted[OP_CLASS_COUNT];
    uint8_t first_register, last;   /* of its registers; the value that it left */
    uint8_t holder[HALF_REGISTERS]; /* per chain: the register with its latest result */
} mix_cursor;

/* A range of terms. */
typedef struct span {
    uint32_t first, count;
} span;

/* A sum of terms that stands for one coordinate of a matrix: block, thread, and up to 7 to split a thread number. */
typedef struct coordinate {
    ir_term part[10];
    uint32_t count;
} coordinate;

status mix_begin(copy_build *b, isa_piece piece, mix_cursor *c);
/* Emits up to `part` of `parts` of the piece. */
status mix_until(copy_build *b, mix_cursor *c, uint32_t part, uint32_t parts);
status mix_whole(copy_build *b, isa_piece piece);

/* An exit test, a load or store with its data register, a barrier, EXIT. Their address is the latest value. */
status emit_exit_test(copy_build *b, uint16_t access);
status emit_load(copy_build *b, op_class op, uint16_t access, uint32_t data);
status emit_store(copy_build *b, op_class op, uint16_t access, uint32_t data);
status emit_barrier(copy_build *b);
status emit_exit(copy_build *b);

/* A new empty range at the end of the terms; terms added from now on and span_close make it. */
span span_open(const copy_build *b);
void span_close(const copy_build *b, span *s);
/* mul = a * c; nothing is added for 0. ERR_INPUT when the product does not fit. */
status add_term(copy_build *b, uint32_t index, uint64_t div, uint64_t mod, int64_t a, int64_t c);
status add_coordinate(copy_build *b, const coordinate *x, int64_t scale);
status add_bound(copy_build *b, span terms, int64_t limit);

/* a * c and a + c, ERR_INPUT when they do not fit. */
status product(copy_build *b, int64_t a, int64_t c, int64_t *out);
status sum(copy_build *b, int64_t a, int64_t c, int64_t *out);

status build_memcpy(copy_build *b);
status build_general(copy_build *b, const copy_options *options);
status build_flat_transpose(copy_build *b, copy_strategy strategy, const transpose_shape *t);
status build_tile(copy_build *b, copy_strategy strategy, const transpose_shape *t);
status build_low(copy_build *b, copy_strategy strategy, const transpose_shape *t);

#endif

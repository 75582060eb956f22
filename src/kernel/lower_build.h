/* lower_build.h - what the parts of the lowering share (internal): statements in lower.c, values in lower_value.c,
 * addresses and other index arithmetic in lower_address.c. */
#ifndef COALIGN_KERNEL_LOWER_BUILD_H
#define COALIGN_KERNEL_LOWER_BUILD_H

#include "kernel/form.h"
#include "kernel/vcode.h"

enum { PROMOTED_MAX = 64, SPECIALS = 6 /* tid.x .. bid.z */ };

/* An address in a register: of the form, which has the address's bytes. */
typedef struct pointer {
    const body_array *array;
    form bytes;
    uint32_t reg;
} pointer;

/* An integer in a register. */
typedef struct held_index {
    form value;
    uint32_t reg;
} held_index;

/* The kernel (frame 0), or a loop that is open: what goes before it, what turns, what comes at the end of a turn. */
typedef struct frame {
    struct frame *outer;
    int depth; /* of the IR loop; -1: the kernel */
    uint32_t counter;
    vlist before, turn, latch;
    pointer *pointers;
    size_t pointer_count, pointer_capacity;
    held_index *indices;
    size_t index_count, index_capacity;
} frame;

/* A load whose value is still good. */
typedef struct held_load {
    const body_array *array;
    form element;
    uint32_t reg;
    bool vector; /* of a vectorised loop: stores to other arrays do not touch it */
} held_load;

/* A conjunction of conditions around the current place. */
typedef struct guard {
    const struct guard *outer;
    form_guard what;
    uint32_t predicate;
} guard;

/* The innermost loop that is being vectorised. */
typedef struct vector_loop {
    uint32_t width, turn; /* elements; which of the unrolled turns is being lowered */
    const body_stmt *loop;
    const body_stmt *stored[4]; /* stores that wait for their last element, and the values so far */
    uint32_t value[4][4];
    uint32_t stores;
} vector_loop;

typedef struct lowering {
    const machine *mach;
    const body *b;
    const lower_options *o;
    lowered *out;
    kernel *k;
    message *m;
    vcode code;
    local_frame local;
    arena memory;
    frame *top;        /* the innermost open loop */
    vlist *at;         /* where instructions go */
    form_loop *loop;   /* by variable */
    form **let;        /* by variable */
    uint32_t *let_reg; /* by variable; 0: a constant, or not computed */
    form_scope scope;
    int64_t *base;       /* by array: byte address of element 0; of local ones: their first word */
    uint32_t **promoted; /* by array: registers of its elements, or NULL */
    uint32_t special[SPECIALS];
    held_load *loads;
    size_t load_count, load_capacity;
    const guard *guard;
    vector_loop vector;
    lower_note note; /* of what is emitted now */
} lowering;

/* A value: reg 0 is a constant, which any instruction takes as an operand. */
typedef struct value {
    uint32_t reg;
    body_type type;
    bool fresh; /* the last instruction made it and nobody else knows it */
} value;

status lower_memory(const lowering *l);
status lower_fail(const lowering *l, body_place at, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A new register; 32-bit words of a type. */
status lower_register(lowering *l, uint32_t width, uint32_t *reg);
uint32_t lower_width(body_type t);
status lower_emit(lowering *l, op_class op, uint32_t dst, uint32_t a, uint32_t b, uint32_t c);
/* The same with a new register of that width for dst. */
status lower_op(lowering *l, op_class op, uint32_t width, uint32_t a, uint32_t b, uint32_t c, uint32_t *dst);

/* The integer of a closed form in a register of 32 bits; 0 for a constant. */
status lower_index(lowering *l, const form *f, uint32_t *reg);
/* The load or store of elements at `element` of an array (or, where the form depends on data, at its subscripts). dst
 * or data is the register that is moved; width elements at once. */
status lower_load(lowering *l, const body_array *a, body_expr *const *subscript, const form *element, uint32_t width,
                  uint32_t *dst);
status lower_store(lowering *l, const body_array *a, body_expr *const *subscript, const form *element, uint32_t width,
                   uint32_t data, uint32_t also);
/* A register that is not 0 exactly in the lanes where the guard holds. */
status lower_guard_test(lowering *l, const form_guard *g, uint32_t *predicate);
/* Gives an access the guards around the current place as its bounds. */
status lower_bounds(lowering *l, ir_access *a);

/* How many elements the load of this one may bring in a vectorised loop; 1. */
uint32_t lower_vector_width(const lowering *l, const body_array *a, const form *element, body_expr *const *subscript);

status lower_value(lowering *l, const body_expr *e, value *out);
status lower_condition(lowering *l, const body_expr *e, uint32_t *predicate);
/* v in a register that holds it as `type`. */
status lower_convert(lowering *l, value v, body_type type, value *out);
/* A register with a constant in it. */
status lower_constant(lowering *l, body_type type, uint32_t *reg);

#endif

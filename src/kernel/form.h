/* form.h - the integer expressions of a loop body as closed forms of thread, block and loop counters: what subscripts
 * become in the warp IR.
 *
 *     linear + sum over parts of ((index / div) mod mod) * mul          (kernel/ir.h: the same quasi-affine sums)
 *
 * Literals, params, tid, bid, loop variables and lets of such have one, and so have their sums, differences, products
 * with a constant, and quotients and remainders by a positive constant where the dividend cannot be negative (C rounds
 * towards 0, the IR downwards) and the result is such a sum again. Arithmetic is taken not to wrap around.
 */
#ifndef COALIGN_KERNEL_FORM_H
#define COALIGN_KERNEL_FORM_H

#include "kernel/body.h"

enum { FORM_PARTS_MAX = 8, FORM_BOUNDS_MAX = 8 };

typedef enum form_kind {
    FORM_CLOSED,
    FORM_DATA, /* depends on what memory holds; linear.. is then a closed form that tells different reads apart */
    FORM_OPEN, /* neither: a product of two variables, a minimum, ... */
} form_kind;

typedef struct form_part {
    ir_index index;
    int64_t div, mod, mul; /* mod 0: none */
} form_part;

typedef struct form {
    form_kind kind;
    ir_index linear;
    uint32_t parts;
    form_part part[FORM_PARTS_MAX];
    const body_array *read; /* FORM_DATA: the array that was read */
} form;

/* A loop variable at the place that is looked at: start + step * counter of the IR loop at `depth`, or the constant
 * `start` when depth < 0. */
typedef struct form_loop {
    int64_t start, step;
    int depth;
} form_loop;

/* What a form depends on. */
typedef struct form_scope {
    const body *b;
    const form_loop *loop;        /* by variable id, of the loops that are open */
    form *const *let;             /* by variable id: of the lets that were passed; NULL for floating ones */
    uint64_t trips[IR_LOOPS_MAX]; /* by depth, of the open loops; 0 else */
} form_scope;

form form_constant(int64_t value);
bool form_is_constant(const form *f, int64_t *value);
/* Of an integer expression. */
form form_of(const form_scope *s, const body_expr *e);
/* The number of the element, layout and offset applied. */
form form_of_element(const form_scope *s, const body_array *a, body_expr *const *subscript);
/* a + b * scale; FORM_OPEN when it has too many parts or leaves 64 bits. */
form form_add(const form *a, const form *b, int64_t scale);
/* Does it count the loop at this depth? */
bool form_counts(const form *f, int depth);
/* The same but for a constant, which is b - a. */
bool form_alike(const form *a, const form *b, int64_t *difference);
/* Its least and greatest value over threads, blocks and the open loops; false when they leave 64 bits. */
bool form_range(const form_scope *s, const form *f, int64_t *lo, int64_t *hi);

/* A condition as a conjunction: every form[i] < 0. */
typedef struct form_guard {
    bool known; /* else it says nothing: the condition depends on data, or is no such conjunction */
    uint32_t count;
    form less[FORM_BOUNDS_MAX];
} form_guard;

/* Of a condition, or, when `negated`, of its opposite. What always holds is left out. */
void form_guard_of(const form_scope *s, const body_expr *e, bool negated, form_guard *g);

#endif

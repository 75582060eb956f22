/* body_value.h - the arithmetic of loop bodies: one operation on typed values, as C would do it. */
#ifndef COALIGN_KERNEL_BODY_VALUE_H
#define COALIGN_KERNEL_BODY_VALUE_H

#include "kernel/body.h"

typedef struct body_value {
    body_type type; /* not f16 */
    union {
        int64_t integer;
        double real; /* of an f32: a value that a float holds */
    };
} body_value;

/* C's conversion; a float outside the integer type saturates and NaN becomes 0, as on GPUs. Not to f16. */
body_value body_convert(body_value v, body_type to);
bool body_is_true(body_value v);

/* The operator (any of BODY_OPERATOR_LIST but EXPR_SELECT) with a result of that type. The operands may have any type.
 * False: an integer division by zero. */
bool body_apply(body_expr_kind op, body_type result, const body_value *operand, body_value *out);

/* The type in which an operation on both is done. */
body_type body_common_type(body_type a, body_type b);

#endif

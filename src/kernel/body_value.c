#include "kernel/body_value.h"

#include <math.h>

static int64_t to_integer(double value, body_type type) {
    double limit = type == TYPE_I32 ? 0x1p31 : 0x1p63;
    if (isnan(value))
        return 0;
    if (value >= limit)
        return type == TYPE_I32 ? INT32_MAX : INT64_MAX;
    if (value < -limit)
        return type == TYPE_I32 ? INT32_MIN : INT64_MIN;
    return (int64_t)value;
}

/* Two's complement without asking the compiler what it thinks of overflow. */
static int64_t wrapped(uint64_t bits, body_type type) {
    if (type == TYPE_I32) {
        uint64_t low = bits & UINT32_MAX;
        return low > INT32_MAX ? (int64_t)low - INT64_C(0x100000000) : (int64_t)low;
    }
    return bits > INT64_MAX ? -(int64_t)(UINT64_MAX - bits) - 1 : (int64_t)bits;
}

static body_value integer_value(int64_t value, body_type type) {
    return (body_value){.type = type, .integer = wrapped((uint64_t)value, type)};
}

static body_value real_value(double value, body_type type) {
    return (body_value){.type = type, .real = type == TYPE_F32 ? (double)(float)value : value};
}

body_value body_convert(body_value v, body_type to) {
    bool from_float = body_type_is_float(v.type);
    if (!body_type_is_float(to))
        return integer_value(from_float ? to_integer(v.real, to) : v.integer, to);
    if (from_float)
        return real_value(v.real, to);
    /* Straight from the integer: by way of a double it could round twice. */
    return real_value(to == TYPE_F32 ? (double)(float)v.integer : (double)v.integer, to);
}

bool body_is_true(body_value v) {
    return body_type_is_float(v.type) ? v.real != 0 : v.integer != 0;
}

body_type body_common_type(body_type a, body_type b) {
    return a > b ? a : b;
}

static bool divide(int64_t a, int64_t b, body_type type, body_value *out) {
    if (b == 0)
        return false;
    *out = b == -1 ? integer_value(wrapped(-(uint64_t)a, type), type) : integer_value(a / b, type);
    return true;
}

static bool apply_integer(body_expr_kind op, body_type type, int64_t a, int64_t b, body_value *out) {
    uint64_t x = (uint64_t)a, y = (uint64_t)b, bits = 0;
    switch (op) {
    case EXPR_ADD:
        bits = x + y;
        break;
    case EXPR_SUB:
        bits = x - y;
        break;
    case EXPR_MUL:
        bits = x * y;
        break;
    case EXPR_DIV:
        return divide(a, b, type, out);
    case EXPR_MOD:
        if (b == 0)
            return false;
        bits = b == -1 ? 0 : (uint64_t)(a % b);
        break;
    case EXPR_NEG:
        bits = -x;
        break;
    case EXPR_ABS:
        bits = a < 0 ? -x : x;
        break;
    case EXPR_MIN:
        bits = a < b ? x : y;
        break;
    case EXPR_MAX:
        bits = a > b ? x : y;
        break;
    default:
        break;
    }
    *out = (body_value){.type = type, .integer = wrapped(bits, type)};
    return true;
}

/* In float where the result is f32: rounding a double's result once more would not always be the same. */
static float apply_f32(body_expr_kind op, float a, float b) {
    switch (op) {
    case EXPR_ADD:
        return a + b;
    case EXPR_SUB:
        return a - b;
    case EXPR_MUL:
        return a * b;
    case EXPR_DIV:
        return a / b;
    case EXPR_NEG:
        return -a;
    case EXPR_ABS:
        return fabsf(a);
    case EXPR_MIN:
        return fminf(a, b);
    case EXPR_MAX:
        return fmaxf(a, b);
    case EXPR_EXP:
        return expf(a);
    case EXPR_LOG:
        return logf(a);
    case EXPR_SQRT:
        return sqrtf(a);
    case EXPR_RSQRT:
        return 1.0F / sqrtf(a);
    default:
        return 0;
    }
}

static double apply_f64(body_expr_kind op, double a, double b) {
    switch (op) {
    case EXPR_ADD:
        return a + b;
    case EXPR_SUB:
        return a - b;
    case EXPR_MUL:
        return a * b;
    case EXPR_DIV:
        return a / b;
    case EXPR_NEG:
        return -a;
    case EXPR_ABS:
        return fabs(a);
    case EXPR_MIN:
        return fmin(a, b);
    case EXPR_MAX:
        return fmax(a, b);
    case EXPR_EXP:
        return exp(a);
    case EXPR_LOG:
        return log(a);
    case EXPR_SQRT:
        return sqrt(a);
    case EXPR_RSQRT:
        return 1.0 / sqrt(a);
    default:
        return 0;
    }
}

/* The two operands have the same type. */
static bool compare(body_expr_kind op, body_value a, body_value b) {
    bool real = body_type_is_float(a.type);
    bool less = real ? a.real < b.real : a.integer < b.integer;
    bool equal = real ? a.real == b.real : a.integer == b.integer;
    bool greater = real ? a.real > b.real : a.integer > b.integer;
    switch (op) {
    case EXPR_LT:
        return less;
    case EXPR_LE:
        return less || equal;
    case EXPR_GT:
        return greater;
    case EXPR_GE:
        return greater || equal;
    case EXPR_EQ:
        return equal;
    default:
        return !equal;
    }
}

static bool is_comparison(body_expr_kind op) {
    return op >= EXPR_EQ && op <= EXPR_GE;
}

static bool is_unary(body_expr_kind op) {
    return op == EXPR_NEG || op == EXPR_NOT || op >= EXPR_EXP;
}

bool body_apply(body_expr_kind op, body_type result, const body_value *operand, body_value *out) {
    body_value a = operand[0], b = is_unary(op) ? operand[0] : operand[1];
    if (op == EXPR_AND || op == EXPR_OR || op == EXPR_NOT || is_comparison(op)) {
        body_type common = body_common_type(a.type, b.type);
        bool truth = op == EXPR_AND   ? body_is_true(a) && body_is_true(b)
                     : op == EXPR_OR  ? body_is_true(a) || body_is_true(b)
                     : op == EXPR_NOT ? !body_is_true(a)
                                      : compare(op, body_convert(a, common), body_convert(b, common));
        *out = (body_value){.type = TYPE_I32, .integer = truth};
        return true;
    }
    a = body_convert(a, result);
    b = body_convert(b, result);
    if (result == TYPE_F32)
        *out = (body_value){.type = result, .real = (double)apply_f32(op, (float)a.real, (float)b.real)};
    else if (result == TYPE_F64)
        *out = (body_value){.type = result, .real = apply_f64(op, a.real, b.real)};
    else
        return apply_integer(op, result, a.integer, b.integer, out);
    return true;
}

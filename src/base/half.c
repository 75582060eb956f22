#include "base/half.h"

#include <math.h>
#include <stdbool.h>

/* 1 sign, 5 exponent (bias 15) and 10 fraction bits. */
enum { INFINITE = 0x7c00, QUIET_NAN = 0x7e00, SIGN = 0x8000, FRACTION_BITS = 10, LEAST_EXPONENT = -14 };

uint16_t half_from_double(double value) {
    unsigned sign = signbit(value) ? SIGN : 0;
    if (isnan(value))
        return (uint16_t)(sign | QUIET_NAN);
    double size = fabs(value);
    if (size >= 65520.0) /* the middle between the largest half and the one that would follow */
        return (uint16_t)(sign | INFINITE);
    int exponent = size > 0 ? ilogb(size) : LEAST_EXPONENT;
    if (exponent < LEAST_EXPONENT)
        exponent = LEAST_EXPONENT;
    /* In units of the last place, which is exact; then rounded by hand, whatever the rounding mode. */
    double units = scalbn(size, FRACTION_BITS - exponent), whole = floor(units), rest = units - whole;
    unsigned count = (unsigned)whole;
    count += rest > 0.5 || (rest == 0.5 && count % 2 == 1);
    /* A normal number has 1024 .. 2047 units, and 2048 carries into the exponent just as it should. */
    return (uint16_t)(sign | (((unsigned)(exponent - LEAST_EXPONENT) << FRACTION_BITS) + count));
}

double half_to_double(uint16_t bits) {
    bool negative = (bits & SIGN) != 0;
    unsigned all = bits, field = all >> FRACTION_BITS & 31U, fraction = all & ((1U << FRACTION_BITS) - 1);
    double size;
    if (field == 31)
        size = fraction ? (double)NAN : (double)INFINITY;
    else if (field == 0)
        size = scalbn(fraction, LEAST_EXPONENT - FRACTION_BITS);
    else
        size = scalbn(fraction + 1024.0, (int)field - 1 + LEAST_EXPONENT - FRACTION_BITS);
    return negative ? -size : size;
}

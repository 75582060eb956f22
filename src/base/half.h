/* half.h - IEEE 754 binary16 on hosts whose compiler has no type for it. */
#ifndef COALIGN_BASE_HALF_H
#define COALIGN_BASE_HALF_H

#include <stdint.h>

/* Rounds to nearest, ties to even; what is too large becomes infinite, any NaN the quiet NaN of its sign. */
uint16_t half_from_double(double value);
double half_to_double(uint16_t bits);

#endif

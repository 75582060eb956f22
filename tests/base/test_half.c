#include "base/half.h"

#include <criterion/criterion.h>
#include <math.h>

/* The examples of IEEE 754 binary16, ties, and every half there and back. */
Test(half, rounds) {
    static const struct {
        double value;
        uint16_t bits;
    } cases[] = {
        {0, 0x0000},           {-0.0, 0x8000},        {1, 0x3c00},           {-2, 0xc000},
        {65504, 0x7bff},       {65519.99, 0x7bff},    {65520, 0x7c00},       {-1e30, 0xfc00},
        {0x1p-14, 0x0400},     {0x1p-24, 0x0001},     {0x1p-25, 0x0000},     {0x1.0001p-25, 0x0001},
        {0x3p-25, 0x0002},     {0x1.ff8p-15, 0x03ff}, {0x1.ffcp-15, 0x0400}, {0.1, 0x2e66},
        {1 + 0x1p-11, 0x3c00}, {1 + 0x3p-11, 0x3c02}, {1.0 / 3, 0x3555},     {1 + 0x1.1p-11, 0x3c01},
        {INFINITY, 0x7c00},    {1e-300, 0x0000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(half_from_double(cases[i].value), cases[i].bits, "%a: %04x", cases[i].value,
                     half_from_double(cases[i].value));
    for (uint32_t bits = 0; bits <= UINT16_MAX; bits++) {
        double value = half_to_double((uint16_t)bits);
        cr_assert(isnan(value) ? (bits & 0x7fff) > 0x7c00 : half_from_double(value) == bits, "%04x", bits);
    }
}

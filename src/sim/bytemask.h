/* bytemask.h - which bytes of a line: bit i stands for byte i of at most 128. */
#ifndef COALIGN_SIM_BYTEMASK_H
#define COALIGN_SIM_BYTEMASK_H

#include <stdint.h>

typedef unsigned __int128 bytemask;

/* Bytes first .. first + count - 1; first + count <= 128. */
static inline bytemask bytemask_range(uint32_t first, uint32_t count) {
    bytemask ones = count >= 128 ? ~(bytemask)0 : (((bytemask)1 << count) - 1);
    return ones << first;
}

/* By hand, because x86-64 without extensions has no instruction for it and compilers call a function. */
static inline uint32_t bytemask_count(bytemask m) {
    const uint64_t twos = UINT64_C(0x5555555555555555), fours = UINT64_C(0x3333333333333333);
    uint64_t low = (uint64_t)m, high = (uint64_t)(m >> 64);
    low -= low >> 1 & twos;
    high -= high >> 1 & twos;
    low = (low & fours) + (low >> 2 & fours);
    high = (high & fours) + (high >> 2 & fours);
    low += high; /* at most 8 in each four bits */
    low = (low & UINT64_C(0x0f0f0f0f0f0f0f0f)) + (low >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f));
    return (uint32_t)(low * UINT64_C(0x0101010101010101) >> 56);
}

/* Whole units of `unit` bytes (a power of two) that hold any byte of m. */
static inline bytemask bytemask_round(bytemask m, uint32_t unit) {
    if (unit >= 128)
        return m ? ~(bytemask)0 : 0;
    if (m == 0 || m == ~(bytemask)0)
        return m;
    /* Gather every unit's bits on its lowest bit, then spread that bit over the unit. */
    static const uint64_t lowest[7] = {UINT64_MAX,          0x5555555555555555u, 0x1111111111111111u,
                                       0x0101010101010101u, 0x0001000100010001u, 0x0000000100000001u,
                                       0x0000000000000001u};
    const int log2 = __builtin_ctz(unit);
    uint64_t half[2] = {(uint64_t)m, (uint64_t)(m >> 64)};
    for (int i = 0; i < 2; i++) {
        uint64_t x = half[i];
        for (int s = log2 - 1; s >= 0; s--)
            x |= x >> (1 << s); /* bits of the unit above reach only bits that `lowest` drops */
        x &= lowest[log2];
        half[i] = (x << (unit - 1) << 1) - x; /* x * (2^unit - 1), also for unit 64 */
    }
    return (bytemask)half[1] << 64 | half[0];
}

/* Number of units in a mask of whole units, as bytemask_round makes them. */
static inline uint32_t bytemask_whole_units(bytemask m, uint32_t unit) {
    return unit >= 128 ? m != 0 : bytemask_count(m) >> __builtin_ctz(unit);
}

/* Number of units of `unit` bytes that hold any byte of m. */
static inline uint32_t bytemask_units(bytemask m, uint32_t unit) {
    return bytemask_whole_units(bytemask_round(m, unit), unit);
}

#endif

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

static inline uint32_t bytemask_count(bytemask m) {
    return (uint32_t)(__builtin_popcountll((uint64_t)m) + __builtin_popcountll((uint64_t)(m >> 64)));
}

/* Whole units of `unit` bytes (a power of two) that hold any byte of m. */
static inline bytemask bytemask_round(bytemask m, uint32_t unit) {
    if (unit >= 128)
        return m ? ~(bytemask)0 : 0;
    /* Gather every unit's bits on its lowest bit, then spread that bit over the unit. */
    static const uint64_t lowest[7] = {UINT64_MAX,          0x5555555555555555u, 0x1111111111111111u, 0x0101010101010101u,
                                       0x0001000100010001u, 0x0000000100000001u, 0x0000000000000001u};
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

/* Number of units of `unit` bytes that hold any byte of m. */
static inline uint32_t bytemask_units(bytemask m, uint32_t unit) {
    return bytemask_count(bytemask_round(m, unit)) / unit;
}

#endif

/* tick.h - time inside the engine: int64_t ticks, 256 to a core cycle, so that link and DRAM rates that are no whole
 * number of bytes per cycle keep their exact ratio to within 0.4 % of a cycle without any floating point. */
#ifndef COALIGN_SIM_TICK_H
#define COALIGN_SIM_TICK_H

#include <stdint.h>

enum { TICKS = 256 };
#define TICK_NEVER INT64_MAX

/* The cycle in which something that happens at this tick can be used. */
static inline int64_t tick_to_cycle(int64_t tick) {
    return (tick + TICKS - 1) / TICKS;
}
static inline int64_t cycle_to_tick(int64_t cycle) {
    return cycle * TICKS;
}

/* Ticks that one byte takes, in 2^-16 ticks, from a rate in bytes per cycle (0 = infinitely fast). */
static inline uint64_t tick_per_byte(double bytes_per_cycle) {
    return bytes_per_cycle > 0 ? (uint64_t)(TICKS * 65536.0 / bytes_per_cycle + 0.5) : 0;
}
static inline int64_t tick_for_bytes(uint64_t per_byte, uint32_t bytes) {
    return (int64_t)((per_byte * bytes + 32768) >> 16);
}

#endif

/* Counters at random places, incremented in memory: one instruction that reads and writes. */
#include "start.h"

uint32_t counter[1 << 15];

void work(void) {
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < 6000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        counter[x >> 49]++;
    }
}

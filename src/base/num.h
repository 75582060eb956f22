/* num.h - checked arithmetic on users' numbers, units, and the pseudo-random generator of the tests and workloads. */
#ifndef COALIGN_BASE_NUM_H
#define COALIGN_BASE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* *out = a op b; false (and *out unspecified) when the result does not fit. */
static inline bool mul_u64(uint64_t a, uint64_t b, uint64_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool add_u64(uint64_t a, uint64_t b, uint64_t *out) {
    return !__builtin_add_overflow(a, b, out);
}
static inline bool mul_i64(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool add_i64(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_add_overflow(a, b, out);
}

/* Rounded up quotient; b > 0. */
static inline uint64_t ceil_div(uint64_t a, uint64_t b) {
    return a / b + (a % b != 0);
}

/* "12345678" -> "12 345 678" (thin grouping for tables), NUL-terminated, at most `size` bytes. Returns buffer. */
char *format_grouped(char *buffer, size_t size, uint64_t value);
/* Bytes in the largest binary unit that keeps them whole: 6291456 -> "6 MiB", 1000 -> "1000 B". Returns buffer. */
char *format_bytes(char *buffer, size_t size, uint64_t bytes);
/* Reads "48 KiB", "6MiB", "20 GB", "128" (bytes; KB/MB/GB are powers of 1000). False when it is not a size. */
bool parse_bytes(const char *text, uint64_t *bytes);

/* splitmix64 (Steele, Lea, Flood 2014): tiny, seedable, equal on all machines. */
typedef struct prng {
    uint64_t state;
} prng;
uint64_t prng_next(prng *g);
/* Uniform in [0, n); n > 0. The bias is below n / 2^64. */
uint64_t prng_below(prng *g, uint64_t n);

#endif

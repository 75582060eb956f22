#include "base/num.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *format_grouped(char *buffer, size_t size, uint64_t value) {
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, value);
    size_t used = 0;
    for (int i = 0; i < n && used + 2 < size; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            buffer[used++] = ' ';
        buffer[used++] = digits[i];
    }
    if (size)
        buffer[used < size ? used : size - 1] = '\0';
    return buffer;
}

static const struct {
    const char *name;
    uint64_t bytes;
} units[] = {
    {"GiB", UINT64_C(1) << 30},
    {"MiB", UINT64_C(1) << 20},
    {"KiB", UINT64_C(1) << 10},
    {"GB", 1000000000},
    {"MB", 1000000},
    {"KB", 1000},
    {"kB", 1000},
    {"TiB", UINT64_C(1) << 40},
    {"B", 1},
};

char *format_bytes(char *buffer, size_t size, uint64_t bytes) {
    for (size_t i = 0; i < 3; i++)
        if (bytes && bytes % units[i].bytes == 0) {
            snprintf(buffer, size, "%" PRIu64 " %s", bytes / units[i].bytes, units[i].name);
            return buffer;
        }
    snprintf(buffer, size, "%" PRIu64 " B", bytes);
    return buffer;
}

bool parse_bytes(const char *text, uint64_t *bytes) {
    while (*text == ' ')
        text++;
    if (*text < '0' || *text > '9')
        return false;
    char *end = NULL;
    unsigned long long value = strtoull(text, &end, 10);
    if (end - text > 19)
        return false;
    while (*end == ' ')
        end++;
    uint64_t unit = 1;
    if (*end) {
        size_t i = 0;
        while (i < sizeof units / sizeof *units && strcmp(end, units[i].name) != 0)
            i++;
        if (i == sizeof units / sizeof *units)
            return false;
        unit = units[i].bytes;
    }
    return mul_u64(value, unit, bytes);
}

uint64_t prng_next(prng *g) {
    uint64_t z = g->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint64_t prng_below(prng *g, uint64_t n) {
    return (uint64_t)((unsigned __int128)prng_next(g) * n >> 64);
}

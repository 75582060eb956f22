/* hash.h - FNV-1a (Fowler, Noll, Vo), 64 bits: equal bytes, equal hash, on all machines. Not for secrets. */
#ifndef COALIGN_BASE_HASH_H
#define COALIGN_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* Goes on from `hash`, which begins as HASH_START. */
static inline uint64_t hash_bytes(uint64_t hash, const void *data, size_t size) {
    const unsigned char *p = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* The text with its end, so that "a" "bc" and "ab" "c" differ. */
static inline uint64_t hash_text(uint64_t hash, const char *text) {
    return hash_bytes(hash, text, strlen(text) + 1);
}

#endif

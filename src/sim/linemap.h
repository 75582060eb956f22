/* linemap.h - from line numbers to what a directory knows of them: open addressing, as large as what it holds. */
#ifndef COALIGN_SIM_LINEMAP_H
#define COALIGN_SIM_LINEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINEMAP_NONE = -1 };

typedef struct linemap_entry {
    uint64_t key;     /* line + 1; 0 = empty */
    uint64_t sharers; /* cores that hold the line, a bit each */
    int32_t owner;    /* the one that may write it; LINEMAP_NONE */
    int32_t busy;     /* transaction under way; LINEMAP_NONE */
} linemap_entry;

typedef struct linemap {
    linemap_entry *entry;
    size_t capacity, count; /* capacity: a power of two */
} linemap;

void linemap_free(linemap *map);
/* NULL when absent. Entries move with every linemap_put and linemap_remove. */
linemap_entry *linemap_find(const linemap *map, uint64_t line);
/* Finds or makes it; NULL: not enough memory. */
linemap_entry *linemap_put(linemap *map, uint64_t line);
void linemap_remove(linemap *map, linemap_entry *e);

#endif

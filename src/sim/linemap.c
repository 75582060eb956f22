#include "sim/linemap.h"

#include "base/mem.h"

void linemap_free(linemap *map) {
    mem_free(map->entry);
    *map = (linemap){0};
}

static size_t home(const linemap *map, uint64_t key) {
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (map->capacity - 1);
}

linemap_entry *linemap_find(const linemap *map, uint64_t line) {
    if (!map->capacity)
        return NULL;
    for (size_t i = home(map, line + 1); map->entry[i].key; i = (i + 1) & (map->capacity - 1))
        if (map->entry[i].key == line + 1)
            return &map->entry[i];
    return NULL;
}

static bool grow(linemap *map) {
    linemap wider = {.capacity = map->capacity ? 2 * map->capacity : 256};
    wider.entry = mem_zero(wider.capacity, sizeof *wider.entry);
    if (!wider.entry)
        return false;
    for (size_t i = 0; i < map->capacity; i++) {
        if (!map->entry[i].key)
            continue;
        size_t at = home(&wider, map->entry[i].key);
        while (wider.entry[at].key)
            at = (at + 1) & (wider.capacity - 1);
        wider.entry[at] = map->entry[i];
    }
    wider.count = map->count;
    linemap_free(map);
    *map = wider;
    return true;
}

linemap_entry *linemap_put(linemap *map, uint64_t line) {
    linemap_entry *e = linemap_find(map, line);
    if (e)
        return e;
    if (2 * (map->count + 1) > map->capacity && !grow(map))
        return NULL;
    size_t i = home(map, line + 1);
    while (map->entry[i].key)
        i = (i + 1) & (map->capacity - 1);
    map->entry[i] = (linemap_entry){.key = line + 1, .owner = LINEMAP_NONE, .busy = LINEMAP_NONE};
    map->count++;
    return &map->entry[i];
}

/* Moves later entries of the cluster up, so that no search stops before them (Knuth, TAOCP 3, algorithm 6.4 R). */
void linemap_remove(linemap *map, linemap_entry *e) {
    size_t hole = (size_t)(e - map->entry);
    const size_t mask = map->capacity - 1;
    for (size_t i = (hole + 1) & mask; map->entry[i].key; i = (i + 1) & mask) {
        const size_t from = home(map, map->entry[i].key);
        if (((i - from) & mask) >= ((i - hole) & mask)) {
            map->entry[hole] = map->entry[i];
            hole = i;
        }
    }
    map->entry[hole].key = 0;
    map->count--;
}

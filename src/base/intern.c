#include "base/intern.h"

#include "base/hash.h"

#include <string.h>

/* The slot that holds the string, or the free one where it belongs. */
static interned **find(const intern_table *t, const char *text, size_t length, uint64_t hash) {
    size_t i = (size_t)hash & (t->slots - 1);
    for (;; i = (i + 1) & (t->slots - 1)) {
        const interned *e = t->slot[i];
        if (!e || (e->hash == hash && e->length == length && memcmp(e->text, text, length) == 0))
            return &t->slot[i];
    }
}

/* Twice the slots once half of them are taken. */
static int grow(intern_table *t) {
    if (t->count * 2 < t->slots)
        return 1;
    intern_table larger = {.slots = t->slots ? t->slots * 2 : 64};
    larger.slot = mem_zero(larger.slots, sizeof(interned *));
    if (!larger.slot)
        return 0;
    for (size_t i = 0; i < t->slots; i++)
        if (t->slot[i])
            *find(&larger, t->slot[i]->text, t->slot[i]->length, t->slot[i]->hash) = t->slot[i];
    mem_free(t->slot);
    t->slot = larger.slot;
    t->slots = larger.slots;
    return 1;
}

interned *intern(intern_table *t, const char *text, size_t length) {
    if (!grow(t))
        return NULL;
    uint64_t hash = hash_bytes(HASH_START, text, length);
    interned **slot = find(t, text, length, hash);
    interned *known = *slot;
    if (known)
        return known;
    interned *e = arena_alloc(&t->memory, sizeof *e);
    char *copy = arena_alloc(&t->memory, length + 1);
    if (!e || !copy)
        return NULL;
    memcpy(copy, text, length);
    *e = (interned){.text = copy, .length = length, .hash = hash};
    t->count++;
    return *slot = e;
}

void intern_free(intern_table *t) {
    mem_free(t->slot);
    arena_free(&t->memory);
    *t = (intern_table){0};
}

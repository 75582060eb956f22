/* intern.h - strings kept once, each with room for what its owner knows of it. Zero-initialise, use, intern_free. */
#ifndef COALIGN_BASE_INTERN_H
#define COALIGN_BASE_INTERN_H

#include "base/mem.h"

#include <stdint.h>

typedef struct interned {
    const char *text; /* NUL-terminated */
    size_t length;
    void *value; /* NULL at first; the owner's */
    uint64_t hash;
} interned;

typedef struct intern_table {
    arena memory;
    interned **slot; /* open addressing; slots is 0 or a power of two */
    size_t slots, count;
} intern_table;

/* The string text[0 .. length), new or known; NULL when there is not enough memory. Stays where it is. */
interned *intern(intern_table *t, const char *text, size_t length);
void intern_free(intern_table *t);

#endif

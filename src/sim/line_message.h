/* line_message.h - what a CPU core and the shared side of the machine say to each other about one line. */
#ifndef COALIGN_SIM_LINE_MESSAGE_H
#define COALIGN_SIM_LINE_MESSAGE_H

#include "base/mem.h"
#include "sim/bytemask.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum line_kind {
    /* from a core: requests, each answered once */
    LINE_READ,   /* wants to read it: LINE_DATA, exclusive when no other core has it */
    LINE_OWN,    /* wants to write it: LINE_DATA, exclusive */
    LINE_STREAM, /* bytes for memory, past the caches: LINE_TAKEN */
    /* from a core: has dropped the line */
    LINE_CLEAN,
    LINE_DIRTY,
    /* from a core: answers to LINE_SHARE and LINE_INVALIDATE */
    LINE_ACK,       /* had it not, or as one of several */
    LINE_ACK_DATA,  /* had it alone, unchanged */
    LINE_ACK_DIRTY, /* had changed it */
    /* to a core */
    LINE_DATA,
    LINE_TAKEN,
    LINE_SHARE,          /* may keep it, must not write it any more */
    LINE_INVALIDATE,     /* another core wants to write it */
    LINE_BACK_INVALIDATE /* the inclusive shared level has dropped it */
} line_kind;

typedef struct line_message {
    int64_t time;   /* to the shared side: tick of arrival; to a core: cycle */
    uint64_t line;  /* physical line number */
    bytemask mask;  /* LINE_STREAM: which bytes */
    uint32_t token; /* the core's own: comes back in the answer */
    uint8_t core, kind;
    bool exclusive,
        dirty; /* LINE_DATA: the core may write it; it differs from memory and that is now the core's care */
} line_message;

typedef struct message_list {
    line_message *item;
    size_t count, capacity, next;
} message_list;

/* Keeps the list in order of time, messages of one time in order of arrival. False: not enough memory. */
static inline bool message_insert(message_list *l, const line_message *x) {
    if (!mem_reserve((void **)&l->item, &l->capacity, l->count + 1, sizeof *l->item))
        return false;
    size_t i = l->count++;
    for (; i > l->next && l->item[i - 1].time > x->time; i--)
        l->item[i] = l->item[i - 1];
    l->item[i] = *x;
    return true;
}

static inline bool message_append(message_list *l, const line_message *x) {
    if (!mem_reserve((void **)&l->item, &l->capacity, l->count + 1, sizeof *l->item))
        return false;
    l->item[l->count++] = *x;
    return true;
}

#endif

/* access.h - one memory access of a program, as CPU traces record it. */
#ifndef COALIGN_TRACE_ACCESS_H
#define COALIGN_TRACE_ACCESS_H

#include <stdint.h>

typedef enum trace_access_kind {
    TRACE_READ,
    TRACE_WRITE,
    TRACE_MODIFY, /* a read, then a write of the same bytes */
    TRACE_FETCH,  /* of an instruction */
} trace_access_kind;

typedef struct trace_access {
    uint64_t addr;
    uint32_t size; /* bytes */
    uint8_t kind;  /* trace_access_kind */
} trace_access;

#endif

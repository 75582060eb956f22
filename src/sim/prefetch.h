/* prefetch.h - which lines a core's prefetchers ask for. State only: the owner decides whether there is room for them.
 *
 * First level (fed with every load):
 *   next line: a load of the line after the one loaded before it asks for the line after that
 *   stride: per load instruction, the distance between its last two addresses; seen twice, asks `distance` ahead
 * Last private level (fed with every request of the level before it):
 *   adjacent line: the other line of its aligned pair
 *   streams: per block of boundary_bytes the direction of the requests; two in one direction make a stream, which then
 *   runs at most `stream_distance` lines ahead
 * Nothing leaves its block of boundary_bytes. After: Intel 64 and IA-32 Architectures Optimization Reference Manual,
 * "Data Prefetching" (DCU prefetcher, IP-based stride prefetcher, spatial prefetcher, streamer).
 */
#ifndef COALIGN_SIM_PREFETCH_H
#define COALIGN_SIM_PREFETCH_H

#include "base/status.h"
#include "machine/machine.h"

enum { PREFETCH_LINES_MAX = 16 };

typedef struct stride_entry {
    uint32_t instruction; /* + 1; 0 = empty */
    uint32_t confidence;
    uint64_t address;
    int64_t stride;
} stride_entry;

typedef struct stream_entry {
    uint64_t block; /* + 1; 0 = empty */
    uint64_t used;  /* when last */
    uint64_t line, ahead;
    int32_t direction, confidence;
} stream_entry;

typedef struct prefetcher {
    const prefetch_desc *desc;
    uint32_t line_shift, block_shift; /* of a line; of a block, in lines */
    uint64_t last_line;
    stride_entry *stride;
    stream_entry *stream;
    uint64_t clock;
    uint32_t last_stream; /* the one looked for last */
} prefetcher;

status prefetcher_init(prefetcher *p, const prefetch_desc *desc, uint32_t line_bytes, message *m);
void prefetcher_free(prefetcher *p);

/* A load at this physical address by instruction `instruction`: lines that the first level should fetch. */
uint32_t prefetch_first(prefetcher *p, uint32_t instruction, uint64_t address, uint64_t line[PREFETCH_LINES_MAX]);
/* A request for this line reached the last private level: lines that it should fetch. */
uint32_t prefetch_outer(prefetcher *p, uint64_t request, bool demand, uint64_t line[PREFETCH_LINES_MAX]);

#endif

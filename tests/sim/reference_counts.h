/* reference_counts.h - cache-only replay the slow and obvious way, to compare sim/counts with: each line in a cache is
 * a record with the time of its last use, each question a search through all of them. */
#ifndef COALIGN_TESTS_SIM_REFERENCE_COUNTS_H
#define COALIGN_TESTS_SIM_REFERENCE_COUNTS_H

#include "sim/counts.h"

typedef struct reference reference;

/* LRU and FIFO only. */
reference *reference_new(const counts_hierarchy *h);
void reference_free(reference *r);
void reference_access(reference *r, trace_access a);
/* The instruction cache has level -1. */
counts_level reference_of(const reference *r, int level);
/* Bytes of sectors that were there, but touched by an access of the first level that missed another of them: Dinero
 * fetches those again. */
uint64_t reference_present_bytes(const reference *r);

#endif

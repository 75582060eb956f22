/* cache_option.h - caches for cache-only replay, from the command line or from a machine. */
#ifndef COALIGN_CMD_CACHE_OPTION_H
#define COALIGN_CMD_CACHE_OPTION_H

#include "machine/machine.h"
#include "sim/counts.h"

/* "I1=32K:8:64,L1=48K:12:64,LL=2M:16:64": name=size:ways:line of each level, nearest to the core first. After the line
 * may come, in any order, further words: sN (sectors of N bytes), lru (default), fifo, random, wb (write-back, default)
 * or wt (write-through), wa (write-allocate, default) or nwa. K, M and G are powers of 1024. A first cache whose name
 * begins with I is an instruction cache beside the next. ERR_INPUT names the word at fault. */
status cache_option_parse(const char *text, counts_hierarchy *h, message *m);

/* The levels that one core sees: its own, and all of what it shares. A size that is not a whole number of sets is
 * rounded down, as the engine does. Its partial writes are not looked at: a store that misses fetches its sectors, also
 * where the machine keeps byte masks. */
void caches_of_machine(const machine *mach, counts_hierarchy *h);

#endif

/* counts.h - cache-only replay: what a stream of accesses does to a hierarchy of caches. Counts only, no time.
 *
 * Every level is set associative, with any number of sets; the set of a line is its (hashed) number modulo the sets.
 * Levels are neither inclusive nor exclusive: a miss brings the line into every level on its way. A level first asks
 * the one below for what it lacks and then writes back what had to leave. Write-backs bring whole sectors and need no
 * fetch where they cover a sector of the level below; stores of the program always fetch (a read for ownership).
 *
 * Two sets of rules. COUNTS_HARDWARE: each line that an access touches is an access of its own; a modify is a read and
 * then a write of the same place. COUNTS_CACHEGRIND: those of Valgrind's Cachegrind (cg_sim.c, cg_main.c of 3.19),
 * which count program accesses instead: see counts_run.
 *
 * Speed: a set is one cache line of the host (up to 16 ways): a byte of each tag to compare all at once, the order of
 * the ways as 4-bit numbers in one word, and the state of the sectors.
 */
#ifndef COALIGN_SIM_COUNTS_H
#define COALIGN_SIM_COUNTS_H

#include "base/status.h"
#include "machine/machine.h"
#include "trace/access.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    COUNTS_LEVELS_MAX = MACHINE_LEVELS_MAX,
    COUNTS_WAYS_MAX = 4096,  /* larger fully associative caches: mrc.h */
    COUNTS_SECTORS_MAX = 8,  /* of a line */
    COUNTS_LINE_MAX = 65536, /* bytes */
    COUNTS_NAME_MAX = 16,
};

typedef struct counts_cache {
    char name[COUNTS_NAME_MAX];
    uint64_t size_bytes;   /* sets * ways * line_bytes */
    uint32_t ways;         /* 1 .. COUNTS_WAYS_MAX */
    uint32_t line_bytes;   /* a power of two, 4 .. COUNTS_LINE_MAX */
    uint32_t sector_bytes; /* a power of two, line_bytes / COUNTS_SECTORS_MAX .. line_bytes */
    replacement replace;   /* random: the same sequence in every run */
    bool write_back;       /* else a store also goes to the next level at once */
    bool write_allocate;   /* else a store that misses only goes to the next level */
    address_hash set_hash;
} counts_cache;

typedef enum counts_rules { COUNTS_HARDWARE, COUNTS_CACHEGRIND } counts_rules;

typedef struct counts_hierarchy {
    counts_rules rules;
    bool has_fetch; /* fetch describes a first-level instruction cache, whose misses go to data[1] */
    counts_cache fetch;
    uint32_t levels;                      /* 1 .. COUNTS_LEVELS_MAX */
    counts_cache data[COUNTS_LEVELS_MAX]; /* nearest to the core first */
} counts_hierarchy;

typedef enum counts_kind { COUNTS_READ, COUNTS_WRITE, COUNTS_FETCH, COUNTS_KINDS } counts_kind;

/* What a level has seen. Below the first, reads are what the level above lacked, whoever wanted it, and writes are
 * write-backs and stores written through; with COUNTS_CACHEGRIND an access keeps its kind in all levels. */
typedef struct counts_level {
    struct {
        uint64_t accesses, misses; /* lines (COUNTS_CACHEGRIND: program accesses); a miss lacks one sector or more */
    } of[COUNTS_KINDS];
    uint64_t write_backs;               /* lines that left with dirty sectors, or were cleaned by counts_flush */
    uint64_t bytes_read, bytes_written; /* from and to the level below */
} counts_level;

typedef struct counts counts;

/* ERR_INPUT names the cache and what is wrong with it. */
status counts_check(const counts_cache *k, message *m);

/* ERR_INPUT names the cache and what is wrong with it; ERR_MEMORY. *out is NULL on failure. */
status counts_new(const counts_hierarchy *h, counts **out, message *m);
void counts_free(counts *c);

/* The next accesses of the stream. An access of 0 bytes does nothing; one that would pass the end of the address space
 * ends there. Fetches count only where there is an instruction cache.
 * With COUNTS_CACHEGRIND: an access of any size is one access with at most one miss in each level, though it touches
 * the two lines it may lie in, and goes to the next level as a whole; data accesses longer than the shortest line of
 * the hierarchy count as that long; a modify is one read; nothing is ever written back or through. */
void counts_run(counts *c, const trace_access *access, size_t count);

/* Writes back everything dirty, first level first, and leaves it there, clean: the end of a program as some tools see
 * it. */
void counts_flush(counts *c);

/* level < levels. The instruction cache: counts_of_fetch, zeros where there is none. */
counts_level counts_of(const counts *c, uint32_t level);
counts_level counts_of_fetch(const counts *c);

#endif

/* counts_plain.h - the caches that most hierarchies are made of, replayed fast (internal to counts.c).
 *
 * Plain: LRU, write-back, write-allocate, one sector a line, at most 16 ways, no address hash, and lines of one size in
 * all levels. Such a level is a filter: a stream of requests for lines goes in, the stream of what it asks of the level
 * below comes out, so each level is one loop over an array.
 *
 * A set keeps a byte of each tag, compared all at once, and the order of its ways as sixteen 4-bit numbers in one word:
 * to bring a line in is a shift, and the lines themselves never move.
 */
#ifndef COALIGN_SIM_COUNTS_PLAIN_H
#define COALIGN_SIM_COUNTS_PLAIN_H

#include "sim/counts.h"

enum { PLAIN_WAYS_MAX = 16 };

/* line << 2 | counts_kind; lines have 4 bytes or more, so nothing is lost. */
typedef uint64_t plain_request;

static inline plain_request plain_request_of(uint64_t line, counts_kind kind) {
    return line << 2 | kind;
}

/* `word` is the request that would write the line back; in bit 0, COUNTS_WRITE where it is dirty, else 0. */
typedef struct plain_set {
    uint8_t check[PLAIN_WAYS_MAX]; /* of each word */
    uint64_t order;                /* ways, the most recently used in the lowest 4 bits */
    uint64_t reserved;             /* check and order never lie across two cache lines of the host */
    uint64_t word[PLAIN_WAYS_MAX];
} plain_set;

typedef struct plain_level {
    uint64_t sets;
    uint64_t mask;        /* (sets - 1) << 2 where sets is a power of two, else 0 */
    uint32_t check_shift; /* to the lowest bits of a request that the set does not tell */
    uint32_t last_shift;  /* of the least recently used way in the order */
    uint32_t line_shift;
    bool first;   /* requests come from the program: its stores fetch their line */
    bool fetches; /* instruction fetches come too */
    bool newer;   /* the host's processor has the instructions of x86-64-v3 that help */
    plain_set *set;
    void *memory;       /* that set lies in */
    plain_request last; /* the last request to a first level, and where its line lies */
    uint64_t *last_word;
    uint64_t accesses[COUNTS_KINDS], misses[COUNTS_KINDS], write_backs;
} plain_level;

/* The cache has been checked. ERR_MEMORY. plain_free in any case. */
status plain_init(plain_level *p, const counts_cache *k, bool first, bool fetches, message *m);
void plain_free(plain_level *p);

/* Requests in, requests for the level below out: at most two for each. Returns their number. */
size_t plain_filter(plain_level *p, const plain_request *in, size_t count, plain_request *out);

/* The same for a first level of data, directly from the program: at most *count accesses, up to the first that is no
 * read or write of bytes in one line. *count: accesses taken. */
size_t plain_accesses(plain_level *p, const trace_access *in, size_t *count, plain_request *out);

/* The set is clean again: write-backs of its dirty lines, the most recently used first. Returns their number. */
size_t plain_clean(plain_level *p, uint64_t set, plain_request *out);

/* What it has seen. */
counts_level plain_seen(const plain_level *p, uint32_t line_bytes);

#endif

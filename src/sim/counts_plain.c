#include "sim/counts_plain.h"

#include "base/mem.h"
#include "base/num.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { HOST_LINE = 64 };

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* The same for newer processors, which need fewer instructions. */
#if defined(__x86_64__) && defined(__GNUC__)
#define NEWER __attribute__((target("avx2,bmi,bmi2")))
static bool newer_processor(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
#else
#define NEWER
static bool newer_processor(void) {
    return false;
}
#endif

/* No line has this number, and it is clean. */
static const uint64_t empty = UINT64_MAX - 3;

status plain_init(plain_level *p, const counts_cache *k, bool first, bool fetches, message *m) {
    const uint64_t sets = k->size_bytes / k->line_bytes / k->ways;
    *p = (plain_level){.sets = sets,
                       .mask = (sets & (sets - 1)) == 0 ? (sets - 1) << 2 : 0,
                       .check_shift = 2 + 63 - (uint32_t)__builtin_clzll(sets),
                       .last_shift = 4 * (k->ways - 1),
                       .line_shift = (uint32_t)__builtin_ctz(k->line_bytes),
                       .first = first,
                       .fetches = fetches,
                       .newer = newer_processor(),
                       .last = empty};
    p->memory = sets < SIZE_MAX ? mem_zero((size_t)sets + 1, sizeof *p->set) : NULL;
    if (!p->memory)
        return fail(m, ERR_MEMORY, "not enough memory for the tags of cache %s", k->name);
    const uintptr_t past = (uintptr_t)p->memory % HOST_LINE;
    p->set = (plain_set *)(void *)((char *)p->memory + (past ? HOST_LINE - past : 0));
    for (plain_set *s = p->set; s < p->set + sets; s++)
        for (uint64_t way = 0; way < PLAIN_WAYS_MAX; way++) {
            s->word[way] = empty;
            s->order |= way < k->ways ? way << 4 * way : 0;
        }
    p->last_word = p->set[0].word;
    return OK;
}

void plain_free(plain_level *p) {
    mem_free(p->memory);
    *p = (plain_level){0};
}

/* Which of 16 bytes are equal to `byte`: bit i for byte i. Without SSE2, bytes above an equal one may be there too. */
static ALWAYS_INLINE uint32_t matches(const uint8_t *check, uint8_t byte) {
#ifdef __SSE2__
    const __m128i all = _mm_load_si128((const __m128i *)(const void *)check);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(all, _mm_set1_epi8((char)byte)));
#else
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint32_t found = 0;
    for (unsigned half = 0; half < 2; half++) {
        uint64_t x;
        memcpy(&x, check + 8 * half, sizeof x);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        x = __builtin_bswap64(x);
#endif
        x ^= ones * byte;
        const uint64_t zero = (x - ones) & ~x & ones << 7;
        /* bit 8 i + 7 goes to bit 56 + i */
        found |= (uint32_t)((zero >> 7) * UINT64_C(0x0102040810204080) >> 56) << (8 * half);
    }
    return found;
#endif
}

/* The order with `way` moved to the front, and what was before it one place back. */
static ALWAYS_INLINE uint64_t moved_first(uint64_t order, uint64_t way) {
    /* The lowest digit that is equal to `way` is the lowest zero digit of x; above it there may be others. */
    const uint64_t ones = UINT64_C(0x1111111111111111);
    const uint64_t x = order ^ ones * way;
    const uint64_t zero = (x - ones) & ~x & ones << 3;
    const uint64_t upto = zero ^ (zero - 1); /* all bits of that digit and below */
    return (order ^ ((order ^ order << 4) & upto)) | way;
}

static ALWAYS_INLINE bool same_line(plain_request a, uint64_t b) {
    return (a ^ b) < 4;
}

static ALWAYS_INLINE plain_set *set_of(const plain_level *p, plain_request r, bool masked) {
    if (masked)
        return p->set + ((r & p->mask) >> 2);
    /* A 32-bit division takes a third of the time on many processors. */
    const uint64_t line = r >> 2;
    return p->set + (line <= UINT32_MAX ? (uint32_t)line % (uint32_t)p->sets : line % p->sets);
}

/* What a loop over requests keeps in registers. */
typedef struct run {
    plain_request *out;
    plain_request last;
    uint64_t *last_word;
    uint64_t misses, write_misses, fetch_misses;
} run;

/* One request. What kind of level this is (first, masked, sees fetches) the compiler knows: these few instructions are
 * all that a replay does. */
static ALWAYS_INLINE void step(const plain_level *l, run *v, plain_request r, bool first, bool masked, bool fetches) {
    if (first) {
        if (same_line(r, v->last)) {
            *v->last_word |= r & COUNTS_WRITE;
            return;
        }
        v->last = r;
    }
    plain_set *set = set_of(l, r, masked);
    const uint8_t check = (uint8_t)(r >> l->check_shift);
    const uint64_t order = set->order;
    for (uint32_t may = matches(set->check, check); may; may &= may - 1) {
        const uint64_t way = (uint64_t)__builtin_ctz(may);
        if (!same_line(r, set->word[way]))
            continue;
        set->order = moved_first(order, way);
        set->word[way] |= r & COUNTS_WRITE;
        if (first)
            v->last_word = &set->word[way];
        return;
    }
    const uint64_t way = order >> l->last_shift & 15;
    const uint64_t old = set->word[way];
    set->word[way] = fetches ? r & ~(uint64_t)COUNTS_FETCH : r;
    set->check[way] = check;
    set->order = order << 4 | way;
    if (first)
        v->last_word = &set->word[way];
    v->misses++;
    v->write_misses += r & COUNTS_WRITE;
    if (fetches)
        v->fetch_misses += r >> 1 & 1;
    /* Stored in any case and then kept or not: whether a victim is dirty cannot be foreseen. */
    *v->out = r & ~(uint64_t)COUNTS_WRITE;
    v->out += first ? 1 : ~r & 1;
    *v->out = old;
    v->out += old & 1;
}

static ALWAYS_INLINE run run_begin(const plain_level *p, plain_request *out) {
    return (run){.out = out, .last = p->last, .last_word = p->last_word};
}

static ALWAYS_INLINE size_t run_end(plain_level *p, const run *v, const plain_request *out) {
    const uint64_t asked = (uint64_t)(v->out - out);
    p->last = v->last;
    p->last_word = v->last_word;
    p->misses[COUNTS_READ] += v->misses - v->write_misses - v->fetch_misses;
    p->misses[COUNTS_WRITE] += v->write_misses;
    p->misses[COUNTS_FETCH] += v->fetch_misses;
    p->write_backs += asked - (p->first ? v->misses : v->misses - v->write_misses);
    return (size_t)asked;
}

static ALWAYS_INLINE size_t filter(plain_level *p, const plain_request *in, size_t count, plain_request *out,
                                   bool first, bool masked, bool fetches) {
    const plain_level l = *p;
    run v = run_begin(p, out);
    uint64_t writes = 0, fetched = 0;
    for (const plain_request *const end = in + count; in < end; in++) {
        writes += *in & COUNTS_WRITE;
        if (fetches)
            fetched += *in >> 1 & 1;
        step(&l, &v, *in, first, masked, fetches);
    }
    p->accesses[COUNTS_READ] += count - writes - fetched;
    p->accesses[COUNTS_WRITE] += writes;
    p->accesses[COUNTS_FETCH] += fetched;
    return run_end(p, &v, out);
}

static ALWAYS_INLINE size_t accesses(plain_level *p, const trace_access *in, size_t *count, plain_request *out,
                                     bool masked) {
    const plain_level l = *p;
    const uint64_t line_mask = (UINT64_C(1) << l.line_shift) - 1;
    run v = run_begin(p, out);
    uint64_t writes = 0;
    const trace_access *a = in;
    for (const trace_access *const end = in + *count; a < end; a++) {
        /* An access of 0 bytes seems to be a very long one. */
        if (a->kind > TRACE_WRITE || (a->addr & line_mask) + (uint32_t)(a->size - 1) > line_mask)
            break;
        writes += a->kind;
        step(&l, &v, (a->addr >> l.line_shift) << 2 | a->kind, true, masked, false);
    }
    *count = (size_t)(a - in);
    p->accesses[COUNTS_READ] += *count - writes;
    p->accesses[COUNTS_WRITE] += writes;
    return run_end(p, &v, out);
}

/* Every kind of level is a loop of its own. */
static ALWAYS_INLINE size_t filter_kinds(plain_level *p, const plain_request *in, size_t count, plain_request *out) {
    const bool masked = p->mask != 0;
    if (p->first)
        return filter(p, in, count, out, true, false, true); /* only odd accesses come this way */
    if (p->fetches)
        return masked ? filter(p, in, count, out, false, true, true) : filter(p, in, count, out, false, false, true);
    return masked ? filter(p, in, count, out, false, true, false) : filter(p, in, count, out, false, false, false);
}

static ALWAYS_INLINE size_t accesses_kinds(plain_level *p, const trace_access *in, size_t *count, plain_request *out) {
    return p->mask ? accesses(p, in, count, out, true) : accesses(p, in, count, out, false);
}

static size_t filter_any(plain_level *p, const plain_request *in, size_t count, plain_request *out) {
    return filter_kinds(p, in, count, out);
}

NEWER static size_t filter_newer(plain_level *p, const plain_request *in, size_t count, plain_request *out) {
    return filter_kinds(p, in, count, out);
}

static size_t accesses_any(plain_level *p, const trace_access *in, size_t *count, plain_request *out) {
    return accesses_kinds(p, in, count, out);
}

NEWER static size_t accesses_newer(plain_level *p, const trace_access *in, size_t *count, plain_request *out) {
    return accesses_kinds(p, in, count, out);
}

size_t plain_filter(plain_level *p, const plain_request *in, size_t count, plain_request *out) {
    return p->newer ? filter_newer(p, in, count, out) : filter_any(p, in, count, out);
}

size_t plain_accesses(plain_level *p, const trace_access *in, size_t *count, plain_request *out) {
    return p->newer ? accesses_newer(p, in, count, out) : accesses_any(p, in, count, out);
}

size_t plain_clean(plain_level *p, uint64_t set, plain_request *out) {
    plain_set *s = &p->set[set];
    size_t count = 0;
    for (uint32_t shift = 0; shift <= p->last_shift; shift += 4) {
        uint64_t *word = &s->word[s->order >> shift & 15];
        if (*word & COUNTS_WRITE) {
            out[count++] = *word;
            *word &= ~(uint64_t)COUNTS_WRITE;
        }
    }
    p->write_backs += count;
    return count;
}

counts_level plain_seen(const plain_level *p, uint32_t line_bytes) {
    counts_level seen = {.write_backs = p->write_backs};
    uint64_t fetched = p->first ? p->misses[COUNTS_WRITE] : 0;
    for (int kind = 0; kind < COUNTS_KINDS; kind++) {
        seen.of[kind].accesses = p->accesses[kind];
        seen.of[kind].misses = p->misses[kind];
        fetched += kind == COUNTS_WRITE ? 0 : p->misses[kind];
    }
    seen.bytes_read = fetched * line_bytes;
    seen.bytes_written = p->write_backs * line_bytes;
    return seen;
}

#include "sim/mrc.h"

#include "base/mem.h"
#include "base/num.h"

#include <math.h>
#include <string.h>

enum {
    GROUPS = 32, /* of sampled lines, whose spread tells the error */
    KINDS = 2,   /* reads, writes */
    SLOTS_MIN = 1024,
    WORD = 64,
};

/* A line that is followed, in an open-addressing table. */
typedef struct followed {
    uint64_t line;
    uint32_t used; /* 0: an empty place */
    uint32_t slot; /* time of last use */
} followed;

struct mrc {
    uint32_t line_shift;
    uint64_t lines_max; /* 0: exact */
    uint32_t shift;     /* 1 in 2^shift lines is followed */
    uint64_t accesses[KINDS];

    followed *table;
    uint64_t places, lines; /* places is a power of two */

    /* Time runs in slots; a slot is live when its line has not been used since. Renumbered when they run out. */
    uint64_t slots, now;
    uint64_t *slot_line;
    uint64_t *live; /* a bit per slot */
    uint32_t *tree; /* Fenwick tree over the words of live */

    /* Reuses and first uses, each counted 2^shift times: [group][kind][distance among followed lines]. */
    uint32_t groups;
    uint64_t distances;
    uint64_t *reuse;
    uint64_t first_use[GROUPS][KINDS];
};

static uint64_t hash_of(uint64_t line) {
    prng g = {.state = line};
    return prng_next(&g);
}

/* ---- building and growing ---------------------------------------------------------------------------------------- */

static uint64_t words_of(uint64_t slots) {
    return slots / WORD;
}

static bool allocate_slots(mrc *c, uint64_t slots) {
    uint64_t *slot_line = slots <= UINT32_MAX ? mem_zero((size_t)slots, sizeof *slot_line) : NULL;
    uint64_t *live = mem_zero((size_t)words_of(slots), sizeof *live);
    uint32_t *tree = mem_zero((size_t)words_of(slots) + 1, sizeof *tree);
    if (!slot_line || !live || !tree) {
        mem_free(slot_line);
        mem_free(live);
        mem_free(tree);
        return false;
    }
    mem_free(c->live);
    mem_free(c->tree);
    c->live = live;
    c->tree = tree;
    c->slots = slots;
    mem_free(c->slot_line);
    c->slot_line = slot_line;
    return true;
}

static bool allocate_reuse(mrc *c, uint64_t distances) {
    uint64_t n = 0;
    if (!mul_u64(distances, (uint64_t)c->groups * KINDS, &n) || n > SIZE_MAX)
        return false;
    uint64_t *reuse = mem_zero((size_t)n, sizeof *reuse);
    if (!reuse)
        return false;
    for (uint32_t i = 0; i < c->groups * KINDS && c->reuse; i++)
        memcpy(reuse + i * distances, c->reuse + i * c->distances, (size_t)c->distances * sizeof *reuse);
    mem_free(c->reuse);
    c->reuse = reuse;
    c->distances = distances;
    return true;
}

static followed *place_of(const mrc *c, uint64_t line) {
    uint64_t at = hash_of(line) >> 8 & (c->places - 1);
    while (c->table[at].used && c->table[at].line != line)
        at = (at + 1) & (c->places - 1);
    return &c->table[at];
}

/* Keeps every line for which the hash says so. */
static bool rebuild_table(mrc *c, uint64_t places) {
    followed *old = c->table;
    const uint64_t old_places = c->places;
    c->table = mem_zero((size_t)places, sizeof *c->table);
    if (!c->table) {
        c->table = old;
        return false;
    }
    c->places = places;
    c->lines = 0;
    for (uint64_t i = 0; i < old_places; i++)
        if (old[i].used && hash_of(old[i].line) >> (64 - c->shift - 1) >> 1 == 0) {
            *place_of(c, old[i].line) = old[i];
            c->lines++;
        }
    mem_free(old);
    return true;
}

static status no_memory(const mrc *c, message *m) {
    return fail(m, ERR_MEMORY, "not enough memory for %llu lines; --sample bounds it", (unsigned long long)c->lines);
}

status mrc_new(uint32_t line_bytes, uint64_t lines_max, mrc **out, message *m) {
    *out = NULL;
    if (line_bytes < 4 || (line_bytes & (line_bytes - 1)))
        return fail(m, ERR_INPUT, "lines of %u bytes: a power of two from 4 is needed", line_bytes);
    if (lines_max && (lines_max < MRC_LINES_MIN || lines_max > MRC_LINES_MAX))
        return fail(m, ERR_INPUT, "a sample of %llu lines: %d to %d are possible", (unsigned long long)lines_max,
                    MRC_LINES_MIN, MRC_LINES_MAX);
    mrc *c = mem_zero(1, sizeof *c);
    if (!c)
        return fail(m, ERR_MEMORY, "not enough memory");
    c->line_shift = (uint32_t)__builtin_ctz(line_bytes);
    c->lines_max = lines_max;
    c->groups = lines_max ? GROUPS : 1;
    if (!allocate_slots(c, SLOTS_MIN) || !rebuild_table(c, SLOTS_MIN) || !allocate_reuse(c, SLOTS_MIN)) {
        mrc_free(c);
        return fail(m, ERR_MEMORY, "not enough memory");
    }
    *out = c;
    return OK;
}

void mrc_free(mrc *c) {
    if (!c)
        return;
    mem_free(c->table);
    mem_free(c->slot_line);
    mem_free(c->live);
    mem_free(c->tree);
    mem_free(c->reuse);
    mem_free(c);
}

/* ---- times ------------------------------------------------------------------------------------------------------- */

static void tree_add(mrc *c, uint64_t word, uint32_t delta) {
    for (uint64_t i = word + 1; i <= words_of(c->slots); i += i & -i)
        c->tree[i] += delta; /* modulo 2^32: adds -1 too */
}

/* Live slots up to and with this one. */
static uint64_t live_upto(const mrc *c, uint64_t slot) {
    const uint64_t word = slot / WORD;
    uint64_t sum = (uint64_t)__builtin_popcountll(c->live[word] << (WORD - 1 - slot % WORD));
    for (uint64_t i = word; i; i &= i - 1)
        sum += c->tree[i];
    return sum;
}

static void set_live(mrc *c, uint64_t slot) {
    c->live[slot / WORD] |= UINT64_C(1) << slot % WORD;
    tree_add(c, slot / WORD, 1);
}

static void set_dead(mrc *c, uint64_t slot) {
    c->live[slot / WORD] &= ~(UINT64_C(1) << slot % WORD);
    tree_add(c, slot / WORD, UINT32_MAX);
}

/* Live slots move to the front in their order; more slots when more than half of them are live. Lines that are no
 * longer followed are dropped. */
static status renumber(mrc *c, message *m) {
    uint64_t slots = c->slots;
    while (c->lines * 2 > slots)
        slots *= 2;
    uint64_t *old_line = c->slot_line, *old_live = c->live;
    const uint64_t old_now = c->now;
    c->slot_line = NULL;
    c->live = NULL;
    const bool done = allocate_slots(c, slots);
    if (!done) {
        c->slot_line = old_line;
        c->live = old_live;
        return no_memory(c, m);
    }
    c->now = 0;
    for (uint64_t slot = 0; slot < old_now; slot++) {
        if (!(old_live[slot / WORD] >> slot % WORD & 1))
            continue;
        followed *f = place_of(c, old_line[slot]);
        if (!f->used)
            continue;
        f->slot = (uint32_t)c->now;
        c->slot_line[c->now] = f->line;
        set_live(c, c->now++);
    }
    mem_free(old_line);
    mem_free(old_live);
    return OK;
}

/* ---- accesses ---------------------------------------------------------------------------------------------------- */

/* Half of the lines that are followed are forgotten; distances count twice as much from now on. */
static status halve(mrc *c, message *m) {
    c->shift++;
    for (uint32_t i = 0; i < c->groups * KINDS; i++) {
        uint64_t *reuse = c->reuse + i * c->distances;
        for (uint64_t d = 1; d < c->distances; d++) {
            const uint64_t n = reuse[d];
            reuse[d] = 0;
            reuse[d / 2] += n;
        }
    }
    if (!rebuild_table(c, c->places))
        return no_memory(c, m);
    return renumber(c, m);
}

static uint64_t *reuse_at(const mrc *c, uint64_t line, int kind, uint64_t distance) {
    /* Bits that the choice of lines does not look at. */
    const uint64_t group = hash_of(line) % c->groups;
    return &c->reuse[(group * KINDS + (uint64_t)kind) * c->distances + distance];
}

static status touch(mrc *c, uint64_t line, int kind, message *m) {
    c->accesses[kind]++;
    if (c->shift && hash_of(line) >> (64 - c->shift))
        return OK;
    if (c->now == c->slots)
        TRY(renumber(c, m));
    followed *f = place_of(c, line);
    if (f->used) {
        const uint64_t distance = c->lines - live_upto(c, f->slot);
        uint64_t distances = c->distances;
        while (distance >= distances)
            distances *= 2;
        if (distances > c->distances && !allocate_reuse(c, distances))
            return no_memory(c, m);
        *reuse_at(c, line, kind, distance) += UINT64_C(1) << c->shift;
        set_dead(c, f->slot);
    } else {
        c->first_use[hash_of(line) % c->groups][kind] += UINT64_C(1) << c->shift;
        *f = (followed){.line = line, .used = 1};
        c->lines++;
    }
    f->slot = (uint32_t)c->now;
    c->slot_line[c->now] = line;
    set_live(c, c->now++);
    if (c->lines * 2 > c->places && !rebuild_table(c, c->places * 2))
        return no_memory(c, m);
    if (c->lines_max && c->lines > c->lines_max)
        TRY(halve(c, m));
    return OK;
}

status mrc_run(mrc *c, const trace_access *access, size_t count, message *m) {
    for (const trace_access *a = access; a < access + count; a++) {
        if (a->size == 0 || a->kind == TRACE_FETCH)
            continue;
        uint64_t last = 0;
        if (!add_u64(a->addr, a->size - 1, &last))
            last = UINT64_MAX;
        for (uint64_t line = a->addr >> c->line_shift; line <= last >> c->line_shift; line++)
            TRY(touch(c, line, a->kind == TRACE_WRITE, m));
    }
    return OK;
}

/* ---- the curve --------------------------------------------------------------------------------------------------- */

/* Misses by group in a cache of `lines` lines: first uses and reuses from further away. */
static void misses_at(const mrc *c, double lines, double by_group[GROUPS], double by_kind[KINDS]) {
    /* A distance d among the lines that are followed stands for d << shift, and hits where that is less than `lines`.
     */
    const double least = ceil(lines / ldexp(1, (int)c->shift));
    const uint64_t from = least < (double)c->distances ? (uint64_t)fmax(least, 0) : c->distances;
    by_kind[0] = by_kind[1] = 0;
    for (uint32_t g = 0; g < c->groups; g++) {
        by_group[g] = 0;
        for (int kind = 0; kind < KINDS; kind++) {
            uint64_t n = c->first_use[g][kind];
            for (uint64_t d = from; d < c->distances; d++)
                n += c->reuse[((uint64_t)g * KINDS + (uint64_t)kind) * c->distances + d];
            by_group[g] += (double)n;
            by_kind[kind] += (double)n;
        }
    }
}

/* The standard error of the sum over the groups of lines, of which 1 in 2^shift was followed. */
static double standard_error(const mrc *c, const double by_group[GROUPS]) {
    double sum = 0, squares = 0;
    for (int g = 0; g < GROUPS; g++)
        sum += by_group[g];
    for (int g = 0; g < GROUPS; g++)
        squares += pow(by_group[g] - sum / GROUPS, 2);
    return sqrt((1 - ldexp(1, -(int)c->shift)) * GROUPS / (GROUPS - 1) * squares);
}

mrc_point mrc_at(const mrc *c, uint64_t lines) {
    double group[GROUPS] = {0}, kind[KINDS];
    misses_at(c, (double)lines, group, kind);
    const double all = (double)(c->accesses[0] + c->accesses[1]);
    mrc_point p = {.read_misses = fmin(kind[0], (double)c->accesses[0]),
                   .write_misses = fmin(kind[1], (double)c->accesses[1])};
    p.low = p.high = p.read_misses + p.write_misses;
    if (c->shift == 0)
        return p;
    /* Two errors: which lines were followed, seen in the spread of the groups; and how many of the `lines` last used
     * ones were, a binomial number, which shifts the curve sideways. */
    const double z = 1.96;
    const double aside = z * sqrt((double)lines * (ldexp(1, (int)c->shift) - 1));
    double unused[KINDS];
    misses_at(c, (double)lines + aside, group, unused);
    p.low = fmin(p.low, fmax(unused[0] + unused[1] - z * standard_error(c, group), 0));
    misses_at(c, fmax((double)lines - aside, 0), group, unused);
    p.high = fmax(p.high, fmin(unused[0] + unused[1] + z * standard_error(c, group), all));
    return p;
}

mrc_total mrc_totals(const mrc *c) {
    return (mrc_total){.reads = c->accesses[0],
                       .writes = c->accesses[1],
                       .distinct_lines = c->lines << c->shift,
                       .sampled_shift = c->shift,
                       .followed_lines = c->lines};
}

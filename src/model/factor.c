#include "model/factor.h"

#include "base/mem.h"
#include "base/num.h"
#include "model/footprint.h"

#include <inttypes.h>
#include <stdbool.h>

#define ACCESSES_MAX (UINT64_C(1) << 32)
#define LINES_MAX    (UINT64_C(1) << 28)
#define NOWHERE      UINT32_MAX /* never here */
#define GONE         (UINT32_MAX - 1)

static uint64_t array_bytes(const factor_array *a) {
    return a->elements * a->element_bytes; /* factor_check: fits */
}

static uint64_t round_up(uint64_t bytes) {
    return ceil_div(bytes, FACTOR_ALIGN) * FACTOR_ALIGN;
}

static uint64_t array_base(const factoring *f, uint32_t array) {
    uint64_t base = 0;
    for (uint32_t i = 0; i < array; i++)
        base += round_up(array_bytes(&f->array[i]));
    return base;
}

/* --- checks --------------------------------------------------------------------------------------------------------
 */

static status check_arrays(const factoring *f, message *m) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < f->arrays; i++) {
        uint64_t bytes = 0;
        if (!mul_u64(f->array[i].elements, f->array[i].element_bytes, &bytes) ||
            bytes > LINES_MAX * 32 - FACTOR_ALIGN || (total += round_up(bytes)) > LINES_MAX * 32)
            return fail(m, ERR_INPUT, "the arrays up to '%s' are larger than the %" PRIu64 " GiB that can be followed",
                        f->array[i].name, LINES_MAX * 32 >> 30);
    }
    return OK;
}

static status check_touch(const factoring *f, const factor_touch *t, int64_t elements, message *m) {
    const factor_array *a = &f->array[t->array];
    int64_t low = 0, high = 0, count = 0;
    TRY(lmad_elements(&t->layout, &count, m));
    if (count != elements)
        return fail(m, ERR_INPUT,
                    "the touches of a pass go in step, but one has %" PRId64 " elements and that of '%s' %" PRId64,
                    elements, a->name, count);
    TRY(lmad_range(&t->layout, &low, &high, m));
    if (low < 0 || (high >= 0 && (uint64_t)high >= a->elements))
        return fail(m, ERR_INPUT, "elements %" PRId64 " .. %" PRId64 " lie outside '%s', which has %" PRIu64, low, high,
                    a->name, a->elements);
    return OK;
}

status factor_check(const factoring *f, uint32_t *which, message *m) {
    uint64_t accesses = 0;
    *which = 0;
    TRY(check_arrays(f, m));
    for (uint32_t p = 0; p < f->passes; p++) {
        const factor_pass *pass = &f->pass[p];
        *which = p;
        int64_t elements = 0;
        if (pass->touches)
            TRY(lmad_elements(&f->touch[pass->first_touch].layout, &elements, m));
        for (uint32_t t = 0; t < pass->touches; t++)
            TRY(check_touch(f, &f->touch[pass->first_touch + t], elements, m));
        uint64_t n = 0;
        if (!mul_u64((uint64_t)elements, pass->touches, &n) || !mul_u64(n, pass->repeat, &n) ||
            !add_u64(accesses, n, &accesses) || accesses > ACCESSES_MAX)
            return fail(m, ERR_INPUT, "more than %" PRIu64 " accesses: shrink the passes or their 'repeat'",
                        ACCESSES_MAX);
    }
    return OK;
}

/* --- an LRU cache --------------------------------------------------------------------------------------------------
 */

/* Every line of the arrays knows its slot, so a look-up is one read; the slots of a set form a list, newest first. */
typedef struct lru {
    uint64_t sets;
    uint32_t ways;
    const address_hash *hash;         /* NULL: one set */
    uint32_t *where;                  /* [line]: its slot, GONE, or NOWHERE */
    uint32_t *newer, *older, *line;   /* [slot] */
    uint32_t *newest, *oldest, *used; /* [set] */
} lru;

static void lru_free(lru *c) {
    mem_free(c->where);
    mem_free(c->newer);
    mem_free(c->older);
    mem_free(c->line);
    mem_free(c->newest);
    mem_free(c->oldest);
    mem_free(c->used);
}

static bool lru_init(lru *c, uint64_t lines, uint64_t sets, uint32_t ways, const address_hash *hash) {
    uint64_t slots = 0;
    *c = (lru){.sets = sets, .ways = ways, .hash = hash};
    if (!mul_u64(sets, ways, &slots) || slots >= GONE)
        return false;
    c->where = mem_zero((size_t)lines, sizeof *c->where);
    c->newer = mem_zero((size_t)slots, sizeof *c->newer);
    c->older = mem_zero((size_t)slots, sizeof *c->older);
    c->line = mem_zero((size_t)slots, sizeof *c->line);
    c->newest = mem_zero((size_t)sets, sizeof *c->newest);
    c->oldest = mem_zero((size_t)sets, sizeof *c->oldest);
    c->used = mem_zero((size_t)sets, sizeof *c->used);
    if (!c->where || !c->newer || !c->older || !c->line || !c->newest || !c->oldest || !c->used)
        return false;
    for (uint64_t i = 0; i < lines; i++)
        c->where[i] = NOWHERE;
    return true;
}

static uint64_t set_of(const lru *c, uint64_t line) {
    uint64_t h = line;
    for (uint32_t i = 0; c->hash && i < c->hash->count; i++)
        h ^= line >> c->hash->shift[i];
    return h % c->sets;
}

static void unlink_slot(lru *c, uint64_t set, uint32_t slot) {
    if (c->newest[set] == slot)
        c->newest[set] = c->older[slot];
    else
        c->older[c->newer[slot]] = c->older[slot];
    if (c->oldest[set] == slot)
        c->oldest[set] = c->newer[slot];
    else
        c->newer[c->older[slot]] = c->newer[slot];
}

static void put_first(lru *c, uint64_t set, uint32_t slot, bool only) {
    c->older[slot] = c->newest[set];
    if (only)
        c->oldest[set] = slot;
    else
        c->newer[c->newest[set]] = slot;
    c->newest[set] = slot;
}

typedef enum found { HIT, MISS, FIRST } found;

static found touch(lru *c, uint32_t line) {
    const uint64_t set = set_of(c, line);
    uint32_t slot = c->where[line];
    if (slot < GONE) {
        if (c->newest[set] != slot) {
            unlink_slot(c, set, slot);
            put_first(c, set, slot, false);
        }
        return HIT;
    }
    const found result = slot == NOWHERE ? FIRST : MISS;
    if (c->used[set] < c->ways) {
        slot = (uint32_t)(set * c->ways) + c->used[set];
        put_first(c, set, slot, c->used[set]++ == 0);
    } else {
        slot = c->oldest[set];
        c->where[c->line[slot]] = GONE;
        if (c->ways > 1) {
            unlink_slot(c, set, slot);
            put_first(c, set, slot, false);
        }
    }
    c->line[slot] = line;
    c->where[line] = slot;
    return result;
}

/* --- the walk ------------------------------------------------------------------------------------------------------
 */

typedef struct walk {
    const lmad *l;
    int64_t index[LMAD_RANK_MAX];
    int64_t offset;
} walk;

static void step(walk *w) {
    for (uint32_t k = w->l->rank; k-- > 0;) {
        w->offset += w->l->stride[k];
        if (++w->index[k] < w->l->size[k])
            return;
        w->offset -= w->l->size[k] * w->l->stride[k];
        w->index[k] = 0;
    }
}

typedef struct run {
    const factoring *f;
    uint32_t line_bytes;
    lru full, sets;
    factor_count *count; /* of this pass */
    walk walk[FACTOR_TOUCHES_MAX];
    uint64_t base[FACTOR_ARRAYS_MAX];
} run;

static void access_element(run *r, uint32_t array, int64_t element) {
    const uint32_t bytes = r->f->array[array].element_bytes;
    const uint64_t first = r->base[array] + (uint64_t)element * bytes;
    factor_count *n = &r->count[array];
    for (uint64_t line = first / r->line_bytes; line <= (first + bytes - 1) / r->line_bytes; line++) {
        const found full = touch(&r->full, (uint32_t)line), sets = touch(&r->sets, (uint32_t)line);
        n->accesses++;
        n->compulsory += full == FIRST;
        n->capacity += full == MISS;
        n->conflict += (sets == MISS) - (full == MISS);
    }
}

static void run_pass(run *r, const factor_pass *p) {
    int64_t elements = 0;
    message m;
    if (!p->touches || lmad_elements(&r->f->touch[p->first_touch].layout, &elements, &m) != OK)
        return;
    for (uint64_t turn = 0; turn < p->repeat && elements > 0; turn++) {
        for (uint32_t t = 0; t < p->touches; t++)
            r->walk[t] = (walk){.l = &r->f->touch[p->first_touch + t].layout,
                                .offset = r->f->touch[p->first_touch + t].layout.offset};
        for (int64_t i = 0; i < elements; i++)
            for (uint32_t t = 0; t < p->touches; t++) {
                access_element(r, r->f->touch[p->first_touch + t].array, r->walk[t].offset);
                step(&r->walk[t]);
            }
    }
}

status factor_cache(const factoring *f, const cache_level *cache, factor_count (*count)[FACTOR_ARRAYS_MAX],
                    message *m) {
    run *r = mem_zero(1, sizeof *r);
    const uint64_t lines = array_base(f, f->arrays) / cache->line_bytes + 1;
    const uint64_t capacity = cache->size_bytes / cache->line_bytes;
    /* More places than lines there are serve no line more. */
    const uint32_t places = (uint32_t)(capacity < lines ? capacity : lines);
    status s = OK;
    if (!r || !lru_init(&r->full, lines, 1, places, NULL) ||
        !lru_init(&r->sets, lines, capacity / cache->ways, cache->ways, &cache->set_hash)) {
        s = fail(m, ERR_MEMORY, "not enough memory for a cache of %" PRIu64 " lines", capacity);
    } else {
        r->f = f;
        r->line_bytes = cache->line_bytes;
        for (uint32_t a = 0; a < f->arrays; a++)
            r->base[a] = array_base(f, a);
        for (uint32_t p = 0; p < f->passes; p++) {
            for (uint32_t a = 0; a < f->arrays; a++)
                count[p][a] = (factor_count){0};
            r->count = count[p];
            run_pass(r, &f->pass[p]);
        }
    }
    if (r) {
        lru_free(&r->full);
        lru_free(&r->sets);
    }
    mem_free(r);
    return s;
}

uint64_t factor_working_set(const factoring *f, uint32_t pass, uint32_t line_bytes) {
    uint64_t lines = 0;
    const factor_pass *p = &f->pass[pass];
    for (uint32_t a = 0; a < f->arrays; a++) {
        uint64_t most = 0; /* touches of one array overlap in ways that are not followed here */
        for (uint32_t t = p->first_touch; t < p->first_touch + p->touches; t++) {
            bool exact = false;
            if (f->touch[t].array != a)
                continue;
            const uint64_t n = footprint_units(&f->touch[t].layout, f->array[a].element_bytes,
                                               (int64_t)array_base(f, a), line_bytes, &exact);
            most = n > most ? n : most;
        }
        lines += most;
    }
    return lines * line_bytes;
}

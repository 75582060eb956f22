#include "kernel/ir.h"

#include "base/num.h"

#include <stdbool.h>
#include <string.h>

typedef __int128 wide; /* holds every sum and product of two 64-bit numbers met below */

enum { CODE, ACCESSES, BOUNDS, TERMS, INDICES, LOOPS }; /* order of kernel.capacity */

/* The array with room for one more element, or NULL (the old array stays valid). */
static void *room(kernel *k, int which, void *array, uint32_t count, size_t size, message *m) {
    void *data = array;
    if (count == UINT32_MAX || !mem_reserve(&data, &k->capacity[which], (size_t)count + 1, size)) {
        fail(m, ERR_MEMORY, "Not enough memory for the instructions of kernel %s.", k->name);
        return NULL;
    }
    return data;
}

status ir_add_inst(kernel *k, ir_inst inst, message *m) {
    ir_inst *p = room(k, CODE, k->code, k->code_count, sizeof *p, m);
    if (!p)
        return ERR_MEMORY;
    k->code = p;
    p[k->code_count++] = inst;
    return OK;
}

status ir_add_index(kernel *k, ir_index index, uint32_t *id, message *m) {
    ir_index *p = room(k, INDICES, k->indices, k->index_count, sizeof *p, m);
    if (!p)
        return ERR_MEMORY;
    k->indices = p;
    p[k->index_count] = index;
    *id = k->index_count++;
    return OK;
}

status ir_add_term(kernel *k, ir_term term, message *m) {
    ir_term *p = room(k, TERMS, k->terms, k->term_count, sizeof *p, m);
    if (!p)
        return ERR_MEMORY;
    k->terms = p;
    p[k->term_count++] = term;
    return OK;
}

status ir_add_bound(kernel *k, ir_bound bound, message *m) {
    ir_bound *p = room(k, BOUNDS, k->bounds, k->bound_count, sizeof *p, m);
    if (!p)
        return ERR_MEMORY;
    k->bounds = p;
    p[k->bound_count++] = bound;
    return OK;
}

status ir_add_access(kernel *k, ir_access access, uint16_t *id, message *m) {
    if (k->access_count >= IR_NONE)
        return fail(m, ERR_INPUT, "Kernel %s needs more than %d memory accesses.", k->name, IR_NONE);
    ir_access *p = room(k, ACCESSES, k->accesses, k->access_count, sizeof *p, m);
    if (!p)
        return ERR_MEMORY;
    k->accesses = p;
    p[k->access_count] = access;
    *id = (uint16_t)k->access_count++;
    return OK;
}

status ir_add_loop(kernel *k, ir_loop loop, uint16_t *id, message *m) {
    if (k->loop_count >= IR_NONE)
        return fail(m, ERR_INPUT, "Kernel %s needs more than %d loops.", k->name, IR_NONE);
    ir_loop *p = room(k, LOOPS, k->loops, k->loop_count, sizeof *p, m);
    if (!p)
        return ERR_MEMORY;
    k->loops = p;
    p[k->loop_count] = loop;
    *id = (uint16_t)k->loop_count++;
    return OK;
}

uint64_t ir_scattered(uint64_t seed, int64_t quotient, uint64_t mod) {
    prng g = {.state = seed + (uint64_t)quotient};
    return prng_below(&g, mod);
}

uint64_t ir_permuted(uint64_t seed, int64_t quotient, uint64_t mod) {
    const int64_t rest = quotient % (int64_t)mod;
    uint64_t x = (uint64_t)(rest < 0 ? rest + (int64_t)mod : rest);
    if (mod < 2)
        return 0;
    const uint32_t half = (65 - (uint32_t)__builtin_clzll(mod - 1)) / 2; /* bits */
    const uint64_t low = (UINT64_C(1) << half) - 1;
    do {
        uint64_t left = x >> half, right = x & low;
        for (uint64_t round = 0; round < 4; round++) {
            const uint64_t mixed = left ^ (ir_scattered(seed + (round << 56), (int64_t)right, low + 1));
            left = right;
            right = mixed;
        }
        x = left << half | right;
    } while (x >= mod);
    return x;
}

uint64_t ir_scatter_value(const ir_term *t, int64_t quotient) {
    return t->permute ? ir_permuted(t->scatter, quotient, t->mod) : ir_scattered(t->scatter, quotient, t->mod);
}

void kernel_free(kernel *k) {
    mem_free(k->code);
    mem_free(k->accesses);
    mem_free(k->bounds);
    mem_free(k->terms);
    mem_free(k->indices);
    mem_free(k->loops);
    memset(k, 0, sizeof *k);
}

static bool fits(wide value) {
    return value >= INT64_MIN && value <= INT64_MAX;
}

static bool range_fits(uint32_t first, uint32_t count, uint32_t size) {
    return first <= size && count <= size - first;
}

/* Widens [lo, hi] by step * (0 .. count - 1). */
static void widen(wide *lo, wide *hi, int64_t step, uint64_t count) {
    wide reach = count ? (wide)step * (wide)(count - 1) : 0;
    *(reach < 0 ? lo : hi) += reach;
}

/* Smallest and largest value of an index over all threads, blocks and turns. */
static void index_range(const kernel *k, const ir_index *x, wide *lo, wide *hi) {
    uint64_t trips[IR_LOOPS_MAX] = {0};
    for (uint32_t i = 0; i < k->loop_count; i++)
        if (k->loops[i].trips > trips[k->loops[i].depth])
            trips[k->loops[i].depth] = k->loops[i].trips;
    *lo = *hi = x->base;
    widen(lo, hi, x->per_thread, k->block_threads);
    widen(lo, hi, x->per_block, k->blocks);
    for (int d = 0; d < IR_LOOPS_MAX; d++)
        widen(lo, hi, x->per_loop[d], trips[d]);
}

static status check_indices(const kernel *k, message *m) {
    for (uint32_t i = 0; i < k->index_count; i++) {
        wide lo = 0, hi = 0;
        index_range(k, &k->indices[i], &lo, &hi);
        if (!fits(lo) || !fits(hi))
            return fail(m, ERR_INTERNAL, "Kernel %s: index %u leaves 64 bits.", k->name, i);
    }
    return OK;
}

/* The largest |value| of a term; its index is known to exist and to fit 64 bits. */
static wide term_reach(const kernel *k, const ir_term *term) {
    wide quotient = 0;
    if (term->mod) {
        quotient = (wide)term->mod - 1;
    } else {
        wide lo = 0, hi = 0;
        index_range(k, &k->indices[term->index], &lo, &hi);
        quotient = ((-lo > hi ? -lo : hi) - 1) / (wide)term->div + 1;
    }
    return quotient * (term->mul < 0 ? -(wide)term->mul : term->mul);
}

/* The terms of one access or bound, started at `base`: references, and that the sum stays within 64 bits. */
static status check_terms(const kernel *k, const char *what, uint32_t id, int64_t base, uint32_t first, uint32_t count,
                          message *m) {
    if (!range_fits(first, count, k->term_count))
        return fail(m, ERR_INTERNAL, "Kernel %s: %s %u names a term that does not exist.", k->name, what, id);
    wide reach = base < 0 ? -(wide)base : base;
    for (uint32_t t = first; t < first + count; t++) {
        const ir_term *term = &k->terms[t];
        if (term->index >= k->index_count)
            return fail(m, ERR_INTERNAL, "Kernel %s: term %u names index %u, which does not exist.", k->name, t,
                        term->index);
        if (term->div < 1 || term->div > INT64_MAX || term->mod > INT64_MAX)
            return fail(m, ERR_INTERNAL, "Kernel %s: term %u divides by 0 or by more than 2^63 - 1.", k->name, t);
        if (term->scatter && !term->mod)
            return fail(m, ERR_INTERNAL, "Kernel %s: term %u scatters over no range.", k->name, t);
        wide more = term_reach(k, term);
        reach = fits(more) ? reach + more : more;
        if (!fits(reach))
            return fail(m, ERR_INTERNAL, "Kernel %s: %s %u leaves 64 bits.", k->name, what, id);
    }
    return OK;
}

static status check_accesses(const kernel *k, message *m) {
    for (uint32_t i = 0; i < k->bound_count; i++)
        TRY(check_terms(k, "bound", i, 0, k->bounds[i].first_term, k->bounds[i].terms, m));
    for (uint32_t i = 0; i < k->access_count; i++) {
        const ir_access *a = &k->accesses[i];
        TRY(check_terms(k, "access", i, a->base, a->first_term, a->terms, m));
        if (!range_fits(a->first_bound, a->bounds, k->bound_count))
            return fail(m, ERR_INTERNAL, "Kernel %s: access %u names a bound that does not exist.", k->name, i);
        if (a->bytes == 0 || a->bytes > IR_ACCESS_MAX || (a->bytes & (a->bytes - 1)) != 0)
            return fail(m, ERR_INTERNAL, "Kernel %s: access %u is %u bytes wide.", k->name, i, a->bytes);
        if (a->space != SPACE_GLOBAL && a->space != SPACE_SHARED && a->space != SPACE_LOCAL)
            return fail(m, ERR_INTERNAL, "Kernel %s: access %u has no memory space.", k->name, i);
    }
    return OK;
}

static bool inside(const ir_loop *outer, const ir_loop *inner) {
    return inner->first >= outer->first && inner->last < outer->last;
}

static status check_loops(const kernel *k, message *m) {
    for (uint32_t i = 0; i < k->loop_count; i++) {
        const ir_loop *a = &k->loops[i];
        if (a->first > a->last || a->last >= k->code_count || a->trips < 1)
            return fail(m, ERR_INTERNAL, "Kernel %s: loop %u has no body or no turns.", k->name, i);
        if (k->code[a->last].op != OP_BRANCH || k->code[a->last].loop != i)
            return fail(m, ERR_INTERNAL, "Kernel %s: loop %u is not closed by its own branch.", k->name, i);
        uint32_t depth = 0;
        for (uint32_t j = 0; j < k->loop_count; j++) {
            const ir_loop *b = &k->loops[j];
            if (j == i)
                continue;
            if (inside(b, a))
                depth++;
            else if (!inside(a, b) && a->first <= b->last && b->first <= a->last)
                return fail(m, ERR_INTERNAL, "Kernel %s: loops %u and %u overlap.", k->name, i, j);
        }
        if (a->depth != depth || depth >= IR_LOOPS_MAX)
            return fail(m, ERR_INTERNAL, "Kernel %s: loop %u says depth %u and lies at %u (at most %d).", k->name, i,
                        a->depth, depth, IR_LOOPS_MAX - 1);
    }
    return OK;
}

/* The counters that an access at code[at] may use are those of the loops around it. */
static status check_counters(const kernel *k, uint32_t at, uint32_t first, uint32_t count, message *m) {
    bool open[IR_LOOPS_MAX] = {false};
    for (uint32_t i = 0; i < k->loop_count; i++)
        if (at >= k->loops[i].first && at <= k->loops[i].last)
            open[k->loops[i].depth] = true;
    for (uint32_t t = first; t < first + count; t++)
        for (int d = 0; d < IR_LOOPS_MAX; d++)
            if (k->indices[k->terms[t].index].per_loop[d] && !open[d])
                return fail(m, ERR_INTERNAL, "Kernel %s: instruction %u counts a loop that it is not in.", k->name, at);
    return OK;
}

static bool is_load(uint8_t op) {
    return op == OP_LOAD || op == OP_SHARED_LOAD;
}

static bool is_store(uint8_t op) {
    return op == OP_STORE || op == OP_SHARED_STORE;
}

static status check_inst(const kernel *k, uint32_t at, message *m) {
    const ir_inst *x = &k->code[at];
    bool memory = is_load(x->op) || is_store(x->op);
    if (x->op >= OP_CLASS_COUNT)
        return fail(m, ERR_INTERNAL, "Kernel %s: instruction %u has no class.", k->name, at);
    if ((x->op == OP_EXIT) != (at + 1 == k->code_count))
        return fail(m, ERR_INTERNAL, "Kernel %s: EXIT must be the last instruction and only that.", k->name);
    if ((is_load(x->op) && !x->dst) || (is_store(x->op) && (x->dst || !x->src[0])))
        return fail(m, ERR_INTERNAL, "Kernel %s: instruction %u moves data from or to no register.", k->name, at);
    if (x->loop != IR_NONE &&
        (x->op != OP_BRANCH || x->loop >= k->loop_count || k->loops[x->loop].last != at || x->access != IR_NONE))
        return fail(m, ERR_INTERNAL, "Kernel %s: instruction %u closes no loop.", k->name, at);
    if (x->access == IR_NONE)
        return memory ? fail(m, ERR_INTERNAL, "Kernel %s: instruction %u has no access.", k->name, at) : OK;
    if (x->access >= k->access_count || (!memory && x->op != OP_BRANCH))
        return fail(m, ERR_INTERNAL, "Kernel %s: instruction %u cannot have access %u.", k->name, at, x->access);
    const ir_access *a = &k->accesses[x->access];
    bool shared = x->op == OP_SHARED_LOAD || x->op == OP_SHARED_STORE;
    if (memory && shared != (a->space == SPACE_SHARED))
        return fail(m, ERR_INTERNAL, "Kernel %s: instruction %u is in the wrong memory space.", k->name, at);
    if (!memory && !a->bounds)
        return fail(m, ERR_INTERNAL, "Kernel %s: exit test %u tests nothing.", k->name, at);
    TRY(check_counters(k, at, a->first_term, a->terms, m));
    for (uint32_t b = a->first_bound; b < a->first_bound + a->bounds; b++)
        TRY(check_counters(k, at, k->bounds[b].first_term, k->bounds[b].terms, m));
    return OK;
}

status ir_check(const kernel *k, message *m) {
    if (!memchr(k->name, 0, sizeof k->name))
        return fail(m, ERR_INTERNAL, "A kernel's name does not end.");
    if (!k->code_count || !k->block_threads || !k->registers)
        return fail(m, ERR_INTERNAL, "Kernel %s has no instructions, threads or registers.", k->name);
    TRY(check_loops(k, m));
    TRY(check_indices(k, m));
    TRY(check_accesses(k, m));
    for (uint32_t at = 0; at < k->code_count; at++)
        TRY(check_inst(k, at, m));
    return OK;
}

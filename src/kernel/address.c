#include "kernel/address.h"

/* The hot path of the simulator. A term ((index / div) mod mod) * mul is linear over a run of lanes unless the quotient
 * or the modulo carries in between; two comparisons tell. When every term is linear the access is base + lane * stride
 * and no lane is looked at. Otherwise each term divides once, for the first lane, and steps remainder and quotient from
 * lane to lane by additions.
 *
 * All sums are made in uint64_t: lanes out of bounds may wrap, and wrapping must be defined. */

typedef struct linear {
    uint64_t first, step; /* two's complement */
} linear;

/* A term along a run of lanes, as a machine to step: at lane 0 the index is quotient * div + rest. */
typedef struct walk {
    uint64_t rest, rest_step, div; /* rest, rest_step < div */
    uint64_t value, value_step;    /* the quotient, reduced by mod */
    uint64_t mod;                  /* 0: none */
} walk;

/* Most operands fit 32 bits, and there division is several times faster on many processors. */
static inline uint64_t divide(uint64_t a, uint64_t b, uint64_t *rest) {
    if ((a | b) >> 32) {
        *rest = a % b;
        return a / b;
    }
    *rest = (uint32_t)a % (uint32_t)b;
    return (uint32_t)a / (uint32_t)b;
}

/* Division that rounds towards minus infinity, 0 <= rest < b. */
static inline int64_t divide_floor(int64_t a, uint64_t b, uint64_t *rest) {
    if (a >= 0)
        return (int64_t)divide((uint64_t)a, b, rest);
    uint64_t quotient = divide(-(uint64_t)a, b, rest);
    if (*rest) {
        *rest = b - *rest;
        quotient++;
    }
    return (int64_t)(-quotient);
}

static inline uint64_t reduce(int64_t a, uint64_t mod) {
    if (a >= 0 && (uint64_t)a < mod)
        return (uint64_t)a;
    uint64_t rest = 0;
    divide_floor(a, mod, &rest);
    return rest;
}

static inline int64_t index_at(const ir_index *x, const warp_place *place, uint32_t lane) {
    uint64_t i = (uint64_t)x->base + (uint64_t)x->per_thread * ((uint64_t)place->first_thread + lane) +
                 (uint64_t)x->per_block * place->block;
    for (int d = 0; d < IR_LOOPS_MAX; d++)
        i += (uint64_t)x->per_loop[d] * place->loop[d];
    return (int64_t)i;
}

static inline walk walk_start(const kernel *k, const ir_term *t, const warp_place *place, uint32_t lane) {
    const ir_index *x = &k->indices[t->index];
    walk w = {.div = t->div, .mod = t->mod};
    int64_t index = index_at(x, place, lane), quotient = index, step = 0;
    if (t->div == 1) {
        step = x->per_thread;
    } else {
        quotient = divide_floor(index, t->div, &w.rest);
        if (x->per_thread >= 0 && (uint64_t)x->per_thread < t->div)
            w.rest_step = (uint64_t)x->per_thread;
        else
            step = divide_floor(x->per_thread, t->div, &w.rest_step);
    }
    w.value = t->mod ? reduce(quotient, t->mod) : (uint64_t)quotient;
    w.value_step = t->mod ? reduce(step, t->mod) : (uint64_t)step;
    return w;
}

/* Whether `at` + step, + 2 step, ... + more * step all stay below limit (carry never), or all pass it when each pass
 * takes off limit (carry always). at, step < limit < 2^63; more < 64. */
static inline bool never_carries(uint64_t at, uint64_t step, uint64_t limit, uint32_t more) {
    return (unsigned __int128)step * more < limit - at;
}

static inline bool always_carries(uint64_t at, uint64_t step, uint64_t limit, uint32_t more) {
    return (unsigned __int128)(limit - step) * more <= at;
}

/* The walk over `more` further lanes as first + k * step, if it is. */
static inline bool walk_linear(const walk *w, uint32_t more, linear *out) {
    uint64_t step = w->value_step;
    if (w->rest_step && !never_carries(w->rest, w->rest_step, w->div, more)) {
        if (!always_carries(w->rest, w->rest_step, w->div, more))
            return false;
        step++;
        if (step == w->mod)
            step = 0;
    }
    if (w->mod && step && !never_carries(w->value, step, w->mod, more)) {
        if (!always_carries(w->value, step, w->mod, more))
            return false;
        step -= w->mod;
    }
    out->first = w->value;
    out->step = step;
    return true;
}

static inline uint32_t nearer(uint64_t lanes_away, uint32_t left) {
    return lanes_away < left ? (uint32_t)lanes_away : left;
}

/* Index and lane advance together, by far the most frequent case: between carries the term is constant (the quotient)
 * or counts up (the modulo of an undivided index). */
static void walk_add_slope_1(walk w, uint64_t mul, uint32_t count, uint64_t *sum) {
    bool divided = w.div > 1;
    for (uint32_t i = 0; i < count;) {
        uint32_t run = nearer(divided ? w.div - w.rest : w.mod - w.value, count - i);
        uint64_t value = w.value * mul, step = divided ? 0 : mul;
        for (uint32_t r = 0; r < run; r++)
            sum[i + r] += value + r * step; /* NOLINT(clang-analyzer-core.uninitialized.Assign): zeroed by sum_terms */
        i += run;
        w.rest = 0;
        w.value = divided && w.value + 1 != w.mod ? w.value + 1 : 0;
    }
}

/* Adds mul * the walk's values to sum[0 .. more]. */
static void walk_add(walk w, uint64_t mul, uint32_t more, uint64_t *sum) {
    if (w.div > 1 ? w.rest_step == 1 && w.value_step == 0 : w.mod && w.value_step == 1) {
        walk_add_slope_1(w, mul, more + 1, sum);
        return;
    }
    sum[0] += w.value * mul;
    for (uint32_t i = 1; i <= more; i++) {
        w.rest += w.rest_step;
        uint64_t carry = w.rest >= w.div;
        w.rest -= carry ? w.div : 0;
        w.value += w.value_step + carry;
        w.value -= w.mod && w.value >= w.mod ? w.mod : 0;
        sum[i] += w.value * mul;
    }
}

static void scatter_add(const kernel *k, const ir_term *t, const warp_place *place, uint32_t first, uint32_t more,
                        uint64_t *sum) {
    for (uint32_t i = 0; i <= more; i++) {
        uint64_t rest = 0;
        int64_t quotient = divide_floor(index_at(&k->indices[t->index], place, first + i), t->div, &rest);
        sum[i] += ir_scatter_value(t, quotient) * (uint64_t)t->mul;
    }
}

/* Sums terms over lanes first .. first + more, starting from base. True: linear, in *line; false: in sum[0 .. more]. */
static bool sum_terms(const kernel *k, const warp_place *place, int64_t base, uint32_t first_term, uint32_t terms,
                      uint32_t first, uint32_t more, bool lane_loop, linear *line, uint64_t sum[WARP_WIDTH_MAX]) {
    bool linear_so_far = !lane_loop;
    *line = (linear){.first = (uint64_t)base};
    if (lane_loop)
        for (uint32_t i = 0; i <= more; i++)
            sum[i] = 0;
    for (uint32_t t = first_term; t < first_term + terms; t++) {
        const ir_term *term = &k->terms[t];
        if (!lane_loop && term->div == 1 && term->mod == 0) {
            line->first += (uint64_t)index_at(&k->indices[term->index], place, first) * (uint64_t)term->mul;
            line->step += (uint64_t)k->indices[term->index].per_thread * (uint64_t)term->mul;
            continue;
        }
        if (term->scatter) {
            for (uint32_t i = 0; linear_so_far && i <= more; i++)
                sum[i] = 0;
            linear_so_far = false;
            scatter_add(k, term, place, first, more, sum);
            continue;
        }
        walk w = walk_start(k, term, place, first);
        linear one;
        if (!lane_loop && walk_linear(&w, more, &one)) {
            line->first += one.first * (uint64_t)term->mul;
            line->step += one.step * (uint64_t)term->mul;
            continue;
        }
        if (linear_so_far)
            for (uint32_t i = 0; i <= more; i++)
                sum[i] = 0;
        linear_so_far = false;
        walk_add(w, (uint64_t)term->mul, more, sum);
    }
    if (linear_so_far)
        return true;
    for (uint32_t i = 0; i <= more; i++)
        sum[i] += line->first + line->step * i;
    return false;
}

static inline uint64_t lanes(uint32_t count) {
    return count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
}

/* Which of lanes 0 .. more of a line lie below limit: all, none, a prefix or a suffix. */
static uint64_t line_below(const linear *line, uint32_t more, int64_t limit) {
    int64_t first = (int64_t)line->first, step = (int64_t)line->step;
    int64_t last = (int64_t)(line->first + line->step * more);
    if (first < limit && last < limit)
        return lanes(more + 1);
    if (first >= limit && last >= limit)
        return 0;
    if (first < limit) /* <= last, so step > 0: lanes below ceil((limit - first) / step) */
        return lanes((uint32_t)(((uint64_t)limit - (uint64_t)first - 1) / (uint64_t)step + 1));
    /* last < limit <= first, so step < 0: lanes from floor((first - limit) / -step) + 1 on */
    uint64_t above = ((uint64_t)first - (uint64_t)limit) / -(uint64_t)step + 1;
    return lanes(more + 1) & ~lanes((uint32_t)above);
}

static uint64_t mask_of(const kernel *k, const ir_access *a, const warp_place *place, bool lane_loop,
                        uint64_t sum[WARP_WIDTH_MAX]) {
    uint64_t mask = lanes(place->width);
    for (uint32_t b = a->first_bound; b < a->first_bound + a->bounds && mask; b++) {
        const ir_bound *bound = &k->bounds[b];
        uint32_t first = (uint32_t)__builtin_ctzll(mask);
        uint32_t more = 63 - (uint32_t)__builtin_clzll(mask) - first;
        linear line;
        uint64_t below = 0;
        if (sum_terms(k, place, 0, bound->first_term, bound->terms, first, more, lane_loop, &line, sum))
            below = line_below(&line, more, bound->limit);
        else
            for (uint32_t i = 0; i <= more; i++)
                below |= (uint64_t)((int64_t)sum[i] < bound->limit) << i;
        mask &= below << first;
    }
    return mask;
}

uint64_t address_mask(const kernel *k, const ir_access *a, const warp_place *place) {
    uint64_t sum[WARP_WIDTH_MAX];
    return mask_of(k, a, place, false, sum);
}

void address_warp(const kernel *k, const ir_access *a, const warp_place *place, bool lane_loop, warp_access *out) {
    uint64_t sum[WARP_WIDTH_MAX];
    out->mask = mask_of(k, a, place, lane_loop, sum);
    out->affine = !lane_loop;
    out->base = out->stride = 0;
    if (!out->mask)
        return;
    uint32_t first = (uint32_t)__builtin_ctzll(out->mask);
    uint32_t more = 63 - (uint32_t)__builtin_clzll(out->mask) - first;
    linear line;
    out->affine = sum_terms(k, place, a->base, a->first_term, a->terms, first, more, lane_loop, &line, sum);
    if (out->affine) {
        out->base = (int64_t)(line.first - line.step * first);
        out->stride = (int64_t)line.step;
        return;
    }
    for (uint32_t i = 0; i <= more; i++)
        out->lane[first + i] = (int64_t)sum[i];
}

static int64_t sum_thread(const kernel *k, int64_t base, uint32_t first, uint32_t count, uint64_t block,
                          uint32_t thread, const uint64_t loop[IR_LOOPS_MAX]) {
    int64_t sum = base;
    for (uint32_t t = first; t < first + count; t++) {
        const ir_term *term = &k->terms[t];
        const ir_index *x = &k->indices[term->index];
        int64_t i = x->base + x->per_thread * (int64_t)thread + x->per_block * (int64_t)block;
        for (int d = 0; d < IR_LOOPS_MAX; d++)
            i += x->per_loop[d] * (int64_t)loop[d];
        int64_t div = (int64_t)term->div, mod = (int64_t)term->mod;
        int64_t q = i / div - (i % div < 0);
        if (term->scatter)
            q = (int64_t)ir_scatter_value(term, q);
        else if (mod)
            q = (q % mod + mod) % mod;
        sum += q * term->mul;
    }
    return sum;
}

bool address_thread(const kernel *k, const ir_access *a, uint64_t block, uint32_t thread,
                    const uint64_t loop[IR_LOOPS_MAX], int64_t *address) {
    for (uint32_t b = a->first_bound; b < a->first_bound + a->bounds; b++) {
        const ir_bound *bound = &k->bounds[b];
        if (sum_thread(k, 0, bound->first_term, bound->terms, block, thread, loop) >= bound->limit)
            return false;
    }
    *address = sum_thread(k, a->base, a->first_term, a->terms, block, thread, loop);
    return true;
}

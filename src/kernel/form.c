#include "kernel/form.h"

#include "base/num.h"

#include <string.h>

typedef __int128 wide;

form form_constant(int64_t value) {
    return (form){.kind = FORM_CLOSED, .linear.base = value};
}

static const ir_index nothing;

/* The index without its constant. */
static ir_index slope(ir_index x) {
    x.base = 0;
    return x;
}

static bool same_index(const ir_index *a, const ir_index *b) {
    return memcmp(a, b, sizeof *a) == 0; /* seven int64_t, no padding */
}

static bool flat(const ir_index *x) {
    const ir_index s = slope(*x);
    return same_index(&s, &nothing);
}

static form form_open(void) {
    return (form){.kind = FORM_OPEN};
}

bool form_is_constant(const form *f, int64_t *value) {
    if (f->kind != FORM_CLOSED || f->parts || !flat(&f->linear))
        return false;
    *value = f->linear.base;
    return true;
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

static bool scaled_add(int64_t *to, int64_t from, int64_t scale) {
    int64_t product = 0;
    return mul_i64(from, scale, &product) && add_i64(*to, product, to);
}

static bool index_add(ir_index *a, const ir_index *b, int64_t scale) {
    bool fits = scaled_add(&a->base, b->base, scale) && scaled_add(&a->per_thread, b->per_thread, scale) &&
                scaled_add(&a->per_block, b->per_block, scale);
    for (uint32_t i = 0; i < IR_LOOPS_MAX && fits; i++)
        fits = scaled_add(&a->per_loop[i], b->per_loop[i], scale);
    return fits;
}

static bool part_add(form *f, const form_part *p, int64_t scale) {
    form_part added = *p;
    if (!mul_i64(p->mul, scale, &added.mul))
        return false;
    for (uint32_t i = 0; i < f->parts; i++) {
        form_part *q = &f->part[i];
        if (same_index(&q->index, &p->index) && q->div == p->div && q->mod == p->mod) {
            if (!add_i64(q->mul, added.mul, &q->mul))
                return false;
            if (q->mul == 0)
                *q = f->part[--f->parts];
            return true;
        }
    }
    if (!added.mul)
        return true;
    if (f->parts == FORM_PARTS_MAX)
        return false;
    f->part[f->parts++] = added;
    return true;
}

/* What cannot be said in closed form, but still depends on data or not. */
static form open_form(const form *a, const form *b) {
    if (a->kind == FORM_DATA)
        return *a;
    if (b->kind == FORM_DATA)
        return *b;
    return form_open();
}

form form_add(const form *a, const form *b, int64_t scale) {
    if (a->kind != FORM_CLOSED || b->kind != FORM_CLOSED)
        return open_form(a, b);
    form f = *a;
    bool fits = index_add(&f.linear, &b->linear, scale);
    for (uint32_t i = 0; i < b->parts && fits; i++)
        fits = part_add(&f, &b->part[i], scale);
    return fits ? f : form_open();
}

bool form_counts(const form *f, int depth) {
    bool counts = f->linear.per_loop[depth] != 0;
    for (uint32_t i = 0; i < f->parts; i++)
        counts = counts || f->part[i].index.per_loop[depth] != 0;
    return counts;
}

bool form_alike(const form *a, const form *b, int64_t *difference) {
    const ir_index x = slope(a->linear), y = slope(b->linear);
    if (a->kind != FORM_CLOSED || b->kind != FORM_CLOSED || a->parts != b->parts || !same_index(&x, &y))
        return false;
    for (uint32_t i = 0; i < a->parts; i++) {
        const form_part *p = &a->part[i], *q = &b->part[i];
        if (!same_index(&p->index, &q->index) || p->div != q->div || p->mod != q->mod || p->mul != q->mul)
            return false;
    }
    return !__builtin_sub_overflow(b->linear.base, a->linear.base, difference);
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

static void widen(wide *lo, wide *hi, wide from, wide to) {
    *lo += from < to ? from : to;
    *hi += from < to ? to : from;
}

static uint64_t product3(const int64_t v[3]) {
    return (uint64_t)(v[0] * v[1] * v[2]); /* fits 31 bits (body.h) */
}

static void index_range(const form_scope *s, const ir_index *x, wide *lo, wide *hi) {
    *lo = *hi = x->base;
    widen(lo, hi, 0, (wide)x->per_thread * (wide)(product3(s->b->threads) - 1));
    widen(lo, hi, 0, (wide)x->per_block * (wide)(product3(s->b->blocks) - 1));
    for (int d = 0; d < IR_LOOPS_MAX; d++)
        if (s->trips[d])
            widen(lo, hi, 0, (wide)x->per_loop[d] * (wide)(s->trips[d] - 1));
}

static bool fits(wide x) {
    return x >= INT64_MIN && x <= INT64_MAX;
}

static wide floor_div(wide a, wide b) {
    return a / b - (a % b < 0);
}

bool form_range(const form_scope *s, const form *f, int64_t *lo, int64_t *hi) {
    wide a = 0, b = 0;
    index_range(s, &f->linear, &a, &b);
    for (uint32_t i = 0; i < f->parts; i++) {
        const form_part *p = &f->part[i];
        wide from = 0, to = 0;
        index_range(s, &p->index, &from, &to);
        if (!fits(from) || !fits(to))
            return false;
        from = floor_div(from, p->div);
        to = floor_div(to, p->div);
        if (p->mod && (from < 0 || to >= p->mod)) {
            from = 0;
            to = p->mod - 1;
        }
        widen(&a, &b, from * p->mul, to * p->mul);
        if (!fits(a) || !fits(b))
            return false;
    }
    *lo = (int64_t)a;
    *hi = (int64_t)b;
    return f->kind == FORM_CLOSED && fits(a) && fits(b);
}

/* ---- quotients and remainders ------------------------------------------------------------------------------------ */

/* To the quotient when c divides it, else to the rest. */
static void split_number(int64_t number, int64_t c, int64_t *quotient, int64_t *rest) {
    *(number % c == 0 ? quotient : rest) = number % c == 0 ? number / c : number;
}

/* f = c * *times + *rest, where *rest has what c does not divide. */
static void split(const form *f, int64_t c, form *times, form *rest) {
    *times = form_constant(0);
    *rest = form_constant(0);
    const ir_index *x = &f->linear;
    split_number(x->base, c, &times->linear.base, &rest->linear.base);
    split_number(x->per_thread, c, &times->linear.per_thread, &rest->linear.per_thread);
    split_number(x->per_block, c, &times->linear.per_block, &rest->linear.per_block);
    for (uint32_t i = 0; i < IR_LOOPS_MAX; i++)
        split_number(x->per_loop[i], c, &times->linear.per_loop[i], &rest->linear.per_loop[i]);
    if (f->linear.base >= 0) { /* the constant splits wherever that leaves a rest of either sign alone */
        times->linear.base = f->linear.base / c;
        rest->linear.base = f->linear.base % c;
    }
    for (uint32_t i = 0; i < f->parts; i++) {
        form_part p = f->part[i];
        form *to = p.mul % c == 0 ? times : rest;
        if (to == times)
            p.mul /= c;
        to->part[to->parts++] = p;
    }
}

/* The index of f when f is one index, or one part of it. */
static bool single(const form *f, form_part *p) {
    if (!f->parts) {
        *p = (form_part){.index = f->linear, .div = 1, .mul = 1};
        return true;
    }
    *p = f->part[0];
    return f->parts == 1 && p->mul == 1 && same_index(&f->linear, &nothing);
}

static form of_part(form_part p) {
    return (form){.kind = FORM_CLOSED, .parts = 1, .part = {p}};
}

static form divide(const form_scope *s, const form *f, int64_t c, bool remainder) {
    const form open = {.kind = FORM_OPEN};
    int64_t lo = 0, hi = 0;
    if (!form_range(s, f, &lo, &hi) || lo < 0)
        return open;
    form times, rest;
    split(f, c, &times, &rest);
    if (form_range(s, &rest, &lo, &hi) && lo >= 0 && hi < c)
        return remainder ? rest : times;
    form_part p;
    if (!single(f, &p))
        return open;
    if (remainder) {
        if (p.mod && p.mod % c != 0)
            return open;
        p.mod = c;
    } else {
        if ((p.mod && p.mod % c != 0) || !mul_i64(p.div, c, &p.div))
            return open;
        p.mod = p.mod ? p.mod / c : 0;
    }
    return of_part(p);
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

/* tid or bid along an axis, or flat. */
static form position(ir_index index, const int64_t size[3], body_axis axis) {
    form flat_form = {.kind = FORM_CLOSED, .linear = index};
    if (product3(size) == 1)
        return form_constant(0);
    if (axis == AXIS_FLAT)
        return flat_form;
    int64_t div = 1, outer = 1;
    const int at = (int)axis - AXIS_X;
    for (int i = 0; i < at; i++)
        div *= size[i];
    for (int i = at + 1; i < 3; i++)
        outer *= size[i];
    if (size[at] == 1)
        return form_constant(0);
    if (div == 1 && outer == 1)
        return flat_form;
    return of_part((form_part){.index = index, .div = div, .mod = outer > 1 ? size[at] : 0, .mul = 1});
}

static form loop_form(const form_loop *l) {
    form f = form_constant(l->start);
    if (l->depth >= 0)
        f.linear.per_loop[l->depth] = l->step;
    return f;
}

/* Reads of different elements have different forms: the element's number, or, where that has none, thread, block and
 * turn. */
static form data_form(const form_scope *s, const body_expr *load) {
    form f = form_of_element(s, load->array, load->arg);
    if (f.kind != FORM_CLOSED || f.parts) {
        f = form_constant(0);
        int64_t step = 1;
        f.linear.per_thread = step;
        step *= (int64_t)product3(s->b->threads);
        f.linear.per_block = step;
        step *= (int64_t)product3(s->b->blocks);
        for (int d = 0; d < IR_LOOPS_MAX; d++)
            f.linear.per_loop[d] = s->trips[d] ? step + d : 0;
    }
    f.kind = FORM_DATA;
    f.read = load->array;
    return f;
}

static form operation(const form_scope *s, const body_expr *e) {
    form a = form_of(s, e->arg[0]);
    form b = e->args > 1 ? form_of(s, e->arg[1]) : form_constant(0);
    const form zero = form_constant(0);
    int64_t c = 0, d = 0;
    switch (e->kind) {
    case EXPR_ADD:
        return form_add(&a, &b, 1);
    case EXPR_SUB:
        return form_add(&a, &b, -1);
    case EXPR_NEG:
        return form_add(&zero, &a, -1);
    case EXPR_MUL:
        if (form_is_constant(&b, &c))
            return form_add(&zero, &a, c);
        if (form_is_constant(&a, &c))
            return form_add(&zero, &b, c);
        return open_form(&a, &b);
    case EXPR_DIV:
    case EXPR_MOD:
        if (form_is_constant(&a, &d) && form_is_constant(&b, &c) && c > 0)
            return form_constant(e->kind == EXPR_DIV ? d / c : d % c);
        if (a.kind == FORM_CLOSED && form_is_constant(&b, &c) && c > 0)
            return divide(s, &a, c, e->kind == EXPR_MOD);
        return open_form(&a, &b);
    case EXPR_MIN:
    case EXPR_MAX:
        if (form_is_constant(&a, &c) && form_is_constant(&b, &d))
            return form_constant((e->kind == EXPR_MIN) == (c < d) ? c : d);
        return open_form(&a, &b);
    default:
        for (uint32_t i = 0; i < e->args; i++) {
            if (body_type_is_float(e->arg[i]->type))
                continue;
            form x = form_of(s, e->arg[i]);
            if (x.kind == FORM_DATA)
                return x;
        }
        return form_open();
    }
}

form form_of(const form_scope *s, const body_expr *e) {
    switch (e->kind) {
    case EXPR_INTEGER:
        return form_constant(e->integer);
    case EXPR_PARAM:
        return body_type_is_float(e->type) ? form_open() : form_constant(e->param->integer);
    case EXPR_LOOP:
        return loop_form(&s->loop[e->variable->id]);
    case EXPR_LET:
        return s->let[e->variable->id] ? *s->let[e->variable->id] : form_open();
    case EXPR_TID:
        return position((ir_index){.per_thread = 1}, s->b->threads, e->axis);
    case EXPR_BID:
        return position((ir_index){.per_block = 1}, s->b->blocks, e->axis);
    case EXPR_LOAD:
        return data_form(s, e);
    case EXPR_REAL:
        return form_open();
    default:
        return operation(s, e);
    }
}

form form_of_element(const form_scope *s, const body_array *a, body_expr *const *subscript) {
    form f = form_constant(a->offset);
    for (uint32_t d = 0; d < a->rank; d++) {
        form x = form_of(s, subscript[d]);
        f = form_add(&f, &x, a->stride[d]);
        if (f.kind == FORM_OPEN)
            return f;
    }
    return f;
}

/* ---- conditions -------------------------------------------------------------------------------------------------- */

/* a - b + more < 0, unless it always holds. */
static void add_less(const form_scope *s, form_guard *g, const form *a, const form *b, int64_t more) {
    form f = form_add(a, b, -1);
    int64_t lo = 0, hi = 0;
    if (f.kind != FORM_CLOSED || !add_i64(f.linear.base, more, &f.linear.base)) {
        g->known = false;
        return;
    }
    if (form_range(s, &f, &lo, &hi) && hi < 0)
        return;
    if (g->count == FORM_BOUNDS_MAX)
        g->known = false;
    else
        g->less[g->count++] = f;
}

static void comparison(const form_scope *s, const body_expr *e, bool negated, form_guard *g) {
    if (body_type_is_float(e->arg[0]->type) || body_type_is_float(e->arg[1]->type)) {
        g->known = false;
        return;
    }
    form a = form_of(s, e->arg[0]), b = form_of(s, e->arg[1]);
    body_expr_kind kind = e->kind;
    if (negated) {
        static const body_expr_kind opposite[] = {[EXPR_EQ] = EXPR_NE, [EXPR_NE] = EXPR_EQ, [EXPR_LT] = EXPR_GE,
                                                  [EXPR_LE] = EXPR_GT, [EXPR_GT] = EXPR_LE, [EXPR_GE] = EXPR_LT};
        kind = opposite[kind];
    }
    form_guard equal = {.known = true};
    switch (kind) {
    case EXPR_LT:
        add_less(s, g, &a, &b, 0);
        return;
    case EXPR_LE:
        add_less(s, g, &a, &b, -1);
        return;
    case EXPR_GT:
        add_less(s, g, &b, &a, 0);
        return;
    case EXPR_GE:
        add_less(s, g, &b, &a, -1);
        return;
    case EXPR_EQ:
        add_less(s, g, &a, &b, -1);
        add_less(s, g, &b, &a, -1);
        return;
    default: /* not equal: a conjunction only where one side of it cannot be */
        add_less(s, &equal, &a, &b, -1);
        const bool above = equal.count > 0; /* a > b is possible */
        add_less(s, &equal, &b, &a, -1);
        if (!equal.known || equal.count == 2)
            g->known = false;
        else if (above)
            add_less(s, g, &b, &a, 0);
        else
            add_less(s, g, &a, &b, 0);
    }
}

static void conjoin(const form_scope *s, const body_expr *e, bool negated, form_guard *g) {
    int64_t value = 0;
    switch (e->kind) {
    case EXPR_AND:
    case EXPR_OR:
        if ((e->kind == EXPR_OR) != negated) {
            g->known = false;
            return;
        }
        conjoin(s, e->arg[0], negated, g);
        conjoin(s, e->arg[1], negated, g);
        return;
    case EXPR_NOT:
        conjoin(s, e->arg[0], !negated, g);
        return;
    case EXPR_EQ:
    case EXPR_NE:
    case EXPR_LT:
    case EXPR_LE:
    case EXPR_GT:
    case EXPR_GE:
        comparison(s, e, negated, g);
        return;
    default: {
        const form f = body_type_is_float(e->type) ? form_open() : form_of(s, e);
        if (!form_is_constant(&f, &value)) {
            g->known = false;
            return;
        }
        if ((value != 0) == negated) { /* never: 0 < 0 */
            const form zero = form_constant(0);
            add_less(s, g, &zero, &zero, 0);
        }
    }
    }
}

void form_guard_of(const form_scope *s, const body_expr *e, bool negated, form_guard *g) {
    g->known = true;
    g->count = 0;
    conjoin(s, e, negated, g);
    if (!g->known)
        g->count = 0;
}

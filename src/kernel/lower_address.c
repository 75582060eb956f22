/* lower_address.c - subscripts as instructions, and as the closed forms of the accesses. */
#include "kernel/lower_build.h"

#include "base/num.h"

#include <inttypes.h>

enum { IMMEDIATE = 1 << 23 /* bytes that an access adds to its address register, either way: 24 bits with sign */ };

static bool power_of_two(int64_t x) {
    return x > 0 && (x & (x - 1)) == 0;
}

/* ---- integers ---------------------------------------------------------------------------------------------------- */

static bool counts_any(const form *f) {
    for (int d = 0; d < IR_LOOPS_MAX; d++)
        if (form_counts(f, d))
            return true;
    return false;
}

/* tid or bid along one axis, read once, at the start. */
static status special(lowering *l, uint32_t which, uint32_t *reg) {
    if (!l->special[which]) {
        vlist *at = l->at;
        frame *kernel_frame = l->top;
        while (kernel_frame->outer)
            kernel_frame = kernel_frame->outer;
        l->at = &kernel_frame->before;
        TRY(lower_op(l, OP_SCALAR, 1, 0, 0, 0, &l->special[which]));
        l->at = at;
    }
    *reg = l->special[which];
    return OK;
}

/* acc + x * factor */
static status add_scaled(lowering *l, uint32_t *acc, uint32_t x, int64_t factor) {
    if (!*acc && factor == 1) {
        *acc = x;
        return OK;
    }
    return lower_op(l, factor == 1 ? OP_INT : OP_IMUL, 1, x, *acc, 0, acc);
}

/* The flat number of a thread or block; first: 0 for tid, 3 for bid. */
static status flat(lowering *l, uint32_t first, const int64_t size[3], uint32_t *reg) {
    int64_t step = 1;
    *reg = 0;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t x = 0;
        if (size[i] == 1)
            continue;
        TRY(special(l, first + i, &x));
        TRY(add_scaled(l, reg, x, step));
        step *= size[i];
    }
    return OK;
}

static uint32_t counter_at(const lowering *l, int depth) {
    const frame *f = l->top;
    while (f && f->depth != depth)
        f = f->outer;
    return f ? f->counter : 0;
}

static status linear(lowering *l, const ir_index *x, uint32_t *acc) {
    uint32_t reg = 0;
    if (x->per_thread) {
        TRY(flat(l, 0, l->b->threads, &reg));
        if (reg)
            TRY(add_scaled(l, acc, reg, x->per_thread));
    }
    if (x->per_block) {
        TRY(flat(l, 3, l->b->blocks, &reg));
        if (reg)
            TRY(add_scaled(l, acc, reg, x->per_block));
    }
    for (int d = 0; d < IR_LOOPS_MAX; d++)
        if (x->per_loop[d])
            TRY(add_scaled(l, acc, counter_at(l, d), x->per_loop[d]));
    return OK;
}

/* Is the part tid or bid along one axis? */
static bool is_axis(const lowering *l, const form_part *p, uint32_t *which) {
    static const ir_index by_thread = {.per_thread = 1}, by_block = {.per_block = 1};
    for (int block = 0; block < 2; block++) {
        const int64_t *size = block ? l->b->blocks : l->b->threads;
        const ir_index *x = block ? &by_block : &by_thread;
        int64_t div = 1;
        for (uint32_t i = 0; i < 3; div *= size[i++]) {
            int64_t outer = 1;
            for (uint32_t k = i + 1; k < 3; k++)
                outer *= size[k];
            if (p->index.base == 0 && p->index.per_thread == x->per_thread && p->index.per_block == x->per_block &&
                p->index.per_loop[0] == 0 && p->index.per_loop[1] == 0 && p->index.per_loop[2] == 0 && p->div == div &&
                p->mod == (outer > 1 ? size[i] : 0)) {
                *which = 3 * (uint32_t)block + i;
                return true;
            }
        }
    }
    return false;
}

/* Quotients and remainders by constants: a shift or a mask, else a multiplication by the reciprocal. */
static status part_value(lowering *l, const form_part *p, uint32_t *reg) {
    uint32_t which = 0;
    if (is_axis(l, p, &which))
        return special(l, which, reg);
    *reg = 0;
    TRY(linear(l, &p->index, reg));
    if (p->div > 1) {
        if (power_of_two(p->div)) {
            TRY(lower_op(l, OP_INT, 1, *reg, 0, 0, reg));
        } else {
            TRY(lower_op(l, OP_IMUL_HI, 1, *reg, 0, 0, reg));
            TRY(lower_op(l, OP_INT, 1, *reg, 0, 0, reg));
        }
    }
    if (p->mod && power_of_two(p->mod))
        return lower_op(l, OP_INT, 1, *reg, 0, 0, reg);
    if (p->mod) {
        uint32_t quotient = 0;
        TRY(lower_op(l, OP_IMUL_HI, 1, *reg, 0, 0, &quotient));
        TRY(lower_op(l, OP_INT, 1, quotient, 0, 0, &quotient));
        return lower_op(l, OP_IMUL, 1, quotient, *reg, 0, reg);
    }
    return OK;
}

static status compute(lowering *l, const form *f, uint32_t *reg) {
    *reg = 0;
    TRY(linear(l, &f->linear, reg));
    for (uint32_t i = 0; i < f->parts; i++) {
        uint32_t x = 0;
        TRY(part_value(l, &f->part[i], &x));
        TRY(add_scaled(l, reg, x, f->part[i].mul));
    }
    return OK;
}

/* Where what counts no loop further in is computed: the kernel's start, or the beginning of the turn at hand. */
static frame *home_of(lowering *l, const form *f) {
    frame *home = l->top;
    while (home->outer && !form_counts(f, home->depth))
        home = home->outer;
    return home;
}

status lower_index(lowering *l, const form *f, uint32_t *reg) {
    int64_t constant = 0, difference = 0;
    *reg = 0;
    if (form_is_constant(f, &constant))
        return OK;
    frame *home = home_of(l, f);
    for (size_t i = 0; !home->outer && i < home->index_count; i++)
        if (form_alike(&home->indices[i].value, f, &difference) && difference == 0) {
            *reg = home->indices[i].reg;
            return OK;
        }
    vlist *at = l->at;
    if (!home->outer)
        l->at = &home->before;
    status s = compute(l, f, reg);
    /* The constant is an immediate of whatever adds it; a lone variable needs an add. */
    if (s == OK && f->linear.base != 0)
        s = lower_op(l, OP_INT, 1, *reg, 0, 0, reg);
    l->at = at;
    TRY(s);
    if (home->outer)
        return OK;
    if (!mem_reserve((void **)&home->indices, &home->index_capacity, home->index_count + 1, sizeof *home->indices))
        return lower_memory(l);
    home->indices[home->index_count++] = (held_index){*f, *reg};
    return OK;
}

/* ---- address registers ------------------------------------------------------------------------------------------- */

static uint32_t address_width(const body_array *a) {
    return a->space == SPACE_GLOBAL ? 2 : 1;
}

/* base + scale * index, by one multiply-add. */
static status scale_to_address(lowering *l, const body_array *a, uint32_t index, uint32_t *reg) {
    if (a->space == SPACE_GLOBAL)
        return lower_op(l, index ? OP_IMUL_WIDE : OP_INT, 2, index, 0, 0, reg);
    return lower_op(l, index ? OP_IMUL : OP_INT, 1, index, 0, 0, reg);
}

static form in_elements(const form *bytes, uint32_t element_bytes) {
    form f = *bytes;
    f.linear.base = 0; /* the array's address and constant subscripts are the multiply-add's own constant */
    f.linear.per_thread /= element_bytes;
    f.linear.per_block /= element_bytes;
    for (uint32_t i = 0; i < IR_LOOPS_MAX; i++)
        f.linear.per_loop[i] /= element_bytes;
    for (uint32_t i = 0; i < f.parts; i++)
        f.part[i].mul /= element_bytes;
    return f;
}

static status compute_address(lowering *l, const body_array *a, const form *bytes, uint32_t *reg) {
    const form elements = in_elements(bytes, body_type_bytes(a->type));
    uint32_t index = 0;
    TRY(lower_index(l, &elements, &index));
    return scale_to_address(l, a, index, reg);
}

static bool parts_count_loops(const form *f) {
    form parts = *f;
    parts.linear = (ir_index){.base = 0};
    return counts_any(&parts);
}

static status add_pointer(lowering *l, frame *home, const body_array *a, const form *bytes, uint32_t reg) {
    if (!mem_reserve((void **)&home->pointers, &home->pointer_capacity, home->pointer_count + 1,
                     sizeof *home->pointers))
        return lower_memory(l);
    home->pointers[home->pointer_count++] = (pointer){a, *bytes, reg};
    return OK;
}

static status pointer_in(lowering *l, frame *home, const body_array *a, const form *bytes, uint32_t *reg);

/* Advances the register at the end of every turn: add, and for 64 bits add with carry. */
static status advance(lowering *l, frame *home, const body_array *a, uint32_t reg) {
    vlist *at = l->at;
    l->at = &home->latch;
    status s = OK;
    for (uint32_t i = 0; i < address_width(a) && s == OK; i++)
        s = lower_emit(l, OP_INT, reg, reg, 0, 0);
    l->at = at;
    return s;
}

/* A register that starts at the address's value in the first turn of `home` and advances with it. */
static status make_induction(lowering *l, frame *home, const body_array *a, const form *bytes, uint32_t *reg) {
    form start = *bytes;
    start.linear.per_loop[home->depth] = 0;
    vlist *at = l->at;
    frame *top = l->top;
    l->top = home->outer;
    l->at = &home->before;
    uint32_t from = 0;
    status s = OK;
    if (counts_any(&start)) { /* an outer loop has it, for its turns to start from */
        frame *outer = home_of(l, &start);
        s = pointer_in(l, outer, a, &start, &from);
        l->at = &home->before;
        if (s == OK)
            s = lower_register(l, address_width(a), reg);
        for (uint32_t i = 0; i < address_width(a) && s == OK; i++)
            s = lower_emit(l, OP_INT, *reg, from, 0, 0);
    } else {
        s = compute_address(l, a, &start, reg);
    }
    l->top = top;
    l->at = at;
    TRY(s);
    return advance(l, home, a, *reg);
}

/* The register in `home` for this address, up to a constant that fits an immediate. */
static status pointer_in(lowering *l, frame *home, const body_array *a, const form *bytes, uint32_t *reg) {
    int64_t difference = 0;
    for (size_t i = 0; i < home->pointer_count; i++) {
        const pointer *p = &home->pointers[i];
        if (p->array == a && form_alike(&p->bytes, bytes, &difference) && difference < IMMEDIATE &&
            difference >= -IMMEDIATE) {
            *reg = p->reg;
            return OK;
        }
    }
    if (home->outer) {
        TRY(make_induction(l, home, a, bytes, reg));
    } else {
        vlist *at = l->at;
        frame *top = l->top;
        l->top = home;
        l->at = &home->before;
        status s = compute_address(l, a, bytes, reg);
        l->top = top;
        l->at = at;
        TRY(s);
    }
    return add_pointer(l, home, a, bytes, *reg);
}

static status address_register(lowering *l, const body_array *a, const form *bytes, uint32_t *reg) {
    const lower_note note = l->note;
    l->note.origin = ORIGIN_ADDRESS;
    l->note.array = a;
    int64_t constant = 0;
    status s = OK;
    *reg = 0;
    if (a->space != SPACE_GLOBAL && form_is_constant(bytes, &constant))
        *reg = 0; /* an immediate */
    else if (parts_count_loops(bytes))
        s = compute_address(l, a, bytes, reg);
    else
        s = pointer_in(l, home_of(l, bytes), a, bytes, reg);
    l->note = note;
    return s;
}

/* The address of an element whose subscripts depend on data: each is a value, put together by multiply-adds. */
static status data_address(lowering *l, const body_array *a, body_expr *const *subscript, uint32_t *reg) {
    const lower_note note = l->note;
    uint32_t acc = 0;
    for (uint32_t d = 0; d < a->rank; d++) {
        value v;
        const form f = form_of(&l->scope, subscript[d]);
        if (f.kind == FORM_CLOSED)
            TRY(lower_index(l, &f, &v.reg));
        else
            TRY(lower_value(l, subscript[d], &v));
        l->note.origin = ORIGIN_ADDRESS;
        if (v.reg)
            TRY(add_scaled(l, &acc, v.reg, a->stride[d]));
        l->note = note;
    }
    l->note.origin = ORIGIN_ADDRESS;
    l->note.array = a;
    status s = scale_to_address(l, a, acc, reg);
    l->note = note;
    return s;
}

/* ---- accesses ---------------------------------------------------------------------------------------------------- */

static status too_large(const lowering *l, const body_array *a) {
    return lower_fail(l, a->at, "the addresses of '%s' do not fit 64 bits", a->name);
}

static status condition_too_large(const lowering *l) {
    return fail(l->m, ERR_INPUT, "kernel %s: a condition does not fit 64 bits", l->k->name);
}

static status add_index_term(lowering *l, const ir_index *x, ir_term term) {
    TRY(ir_add_index(l->k, *x, &term.index, l->m));
    return ir_add_term(l->k, term, l->m);
}

/* f * scale as terms at the end of the kernel's, without its constant: the address of an element of a, or a condition
 * (a NULL). */
static status add_terms(lowering *l, const body_array *a, const form *f, int64_t scale) {
    ir_index x = f->linear;
    x.base = 0;
    if (x.per_thread || x.per_block || x.per_loop[0] || x.per_loop[1] || x.per_loop[2])
        TRY(add_index_term(l, &x, (ir_term){.div = 1, .mul = scale}));
    for (uint32_t i = 0; i < f->parts; i++) {
        const form_part *p = &f->part[i];
        ir_term t = {.div = (uint64_t)p->div, .mod = (uint64_t)p->mod};
        if (!mul_i64(p->mul, scale, &t.mul))
            return a ? too_large(l, a) : condition_too_large(l);
        TRY(add_index_term(l, &p->index, t));
    }
    return OK;
}

static status subscript_fault(const lowering *l, const body_array *a, body_expr *const *subscript) {
    for (uint32_t d = 0; d < a->rank; d++)
        if (form_of(&l->scope, subscript[d]).kind == FORM_OPEN)
            return lower_fail(l, subscript[d]->at,
                              "subscript %" PRIu32
                              " of '%s' cannot be simulated: only sums of threads, blocks and loop "
                              "variables times constants can, and their quotients and remainders by constants",
                              d + 1, a->name);
    return lower_fail(l, a->at, "the subscripts of '%s' have too many parts to be simulated", a->name);
}

/* The subscripts that depend on data, as terms; the others are summed up in *closed. */
static status add_scatter(lowering *l, const body_array *a, body_expr *const *subscript, int64_t scale, form *closed) {
    *closed = form_constant(a->offset);
    for (uint32_t d = 0; d < a->rank; d++) {
        const form f = form_of(&l->scope, subscript[d]);
        if (f.kind == FORM_CLOSED) {
            *closed = form_add(closed, &f, a->stride[d]);
            continue;
        }
        if (f.kind == FORM_OPEN)
            return subscript_fault(l, a, subscript);
        ir_term t = {.div = 1, .mod = (uint64_t)a->size[d], .scatter = f.read->id + UINT64_C(1)};
        if (!mul_i64(a->stride[d], scale, &t.mul))
            return too_large(l, a);
        TRY(add_index_term(l, &f.linear, t));
    }
    return OK;
}

static status add_guard(lowering *l, const form_guard *g, ir_access *x) {
    for (uint32_t i = 0; i < g->count; i++) {
        const form *f = &g->less[i];
        ir_bound bound = {.first_term = l->k->term_count, .limit = 0};
        TRY(add_terms(l, NULL, f, 1));
        bound.terms = l->k->term_count - bound.first_term;
        if (__builtin_sub_overflow(0, f->linear.base, &bound.limit))
            return condition_too_large(l);
        TRY(ir_add_bound(l->k, bound, l->m));
        x->bounds++;
    }
    return OK;
}

status lower_bounds(lowering *l, ir_access *x) {
    x->first_bound = l->k->bound_count;
    for (const guard *g = l->guard; g; g = g->outer)
        TRY(add_guard(l, &g->what, x));
    return OK;
}

/* The access of `width` elements, and the register that its address is in. */
static status make_access(lowering *l, const body_array *a, body_expr *const *subscript, const form *element,
                          uint32_t width, uint16_t *id, uint32_t *reg) {
    const uint32_t bytes = body_type_bytes(a->type);
    if (element->kind == FORM_OPEN)
        return subscript_fault(l, a, subscript);
    const bool local = a->space == SPACE_LOCAL;
    const int64_t words = bytes < 4 ? 1 : bytes / 4;
    int64_t scale = local ? words * 4 * l->local.threads : bytes;
    form where = *element, address = form_constant(l->base[a->id]);
    if (element->kind == FORM_DATA)
        TRY(data_address(l, a, subscript, reg));
    ir_access x = {.space = a->space, .bytes = bytes * width, .first_term = l->k->term_count};
    if (element->kind == FORM_DATA) {
        TRY(add_scatter(l, a, subscript, scale, &where));
        l->out->scattered++;
    }
    const form zero = form_constant(0);
    const form scaled = form_add(&zero, &where, scale);
    address = form_add(&address, &scaled, 1);
    if (address.kind != FORM_CLOSED)
        return too_large(l, a);
    if (local) {
        TRY(add_index_term(l, &(ir_index){.per_thread = 4 * words}, (ir_term){.div = 1, .mul = 1}));
        TRY(local_frame_term(l->k, &l->local, l->m));
        x.base = l->local.base;
    }
    TRY(add_terms(l, a, &scaled, 1));
    x.terms = l->k->term_count - x.first_term;
    if (!add_i64(x.base, address.linear.base, &x.base))
        return too_large(l, a);
    TRY(lower_bounds(l, &x));
    TRY(ir_add_access(l->k, x, id, l->m));
    return element->kind == FORM_DATA ? OK : address_register(l, a, &address, reg);
}

static status emit_memory(lowering *l, const body_array *a, op_class op, uint16_t access, uint32_t dst,
                          const uint32_t src[3]) {
    vinst x = {.op = (uint8_t)op, .access = access, .loop = IR_NONE, .dst = dst, .src = {src[0], src[1], src[2]}};
    x.note = l->note;
    x.note.origin = ORIGIN_VALUE;
    x.note.array = a;
    return vlist_add(l->at, &x) ? OK : lower_memory(l);
}

static uint32_t predicate_here(const lowering *l) {
    return l->guard ? l->guard->predicate : 0;
}

status lower_load(lowering *l, const body_array *a, body_expr *const *subscript, const form *element, uint32_t width,
                  uint32_t *dst) {
    uint16_t access = IR_NONE;
    uint32_t address = 0, words = (body_type_bytes(a->type) * width + 3) / 4;
    TRY(make_access(l, a, subscript, element, width, &access, &address));
    TRY(lower_register(l, words, dst));
    const uint32_t src[3] = {address, predicate_here(l), 0};
    return emit_memory(l, a, a->space == SPACE_SHARED ? OP_SHARED_LOAD : OP_LOAD, access, *dst, src);
}

status lower_store(lowering *l, const body_array *a, body_expr *const *subscript, const form *element, uint32_t width,
                   uint32_t data, uint32_t also) {
    uint16_t access = IR_NONE;
    uint32_t address = 0;
    TRY(make_access(l, a, subscript, element, width, &access, &address));
    const uint32_t src[3] = {data, address, also ? also : predicate_here(l)};
    return emit_memory(l, a, a->space == SPACE_SHARED ? OP_SHARED_STORE : OP_STORE, access, 0, src);
}

/* ---- conditions -------------------------------------------------------------------------------------------------- */

status lower_guard_test(lowering *l, const form_guard *g, uint32_t *predicate) {
    const lower_note note = l->note;
    l->note.origin = ORIGIN_CONDITION;
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t index = 0;
        form f = g->less[i];
        f.linear.base = 0; /* goes into the comparison */
        TRY(lower_index(l, &f, &index));
        TRY(lower_op(l, OP_INT, 0, index, *predicate, 0, predicate));
    }
    l->note = note;
    return OK;
}

/* lower.c - statements, loops and arrays of a body; and the steps from there to a kernel. */
#include "kernel/lower_build.h"

#include "base/num.h"
#include "kernel/mix.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    PREDICATED_MAX = 8, /* instructions of a side of an if that are predicated rather than jumped over */
    SHARED_ALIGN = 16,
};
static const int64_t first_address = INT64_C(4) << 30;
static const int64_t large_page = INT64_C(2) << 20;

/* ---- helpers of all parts ---------------------------------------------------------------------------------------- */

status lower_memory(const lowering *l) {
    return fail(l->m, ERR_MEMORY, "not enough memory to lower kernel %s", l->k->name);
}

status lower_fail(const lowering *l, body_place at, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return fail(l->m, ERR_INPUT, "%d:%d: %s", at.line, at.column, text);
}

uint32_t lower_width(body_type t) {
    return body_type_bytes(t) == 8 ? 2 : 1;
}

status lower_register(lowering *l, uint32_t width, uint32_t *reg) {
    *reg = vcode_register(&l->code, width, false);
    return *reg ? OK : lower_memory(l);
}

status lower_emit(lowering *l, op_class op, uint32_t dst, uint32_t a, uint32_t b, uint32_t c) {
    const vinst x = {
        .op = (uint8_t)op, .access = IR_NONE, .loop = IR_NONE, .dst = dst, .src = {a, b, c}, .note = l->note};
    if (l->at->count >= LOWER_CODE_MAX)
        return fail(l->m, ERR_INPUT, "kernel %s has more than %d instructions", l->k->name, LOWER_CODE_MAX);
    return vlist_add(l->at, &x) ? OK : lower_memory(l);
}

status lower_op(lowering *l, op_class op, uint32_t width, uint32_t a, uint32_t b, uint32_t c, uint32_t *dst) {
    uint32_t reg = 0;
    TRY(lower_register(l, width, &reg));
    *dst = reg;
    return lower_emit(l, op, reg, a, b, c);
}

static status mark(lowering *l, vlist *to, uint8_t op, uint16_t loop, const uint32_t src[3]) {
    vinst x = {.op = op, .access = IR_NONE, .loop = loop, .note = l->note};
    if (src)
        memcpy(x.src, src, sizeof x.src);
    return vlist_add(to, &x) ? OK : lower_memory(l);
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

/* What is known before the code is: variables that are constants wherever they are used, and by it the local arrays
 * whose subscripts all are. */
typedef struct promotion {
    lowering *l;
    bool *constant; /* by variable */
    bool *refused;  /* by array */
} promotion;

static bool has_loop(const body_list *list) {
    for (const body_stmt *s = list->first; s; s = s->next)
        if ((s->kind == STMT_FOR && s->trips > 1) || has_loop(&s->body) || has_loop(&s->otherwise))
            return true;
    return false;
}

static uint32_t vector_of(const lowering *l) {
    return l->o->vector > 1 ? l->o->vector : 1;
}

/* How many turns are written out. */
static uint64_t unrolled(const lowering *l, const body_stmt *loop) {
    uint64_t n = l->o->unroll > 1 ? l->o->unroll : 1;
    n = (n + vector_of(l) - 1) / vector_of(l) * vector_of(l);
    if (loop->trips <= 1 || has_loop(&loop->body))
        n = 1;
    return n < loop->trips ? n : loop->trips;
}

static bool always_constant(const promotion *p, const body_expr *e) {
    if (e->kind == EXPR_LOAD || e->kind == EXPR_TID || e->kind == EXPR_BID)
        return false;
    if (e->kind == EXPR_LOOP || e->kind == EXPR_LET)
        return p->constant[e->variable->id];
    for (uint32_t i = 0; i < e->args; i++)
        if (!always_constant(p, e->arg[i]))
            return false;
    return true;
}

static void judge_subscripts(promotion *p, const body_array *a, body_expr *const *subscript) {
    for (uint32_t d = 0; d < a->rank; d++)
        if (!always_constant(p, subscript[d]))
            p->refused[a->id] = true;
}

static void judge_expr(promotion *p, const body_expr *e) {
    if (e->kind == EXPR_LOAD)
        judge_subscripts(p, e->array, e->arg);
    for (uint32_t i = 0; i < e->args; i++)
        judge_expr(p, e->arg[i]);
}

static void judge_list(promotion *p, const body_list *list) {
    for (const body_stmt *s = list->first; s; s = s->next) {
        if (s->value) {
            judge_expr(p, s->value);
            if (s->kind == STMT_LET)
                p->constant[s->variable->id] = !body_type_is_float(s->value->type) && always_constant(p, s->value);
        }
        if (s->kind == STMT_STORE) {
            judge_subscripts(p, s->array, s->subscript);
            for (uint32_t d = 0; d < s->array->rank; d++)
                judge_expr(p, s->subscript[d]);
        }
        if (s->kind == STMT_FOR)
            p->constant[s->variable->id] = unrolled(p->l, s) == s->trips;
        judge_list(p, &s->body);
        judge_list(p, &s->otherwise);
    }
}

static status make_promoted(lowering *l, const body_array *a) {
    uint32_t *reg = arena_alloc(&l->memory, (size_t)a->elements * sizeof *reg);
    if (!reg)
        return lower_memory(l);
    for (int64_t i = 0; i < a->elements; i++)
        TRY(lower_constant(l, body_value_type(a->type), &reg[i]));
    l->promoted[a->id] = reg;
    return OK;
}

static status promote(lowering *l) {
    promotion p = {.l = l,
                   .constant = arena_alloc(&l->memory, l->b->variables + 1u),
                   .refused = arena_alloc(&l->memory, l->b->arrays + 1u)};
    if (!p.constant || !p.refused)
        return lower_memory(l);
    judge_list(&p, &l->b->list);
    for (uint32_t i = 0; i < l->b->arrays; i++) {
        const body_array *a = l->b->array[i];
        if (a->space == SPACE_LOCAL && a->elements <= PROMOTED_MAX && !p.refused[i])
            TRY(make_promoted(l, a));
    }
    return OK;
}

static status place_array(lowering *l, const body_array *a, int64_t *next) {
    const int64_t bytes = a->elements * (int64_t)body_type_bytes(a->type); /* fits (body.h) */
    int64_t *base = &l->base[a->id], end = 0;
    if (a->space == SPACE_GLOBAL) {
        *base = *next;
        bool fits = add_i64(*next, bytes, &end) && add_i64(end, large_page - 1, &end);
        *next = fits ? end - end % large_page : 0;
        return fits ? OK : lower_fail(l, a->at, "'%s' does not fit the address space beside the others", a->name);
    }
    if (a->space == SPACE_SHARED) {
        const uint64_t used = l->k->shared_bytes;
        if ((uint64_t)bytes > UINT32_MAX - used - SHARED_ALIGN)
            return lower_fail(l, a->at, "'%s' does not fit shared memory", a->name);
        *base = (int64_t)used;
        l->k->shared_bytes = (uint32_t)((used + (uint64_t)bytes + SHARED_ALIGN - 1) / SHARED_ALIGN * SHARED_ALIGN);
        return OK;
    }
    if (l->promoted[a->id])
        return OK;
    const uint32_t each = body_type_bytes(a->type) == 8 ? 2 : 1;
    const uint32_t first = (l->local.words + each - 1) / each * each;
    if ((uint64_t)a->elements * each > (1u << 20) - first)
        return lower_fail(l, a->at, "'%s' does not fit a thread's local memory", a->name);
    *base = (int64_t)first * 4 * l->local.threads;
    l->local.words = first + (uint32_t)a->elements * each;
    return OK;
}

static status place_arrays(lowering *l) {
    int64_t next = first_address;
    for (uint32_t i = 0; i < l->b->arrays; i++)
        TRY(place_array(l, l->b->array[i], &next));
    l->local.base = next;
    return OK;
}

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

static bool multiple(int64_t x, int64_t of) {
    return x % of == 0;
}

/* The next turn's element lies behind this one, and `width` of them are aligned. */
static bool consecutive(const lowering *l, const body_array *a, const form *element, body_expr *const *subscript) {
    const vector_loop *v = &l->vector;
    const int64_t width = v->width, start = l->base[a->id] / body_type_bytes(a->type) + element->linear.base;
    const ir_index *x = &element->linear;
    if (element->kind != FORM_CLOSED || !multiple(start, width) || !multiple(x->per_thread, width) ||
        !multiple(x->per_block, width))
        return false;
    for (int d = 0; d < IR_LOOPS_MAX; d++)
        if (!multiple(x->per_loop[d], width))
            return false;
    for (uint32_t i = 0; i < element->parts; i++)
        if (!multiple(element->part[i].mul, width))
            return false;
    form_loop *turn = &l->loop[v->loop->variable->id];
    const form_loop kept = *turn;
    int64_t difference = 0;
    turn->start += v->loop->step;
    const form next = form_of_element(&l->scope, a, subscript);
    *turn = kept;
    return form_alike(element, &next, &difference) && difference == 1;
}

static uint32_t count_stores(const body_list *list, const body_array *a) {
    uint32_t n = 0;
    for (const body_stmt *s = list->first; s; s = s->next)
        n += (s->kind == STMT_STORE && s->array == a) + count_stores(&s->body, a) + count_stores(&s->otherwise, a);
    return n;
}

static bool expr_loads(const body_expr *e, const body_array *a) {
    bool found = e->kind == EXPR_LOAD && e->array == a;
    for (uint32_t i = 0; i < e->args && !found; i++)
        found = expr_loads(e->arg[i], a);
    return found;
}

static bool list_loads(const body_list *list, const body_array *a) {
    for (const body_stmt *s = list->first; s; s = s->next) {
        if (s->value && expr_loads(s->value, a))
            return true;
        for (uint32_t d = 0; s->kind == STMT_STORE && d < s->array->rank; d++)
            if (expr_loads(s->subscript[d], a))
                return true;
        if (list_loads(&s->body, a) || list_loads(&s->otherwise, a))
            return true;
    }
    return false;
}

static bool may_be_vector(const lowering *l, const body_array *a) {
    const vector_loop *v = &l->vector;
    return v->loop && !l->guard && a->space == SPACE_GLOBAL && body_type_bytes(a->type) * v->width <= 16;
}

uint32_t lower_vector_width(const lowering *l, const body_array *a, const form *element, body_expr *const *subscript) {
    const vector_loop *v = &l->vector;
    if (!may_be_vector(l, a) || v->turn % v->width != 0 || count_stores(&v->loop->body, a) ||
        !consecutive(l, a, element, subscript))
        return 1;
    return v->width;
}

/* ---- stores ------------------------------------------------------------------------------------------------------ */

/* Loads that a store to this array may have made stale are forgotten. */
static void forget_loads(lowering *l, const body_array *a) {
    size_t kept = 0;
    for (size_t i = 0; i < l->load_count; i++) {
        const held_load *h = &l->loads[i];
        const bool apart = h->array != a && (h->vector || l->o->no_alias || h->array->space != a->space);
        if (apart)
            l->loads[kept++] = *h;
    }
    l->load_count = kept;
}

/* Lets the instructions that made v, the last ones, write `reg` instead. */
static void redirect(lowering *l, const value *v, uint32_t reg) {
    for (size_t i = l->at->count; i-- > 0 && l->at->inst[i].dst == v->reg;) {
        vinst *x = &l->at->inst[i];
        x->dst = reg;
        for (int n = 0; n < 3; n++)
            if (x->src[n] == v->reg)
                x->src[n] = reg;
    }
}

static status move(lowering *l, uint32_t to, value v, uint32_t predicate) {
    for (uint32_t i = 0; i < lower_width(v.type); i++)
        TRY(lower_emit(l, OP_INT, to, v.reg, predicate ? to : 0, predicate));
    return OK;
}

static status store_promoted(lowering *l, const body_stmt *s, value v) {
    int64_t at = 0;
    const form f = form_of_element(&l->scope, s->array, s->subscript);
    if (!form_is_constant(&f, &at) || at < 0 || at >= s->array->elements)
        return lower_fail(l, s->at, "a subscript of '%s' lies outside its extent", s->array->name);
    const uint32_t to = l->promoted[s->array->id][at];
    const uint32_t predicate = l->guard ? l->guard->predicate : 0;
    if (!predicate && v.fresh && l->at->count && l->at->inst[l->at->count - 1].dst == v.reg) {
        redirect(l, &v, to);
        return OK;
    }
    return move(l, to, v, predicate);
}

/* In a vectorised loop: keeps the value until the last of its vector is there. *width: what to store now, 0 nothing. */
static status vector_store(lowering *l, const body_stmt *s, const form *element, uint32_t reg, uint32_t *width,
                           uint32_t *also) {
    vector_loop *v = &l->vector;
    const uint32_t turn = v->turn % (v->width ? v->width : 1);
    *width = 1;
    *also = 0;
    uint32_t i = 0;
    while (i < v->stores && v->stored[i] != s)
        i++;
    if (turn == 0) {
        if (!may_be_vector(l, s->array) || v->stores == 4 || count_stores(&v->loop->body, s->array) != 1 ||
            list_loads(&v->loop->body, s->array) || !consecutive(l, s->array, element, s->subscript))
            return OK;
        i = v->stores++;
        v->stored[i] = s;
    } else if (i == v->stores) {
        return OK;
    }
    v->value[i][turn] = reg;
    *width = turn + 1 == v->width ? v->width : 0;
    if (!*width)
        return OK;
    if (v->value[i][0] != reg) /* a vector that was loaded as one is one register */
        *also = v->value[i][0];
    if (v->width == 4 && *also) {
        const uint32_t src[3] = {v->value[i][1], v->value[i][2], 0};
        TRY(mark(l, l->at, VCODE_KEEP, IR_NONE, src));
    }
    v->stored[i] = NULL;
    return OK;
}

static form shifted(const form *f, int64_t by) {
    form x = *f;
    x.linear.base += by;
    return x;
}

static status lower_store_statement(lowering *l, const body_stmt *s) {
    value v;
    TRY(lower_value(l, s->value, &v));
    TRY(lower_convert(l, v, body_value_type(s->array->type), &v));
    if (l->promoted[s->array->id])
        return store_promoted(l, s, v);
    if (s->array->type == TYPE_F16 && v.reg)
        TRY(lower_op(l, OP_CONVERT, 1, v.reg, 0, 0, &v.reg));
    if (!v.reg)
        TRY(lower_constant(l, body_value_type(s->array->type), &v.reg));
    form element = form_of_element(&l->scope, s->array, s->subscript);
    uint32_t width = 1, also = 0;
    TRY(vector_store(l, s, &element, v.reg, &width, &also));
    if (width > 1)
        element = shifted(&element, 1 - (int64_t)width);
    if (width)
        TRY(lower_store(l, s->array, s->subscript, &element, width, v.reg, also));
    forget_loads(l, s->array);
    return OK;
}

/* ---- lets, ifs --------------------------------------------------------------------------------------------------- */

static bool is_promoted_register(const lowering *l, uint32_t reg) {
    for (uint32_t i = 0; i < l->b->arrays; i++)
        for (int64_t k = 0; l->promoted[i] && k < l->b->array[i]->elements; k++)
            if (l->promoted[i][k] == reg)
                return true;
    return false;
}

static status lower_let(lowering *l, const body_stmt *s) {
    const uint32_t id = s->variable->id;
    form **f = &l->let[id];
    l->let_reg[id] = 0;
    if (!body_type_is_float(s->value->type)) {
        if (!*f)
            *f = arena_alloc(&l->memory, sizeof **f);
        if (!*f)
            return lower_memory(l);
        **f = form_of(&l->scope, s->value);
        if ((*f)->kind == FORM_CLOSED)
            return OK; /* computed where it is used */
    }
    value v;
    TRY(lower_value(l, s->value, &v));
    TRY(lower_convert(l, v, s->variable->type, &v));
    if (v.reg && !v.fresh && is_promoted_register(l, v.reg)) { /* which may change before the let is used */
        uint32_t copy = 0;
        TRY(lower_register(l, lower_width(v.type), &copy));
        TRY(move(l, copy, v, 0));
        v.reg = copy;
    }
    l->let_reg[id] = v.reg;
    return OK;
}

static status lower_list(lowering *l, const body_list *list);

static status insert_branch(lowering *l, size_t at, uint32_t predicate) {
    TRY(lower_emit(l, OP_BRANCH, 0, predicate, 0, 0));
    vinst *x = l->at->inst;
    const vinst branch = x[l->at->count - 1];
    memmove(x + at + 1, x + at, (l->at->count - 1 - at) * sizeof *x);
    x[at] = branch;
    return OK;
}

static status lower_side(lowering *l, const body_stmt *s, bool negated, uint32_t predicate) {
    const body_list *list = negated ? &s->otherwise : &s->body;
    if (!list->first)
        return OK;
    guard g = {.outer = l->guard, .predicate = predicate};
    form_guard_of(&l->scope, s->value, negated, &g.what);
    const size_t start = l->at->count, held = l->load_count;
    l->guard = &g;
    const status done = lower_list(l, list);
    l->guard = g.outer;
    TRY(done);
    l->load_count = held < l->load_count ? held : l->load_count; /* not all lanes have them */
    if (l->at->count - start <= PREDICATED_MAX)
        return OK;
    TRY(insert_branch(l, start, predicate));
    return lower_emit(l, OP_BRANCH, 0, 0, 0, 0); /* where the sides meet again */
}

static status condition_of_if(lowering *l, const body_stmt *s, uint32_t *predicate) {
    form_guard g;
    *predicate = l->guard ? l->guard->predicate : 0;
    form_guard_of(&l->scope, s->value, false, &g);
    if (!g.known)
        return lower_condition(l, s->value, predicate);
    return g.count ? lower_guard_test(l, &g, predicate) : OK;
}

static status lower_if(lowering *l, const body_stmt *s) {
    uint32_t predicate = 0;
    TRY(condition_of_if(l, s, &predicate));
    TRY(lower_side(l, s, false, predicate));
    return lower_side(l, s, true, predicate);
}

/* Warps without a lane that meets the guard end; the others go on. */
static status lower_survivors(lowering *l, const body_stmt *s, guard *g) {
    uint16_t access = IR_NONE;
    ir_access x = {.space = SPACE_GLOBAL, .bytes = 4, .first_term = l->k->term_count};
    TRY(lower_bounds(l, &x));
    TRY(ir_add_access(l->k, x, &access, l->m));
    const vinst test = {.op = OP_BRANCH,
                        .access = access,
                        .loop = IR_NONE,
                        .src = {g->predicate},
                        .note = {ORIGIN_CONDITION, s->at.line, NULL}};
    if (!vlist_add(l->at, &test))
        return lower_memory(l);
    g->predicate = 0; /* those that are left need no more asking */
    return lower_list(l, &s->body);
}

/* The whole body stands under a condition. */
static status lower_guarded_body(lowering *l, const body_stmt *s) {
    guard g = {.outer = NULL};
    form_guard_of(&l->scope, s->value, false, &g.what);
    if (!g.what.known || !g.what.count)
        return lower_if(l, s);
    TRY(lower_guard_test(l, &g.what, &g.predicate));
    l->guard = &g;
    const status done = lower_survivors(l, s, &g);
    l->guard = NULL;
    return done;
}

/* ---- loops ------------------------------------------------------------------------------------------------------- */

static void frame_free(frame *f) {
    mem_free(f->before.inst);
    mem_free(f->turn.inst);
    mem_free(f->latch.inst);
    mem_free(f->pointers);
    mem_free(f->indices);
}

/* Adds `count` turns from number `first` on, where the loop's counter stands for the turns before. */
static status lower_turns(lowering *l, const body_stmt *s, form_loop from, uint64_t first, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        form_loop turn = from;
        turn.start += (int64_t)(first + i) * s->step;
        l->loop[s->variable->id] = turn;
        l->vector.turn = (uint32_t)i;
        TRY(lower_list(l, &s->body));
    }
    return OK;
}

/* Counter and compare, then the branch back. */
static status lower_latch(lowering *l, frame *f, uint16_t loop) {
    const isa_mix *mix = &l->mach->isa[ISA_LOOP];
    uint32_t emitted[OP_CLASS_COUNT] = {0}, test = f->counter;
    const uint32_t count = mix_count(mix);
    if (!vlist_append(&f->turn, &f->latch))
        return lower_memory(l);
    l->at = &f->turn;
    l->note.origin = ORIGIN_LOOP;
    l->note.array = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const op_class op = mix_next(mix, emitted, i, count);
        emitted[op]++;
        if (i == 0)
            TRY(lower_emit(l, op, f->counter, f->counter, 0, 0));
        else
            TRY(lower_op(l, op, 0, f->counter, 0, 0, &test));
    }
    const vinst back = {.op = OP_BRANCH, .access = IR_NONE, .loop = loop, .src = {test}, .note = l->note};
    return vlist_add(&f->turn, &back) ? OK : lower_memory(l);
}

static status close_loop(lowering *l, frame *f, uint16_t loop) {
    TRY(lower_latch(l, f, loop));
    vlist *to = &f->outer->turn;
    if (!vlist_append(to, &f->before))
        return lower_memory(l);
    TRY(mark(l, to, VCODE_LOOP_BEGIN, loop, NULL));
    return vlist_append(to, &f->turn) ? OK : lower_memory(l);
}

static status turning_loop(lowering *l, const body_stmt *s, frame *f, uint64_t turns, uint64_t each) {
    uint16_t loop = 0;
    const lower_note note = l->note;
    f->outer = l->top;
    f->depth = l->top->depth + 1;
    if (f->depth >= IR_LOOPS_MAX)
        return lower_fail(l, s->at,
                          "the loop lies in more than %d others that turn more than once; unroll or merge some",
                          IR_LOOPS_MAX - 1);
    TRY(ir_add_loop(l->k, (ir_loop){.trips = turns, .depth = (uint32_t)f->depth}, &loop, l->m));
    vlist *at = l->at;
    l->at = &f->before;
    l->note = (lower_note){.origin = ORIGIN_LOOP, .line = s->at.line};
    TRY(lower_op(l, OP_INT, 1, 0, 0, 0, &f->counter));
    l->note = note;
    l->top = f;
    l->at = &f->turn;
    l->load_count = 0;
    l->scope.trips[f->depth] = turns;
    TRY(lower_turns(l, s, (form_loop){s->start, s->step * (int64_t)each, f->depth}, 0, each));
    l->scope.trips[f->depth] = 0;
    TRY(close_loop(l, f, loop));
    l->note = note;
    l->top = f->outer;
    l->at = at;
    l->load_count = 0;
    return OK;
}

static status lower_for(lowering *l, const body_stmt *s) {
    if (!s->trips)
        return OK;
    const uint64_t each = unrolled(l, s), turns = s->trips / each, rest = s->trips % each;
    const vector_loop outer = l->vector;
    if (each > 1 && vector_of(l) > 1 && each % vector_of(l) == 0)
        l->vector = (vector_loop){.width = vector_of(l), .loop = s};
    status st = OK;
    if (turns > 1) {
        frame f = {.outer = NULL};
        st = turning_loop(l, s, &f, turns, each);
        frame_free(&f);
    } else {
        st = lower_turns(l, s, (form_loop){s->start, 0, -1}, 0, each);
    }
    l->vector = outer;
    if (st == OK)
        st = lower_turns(l, s, (form_loop){s->start, 0, -1}, turns * each, rest);
    l->vector = outer;
    return st;
}

static status lower_statement(lowering *l, const body_stmt *s) {
    l->note = (lower_note){.origin = ORIGIN_VALUE, .line = s->at.line ? s->at.line : l->note.line};
    switch (s->kind) {
    case STMT_STORE:
        return lower_store_statement(l, s);
    case STMT_LET:
        return lower_let(l, s);
    case STMT_IF:
        return lower_if(l, s);
    case STMT_FOR:
        return lower_for(l, s);
    case STMT_BLOCK:
        return lower_list(l, &s->body);
    }
    return OK;
}

static status lower_list(lowering *l, const body_list *list) {
    for (const body_stmt *s = list->first; s; s = s->next)
        TRY(lower_statement(l, s));
    return OK;
}

/* ---- from body to kernel ----------------------------------------------------------------------------------------- */

/* Lone statement of the body, through blocks that are braces only. */
static const body_stmt *lone_if(const body_list *list) {
    const body_stmt *s = list->first;
    while (s && !s->next && s->kind == STMT_BLOCK)
        s = s->body.first;
    return s && !s->next && s->kind == STMT_IF && !s->otherwise.first ? s : NULL;
}

static status lower_body(lowering *l, frame *f) {
    l->top = f;
    l->at = &f->before;
    TRY(promote(l));
    TRY(place_arrays(l));
    l->at = &f->turn;
    const body_stmt *guarded = lone_if(&l->b->list);
    TRY(guarded ? lower_guarded_body(l, guarded) : lower_list(l, &l->b->list));
    l->note = (lower_note){.origin = ORIGIN_VALUE};
    TRY(lower_emit(l, OP_EXIT, 0, 0, 0, 0));
    if (!vlist_append(&l->code.code, &f->before) || !vlist_append(&l->code.code, &f->turn))
        return lower_memory(l);
    return OK;
}

static uint32_t register_limit(const machine *mach, const lower_options *o, uint32_t block_threads) {
    const core_desc *c = &mach->core;
    uint32_t limit = c->max_thread_registers < LOWER_REGISTERS_MAX ? c->max_thread_registers : LOWER_REGISTERS_MAX;
    if (o->max_registers && o->max_registers < limit)
        limit = o->max_registers;
    if (o->min_blocks) { /* the warps of so many blocks, spread over the schedulers, each with its share of registers */
        const uint64_t warps = ceil_div(block_threads, c->warp_width) * o->min_blocks;
        const uint64_t each = ceil_div(warps, c->schedulers) * c->warp_width;
        uint64_t bound = c->registers / c->schedulers / each;
        bound -= c->register_granule ? bound % c->register_granule : 0;
        limit = bound < limit ? (uint32_t)bound : limit;
    }
    return limit;
}

static status check_launch(const lowering *l, uint32_t limit) {
    const uint64_t threads = (uint64_t)(l->b->threads[0] * l->b->threads[1] * l->b->threads[2]);
    const core_desc *c = &l->mach->core;
    if (threads > c->max_block_threads)
        return fail(l->m, ERR_INPUT, "a block of %" PRIu64 " threads; %s allows %" PRIu32, threads, l->mach->name,
                    c->max_block_threads);
    if (limit < 1)
        return fail(l->m, ERR_INPUT, "%" PRIu32 " blocks of %" PRIu64 " threads leave no register on a core of %s",
                    l->o->min_blocks, threads, l->mach->name);
    return OK;
}

static bool make_tables(lowering *l) {
    const size_t variables = l->b->variables + 1u, arrays = l->b->arrays + 1u;
    l->loop = arena_alloc(&l->memory, variables * sizeof *l->loop);
    l->let = arena_alloc(&l->memory, variables * sizeof *l->let);
    l->let_reg = arena_alloc(&l->memory, variables * sizeof *l->let_reg);
    l->base = arena_alloc(&l->memory, arrays * sizeof *l->base);
    l->promoted = arena_alloc(&l->memory, arrays * sizeof *l->promoted);
    l->scope = (form_scope){.b = l->b, .loop = l->loop, .let = l->let};
    return l->loop && l->let && l->let_reg && l->base && l->promoted;
}

static status finish(lowering *l, uint32_t limit) {
    if (l->o->window)
        TRY(vcode_schedule(&l->code, l->mach, l->k, l->o->window, l->o->no_alias, l->m));
    TRY(vcode_allocate(&l->code, limit, &l->local, l->out, l->m));
    local_frame_close(l->k, &l->local);
    l->out->local_bytes = 4 * l->local.words;
    return ir_check(l->k, l->m);
}

static status lower_all(lowering *l) {
    kernel *k = l->k;
    const body *b = l->b;
    k->blocks = (uint64_t)(b->blocks[0] * b->blocks[1] * b->blocks[2]);
    k->block_threads = (uint32_t)(b->threads[0] * b->threads[1] * b->threads[2]);
    const uint32_t width = l->mach->core.warp_width;
    l->local.threads = (uint32_t)ceil_div(k->block_threads, width) * width;
    const uint32_t limit = register_limit(l->mach, l->o, k->block_threads);
    TRY(check_launch(l, limit));
    if (!make_tables(l))
        return lower_memory(l);
    frame f = {.depth = -1};
    status s = lower_body(l, &f);
    l->top = NULL;
    l->at = NULL;
    frame_free(&f);
    return s == OK ? finish(l, limit) : s;
}

status lower(const machine *mach, const body *b, const char *name, const lower_options *o, lowered *out, message *m) {
    *out = (lowered){.note = NULL};
    snprintf(out->k.name, sizeof out->k.name, "%s", name);
    lowering l = {.mach = mach, .b = b, .o = o, .out = out, .k = &out->k, .m = m};
    status s = lower_all(&l);
    vcode_free(&l.code);
    local_frame_free(&l.local);
    mem_free(l.loads);
    arena_free(&l.memory);
    return s;
}

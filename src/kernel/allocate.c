/* allocate.c - registers by live ranges: linear scan, first fit; what does not fit is spilled and the scan begins anew.
 *
 * The code is one list with properly nested loops and no other jumps, so a live range is an interval: from the first
 * definition to the last use, stretched to the end of every loop that it enters from outside and is named in. */
#include "base/mem.h"
#include "kernel/vcode.h"

#include <stdlib.h>
#include <string.h>

enum {
    PREDICATES = 7, /* P0 .. P6 */
    PREDICATE_FIRST = LOWER_REGISTERS_MAX + 1,
    ROUNDS_MAX = 64,
    DEPTH_FACTOR = 10, /* how often a loop turns, for all we know: weight of what happens in it */
};

typedef struct range {
    uint32_t reg;
    uint32_t first, last; /* positions in the code */
    double weight;        /* definitions and uses, those in loops more */
    bool named, spilled;
    uint8_t at; /* first physical register or predicate */
} range;

typedef struct allocator {
    vcode *v;
    lowered *out;
    local_frame *frame;
    message *m;
    uint32_t limit;
    range *range;    /* by register */
    uint32_t *order; /* registers by first position */
    uint32_t ordered;
    uint32_t *active; /* registers whose ranges hold a place */
    uint32_t actives;
    bool taken[LOWER_REGISTERS_MAX];
    uint32_t predicate[PREDICATES]; /* who has it; 0 nobody */
    uint32_t highest;
} allocator;

static status no_memory(const allocator *a) {
    return fail(a->m, ERR_MEMORY, "not enough memory for the registers of kernel %s", a->out->k.name);
}

/* ---- live ranges ------------------------------------------------------------------------------------------------- */

static void name_at(allocator *a, uint32_t reg, uint32_t position, double weight) {
    if (!reg)
        return;
    range *r = &a->range[reg];
    if (!r->named)
        *r = (range){.reg = reg, .first = position, .named = true, .spilled = r->spilled};
    r->last = position;
    r->weight += weight;
}

static void find_ranges(allocator *a) {
    double weight = 1;
    for (uint32_t i = 0; i < a->v->registers; i++)
        a->range[i].named = false;
    for (size_t i = 0; i < a->v->code.count; i++) {
        const vinst *x = &a->v->code.inst[i];
        if (x->op == VCODE_LOOP_BEGIN)
            weight *= DEPTH_FACTOR;
        for (int s = 0; s < 3; s++)
            name_at(a, x->src[s], (uint32_t)i, weight);
        name_at(a, x->dst, (uint32_t)i, weight);
        if (x->op == OP_BRANCH && x->loop != IR_NONE)
            weight /= DEPTH_FACTOR;
    }
}

/* What a loop finds from outside and uses lives to its end. Inner loops come first: their ends lie before. */
static void stretch_loop(allocator *a, uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i <= end; i++) {
        const vinst *x = &a->v->code.inst[i];
        const uint32_t names[4] = {x->dst, x->src[0], x->src[1], x->src[2]};
        for (int n = 0; n < 4; n++) {
            range *r = &a->range[names[n]];
            if (names[n] && r->first < begin && r->last < end)
                r->last = end;
        }
    }
}

static status stretch(allocator *a) {
    uint32_t open[IR_LOOPS_MAX + 1], depth = 0;
    for (uint32_t i = 0; i < a->v->code.count; i++) {
        const vinst *x = &a->v->code.inst[i];
        if (x->op == VCODE_LOOP_BEGIN && depth <= IR_LOOPS_MAX)
            open[depth++] = i;
        else if (x->op == OP_BRANCH && x->loop != IR_NONE && depth > 0)
            stretch_loop(a, open[--depth], i);
    }
    return OK;
}

static int by_first(const void *x, const void *y) {
    const range *a = *(const range *const *)x, *b = *(const range *const *)y;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->reg < b->reg ? -1 : a->reg > b->reg;
}

static status sort_ranges(allocator *a) {
    const range **list = mem_zero(a->v->registers, sizeof *list);
    if (!list)
        return no_memory(a);
    a->ordered = 0;
    for (uint32_t i = 1; i < a->v->registers; i++)
        if (a->range[i].named)
            list[a->ordered++] = &a->range[i];
    qsort(list, a->ordered, sizeof *list, by_first);
    for (uint32_t i = 0; i < a->ordered; i++)
        a->order[i] = list[i]->reg;
    mem_free(list);
    return OK;
}

/* ---- the scan ---------------------------------------------------------------------------------------------------- */

static void occupy(allocator *a, const range *r, bool taken) {
    const uint32_t width = a->v->width[r->reg];
    for (uint32_t i = 0; i < width; i++)
        a->taken[r->at + i] = taken;
}

static void expire(allocator *a, uint32_t position) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < a->actives; i++) {
        const range *r = &a->range[a->active[i]];
        if (r->last > position)
            a->active[kept++] = r->reg;
        else
            occupy(a, r, false);
    }
    a->actives = kept;
}

/* The lowest free place; an instruction may write where its operands end, as it reads first. */
static bool place(allocator *a, range *r) {
    const uint32_t width = a->v->width[r->reg];
    const uint32_t step = width > 2 ? 4 : width;
    for (uint32_t at = 0; at + width <= a->limit; at += step) {
        uint32_t free = 0;
        while (free < width && !a->taken[at + free])
            free++;
        if (free < width)
            continue;
        r->at = (uint8_t)at;
        occupy(a, r, true);
        a->active[a->actives++] = r->reg;
        a->highest = at + width > a->highest ? at + width : a->highest;
        return true;
    }
    return false;
}

static double length_of(const range *r) {
    return (double)(r->last - r->first + 1);
}

/* Of r and those that hold a place: which costs least to spill for the length that it frees; NULL. Narrower ones than r
 * only when there is no other: several of them may have to go. */
static range *victim(allocator *a, range *r) {
    range *best = NULL;
    for (int narrow = 0; narrow < 2 && !best; narrow++) {
        best = a->v->temporary[r->reg] ? NULL : r;
        for (uint32_t i = 0; i < a->actives; i++) {
            range *x = &a->range[a->active[i]];
            if (a->v->temporary[x->reg] || (a->v->width[x->reg] < a->v->width[r->reg] && !narrow))
                continue;
            if (!best || x->weight / length_of(x) < best->weight / length_of(best))
                best = x;
        }
    }
    return best;
}

static void drop(allocator *a, range *r) {
    for (uint32_t i = 0; i < a->actives; i++)
        if (a->active[i] == r->reg) {
            a->active[i] = a->active[--a->actives];
            occupy(a, r, false);
            return;
        }
}

/* A predicate that is free, else the one whose holder ends first: that only orders what need not be ordered. */
static void place_predicate(allocator *a, range *r) {
    uint32_t best = 0;
    for (uint32_t i = 0; i < PREDICATES; i++) {
        if (!a->predicate[i] || a->range[a->predicate[i]].last <= r->first) {
            best = i;
            break;
        }
        if (a->range[a->predicate[i]].last < a->range[a->predicate[best]].last)
            best = i;
    }
    a->predicate[best] = r->reg;
    r->at = (uint8_t)best;
}

/* *spills: how many ranges found no place. */
static status scan(allocator *a, uint32_t *spills) {
    memset(a->taken, 0, sizeof a->taken);
    memset(a->predicate, 0, sizeof a->predicate);
    a->actives = a->highest = 0;
    *spills = 0;
    for (uint32_t i = 0; i < a->ordered; i++) {
        range *r = &a->range[a->order[i]];
        expire(a, r->first);
        if (a->v->width[r->reg] == 0) {
            place_predicate(a, r);
            continue;
        }
        while (!place(a, r)) {
            range *out = victim(a, r);
            if (!out)
                return fail(a->m, ERR_INPUT, "kernel %s cannot do with %u registers a thread; allow more",
                            a->out->k.name, a->limit);
            out->spilled = true;
            ++*spills;
            if (out == r)
                break;
            drop(a, out);
        }
    }
    return OK;
}

/* ---- spilling ---------------------------------------------------------------------------------------------------- */

static status spill_access(allocator *a, uint32_t word, uint32_t width, uint16_t *id) {
    kernel *k = &a->out->k;
    local_frame *f = a->frame;
    uint32_t index = 0;
    ir_access x = {.space = SPACE_LOCAL,
                   .bytes = 4 * width,
                   .base = f->base + (int64_t)word * 4 * f->threads,
                   .first_term = k->term_count,
                   .terms = 2,
                   .first_bound = k->bound_count};
    TRY(ir_add_index(k, (ir_index){.per_thread = 4 * (int64_t)width}, &index, a->m));
    TRY(ir_add_term(k, (ir_term){.index = index, .div = 1, .mul = 1}, a->m));
    TRY(local_frame_term(k, f, a->m));
    return ir_add_access(k, x, id, a->m);
}

typedef struct slot {
    bool made;
    uint16_t access;
} slot;

static status slot_of(allocator *a, slot *s, uint32_t reg) {
    if (s[reg].made)
        return OK;
    const uint32_t width = a->v->width[reg], word = (a->frame->words + width - 1) / width * width;
    a->frame->words = word + width;
    a->out->spilled++;
    s[reg].made = true;
    return spill_access(a, word, width, &s[reg].access);
}

static status put(allocator *a, vlist *to, const vinst *x) {
    return vlist_add(to, x) ? OK : no_memory(a);
}

/* The store behind a definition. What a predicated load leaves alone is not stored either. */
static status spill_store(allocator *a, const slot *s, const vinst *def, vinst move, vlist *to) {
    kernel *k = &a->out->k;
    move.op = OP_STORE;
    move.access = s->access;
    move.dst = 0;
    move.src[0] = def->dst;
    if ((def->op == OP_LOAD || def->op == OP_SHARED_LOAD) && k->accesses[def->access].bounds) {
        ir_access x = k->accesses[s->access];
        x.first_bound = k->accesses[def->access].first_bound;
        x.bounds = k->accesses[def->access].bounds;
        TRY(ir_add_access(k, x, &move.access, a->m));
        move.src[2] = def->src[1];
    }
    a->out->spill_stores++;
    return put(a, to, &move);
}

static status rewrite_inst(allocator *a, slot *s, const vinst *in, vlist *to) {
    vinst x = *in;
    vinst move = {.loop = IR_NONE, .note = {.origin = ORIGIN_SPILL, .line = in->note.line}};
    for (int i = 0; i < 3; i++) {
        const uint32_t reg = in->src[i];
        if (!reg || !a->range[reg].spilled)
            continue;
        TRY(slot_of(a, s, reg));
        for (int j = 0; j < i; j++)
            if (in->src[j] == reg)
                x.src[i] = x.src[j];
        if (x.src[i] != reg)
            continue;
        move.op = OP_LOAD;
        move.access = s[reg].access;
        move.dst = x.src[i] = vcode_register(a->v, a->v->width[reg], true);
        if (!move.dst)
            return no_memory(a);
        a->out->spill_loads++;
        TRY(put(a, to, &move));
    }
    const uint32_t reg = in->dst;
    if (!reg || !a->range[reg].spilled)
        return put(a, to, &x);
    TRY(slot_of(a, s, reg));
    x.dst = vcode_register(a->v, a->v->width[reg], true);
    if (!x.dst)
        return no_memory(a);
    TRY(put(a, to, &x));
    return spill_store(a, &s[reg], &x, move, to);
}

static status rewrite(allocator *a) {
    vlist to = {.count = 0};
    slot *s = mem_zero(a->v->registers, sizeof *s);
    if (!s)
        return no_memory(a);
    status st = OK;
    const size_t count = a->v->code.count;
    for (size_t i = 0; i < count && st == OK; i++) {
        const vinst x = a->v->code.inst[i];
        if (x.op == VCODE_KEEP) { /* what lives in memory needs no keeping */
            vinst kept = x;
            for (int n = 0; n < 3; n++)
                if (x.src[n] && a->range[x.src[n]].spilled)
                    kept.src[n] = 0;
            st = put(a, &to, &kept);
        } else {
            st = rewrite_inst(a, s, &x, &to);
        }
    }
    mem_free(s);
    if (st != OK) {
        mem_free(to.inst);
        return st;
    }
    mem_free(a->v->code.inst);
    a->v->code = to;
    return OK;
}

/* ---- the result -------------------------------------------------------------------------------------------------- */

static uint8_t physical(const allocator *a, uint32_t reg) {
    if (!reg)
        return 0;
    return (uint8_t)(a->v->width[reg] ? a->range[reg].at + 1u : a->range[reg].at + (uint32_t)PREDICATE_FIRST);
}

static status emit(allocator *a) {
    kernel *k = &a->out->k;
    a->out->note = mem_zero(a->v->code.count, sizeof *a->out->note);
    if (!a->out->note)
        return no_memory(a);
    for (size_t i = 0; i < a->v->code.count; i++) {
        const vinst *x = &a->v->code.inst[i];
        if (x->op == VCODE_LOOP_BEGIN) {
            k->loops[x->loop].first = k->code_count;
            continue;
        }
        if (x->op == VCODE_KEEP)
            continue;
        bool memory = x->op == OP_LOAD || x->op == OP_STORE || x->op == OP_SHARED_LOAD || x->op == OP_SHARED_STORE;
        bool test = x->op == OP_BRANCH && x->access != IR_NONE;
        if (x->op == OP_BRANCH && x->loop != IR_NONE)
            k->loops[x->loop].last = k->code_count;
        a->out->note[k->code_count] = x->note;
        const ir_inst inst = {.op = x->op,
                              .dst = physical(a, x->dst),
                              .src = {physical(a, x->src[0]), physical(a, x->src[1]), physical(a, x->src[2])},
                              .access = memory || test ? x->access : IR_NONE,
                              .loop = x->op == OP_BRANCH ? x->loop : IR_NONE};
        TRY(ir_add_inst(k, inst, a->m));
    }
    k->registers = a->highest ? a->highest : 1;
    a->out->register_limit = a->limit;
    return OK;
}

static status make_room(allocator *a) {
    const uint32_t n = a->v->registers;
    mem_free(a->range);
    mem_free(a->order);
    mem_free(a->active);
    a->range = mem_zero(n, sizeof *a->range);
    a->order = mem_zero(n, sizeof *a->order);
    a->active = mem_zero(n, sizeof *a->active);
    return a->range && a->order && a->active ? OK : no_memory(a);
}

static status allocate(allocator *a) {
    for (int round = 0; round < ROUNDS_MAX; round++) {
        uint32_t spills = 0;
        TRY(make_room(a));
        find_ranges(a);
        TRY(stretch(a));
        TRY(sort_ranges(a));
        TRY(scan(a, &spills));
        if (!spills)
            return emit(a);
        TRY(rewrite(a));
    }
    return fail(a->m, ERR_INPUT, "kernel %s cannot do with %u registers a thread; allow more", a->out->k.name,
                a->limit);
}

status vcode_allocate(vcode *v, uint32_t limit, local_frame *f, lowered *out, message *m) {
    allocator a = {.v = v, .out = out, .frame = f, .m = m, .limit = limit};
    status s = allocate(&a);
    mem_free(a.range);
    mem_free(a.order);
    mem_free(a.active);
    return s;
}

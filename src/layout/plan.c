#include "layout/plan.h"

#include "base/num.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

const char *copy_strategy_name(copy_strategy s) {
    static const char *const name[] = {
#define X(id, text) text,
        STRATEGY_LIST(X)
#undef X
    };
    return name[s];
}

const char *index_variant_name(index_variant v) {
    static const char *const name[] = {[INDEX_64] = "64", [INDEX_32] = "32", [INDEX_INVARIANT] = "invariant"};
    return name[v];
}

const char *plan_note_name(plan_note_kind k) {
    static const char *const name[] = {
#define X(id, text) text,
        PLAN_NOTE_LIST(X)
#undef X
    };
    return name[k];
}

plan_options plan_options_default(void) {
    return (plan_options){
        .batches = BATCHES_MAY_GAP,
        .contiguous = CONTIGUITY_FUTHARK,
        .general = {.strategy = COPY_GENERAL, .index = INDEX_64, .elements_per_thread = 1, .sorted = true},
    };
}

plan_options plan_options_futhark(void) {
    plan_options o = plan_options_default();
    o.batches = BATCHES_ABUT;
    o.general.sorted = false;
    return o;
}

static void say(plan_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(plan_text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(t->text, sizeof t->text, format, args);
    va_end(args);
}

enum { ORDER_TEXT = 64, INDEX_TEXT = 22 * LMAD_RANK_MAX };

/* "(1,0)" */
static const char *order_text(char text[static ORDER_TEXT], const uint32_t *order, uint32_t rank) {
    int used = snprintf(text, ORDER_TEXT, "(");
    for (uint32_t k = 0; k < rank; k++)
        used += snprintf(text + used, (size_t)(ORDER_TEXT - used), "%s%" PRIu32, k ? "," : "", order[k]);
    snprintf(text + used, (size_t)(ORDER_TEXT - used), ")");
    return text;
}

static const char *index_text(char text[static INDEX_TEXT], const int64_t *index, uint32_t rank) {
    int used = snprintf(text, INDEX_TEXT, "(");
    for (uint32_t k = 0; k < rank; k++)
        used += snprintf(text + used, (size_t)(INDEX_TEXT - used), "%s%" PRId64, k ? "," : "", index[k]);
    snprintf(text + used, (size_t)(INDEX_TEXT - used), ")");
    return text;
}

static void say_not_contiguous(const lmad *l, plan_text *why) {
    for (uint32_t k = 0; k < l->rank; k++)
        if (l->stride[k] < 0) {
            say(why, "dimension %" PRIu32 " of the destination has the negative stride %" PRId64, k, l->stride[k]);
            return;
        }
    bool singletons = lmad_contiguous(l, CONTIGUITY_IGNORE_SINGLETONS, NULL);
    say(why, "the destination has gaps in every order of its dimensions%s",
        singletons ? " (it would not if singletons were ignored)" : "");
}

static bool memcpy_applicable(const copy_desc *c, const plan_options *o, plan_text *why) {
    uint32_t order[LMAD_RANK_MAX] = {0};
    if (!lmad_contiguous(&c->dst, o->contiguous, order)) {
        say_not_contiguous(&c->dst, why);
        return false;
    }
    char text[ORDER_TEXT];
    order_text(text, order, c->dst.rank);
    for (uint32_t k = 0; k < c->src.rank; k++)
        if (c->src.size[k] != 1 && c->src.stride[k] != c->dst.stride[k]) {
            say(why,
                "the destination is contiguous in order %s, but dimension %" PRIu32 " has stride %" PRId64
                " in the source and %" PRId64 " in the destination",
                text, k, c->src.stride[k], c->dst.stride[k]);
            return false;
        }
    if (c->src.rank == 0)
        say(why, "a single element");
    else
        say(why, "the destination is contiguous in order %s, fastest first, and the source has the same strides", text);
    return true;
}

static void say_transpose(const transpose_shape *t, plan_text *why) {
    say(why, "%" PRId64 " matri%s of %" PRId64 " rows x %" PRId64 " columns%s", t->batches,
        t->batches == 1 ? "x" : "ces", t->rows, t->columns, transpose_has_gaps(t) ? ", with gaps between them" : "");
}

/* Whether one kernel can take the transposition t. */
static bool kernel_applicable(const copy_desc *c, copy_strategy s, const transpose_shape *t, plan_text *why) {
    enum { BLOCK = 16 };
    bool fits_32 = transpose_fits_32(c, t);
    if (!fits_32 && s != COPY_TRANSPOSE_LARGE && s != COPY_TRANSPOSE_NAIVE) {
        say(why, "its 32-bit indices do not reach the last element: use transpose_large");
        return false;
    }
    if (s == COPY_TRANSPOSE_LOW_WIDTH && t->columns > BLOCK) {
        say(why, "%" PRId64 " columns do not fit the block's width of %d", t->columns, BLOCK);
        return false;
    }
    if (s == COPY_TRANSPOSE_LOW_HEIGHT && t->rows > BLOCK) {
        say(why, "%" PRId64 " rows do not fit the block's height of %d", t->rows, BLOCK);
        return false;
    }
    say_transpose(t, why);
    return true;
}

static void say_no_transpose(const copy_desc *c, batch_rule rule, plan_text *why) {
    transpose_shape t;
    if (rule == BATCHES_ABUT && copy_find_transpose(c, BATCHES_MAY_GAP, &t))
        say(why, "batches do not abut: they lie %" PRId64 " apart in the source and %" PRId64 " in the destination",
            t.src_batch_stride, t.dst_batch_stride);
    else
        say(why, "no split into rows and columns turns one side's layout into the other's");
}

bool plan_applicable(const copy_desc *c, copy_strategy s, const plan_options *o, transpose_shape *t, plan_text *why) {
    transpose_shape scratch = {0};
    t = t ? t : &scratch;
    if ((s == COPY_NOTHING) != lmad_empty(&c->src)) {
        say(why, s == COPY_NOTHING ? "the shape is not empty" : "the shape is empty: there is nothing to copy");
        return false;
    }
    switch (s) {
    case COPY_NOTHING:
        say(why, "the shape is empty");
        return true;
    case COPY_MEMCPY:
        return memcpy_applicable(c, o, why);
    case COPY_GENERAL:
        say(why, "any two layouts");
        return true;
    default:
        if (copy_find_transpose(c, o->batches, t))
            return kernel_applicable(c, s, t, why);
        say_no_transpose(c, o->batches, why);
        return false;
    }
}

static const char *kernel_reason(copy_strategy s) {
    switch (s) {
    case COPY_TRANSPOSE_LARGE:
        return "offset plus elements pass 2^31 - 1, so 64-bit indices";
    case COPY_TRANSPOSE_SMALL:
        return "rows <= 8 and columns <= 8, too small for tiles";
    case COPY_TRANSPOSE_LOW_WIDTH:
        return "columns <= 8 and rows > 16, so several rows share a tile row";
    case COPY_TRANSPOSE_LOW_HEIGHT:
        return "rows <= 8 and columns > 16, so several column ranges share a tile";
    default:
        return "neither side calls for a special kernel, so 32x32 tiles";
    }
}

static void set_order(const copy_desc *c, const copy_options *general, copy_plan *plan) {
    copy_desc dims = general->collapse ? copy_collapse(c) : *c;
    plan->rank = dims.src.rank;
    for (uint32_t k = 0; k < plan->rank; k++)
        plan->order[k] = k;
    if (general->sorted)
        copy_sort_order(&dims, general->signed_sort, plan->order);
}

static void choose(const copy_desc *c, const plan_options *o, copy_plan *plan) {
    plan->options = o->general;
    set_order(c, &o->general, plan);
    plan->transposes = !lmad_empty(&c->src) && copy_find_transpose(c, o->batches, &plan->transpose);
    copy_strategy s = COPY_GENERAL;
    if (plan->verdict[COPY_NOTHING].applicable)
        s = COPY_NOTHING;
    else if (plan->transposes)
        s = transpose_kernel(c, &plan->transpose);
    else if (plan->verdict[COPY_MEMCPY].applicable)
        s = COPY_MEMCPY;
    plan->options.strategy = s;
    const char *why = plan->verdict[s].why.text;
    char order[ORDER_TEXT];
    if (s == COPY_GENERAL)
        say(&plan->reason, "%s: not memcpy, %.200s; not a transposition, %.140s; dimensions in order %s, fastest first",
            copy_strategy_name(s), plan->verdict[COPY_MEMCPY].why.text, plan->verdict[COPY_TRANSPOSE_LARGE].why.text,
            order_text(order, plan->order, plan->rank));
    else if (plan->transposes)
        say(&plan->reason, "%s: %.160s; %s", copy_strategy_name(s), why, kernel_reason(s));
    else
        say(&plan->reason, "%s: %.360s", copy_strategy_name(s), why);
}

static plan_text *add_note(copy_plan *plan, plan_note_kind kind) {
    plan->noted[kind] = true;
    return &plan->note[kind];
}

static void note_overlap(const copy_desc *c, const plan_options *o, copy_plan *plan) {
    static const char *const said[] = {
        [OVERLAP_SELF] = "source and destination are the same elements: the copy changes nothing",
        [OVERLAP_INTERLEAVED] = "the byte ranges of source and destination intersect, but they share no byte",
        [OVERLAP_SHARED] = "source and destination share bytes: the result depends on the order of the elements",
        [OVERLAP_UNKNOWN] = "the byte ranges of source and destination intersect; whether they share a byte is unknown",
    };
    copy_overlap overlap = o->same_memory ? copy_overlaps(c, o->src_base, o->dst_base) : OVERLAP_NONE;
    if (overlap != OVERLAP_NONE)
        say(add_note(plan, NOTE_OVERLAP), "%s", said[overlap]);
}

static void note_collision(const copy_desc *c, copy_plan *plan) {
    lmad_collision at;
    answer injective = lmad_injective(&c->dst, &at);
    char first[INDEX_TEXT], second[INDEX_TEXT];
    if (injective == ANSWER_NO)
        say(add_note(plan, NOTE_COLLISION),
            "destination elements %.200s and %.200s are the same place: which value stays is not defined",
            index_text(first, at.first, c->dst.rank), index_text(second, at.second, c->dst.rank));
    else if (injective == ANSWER_UNKNOWN)
        say(add_note(plan, NOTE_COLLISION), "whether all destination elements lie at different places is unknown");
}

static void note_misaligned(const copy_desc *c, copy_plan *plan) {
    bool src = plan->src_vector_bytes < c->element_bytes, dst = plan->dst_vector_bytes < c->element_bytes;
    if (src || dst)
        say(add_note(plan, NOTE_MISALIGNED),
            "%s elements of %" PRIu32 " B are misaligned (hardware would fault): %.240s",
            src ? "source" : "destination", c->element_bytes,
            src ? plan->src_vector_why.text : plan->dst_vector_why.text);
}

static uint64_t grid_step(const plan_options *o, int64_t elements) {
    enum { BLOCK = 256 };
    return o->grid_step ? o->grid_step : ceil_div((uint64_t)elements, BLOCK) * BLOCK;
}

static void add_notes(const copy_desc *c, const plan_options *o, copy_plan *plan) {
    enum { FUTHARK_RANK_MAX = 8 };
    if (plan->transposes && transpose_has_gaps(&plan->transpose))
        say(add_note(plan, NOTE_GAPPED_BATCHES),
            "matrices lie %" PRId64 " elements apart in the source and %" PRId64
            " in the destination; Futhark's run-time system, whose batches must abut, would use the general kernel",
            plan->transpose.src_batch_stride, plan->transpose.dst_batch_stride);
    note_overlap(c, o, plan);
    note_collision(c, plan);
    plan_text why;
    if (!copy_fits_32(c, grid_step(o, plan->elements), &why))
        say(add_note(plan, NOTE_INDEX_32), "%s", why.text);
    note_misaligned(c, plan);
    if (plan->options.strategy == COPY_GENERAL && c->src.rank > FUTHARK_RANK_MAX)
        say(add_note(plan, NOTE_RANK), "rank %" PRIu32 ": Futhark's general kernel stops at %d dimensions", c->src.rank,
            FUTHARK_RANK_MAX);
}

status plan_copy(const copy_desc *c, const plan_options *o, copy_plan *plan, message *m) {
    *plan = (copy_plan){0};
    TRY(copy_check(c, m));
    plan->elements = copy_elements(c);
    for (copy_strategy s = 0; s < COPY_STRATEGY_COUNT; s++)
        plan->verdict[s].applicable = plan_applicable(c, s, o, NULL, &plan->verdict[s].why);
    plan->src_vector_bytes = lmad_vector_bytes(&c->src, c->element_bytes, o->src_base, &plan->src_vector_why);
    plan->dst_vector_bytes = lmad_vector_bytes(&c->dst, c->element_bytes, o->dst_base, &plan->dst_vector_why);
    choose(c, o, plan);
    add_notes(c, o, plan);
    return OK;
}

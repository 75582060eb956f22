#include "base/mem.h"
#include "cmd/output.h"
#include "cmd/place.h"
#include "cmd/shrink.h"
#include "cmd/simulate.h"
#include "config/machine_config.h"
#include "layout/syntax.h"
#include "report/plan_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CANDIDATES_MAX = COPY_STRATEGY_COUNT + 8,
    REFUSALS_MAX = COPY_STRATEGY_COUNT + CANDIDATES_MAX,
    SIZES_MAX = 10,
    CPU_TILE = 32,          /* rows and columns of the tiles proposed for CPUs */
    SHRINK = 4,             /* each size has a quarter of the elements of the one before */
    ELEMENTS_MIN = 1 << 10, /* below, every kernel is launch overhead */
    ELEMENTS_MAX = 1 << 20, /* of the smaller sizes: they are simulated to the end, which must not take long */
};

typedef struct candidate {
    copy_options options;
    char label[STRATEGY_LABEL_MAX];
} candidate;

/* All that one plan needs; large, so not on the stack. */
typedef struct planning {
    copy_desc copy;
    int64_t src_base, dst_base;
    copy_plan plan;
    char dataset[SYNTAX_TEXT_MAX], src[SYNTAX_TEXT_MAX], dst[SYNTAX_TEXT_MAX], choice[STRATEGY_LABEL_MAX];
    machine mach;
    candidate candidates[CANDIDATES_MAX];
    size_t candidate_count;
    run_record runs[CANDIDATES_MAX];
    size_t run_count;
    plan_size sizes[SIZES_MAX];
    size_t size_count;
    plan_refusal refusals[REFUSALS_MAX];
    size_t refusal_count;
} planning;

/* ---- what the user wants copied ------------------------------------------------------------------------------------
 */

static status read_side(const char *text, const char *option, const dataset *d, lmad *side, message *m) {
    if (!text)
        return lmad_row_major(d->size, d->rank, side, m);
    message inner;
    if (parse_lmad(text, side, &inner) != OK)
        return fail(m, ERR_INPUT, "%s '%.200s': %.600s", option, text, inner.text);
    if (side->rank != d->rank)
        return fail(m, ERR_INPUT, "%s has %" PRIu32 " dimensions, --shape %" PRIu32, option, side->rank, d->rank);
    for (uint32_t k = 0; k < d->rank; k++)
        if (side->size[k] != d->size[k])
            return fail(m, ERR_INPUT, "%s: dimension %" PRIu32 " has size %" PRId64 ", in --shape it has %" PRId64,
                        option, k, side->size[k], d->size[k]);
    return OK;
}

static status read_copy(planning *p, const arguments *args, message *m) {
    if (!args->shape)
        return fail(m, ERR_INPUT, "plan needs --shape, as in --shape '[8192][8192]i32'");
    dataset d;
    message inner;
    if (parse_dataset(args->shape, &d, &inner) != OK)
        return fail(m, ERR_INPUT, "--shape '%.200s': %.600s", args->shape, inner.text);
    p->copy.element_bytes = d.element_bytes;
    TRY(read_side(args->src, "--src", &d, &p->copy.src, m));
    TRY(read_side(args->dst, "--dst", &d, &p->copy.dst, m));
    format_dataset(p->dataset, sizeof p->dataset, &d);
    format_lmad(p->src, sizeof p->src, &p->copy.src);
    format_lmad(p->dst, sizeof p->dst, &p->copy.dst);
    plan_options o = plan_options_default();
    o.same_memory = args->same_memory;
    TRY(copy_check(&p->copy, m));
    TRY(place_copy(&p->copy, args->same_memory, &p->src_base, &p->dst_base, m));
    o.src_base = p->src_base;
    o.dst_base = p->dst_base;
    TRY(plan_copy(&p->copy, &o, &p->plan, m));
    strategy_label(p->choice, sizeof p->choice, &p->plan.options);
    return OK;
}

/* ---- what could do it ----------------------------------------------------------------------------------------------
 */

static void refuse(planning *p, const char *name, const char *why) {
    if (p->refusal_count == REFUSALS_MAX)
        return;
    plan_refusal *r = &p->refusals[p->refusal_count++];
    snprintf(r->name, sizeof r->name, "%s", name);
    snprintf(r->why, sizeof r->why, "%s", why);
}

static void propose(planning *p, copy_options o) {
    if (p->candidate_count == CANDIDATES_MAX)
        return;
    candidate *c = &p->candidates[p->candidate_count++];
    c->options = o;
    strategy_label(c->label, sizeof c->label, &o);
}

/* The general kernel as Futhark has it (unsorted, 64-bit), as the plan has it (sorted), and with what would make its
 * index arithmetic cheaper. */
static void propose_general(planning *p) {
    copy_options o = {.strategy = COPY_GENERAL, .index = INDEX_64, .elements_per_thread = 1};
    uint32_t order[LMAD_RANK_MAX];
    copy_sort_order(&p->copy, false, order);
    bool sorting_matters = false;
    for (uint32_t k = 0; k < p->copy.src.rank; k++)
        sorting_matters = sorting_matters || order[k] != k;
    if (sorting_matters)
        propose(p, o);
    o.sorted = true;
    propose(p, o);
    o.index = INDEX_32;
    propose(p, o);
    o.index = INDEX_INVARIANT;
    propose(p, o);
    o.elements_per_thread = 4;
    propose(p, o);
    if (copy_collapse(&p->copy).src.rank < p->copy.src.rank) {
        o.collapse = true;
        propose(p, o);
    }
}

/* CPUs make the same loops of all transpositions but the naive one (kernel/cpu_copy.h). */
static bool same_on_cpu(copy_strategy s) {
    return s != COPY_MEMCPY && s != COPY_GENERAL && s != COPY_TRANSPOSE_NAIVE && s != COPY_TRANSPOSE_DEFAULT;
}

static void propose_for_cpu(planning *p, copy_strategy s) {
    copy_options o = {.strategy = s, .elements_per_thread = 1};
    propose(p, o);
    o.sorted = s == COPY_GENERAL;
    o.nontemporal = s == COPY_MEMCPY;
    o.tile = s == COPY_TRANSPOSE_DEFAULT ? CPU_TILE : 0;
    if (o.sorted || o.nontemporal || o.tile)
        propose(p, o);
}

static void propose_all(planning *p) {
    const bool cpu = p->mach.kind == MACHINE_CPU;
    for (copy_strategy s = 0; s < COPY_STRATEGY_COUNT; s++) {
        if (s == COPY_NOTHING || (cpu && same_on_cpu(s)))
            continue;
        if (!p->plan.verdict[s].applicable)
            refuse(p, copy_strategy_name(s), p->plan.verdict[s].why.text);
        else if (cpu)
            propose_for_cpu(p, s);
        else if (s == COPY_GENERAL)
            propose_general(p);
        else
            propose(p, (copy_options){.strategy = s, .index = INDEX_64, .elements_per_thread = 1});
    }
}

/* ---- what it costs -------------------------------------------------------------------------------------------------
 */

static int faster(const void *a, const void *b) {
    const run_record *x = a, *y = b;
    if (x->sim.cycles != y->sim.cycles)
        return x->sim.cycles < y->sim.cycles ? -1 : 1;
    return strcmp(x->strategy, y->strategy);
}

static run_record blank_record(const planning *p, const candidate *c) {
    return (run_record){.case_name = p->dataset,
                        .strategy = c->label,
                        .dataset = p->dataset,
                        .plan_reason = strcmp(c->label, p->choice) == 0 ? p->plan.reason.text : "",
                        .measured_us = NAN,
                        .measured_low_us = NAN,
                        .measured_high_us = NAN};
}

/* A candidate that cannot be built is news for the user, not a failure. */
static status simulate_all(planning *p, const arguments *args, progress *bar, message *m) {
    for (size_t i = 0; i < p->candidate_count; i++, bar->index++) {
        const candidate *c = &p->candidates[i];
        run_record *r = &p->runs[p->run_count];
        *r = blank_record(p, c);
        bar->name = c->label;
        message why;
        status s = simulate_copy(&p->mach, &p->copy, &c->options, p->src_base, p->dst_base, args, bar, r, &why);
        if (s == ERR_INPUT)
            refuse(p, c->label, why.text);
        else if (s != OK)
            return fail(m, s, "%s", why.text);
        else
            p->run_count++;
    }
    return OK;
}

static void note_time(const planning *p, plan_size *z, const char *label, double us) {
    if (!(z->fastest_us <= us)) {
        z->fastest_us = us;
        snprintf(z->fastest, sizeof z->fastest, "%s", label);
    }
    if (strcmp(label, p->choice) == 0)
        z->choice_us = us;
}

static plan_size blank_size(const planning *p, const copy_desc *copy) {
    return (plan_size){.elements = (uint64_t)copy_elements(copy),
                       .fastest_us = NAN,
                       .launch_us = p->mach.launch_overhead_s * 1e6,
                       .choice_us = NAN};
}

static status simulate_size(planning *p, const arguments *args, const copy_desc *copy, progress *bar, message *m) {
    plan_size *z = &p->sizes[p->size_count];
    *z = blank_size(p, copy);
    bar->name = "the same layout with fewer elements";
    int64_t src = 0, dst = 0;
    TRY(place_copy(copy, args->same_memory, &src, &dst, m));
    for (size_t i = 0; i < p->candidate_count; i++, bar->index++) {
        const candidate *c = &p->candidates[i];
        run_record r = blank_record(p, c);
        status s = simulate_copy(&p->mach, copy, &c->options, src, dst, args, bar, &r, m);
        if (s != OK && s != ERR_INPUT)
            return s;
        if (s == OK)
            note_time(p, z, c->label, r.sim.time_s * 1e6);
    }
    if (!isnan(z->fastest_us))
        p->size_count++;
    return OK;
}

static status simulate_sizes(planning *p, const arguments *args, progress *bar, const copy_desc *smaller, size_t count,
                             message *m) {
    if (p->run_count == 0)
        return OK;
    p->sizes[0] = blank_size(p, &p->copy);
    for (size_t i = 0; i < p->run_count; i++)
        note_time(p, &p->sizes[0], p->runs[i].strategy, p->runs[i].sim.time_s * 1e6);
    p->size_count = 1;
    for (size_t i = 0; i < count; i++)
        TRY(simulate_size(p, args, &smaller[i], bar, m));
    return OK;
}

static status simulate(planning *p, const arguments *args, message *m) {
    copy_desc smaller[SIZES_MAX - 1], copy = p->copy;
    size_t count = 0;
    while (count < SIZES_MAX - 1 && shrink_copy(&copy, SHRINK, &smaller[count]) &&
           copy_elements(&smaller[count]) >= ELEMENTS_MIN) {
        copy = smaller[count];
        count += copy_elements(&copy) <= ELEMENTS_MAX;
    }
    progress bar = progress_start(p->candidate_count * (count + 1), args->quiet);
    status s = simulate_all(p, args, &bar, m);
    qsort(p->runs, p->run_count, sizeof *p->runs, faster);
    if (s == OK)
        s = simulate_sizes(p, args, &bar, smaller, count, m);
    progress_clear(&bar);
    return s;
}

static status print(outputs *o, const planning *p, const arguments *args, message *m) {
    plan_record record = {.dataset = p->dataset,
                          .src = p->src,
                          .dst = p->dst,
                          .element_bytes = p->copy.element_bytes,
                          .plan = &p->plan,
                          .choice = p->choice,
                          .runs = p->runs,
                          .run_count = p->run_count,
                          .sizes = p->sizes,
                          .size_count = p->size_count,
                          .refusals = p->refusals,
                          .refusal_count = p->refusal_count,
                          .machine = args->machine != NULL};
    for (size_t i = 0; i < p->run_count; i++)
        if (strcmp(p->runs[i].strategy, p->choice) == 0)
            record.chosen = &p->runs[i];
    for (size_t i = 0; i < o->count; i++) {
        const report_options options = output_options(&o->list[i], args, NULL);
        TRY(output_written(&o->list[i], report_plan(o->list[i].stream, &options, &record, m)));
    }
    return outputs_commit(o, m);
}

static status plan(planning *p, outputs *o, const arguments *args, message *m) {
    TRY(read_copy(p, args, m));
    if (args->machine) {
        config_overrides overrides = {args->defines, args->define_count};
        TRY(machine_load_with(args->machine, &overrides, &p->mach, m));
    } else if (args->define_count) {
        return fail(m, ERR_INPUT, "-D %s: overrides a key of the machine, but no machine is named with -m",
                    args->defines[0]);
    }
    TRY(outputs_open(o, args, m));
    if (p->plan.options.strategy != COPY_NOTHING)
        propose_all(p);
    status s = args->machine ? simulate(p, args, m) : OK;
    /* After Ctrl-C: what is done is printed, and the exit status says that it is not all. */
    if (s != OK && !(s == ERR_INTERRUPTED && p->run_count > 0))
        return s;
    o->partial = s == ERR_INTERRUPTED;
    TRY(print(o, p, args, m));
    return s;
}

status plan_command(const arguments *args, message *m) {
    planning *p = mem_zero(1, sizeof *p);
    outputs o = {0};
    status s = p ? plan(p, &o, args, m) : fail(m, ERR_MEMORY, "not enough memory for a plan");
    outputs_close(&o);
    mem_free(p);
    return s;
}

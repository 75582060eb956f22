#include "cmd/case.h"

#include "cmd/place.h"

#include <stdio.h>
#include <string.h>

static status prepare(run_case *c, const experiment_case *what, message *m) {
    c->what = what;
    if (what->bodied) {
        snprintf(c->strategy, sizeof c->strategy, "body");
        return OK;
    }
    if (what->patterned) {
        pattern_label(c->strategy, sizeof c->strategy, &what->pattern);
        return OK;
    }
    c->options = what->options;
    c->src_base = what->src_base;
    c->dst_base = what->dst_base;
    if (!what->placed)
        TRY(place_copy(&what->copy, false, &c->src_base, &c->dst_base, m));
    plan_options o = plan_options_default();
    o.general = what->options;
    o.same_memory = true; /* one address space: the bases tell */
    o.src_base = c->src_base;
    o.dst_base = c->dst_base;
    copy_plan plan;
    TRY(plan_copy(&what->copy, &o, &plan, m));
    for (int i = 0; i < PLAN_NOTE_COUNT; i++)
        if (plan.noted[i])
            c->note[i] = plan.note[i];
    if (what->automatic) {
        c->options.strategy = plan.options.strategy;
        c->reason = plan.reason;
    }
    strategy_label(c->strategy, sizeof c->strategy, &c->options);
    return OK;
}

status case_with_place(status s, const experiment_case *what, message *m) {
    message inner = *m;
    if (s == ERR_INPUT && *what->place && strncmp(inner.text, what->place, strlen(what->place)) != 0)
        fail(m, s, "%s: case '%s': %.600s", what->place, what->name, inner.text);
    return s;
}

status case_prepare(run_case *c, const experiment_case *what, message *m) {
    return case_with_place(prepare(c, what, m), what, m);
}

status case_simulate(const run_case *c, const machine *mach, const arguments *args, progress *bar, run_record *record,
                     message *m) {
    const experiment_case *what = c->what;
    *record = (run_record){.case_name = what->name,
                           .strategy = c->strategy,
                           .dataset = what->dataset,
                           .plan_reason = c->reason.text,
                           .measured_us = what->measured_us,
                           .measured_low_us = what->measured_low_us,
                           .measured_high_us = what->measured_high_us};
    for (int k = 0; k < PLAN_NOTE_COUNT; k++)
        record->note[k] = c->note[k].text;
    bar->name = what->name;
    status s;
    if (what->bodied)
        s = simulate_body(mach, what, args, bar, record, m);
    else if (what->patterned)
        s = simulate_pattern(mach, &what->pattern, what->accesses, args, bar, record, m);
    else
        s = simulate_copy(mach, &what->copy, &c->options, c->src_base, c->dst_base, args, bar, record, m);
    return case_with_place(s, what, m);
}

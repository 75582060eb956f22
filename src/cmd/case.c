#include "cmd/case.h"

#include "cmd/place.h"

#include <string.h>

static status prepare(run_case *c, const experiment_case *what, message *m) {
    c->what = what;
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

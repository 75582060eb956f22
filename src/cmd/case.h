/* case.h - a case of a config, ready to be built: where its arrays lie, and the strategy that its plan chose. */
#ifndef COALIGN_CMD_CASE_H
#define COALIGN_CMD_CASE_H

#include "cmd/simulate.h"
#include "config/experiment_config.h"

typedef struct run_case {
    const experiment_case *what;
    copy_options options;
    int64_t src_base, dst_base;
    char strategy[STRATEGY_LABEL_MAX];
    plan_text reason;                /* "" unless the plan chose */
    plan_text note[PLAN_NOTE_COUNT]; /* "" where there is none */
} run_case;

/* Errors as place_copy, plan_copy, with the case's file and line in front. */
status case_prepare(run_case *c, const experiment_case *what, message *m);

/* Fills the record, whose texts point to the case. Errors as those of cmd/simulate.h, likewise. */
status case_simulate(const run_case *c, const machine *mach, const arguments *args, progress *bar, run_record *record,
                     message *m);

/* Puts the case's place in front of the message, unless it names one already. Returns s. */
status case_with_place(status s, const experiment_case *what, message *m);

#endif

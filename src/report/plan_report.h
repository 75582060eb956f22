/* plan_report.h - a copy plan as text, JSON or CSV, with the simulated strategies if there are any. */
#ifndef COALIGN_REPORT_PLAN_REPORT_H
#define COALIGN_REPORT_PLAN_REPORT_H

#include "layout/plan.h"
#include "report/report.h"

/* A strategy or variant that was not simulated, and why. */
typedef struct plan_refusal {
    char name[64];
    char why[MESSAGE_MAX];
} plan_refusal;

/* The same layout with fewer elements. */
typedef struct plan_size {
    uint64_t elements;
    char fastest[64];
    double fastest_us, launch_us; /* launch_us: the part of fastest_us that is launch overhead */
    double choice_us;             /* of the plan's choice for the full size; NAN when it cannot do this size */
} plan_size;

typedef struct plan_record {
    const char *dataset, *src, *dst; /* as text */
    uint32_t element_bytes;
    const copy_plan *plan;
    const char *choice;     /* label of the plan's own choice */
    const run_record *runs; /* fastest first; the choice is among them. Empty without a machine */
    size_t run_count;
    const run_record *chosen; /* the choice's run; NULL when there is none */
    const plan_size *sizes;   /* the full size first, then ever smaller; fewer than 2 are not shown */
    size_t size_count;
    const plan_refusal *refusals; /* strategies that do not apply, and variants that cannot be built */
    size_t refusal_count;
    bool machine; /* the user named one */
} plan_record;

/* CSV: with runs, their table; without, strategy,applicable,why. */
status report_plan(FILE *out, const report_options *options, const plan_record *p, message *m);

#endif

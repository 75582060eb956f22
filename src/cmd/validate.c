/* validate - what the cases of configs are predicted to cost, beside what was measured. */
#include "base/mem.h"
#include "cmd/case.h"
#include "cmd/output.h"
#include "config/machine_search.h"
#include "measure/measured.h"
#include "report/validate_report.h"

#include <math.h>
#include <string.h>

typedef struct validated {
    experiment experiment;
    measured data;
    run_record *records; /* by case; .mach NULL: not simulated */
    run_case *cases;
} validated;

typedef struct validate_run {
    validated *set; /* by operand */
    comparison *result;
    size_t count, done;
} validate_run;

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Names of metrics of the config are those of the reports. */
static status check_metrics(const char *path, const validation *v, message *m) {
    for (size_t i = 0; i < v->metric_count; i++) {
        const validation_metric *x = &v->metric[i];
        const char *const names[] = {x->of, x->per};
        for (size_t k = 0; k < 2; k++)
            if (*names[k] && !metric_find(names[k]))
                return fail(m, ERR_INPUT, "%s: metric '%s': '%s' is none of `coalign metrics`", path, x->name,
                            names[k]);
    }
    return OK;
}

static status find_measured(const char *file, const validation *v, char path[MACHINE_PATH_MAX], message *m) {
    char name[sizeof v->measured + 16];
    if (strchr(v->measured, '/')) {
        snprintf(path, MACHINE_PATH_MAX, "%s", v->measured);
        return OK;
    }
    snprintf(name, sizeof name, "measured/%s", v->measured);
    return models_find(name, path)
               ? OK
               : fail(m, ERR_INPUT, "%s: there is no file %s beside the machines ($COALIGN_MODELS, ./models)", file,
                      name);
}

static status read_measured(validated *s, const char *file, const arguments *args, message *m) {
    const validation *v = s->experiment.validation;
    char path[MACHINE_PATH_MAX];
    if (!v)
        return fail(m, ERR_INPUT, "%s: the file has no group 'validation' that says what to compare with", file);
    TRY(check_metrics(file, v, m));
    if (args->measured)
        return measured_read(args->measured, v->set, &s->data, m);
    TRY(find_measured(file, v, path, m));
    return measured_read(path, v->set, &s->data, m);
}

static status load(validated *s, const char *file, const arguments *args, message *m) {
    const config_overrides overrides = {args->defines, args->define_count};
    TRY(experiment_load(file, args->machine, &overrides, &s->experiment, m));
    TRY(read_measured(s, file, args, m));
    const size_t count = s->experiment.case_count;
    s->records = mem_zero(count, sizeof *s->records);
    s->cases = mem_zero(count, sizeof *s->cases);
    if (!s->records || !s->cases)
        return fail(m, ERR_MEMORY, "not enough memory for %zu cases", count);
    for (size_t i = 0; i < count; i++)
        TRY(case_prepare(&s->cases[i], &s->experiment.cases[i], m));
    return OK;
}

/* ---- simulating -------------------------------------------------------------------------------------------------- */

static bool is_row_of(const measured_row *row, const experiment_case *c) {
    if (strcmp(row->name, c->series) != 0 || isnan(row->x) != isnan(c->x))
        return false;
    return isnan(c->x) || fabs(row->x - c->x) <= 1e-9 * fabs(c->x);
}

static bool is_measured(const validated *s, const experiment_case *c) {
    for (size_t i = 0; i < s->data.count; i++)
        if (is_row_of(&s->data.row[i], c))
            return true;
    return false;
}

static status simulate_set(validated *s, const arguments *args, progress *bar, message *m) {
    for (size_t i = 0; i < s->experiment.case_count; i++, bar->index++)
        if (is_measured(s, &s->experiment.cases[i]))
            TRY(case_simulate(&s->cases[i], &s->experiment.mach, args, bar, &s->records[i], m));
    return OK;
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

/* A metric of the record as a number; NAN: not known. */
static double number_of(const run_record *r, const char *name) {
    const metric_value v = metric_get(r, name);
    return v.kind == VALUE_COUNT ? (double)v.count : v.kind == VALUE_REAL ? v.real : NAN;
}

static double predict(const validated *s, const measured_row *row, const validation_metric *what) {
    for (size_t i = 0; i < s->experiment.case_count; i++) {
        const run_record *r = &s->records[i];
        if (!r->mach || !is_row_of(row, &s->experiment.cases[i]))
            continue;
        const double of = number_of(r, what->of), per = *what->per ? number_of(r, what->per) : 1;
        return per != 0 ? of / per * what->scale : NAN;
    }
    return NAN;
}

static status compare(const validated *s, comparison *c, message *m) {
    const validation *v = s->experiment.validation;
    *c = (comparison){.set = v->set, .machine = s->experiment.mach.name, .fitted = v->fitted, .what = v};
    for (size_t k = 0; k < v->metric_count; k++) {
        size_t id = SIZE_MAX;
        for (size_t i = 0; i < s->data.count; i++) {
            const measured_row *row = &s->data.row[i];
            if (strcmp(row->metric, v->metric[k].name) != 0)
                continue;
            if (id == SIZE_MAX)
                TRY(comparison_add_metric(c, &v->metric[k], row->unit, &id, m));
            TRY(comparison_add_point(c, row, id, predict(s, row, &v->metric[k]), m));
        }
        if (id == SIZE_MAX)
            return fail(m, ERR_INPUT, "set '%s': the file has no row of the metric '%s'", v->set, v->metric[k].name);
    }
    return comparison_judge(c, m);
}

static status validate_sets(validate_run *r, const arguments *args, message *m) {
    size_t cases = 0;
    for (size_t i = 0; i < r->count; i++)
        TRY(load(&r->set[i], args->operands[i], args, m));
    for (size_t i = 0; i < r->count; i++)
        cases += r->set[i].experiment.case_count;
    progress bar = progress_start(cases, args->quiet);
    status s = OK;
    for (size_t i = 0; i < r->count && s == OK; i++) {
        s = simulate_set(&r->set[i], args, &bar, m);
        if (s == OK)
            s = compare(&r->set[i], &r->result[i], m);
        r->done += s == OK;
    }
    progress_clear(&bar);
    return s;
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

static status print(const validate_run *r, outputs *o, const arguments *args, message *m) {
    for (size_t i = 0; i < o->count; i++) {
        const report_options options = output_options(&o->list[i], args, NULL);
        if (args->markdown)
            report_accuracy_table(o->list[i].stream, r->result, r->done);
        else
            TRY(report_validate(o->list[i].stream, &options, r->result, r->done, m));
    }
    return outputs_commit(o, m);
}

static status verdict_of(const validate_run *r, message *m) {
    for (size_t i = 0; i < r->done; i++)
        if (r->result[i].judged == VERDICT_FAIL)
            return fail(m, ERR_CHECK, "%s is beyond its tolerance", r->result[i].set);
    return OK;
}

static status validate_all(validate_run *r, outputs *o, const arguments *args, message *m) {
    r->set = mem_zero(args->operand_count, sizeof *r->set);
    r->result = mem_zero(args->operand_count, sizeof *r->result);
    if (!r->set || !r->result)
        return fail(m, ERR_MEMORY, "not enough memory");
    r->count = args->operand_count;
    TRY(outputs_open(o, args, m));
    status s = validate_sets(r, args, m);
    /* After Ctrl-C: what is done is reported, and the exit status says that it is not all. */
    if (s != OK && !(s == ERR_INTERRUPTED && r->done > 0))
        return s;
    TRY(print(r, o, args, m));
    return s == OK ? verdict_of(r, m) : s;
}

status validate_command(const arguments *args, message *m) {
    validate_run r = {.count = 0};
    outputs o = {0};
    status s = validate_all(&r, &o, args, m);
    outputs_close(&o);
    for (size_t i = 0; i < r.count; i++) {
        comparison_free(&r.result[i]);
        measured_free(&r.set[i].data);
        experiment_free(&r.set[i].experiment);
        mem_free(r.set[i].records);
        mem_free(r.set[i].cases);
    }
    mem_free(r.set);
    mem_free(r.result);
    return s;
}

#include "base/mem.h"
#include "cmd/case.h"
#include "cmd/output.h"

#include <sys/resource.h>
#include <time.h>

/* The records' texts point to the cases. */
typedef struct run {
    experiment experiment;
    run_case *cases;
    run_record *records;
    size_t done;
} run;

static status prepare(run *r, const arguments *args, message *m) {
    config_overrides overrides = {args->defines, args->define_count};
    TRY(experiment_load(args->operands[0], args->machine, &overrides, &r->experiment, m));
    TRY(experiment_select(&r->experiment, args->wanted_cases, args->wanted_case_count, m));
    size_t count = r->experiment.case_count;
    r->cases = mem_zero(count, sizeof *r->cases);
    r->records = mem_zero(count, sizeof *r->records);
    if (!r->cases || !r->records)
        return fail(m, ERR_MEMORY, "not enough memory for %zu cases", count);
    for (size_t i = 0; i < count; i++)
        TRY(case_prepare(&r->cases[i], &r->experiment.cases[i], m));
    return OK;
}

static status simulate(run *r, const arguments *args, message *m) {
    size_t count = r->experiment.case_count;
    progress bar = progress_start(count, args->quiet);
    status s = OK;
    for (size_t i = 0; i < count && s == OK; i++) {
        const run_case *c = &r->cases[i];
        run_record *record = &r->records[i];
        bar.index = i;
        s = case_simulate(c, &r->experiment.mach, args, &bar, record, m);
        r->done += s == OK;
    }
    progress_clear(&bar);
    return s;
}

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void say_cost(const run *r, const arguments *args, double seconds) {
    struct rusage usage;
    if (args->quiet || getrusage(RUSAGE_SELF, &usage) != 0)
        return;
    fprintf(stderr, "%zu of %zu cases simulated in %.1f s on %u host thread%s, peak memory %ld MiB\n", r->done,
            r->experiment.case_count, seconds, (unsigned)args->threads, args->threads == 1 ? "" : "s",
            usage.ru_maxrss / 1024);
}

static status run_all(run *r, outputs *o, const arguments *args, message *m) {
    TRY(prepare(r, args, m));
    TRY(outputs_open(o, args, m));
    double start = seconds_now();
    status s = simulate(r, args, m);
    /* After Ctrl-C: what is done is reported, and the exit status says that it is not all. */
    if (s != OK && !(s == ERR_INTERRUPTED && r->done > 0))
        return s;
    o->partial = s == ERR_INTERRUPTED;
    TRY(outputs_report(o, args, r->experiment.title, r->records, r->done, m));
    say_cost(r, args, seconds_now() - start);
    return s;
}

status run_command(const arguments *args, message *m) {
    run r = {0};
    outputs o = {0};
    status s = run_all(&r, &o, args, m);
    outputs_close(&o);
    experiment_free(&r.experiment);
    mem_free(r.cases);
    mem_free(r.records);
    return s;
}

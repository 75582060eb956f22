/* sweep.c - every case of a config for many values of its keys. */
#include "base/hash.h"
#include "base/mem.h"
#include "cmd/case.h"
#include "cmd/interrupt.h"
#include "cmd/journal.h"
#include "cmd/output.h"
#include "config/sweep_config.h"

#include <inttypes.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* A setting is one choice of values for the swept keys; it has a point for each case of the config. */
typedef struct sweeping {
    const arguments *args;
    sweep plan;
    uint64_t *first; /* [settings + 1]: number of each setting's first point */
    uint64_t hash;   /* of everything that the results depend on */
    report_columns columns;
    point_set set;
    journal log;
    rate rate;
    uint64_t wanted;     /* points of this shard */
    uint64_t impossible; /* points that their machine cannot run, found by this process */
} sweeping;

/* One setting's config, and what a thread needs to run its cases. */
typedef struct setting {
    uint64_t index; /* UINT64_MAX: none is loaded */
    experiment experiment;
    const char **define;
    char *text; /* of the swept keys' definitions */
    size_t text_room;
} setting;

static void setting_free(setting *s) {
    experiment_free(&s->experiment);
    mem_free(s->define);
    mem_free(s->text);
    *s = (setting){.index = UINT64_MAX};
}

static status no_memory(message *m) {
    return fail(m, ERR_MEMORY, "not enough memory for the sweep");
}

/* "KEY=VALUE" of every swept key behind the -D of the command line. */
static status define(const sweeping *w, setting *s, uint64_t index, message *m) {
    const arguments *args = w->args;
    size_t need = 0, used = 0;
    for (size_t i = 0; i < w->plan.axes; i++)
        need += strlen(w->plan.axis[i].key) + strlen(sweep_value(&w->plan, i, index)) + 2;
    if (!s->define)
        s->define = mem_zero(args->define_count + w->plan.axes, sizeof *s->define);
    if (!s->define || !mem_reserve((void **)&s->text, &s->text_room, need, 1))
        return no_memory(m);
    for (size_t i = 0; i < args->define_count; i++)
        s->define[i] = args->defines[i];
    for (size_t i = 0; i < w->plan.axes; i++) {
        s->define[args->define_count + i] = s->text + used;
        used += (size_t)sprintf(s->text + used, "%s=%s", w->plan.axis[i].key, sweep_value(&w->plan, i, index)) + 1;
    }
    return OK;
}

static status setting_load(const sweeping *w, setting *s, uint64_t index, message *m) {
    if (s->index == index)
        return OK;
    experiment_free(&s->experiment);
    s->index = UINT64_MAX;
    TRY(define(w, s, index, m));
    const config_overrides overrides = {s->define, w->args->define_count + w->plan.axes};
    TRY(experiment_load(w->args->operands[0], w->args->machine, &overrides, &s->experiment, m));
    s->index = index;
    return OK;
}

static status one_line(const char *what, const char *text, message *m) {
    return strpbrk(text, "\r\n")
               ? fail(m, ERR_INPUT, "a %s has a line break; a sweep keeps a line for each point", what)
               : OK;
}

/* Loads every setting once: all mistakes are found before anything is simulated, and the columns are known. */
static status survey(sweeping *w, message *m) {
    const uint64_t settings = w->plan.points;
    w->first = mem_zero(settings + 1, sizeof *w->first);
    if (!w->first)
        return no_memory(m);
    w->hash = hash_text(hash_text(HASH_START, coalign_version()), w->args->exact ? "exact" : "");
    for (size_t i = 0; i < w->plan.axes; i++)
        w->hash = hash_text(w->hash, w->plan.axis[i].key);
    setting s = {.index = UINT64_MAX};
    status st = OK;
    for (uint64_t i = 0; i < settings && st == OK; i++) {
        st = interrupt_wanted() ? fail(m, ERR_INTERRUPTED, "interrupted before the first point")
                                : setting_load(w, &s, i, m);
        if (st != OK)
            break;
        const experiment *e = &s.experiment;
        for (size_t k = 0; k < w->args->define_count + w->plan.axes; k++)
            w->hash = hash_text(w->hash, s.define[k]);
        w->hash = hash_bytes(w->hash, &e->text_hash, sizeof e->text_hash);
        w->hash = hash_bytes(w->hash, &e->mach.text_hash, sizeof e->mach.text_hash);
        report_columns_add(&w->columns, &e->mach);
        w->first[i + 1] = w->first[i] + e->case_count;
        for (size_t k = 0; k < e->case_count && st == OK; k++) {
            st = one_line("case's name", e->cases[k].name, m);
            st = st == OK ? one_line("case's shape", e->cases[k].dataset, m) : st;
        }
    }
    for (size_t i = 0; i < w->plan.axes && st == OK; i++)
        for (size_t k = 0; k < w->plan.axis[i].count && st == OK; k++)
            st = one_line("swept value", w->plan.axis[i].value[k], m);
    setting_free(&s);
    return st;
}

static bool in_shard(const sweeping *w, uint64_t point) {
    return point % w->args->shards == w->args->shard - 1;
}

/* Header of the table: the point's identity, the keys, why it cannot run, the columns of `run`. */
static status header(const sweeping *w, char **text, message *m) {
    size_t size = 0;
    FILE *out = open_memstream(text, &size);
    if (!out)
        return no_memory(m);
    fputs("sweep,point,points,", out);
    for (size_t i = 0; i < w->plan.axes; i++) {
        csv_field(out, w->plan.axis[i].key);
        fputc(',', out);
    }
    fputs("impossible,", out);
    report_csv_header(out, &w->columns);
    return fclose(out) == 0 ? OK : no_memory(m);
}

static void write_row(const sweeping *w, FILE *out, uint64_t point, const setting *s, const char *name,
                      const run_record *record, const char *impossible) {
    fprintf(out, "%016" PRIx64 ",%" PRIu64 ",%" PRIu64 ",", w->hash, point, w->first[w->plan.points]);
    for (size_t i = 0; i < w->plan.axes; i++) {
        csv_field(out, sweep_value(&w->plan, i, s->index));
        fputc(',', out);
    }
    csv_field(out, impossible);
    fputc(',', out);
    if (*impossible)
        report_csv_unknown(out, &w->columns, name);
    else
        report_csv_row(out, &w->columns, record);
}

static uint64_t setting_of(const sweeping *w, uint64_t point) {
    uint64_t low = 0, high = w->plan.points;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (w->first[middle] <= point)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* A machine that cannot run one of the points (a tile larger than its shared memory) does not end the sweep. */
static status simulate_point(sweeping *w, setting *s, uint64_t point, const arguments *args, message *m) {
    const uint64_t index = setting_of(w, point);
    TRY(setting_load(w, s, index, m));
    run_case c = {.what = NULL};
    run_record record;
    progress bar = {.name = "", .all = &w->rate};
    const experiment_case *what = &s->experiment.cases[point - w->first[index]];
    message why = {{0}};
    status st = case_prepare(&c, what, &why);
    if (st == OK)
        st = case_simulate(&c, &s->experiment.mach, args, &bar, &record, &why);
    if (st != OK && st != ERR_INPUT)
        return fail(m, st, "%s", why.text);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return no_memory(m);
    write_row(w, out, point, s, what->name, &record, st == OK ? "" : why.text);
    const bool written = fclose(out) == 0;
    status appended = ERR_MEMORY;
#pragma omp critical(journal)
    {
        w->impossible += st != OK;
        appended = written ? journal_append(&w->log, point, text, size, m) : no_memory(m);
    }
    free(text);
    return appended;
}

/* One thread's share of the points. The first failure ends all. */
static void work(sweeping *w, const uint64_t *pending, int64_t count, const arguments *args, status *result,
                 message *m) {
    setting s = {.index = UINT64_MAX};
#pragma omp for schedule(dynamic, 1)
    for (int64_t i = 0; i < count; i++) {
        status now;
#pragma omp atomic read
        now = *result;
        if (now != OK)
            continue;
        message why = {{0}};
        const status st = interrupt_wanted() ? ERR_INTERRUPTED : simulate_point(w, &s, pending[i], args, &why);
        if (st == OK) {
            rate_step(&w->rate, 1);
            continue;
        }
#pragma omp critical(result)
        if (*result == OK) {
            fail(m, st, "%s", why.text);
#pragma omp atomic write
            *result = st;
        }
    }
    setting_free(&s);
}

static status simulate(sweeping *w, message *m) {
    uint64_t *pending = mem_zero(w->wanted, sizeof *pending), count = 0;
    if (!pending)
        return no_memory(m);
    for (uint64_t i = 0; i < w->set.points; i++)
        if (in_shard(w, i) && !w->set.place[i].file)
            pending[count++] = i;
    w->rate = rate_start(w->wanted - count, w->wanted, w->args->quiet);
    const uint32_t threads = w->args->threads;
    const uint32_t workers = count < threads ? (uint32_t)(count ? count : 1) : threads;
    arguments each = *w->args;
    each.threads = threads / workers;
    status result = OK;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(workers)
    work(w, pending, (int64_t)count, &each, &result, m);
    rate_clear(&w->rate);
    mem_free(pending);
    if (result == ERR_INTERRUPTED)
        fail(m, result,
             "interrupted: %" PRIu64 " of %" PRIu64 " points are in %s; start the same command again to go on",
             w->set.have, w->wanted, w->log.path);
    return result;
}

/* The results, then the end of the journal: a kill between the two costs nothing. */
static status finish(sweeping *w, message *m) {
    outputs o;
    status st = outputs_open(&o, w->args, m);
    if (st == OK)
        st = point_set_write(&w->set, o.list[0].stream, m);
    if (st == OK)
        st = outputs_commit(&o, m);
    outputs_close(&o);
    TRY(st);
    if (w->impossible && !w->args->quiet)
        fprintf(stderr, "%" PRIu64 " of the points simulated now cannot run: see the column 'impossible'\n",
                w->impossible);
    return journal_remove(&w->log, m);
}

static status check_arguments(const arguments *args, message *m) {
    if (args->output_count != 1 || strcmp(args->outputs[0], "-") == 0)
        return fail(m, ERR_INPUT, "sweep needs one -o FILE: what is done is kept beside it, in FILE.journal");
    const char *dot = strrchr(args->outputs[0], '.');
    if (dot && strcmp(dot, ".json") == 0)
        return fail(m, ERR_INPUT, "-o %s: a sweep writes CSV", args->outputs[0]);
    /* Whether the file can be written shows before the work. */
    outputs o;
    const status st = outputs_open(&o, args, m);
    outputs_close(&o);
    return st;
}

static status sweep_all(sweeping *w, message *m) {
    const arguments *args = w->args;
    const config_overrides overrides = {args->defines, args->define_count};
    TRY(sweep_load(args->operands[0], &overrides, args->overs, args->over_count, args->zip, &w->plan, m));
    for (size_t i = 0; i < w->plan.axes && args->machine; i++)
        if (strcmp(w->plan.axis[i].key, "machine") == 0)
            return fail(m, ERR_INPUT, "-m %s: the sweep has values for 'machine'", args->machine);
    TRY(check_arguments(args, m));
    TRY(survey(w, m));
    for (uint64_t i = 0; i < w->first[w->plan.points]; i++)
        w->wanted += in_shard(w, i);
    char *head = NULL, path[4096];
    status st = header(w, &head, m);
    if (st == OK)
        st = point_set_begin(&w->set, head, w->hash, w->first[w->plan.points], m);
    free(head);
    TRY(st);
    if ((size_t)snprintf(path, sizeof path, "%s.journal", args->outputs[0]) >= sizeof path)
        return fail(m, ERR_INPUT, "-o: the name of the file is too long");
    TRY(journal_open(&w->log, path, &w->set, m));
    TRY(simulate(w, m));
    return finish(w, m);
}

status sweep_command(const arguments *args, message *m) {
    sweeping *w = mem_zero(1, sizeof *w);
    if (!w)
        return no_memory(m);
    w->args = args;
    w->log.file = -1;
    const status st = sweep_all(w, m);
    journal_close(&w->log);
    point_set_free(&w->set);
    sweep_free(&w->plan);
    mem_free(w->first);
    mem_free(w);
    return st;
}

/* trace replay --counts and trace mrc: a trace goes through in batches; nothing of it is kept. */
#include "base/mem.h"
#include "cmd/cache_option.h"
#include "cmd/interrupt.h"
#include "cmd/output.h"
#include "cmd/trace.h"
#include "report/counts_report.h"
#include "report/mrc_report.h"
#include "trace/access_reader.h"

#include <string.h>

enum { BATCH = 1 << 14, LINE_BYTES = 64 };

/* What a batch of the trace is given to. */
typedef status (*consumer)(void *context, const trace_access *access, size_t count, message *m);

static status feed(access_reader *r, trace_access *batch, consumer use, void *context, message *m) {
    for (;;) {
        size_t count = 0;
        TRY(access_reader_next(r, batch, BATCH, &count, m));
        if (count == 0)
            return OK;
        TRY(use(context, batch, count, m));
        if (interrupt_wanted())
            return fail(m, ERR_INTERRUPTED, "interrupted: the figures are of the first part of the trace");
    }
}

/* ERR_INTERRUPTED: part of the trace was used. */
static status read_trace(const char *path, consumer use, void *context, message *m) {
    trace_access *batch = mem_zero(BATCH, sizeof *batch);
    access_reader *r = NULL;
    status s = batch ? access_reader_open(path, &r, m) : fail(m, ERR_MEMORY, "not enough memory");
    if (s == OK)
        s = feed(r, batch, use, context, m);
    access_reader_close(r);
    mem_free(batch);
    return s;
}

/* ---- counts ------------------------------------------------------------------------------------------------------ */

static status caches_from_machine(const arguments *args, counts_hierarchy *h, message *m) {
    machine *mach;
    TRY(trace_machine(args, &mach, m));
    const status s = mach->level_count ? OK : fail(m, ERR_INPUT, "machine %s has no caches", mach->id);
    if (s == OK)
        caches_of_machine(mach, h);
    mem_free(mach);
    return s;
}

static status choose_caches(const arguments *args, counts_hierarchy *h, message *m) {
    *h = (counts_hierarchy){.rules = args->rules};
    if (args->machine && args->caches)
        return fail(m, ERR_INPUT, "-m and --cache are two descriptions of the caches; give one");
    if (args->define_count && !args->machine)
        return fail(m, ERR_INPUT, "-D %s changes a machine; give one with -m", args->defines[0]);
    if (args->caches)
        return cache_option_parse(args->caches, h, m);
    if (args->machine)
        return caches_from_machine(args, h, m);
    return fail(m, ERR_INPUT, "trace replay --counts needs caches: -m MACHINE or --cache L1=48K:12:64,LL=2M:16:64");
}

typedef struct replayed {
    counts *counts;
    uint64_t accesses;
} replayed;

static status count_batch(void *context, const trace_access *access, size_t count, message *m) {
    (void)m;
    replayed *r = context;
    counts_run(r->counts, access, count);
    r->accesses += count;
    return OK;
}

static status report_replay(outputs *o, const arguments *args, const counts_hierarchy *h, const replayed *r,
                            message *m) {
    counts_record record = {
        .trace = trace_name(args), .accesses = r->accesses, .caches = h, .fetch = counts_of_fetch(r->counts)};
    for (uint32_t i = 0; i < h->levels; i++)
        record.data[i] = counts_of(r->counts, i);
    for (size_t i = 0; i < o->count; i++) {
        const report_options options = output_options(&o->list[i], args, NULL);
        TRY(output_written(&o->list[i], report_counts(o->list[i].stream, &options, &record, m)));
    }
    return outputs_commit(o, m);
}

static status replay(outputs *o, const arguments *args, message *m) {
    counts_hierarchy h;
    replayed r = {0};
    TRY(choose_caches(args, &h, m));
    TRY(counts_new(&h, &r.counts, m));
    status s = read_trace(trace_file(args), count_batch, &r, m);
    if (s == OK || s == ERR_INTERRUPTED) {
        o->partial = s == ERR_INTERRUPTED;
        const status written = report_replay(o, args, &h, &r, m);
        s = written == OK ? s : written;
    }
    counts_free(r.counts);
    return s;
}

/* ---- miss-ratio curve -------------------------------------------------------------------------------------------- */

static status follow_batch(void *context, const trace_access *access, size_t count, message *m) {
    return mrc_run(context, access, count, m);
}

static status report_curve(outputs *o, const arguments *args, uint32_t line_bytes, const mrc *c, message *m) {
    const mrc_record record = {.trace = trace_name(args), .line_bytes = line_bytes, .curve = c};
    for (size_t i = 0; i < o->count; i++) {
        const report_options options = output_options(&o->list[i], args, NULL);
        TRY(output_written(&o->list[i], report_mrc(o->list[i].stream, &options, &record, m)));
    }
    return outputs_commit(o, m);
}

static status curve(outputs *o, const arguments *args, message *m) {
    const uint32_t line_bytes = args->line_bytes ? args->line_bytes : LINE_BYTES;
    mrc *c = NULL;
    TRY(mrc_new(line_bytes, args->sample_lines, &c, m));
    status s = read_trace(trace_file(args), follow_batch, c, m);
    if (s == OK || s == ERR_INTERRUPTED) {
        o->partial = s == ERR_INTERRUPTED;
        const status written = report_curve(o, args, line_bytes, c, m);
        s = written == OK ? s : written;
    }
    mrc_free(c);
    return s;
}

/* ------------------------------------------------------------------------------------------------------------------ */

static status with_outputs(const arguments *args, status (*work)(outputs *, const arguments *, message *), message *m) {
    outputs o;
    status s = outputs_open(&o, args, m);
    if (s == OK)
        s = work(&o, args, m);
    outputs_close(&o);
    return s;
}

status trace_counts_command(const arguments *args, message *m) {
    if (args->line_bytes || args->sample_lines)
        return fail(m, ERR_INPUT, "--line and --sample belong to trace mrc");
    return with_outputs(args, replay, m);
}

status trace_mrc_command(const arguments *args, message *m) {
    if (args->machine || args->caches || args->counts)
        return fail(m, ERR_INPUT, "trace mrc answers for caches of all sizes: leave -m, --cache and --counts out");
    return with_outputs(args, curve, m);
}

#include "base/mem.h"
#include "cmd/output.h"
#include "cmd/progress.h"
#include "config/hoist_config.h"
#include "report/hoist_result.h"
#include "sim/sim.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum {
    SWEEP_MAX = 16,     /* numbers of hoisted loads that are simulated one by one */
    EVENTS_MAX = 8192,  /* instructions of the warp that is watched */
    BODY_MAX = 16 << 20 /* bytes of a body */
};

/* A case on its way to its result. */
typedef struct hoisting {
    const hoist_case *what;
    hoist_report pass; /* with the limit asked for */
    body after;
    textbuf before_text, after_text;
    uint32_t limits[SWEEP_MAX + 4];
    uint32_t count;
} hoisting;

typedef struct hoist_run {
    hoist_experiment experiment;
    hoisting *cases;
    hoist_result *results;
    size_t done;
    textbuf input; /* a body that was read from a file */
} hoist_run;

/* ---- what to simulate -------------------------------------------------------------------------------------------- */

static status read_text(const char *path, textbuf *text, message *m) {
    const bool standard = strcmp(path, "-") == 0;
    FILE *in = standard ? stdin : fopen(path, "rb");
    if (!in)
        return fail(m, ERR_IO, "cannot read %s: %s", path, strerror(errno));
    char part[4096];
    size_t n = 0;
    bool binary = false;
    textbuf_put(text, "");
    while (!binary && !text->failed && text->length <= BODY_MAX && (n = fread(part, 1, sizeof part - 1, in)) > 0) {
        part[n] = '\0';
        binary = memchr(part, 0, n) != NULL;
        textbuf_put(text, part);
    }
    const bool failed = ferror(in);
    if (!standard)
        fclose(in);
    if (failed)
        return fail(m, ERR_IO, "cannot read %s: %s", path, strerror(errno));
    if (text->failed)
        return fail(m, ERR_MEMORY, "not enough memory to read %s", path);
    if (binary)
        return fail(m, ERR_INPUT, "%s: this is no text", path);
    return text->length <= BODY_MAX ? OK : fail(m, ERR_INPUT, "%s: longer than %d bytes", path, BODY_MAX);
}

static bool is_config(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".cfg") == 0;
}

static status load(hoist_run *r, const arguments *args, message *m) {
    const config_overrides overrides = {args->defines, args->define_count};
    const char *path = args->operands[0];
    if (is_config(path))
        return hoist_experiment_load(path, args->machine, &overrides, &r->experiment, m);
    if (!args->machine && !args->emit)
        return fail(m, ERR_INPUT, "%s: a loop body names no machine; use -m (`coalign machines` lists them)", path);
    TRY(read_text(path, &r->input, m));
    return hoist_experiment_body(strcmp(path, "-") == 0 ? "stdin" : path, r->input.text, r->input.length, args->machine,
                                 &overrides, &r->experiment, m);
}

static void add_limit(hoisting *h, uint32_t limit) {
    uint32_t i = 0;
    while (i < h->count && h->limits[i] < limit)
        i++;
    if (i < h->count && h->limits[i] == limit)
        return;
    memmove(h->limits + i + 1, h->limits + i, (h->count - i) * sizeof *h->limits);
    h->limits[i] = limit;
    h->count++;
}

/* The most that a leaf block of this body can have hoisted. */
static status most_hoisted(const body *b, uint32_t *most, message *m) {
    body moved = {.params = 0};
    hoist_report pass = {.leaves = 0};
    status s = hoist(b, UINT32_MAX, &moved, &pass, m);
    *most = 0;
    for (uint32_t i = 0; i < pass.leaves; i++)
        *most = pass.leaf[i].hoisted > *most ? pass.leaf[i].hoisted : *most;
    hoist_report_free(&pass);
    body_free(&moved);
    return s;
}

static status prepare_case(hoisting *h, const hoist_case *what, message *m) {
    uint32_t most = 0;
    h->what = what;
    TRY(hoist(&what->b, what->limit, &h->after, &h->pass, m));
    TRY(most_hoisted(&what->b, &most, m));
    body_print(&h->before_text, &what->b);
    body_print(&h->after_text, &h->after);
    if (h->before_text.failed || h->after_text.failed)
        return fail(m, ERR_MEMORY, "not enough memory to print case '%s'", what->name);
    const uint32_t limit = what->limit < most ? what->limit : most;
    add_limit(h, 0);
    add_limit(h, limit);
    for (uint32_t i = 1; what->sweep && i <= most && i <= SWEEP_MAX; i++)
        add_limit(h, i);
    if (what->sweep)
        add_limit(h, most);
    return OK;
}

static status prepare(hoist_run *r, const arguments *args, message *m) {
    TRY(load(r, args, m));
    const size_t count = r->experiment.case_count;
    r->cases = mem_zero(count, sizeof *r->cases);
    r->results = mem_zero(count, sizeof *r->results);
    if (!r->cases || !r->results)
        return fail(m, ERR_MEMORY, "not enough memory for %zu cases", count);
    for (size_t i = 0; i < count; i++)
        TRY(prepare_case(&r->cases[i], &r->experiment.cases[i], m));
    return OK;
}

/* ---- simulating -------------------------------------------------------------------------------------------------- */

static status with_place(status s, const hoist_case *c, message *m) {
    const message inner = *m;
    if (s == ERR_INPUT)
        fail(m, s, "%s:%s%.600s", c->place, inner.text[0] >= '0' && inner.text[0] <= '9' ? "" : " ", inner.text);
    return s;
}

static status simulate_kernel(const hoist_run *r, const kernel *k, const arguments *args, progress *bar, timeline *line,
                              sim_result *out, message *m) {
    const sim_options o = {.threads = args->threads,
                           .sample = !args->exact,
                           .check = true,
                           .line = line,
                           .progress = progress_show,
                           .progress_context = bar};
    return sim_run(&r->experiment.mach, k, &o, out, m);
}

static status simulate_variant(const hoist_run *r, const hoist_case *c, uint32_t limit, const arguments *args,
                               progress *bar, hoist_variant *v, message *m) {
    const machine *mach = &r->experiment.mach;
    body moved = {.params = 0};
    hoist_report pass = {.leaves = 0};
    v->limit = limit;
    v->line.event = mem_zero(EVENTS_MAX, sizeof *v->line.event);
    v->line.capacity = EVENTS_MAX;
    status s = v->line.event ? hoist(&c->b, limit, &moved, &pass, m) : fail(m, ERR_MEMORY, "not enough memory");
    v->hoisted = pass.hoisted;
    /* The notes name arrays: those of the case's own body outlive this. */
    if (s == OK)
        s = lower(mach, &moved, "body", &c->options, &v->code, m);
    for (uint32_t i = 0; s == OK && i < v->code.k.code_count; i++)
        if (v->code.note[i].array)
            v->code.note[i].array = c->b.array[v->code.note[i].array->id];
    if (s == OK)
        s = simulate_kernel(r, &v->code.k, args, bar, &v->line, &v->run.sim, m);
    hoist_report_free(&pass);
    body_free(&moved);
    const kernel *k = &v->code.k;
    run_record *run = &v->run;
    run->case_name = c->name;
    run->strategy = "hoist";
    run->dataset = "loop body";
    run->plan_reason = "";
    run->mach = mach;
    run->block_threads = k->block_threads;
    run->registers = k->registers;
    run->shared_bytes = k->shared_bytes;
    run->element_bytes = 1;
    run->useful_bytes = run->elements = run->sim.useful_bytes[0] + run->sim.useful_bytes[1];
    run->measured_us = run->measured_low_us = run->measured_high_us = NAN;
    if (s == OK)
        hoist_watch(v);
    return s;
}

/* Where hoisting costs warps: what it would be like without that. */
static status same_warps(const hoist_run *r, hoist_result *out, const arguments *args, progress *bar, message *m) {
    const hoist_variant *b = &out->variant[out->before];
    hoist_variant *a = &out->variant[out->after];
    if (a->run.sim.resident_warps >= b->run.sim.resident_warps)
        return OK;
    sim_result sim;
    const uint32_t registers = a->code.k.registers;
    a->code.k.registers = b->code.k.registers;
    status s = simulate_kernel(r, &a->code.k, args, bar, NULL, &sim, m);
    a->code.k.registers = registers;
    out->same_warps_cycles = s == OK ? sim.cycles : 0;
    return s;
}

static status simulate_case(const hoist_run *r, const hoisting *h, const arguments *args, progress *bar,
                            hoist_result *out, message *m) {
    const hoist_case *c = h->what;
    *out = (hoist_result){.name = c->name,
                          .place = c->place,
                          .before_text = h->before_text.text,
                          .after_text = h->after_text.text,
                          .pass = &h->pass,
                          .variant = mem_zero(h->count, sizeof *out->variant)};
    if (!out->variant)
        return fail(m, ERR_MEMORY, "not enough memory for case '%s'", c->name);
    for (uint32_t i = 0; i < h->count; i++, bar->index++) {
        out->variants = i + 1;
        TRY(simulate_variant(r, c, h->limits[i], args, bar, &out->variant[i], m));
        if (out->variant[i].run.sim.cycles < out->variant[out->best].run.sim.cycles)
            out->best = i;
        if (h->limits[i] <= c->limit)
            out->after = i;
    }
    TRY(same_warps(r, out, args, bar, m));
    hoist_explain(out);
    return OK;
}

static status simulate(hoist_run *r, const arguments *args, message *m) {
    size_t runs = 0;
    for (size_t i = 0; i < r->experiment.case_count; i++)
        runs += r->cases[i].count;
    progress bar = progress_start(runs, args->quiet);
    status s = OK;
    for (size_t i = 0; i < r->experiment.case_count && s == OK; i++) {
        bar.name = r->experiment.cases[i].name;
        s = with_place(simulate_case(r, &r->cases[i], args, &bar, &r->results[i], m), &r->experiment.cases[i], m);
        r->done += s == OK;
    }
    progress_clear(&bar);
    return s;
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

static status emit(const hoist_run *r, outputs *o, const arguments *args, message *m) {
    textbuf text = {.length = 0};
    const bool cuda = strcmp(args->emit, "cuda") == 0;
    for (size_t i = 0; i < r->experiment.case_count; i++) {
        char name[32] = "body";
        if (r->experiment.case_count > 1)
            snprintf(name, sizeof name, "body_%zu", i);
        textbuf_put(&text, i ? "\n" : "");
        (cuda ? body_emit_cuda : body_emit_c)(&text, &r->cases[i].after, name);
    }
    status s = text.failed ? fail(m, ERR_MEMORY, "not enough memory to print the bodies") : OK;
    for (size_t i = 0; i < o->count && s == OK; i++)
        fputs(text.text ? text.text : "", o->list[i].stream);
    textbuf_free(&text);
    return s == OK ? outputs_commit(o, m) : s;
}

static status print(const hoist_run *r, outputs *o, const arguments *args, message *m) {
    for (size_t i = 0; i < o->count; i++) {
        const report_options options = output_options(&o->list[i], args, r->experiment.title);
        TRY(output_written(&o->list[i], report_hoist(o->list[i].stream, &options, r->results, r->done, m)));
    }
    return outputs_commit(o, m);
}

static status print_timeline(const hoist_run *r, outputs *o, message *m) {
    for (size_t i = 0; i < o->count; i++)
        TRY(output_written(&o->list[i], report_timeline(o->list[i].stream, r->results, r->done, m)));
    return outputs_commit(o, m);
}

static status hoist_all(hoist_run *r, outputs *o, outputs *line, const arguments *args, message *m) {
    TRY(prepare(r, args, m));
    TRY(outputs_open(o, args, m));
    if (args->emit)
        return emit(r, o, args, m);
    if (args->timeline) {
        const char *path[] = {args->timeline};
        const arguments where = {.outputs = path, .output_count = 1};
        TRY(outputs_open(line, &where, m));
    }
    status s = simulate(r, args, m);
    /* After Ctrl-C: what is done is reported, and the exit status says that it is not all. */
    if (s != OK && !(s == ERR_INTERRUPTED && r->done > 0))
        return s;
    o->partial = line->partial = s == ERR_INTERRUPTED;
    TRY(print_timeline(r, line, m));
    TRY(print(r, o, args, m));
    return s;
}

static void hoist_run_free(hoist_run *r) {
    for (size_t i = 0; i < r->experiment.case_count; i++) {
        if (r->results)
            for (uint32_t k = 0; k < r->results[i].variants; k++) {
                lowered_free(&r->results[i].variant[k].code);
                mem_free(r->results[i].variant[k].line.event);
            }
        if (r->results)
            mem_free(r->results[i].variant);
        if (!r->cases)
            continue;
        hoist_report_free(&r->cases[i].pass);
        body_free(&r->cases[i].after);
        textbuf_free(&r->cases[i].before_text);
        textbuf_free(&r->cases[i].after_text);
    }
    mem_free(r->cases);
    mem_free(r->results);
    hoist_experiment_free(&r->experiment);
    textbuf_free(&r->input);
}

status hoist_command(const arguments *args, message *m) {
    hoist_run r = {.done = 0};
    outputs o = {0}, line = {0};
    status s = hoist_all(&r, &o, &line, args, m);
    outputs_close(&o);
    outputs_close(&line);
    hoist_run_free(&r);
    return s;
}

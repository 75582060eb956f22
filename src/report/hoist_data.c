/* hoist_data.c - the report of hoisting: summary of several bodies, CSV, JSON. */
#include "report/hoist_result.h"
#include "report/table.h"
#include "report/text.h"
#include "report/value.h"
#include "report/write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* X(column, unit, meaning in C) of a variant v of result r */
#define VARIANT_COLUMNS(X)                                                                                             \
    X("hoisted_loads", count(v->hoisted))                                                                              \
    X("hoist_limit", count(v->limit))                                                                                  \
    X("speedup", real(hoist_speedup(r, i)))                                                                            \
    X("warps_per_core", count(hoist_warps(v)))                                                                         \
    X("loads_in_flight", count(v->loads_in_flight))                                                                    \
    X("spilled_values", count(v->code.spilled))                                                                        \
    X("spill_loads_in_code", count(v->code.spill_loads))                                                               \
    X("spill_stores_in_code", count(v->code.spill_stores))                                                             \
    X("local_bytes_per_thread", count(v->code.local_bytes))                                                            \
    X("instructions_in_code", count(v->code.k.code_count))

/* ---- summary ----------------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static status print_spread(FILE *out, const report_options *o, const hoist_result *results, size_t count_of,
                           message *m) {
    double *speed = mem_zero(count_of, sizeof *speed);
    if (!speed)
        return fail(m, ERR_MEMORY, "not enough memory for %zu results", count_of);
    size_t best = 0, worst = 0;
    for (size_t i = 0; i < count_of; i++) {
        speed[i] = hoist_speedup(&results[i], results[i].after);
        best = speed[i] > speed[best] ? i : best;
        worst = speed[i] < speed[worst] ? i : worst;
    }
    const double most = speed[best], least = speed[worst];
    qsort(speed, count_of, sizeof *speed, by_value);
    const double median = (speed[(count_of - 1) / 2] + speed[count_of / 2]) / 2;
    fputc('\n', out);
    text_line(out, o->width, "Best %+.1f %% (%s), median %+.1f %%, worst %+.1f %% (%s).", (most - 1) * 100,
              results[best].name, (median - 1) * 100, (least - 1) * 100, results[worst].name);
    text_line(out, o->width, "The worst: %s", results[worst].reason);
    mem_free(speed);
    return OK;
}

status hoist_summary(FILE *out, const report_options *o, const hoist_result *results, size_t count_of, message *m) {
    static const table_column columns[] = {{"case", "", 0, 0},         {"loads", "", 1, 0},     {"registers", "", 1, 1},
                                           {"warps", "", 1, 1},        {"spilled", "", 1, 2},   {"in flight", "", 1, 2},
                                           {"as written", "us", 1, 0}, {"hoisted", "us", 1, 0}, {"gain", "%", 1, 0},
                                           {"best", "", 1, 3},         {"cause", "", 0, 0}};
    table t = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    status s = OK;
    for (size_t i = 0; i < count_of && s == OK; i++) {
        const hoist_result *r = &results[i];
        const hoist_variant *b = &r->variant[r->before], *a = &r->variant[r->after];
        char was[CELL], is[CELL];
        format_value(was, sizeof was, real(b->run.sim.time_s * 1e6));
        format_value(is, sizeof is, real(a->run.sim.time_s * 1e6));
        s = table_add(&t, m, "%s", r->name);
        s = s ? s : table_add(&t, m, "%" PRIu32, a->hoisted);
        s = s ? s : table_add(&t, m, "%" PRIu32 " %" PRIu32, b->code.k.registers, a->code.k.registers);
        s = s ? s : table_add(&t, m, "%" PRIu32 " %" PRIu32, hoist_warps(b), hoist_warps(a));
        s = s ? s : table_add(&t, m, "%" PRIu32, a->code.spilled);
        s = s ? s : table_add(&t, m, "%" PRIu32 " %" PRIu32, b->loads_in_flight, a->loads_in_flight);
        s = s ? s : table_add(&t, m, "%s", was);
        s = s ? s : table_add(&t, m, "%s", is);
        s = s ? s : table_add(&t, m, "%+.1f", (hoist_speedup(r, r->after) - 1) * 100);
        s = s ? s : table_add(&t, m, "%" PRIu32, r->variant[r->best].hoisted);
        s = s ? s : table_add(&t, m, "%s", hoist_cause_name(r->cause));
    }
    if (s == OK)
        table_print(&t, out, o->width);
    table_free(&t);
    return s == OK ? print_spread(out, o, results, count_of, m) : s;
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static const char *mark_of(const hoist_result *r, uint32_t i) {
    return i == r->before ? "before" : i == r->after ? "after" : "";
}

static void csv(FILE *out, const hoist_result *results, size_t count_of) {
    fprintf(out, "case,variant,best,cause");
#define X(name, value) fprintf(out, ",%s", name);
    VARIANT_COLUMNS(X)
#undef X
    for (int s = 0; s < STALL_COUNT; s++)
        fprintf(out, ",stall_%s_cycles_per_warp", stall_metric((stall_reason)s));
    for (size_t k = 0; k < metric_count; k++)
        if (strcmp(metric_table[k].name, "case") != 0)
            fprintf(out, ",%s", metric_table[k].name);
    fputs(",reason\n", out);
    for (size_t n = 0; n < count_of; n++)
        for (uint32_t i = 0; i < results[n].variants; i++) {
            const hoist_result *r = &results[n];
            const hoist_variant *v = &r->variant[i];
            csv_field(out, r->name);
            fprintf(out, ",%s,%d,%s", mark_of(r, i), i == r->best, i == r->after ? hoist_cause_name(r->cause) : "");
#define X(name, value)                                                                                                 \
    fputc(',', out);                                                                                                   \
    csv_value(out, value);
            VARIANT_COLUMNS(X)
#undef X
            for (int s = 0; s < STALL_COUNT; s++) {
                fputc(',', out);
                csv_value(out, real(hoist_stall(v, (stall_reason)s)));
            }
            for (size_t k = 0; k < metric_count; k++) {
                if (strcmp(metric_table[k].name, "case") == 0)
                    continue;
                fputc(',', out);
                csv_value(out, metric_table[k].get(&v->run, metric_table[k].argument));
            }
            fputc(',', out);
            csv_field(out, i == r->after ? r->reason : "");
            fputc('\n', out);
        }
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static int add_loads(json_t *to, const hoist_report *p) {
    json_t *list = json_array();
    int bad = json_object_set_new(to, "loads", list);
    for (uint32_t i = 0; i < p->leaves && !bad; i++)
        for (uint32_t k = 0; k < p->leaf[i].loads && !bad; k++) {
            const hoist_load *l = &p->leaf[i].load[k];
            json_t *x = json_object();
            bad |= json_array_append_new(list, x);
            bad |= json_object_set_new(x, "text", json_string(l->text));
            bad |= json_object_set_new(x, "line", json_integer(l->at.line));
            bad |= json_object_set_new(x, "let", l->let ? json_string(l->let) : json_null());
            bad |= json_object_set_new(x, "verdict", json_string(hoist_verdict_text(l->verdict)));
        }
    return bad;
}

static int add_variant(json_t *list, const hoist_result *r, uint32_t i) {
    const hoist_variant *v = &r->variant[i];
    json_t *x = json_object();
    int bad = json_array_append_new(list, x);
#define X(name, value) bad |= json_object_set_new(x, name, json_value(value));
    VARIANT_COLUMNS(X)
#undef X
    json_t *stalls = json_object();
    bad |= json_object_set_new(x, "stall_cycles_per_warp", stalls);
    for (int s = 0; s < STALL_COUNT; s++)
        bad |= json_object_set_new(stalls, stall_metric((stall_reason)s), json_real(hoist_stall(v, (stall_reason)s)));
    json_t *runs = json_runs(&v->run, 1);
    bad |= json_object_set(x, "run", runs ? json_array_get(runs, 0) : NULL);
    json_decref(runs);
    return bad;
}

static int add_result(json_t *list, const hoist_result *r) {
    json_t *x = json_object();
    int bad = json_array_append_new(list, x);
    bad |= json_object_set_new(x, "case", json_string(r->name));
    bad |= json_object_set_new(x, "cause", json_string(hoist_cause_name(r->cause)));
    bad |= json_object_set_new(x, "reason", json_string(r->reason));
    bad |= json_object_set_new(x, "speedup", json_value(real(hoist_speedup(r, r->after))));
    bad |= json_object_set_new(x, "before", json_integer(r->before));
    bad |= json_object_set_new(x, "after", json_integer(r->after));
    bad |= json_object_set_new(x, "best", json_integer(r->best));
    bad |= json_object_set_new(x, "before_body", json_string(r->before_text));
    bad |= json_object_set_new(x, "after_body", json_string(r->after_text));
    bad |= add_loads(x, r->pass);
    json_t *variants = json_array();
    bad |= json_object_set_new(x, "variants", variants);
    for (uint32_t i = 0; i < r->variants && !bad; i++)
        bad |= add_variant(variants, r, i);
    return bad;
}

static status json(FILE *out, const report_options *o, const hoist_result *results, size_t count_of, message *m) {
    json_t *root = json_object(), *cases = json_array();
    int bad = json_object_set_new(root, "version", json_string(o->version));
    bad |= json_object_set_new(root, "units", json_units());
    bad |= json_object_set_new(root, "cases", cases);
    for (size_t i = 0; i < count_of && !bad; i++)
        bad |= add_result(cases, &results[i]);
    return json_print(out, root, bad, m);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static status text_report(FILE *out, const report_options *o, const hoist_result *results, size_t count_of,
                          message *m) {
    if (o->title && *o->title)
        fprintf(out, "%s\n\n", o->title);
    if (count_of > 1)
        TRY(hoist_summary(out, o, results, count_of, m));
    for (size_t i = 0; i < count_of && (count_of == 1 || o->details); i++) {
        if (count_of > 1)
            fprintf(out, "\n\n");
        TRY(hoist_page(out, o, &results[i], m));
    }
    return OK;
}

status report_hoist(FILE *out, const report_options *o, const hoist_result *results, size_t count_of, message *m) {
    if (o->format == REPORT_CSV)
        csv(out, results, count_of);
    else if (o->format == REPORT_JSON)
        TRY(json(out, o, results, count_of, m));
    else
        TRY(text_report(out, o, results, count_of, m));
    return stream_status(out, "the results", m);
}

status report_timeline(FILE *out, const hoist_result *results, size_t count_of, message *m) {
    fputs("case,variant,cycle,ready,class,of,line,waited,reason\n", out);
    for (size_t n = 0; n < count_of; n++)
        for (int which = 0; which < 2; which++) {
            const hoist_result *r = &results[n];
            const hoist_variant *v = &r->variant[which ? r->after : r->before];
            const int64_t start = v->line.count ? v->line.event[v->turn_first].cycle : 0;
            for (uint32_t i = v->turn_first; i < v->turn_end; i++) {
                const timeline_event *e = &v->line.event[i];
                const lower_note *note = &v->code.note[e->pc];
                uint64_t waited = 0;
                int most = -1;
                for (int k = 0; k < STALL_COUNT; k++) {
                    waited += e->stall[k];
                    if (e->stall[k] && (most < 0 || e->stall[k] > e->stall[most]))
                        most = k;
                }
                csv_field(out, r->name);
                fprintf(out, ",%s,%" PRId64 ",", which ? "hoisted" : "as written", e->cycle - start);
                if (e->ready < 0)
                    fputs("n/a", out);
                else
                    fprintf(out, "%" PRId64, e->ready - start);
                fprintf(out, ",%s,%s,%d,%" PRIu64 ",%s\n", op_class_name((op_class)v->code.k.code[e->pc].op),
                        note->array ? note->array->name : lower_origin_name(note->origin), (int)note->line, waited,
                        most < 0 ? "" : stall_metric((stall_reason)most));
            }
        }
    return stream_status(out, "the timeline", m);
}

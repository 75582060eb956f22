#include "report/plan_report.h"

#include "base/num.h"
#include "report/table.h"
#include "report/write.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void plan_head(FILE *out, const report_options *o, const plan_record *p) {
    char elements[32];
    fprintf(out, "%s: %s element%s of %" PRIu32 " byte%s\n", p->dataset,
            format_grouped(elements, sizeof elements, (uint64_t)p->plan->elements), p->plan->elements == 1 ? "" : "s",
            p->element_bytes, p->element_bytes == 1 ? "" : "s");
    text_paragraph(out, "source       ", p->src, o->width);
    text_paragraph(out, "destination  ", p->dst, o->width);
    text_paragraph(out, "choice       ", p->choice, o->width);
    text_paragraph(out, "why          ", p->plan->reason.text, o->width);
    char width[PLAN_TEXT_MAX + 32];
    if (p->plan->options.strategy != COPY_NOTHING) {
        snprintf(width, sizeof width, "%" PRIu32 " B; %s", p->plan->src_vector_bytes, p->plan->src_vector_why.text);
        text_paragraph(out, "widest load  ", width, o->width);
        snprintf(width, sizeof width, "%" PRIu32 " B; %s", p->plan->dst_vector_bytes, p->plan->dst_vector_why.text);
        text_paragraph(out, "widest store ", width, o->width);
    }
    for (int i = 0; i < PLAN_NOTE_COUNT; i++)
        if (p->plan->noted[i])
            text_paragraph(out, "note         ", p->plan->note[i].text, o->width);
}

static status sizes_table(FILE *out, const report_options *o, const plan_record *p, message *m) {
    static const table_column columns[] = {{"elements", "", 1, 0},
                                           {"fastest", "", 0, 0},
                                           {"predicted", "us", 1, 0},
                                           {"launch", "% of it", 1, 0},
                                           {"plan's choice", "us", 1, 0}};
    table t = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    status s = OK;
    for (size_t i = 0; i < p->size_count && s == OK; i++) {
        const plan_size *z = &p->sizes[i];
        char cell[64];
        s = table_add(&t, m, "%s", format_grouped(cell, sizeof cell, z->elements));
        s = s == OK ? table_add(&t, m, "%s", z->fastest) : s;
        s = s == OK ? table_add(&t, m, "%.4g", z->fastest_us) : s;
        s = s == OK ? table_add(&t, m, "%.0f", 100 * z->launch_us / z->fastest_us) : s;
        if (s == OK)
            s = isnan(z->choice_us) ? table_add(&t, m, "n/a") : table_add(&t, m, "%.4g", z->choice_us);
    }
    if (s == OK) {
        fputs("\nThe same layout with fewer elements\n\n", out);
        table_print(&t, out, o->width);
    }
    table_free(&t);
    return s;
}

/* Between which of the simulated sizes the launch overhead passes half of the time. */
static void launch_crossover(FILE *out, const report_options *o, const plan_record *p) {
    for (size_t i = 1; i < p->size_count; i++) {
        const plan_size *larger = &p->sizes[i - 1], *smaller = &p->sizes[i];
        if (larger->launch_us * 2 > larger->fastest_us || smaller->launch_us * 2 <= smaller->fastest_us)
            continue;
        char a[32], b[32];
        text_line(out, o->width, "Somewhere between %s and %s elements launch overhead becomes most of the time.",
                  format_grouped(a, sizeof a, larger->elements), format_grouped(b, sizeof b, smaller->elements));
        return;
    }
}

static bool same_reason(const plan_record *p, size_t a, size_t b) {
    return strcmp(p->refusals[a].why, p->refusals[b].why) == 0;
}

static bool first_with_reason(const plan_record *p, size_t i) {
    for (size_t k = 0; k < i; k++)
        if (same_reason(p, k, i))
            return false;
    return true;
}

/* Strategies that share a reason share its paragraph. */
static void refusal_lines(FILE *out, const report_options *o, const plan_record *p, size_t i) {
    char names[512];
    size_t used = 0;
    for (size_t k = i; k < p->refusal_count; k++)
        if (same_reason(p, k, i) && used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", p->refusals[k].name);
    text_paragraph(out, "", names, o->width);
    text_paragraph(out, "    ", p->refusals[i].why, o->width);
}

static void speed_lines(FILE *out, const report_options *o, const plan_record *p) {
    const run_record *best = &p->runs[0], *chosen = p->chosen;
    if (!chosen)
        return;
    double gap = chosen->sim.time_s - best->sim.time_s, doubt = chosen->sim.time_half_s + best->sim.time_half_s;
    if (best == chosen)
        text_line(out, o->width, "The plan's choice (%s) is the fastest.", p->choice);
    else if (gap <= doubt)
        text_line(out, o->width, "Fastest: %s, but its lead over the plan's choice (%s) is within the sampling error.",
                  best->strategy, p->choice);
    else
        text_line(out, o->width, "Fastest: %s, %.2f times as fast as the plan's choice (%s).", best->strategy,
                  chosen->sim.time_s / best->sim.time_s, p->choice);
}

static status plan_text_report(FILE *out, const report_options *o, const plan_record *p, message *m) {
    plan_head(out, o, p);
    if (p->run_count) {
        fputc('\n', out);
        report_options with = *o;
        with.baseline = p->chosen;
        TRY(report_text(out, &with, p->runs, p->run_count, m));
        speed_lines(out, o, p);
    }
    if (p->size_count > 1) {
        TRY(sizes_table(out, o, p, m));
        launch_crossover(out, o, p);
    }
    if (p->refusal_count) {
        fprintf(out, "\nWhy not\n");
        for (size_t i = 0; i < p->refusal_count; i++)
            if (first_with_reason(p, i))
                refusal_lines(out, o, p, i);
    }
    if (!p->machine && p->plan->options.strategy != COPY_NOTHING)
        fputs("\nNo times: name a machine with -m (coalign machines lists them).\n", out);
    return OK;
}

static status plan_csv(FILE *out, const plan_record *p, message *m) {
    if (p->run_count)
        return report_csv(out, p->runs, p->run_count, m);
    fputs("strategy,applicable,why\n", out);
    for (int s = 0; s < COPY_STRATEGY_COUNT; s++) {
        fprintf(out, "%s,%s,", copy_strategy_name((copy_strategy)s), p->plan->verdict[s].applicable ? "yes" : "no");
        csv_field(out, p->plan->verdict[s].why.text);
        fputc('\n', out);
    }
    return OK;
}

/* The keys carry their units. */
static json_t *json_sizes(const plan_record *p) {
    json_t *sizes = json_array();
    for (size_t i = 0; i < p->size_count; i++) {
        const plan_size *z = &p->sizes[i];
        json_t *choice = isnan(z->choice_us) ? json_null() : json_real(z->choice_us);
        json_t *size =
            json_pack("{s:I, s:s, s:f, s:f, s:o}", "elements", (json_int_t)z->elements, "fastest", z->fastest,
                      "fastest_us", z->fastest_us, "launch_us", z->launch_us, "choice_us", choice);
        if (json_array_append_new(sizes, size) == 0)
            continue;
        json_decref(sizes);
        return NULL;
    }
    return sizes;
}

static status plan_json(FILE *out, const report_options *o, const plan_record *p, message *m) {
    json_t *root = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "version", o->version, "dataset", p->dataset, "source",
                             p->src, "destination", p->dst, "choice", p->choice, "reason", p->plan->reason.text);
    int bad = json_object_set_new(root, "elements", json_integer(p->plan->elements));
    json_t *notes = json_object();
    bad |= json_object_set_new(root, "notes", notes);
    for (int i = 0; i < PLAN_NOTE_COUNT; i++)
        if (p->plan->noted[i])
            bad |= json_object_set_new(notes, plan_note_name((plan_note_kind)i), json_string(p->plan->note[i].text));
    json_t *strategies = json_object();
    bad |= json_object_set_new(root, "strategies", strategies);
    for (int s = 0; s < COPY_STRATEGY_COUNT; s++)
        bad |= json_object_set_new(
            strategies, copy_strategy_name((copy_strategy)s),
            json_pack("{s:b, s:s}", "applicable", p->plan->verdict[s].applicable, "why", p->plan->verdict[s].why.text));
    json_t *refused = json_object();
    bad |= json_object_set_new(root, "not_simulated", refused);
    for (size_t i = 0; i < p->refusal_count; i++)
        bad |= json_object_set_new(refused, p->refusals[i].name, json_string(p->refusals[i].why));
    bad |= json_object_set_new(root, "sizes", json_sizes(p));
    bad |= json_object_set_new(root, "units", json_units());
    bad |= json_object_set_new(root, "runs", json_runs(p->runs, p->run_count));
    return json_print(out, root, bad, m);
}

status report_plan(FILE *out, const report_options *options, const plan_record *p, message *m) {
    switch (options->format) {
    case REPORT_TEXT:
        TRY(plan_text_report(out, options, p, m));
        break;
    case REPORT_JSON:
        TRY(plan_json(out, options, p, m));
        break;
    case REPORT_CSV:
        TRY(plan_csv(out, p, m));
        break;
    }
    return stream_status(out, "the plan", m);
}

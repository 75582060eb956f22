#include "report/report.h"

#include "report/limiter.h"
#include "report/write.h"

#include <inttypes.h>

json_t *json_value(metric_value v) {
    char hex[17];
    switch (v.kind) {
    case VALUE_NONE:
        break;
    case VALUE_COUNT:
        /* Counters beyond 2^63 would be a run of 10^5 years. */
        return json_integer((json_int_t)v.count);
    case VALUE_REAL:
        return json_real(v.real);
    case VALUE_TEXT:
        return json_string(v.text);
    case VALUE_HASH:
        snprintf(hex, sizeof hex, "%016" PRIx64, v.count);
        return json_string(hex);
    }
    return json_null();
}

static int add_levels(json_t *run, const run_record *r) {
    json_t *levels = json_array();
    int bad = json_object_set_new(run, "levels", levels);
    for (uint32_t l = 0; l < r->mach->level_count && !bad; l++) {
        json_t *level = json_object();
        bad |= json_array_append_new(levels, level);
        bad |= json_object_set_new(level, "name", json_string(r->mach->level[l].name));
        bad |= json_object_set_new(level, "line_bytes", json_integer(r->mach->level[l].line_bytes));
        bad |= json_object_set_new(level, "sector_bytes", json_integer(r->mach->level[l].sector_bytes));
        for (size_t i = 0; i < level_metric_count; i++)
            bad |= json_object_set_new(level, level_metric_table[i].name, json_value(level_metric_table[i].get(r, l)));
    }
    return bad;
}

static int add_run(json_t *runs, const run_record *r) {
    json_t *run = json_object();
    int bad = json_array_append_new(runs, run);
    for (size_t i = 0; i < metric_count && !bad; i++)
        bad |= json_object_set_new(run, metric_table[i].name,
                                   json_value(metric_table[i].get(r, metric_table[i].argument)));
    char words[256];
    bad |= json_object_set_new(run, "limiter_in_words", json_string(limiter_words(words, sizeof words, r)));
    bad |= json_object_set_new(run, "plan_reason", *r->plan_reason ? json_string(r->plan_reason) : json_null());
    json_t *notes = json_object();
    bad |= json_object_set_new(run, "notes", notes);
    for (int i = 0; i < PLAN_NOTE_COUNT; i++)
        if (r->note[i] && *r->note[i])
            bad |= json_object_set_new(notes, plan_note_name((plan_note_kind)i), json_string(r->note[i]));
    return bad | add_levels(run, r);
}

json_t *json_units(void) {
    json_t *units = json_object(), *levels = json_object();
    int bad = 0;
    for (size_t i = 0; i < metric_count; i++)
        if (*metric_table[i].unit)
            bad |= json_object_set_new(units, metric_table[i].name, json_string(metric_table[i].unit));
    for (size_t i = 0; i < level_metric_count; i++)
        bad |= json_object_set_new(levels, level_metric_table[i].name, json_string(level_metric_table[i].unit));
    bad |= json_object_set_new(units, "levels", levels);
    if (!bad)
        return units;
    json_decref(units);
    return NULL;
}

json_t *json_runs(const run_record *records, size_t count) {
    json_t *runs = json_array();
    int bad = 0;
    for (size_t i = 0; i < count && !bad; i++)
        bad |= add_run(runs, &records[i]);
    if (!bad)
        return runs;
    json_decref(runs);
    return NULL;
}

status json_print(FILE *out, json_t *root, int bad, message *m) {
    if (bad) {
        json_decref(root);
        return fail(m, ERR_MEMORY, "not enough memory for JSON, or a text in it is not UTF-8");
    }
    /* 15 digits: every decimal of that length survives the way into a double and back. */
    json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(root);
    fputc('\n', out);
    return OK;
}

status report_json(FILE *out, const report_options *options, const run_record *records, size_t count, message *m) {
    json_t *root = json_object();
    int bad = json_object_set_new(root, "version", json_string(options->version));
    bad |= json_object_set_new(root, "units", json_units());
    bad |= json_object_set_new(root, "runs", json_runs(records, count));
    return json_print(out, root, bad, m);
}

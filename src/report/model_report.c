#include "report/model_report.h"

#include "model/move.h"
#include "report/table.h"
#include "report/write.h"

#include <math.h>
#include <string.h>

enum { LABEL = 48 };

static double us(const model_record *r, double cycles) {
    return (cycles / r->mach->clock_hz + r->mach->launch_overhead_s) * 1e6;
}

static char *label_of(char *buffer, const model_record *r, const bound *b) {
    return bound_label(buffer, LABEL, r->mach, b);
}

static const bound *second(const model_record *r) {
    return r->model.bound_count > 1 ? &r->model.bound[1] : NULL;
}

static metric_value number(double x) {
    return isfinite(x) ? (metric_value){.kind = VALUE_REAL, .real = x} : (metric_value){.kind = VALUE_NONE};
}

static metric_value quotient(double part, double whole) {
    return number(whole > 0 ? part / whole : NAN);
}

/* Share of the least DRAM traffic that the user asked for; at most all of it. */
static metric_value dram_use(const model_record *r) {
    const double moved = r->model.dram_bytes[0] + r->model.dram_bytes[1];
    const double share = moved > 0 ? fmin((double)r->model.useful_bytes / moved, 1) * 100 : NAN;
    return number(share);
}

/* --- text ----------------------------------------------------------------------------------------------------------
 */

static char *short_number(char *buffer, metric_value v) {
    if (v.kind != VALUE_REAL)
        snprintf(buffer, LABEL, "n/a");
    else
        snprintf(buffer, LABEL, "%.*f", fabs(v.real) >= 99.95 ? 0 : fabs(v.real) >= 9.995 ? 1 : 2, v.real);
    return buffer;
}

static status add_row(table *t, const model_record *r, bool measured, message *m) {
    char label[LABEL], cell[LABEL];
    const model *b = &r->model;
    const bound *next = second(r);
    TRY(table_add(t, m, "%s", r->case_name));
    TRY(table_add(t, m, "%s", r->strategy));
    TRY(table_add(t, m, "%s", short_number(cell, number(b->bound_count ? us(r, b->cycles) : NAN))));
    TRY(table_add(t, m, "%s", b->bound_count ? label_of(label, r, &b->bound[0]) : "n/a"));
    TRY(table_add(t, m, "%s", next ? label_of(label, r, next) : "n/a"));
    TRY(table_add(t, m, "%s", next ? short_number(cell, number(100 * (1 - next->cycles / b->cycles))) : "n/a"));
    TRY(table_add(t, m, "%s", short_number(cell, dram_use(r))));
    TRY(table_add(t, m, "%s", short_number(cell, quotient(100 * b->flight_bytes, b->flight_needed_bytes))));
    return measured ? table_add(t, m, "%s", short_number(cell, number(r->measured_us))) : OK;
}

static status print_table(FILE *out, const report_options *o, const model_record *records, size_t count, message *m) {
    static const table_column columns[] = {
        {"case", "", 0, 0},         {"strategy", "", 0, 3},   {"at least", "us", 1, 0},
        {"bound by", "", 0, 0},     {"next", "", 0, 0},       {"margin", "%", 1, 1},
        {"useful", "% DRAM", 1, 4}, {"in flight", "%", 1, 5}, {"measured", "us", 1, 6},
    };
    bool measured = false;
    for (size_t i = 0; i < count; i++)
        measured |= !isnan(records[i].measured_us);
    table t = {.columns = columns, .column_count = sizeof columns / sizeof *columns - !measured};
    status s = OK;
    for (size_t i = 0; i < count && s == OK; i++)
        s = add_row(&t, &records[i], measured, m);
    if (s == OK) {
        table_print(&t, out, o->width);
        text_line(
            out, o->width,
            "at least: no run can be faster. margin: how far the next bound is below. useful: of the bytes "
            "that must cross the DRAM bus. in flight: bytes that the warps have under way, of those that keep DRAM "
            "busy (Little's law).");
    }
    table_free(&t);
    return s;
}

static const char *change_words(const move *w, char *buffer, size_t size) {
    switch (w->kind) {
    case MOVE_INSTRUCTIONS:
        return "with half the instructions";
    case MOVE_COALESCE:
        snprintf(buffer, size, "with accesses that fill the sectors they touch (%.0f %% do)", 100 * w->factor);
        return buffer;
    case MOVE_BANKS:
        snprintf(buffer, size, "without bank conflicts (%.1f passes an access)", 1 / w->factor);
        return buffer;
    case MOVE_WASTE:
        snprintf(buffer, size, "with no byte moved in vain (%.0f %% are useful)", 100 * w->factor);
        return buffer;
    case MOVE_CONCURRENCY:
        return "with twice the warps, or twice the independent loads of a warp";
    case MOVE_BLOCKS:
        return "with twice the work of a block";
    default:
        return "";
    }
}

static void print_move(FILE *out, const report_options *o, const model_record *r) {
    if (!r->model.bound_count)
        return;
    char first[LABEL], next[LABEL], how[96], text[320], heading[160];
    const move w = model_move(r->mach, &r->model);
    label_of(first, r, &r->model.bound[0]);
    label_of(next, r, &w.next);
    if (w.kind == MOVE_NONE)
        snprintf(text, sizeof text, "bound by %s, which nothing is wasted of: less work or a machine with more of it",
                 first);
    else
        snprintf(text, sizeof text, "bound by %s; %s: %.1f us, %s bound by %s", first,
                 change_words(&w, how, sizeof how), us(r, w.cycles), strcmp(first, next) == 0 ? "still" : "then", next);
    snprintf(heading, sizeof heading, "%.120s: ", r->case_name);
    text_paragraph(out, heading, text, o->width);
}

static status print_bounds(FILE *out, const report_options *o, const model_record *r, message *m) {
    static const table_column columns[] = {
        {"bound", "", 0, 0}, {"at least", "us", 1, 0}, {"cycles", "", 1, 0}, {"of the longest", "%", 1, 0}};
    const model *b = &r->model;
    table t = {.columns = columns, .column_count = 4};
    status s = OK;
    fprintf(out, "\n%s, %s, %s on %s\n\n", r->case_name, r->dataset, r->strategy, r->mach->name);
    for (uint32_t i = 0; i < b->bound_count && s == OK; i++) {
        char label[LABEL], cell[LABEL];
        s = table_add(&t, m, "%s", label_of(label, r, &b->bound[i]));
        if (s == OK)
            s = table_add(&t, m, "%s", short_number(cell, number(us(r, b->bound[i].cycles))));
        if (s == OK)
            s = table_add(&t, m, "%.0f", b->bound[i].cycles);
        if (s == OK)
            s = table_add(&t, m, "%.1f", 100 * b->bound[i].cycles / b->cycles);
    }
    if (s == OK)
        table_print(&t, out, o->width);
    table_free(&t);
    if (s != OK)
        return s;
    text_line(
        out, o->width,
        "A warp needs %llu cycles at least with its loads from DRAM; %u warps are resident on a core (limit: %s). "
        "They have %.1f KiB under way; %.1f KiB keep DRAM busy. DRAM reads at least %.4g MB and writes %.4g MB; "
        "%.4g MB are useful. %s",
        (unsigned long long)b->warp_cycles, b->occupancy.warps, resource_name(b->occupancy.limit),
        b->flight_bytes / 1024, b->flight_needed_bytes / 1024, b->dram_bytes[0] / 1e6, b->dram_bytes[1] / 1e6,
        (double)b->useful_bytes / 1e6,
        b->whole ? "Every warp was counted."
                 : "Counted from a sample of the warps, and lowered by its error (3.3 standard errors).");
    return OK;
}

static status models_text(FILE *out, const report_options *o, const model_record *records, size_t count, message *m) {
    if (o->title && *o->title)
        fprintf(out, "%s\n", o->title);
    if (!count)
        return OK;
    fprintf(out, "Machine: %s\n\n", records[0].mach->name);
    TRY(print_table(out, o, records, count, m));
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any |= records[i].model.bound_count > 0;
    if (any)
        fputs("\nWhat would move it:\n", out);
    for (size_t i = 0; i < count; i++)
        print_move(out, o, &records[i]);
    if (o->details || count == 1)
        for (size_t i = 0; i < count; i++)
            if (records[i].model.bound_count)
                TRY(print_bounds(out, o, &records[i], m));
    return OK;
}

/* --- CSV -----------------------------------------------------------------------------------------------------------
 */

static void csv_names(FILE *out, const model_record *r, const char *row, const char *name) {
    csv_field(out, r->case_name);
    fputc(',', out);
    csv_field(out, r->strategy);
    fputc(',', out);
    csv_field(out, r->mach->name);
    fprintf(out, ",%s,", row);
    csv_field(out, name);
}

static void csv_numbers(FILE *out, const metric_value *v, size_t count) {
    for (size_t i = 0; i < count; i++) {
        fputc(',', out);
        csv_value(out, v[i]);
    }
    fputc('\n', out);
}

static void models_csv(FILE *out, const model_record *records, size_t count) {
    fputs("case,strategy,machine,row,name,time_us,share_of_longest_pct,bytes,bandwidth_gb_per_s,inst_per_byte,"
          "attainable_ginst_per_s,predicted_ginst_per_s,peak_ginst_per_s\n",
          out);
    const metric_value none = number(NAN);
    for (size_t i = 0; i < count; i++) {
        const model_record *r = &records[i];
        const model *b = &r->model;
        char label[LABEL];
        for (uint32_t k = 0; k < b->bound_count; k++) {
            csv_names(out, r, "bound", label_of(label, r, &b->bound[k]));
            const metric_value v[] = {number(us(r, b->bound[k].cycles)),
                                      number(100 * b->bound[k].cycles / b->cycles),
                                      none,
                                      none,
                                      none,
                                      none,
                                      none,
                                      none};
            csv_numbers(out, v, 8);
        }
        for (uint32_t k = 0; k < b->roof_count; k++) {
            const roof *f = &b->roof[k];
            const double insts = b->work.instructions.estimate, seconds = b->cycles / r->mach->clock_hz;
            csv_names(out, r, "roof", f->name);
            const metric_value v[] = {
                number(f->bytes / f->bytes_per_s * 1e6),
                quotient(100 * f->bytes / f->bytes_per_s, seconds),
                number(f->bytes),
                number(f->bytes_per_s / 1e9),
                quotient(insts, f->bytes),
                f->bytes > 0 ? number(fmin(b->peak_insts_per_s, insts / f->bytes * f->bytes_per_s) / 1e9) : none,
                quotient(insts / 1e9, seconds),
                number(b->peak_insts_per_s / 1e9)};
            csv_numbers(out, v, 8);
        }
    }
}

/* --- JSON ----------------------------------------------------------------------------------------------------------
 */

static json_t *bounds_json(const model_record *r) {
    json_t *list = json_array();
    for (uint32_t k = 0; k < r->model.bound_count; k++) {
        char label[LABEL];
        const bound *b = &r->model.bound[k];
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:f, s:f}", "bound", label_of(label, r, b), "kind",
                                        bound_kind_name(b->kind), "time_us", us(r, b->cycles), "cycles", b->cycles));
    }
    return list;
}

static json_t *roofs_json(const model_record *r) {
    json_t *list = json_array();
    for (uint32_t k = 0; k < r->model.roof_count; k++) {
        const roof *f = &r->model.roof[k];
        json_array_append_new(list, json_pack("{s:s, s:f, s:f}", "level", f->name, "bandwidth_gb_per_s",
                                              f->bytes_per_s / 1e9, "bytes", f->bytes));
    }
    return list;
}

static json_t *model_json(const model_record *r) {
    const model *b = &r->model;
    return json_pack(
        "{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:b, s:o, s:o}", "case", r->case_name, "strategy",
        r->strategy, "dataset", r->dataset, "bound_us", json_value(number(b->bound_count ? us(r, b->cycles) : NAN)),
        "measured_us", json_value(number(r->measured_us)), "useful_bytes", json_integer((json_int_t)b->useful_bytes),
        "dram_useful_pct", json_value(dram_use(r)), "warp_cycles", json_integer((json_int_t)b->warp_cycles),
        "in_flight_bytes", b->flight_bytes, "in_flight_needed_bytes", b->flight_needed_bytes, "counted_whole", b->whole,
        "bounds", bounds_json(r), "roofs", roofs_json(r));
}

static status models_json(FILE *out, const report_options *o, const model_record *records, size_t count, message *m) {
    json_t *root = json_object(), *cases = json_array();
    int bad = !root || !cases;
    for (size_t i = 0; i < count && !bad; i++)
        bad |= json_array_append_new(cases, model_json(&records[i]));
    bad |= json_object_set_new(root, "version", json_string(o->version));
    bad |= json_object_set_new(root, "machine", count ? json_string(records[0].mach->id) : json_null());
    bad |= json_object_set_new(root, "cases", cases);
    return json_print(out, root, bad, m);
}

status report_models(FILE *out, const report_options *o, const model_record *records, size_t count, message *m) {
    switch (o->format) {
    case REPORT_TEXT:
        TRY(models_text(out, o, records, count, m));
        break;
    case REPORT_CSV:
        models_csv(out, records, count);
        break;
    case REPORT_JSON:
        return models_json(out, o, records, count, m);
    }
    return stream_status(out, "the report", m);
}

/* --- balance -------------------------------------------------------------------------------------------------------
 */

static void balance_text(FILE *out, const machine *mach, const balance *b) {
    const char *group = "";
    fprintf(out, "%s: balance between compute and memory\n", mach->name);
    for (uint32_t i = 0; i < b->count; i++) {
        const balance_row *r = &b->row[i];
        char cell[LABEL];
        if (strcmp(group, r->group) != 0)
            fprintf(out, "\n%s\n", r->group);
        group = r->group;
        fprintf(out, "  %-62s %10s %s\n", r->quantity, short_number(cell, number(r->value)), r->unit);
    }
}

static void balance_csv(FILE *out, const machine *mach, const balance *b) {
    fputs("machine,group,quantity,value,unit\n", out);
    for (uint32_t i = 0; i < b->count; i++) {
        csv_field(out, mach->name);
        fprintf(out, ",%s,", b->row[i].group);
        csv_field(out, b->row[i].quantity);
        fputc(',', out);
        csv_value(out, number(b->row[i].value));
        fprintf(out, ",%s\n", b->row[i].unit);
    }
}

static status balance_json(FILE *out, const report_options *o, const machine *mach, const balance *b, message *m) {
    json_t *root = json_object(), *rows = json_array();
    int bad = !root || !rows;
    for (uint32_t i = 0; i < b->count && !bad; i++)
        bad |= json_array_append_new(rows, json_pack("{s:s, s:s, s:o, s:s}", "group", b->row[i].group, "quantity",
                                                     b->row[i].quantity, "value", json_value(number(b->row[i].value)),
                                                     "unit", b->row[i].unit));
    bad |= json_object_set_new(root, "version", json_string(o->version));
    bad |= json_object_set_new(root, "machine", json_string(mach->id));
    bad |= json_object_set_new(root, "balance", rows);
    return json_print(out, root, bad, m);
}

status report_balance(FILE *out, const report_options *o, const machine *mach, const balance *b, message *m) {
    switch (o->format) {
    case REPORT_TEXT:
        balance_text(out, mach, b);
        break;
    case REPORT_CSV:
        balance_csv(out, mach, b);
        break;
    case REPORT_JSON:
        return balance_json(out, o, mach, b, m);
    }
    return stream_status(out, "the report", m);
}

#include "report/factor_report.h"

#include "base/num.h"
#include "report/table.h"
#include "report/write.h"

#include <inttypes.h>

enum { TEXT = 32 };

static int64_t misses(const factor_count *n) {
    return (int64_t)(n->compulsory + n->capacity) + n->conflict;
}

static metric_value miss_share(const factor_count *n) {
    if (!n->accesses)
        return (metric_value){.kind = VALUE_NONE};
    return (metric_value){.kind = VALUE_REAL, .real = 100.0 * (double)misses(n) / (double)n->accesses};
}

/* The smallest level that holds the working set, NULL: none. */
static const cache_level *holder(const factor_record *r, uint32_t pass) {
    for (uint32_t l = 0; l < r->mach->level_count; l++)
        if (factor_working_set(r->f, pass, r->mach->level[l].line_bytes) <= r->mach->level[l].size_bytes)
            return &r->mach->level[l];
    return NULL;
}

static uint32_t line_bytes(const factor_record *r) {
    return r->mach->level_count ? r->mach->level[0].line_bytes : MACHINE_BARE_SECTOR;
}

/* --- text ----------------------------------------------------------------------------------------------------------
 */

static status text_passes(FILE *out, const report_options *o, const factor_record *r, message *m) {
    static const table_column columns[] = {
        {"pass", "", 1, 0}, {"repeats", "", 1, 0}, {"working set", "byte", 1, 0}, {"fits", "", 0, 0}};
    table t = {.columns = columns, .column_count = 4};
    status s = OK;
    for (uint32_t p = 0; p < r->f->passes && s == OK; p++) {
        char bytes[TEXT];
        const cache_level *level = holder(r, p);
        s = table_add(&t, m, "%" PRIu32, p);
        if (s == OK)
            s = table_add(&t, m, "%" PRIu64, r->f->pass[p].repeat);
        if (s == OK)
            s = table_add(&t, m, "%s", format_grouped(bytes, sizeof bytes, factor_working_set(r->f, p, line_bytes(r))));
        if (s == OK)
            s = table_add(&t, m, "%s", level ? level->name : "memory only");
    }
    if (s == OK)
        table_print(&t, out, o->width);
    table_free(&t);
    return s;
}

static status add_count(table *t, message *m, int64_t n) {
    char text[TEXT];
    return table_add(t, m, "%s%s", n < 0 ? "-" : "", format_grouped(text, sizeof text, (uint64_t)(n < 0 ? -n : n)));
}

static status text_row(table *t, const cache_level *level, uint32_t pass, const factor_array *a, const factor_count *n,
                       message *m) {
    char size[TEXT], share[64];
    TRY(table_add(t, m, "%s %s", level->name, format_bytes(size, sizeof size, level->size_bytes)));
    TRY(table_add(t, m, "%" PRIu32, pass));
    TRY(table_add(t, m, "%s", a->name));
    TRY(add_count(t, m, (int64_t)n->accesses));
    TRY(add_count(t, m, (int64_t)n->compulsory));
    TRY(add_count(t, m, (int64_t)n->capacity));
    TRY(add_count(t, m, n->conflict));
    return table_add(t, m, "%s", format_value(share, sizeof share, miss_share(n)));
}

static status text_misses(FILE *out, const report_options *o, const factor_record *r, message *m) {
    static const table_column columns[] = {
        {"cache", "", 0, 0},        {"pass", "", 1, 0},           {"array", "", 0, 0},
        {"accesses", "line", 1, 0}, {"compulsory", "miss", 1, 0}, {"capacity", "miss", 1, 0},
        {"conflict", "miss", 1, 0}, {"misses", "%", 1, 0},
    };
    table t = {.columns = columns, .column_count = 8};
    status s = OK;
    for (uint32_t l = 0; l < r->mach->level_count; l++)
        for (uint32_t p = 0; p < r->f->passes; p++)
            for (uint32_t a = 0; a < r->f->arrays && s == OK; a++)
                if (r->count[l][p][a].accesses)
                    s = text_row(&t, &r->mach->level[l], p, &r->f->array[a], &r->count[l][p][a], m);
    if (s == OK)
        table_print(&t, out, o->width);
    table_free(&t);
    return s;
}

static status factoring_text(FILE *out, const report_options *o, const factor_record *r, message *m) {
    fprintf(out, "Data factoring on %s\n\n", r->mach->name);
    TRY(text_passes(out, o, r, m));
    if (!r->mach->level_count) {
        text_line(out, o->width, "This machine caches neither loads nor stores: every access goes to memory.");
        return OK;
    }
    fputc('\n', out);
    TRY(text_misses(out, o, r, m));
    text_line(out, o->width,
              "Every cache by itself, as if it saw all accesses; empty before the first pass. compulsory: first access "
              "to a line. capacity: the "
              "other misses of a fully associative LRU cache of that size. conflict: what its sets add to that.");
    return OK;
}

/* --- CSV, JSON -----------------------------------------------------------------------------------------------------
 */

static void factoring_csv(FILE *out, const factor_record *r) {
    fputs("machine,level,size_bytes,pass,array,accesses,compulsory,capacity,conflict,misses_pct\n", out);
    for (uint32_t l = 0; l < r->mach->level_count; l++)
        for (uint32_t i = 0; i < r->f->passes * r->f->arrays; i++) {
            const uint32_t p = i / r->f->arrays, a = i % r->f->arrays;
            const factor_count *n = &r->count[l][p][a];
            csv_field(out, r->mach->name);
            fprintf(out, ",%s,%" PRIu64 ",%" PRIu32 ",", r->mach->level[l].name, r->mach->level[l].size_bytes, p);
            csv_field(out, r->f->array[a].name);
            fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRId64 ",", n->accesses, n->compulsory, n->capacity,
                    n->conflict);
            csv_value(out, miss_share(n));
            fputc('\n', out);
        }
}

static json_t *level_json(const factor_record *r, uint32_t l) {
    json_t *arrays = json_array();
    for (uint32_t i = 0; i < r->f->passes * r->f->arrays; i++) {
        const uint32_t p = i / r->f->arrays, a = i % r->f->arrays;
        const factor_count *n = &r->count[l][p][a];
        json_array_append_new(arrays,
                              json_pack("{s:I, s:s, s:I, s:I, s:I, s:I, s:o}", "pass", (json_int_t)p, "array",
                                        r->f->array[a].name, "accesses", (json_int_t)n->accesses, "compulsory",
                                        (json_int_t)n->compulsory, "capacity", (json_int_t)n->capacity, "conflict",
                                        (json_int_t)n->conflict, "misses_pct", json_value(miss_share(n))));
    }
    return json_pack("{s:s, s:I, s:o}", "level", r->mach->level[l].name, "size_bytes",
                     (json_int_t)r->mach->level[l].size_bytes, "arrays", arrays);
}

static status factoring_json(FILE *out, const report_options *o, const factor_record *r, message *m) {
    json_t *root = json_object(), *levels = json_array(), *passes = json_array();
    int bad = !root || !levels || !passes;
    for (uint32_t p = 0; p < r->f->passes && !bad; p++) {
        const cache_level *level = holder(r, p);
        bad |= json_array_append_new(passes, json_pack("{s:I, s:I, s:s?}", "repeat", (json_int_t)r->f->pass[p].repeat,
                                                       "working_set_bytes",
                                                       (json_int_t)factor_working_set(r->f, p, line_bytes(r)), "fits",
                                                       level ? level->name : NULL));
    }
    for (uint32_t l = 0; l < r->mach->level_count && !bad; l++)
        bad |= json_array_append_new(levels, level_json(r, l));
    bad |= json_object_set_new(root, "version", json_string(o->version));
    bad |= json_object_set_new(root, "machine", json_string(r->mach->id));
    bad |= json_object_set_new(root, "passes", passes);
    bad |= json_object_set_new(root, "levels", levels);
    return json_print(out, root, bad, m);
}

status report_factoring(FILE *out, const report_options *o, const factor_record *r, message *m) {
    switch (o->format) {
    case REPORT_TEXT:
        TRY(factoring_text(out, o, r, m));
        break;
    case REPORT_CSV:
        factoring_csv(out, r);
        break;
    case REPORT_JSON:
        return factoring_json(out, o, r, m);
    }
    return stream_status(out, "the report", m);
}

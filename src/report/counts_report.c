#include "report/counts_report.h"

#include "base/num.h"
#include "report/table.h"
#include "report/write.h"

#include <inttypes.h>

static const char *replacement_name(replacement r) {
    static const char *const names[] = {[REPLACE_LRU] = "lru", [REPLACE_FIFO] = "fifo", [REPLACE_RANDOM] = "random"};
    return names[r];
}

/* The caches in the order of the reports: the instruction cache first. */
typedef struct cache_counts {
    const counts_cache *is;
    const counts_level *seen;
    bool fetches, data; /* which kinds it can see */
} cache_counts;

static uint32_t list(const counts_record *r, cache_counts all[COUNTS_LEVELS_MAX + 1]) {
    uint32_t n = 0;
    const counts_hierarchy *h = r->caches;
    if (h->has_fetch)
        all[n++] = (cache_counts){&h->fetch, &r->fetch, true, false};
    for (uint32_t i = 0; i < h->levels; i++)
        all[n++] = (cache_counts){&h->data[i], &r->data[i], h->has_fetch && i > 0, true};
    return n;
}

static uint64_t sets_of(const counts_cache *k) {
    return k->size_bytes / k->line_bytes / k->ways;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static const table_column columns[] = {
    {"cache", "", 0, 0},           {"kind", "", 0, 0},          {"accesses", "", 1, 0},
    {"misses", "", 1, 0},          {"miss", "%", 1, 0},         {"write-backs", "lines", 1, 1},
    {"from below", "bytes", 1, 2}, {"to below", "bytes", 1, 3},
};

static status kind_row(table *t, const cache_counts *c, counts_kind kind, const char *name, bool first, bool bytes,
                       message *m) {
    char number[32];
    const uint64_t accesses = c->seen->of[kind].accesses, misses = c->seen->of[kind].misses;
    TRY(table_add(t, m, "%s", first ? c->is->name : ""));
    TRY(table_add(t, m, "%s", name));
    TRY(table_add(t, m, "%s", format_grouped(number, sizeof number, accesses)));
    TRY(table_add(t, m, "%s", format_grouped(number, sizeof number, misses)));
    if (accesses)
        TRY(table_add(t, m, "%.3f", 100 * (double)misses / (double)accesses));
    else
        TRY(table_add(t, m, "n/a"));
    /* Bytes and write-backs are the cache's, not a kind's: they stand in its first row. */
    const uint64_t of_cache[] = {c->seen->write_backs, c->seen->bytes_read, c->seen->bytes_written};
    for (int i = 0; i < 3; i++)
        if (!first)
            TRY(table_add(t, m, " "));
        else if (bytes)
            TRY(table_add(t, m, "%s", format_grouped(number, sizeof number, of_cache[i])));
        else
            TRY(table_add(t, m, "n/a"));
    return OK;
}

static status counts_table(table *t, const counts_record *r, message *m) {
    static const char *const names[] = {[COUNTS_READ] = "read", [COUNTS_WRITE] = "write", [COUNTS_FETCH] = "fetch"};
    cache_counts all[COUNTS_LEVELS_MAX + 1];
    const uint32_t n = list(r, all);
    for (uint32_t i = 0; i < n; i++) {
        bool first = true;
        for (int kind = 0; kind < COUNTS_KINDS; kind++)
            if (kind == COUNTS_FETCH ? all[i].fetches : all[i].data) {
                TRY(kind_row(t, &all[i], (counts_kind)kind, names[kind], first, r->caches->rules == COUNTS_HARDWARE,
                             m));
                first = false;
            }
    }
    return OK;
}

static void shape_line(FILE *out, const counts_cache *k, bool policies) {
    char size[32], sets[32];
    fprintf(out, "  %-4s %s: %" PRIu32 " ways, %s sets, lines of %" PRIu32 " B", k->name,
            format_bytes(size, sizeof size, k->size_bytes), k->ways, format_grouped(sets, sizeof sets, sets_of(k)),
            k->line_bytes);
    if (k->sector_bytes < k->line_bytes)
        fprintf(out, ", sectors of %" PRIu32 " B", k->sector_bytes);
    fprintf(out, ", %s", k->replace == REPLACE_LRU ? "LRU" : k->replace == REPLACE_FIFO ? "FIFO" : "random");
    if (policies)
        fprintf(out, ", write-%s, %s", k->write_back ? "back" : "through",
                k->write_allocate ? "write-allocate" : "no write-allocate");
    fputc('\n', out);
}

static status counts_text(FILE *out, const report_options *options, const counts_record *r, message *m) {
    char number[32];
    cache_counts all[COUNTS_LEVELS_MAX + 1];
    const uint32_t n = list(r, all);
    table t = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    status s = counts_table(&t, r, m);
    if (s == OK) {
        text_line(out, options->width, "%s: %s accesses, counted by the rules of %s", r->trace,
                  format_grouped(number, sizeof number, r->accesses),
                  r->caches->rules == COUNTS_CACHEGRIND ? "Cachegrind" : "hardware");
        for (uint32_t i = 0; i < n; i++)
            shape_line(out, all[i].is, r->caches->rules == COUNTS_HARDWARE);
        fputc('\n', out);
        table_print(&t, out, options->width);
    }
    table_free(&t);
    return s;
}

/* ---- CSV and JSON ------------------------------------------------------------------------------------------------ */

static metric_value known(bool is, uint64_t n) {
    return is ? (metric_value){.kind = VALUE_COUNT, .count = n} : (metric_value){.kind = VALUE_NONE};
}

enum { FIGURES = 9 };
static const char *const figure_names[FIGURES] = {"reads",        "read_misses", "writes",
                                                  "write_misses", "fetches",     "fetch_misses",
                                                  "write_backs",  "bytes_read",  "bytes_written"};

static void figures(const counts_record *r, const cache_counts *c, metric_value v[FIGURES]) {
    const bool bytes = r->caches->rules == COUNTS_HARDWARE;
    for (size_t kind = 0; kind < COUNTS_KINDS; kind++) {
        const bool is = kind == COUNTS_FETCH ? c->fetches : c->data;
        v[2 * kind] = known(is, c->seen->of[kind].accesses);
        v[2 * kind + 1] = known(is, c->seen->of[kind].misses);
    }
    v[6] = known(bytes, c->seen->write_backs);
    v[7] = known(bytes, c->seen->bytes_read);
    v[8] = known(bytes, c->seen->bytes_written);
}

static void counts_csv(FILE *out, const counts_record *r) {
    cache_counts all[COUNTS_LEVELS_MAX + 1];
    const uint32_t n = list(r, all);
    fputs("cache,size_bytes,ways,sets,line_bytes,sector_bytes,replacement", out);
    for (int i = 0; i < FIGURES; i++)
        fprintf(out, ",%s", figure_names[i]);
    fputc('\n', out);
    for (uint32_t i = 0; i < n; i++) {
        const counts_cache *k = all[i].is;
        csv_field(out, k->name);
        fprintf(out, ",%" PRIu64 ",%" PRIu32 ",%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",%s", k->size_bytes, k->ways,
                sets_of(k), k->line_bytes, k->sector_bytes, replacement_name(k->replace));
        metric_value v[FIGURES];
        figures(r, &all[i], v);
        for (int f = 0; f < FIGURES; f++) {
            fputc(',', out);
            csv_value(out, v[f]);
        }
        fputc('\n', out);
    }
}

static json_t *cache_json(const counts_record *r, const cache_counts *c) {
    const counts_cache *k = c->is;
    json_t *level =
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:s}", "cache", k->name, "size_bytes", (json_int_t)k->size_bytes,
                  "ways", (json_int_t)k->ways, "sets", (json_int_t)sets_of(k), "line_bytes", (json_int_t)k->line_bytes,
                  "sector_bytes", (json_int_t)k->sector_bytes, "replacement", replacement_name(k->replace));
    metric_value v[FIGURES];
    figures(r, c, v);
    int bad = !level;
    for (int i = 0; i < FIGURES; i++)
        bad |= json_object_set_new(level, figure_names[i], json_value(v[i]));
    if (r->caches->rules == COUNTS_HARDWARE) {
        bad |= json_object_set_new(level, "write_back", json_boolean(k->write_back));
        bad |= json_object_set_new(level, "write_allocate", json_boolean(k->write_allocate));
    }
    if (!bad)
        return level;
    json_decref(level);
    return NULL;
}

static status counts_json(FILE *out, const report_options *options, const counts_record *r, message *m) {
    cache_counts all[COUNTS_LEVELS_MAX + 1];
    const uint32_t n = list(r, all);
    json_t *levels = json_array();
    int bad = !levels;
    for (uint32_t i = 0; i < n; i++)
        bad |= json_array_append_new(levels, cache_json(r, &all[i]));
    json_t *root = json_pack("{s:s, s:s, s:s, s:I, s:o}", "version", options->version, "trace", r->trace, "rules",
                             r->caches->rules == COUNTS_CACHEGRIND ? "cachegrind" : "hardware", "accesses",
                             (json_int_t)r->accesses, "caches", levels);
    return json_print(out, root, bad || !root, m);
}

status report_counts(FILE *out, const report_options *options, const counts_record *r, message *m) {
    switch (options->format) {
    case REPORT_TEXT:
        return counts_text(out, options, r, m);
    case REPORT_CSV:
        counts_csv(out, r);
        return OK;
    case REPORT_JSON:
        return counts_json(out, options, r, m);
    }
    return OK;
}

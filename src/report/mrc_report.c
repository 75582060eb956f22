#include "report/mrc_report.h"

#include "base/num.h"
#include "report/table.h"
#include "report/write.h"

#include <inttypes.h>
#include <math.h>

enum { SIZES_MAX = 8 * 64 };

/* Sizes in lines: `steps` to each power of two from one line on, up to the first that holds all lines. */
static size_t sizes_of(const mrc_total *t, uint32_t steps, uint64_t sizes[SIZES_MAX]) {
    size_t n = 0;
    uint64_t last = 0;
    for (uint32_t i = 0; n < SIZES_MAX; i++) {
        const uint64_t size = (uint64_t)llround(exp2((double)i / steps));
        if (size > last)
            sizes[n++] = last = size;
        if (size >= t->distinct_lines)
            break;
    }
    return n;
}

static double ratio_of(double misses, uint64_t accesses) {
    return accesses ? misses / (double)accesses : NAN;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static status add_percent(table *t, double ratio, message *m) {
    return isfinite(ratio) ? table_add(t, m, "%.3f", 100 * ratio) : table_add(t, m, "n/a");
}

static status mrc_rows(table *t, const mrc_record *r, const mrc_total *total, message *m) {
    uint64_t sizes[SIZES_MAX];
    const size_t n = sizes_of(total, 1, sizes);
    const uint64_t all = total->reads + total->writes;
    for (size_t i = 0; i < n; i++) {
        char text[32];
        const mrc_point p = mrc_at(r->curve, sizes[i]);
        TRY(table_add(t, m, "%s", format_bytes(text, sizeof text, sizes[i] * r->line_bytes)));
        TRY(table_add(t, m, "%s", format_grouped(text, sizeof text, sizes[i])));
        TRY(add_percent(t, ratio_of(p.read_misses + p.write_misses, all), m));
        if (total->sampled_shift) {
            TRY(add_percent(t, ratio_of(p.low, all), m));
            TRY(add_percent(t, ratio_of(p.high, all), m));
        }
        TRY(add_percent(t, ratio_of(p.read_misses, total->reads), m));
        TRY(add_percent(t, ratio_of(p.write_misses, total->writes), m));
    }
    return OK;
}

static status mrc_text(FILE *out, const report_options *options, const mrc_record *r, message *m) {
    static const table_column exact[] = {{"cache", "", 1, 0},
                                         {"size", "lines", 1, 1},
                                         {"misses", "%", 1, 0},
                                         {"reads", "miss %", 1, 0},
                                         {"writes", "miss %", 1, 0}};
    static const table_column sampled[] = {
        {"cache", "", 1, 0},    {"size", "lines", 1, 1},   {"misses", "%", 1, 0},     {"low", "95 %", 1, 0},
        {"high", "95 %", 1, 0}, {"reads", "miss %", 1, 2}, {"writes", "miss %", 1, 2}};
    const mrc_total total = mrc_totals(r->curve);
    char reads[32], writes[32], lines[32], bytes[32];
    table t = {.columns = total.sampled_shift ? sampled : exact, .column_count = total.sampled_shift ? 7 : 5};
    const status s = mrc_rows(&t, r, &total, m);
    if (s == OK) {
        text_line(out, options->width, "%s: %s reads, %s writes of lines of %" PRIu32 " B; %s%s lines touched (%s)",
                  r->trace, format_grouped(reads, sizeof reads, total.reads),
                  format_grouped(writes, sizeof writes, total.writes), r->line_bytes,
                  total.sampled_shift ? "about " : "", format_grouped(lines, sizeof lines, total.distinct_lines),
                  format_bytes(bytes, sizeof bytes, total.distinct_lines * r->line_bytes));
        if (total.sampled_shift)
            text_line(out, options->width, "sampled: 1 in %" PRIu64 " lines was followed, %s at the end",
                      UINT64_C(1) << total.sampled_shift, format_grouped(lines, sizeof lines, total.followed_lines));
        fprintf(out, "fully associative, LRU, write-allocate\n\n");
        table_print(&t, out, options->width);
    }
    table_free(&t);
    return s;
}

/* ---- CSV and JSON ------------------------------------------------------------------------------------------------ */

static void mrc_csv(FILE *out, const mrc_record *r) {
    const mrc_total total = mrc_totals(r->curve);
    const uint64_t all = total.reads + total.writes;
    uint64_t sizes[SIZES_MAX];
    const size_t n = sizes_of(&total, 8, sizes);
    fputs("cache_bytes,lines,miss_ratio,low,high,read_misses,write_misses\n", out);
    for (size_t i = 0; i < n; i++) {
        const mrc_point p = mrc_at(r->curve, sizes[i]);
        const double ratio[] = {ratio_of(p.read_misses + p.write_misses, all), ratio_of(p.low, all),
                                ratio_of(p.high, all)};
        fprintf(out, "%" PRIu64 ",%" PRIu64, sizes[i] * r->line_bytes, sizes[i]);
        for (int k = 0; k < 3; k++)
            if (isfinite(ratio[k]))
                fprintf(out, ",%.9g", ratio[k]);
            else
                fputs(",n/a", out);
        fprintf(out, ",%.0f,%.0f\n", p.read_misses, p.write_misses);
    }
}

static status mrc_json(FILE *out, const report_options *options, const mrc_record *r, message *m) {
    const mrc_total total = mrc_totals(r->curve);
    const uint64_t all = total.reads + total.writes;
    uint64_t sizes[SIZES_MAX];
    const size_t n = sizes_of(&total, 8, sizes);
    json_t *points = json_array();
    int bad = !points;
    for (size_t i = 0; i < n; i++) {
        const mrc_point p = mrc_at(r->curve, sizes[i]);
        const uint64_t bytes = sizes[i] * r->line_bytes;
        json_t *point = json_pack("{s:I, s:I, s:I, s:I}", "cache_bytes", (json_int_t)bytes, "lines",
                                  (json_int_t)sizes[i], "read_misses", (json_int_t)llround(p.read_misses),
                                  "write_misses", (json_int_t)llround(p.write_misses));
        const double misses[] = {p.read_misses + p.write_misses, p.low, p.high};
        static const char *const names[] = {"miss_ratio", "low", "high"};
        for (int k = 0; k < 3; k++)
            bad |= json_object_set_new(point, names[k], all ? json_real(ratio_of(misses[k], all)) : json_null());
        bad |= json_array_append_new(points, point);
    }
    json_t *root = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:o}", "version", options->version, "trace", r->trace,
                             "line_bytes", (json_int_t)r->line_bytes, "reads", (json_int_t)total.reads, "writes",
                             (json_int_t)total.writes, "distinct_lines", (json_int_t)total.distinct_lines,
                             "followed_1_in", (json_int_t)(UINT64_C(1) << total.sampled_shift), "points", points);
    return json_print(out, root, bad || !root, m);
}

status report_mrc(FILE *out, const report_options *options, const mrc_record *r, message *m) {
    switch (options->format) {
    case REPORT_TEXT:
        return mrc_text(out, options, r, m);
    case REPORT_CSV:
        mrc_csv(out, r);
        return OK;
    case REPORT_JSON:
        return mrc_json(out, options, r, m);
    }
    return OK;
}

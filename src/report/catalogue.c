#include "report/report.h"
#include "report/write.h"

typedef struct entry {
    const char *name, *unit, *what;
    int level;
} entry;

/* The i-th metric of both tables; false past the end. */
static bool get_entry(size_t i, entry *e) {
    if (i < metric_count) {
        *e = (entry){metric_table[i].name, metric_table[i].unit, metric_table[i].what, 0};
        return true;
    }
    i -= metric_count;
    if (i < level_metric_count) {
        *e = (entry){level_metric_table[i].name, level_metric_table[i].unit, level_metric_table[i].what, 1};
        return true;
    }
    return false;
}

static void as_csv(FILE *out) {
    fputs("name,unit,meaning\n", out);
    entry e;
    for (size_t i = 0; get_entry(i, &e); i++) {
        fprintf(out, "%s%s,", e.level ? "<level>_" : "", e.name);
        csv_field(out, e.unit);
        fputc(',', out);
        csv_field(out, e.what);
        fputc('\n', out);
    }
}

static status as_json(FILE *out, message *m) {
    json_t *list = json_array();
    int bad = !list;
    entry e;
    for (size_t i = 0; get_entry(i, &e); i++) {
        json_t *o =
            json_pack("{s:s, s:s, s:s, s:b}", "name", e.name, "unit", e.unit, "meaning", e.what, "per_level", e.level);
        bad |= json_array_append_new(list, o);
    }
    return json_print(out, list, bad, m);
}

/* A name may be longer than half the line: the meaning then goes below it. */
static void as_text(FILE *out) {
    entry e;
    int level = -1;
    for (size_t i = 0; get_entry(i, &e); i++) {
        if (e.level != level) {
            if (e.level)
                fputs("\nOf each cache level (CSV: with the level's name in front, as in l2_read_hit_pct):\n", out);
            else
                fputs("Of a run:\n", out);
            level = e.level;
        }
        if (*e.unit)
            fprintf(out, "  %s [%s]\n      %s\n", e.name, e.unit, e.what);
        else
            fprintf(out, "  %s\n      %s\n", e.name, e.what);
    }
}

status report_metrics(FILE *out, const report_options *options, message *m) {
    switch (options->format) {
    case REPORT_TEXT:
        as_text(out);
        break;
    case REPORT_CSV:
        as_csv(out);
        break;
    case REPORT_JSON:
        return as_json(out, m);
    }
    return OK;
}

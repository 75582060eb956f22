#include "report/report.h"
#include "report/write.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

void csv_field(FILE *out, const char *text) {
    if (!strpbrk(text, ",\"\n\r")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void csv_value(FILE *out, metric_value v) {
    switch (v.kind) {
    case VALUE_NONE:
        fputs("n/a", out);
        break;
    case VALUE_COUNT:
        fprintf(out, "%" PRIu64, v.count);
        break;
    case VALUE_REAL:
        fprintf(out, "%.9g", v.real);
        break;
    case VALUE_HASH:
        fprintf(out, "%016" PRIx64, v.count);
        break;
    case VALUE_TEXT:
        csv_field(out, v.text);
        break;
    }
}

/* A level's name as the beginning of a column name: "Infinity Cache" -> "infinity_cache". */
static void level_prefix(char *prefix, const char *name) {
    for (; *name; name++, prefix++)
        *prefix = isalnum((unsigned char)*name) ? (char)tolower((unsigned char)*name) : '_';
    *prefix = '\0';
}

static size_t column_index(const report_columns *c, const char *name) {
    size_t i = 0;
    while (i < c->count && strcmp(c->level[i], name) != 0)
        i++;
    return i;
}

void report_columns_add(report_columns *c, const machine *mach) {
    for (uint32_t i = 0; i < mach->level_count; i++) {
        char name[REPORT_PREFIX_MAX];
        level_prefix(name, mach->level[i].name);
        if (column_index(c, name) == c->count && c->count < REPORT_PREFIXES_MAX)
            memcpy(c->level[c->count++], name, sizeof name);
    }
}

/* The level of the record's machine with that column prefix; level_count when it has none. */
static uint32_t level_of(const run_record *r, const char *prefix) {
    uint32_t i = 0;
    for (; i < r->mach->level_count; i++) {
        char name[REPORT_PREFIX_MAX];
        level_prefix(name, r->mach->level[i].name);
        if (strcmp(name, prefix) == 0)
            break;
    }
    return i;
}

void report_csv_header(FILE *out, const report_columns *c) {
    for (size_t i = 0; i < metric_count; i++)
        fprintf(out, "%s%s", i ? "," : "", metric_table[i].name);
    for (size_t l = 0; l < c->count; l++)
        for (size_t i = 0; i < level_metric_count; i++)
            fprintf(out, ",%s_%s", c->level[l], level_metric_table[i].name);
    fputc('\n', out);
}

void report_csv_row(FILE *out, const report_columns *c, const run_record *r) {
    for (size_t i = 0; i < metric_count; i++) {
        if (i)
            fputc(',', out);
        csv_value(out, metric_table[i].get(r, metric_table[i].argument));
    }
    for (size_t l = 0; l < c->count; l++) {
        uint32_t level = level_of(r, c->level[l]);
        for (size_t i = 0; i < level_metric_count; i++) {
            fputc(',', out);
            csv_value(out, level < r->mach->level_count ? level_metric_table[i].get(r, level)
                                                        : (metric_value){.kind = VALUE_NONE});
        }
    }
    fputc('\n', out);
}

void report_csv_unknown(FILE *out, const report_columns *c, const char *case_name) {
    csv_field(out, case_name);
    for (size_t i = 1; i < metric_count + c->count * level_metric_count; i++)
        fputs(",n/a", out);
    fputc('\n', out);
}

status report_csv(FILE *out, const run_record *records, size_t count, message *m) {
    (void)m;
    report_columns columns = {.count = 0};
    for (size_t r = 0; r < count; r++)
        report_columns_add(&columns, records[r].mach);
    report_csv_header(out, &columns);
    for (size_t r = 0; r < count; r++)
        report_csv_row(out, &columns, &records[r]);
    return OK;
}

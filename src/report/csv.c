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

enum { PREFIX_MAX = sizeof((cache_level){0}.name), PREFIXES_MAX = 32 };

typedef struct prefixes {
    char name[PREFIXES_MAX][PREFIX_MAX];
    size_t count;
} prefixes;

static size_t prefix_index(const prefixes *p, const char *name) {
    size_t i = 0;
    while (i < p->count && strcmp(p->name[i], name) != 0)
        i++;
    return i;
}

/* The runs may be of machines with different levels: columns for all names, in order of appearance. */
static void collect(prefixes *p, const run_record *records, size_t count) {
    for (size_t r = 0; r < count; r++)
        for (uint32_t i = 0; i < records[r].mach->level_count; i++) {
            char name[PREFIX_MAX];
            level_prefix(name, records[r].mach->level[i].name);
            if (prefix_index(p, name) == p->count && p->count < PREFIXES_MAX)
                memcpy(p->name[p->count++], name, sizeof name);
        }
}

/* The level of the record's machine with that column prefix; level_count when it has none. */
static uint32_t level_of(const run_record *r, const char *prefix) {
    uint32_t i = 0;
    for (; i < r->mach->level_count; i++) {
        char name[PREFIX_MAX];
        level_prefix(name, r->mach->level[i].name);
        if (strcmp(name, prefix) == 0)
            break;
    }
    return i;
}

status report_csv(FILE *out, const run_record *records, size_t count, message *m) {
    (void)m;
    prefixes levels = {0};
    collect(&levels, records, count);
    for (size_t i = 0; i < metric_count; i++)
        fprintf(out, "%s%s", i ? "," : "", metric_table[i].name);
    for (size_t l = 0; l < levels.count; l++)
        for (size_t i = 0; i < level_metric_count; i++)
            fprintf(out, ",%s_%s", levels.name[l], level_metric_table[i].name);
    fputc('\n', out);
    for (size_t r = 0; r < count; r++) {
        for (size_t i = 0; i < metric_count; i++) {
            if (i)
                fputc(',', out);
            csv_value(out, metric_table[i].get(&records[r], metric_table[i].argument));
        }
        for (size_t l = 0; l < levels.count; l++) {
            uint32_t level = level_of(&records[r], levels.name[l]);
            for (size_t i = 0; i < level_metric_count; i++) {
                fputc(',', out);
                csv_value(out, level < records[r].mach->level_count ? level_metric_table[i].get(&records[r], level)
                                                                    : (metric_value){.kind = VALUE_NONE});
            }
        }
        fputc('\n', out);
    }
    return OK;
}

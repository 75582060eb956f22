#include "golden_trace.h"

#include "base/mem.h"
#include "trace/access_reader.h"

#include <criterion/criterion.h>
#include <string.h>

enum { BATCH = 4096 };

golden_trace golden_load(const char *path) {
    golden_trace t = {0};
    size_t capacity = 0, n = 0;
    message m = {{0}};
    access_reader *r = NULL;
    cr_assert_eq(access_reader_open(path, &r, &m), OK, "%s", m.text);
    do {
        void *data = t.access;
        cr_assert(mem_reserve(&data, &capacity, t.count + BATCH, sizeof *t.access));
        t.access = data;
        cr_assert_eq(access_reader_next(r, t.access + t.count, BATCH, &n, &m), OK, "%s", m.text);
        t.count += n;
    } while (n);
    access_reader_close(r);
    return t;
}

void golden_free(golden_trace *t) {
    mem_free(t->access);
    *t = (golden_trace){0};
}

golden_trace golden_peer(const char *name) {
    static const char *const suffixes[] = {"din", "xdin", "trace"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char path[128];
        snprintf(path, sizeof path, "tests/golden/cpu/%s.%s.xz", name, suffixes[i]);
        FILE *f = fopen(path, "r");
        if (!f)
            continue;
        fclose(f);
        return golden_load(path);
    }
    cr_assert_fail("tests/golden/cpu: no trace %s", name);
    return (golden_trace){0};
}

FILE *golden_table(const char *path) {
    FILE *f = fopen(path, "r");
    cr_assert(f, "%s: run the tests from the top of the source tree", path);
    golden_row header;
    cr_assert(golden_next(f, &header));
    return f;
}

int golden_next(FILE *table, golden_row *row) {
    *row = (golden_row){.fields = 0};
    if (!fgets(row->text, sizeof row->text, table))
        return 0;
    row->text[strcspn(row->text, "\n")] = '\0';
    for (char *p = row->text; p && row->fields < GOLDEN_FIELDS_MAX;) {
        char *comma = strchr(p, ',');
        if (comma)
            *comma = '\0';
        row->field[row->fields++] = *p ? p : NULL;
        p = comma ? comma + 1 : NULL;
    }
    return 1;
}

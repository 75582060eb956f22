/* Six programs of our own, their Lackey traces replayed by Cachegrind's rules, beside what Cachegrind says of the same
 * programs: tests/golden/cachegrind, where make.sh makes all of it again. */
#include "golden_trace.h"
#include "sim/counts.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static counts_cache cache_of(const char *name, uint64_t bytes, uint32_t ways, uint32_t line) {
    counts_cache k = {.size_bytes = bytes, .ways = ways, .line_bytes = line, .sector_bytes = line};
    snprintf(k.name, sizeof k.name, "%s", name);
    return k;
}

/* The shapes of make.sh. */
static counts_hierarchy shape_of(const char *name) {
    counts_hierarchy h = {.rules = COUNTS_CACHEGRIND, .has_fetch = true, .levels = 2};
    if (strcmp(name, "desktop") == 0) {
        h.fetch = cache_of("I1", 32768, 8, 64);
        h.data[0] = cache_of("D1", 49152, 12, 64);
        h.data[1] = cache_of("LL", 2097152, 16, 64);
    } else if (strcmp(name, "small") == 0) {
        h.fetch = cache_of("I1", 4096, 2, 64);
        h.data[0] = cache_of("D1", 4096, 2, 64);
        h.data[1] = cache_of("LL", 65536, 8, 64);
    } else {
        cr_assert_str_eq(name, "odd");
        h.fetch = cache_of("I1", 2048, 1, 32);
        h.data[0] = cache_of("D1", 6144, 3, 32);
        h.data[1] = cache_of("LL", 20480, 5, 32);
    }
    return h;
}

static void expect(const golden_row *row, size_t field, uint64_t got, const char *what) {
    cr_expect_eq(got, strtoull(row->field[field], NULL, 10), "%s, %s: %s is %llu, not %s", row->field[0], row->field[1],
                 what, (unsigned long long)got, row->field[field]);
}

Test(counts_cachegrind, programs) {
    FILE *table = golden_table("tests/golden/cachegrind/counts.csv");
    golden_row row;
    size_t rows = 0;
    for (; golden_next(table, &row); rows++) {
        char path[128];
        snprintf(path, sizeof path, "tests/golden/cachegrind/%s.trace.xz", row.field[0]);
        golden_trace t = golden_load(path);
        const counts_hierarchy h = shape_of(row.field[1]);
        counts *c = NULL;
        message m = {{0}};
        cr_assert_eq(counts_new(&h, &c, &m), OK, "%s", m.text);
        counts_run(c, t.access, t.count);
        const counts_level i1 = counts_of_fetch(c), d1 = counts_of(c, 0), ll = counts_of(c, 1);
        expect(&row, 2, i1.of[COUNTS_FETCH].accesses, "Ir");
        expect(&row, 3, i1.of[COUNTS_FETCH].misses, "I1mr");
        expect(&row, 4, ll.of[COUNTS_FETCH].misses, "ILmr");
        expect(&row, 5, d1.of[COUNTS_READ].accesses, "Dr");
        expect(&row, 6, d1.of[COUNTS_READ].misses, "D1mr");
        expect(&row, 7, ll.of[COUNTS_READ].misses, "DLmr");
        expect(&row, 8, d1.of[COUNTS_WRITE].accesses, "Dw");
        expect(&row, 9, d1.of[COUNTS_WRITE].misses, "D1mw");
        expect(&row, 10, ll.of[COUNTS_WRITE].misses, "DLmw");
        counts_free(c);
        golden_free(&t);
    }
    fclose(table);
    cr_expect_eq(rows, 18, "six programs, three shapes");
}

/* Cache-only replay beside other simulators' counts of the same traces. Where they come from and what their columns
 * mean: tests/golden/cpu/README.md. */
#include "golden_trace.h"
#include "reference_counts.h"
#include "sim/counts.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static counts_cache shape(const char *name, uint64_t kib, uint32_t ways) {
    counts_cache k = {.size_bytes = kib << 10,
                      .ways = ways,
                      .line_bytes = 64,
                      .sector_bytes = 64,
                      .write_back = true,
                      .write_allocate = true};
    snprintf(k.name, sizeof k.name, "%s", name);
    return k;
}

/* The configurations of counts.csv. */
static counts_hierarchy golden_hierarchy(char config, counts_rules rules) {
    counts_hierarchy h = {.rules = rules, .levels = 2};
    h.data[0] = config == 'A' ? shape("L1", 48, 12) : config == 'B' ? shape("L1", 32, 8) : shape("L1", 48, 8);
    h.data[1] = config == 'A' ? shape("LL", 2048, 16) : config == 'B' ? shape("LL", 1024, 16) : shape("LL", 3072, 16);
    return h;
}

static counts *replay(const counts_hierarchy *h, const golden_trace *t) {
    counts *c = NULL;
    message m = {{0}};
    cr_assert_eq(counts_new(h, &c, &m), OK, "%s", m.text);
    counts_run(c, t->access, t->count);
    return c;
}

static uint64_t number(const char *field) {
    return strtoull(field, NULL, 10);
}

static void expect(const golden_row *row, size_t field, uint64_t got, const char *what) {
    if (row->field[field])
        cr_expect_eq(got, number(row->field[field]), "%s %s %s: %s is %llu, not %s", row->field[0], row->field[1],
                     row->field[2], what, (unsigned long long)got, row->field[field]);
}

static void compare_two_levels(const golden_row *row, const golden_trace *t) {
    const bool cachegrind = strncmp(row->field[2], "cachegrind", 10) == 0;
    const bool dinero = strncmp(row->field[2], "dinero", 6) == 0;
    counts_hierarchy h = golden_hierarchy(row->field[1][0], cachegrind ? COUNTS_CACHEGRIND : COUNTS_HARDWARE);
    if (strcmp(row->field[0], "lackey_small") == 0) {
        h.has_fetch = true;
        h.fetch = shape("I1", 32, 8);
    }
    counts *c = replay(&h, t);
    if (dinero) /* it cleans its caches at the end, and counts that */
        counts_flush(c);
    const counts_level l1 = counts_of(c, 0), l2 = counts_of(c, 1);
    expect(row, 3, l1.of[COUNTS_READ].accesses, "L1 reads");
    expect(row, 4, l1.of[COUNTS_WRITE].accesses, "L1 writes");
    expect(row, 5, l1.of[COUNTS_READ].misses, "L1 read misses");
    expect(row, 6, l1.of[COUNTS_WRITE].misses, "L1 write misses");
    expect(row, 7, l2.of[COUNTS_READ].accesses, "L2 reads");
    expect(row, 8, l2.of[COUNTS_WRITE].accesses, "L2 writes");
    expect(row, 9, l2.of[COUNTS_READ].misses, "L2 read misses");
    expect(row, 10, l2.of[COUNTS_WRITE].misses, "L2 write misses");
    expect(row, 11, l1.write_backs, "write-backs of L1");
    expect(row, 12, l2.write_backs, "write-backs of L2");
    counts_free(c);
}

Test(counts_golden, two_levels) {
    FILE *table = golden_table("tests/golden/cpu/counts.csv");
    golden_row row;
    golden_trace t = {0};
    char loaded[64] = "";
    size_t rows = 0;
    for (; golden_next(table, &row); rows++) {
        if (strcmp(loaded, row.field[0]) != 0) {
            golden_free(&t);
            t = golden_peer(row.field[0]);
            snprintf(loaded, sizeof loaded, "%s", row.field[0]);
        }
        compare_two_levels(&row, &t);
    }
    golden_free(&t);
    fclose(table);
    cr_expect_geq(rows, 60, "the table is there");
}

/* Instruction counts of the Lackey trace in configurations A and B: Cachegrind itself, lackey_expected.txt. */
Test(counts_golden, instructions) {
    golden_trace t = golden_peer("lackey_small");
    for (char config = 'A'; config <= 'B'; config++) {
        counts_hierarchy h = golden_hierarchy(config, COUNTS_CACHEGRIND);
        h.has_fetch = true;
        h.fetch = shape("I1", 32, 8);
        counts *c = replay(&h, &t);
        cr_expect_eq(counts_of_fetch(c).of[COUNTS_FETCH].accesses, 124853);
        cr_expect_eq(counts_of_fetch(c).of[COUNTS_FETCH].misses, 1076);
        cr_expect_eq(counts_of(c, 1).of[COUNTS_FETCH].misses, 1061);
        counts_free(c);
    }
    golden_free(&t);
}

static uint64_t present_bytes(const counts_hierarchy *h, const golden_trace *t) {
    reference *r = reference_new(h);
    for (size_t i = 0; i < t->count; i++)
        reference_access(r, t->access[i]);
    const uint64_t bytes = reference_present_bytes(r);
    reference_free(r);
    return bytes;
}

/* One level, 32 KiB, 8 ways; Dinero IV, which fetches every sector that an access touches when it misses one of them.
 */
static void compare_policy(const golden_row *row, golden_trace *t) {
    const char *variant = row->field[1];
    counts_hierarchy h = {.levels = 1, .data = {shape("L1", 32, 8)}};
    h.data[0].replace = strstr(variant, "fifo") ? REPLACE_FIFO : REPLACE_LRU;
    h.data[0].write_allocate = !strstr(variant, "_nwa");
    h.data[0].write_back = !strstr(variant, "_wt");
    if (strstr(variant, "line128"))
        h.data[0].line_bytes = 128, h.data[0].sector_bytes = 128;
    if (strstr(variant, "sector32"))
        h.data[0].sector_bytes = 32;
    counts *c = replay(&h, t);
    counts_flush(c);
    const counts_level l1 = counts_of(c, 0);
    expect(row, 2, l1.of[COUNTS_READ].accesses, "reads");
    expect(row, 3, l1.of[COUNTS_WRITE].accesses, "writes");
    expect(row, 4, l1.of[COUNTS_READ].misses, "read misses");
    expect(row, 5, l1.of[COUNTS_WRITE].misses, "write misses");
    const bool sectored = h.data[0].sector_bytes < h.data[0].line_bytes;
    expect(row, 8, l1.bytes_read + (sectored ? present_bytes(&h, t) : 0), "bytes from the next level");
    expect(row, 9, l1.bytes_written, "bytes to the next level");
    counts_free(c);
}

Test(counts_golden, policies) {
    FILE *table = golden_table("tests/golden/cpu/policies_dinero.csv");
    golden_row row;
    size_t rows = 0;
    for (; golden_next(table, &row); rows++) {
        golden_trace t = golden_peer(row.field[0]);
        if (strncmp(row.field[0], "trans", 5) == 0) /* of doubles; the traditional format cannot say so */
            for (size_t i = 0; i < t.count; i++)
                t.access[i].size = 8;
        compare_policy(&row, &t);
        golden_free(&t);
    }
    fclose(table);
    cr_expect_geq(rows, 25, "the table is there");
}

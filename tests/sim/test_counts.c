/* Cache-only replay: against hand-worked sequences, a slow reference on random caches and streams, and the counts that
 * other simulators gave for the same traces (tests/golden/cpu). */
#include "base/mem.h"
#include "base/num.h"
#include "reference_counts.h"
#include "sim/counts_plain.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static counts_cache cache_of(const char *name, uint32_t sets, uint32_t ways, uint32_t line) {
    counts_cache k = {.size_bytes = (uint64_t)sets * ways * line,
                      .ways = ways,
                      .line_bytes = line,
                      .sector_bytes = line,
                      .write_back = true,
                      .write_allocate = true};
    snprintf(k.name, sizeof k.name, "%s", name);
    return k;
}

static counts *make(const counts_hierarchy *h) {
    counts *c = NULL;
    message m = {{0}};
    cr_assert_eq(counts_new(h, &c, &m), OK, "%s", m.text);
    return c;
}

static void expect_equal(counts_level got, counts_level want, const char *where) {
    for (int kind = 0; kind < COUNTS_KINDS; kind++) {
        cr_assert_eq(got.of[kind].accesses, want.of[kind].accesses, "%s: accesses of kind %d: %llu, not %llu", where,
                     kind, (unsigned long long)got.of[kind].accesses, (unsigned long long)want.of[kind].accesses);
        cr_assert_eq(got.of[kind].misses, want.of[kind].misses, "%s: misses of kind %d: %llu, not %llu", where, kind,
                     (unsigned long long)got.of[kind].misses, (unsigned long long)want.of[kind].misses);
    }
    cr_assert_eq(got.write_backs, want.write_backs, "%s: write-backs", where);
    cr_assert_eq(got.bytes_read, want.bytes_read, "%s: bytes read", where);
    cr_assert_eq(got.bytes_written, want.bytes_written, "%s: bytes written", where);
}

/* ---- by hand ----------------------------------------------------------------------------------------------------- */

/* Lines, a letter each (upper case: read, lower case: write), one set of two ways, and the misses and write-backs. */
Test(counts, known_sequences) {
    static const struct {
        replacement replace;
        uint32_t ways;
        const char *lines;
        uint64_t misses, write_backs;
    } rows[] = {
        {REPLACE_LRU, 2, "ABACAB", 4, 0},  /* C drives out B */
        {REPLACE_FIFO, 2, "ABACAB", 5, 0}, /* C drives out A */
        {REPLACE_LRU, 2, "aBACb", 4, 1},   /* C drives out B, which is clean; b drives out a */
        {REPLACE_LRU, 2, "aBCA", 4, 1},    /* a is dirty when C comes */
        {REPLACE_LRU, 1, "aAbBc", 3, 2},
        {REPLACE_LRU, 3, "ABCDABCD", 8, 0},
        /* Belady's anomaly, FIFO: 9 misses in 3 ways, 10 in 4 (Belady, Nelson, Shedler 1969) */
        {REPLACE_FIFO, 3, "ABCDABEABCDE", 9, 0},
        {REPLACE_FIFO, 4, "ABCDABEABCDE", 10, 0},
        {REPLACE_LRU, 17, "ABCDEFGHIJKLMNOPQRA", 19, 0}, /* 18 lines in 17 ways; the list of ways, not the word */
        {REPLACE_LRU, 18, "ABCDEFGHIJKLMNOPQRA", 18, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        counts_hierarchy h = {.levels = 1, .data = {cache_of("L1", 1, rows[i].ways, 64)}};
        h.data[0].replace = rows[i].replace;
        counts *c = make(&h);
        uint64_t writes = 0;
        for (const char *p = rows[i].lines; *p; p++) {
            const bool write = *p >= 'a';
            writes += write;
            const trace_access a = {(uint64_t)(*p - (write ? 'a' : 'A')) * 64 + 8, 8, write ? TRACE_WRITE : TRACE_READ};
            counts_run(c, &a, 1);
        }
        const counts_level got = counts_of(c, 0);
        cr_expect_eq(got.of[COUNTS_READ].misses + got.of[COUNTS_WRITE].misses, rows[i].misses, "row %zu", i);
        cr_expect_eq(got.write_backs, rows[i].write_backs, "row %zu", i);
        cr_expect_eq(got.of[COUNTS_WRITE].accesses, writes, "row %zu", i);
        counts_free(c);
    }
}

static counts_level after(counts_rules rules, const trace_access *a, size_t count) {
    const counts_hierarchy h = {.rules = rules, .levels = 1, .data = {cache_of("L1", 4, 2, 64)}};
    counts *c = make(&h);
    counts_run(c, a, count);
    const counts_level got = counts_of(c, 0);
    counts_free(c);
    return got;
}

/* Two lines are touched: hardware looks up two tags; Cachegrind counts instructions' accesses, not tag look-ups. */
Test(counts, rule_access_across_lines) {
    const trace_access a[] = {{60, 8, TRACE_READ}, {64, 4, TRACE_READ}};
    counts_level hardware = after(COUNTS_HARDWARE, a, 2), cachegrind = after(COUNTS_CACHEGRIND, a, 2);
    cr_expect_eq(hardware.of[COUNTS_READ].accesses, 3);
    cr_expect_eq(hardware.of[COUNTS_READ].misses, 2);
    cr_expect_eq(cachegrind.of[COUNTS_READ].accesses, 2);
    cr_expect_eq(cachegrind.of[COUNTS_READ].misses, 1);
}

/* x += 1: hardware reads the line and then writes it; Cachegrind counts one instruction's access, as a read. */
Test(counts, rule_modify) {
    const trace_access a = {0, 8, TRACE_MODIFY};
    counts_level hardware = after(COUNTS_HARDWARE, &a, 1), cachegrind = after(COUNTS_CACHEGRIND, &a, 1);
    cr_expect_eq(hardware.of[COUNTS_READ].accesses, 1);
    cr_expect_eq(hardware.of[COUNTS_WRITE].accesses, 1);
    cr_expect_eq(hardware.of[COUNTS_READ].misses, 1);
    cr_expect_eq(hardware.of[COUNTS_WRITE].misses, 0);
    cr_expect_eq(cachegrind.of[COUNTS_READ].accesses, 1);
    cr_expect_eq(cachegrind.of[COUNTS_WRITE].accesses, 0);
}

/* Cachegrind has no dirty lines: what a store left behind is dropped. */
Test(counts, rule_write_back) {
    trace_access a[9];
    for (uint64_t i = 0; i < 9; i++)
        a[i] = (trace_access){i * 64, 8, TRACE_WRITE};
    cr_expect_eq(after(COUNTS_HARDWARE, a, 9).write_backs, 1);
    cr_expect_eq(after(COUNTS_HARDWARE, a, 9).bytes_written, 64);
    cr_expect_eq(after(COUNTS_CACHEGRIND, a, 9).write_backs, 0);
    cr_expect_eq(after(COUNTS_CACHEGRIND, a, 9).bytes_written, 0);
}

/* Data longer than the shortest line of all caches is cut to it by Cachegrind, which cannot touch three lines; XSAVE is
 * such an access. */
Test(counts, rule_long_access) {
    const trace_access a = {16, 512, TRACE_WRITE};
    cr_expect_eq(after(COUNTS_HARDWARE, &a, 1).of[COUNTS_WRITE].accesses, 9);
    cr_expect_eq(after(COUNTS_CACHEGRIND, &a, 1).of[COUNTS_WRITE].accesses, 1);
    const trace_access then[] = {a, {79, 1, TRACE_READ}, {128, 1, TRACE_READ}};
    cr_expect_eq(after(COUNTS_CACHEGRIND, then, 3).of[COUNTS_READ].misses, 1, "lines 0 and 1 are in, line 2 is not");
}

/* Instructions and data share the second level: what one brings there, the other finds. */
Test(counts, rule_unified_last_level) {
    for (int rules = 0; rules < 2; rules++) {
        counts_hierarchy h = {.rules = (counts_rules)rules,
                              .has_fetch = true,
                              .fetch = cache_of("I1", 4, 2, 64),
                              .levels = 2,
                              .data = {cache_of("D1", 4, 2, 64), cache_of("LL", 16, 4, 64)}};
        counts *c = make(&h);
        const trace_access a[] = {{0, 4, TRACE_FETCH}, {0, 8, TRACE_READ}, {4, 4, TRACE_FETCH}};
        counts_run(c, a, 3);
        cr_expect_eq(counts_of_fetch(c).of[COUNTS_FETCH].accesses, 2);
        cr_expect_eq(counts_of_fetch(c).of[COUNTS_FETCH].misses, 1);
        cr_expect_eq(counts_of(c, 0).of[COUNTS_READ].misses, 1);
        cr_expect_eq(counts_of(c, 1).of[COUNTS_FETCH].misses, 1);
        cr_expect_eq(counts_of(c, 1).of[COUNTS_READ].accesses, 1);
        cr_expect_eq(counts_of(c, 1).of[COUNTS_READ].misses, 0);
        counts_free(c);
    }
}

/* Write-allocate: Cachegrind always allocates; here it can be switched off. */
Test(counts, rule_write_allocate) {
    counts_hierarchy h = {.levels = 1, .data = {cache_of("L1", 4, 2, 64)}};
    const trace_access a[] = {{0, 8, TRACE_WRITE}, {0, 8, TRACE_READ}};
    for (int allocate = 0; allocate < 2; allocate++) {
        h.data[0].write_allocate = allocate;
        counts *c = make(&h);
        counts_run(c, a, 2);
        cr_expect_eq(counts_of(c, 0).of[COUNTS_READ].misses, !allocate);
        cr_expect_eq(counts_of(c, 0).bytes_written, allocate ? 0 : 8);
        counts_free(c);
    }
    cr_expect_eq(after(COUNTS_CACHEGRIND, a, 2).of[COUNTS_READ].misses, 0);
}

/* ---- against the reference --------------------------------------------------------------------------------------- */

static uint32_t pick(prng *g, uint32_t low, uint32_t high) {
    return low + (uint32_t)prng_below(g, high - low + 1);
}

static counts_cache random_cache(prng *g, const char *name, bool plain) {
    const uint32_t line = plain ? 32 : 16u << prng_below(g, 4);
    counts_cache k = cache_of(name, pick(g, 1, 9), plain ? pick(g, 1, 16) : pick(g, 1, 20), line);
    if (plain)
        return k;
    k.sector_bytes = line >> prng_below(g, 4);
    k.replace = prng_below(g, 2) ? REPLACE_LRU : REPLACE_FIFO;
    k.write_back = prng_below(g, 3) != 0;
    k.write_allocate = prng_below(g, 3) != 0;
    if (prng_below(g, 3) == 0)
        k.set_hash = (address_hash){.count = 2, .shift = {3, 5}};
    return k;
}

static trace_access random_access(prng *g, uint64_t base, uint64_t footprint) {
    static const uint32_t sizes[] = {1, 4, 8, 8, 16, 32, 100, 0};
    /* Half of them near the start, for hits. */
    const uint64_t range = prng_below(g, 2) ? footprint : footprint / 8 + 1;
    return (trace_access){base + prng_below(g, range), sizes[prng_below(g, 8)], (uint8_t)prng_below(g, 4)};
}

static void compare(prng *g, bool plain, counts_rules rules) {
    counts_hierarchy h = {.rules = rules, .has_fetch = prng_below(g, 2), .levels = pick(g, 1, 3)};
    static const char *const names[] = {"L1", "L2", "L3"};
    for (uint32_t i = 0; i < h.levels; i++)
        h.data[i] = random_cache(g, names[i], plain);
    if (h.has_fetch)
        h.fetch = random_cache(g, "I1", plain);
    counts *c = make(&h);
    reference *r = reference_new(&h);
    /* Sometimes where 32 bits do not reach, and at the very end of the address space. */
    static const uint64_t bases[] = {0, UINT64_C(0x7ffc12345678), UINT64_MAX - 40000};
    const uint64_t base = bases[prng_below(g, 3)], footprint = pick(g, 100, 20000);
    trace_access a[700];
    for (int batch = 0; batch < 3; batch++) {
        for (size_t i = 0; i < 700; i++) {
            a[i] = random_access(g, base, footprint);
            if (prng_below(g, 3) && i)
                a[i].addr = a[i - 1].addr + prng_below(g, 9);
            reference_access(r, a[i]);
        }
        counts_run(c, a, 700);
    }
    for (uint32_t i = 0; i < h.levels; i++)
        expect_equal(counts_of(c, i), reference_of(r, (int)i), names[i]);
    if (h.has_fetch)
        expect_equal(counts_of_fetch(c), reference_of(r, -1), "I1");
    counts_free(c);
    reference_free(r);
}

Test(counts, random_plain_hierarchies) {
    prng g = {.state = 11};
    for (int i = 0; i < 60; i++)
        compare(&g, true, COUNTS_HARDWARE);
}

Test(counts, random_hierarchies) {
    prng g = {.state = 12};
    for (int i = 0; i < 60; i++)
        compare(&g, false, COUNTS_HARDWARE);
}

Test(counts, random_cachegrind) {
    prng g = {.state = 13};
    for (int i = 0; i < 40; i++)
        compare(&g, true, COUNTS_CACHEGRIND);
}

/* A hierarchy that is plain and the same one that is not, by a hash that does nothing (a shift of 63): flushed and all.
 */
Test(counts, plain_equals_general) {
    prng g = {.state = 14};
    for (int round = 0; round < 20; round++) {
        counts_hierarchy h = {.levels = 3,
                              .data = {cache_of("L1", pick(&g, 1, 70), 12, 64),
                                       cache_of("L2", pick(&g, 1, 300), 16, 64),
                                       cache_of("L3", pick(&g, 1, 999), 11, 64)}};
        counts *plain = make(&h);
        h.data[2].set_hash = (address_hash){.count = 1, .shift = {63}};
        counts *general = make(&h);
        trace_access a[1000];
        for (int batch = 0; batch < 30; batch++) {
            for (size_t i = 0; i < 1000; i++)
                a[i] = random_access(&g, 1 << 20, 1 << 19);
            counts_run(plain, a, 1000);
            counts_run(general, a, 1000);
        }
        for (int flushed = 0; flushed < 2; flushed++) {
            for (uint32_t i = 0; i < 3; i++)
                expect_equal(counts_of(plain, i), counts_of(general, i), h.data[i].name);
            counts_flush(plain);
            counts_flush(general);
        }
        counts_free(plain);
        counts_free(general);
    }
}

/* The instructions of newer processors and those of any: the same requests come out, in the same order. */
Test(counts, instruction_sets_agree) {
    prng g = {.state = 16};
    for (int round = 0; round < 40; round++) {
        const counts_cache k = cache_of("L", pick(&g, 1, 40), pick(&g, 1, 16), 64);
        const bool first = prng_below(&g, 2), fetches = prng_below(&g, 2);
        plain_level any, here;
        message m = {{0}};
        cr_assert_eq(plain_init(&any, &k, first, fetches, &m), OK);
        cr_assert_eq(plain_init(&here, &k, first, fetches, &m), OK);
        any.newer = false;
        plain_request in[500], out[2][1000];
        trace_access a[500];
        for (size_t i = 0; i < 500; i++) {
            const uint64_t line = prng_below(&g, 700);
            const counts_kind kind = (counts_kind)prng_below(&g, fetches ? 3 : 2);
            in[i] = plain_request_of(line, kind);
            a[i] = (trace_access){line * 64 + 60, i == 400 ? 5 : 4, kind == COUNTS_WRITE ? TRACE_WRITE : TRACE_READ};
        }
        size_t count = plain_filter(&any, in, 500, out[0]);
        cr_assert_eq(plain_filter(&here, in, 500, out[1]), count);
        cr_assert_arr_eq(out[0], out[1], count * sizeof **out);
        if (first) {
            size_t taken[2] = {500, 500};
            count = plain_accesses(&any, a, &taken[0], out[0]);
            cr_assert_eq(plain_accesses(&here, a, &taken[1], out[1]), count);
            cr_assert_eq(taken[0], 400, "an access across lines ends it");
            cr_assert_eq(taken[1], 400);
            cr_assert_arr_eq(out[0], out[1], count * sizeof **out);
        }
        expect_equal(plain_seen(&here, 64), plain_seen(&any, 64), "both");
        plain_free(&any);
        plain_free(&here);
    }
}

/* What a level lacks is what the next is asked for, and what leaves it is what the next is told to write. */
Test(counts, levels_agree) {
    prng g = {.state = 15};
    const counts_hierarchy h = {.levels = 2, .data = {cache_of("L1", 64, 12, 64), cache_of("L2", 2048, 16, 64)}};
    counts *c = make(&h);
    trace_access a[1000];
    for (int batch = 0; batch < 200; batch++) {
        for (size_t i = 0; i < 1000; i++)
            a[i] = random_access(&g, 0, 16 << 20);
        counts_run(c, a, 1000);
    }
    const counts_level l1 = counts_of(c, 0), l2 = counts_of(c, 1);
    cr_expect_eq(l1.of[COUNTS_READ].misses + l1.of[COUNTS_WRITE].misses, l2.of[COUNTS_READ].accesses);
    cr_expect_eq(l1.write_backs, l2.of[COUNTS_WRITE].accesses);
    cr_expect_gt(l2.write_backs, 0);
    counts_free(c);
}

/* Random replacement uses all of the cache, and the same sequence every time. */
Test(counts, random_replacement) {
    counts_hierarchy h = {.levels = 1, .data = {cache_of("L1", 1, 8, 64)}};
    h.data[0].replace = REPLACE_RANDOM;
    uint64_t misses[2];
    for (int run = 0; run < 2; run++) {
        counts *c = make(&h);
        for (uint64_t i = 0; i < 9000; i++) {
            const trace_access a = {i % 9 * 64, 4, TRACE_READ};
            counts_run(c, &a, 1);
        }
        misses[run] = counts_of(c, 0).of[COUNTS_READ].misses;
        counts_free(c);
    }
    cr_expect_eq(misses[0], misses[1]);
    /* LRU would miss all 9000 times on 9 lines in 8 ways; random leaves the next line in most of the time. */
    cr_expect_lt(misses[0], 3500);
    cr_expect_gt(misses[0], 500);
}

/* ---- bad input --------------------------------------------------------------------------------------------------- */

Test(counts, shapes_are_checked) {
    static const struct {
        counts_cache k;
        const char *say;
    } rows[] = {
        {{"L1", 1000, 4, 64, 64, REPLACE_LRU, true, true, {0}}, "not a whole number of sets"},
        {{"L1", 0, 4, 64, 64, REPLACE_LRU, true, true, {0}}, "not a whole number of sets"},
        {{"L1", 4096, 0, 64, 64, REPLACE_LRU, true, true, {0}}, "0 ways"},
        {{"L1", UINT64_C(1) << 40, 5000, 64, 64, REPLACE_LRU, true, true, {0}}, "5000 ways"},
        {{"L1", 4096, 4, 48, 48, REPLACE_LRU, true, true, {0}}, "48 bytes"},
        {{"L1", 4096, 4, 2, 2, REPLACE_LRU, true, true, {0}}, "2 bytes"},
        {{"L1", 4096, 4, 64, 128, REPLACE_LRU, true, true, {0}}, "sectors of 128"},
        {{"L1", 4096, 4, 64, 4, REPLACE_LRU, true, true, {0}}, "sectors of 4"},
        {{"L1", UINT64_C(1) << 62, 1, 64, 64, REPLACE_LRU, true, true, {0}}, "sets"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const counts_hierarchy h = {.levels = 1, .data = {rows[i].k}};
        counts *c = NULL;
        message m = {{0}};
        cr_expect_eq(counts_new(&h, &c, &m), ERR_INPUT, "row %zu", i);
        cr_expect(strstr(m.text, rows[i].say) && strstr(m.text, "L1"), "row %zu: %s", i, m.text);
        cr_expect_null(c);
    }
}

Test(counts, out_of_memory) {
    for (int plain = 0; plain < 2; plain++) {
        counts_hierarchy h = {.levels = 2, .data = {cache_of("L1", 4, 4, 64), cache_of("L2", 4, plain ? 8 : 20, 64)}};
        for (size_t n = 1; n <= (plain ? 6u : 3u); n++) {
            counts *c = NULL;
            message m = {{0}};
            mem_fail_after(n);
            cr_expect_eq(counts_new(&h, &c, &m), ERR_MEMORY, "allocation %zu", n);
            mem_fail_after(0);
            cr_expect_null(c);
        }
    }
}

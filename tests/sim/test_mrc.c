/* Miss-ratio curves: exact ones against brute force and an independent list, sampled ones against exact ones. */
#include "base/mem.h"
#include "base/num.h"
#include "golden_trace.h"
#include "sim/mrc.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static mrc *make(uint32_t line_bytes, uint64_t lines_max) {
    mrc *c = NULL;
    message m = {{0}};
    cr_assert_eq(mrc_new(line_bytes, lines_max, &c, &m), OK, "%s", m.text);
    return c;
}

static void run(mrc *c, const trace_access *a, size_t count) {
    message m = {{0}};
    cr_assert_eq(mrc_run(c, a, count, &m), OK, "%s", m.text);
}

static double misses(const mrc *c, uint64_t lines) {
    const mrc_point p = mrc_at(c, lines);
    return p.read_misses + p.write_misses;
}

/* Lines A B C A D B: distances, of reuses, are 2 (A), 3 (B). By hand. */
Test(mrc, by_hand) {
    mrc *c = make(64, 0);
    for (const char *p = "ABCAaDB"; *p; p++) {
        const trace_access a = {(uint64_t)((*p | 32) - 'a') * 64, 8, *p == 'a' ? TRACE_WRITE : TRACE_READ};
        run(c, &a, 1);
    }
    static const double want[] = {7, 6, 6, 5, 4, 4};
    for (uint64_t lines = 0; lines < 6; lines++)
        cr_expect_eq(misses(c, lines), want[lines], "%llu lines", (unsigned long long)lines);
    cr_expect_eq(mrc_at(c, 0).write_misses, 1);
    cr_expect_eq(mrc_at(c, 1).write_misses, 0);
    const mrc_total t = mrc_totals(c);
    cr_expect_eq(t.reads, 6);
    cr_expect_eq(t.writes, 1);
    cr_expect_eq(t.distinct_lines, 4);
    mrc_free(c);
}

/* A list of lines, the last used one first. */
Test(mrc, random_streams) {
    prng g = {.state = 3};
    for (int round = 0; round < 12; round++) {
        const uint64_t footprint = 1 + prng_below(&g, 600);
        uint64_t list[700] = {0}, count = 0, by_distance[700] = {0}, cold = 0;
        mrc *c = make(32, 0);
        for (int i = 0; i < 6000; i++) {
            const uint64_t line = prng_below(&g, 2) ? prng_below(&g, footprint) : prng_below(&g, footprint / 5 + 1);
            const trace_access a = {(UINT64_C(1) << 46) + line * 32 + prng_below(&g, 25), 8, TRACE_READ};
            run(c, &a, 1);
            uint64_t at = 0;
            while (at < count && list[at] != line)
                at++;
            if (at == count) {
                cold++;
                count++;
            } else
                by_distance[at]++;
            memmove(list + 1, list, at * sizeof *list);
            list[0] = line;
        }
        double want = (double)cold;
        for (uint64_t lines = 650; lines-- > 0;) {
            want += (double)by_distance[lines];
            cr_assert_eq(misses(c, lines), want, "round %d, %llu lines", round, (unsigned long long)lines);
        }
        mrc_free(c);
    }
}

/* tests/golden/cpu/fullassoc_lru_exact.csv: a brute-force stack. */
Test(mrc, golden) {
    static const uint64_t lines[] = {64, 512, 768, 4096, 16384, 32768};
    FILE *table = golden_table("tests/golden/cpu/fullassoc_lru_exact.csv");
    golden_row row;
    size_t rows = 0;
    for (; golden_next(table, &row); rows++) {
        golden_trace t = golden_peer(row.field[0]);
        mrc *c = make(64, 0);
        run(c, t.access, t.count);
        const mrc_total total = mrc_totals(c);
        cr_expect_eq(total.reads + total.writes, strtoull(row.field[1], NULL, 10), "%s", row.field[0]);
        cr_expect_eq(total.distinct_lines, strtoull(row.field[2], NULL, 10), "%s", row.field[0]);
        for (size_t i = 0; i < 6; i++)
            cr_expect_eq(misses(c, lines[i]), strtod(row.field[3 + i], NULL), "%s, %llu lines", row.field[0],
                         (unsigned long long)lines[i]);
        mrc_free(c);
        golden_free(&t);
    }
    fclose(table);
    cr_expect_geq(rows, 8);
}

/* Zipf-like: a line's popularity falls with its number. */
static uint64_t skewed(prng *g, uint64_t lines) {
    const double u = (double)(prng_next(g) >> 11) * 0x1p-53;
    return (uint64_t)(pow((double)lines, u) - 1);
}

static trace_access stream_access(int kind, prng *g, uint64_t i) {
    uint64_t line = 0;
    switch (kind) {
    case 0: /* a loop: the curve is one step */
        line = i % 60000;
        break;
    case 1:
        line = prng_below(g, 100000);
        break;
    case 2:
        line = skewed(g, 200000);
        break;
    default: /* two loops of different length and random accesses */
        line = i % 3 == 0 ? i / 3 % 8000 : i % 3 == 1 ? 100000 + i / 3 % 50000 : 200000 + prng_below(g, 30000);
    }
    return (trace_access){line * 64, 8, i % 4 ? TRACE_READ : TRACE_WRITE};
}

/* The 95 % intervals of sampled curves hold the exact one at 19 of 20 sizes or more, and the estimate is near. */
Test(mrc, sampled) {
    size_t inside = 0, points = 0;
    for (int kind = 0; kind < 4; kind++) {
        mrc *exact = make(64, 0), *sampled = make(64, 4096);
        prng g = {.state = 5};
        const uint64_t count = 600000;
        for (uint64_t i = 0; i < count; i++) {
            const trace_access a = stream_access(kind, &g, i);
            run(exact, &a, 1);
            run(sampled, &a, 1);
        }
        const mrc_total t = mrc_totals(sampled);
        cr_expect_geq(t.sampled_shift, 3);
        cr_expect_leq(t.followed_lines, 4096);
        cr_expect_eq(t.reads, mrc_totals(exact).reads);
        const double lines = (double)mrc_totals(exact).distinct_lines;
        cr_expect_lt(fabs((double)t.distinct_lines - lines), 0.08 * lines, "stream %d: %g lines", kind, lines);
        double error = 0;
        int sizes = 0;
        for (double size = 64; size < 1.5 * lines; size *= 1.2, sizes++) {
            const mrc_point p = mrc_at(sampled, (uint64_t)size);
            const double want = misses(exact, (uint64_t)size);
            inside += p.low <= want && want <= p.high;
            points++;
            error += fabs(p.read_misses + p.write_misses - want) / (double)count;
        }
        cr_expect_lt(error / sizes, 0.03, "stream %d: mean error %g", kind, error / sizes);
        mrc_free(exact);
        mrc_free(sampled);
    }
    cr_expect_geq(inside * 20, points * 19, "%zu of %zu", inside, points);
}

/* A sample that never overflows is the exact curve. */
Test(mrc, large_sample_is_exact) {
    mrc *exact = make(64, 0), *sampled = make(64, 1 << 16);
    prng g = {.state = 6};
    for (uint64_t i = 0; i < 50000; i++) {
        const trace_access a = {prng_below(&g, 30000) * 64, 8, TRACE_READ};
        run(exact, &a, 1);
        run(sampled, &a, 1);
    }
    for (uint64_t lines = 1; lines < 40000; lines += 777) {
        cr_expect_eq(misses(sampled, lines), misses(exact, lines));
        cr_expect_eq(mrc_at(sampled, lines).low, mrc_at(sampled, lines).high);
    }
    mrc_free(exact);
    mrc_free(sampled);
}

Test(mrc, bad_input_and_memory) {
    mrc *c = NULL;
    message m = {{0}};
    cr_expect_eq(mrc_new(48, 0, &c, &m), ERR_INPUT);
    cr_expect_eq(mrc_new(2, 0, &c, &m), ERR_INPUT);
    cr_expect_eq(mrc_new(64, 10, &c, &m), ERR_INPUT);
    for (size_t n = 1; n <= 6; n++) {
        mem_fail_after(n);
        cr_expect_eq(mrc_new(64, 0, &c, &m), ERR_MEMORY, "allocation %zu", n);
        mem_fail_after(0);
        cr_expect_null(c);
    }
    /* Each allocation of a growing one. */
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        c = make(64, 2048);
        prng g = {.state = 8};
        failed = false;
        mem_fail_after(n);
        for (uint64_t i = 0; i < 40000 && !failed; i++) {
            const trace_access a = {prng_below(&g, 9000) * 64, 8, TRACE_READ};
            failed = mrc_run(c, &a, 1, &m) != OK;
        }
        mem_fail_after(0);
        mrc_free(c);
        cr_assert_lt(n, 1000);
    }
}

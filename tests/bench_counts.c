/* bench_counts.c - how fast cache-only replay is: accesses made in memory, one host core, 48 KiB of 12 ways and 2 MiB
 * of 16, LRU. Prints millions of accesses a second of processor time, the best of several passes, since other work on
 * the host only makes it slower. */
#include "base/mem.h"
#include "base/num.h"
#include "sim/counts.h"
#include "sim/mrc.h"

#include <stdio.h>
#include <time.h>

enum { COUNT = 1 << 21, PIECE = 1 << 17, PASSES = 4, PATTERNS = 5 };

static const char *const names[PATTERNS] = {"sequential, 8 B", "stride 256 B", "random, 1 MiB", "random, 64 MiB",
                                            "mixed: the four in turn, 1 store in 4"};

/* Patterns 0..3; a stride walks through 256 MiB again and again. */
static uint64_t place(int pattern, uint64_t i, prng *g) {
    switch (pattern) {
    case 0:
        return i * 8;
    case 1:
        return i * 256 % (256 << 20);
    case 2:
        return prng_below(g, 1 << 17) * 8;
    default:
        return prng_below(g, 1 << 23) * 8;
    }
}

static void fill(trace_access *a, int pattern) {
    prng g = {.state = 7};
    for (uint64_t i = 0; i < COUNT; i++) {
        const int kind = pattern < 4 ? pattern : (int)(i % 4);
        /* Apart from each other, as arrays are. */
        const uint64_t base = (UINT64_C(1) << 32) + ((uint64_t)kind << 30);
        a[i] = (trace_access){base + place(kind, i, &g), 8, pattern == 4 && kind == 0 ? TRACE_WRITE : TRACE_READ};
    }
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The best rate over pieces that are long beside the clock's resolution. */
static double counts_rate(const trace_access *a, const counts_hierarchy *h, message *m) {
    counts *c = NULL;
    if (counts_new(h, &c, m) != OK)
        return 0;
    double best = 0;
    counts_run(c, a, COUNT); /* warm */
    for (int pass = 0; pass < PASSES; pass++)
        for (size_t at = 0; at < COUNT; at += PIECE) {
            const double start = seconds();
            counts_run(c, a + at, PIECE);
            const double rate = PIECE / (seconds() - start);
            best = rate > best ? rate : best;
        }
    counts_free(c);
    return best / 1e6;
}

static double mrc_rate(const trace_access *a, uint64_t lines_max, message *m) {
    mrc *c = NULL;
    if (mrc_new(64, lines_max, &c, m) != OK)
        return 0;
    const double start = seconds();
    const status s = mrc_run(c, a, COUNT, m);
    const double rate = COUNT / (seconds() - start);
    mrc_free(c);
    return s == OK ? rate / 1e6 : 0;
}

int main(void) {
    const counts_hierarchy h = {.levels = 2,
                                .data = {{"L1", 48 << 10, 12, 64, 64, REPLACE_LRU, true, true, {0}},
                                         {"LL", 2 << 20, 16, 64, 64, REPLACE_LRU, true, true, {0}}}};
    counts_hierarchy general = h; /* not plain: its second level has sectors */
    general.data[1].sector_bytes = 32;
    message m = {{0}};
    trace_access *a = mem_zero(COUNT, sizeof *a);
    if (!a)
        return 2;
    printf("%-38s %10s %10s %10s %10s\n", "million accesses a second", "counts", "sectored", "mrc", "mrc 16384");
    for (int pattern = 0; pattern < PATTERNS && !*m.text; pattern++) {
        fill(a, pattern);
        printf("%-38s %10.1f", names[pattern], counts_rate(a, &h, &m));
        printf(" %10.1f", counts_rate(a, &general, &m));
        printf(" %10.1f %10.1f\n", mrc_rate(a, 0, &m), mrc_rate(a, 16384, &m));
    }
    mem_free(a);
    if (*m.text)
        fprintf(stderr, "bench_counts: %s\n", m.text);
    return *m.text ? 2 : 0;
}

/* One cache instance: which line leaves, and how misses under way are kept. */
#include "fixture.h"
#include "sim/cache.h"

#include <criterion/criterion.h>
#include <string.h>

static cache_level level_of(uint32_t sets, uint32_t ways, replacement policy) {
    return (cache_level){.name = "test",
                         .size_bytes = (uint64_t)sets * ways * 128,
                         .ways = ways,
                         .line_bytes = 128,
                         .sector_bytes = 32,
                         .slices = 1,
                         .replace = policy,
                         .mshrs = 4,
                         .mshr_merges = 2};
}

static cache make(const cache_level *desc) {
    cache c;
    message m = {{0}};
    cr_assert_eq(cache_init(&c, desc, 1, &m), OK, "%s", m.text);
    return c;
}

/* Looks the line up and brings it in when it is absent. */
static bool touch(cache *c, int64_t line) {
    if (cache_find(c, line) != CACHE_NONE)
        return true;
    const int32_t slot = cache_victim(c, line);
    cr_assert_neq(slot, CACHE_NONE);
    cache_replace(c, slot, line);
    return false;
}

/* Sequences of lines, a letter each, and what they do: h(it) or m(iss). Worked out on paper. */
Test(cache, known_sequences) {
    static const struct {
        replacement policy;
        uint32_t sets, ways;
        const char *lines, *result;
    } rows[] = {
        {REPLACE_LRU, 1, 2, "ABACAB", "mmhmhm"},     /* C drives out B, not A, which was used after it */
        {REPLACE_FIFO, 1, 2, "ABACAB", "mmhmmm"},    /* C drives out A, which came first; then A B, and B C */
        {REPLACE_LRU, 1, 3, "ABCDABCD", "mmmmmmmm"}, /* a loop over one line too many never hits */
        {REPLACE_LRU, 1, 4, "ABCDABCD", "mmmmhhhh"},
        {REPLACE_FIFO, 1, 3, "ABCADAB", "mmmhmmm"},
        {REPLACE_LRU, 1, 3, "ABCADAB", "mmmhmhm"},
        {REPLACE_LRU, 3, 1, "ABCDABCD", "mmmmmhhm"}, /* 3 sets: only A and D (lines 0 and 3) share one */
        {REPLACE_FIFO, 1, 1, "AABBA", "mhmhm"},
        /* Belady's anomaly, FIFO: 9 misses in 3 ways, 10 in 4 (Belady, Nelson, Shedler 1969) */
        {REPLACE_FIFO, 1, 3, "ABCDABEABCDE", "mmmmmmmhhmmh"},
        {REPLACE_FIFO, 1, 4, "ABCDABEABCDE", "mmmmhhmmmmmm"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const cache_level desc = level_of(rows[i].sets, rows[i].ways, rows[i].policy);
        cache c = make(&desc);
        for (size_t k = 0; rows[i].lines[k]; k++) {
            const char got = touch(&c, rows[i].lines[k] - 'A') ? 'h' : 'm';
            cr_expect_eq(got, rows[i].result[k], "row %zu, access %zu", i, k);
        }
        cache_free(&c);
    }
}

/* Sets that are no power of two, as in an L2 of 40 or 96 MB: all of the capacity is usable. */
Test(cache, any_number_of_sets_and_ways) {
    for (uint32_t sets = 1; sets <= 13; sets++)
        for (uint32_t ways = 1; ways <= 7; ways++) {
            const cache_level desc = level_of(sets, ways, REPLACE_LRU);
            cache c = make(&desc);
            cr_assert_eq(c.sets, sets);
            const int64_t n = (int64_t)sets * ways;
            for (int64_t line = 0; line < n; line++)
                cr_expect_not(touch(&c, line));
            for (int64_t line = 0; line < n; line++)
                cr_expect(touch(&c, line), "%u sets of %u: line %lld", sets, ways, (long long)line);
            cr_expect_not(touch(&c, n)); /* takes the place of line n mod sets, the oldest of its set */
            cr_expect_not(touch(&c, n % sets));
            cache_free(&c);
        }
}

/* LRU and FIFO against lists kept in order, with hashed sets. */
Test(cache, replaces_like_a_list) {
    prng g = {7};
    for (int round = 0; round < 60; round++) {
        cache_level desc = level_of((uint32_t)between(&g, 1, 9), (uint32_t)between(&g, 1, 8),
                                    prng_below(&g, 2) ? REPLACE_LRU : REPLACE_FIFO);
        if (prng_below(&g, 2))
            desc.set_hash = (address_hash){2, {3, 5}};
        cache c = make(&desc);
        int64_t list[16][16];
        uint32_t length[16] = {0};
        for (int i = 0; i < 400; i++) {
            const uint64_t line = prng_below(&g, 3 * (uint64_t)c.sets * c.ways);
            const uint32_t set = (uint32_t)((desc.set_hash.count ? line ^ line >> 3 ^ line >> 5 : line) % c.sets);
            int64_t *order = list[set]; /* the one to leave first */
            uint32_t at = 0;
            while (at < length[set] && order[at] != (int64_t)line)
                at++;
            const bool hit = at < length[set];
            cr_assert_eq(touch(&c, (int64_t)line), hit);
            if (hit && desc.replace == REPLACE_FIFO)
                continue;
            if (!hit && length[set] == c.ways)
                at = 0;
            else if (!hit)
                at = length[set]++;
            memmove(order + at, order + at + 1, (length[set] - 1 - at) * sizeof *order);
            order[length[set] - 1] = (int64_t)line;
        }
        cache_free(&c);
    }
}

Test(cache, random_replacement_reaches_every_way) {
    const cache_level desc = level_of(1, 6, REPLACE_RANDOM);
    cache c = make(&desc);
    for (int64_t line = 0; line < 6; line++)
        touch(&c, line);
    bool seen[6] = {false};
    for (int64_t line = 6; line < 200; line++) {
        const int32_t slot = cache_victim(&c, line);
        cr_assert(slot >= 0 && slot < 6);
        seen[slot] = true;
        cache_replace(&c, slot, line);
    }
    for (int i = 0; i < 6; i++)
        cr_expect(seen[i], "way %d", i);
    cache_free(&c);
}

/* A line with misses under way stays; when all ways have some there is no victim. */
Test(cache, pending_lines_stay) {
    const cache_level desc = level_of(1, 2, REPLACE_LRU);
    cache c = make(&desc);
    touch(&c, 0);
    touch(&c, 1);
    const int32_t first = cache_mshr_new(&c, cache_find(&c, 0), 0, bytemask_range(0, 32));
    cr_expect_eq(cache_victim(&c, 2), cache_find(&c, 1), "not the older line 0: it waits");
    const int32_t second = cache_mshr_new(&c, cache_find(&c, 1), 1, bytemask_range(0, 32));
    cr_expect_eq(cache_victim(&c, 2), CACHE_NONE);
    cache_fill(&c, first);
    cr_expect_eq(cache_victim(&c, 2), cache_find(&c, 0));
    cache_fill(&c, second);
    cr_expect_eq(c.mshr_used, 0);
    cache_free(&c);
}

/* Several misses of one line: each brings its own bytes, in any order. */
Test(cache, misses_of_one_line_chain) {
    const cache_level desc = level_of(1, 1, REPLACE_LRU);
    cache c = make(&desc);
    touch(&c, 5);
    const int32_t slot = cache_find(&c, 5);
    int32_t id[4];
    for (uint32_t i = 0; i < 4; i++) {
        id[i] = cache_mshr_new(&c, slot, 5, bytemask_range(32 * i, 32));
        cr_assert_neq(id[i], CACHE_NONE);
    }
    cr_expect_eq(cache_mshr_new(&c, slot, 5, 1), CACHE_NONE, "four MSHRs only");
    static const int order[] = {2, 0, 3, 1};
    bytemask present = 0;
    for (int i = 0; i < 4; i++) {
        cr_expect(c.line[slot].mshr != CACHE_NONE);
        cache_fill(&c, id[order[i]]);
        present |= bytemask_range(32 * (uint32_t)order[i], 32);
        cr_expect(c.line[slot].present == present);
    }
    cr_expect_eq(c.line[slot].mshr, CACHE_NONE);
    cr_expect(present == bytemask_range(0, 128));
    cr_expect_eq(c.mshr_used, 0);
    cr_expect_neq(cache_mshr_new(&c, slot, 5, 1), CACHE_NONE, "they are free again");
    cache_free(&c);
}

/* The first request and `mshr_merges` more may wait for an MSHR. */
Test(cache, merges_are_counted) {
    const cache_level desc = level_of(1, 1, REPLACE_LRU);
    cache c = make(&desc);
    touch(&c, 0);
    const int32_t id = cache_mshr_new(&c, cache_find(&c, 0), 0, bytemask_range(0, 32));
    for (uint32_t i = 0; i < 3; i++)
        cr_expect(cache_mshr_wait(&c, id, (cache_waiter){.who = i}));
    cr_expect_not(cache_mshr_wait(&c, id, (cache_waiter){.who = 3}));
    uint32_t seen = 0;
    const int32_t list = cache_take_waiters(&c, id);
    for (int32_t i = list; i != CACHE_NONE; i = c.waiter[i].next)
        seen |= 1u << c.waiter[i].who;
    cr_expect_eq(seen, 7);
    cache_release_waiters(&c, list);
    cr_expect(cache_mshr_wait(&c, id, (cache_waiter){.who = 9}), "the list is empty again");
    cache_free(&c);
}

/* Fills happen at their times, whatever the order in which they were announced. */
Test(cache, fills_settle_in_time) {
    cache_level desc = level_of(1, 8, REPLACE_LRU);
    desc.mshrs = 8;
    cache c = make(&desc);
    static const int64_t times[8] = {50, 10, 80, 30, 30, 70, 20, 60};
    int32_t slot[8];
    cr_expect_eq(cache_next_fill(&c), CACHE_UNKNOWN);
    for (int64_t i = 0; i < 8; i++) {
        touch(&c, i);
        slot[i] = cache_find(&c, i);
        const int32_t id = cache_mshr_new(&c, slot[i], i, bytemask_range(0, 32));
        cache_schedule_fill(&c, id, times[i]);
    }
    cr_expect_eq(cache_next_fill(&c), 10);
    for (int64_t now = 0; now <= 90; now += 5) {
        cache_settle(&c, now);
        for (int i = 0; i < 8; i++)
            cr_expect_eq(c.line[slot[i]].present != 0, times[i] <= now, "fill %d at %lld", i, (long long)now);
    }
    cr_expect_eq(cache_next_fill(&c), CACHE_UNKNOWN);
    cr_expect_eq(c.mshr_used, 0);
    cache_free(&c);
}

/* A failing allocation is an error that can be cleaned up after. */
Test(cache, out_of_memory) {
    const cache_level desc = level_of(4, 4, REPLACE_LRU);
    for (size_t n = 1; n <= 5; n++) {
        cache c;
        message m = {{0}};
        mem_fail_after(n);
        cr_expect_eq(cache_init(&c, &desc, 1, &m), ERR_MEMORY, "allocation %zu", n);
        mem_fail_after(0);
        cr_expect(strstr(m.text, "test") != NULL);
        cache_free(&c);
    }
}

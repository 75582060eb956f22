/* Checked arithmetic, sizes in words, the generator. */
#include "base/num.h"

#include <criterion/criterion.h>
#include <string.h>

Test(num, overflow_is_seen) {
    uint64_t u = 0;
    int64_t i = 0;
    cr_expect(mul_u64(UINT64_C(1) << 32, UINT32_MAX, &u) && u == UINT64_C(0xffffffff00000000));
    cr_expect_not(mul_u64(UINT64_C(1) << 32, UINT64_C(1) << 32, &u));
    cr_expect(add_u64(UINT64_MAX - 1, 1, &u) && u == UINT64_MAX);
    cr_expect_not(add_u64(UINT64_MAX, 1, &u));
    cr_expect(mul_i64(INT64_MIN / 2, 2, &i) && i == INT64_MIN);
    cr_expect_not(mul_i64(INT64_MIN, -1, &i));
    cr_expect_not(mul_i64(INT64_C(1) << 62, 2, &i));
    cr_expect(add_i64(INT64_MAX, INT64_MIN, &i) && i == -1);
    cr_expect_not(add_i64(INT64_MIN, -1, &i));
}

Test(num, quotients_round_up) {
    cr_expect_eq(ceil_div(0, 7), 0);
    cr_expect_eq(ceil_div(1, 7), 1);
    cr_expect_eq(ceil_div(7, 7), 1);
    cr_expect_eq(ceil_div(8, 7), 2);
    cr_expect_eq(ceil_div(UINT64_MAX, 1), UINT64_MAX);
    cr_expect_eq(ceil_div(UINT64_MAX, 2), UINT64_C(1) << 63, "a + b - 1 would overflow");
}

Test(num, digits_in_groups) {
    static const struct {
        uint64_t value;
        const char *text;
    } rows[] = {
        {0, "0"},
        {7, "7"},
        {999, "999"},
        {1000, "1 000"},
        {12345, "12 345"},
        {100000, "100 000"},
        {12345678, "12 345 678"},
        {UINT64_MAX, "18 446 744 073 709 551 615"},
    };
    char text[40];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_str_eq(format_grouped(text, sizeof text, rows[i].value), rows[i].text);
    for (size_t size = 1; size <= 12; size++) { /* too small a buffer is filled, not overrun */
        memset(text, '#', sizeof text);
        format_grouped(text, size, 12345678);
        cr_expect_lt(strlen(text), size);
        cr_expect_eq(text[size], '#');
    }
}

Test(num, bytes_in_words) {
    static const struct {
        uint64_t value;
        const char *text;
    } rows[] = {
        {0, "0 B"},
        {1, "1 B"},
        {1000, "1000 B"},
        {1024, "1 KiB"},
        {1536, "1536 B"},
        {6291456, "6 MiB"},
        {117760, "115 KiB"},
        {UINT64_C(5) << 30, "5 GiB"},
        {1048577, "1048577 B"},
        {UINT64_C(1) << 40, "1024 GiB"},
    };
    char text[40];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_str_eq(format_bytes(text, sizeof text, rows[i].value), rows[i].text);
}

Test(num, bytes_from_words) {
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {
        {"48 KiB", 49152},
        {"6MiB", 6291456},
        {"20 GB", UINT64_C(20000000000)},
        {"128", 128},
        {"  7 B", 7},
        {"0", 0},
        {"3 kB", 3000},
        {"3 KB", 3000},
        {"2 TiB", UINT64_C(2) << 40},
        {"1   MB", 1000000},
        {"18014398509481983 KiB", (UINT64_MAX >> 10) << 10},
    };
    static const char *const bad[] = {"",
                                      " ",
                                      "KiB",
                                      "-1",
                                      "+1",
                                      "1.5 KiB",
                                      "1 kib",
                                      "1 KiB ",
                                      "1 KiBs",
                                      "1 XB",
                                      "0x10",
                                      "18014398509481984 KiB",
                                      "18446744073709551616",
                                      "99999999999999999999999"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t value = 1;
        cr_expect(parse_bytes(good[i].text, &value), "%s", good[i].text);
        cr_expect_eq(value, good[i].value, "%s: %llu", good[i].text, (unsigned long long)value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t value = 0;
        cr_expect_not(parse_bytes(bad[i], &value), "'%s' was read as %llu", bad[i], (unsigned long long)value);
    }
}

/* What is written can be read again. */
Test(num, bytes_there_and_back) {
    prng g = {11};
    for (int i = 0; i < 2000; i++) {
        const uint64_t value = prng_next(&g) >> prng_below(&g, 64) << prng_below(&g, 12);
        char text[40];
        uint64_t again = ~value;
        if (value < UINT64_C(10000000000000000000)) {
            cr_assert(parse_bytes(format_bytes(text, sizeof text, value), &again), "%s", text);
            cr_assert_eq(again, value, "%s", text);
        }
    }
}

/* The published test vector of splitmix64 for seed 1234567 (Rosetta Code, "Pseudo-random numbers/Splitmix64"). */
Test(num, generator) {
    static const uint64_t vector[] = {UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
                                      UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
                                      UINT64_C(16408922859458223821)};
    prng g = {1234567};
    for (size_t i = 0; i < 5; i++)
        cr_expect_eq(prng_next(&g), vector[i]);
    uint32_t seen[7] = {0};
    for (int i = 0; i < 7000; i++) {
        const uint64_t n = prng_below(&g, 7);
        cr_assert_lt(n, 7);
        seen[n]++;
    }
    for (int i = 0; i < 7; i++) /* 1000 expected, standard deviation 29 */
        cr_expect(seen[i] > 850 && seen[i] < 1150, "%d came %u times", i, seen[i]);
    cr_expect_eq(prng_below(&g, 1), 0);
}

/* Allocation, growing arrays, the arena, and failing on demand. */
#include "base/mem.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

Test(mem, zeroed_and_checked) {
    uint64_t *p = mem_zero(1000, sizeof *p);
    cr_assert_not_null(p);
    for (int i = 0; i < 1000; i++)
        cr_assert_eq(p[i], 0);
    mem_free(p);
    cr_expect_null(mem_zero(SIZE_MAX / 2, 3), "the product overflows");
    void *none = mem_zero(0, 8);
    cr_expect_not_null(none, "nothing is not a failure");
    mem_free(none);
    mem_free(NULL);
}

Test(mem, resize) {
    uint32_t *p = mem_resize(NULL, 4, sizeof *p);
    cr_assert_not_null(p);
    for (uint32_t i = 0; i < 4; i++)
        p[i] = i * 7;
    cr_expect_null(mem_resize(p, SIZE_MAX / 2, 4), "the product overflows");
    for (uint32_t i = 0; i < 4; i++)
        cr_expect_eq(p[i], i * 7, "the old array is as it was");
    p = mem_resize(p, 4000, sizeof *p);
    cr_assert_not_null(p);
    for (uint32_t i = 0; i < 4; i++)
        cr_expect_eq(p[i], i * 7);
    mem_free(p);
}

/* Doubling: n elements take about log2 n moves; what was there stays. */
Test(mem, reserve) {
    void *data = NULL;
    size_t capacity = 0, moves = 0;
    for (uint32_t n = 1; n <= 10000; n++) {
        const size_t before = capacity;
        cr_assert(mem_reserve(&data, &capacity, n, sizeof(uint32_t)));
        cr_assert_geq(capacity, n);
        moves += capacity != before;
        ((uint32_t *)data)[n - 1] = n;
    }
    for (uint32_t n = 1; n <= 10000; n++)
        cr_assert_eq(((uint32_t *)data)[n - 1], n);
    cr_expect_leq(moves, 14);
    const size_t full = capacity;
    void *const at = data;
    mem_fail_after(1);
    cr_expect_not(mem_reserve(&data, &capacity, full + 1, sizeof(uint32_t)));
    mem_fail_after(0);
    cr_expect(capacity == full && data == at, "a failure changes nothing");
    cr_expect_not(mem_reserve(&data, &capacity, SIZE_MAX, sizeof(uint32_t)));
    cr_expect_not(mem_reserve(&data, &capacity, SIZE_MAX / 2, sizeof(uint32_t)));
    cr_expect(capacity == full && data == at);
    mem_free(data);
}

Test(mem, the_nth_allocation_fails) {
    for (size_t n = 1; n <= 5; n++) {
        mem_fail_after(n);
        for (size_t i = 1; i <= 6; i++) {
            void *p = i % 2 ? mem_zero(1, 8) : mem_resize(NULL, 1, 8);
            cr_expect_eq(p == NULL, i == n, "failure %zu, allocation %zu", n, i);
            mem_free(p);
        }
    }
    mem_fail_after(1);
    mem_fail_after(0);
    void *p = mem_zero(1, 1);
    cr_expect_not_null(p, "switched off");
    mem_free(p);
}

/* Many objects of all sizes: zeroed, aligned for any type, apart from each other. */
Test(arena, objects) {
    arena a = {0};
    unsigned char *object[400];
    size_t size[400];
    for (size_t i = 0; i < 400; i++) {
        size[i] = i * i % 977 + (i % 50 == 7 ? 40000 : 0);
        object[i] = arena_alloc(&a, size[i]);
        cr_assert_not_null(object[i]);
        cr_assert_eq((uintptr_t)object[i] % _Alignof(max_align_t), 0);
        for (size_t b = 0; b < size[i]; b++)
            cr_assert_eq(object[i][b], 0);
        memset(object[i], (int)(i % 255) + 1, size[i]);
    }
    for (size_t i = 0; i < 400; i++)
        for (size_t b = 0; b < size[i]; b++)
            cr_assert_eq(object[i][b], i % 255 + 1, "object %zu was written over", i);
    arena_free(&a);
    cr_expect_null(a.chunks);
    arena_free(&a);
}

Test(arena, strings_and_failures) {
    arena a = {0};
    char text[] = "level 'L2'";
    char *copy = arena_string(&a, text);
    cr_assert_not_null(copy);
    text[0] = '?';
    cr_expect_str_eq(copy, "level 'L2'");
    cr_expect_str_eq(arena_string(&a, ""), "");
    cr_expect_null(arena_alloc(&a, SIZE_MAX - 8));
    mem_fail_after(1);
    cr_expect_null(arena_alloc(&a, 1 << 20));
    mem_fail_after(0);
    cr_expect_not_null(arena_alloc(&a, 1 << 20), "a failure does not spoil the arena");
    cr_expect_str_eq(copy, "level 'L2'");
    arena_free(&a);
}

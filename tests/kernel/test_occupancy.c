#include "fixture.h"
#include "kernel/occupancy.h"

#include <criterion/criterion.h>
#include <string.h>

typedef struct fit {
    uint32_t threads, registers, shared;
    uint32_t blocks, warps;
    resource limit;
} fit;

/* CUDA's occupancy calculator for compute capability 8.0. */
Test(occupancy, known_answers) {
    static const fit cases[] = {
        {256, 32, 0, 8, 64, RESOURCE_WARPS},      {256, 33, 0, 6, 48, RESOURCE_REGISTERS},
        {256, 40, 0, 6, 48, RESOURCE_REGISTERS},  {256, 255, 0, 1, 8, RESOURCE_REGISTERS},
        {32, 16, 0, 32, 32, RESOURCE_BLOCKS},     {128, 32, 4224, 16, 64, RESOURCE_WARPS},
        {128, 32, 49152, 3, 12, RESOURCE_SHARED}, {1024, 64, 0, 1, 32, RESOURCE_REGISTERS},
        {33, 32, 0, 32, 64, RESOURCE_WARPS},      {96, 40, 0, 16, 48, RESOURCE_REGISTERS},
    };
    machine mach = fixture_machine();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kernel k = {
            .block_threads = cases[i].threads, .registers = cases[i].registers, .shared_bytes = cases[i].shared};
        occupancy_result r;
        message m;
        cr_assert_eq(occupancy(&mach, &k, &r, &m), OK, "case %zu: %s", i, m.text);
        cr_expect_eq(r.blocks, cases[i].blocks, "case %zu: %u blocks", i, r.blocks);
        cr_expect_eq(r.warps, cases[i].warps, "case %zu: %u warps", i, r.warps);
        cr_expect_eq(r.limit, cases[i].limit, "case %zu: %s", i, resource_name(r.limit));
    }
}

Test(occupancy, says_what_does_not_fit) {
    static const struct {
        kernel k;
        const char *word;
    } cases[] = {
        {{.name = "k", .block_threads = 1025, .registers = 16}, "threads"},
        {{.name = "k", .block_threads = 0, .registers = 16}, "threads"},
        {{.name = "k", .block_threads = 32, .registers = 256}, "registers"},
        {{.name = "k", .block_threads = 1024, .registers = 80}, "registers"},
        {{.name = "k", .block_threads = 32, .registers = 16, .shared_bytes = 167937}, "shared memory"},
        {{.name = "k", .block_threads = 32, .registers = 16, .shared_bytes = UINT32_MAX}, "shared memory"},
    };
    machine mach = fixture_machine();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        occupancy_result r;
        message m = {""};
        cr_expect_eq(occupancy(&mach, &cases[i].k, &r, &m), ERR_INPUT, "case %zu", i);
        cr_expect(strstr(m.text, cases[i].word), "case %zu: %s", i, m.text);
    }
    mach.core.max_warps = 16;
    kernel k = {.block_threads = 1024, .registers = 16};
    occupancy_result r;
    message m = {""};
    cr_expect_eq(occupancy(&mach, &k, &r, &m), ERR_INPUT);
    cr_expect(strstr(m.text, "warps"));
}

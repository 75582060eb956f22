/* What one warp did and when, and local memory. */
#include "fixture.h"

#include <criterion/criterion.h>

enum { EVENTS = 16 };

/* load; use; load; use on the fixture machine: DRAM answers after 313 cycles, then the line is in the L1 (20 cycles).
 */
Test(timeline, of_one_warp) {
    const machine mach = fixture_machine();
    kernel k = fixture_kernel(4, 64);
    const place at = {.per_thread = 4, .per_block = 4096};
    add_memory(&k, OP_LOAD, 1, 0, 4, at);
    add_op(&k, OP_FP32, 2, 1);
    add_memory(&k, OP_LOAD, 3, 2, 4, at);
    add_op(&k, OP_FP32, 4, 3);
    add_op(&k, OP_EXIT, 0, 0);
    timeline_event event[EVENTS];
    timeline line = {.block = 0, .warp = 0, .event = event, .capacity = EVENTS};
    sim_result r, without;
    message m = {{0}};
    sim_options o = {.threads = 1, .check = true};
    cr_assert_eq(sim_run(&mach, &k, &o, &without, &m), OK, "%s", m.text);
    o.line = &line;
    cr_assert_eq(sim_run(&mach, &k, &o, &r, &m), OK, "%s", m.text);
    cr_expect_eq(r.checksum, without.checksum, "looking changes nothing");
    cr_assert_eq(line.count, 5);
    for (uint32_t i = 0; i < line.count; i++)
        cr_expect_eq(event[i].pc, i);
    cr_expect_eq(event[0].cycle, 0);
    cr_expect_eq(event[1].cycle, event[0].ready, "the use issues when the load is there");
    cr_expect_geq(event[0].ready, 313);
    cr_expect_eq(event[1].stall[STALL_LONG_SCOREBOARD], event[1].cycle - 1);
    cr_expect_eq(event[1].ready, event[1].cycle + 4);
    cr_expect_eq(event[2].stall[STALL_WAIT], 3);
    cr_expect_eq(event[2].ready, event[2].cycle + 20);
    cr_expect_eq(event[4].ready, -1, "EXIT has no result");
    line.capacity = 2;
    line.count = 0;
    cr_assert_eq(sim_run(&mach, &k, &o, &r, &m), OK, "%s", m.text);
    cr_expect_eq(line.count, 2, "what does not fit is left out");
    kernel_free(&k);
}

/* Local memory is the resident slot's: however many blocks pass, its lines are those of the slots. */
Test(timeline, local_memory_is_reused) {
    machine mach = fixture_machine();
    mach.core.max_blocks = 2;
    kernel k = fixture_kernel(50, 32);
    const place at = {.per_thread = 4, .per_block = 128};
    add_memory(&k, OP_LOAD, 1, 0, 4, at);
    k.accesses[0].space = SPACE_LOCAL;
    const sim_result local = fixture_run(&mach, &k);
    cr_expect_eq(local.dram.read_bytes, 2 * 128, "two slots of one line: %llu",
                 (unsigned long long)local.dram.read_bytes);
    k.accesses[0].space = SPACE_GLOBAL;
    const sim_result global = fixture_run(&mach, &k);
    cr_expect_eq(global.dram.read_bytes, 50 * 128);
    kernel_free(&k);
}

/* One DRAM channel: schedules worked out by hand from the timing parameters, in cycles of 1 ns. */
#include "fixture.h"
#include "sim/dram.h"
#include "sim/tick.h"

#include <criterion/criterion.h>

/* Four banks, rows of 1 KiB, 32 bytes a cycle; tRCD 10, tRP 10, tRAS 30, tRRD 2, tFAW 10, tWR 10, tWTR 5, tRTW 2. */
static machine dram_machine(void) {
    return fixture_machine();
}

static dram_channel make(const machine *mach) {
    dram_channel d;
    message m = {{0}};
    cr_assert_eq(dram_init(&d, mach, &m), OK, "%s", m.text);
    return d;
}

/* Bank and row of a plain (unhashed) address. */
static uint64_t at(const machine *mach, uint64_t bank, uint64_t row, uint64_t column) {
    return (row * mach->dram.banks + bank) * mach->dram.row_bytes + column;
}

/* A read of one burst. */
static void want(dram_channel *d, uint64_t local, int64_t cycle, int32_t who) {
    cr_assert(dram_read(d, local, bytemask_range(0, 32), cycle_to_tick(cycle), who));
}

static void put(dram_channel *d, uint64_t local, int64_t cycle) {
    cr_assert(dram_write(d, local, bytemask_range(0, 32), cycle_to_tick(cycle)));
}

/* The next answer: fails unless it is for `who` and its data end at `cycle`. */
static void expect(dram_channel *d, int32_t who, int64_t cycle) {
    int32_t requester = DRAM_NO_REQUESTER;
    int64_t done = 0;
    bytemask mask = 0;
    do
        cr_assert(dram_step(d, TICK_NEVER, &requester, &mask, &done), "nothing left to decide, %d expected", who);
    while (requester == DRAM_NO_REQUESTER);
    cr_expect_eq(requester, who, "%d answered, not %d", requester, who);
    cr_expect_eq(done, cycle_to_tick(cycle), "request %d is done at %g, not %lld", requester, (double)done / TICKS,
                 (long long)cycle);
}

/* That many answers, in any order, and nothing else. */
static void expect_all(dram_channel *d, int64_t answers) {
    int32_t requester = 0;
    int64_t done = 0;
    bytemask mask = 0;
    while (dram_step(d, TICK_NEVER, &requester, &mask, &done))
        answers -= requester != DRAM_NO_REQUESTER;
    cr_expect_eq(answers, 0);
}

/* Closed row: tRCD, then the burst. Open row: burst after burst. Another row: tRAS after the activate, then tRP, tRCD.
 */
Test(dram, hits_and_misses) {
    const machine mach = dram_machine();
    dram_channel d = make(&mach);
    want(&d, at(&mach, 0, 0, 0), 0, 1);
    want(&d, at(&mach, 0, 0, 32), 0, 2);
    want(&d, at(&mach, 0, 1, 0), 0, 3);
    expect(&d, 1, 11); /* activate 0, column 10 */
    expect(&d, 2, 12);
    expect(&d, 3, 51); /* precharge 30, activate 40, column 50 */
    want(&d, at(&mach, 0, 1, 64), 200, 4);
    expect(&d, 4, 201);
    want(&d, at(&mach, 0, 2, 0), 300, 5);
    expect(&d, 5, 321); /* on its own: precharge 300, activate 310, column 320 */
    cr_expect_eq(d.row_hits, 2);
    cr_expect_eq(d.row_misses, 3);
    cr_expect_eq(d.read_bursts, 5);
    cr_expect_eq(d.busy, cycle_to_tick(5));
    dram_free(&d);
}

/* Activates of different banks: tRRD apart, and no five of them within tFAW. */
Test(dram, activates) {
    machine mach = dram_machine();
    mach.dram.banks = 8;
    mach.dram.t_faw_ns = 14;
    dram_channel d = make(&mach);
    for (uint64_t bank = 0; bank < 8; bank++)
        want(&d, at(&mach, bank, 0, 0), 0, (int32_t)bank);
    /* activates at 0 2 4 6, then 14 16 18 20 */
    static const int64_t done[8] = {11, 13, 15, 17, 25, 27, 29, 31};
    for (int32_t i = 0; i < 8; i++)
        expect(&d, i, done[i]);
    dram_free(&d);
}

/* A young row hit goes before an old conflict, until that has waited DRAM_STARVE_CYCLES. */
Test(dram, row_hits_first) {
    const machine mach = dram_machine();
    dram_channel d = make(&mach);
    want(&d, at(&mach, 0, 0, 0), 0, 1);
    want(&d, at(&mach, 0, 1, 0), 0, 2);
    for (int32_t i = 0; i < 4; i++)
        want(&d, at(&mach, 0, 0, 32 + 32 * (uint64_t)i), 1, 10 + i);
    expect(&d, 1, 11);
    for (int32_t i = 0; i < 4; i++)
        expect(&d, 10 + i, 12 + i);
    expect(&d, 2, 51);
    dram_free(&d);

    d = make(&mach);
    want(&d, at(&mach, 0, 0, 0), 0, 1);
    expect(&d, 1, 11);
    want(&d, at(&mach, 0, 1, 0), 20, 2);
    want(&d, at(&mach, 0, 0, 32), 20, 3);
    d.bus_free = cycle_to_tick(20 + DRAM_STARVE_CYCLES + 1);
    int32_t requester = 0;
    int64_t done = 0;
    bytemask mask = 0;
    cr_assert(dram_step(&d, TICK_NEVER, &requester, &mask, &done));
    cr_expect_eq(requester, 2, "the old one is not to starve");
    dram_free(&d);
}

/* Read to write costs tRTW, write to read tWTR after the data, another row after a write tWR before its precharge. */
Test(dram, turnarounds) {
    const machine mach = dram_machine();
    dram_channel d = make(&mach);
    want(&d, at(&mach, 0, 0, 0), 0, 1);
    expect(&d, 1, 11);
    put(&d, at(&mach, 0, 0, 32), 11); /* 13 .. 14 */
    expect_all(&d, 0);
    cr_expect_eq(d.bus_free, cycle_to_tick(14));
    cr_expect_eq(d.turnarounds, 1);
    want(&d, at(&mach, 0, 0, 64), 14, 2); /* not before 14 + 5 */
    expect(&d, 2, 20);
    cr_expect_eq(d.turnarounds, 2);
    put(&d, at(&mach, 0, 0, 96), 100); /* 100 .. 101: tRTW has passed */
    expect_all(&d, 0);
    cr_expect_eq(d.bus_free, cycle_to_tick(101));
    want(&d, at(&mach, 0, 1, 0), 101, 3); /* precharge 101 + 10, activate 121, column 131 */
    expect(&d, 3, 132);
    cr_expect_eq(d.write_bursts, 2);
    cr_expect_eq(d.turnarounds, 4);
    dram_free(&d);
}

/* Writes wait for reads to run out, or for write_queue_high = 8 of them; then they go down to write_queue_low = 2. */
Test(dram, writes_in_batches) {
    const machine mach = dram_machine();
    dram_channel d = make(&mach);
    for (uint64_t i = 0; i < 7; i++)
        put(&d, at(&mach, 0, 0, 32 * i), 0);
    want(&d, at(&mach, 0, 0, 512), 0, 1);
    expect(&d, 1, 11); /* seven writes do not keep a read waiting */
    cr_expect_eq(d.write_bursts, 0);
    put(&d, at(&mach, 0, 0, 224), 11);
    want(&d, at(&mach, 0, 0, 544), 11, 2);
    expect(&d, 2, 25); /* eight do: six go, 13 .. 19, then tWTR */
    cr_expect_eq(d.write_bursts, 6);
    expect_all(&d, 0);
    cr_expect_eq(d.write_bursts, 8);
    dram_free(&d);
}

/* Refresh at tREFI closes all rows and takes tRFC. */
Test(dram, refresh) {
    machine mach = dram_machine();
    mach.dram.t_refi_ns = 100;
    mach.dram.t_rfc_ns = 20;
    dram_channel d = make(&mach);
    want(&d, at(&mach, 0, 0, 0), 0, 1);
    expect(&d, 1, 11);
    want(&d, at(&mach, 0, 0, 32), 99, 2);
    expect(&d, 2, 100); /* just before: a row hit */
    want(&d, at(&mach, 0, 0, 64), 110, 3);
    expect(&d, 3, 131); /* refreshed from 100 to 120, activate 120, column 130 */
    cr_expect_eq(d.refreshes, 1);
    want(&d, at(&mach, 0, 0, 96), 250, 4);
    expect(&d, 4, 261); /* the second refresh was over long before */
    cr_expect_eq(d.refreshes, 2);
    dram_free(&d);
}

/* As many bursts as the mask touches; nothing is decided at or after the limit. */
Test(dram, bursts_and_limit) {
    const machine mach = dram_machine();
    dram_channel d = make(&mach);
    cr_assert(dram_read(&d, 0, bytemask_range(0, 4) | bytemask_range(60, 8), 0, 1)); /* bursts 0, 1 and 2 */
    int32_t requester = 0;
    int64_t done = 0;
    bytemask mask = 0;
    cr_expect_not(dram_step(&d, 0, &requester, &mask, &done));
    cr_expect(dram_step(&d, 1, &requester, &mask, &done));
    cr_expect_eq(done, cycle_to_tick(13));
    cr_expect_eq(d.read_bursts, 3);
    cr_expect(mask == (bytemask_range(0, 4) | bytemask_range(60, 8)));
    dram_free(&d);
}

/* Without write masks (ECC) a burst of which only some bytes are new is read first. */
Test(dram, partial_writes_with_ecc) {
    machine mach = dram_machine();
    for (int masked = 0; masked < 2; masked++) {
        mach.dram.masked_writes = masked;
        dram_channel d = make(&mach);
        cr_assert(dram_write(&d, 0, bytemask_range(0, 40), 0)); /* burst 0 whole, 8 bytes of burst 1 */
        expect_all(&d, 0);
        cr_expect_eq(d.write_bursts, 2);
        cr_expect_eq(d.read_bursts, masked ? 0 : 1);
        cr_expect_eq(d.write_requests, 1);
        dram_free(&d);
    }
}

/* A stream over one row runs at the peak rate but for its one activate. */
Test(dram, streams_at_peak) {
    const machine mach = dram_machine();
    dram_channel d = make(&mach);
    for (int32_t i = 0; i < 32; i++)
        want(&d, at(&mach, 0, 0, 32 * (uint64_t)i), 0, i);
    for (int32_t i = 0; i < 32; i++)
        expect(&d, i, 11 + i);
    cr_expect_eq(d.row_hits, 31);
    dram_free(&d);
}

/* Far more reads than the controller looks at, each to another row and four to a bank one after the other. In order,
 * every bank would be waited for; FR-FCFS keeps all four busy, one row in tRAS + tRP = 40 cycles each, however long the
 * requests have waited: a long queue is no reason to serve it worse. */
Test(dram, long_queues_are_served_as_well) {
    const machine mach = dram_machine();
    const int64_t reads = 2000;
    dram_channel d = make(&mach);
    for (int64_t i = 0; i < reads; i++)
        want(&d, at(&mach, (uint64_t)i / 4 % 4, (uint64_t)i, 0), 0, (int32_t)i);
    expect_all(&d, reads);
    const int64_t cycles = tick_to_cycle(dram_busy_until(&d));
    cr_expect_leq(cycles, reads * 10 * 102 / 100, "%lld cycles", (long long)cycles);
    cr_expect_geq(cycles, (reads - 4) * 10, "%lld cycles", (long long)cycles);
    cr_expect_gt(cycles, 4 * DRAM_STARVE_CYCLES);
    dram_free(&d);
}

#include "fixture.h"
#include "sim/crossbar.h"
#include "sim/tick.h"

#include <criterion/criterion.h>

/* Two channels of 256 B; the L2 of the fixture is 100 cycles away, its L1 20: 40 cycles to the partition. */
static crossbar_port port_of(machine *mach, uint32_t slice_queue) {
    *mach = fixture_machine();
    mach->channels = 2;
    mach->interleave_bytes = 256;
    mach->fabric.slice_queue = slice_queue;
    crossbar_port x = {0};
    message m = {0};
    cr_assert_eq(crossbar_init(&x, mach, &m), OK, "%s", m.text);
    cr_assert_eq(x.forward_ticks, cycle_to_tick(40));
    return x;
}

static void send(crossbar_port *x, uint32_t channel, int64_t cycle) {
    const mem_request r = {.time = cycle_to_tick(cycle), .address = channel * 256u, .mask = 1};
    cr_assert(crossbar_send(x, &r) && crossbar_drain(x));
}

static void expect(const crossbar_port *x, uint32_t channel, size_t count, int64_t last_cycle) {
    const request_list *l = &x->to[channel];
    cr_assert_eq(l->count, count, "%zu requests to channel %u", l->count, channel);
    cr_assert_eq(l->item[count - 1].time, cycle_to_tick(last_cycle), "tick %lld", (long long)l->item[count - 1].time);
}

Test(crossbar, head_of_line_blocks) {
    machine mach;
    crossbar_port x = port_of(&mach, 2);
    send(&x, 0, 100);
    send(&x, 0, 101);
    send(&x, 0, 102); /* no third credit for channel 0 ... */
    send(&x, 1, 103); /* ... and nobody passes the request that waits for one */
    send(&x, 0, 104);
    expect(&x, 0, 2, 101);
    cr_assert_eq(x.to[1].count, 0);
    cr_assert(!crossbar_idle(&x));

    crossbar_credit(&x, 0, 200); /* at the cores; 40 cycles to the partition */
    cr_assert(crossbar_drain(&x));
    expect(&x, 0, 3, 240);
    expect(&x, 1, 1, 240); /* freed with it, and in order */

    crossbar_credit(&x, 0, 210);
    crossbar_credit(&x, 0, 205); /* from another slice of the channel: comes home behind the other */
    cr_assert(crossbar_drain(&x));
    expect(&x, 0, 4, 250);
    send(&x, 0, 242);
    expect(&x, 0, 5, 250);
    send(&x, 1, 260);
    expect(&x, 1, 2, 260);
    cr_assert_eq(x.waiting.count, 0);
    crossbar_free(&x);
}

Test(crossbar, no_limit) {
    machine mach;
    crossbar_port x = port_of(&mach, 0);
    for (int i = 0; i < 100; i++)
        send(&x, 0, i);
    expect(&x, 0, 100, 99);
    crossbar_free(&x);
}

/* One warp loads eight lines of channel 0, then one of channel 1, and works 800 cycles on what that brings. One credit
 * a channel comes back after the round trip of 100 cycles, so that the ninth load enters with the eighth, 700 cycles
 * after the first; without a limit it enters when it issues. */
Test(crossbar, a_hot_channel_holds_up_the_others) {
    machine mach = fixture_machine();
    mach.channels = 2;
    mach.level[1].slices = 2;
    int64_t cycles[2];
    for (uint32_t queue = 0; queue < 2; queue++) {
        mach.fabric.slice_queue = queue;
        kernel k = fixture_kernel(1, 32);
        for (int i = 0; i < 8; i++)
            add_memory(&k, OP_LOAD, (uint8_t)(2 + i), 0, 4, (place){.base = (1 << 20) + i * 512, .per_thread = 4});
        add_memory(&k, OP_LOAD, 1, 0, 4, (place){.base = (1 << 20) + 256, .per_thread = 4});
        for (int i = 0; i < 200; i++)
            add_op(&k, OP_INT, 1, 1);
        const sim_result r = fixture_run(&mach, &k);
        cycles[queue] = (int64_t)r.cycles;
        kernel_free(&k);
    }
    const int64_t issue = 8; /* the ninth load issues so many cycles after the first */
    cr_assert_eq(cycles[1] - cycles[0], 700 - issue, "%lld", (long long)(cycles[1] - cycles[0]));
}

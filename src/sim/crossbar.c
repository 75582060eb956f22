#include "sim/crossbar.h"

#include "base/mem.h"
#include "sim/tick.h"

#include <string.h>

status crossbar_init(crossbar_port *x, const machine *mach, message *m) {
    *x = (crossbar_port){
        .mach = mach,
        .forward_ticks = partition_forward_ticks(mach),
        .queue = mach->fabric.slice_queue,
        .last = INT64_MIN,
    };
    x->to = mem_zero(mach->channels, sizeof *x->to);
    x->credits = mem_zero(mach->channels, sizeof *x->credits);
    bool ok = x->to && x->credits;
    for (uint32_t i = 0; ok && x->queue && i < mach->channels; i++) {
        x->credits[i].tick = mem_zero(x->queue, sizeof *x->credits[i].tick);
        x->credits[i].count = x->queue;
        ok = x->credits[i].tick;
    }
    return ok ? OK : fail(m, ERR_MEMORY, "not enough memory for a crossbar to %u channels", mach->channels);
}

void crossbar_free(crossbar_port *x) {
    for (uint32_t i = 0; x->mach && i < x->mach->channels; i++) {
        if (x->to)
            mem_free(x->to[i].item);
        if (x->credits)
            mem_free(x->credits[i].tick);
    }
    mem_free(x->to);
    mem_free(x->credits);
    mem_free(x->waiting.item);
}

bool crossbar_send(crossbar_port *x, const mem_request *r) {
    return request_list_push(x->queue ? &x->waiting : &x->to[partition_of(x->mach, r->address)], r);
}

void crossbar_credit(crossbar_port *x, uint32_t channel, int64_t cycle) {
    struct crossbar_credits *c = &x->credits[channel];
    int64_t tick = cycle_to_tick(cycle) + x->forward_ticks;
    if (c->count) {
        const int64_t before = c->tick[(c->first + c->count - 1) % x->queue];
        tick = tick > before ? tick : before;
    }
    c->tick[(c->first + c->count++) % x->queue] = tick;
}

/* The requests that are left move to the front of the list, so that it does not grow for ever. */
static void close_ranks(request_list *l) {
    l->count -= l->next;
    if (l->count) /* an empty list may have no room yet */
        memmove(l->item, l->item + l->next, l->count * sizeof *l->item);
    l->next = 0;
}

bool crossbar_drain(crossbar_port *x) {
    request_list *l = &x->waiting;
    for (; l->next < l->count; l->next++) {
        mem_request *r = &l->item[l->next];
        const uint32_t p = partition_of(x->mach, r->address);
        struct crossbar_credits *c = &x->credits[p];
        if (!c->count)
            break;
        const int64_t ready = c->tick[c->first];
        c->first = (c->first + 1) % x->queue;
        c->count--;
        if (ready > x->last)
            x->last = ready;
        if (r->time > x->last)
            x->last = r->time;
        r->time = x->last;
        if (!request_list_push(&x->to[p], r))
            return false;
    }
    close_ranks(l);
    return true;
}

bool crossbar_idle(const crossbar_port *x) {
    if (x->waiting.count)
        return false;
    for (uint32_t p = 0; p < x->mach->channels; p++)
        if (x->to[p].count)
            return false;
    return true;
}

/* crossbar.h - one cluster's port into the crossbar to the memory partitions.
 *
 * Requests enter in order. At most fabric.slice_queue of a cluster's requests may be under way to one partition or wait
 * there for its first level; the partition gives a credit back for each when it begins with it. A request without a
 * credit waits, and so does everything behind it, whichever partition that is for: head-of-line blocking, as in any
 * switch with input queues (Karol, Hluchyj and Morgan 1987). slice_queue 0: no limit.
 *
 * The queue lets a hot slice slow the traffic of the others down; the other limits, MSHRs and store credits, do not.
 */
#ifndef COALIGN_SIM_CROSSBAR_H
#define COALIGN_SIM_CROSSBAR_H

#include "sim/partition.h"

typedef struct crossbar_port {
    const machine *mach;
    int64_t forward_ticks; /* from a core's first-level lookup to the partition */
    uint32_t queue;        /* credits a partition; 0: no limit */
    request_list waiting;
    int64_t last;             /* no request overtakes the one before: the arrival of the last one sent */
    struct crossbar_credits { /* per partition: when each credit that is home may arrive at the partition again */
        int64_t *tick;        /* a ring */
        uint32_t first, count;
    } * credits;
    request_list *to; /* per partition: sent, each list in order of time */
} crossbar_port;

status crossbar_init(crossbar_port *x, const machine *mach, message *m);
void crossbar_free(crossbar_port *x);

/* r->time: arrival at the partition if nothing is in the way; not before that of the last one. False: no memory. */
bool crossbar_send(crossbar_port *x, const mem_request *r);
/* A credit of this channel's partition is back at the cores at `cycle`; credits come home in order. */
void crossbar_credit(crossbar_port *x, uint32_t channel, int64_t cycle);
/* Sends what the credits of now allow. False: no memory. */
bool crossbar_drain(crossbar_port *x);
/* Nothing waits and nothing that was sent is still to be taken. */
bool crossbar_idle(const crossbar_port *x);

#endif

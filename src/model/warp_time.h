/* warp_time.h - the shortest time that one warp can need, alone on its core.
 *
 * In-order issue with a scoreboard, as in sim/core.h: an instruction waits for its registers and its pipe, loads answer
 * after a given time each, stores are not waited for. A loop is followed turn by turn until a turn leaves the
 * scoreboard, seen from its end, as the turn before did: from then on every turn takes what that one took. So a loop of
 * 2^40 turns costs a few.
 */
#ifndef COALIGN_MODEL_WARP_TIME_H
#define COALIGN_MODEL_WARP_TIME_H

#include "base/status.h"
#include "kernel/ir.h"
#include "machine/machine.h"

#include <stdint.h>

/* Cycles from the warp's start to its end, no exit test taken. load_cycles[i]: from issue to use of the load that is
 * instruction i of k->code; 0: it has no active lane and takes its class's latency. A result beyond 2^62 cycles is cut
 * there. ERR_MEMORY. */
status warp_time(const machine *mach, const kernel *k, const uint32_t *load_cycles, uint64_t *cycles, message *m);

#endif

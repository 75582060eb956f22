/* team.h - a barrier for a team of host threads that meet hundreds of thousands of times a second.
 *
 * Waits by spinning for about ten microseconds, then by giving up its processor between looks, so that a run also gets
 * on where other programs hold the processors. (OpenMP's own barrier spins for milliseconds there.)
 */
#ifndef COALIGN_SIM_TEAM_H
#define COALIGN_SIM_TEAM_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct team {
    uint32_t size;
    atomic_uint arrived, round;
} team;

/* Returns when all `size` members have called it; what they wrote before is visible to all after. */
void team_wait(team *t);

#endif

/* steady.h - the steady part of a run: what a longer run counts beyond a shorter one that begins alike. */
#ifndef COALIGN_SIM_STEADY_H
#define COALIGN_SIM_STEADY_H

#include "sim/sim.h"

/* Takes from *run's time and counters those of *warm. Shares (busy ...) stay those of the whole run. */
void steady_difference(const machine *mach, sim_result *run, const sim_result *warm);

#endif

/* cpu_engine.h - a run on a CPU: the same quantum scheme as engine.c, between cores and the shared side of each
 * channel.
 *
 * Block b of the kernel is a thread; it runs on core b modulo the number of cores. Sampling does not apply: every
 * instruction is simulated.
 */
#ifndef COALIGN_SIM_CPU_ENGINE_H
#define COALIGN_SIM_CPU_ENGINE_H

#include "sim/sim.h"

/* As sim_run, for machines of kind MACHINE_CPU. */
status cpu_run(const machine *mach, const kernel *k, const sim_options *options, sim_result *result, message *m);

#endif

/* mix.h - in which order the instructions of an isa_mix come: every class evenly spread over the piece. */
#ifndef COALIGN_KERNEL_MIX_H
#define COALIGN_KERNEL_MIX_H

#include "machine/machine.h"

/* All instructions of the piece. */
uint32_t mix_count(const isa_mix *mix);

/* The class of the next one, after emitted[] of each and `done` in all, of `count`: the one furthest behind its even
 * share. */
op_class mix_next(const isa_mix *mix, const uint32_t emitted[OP_CLASS_COUNT], uint32_t done, uint32_t count);

#endif

/* sample.h - when has a run become steady, and what does that say about the rest of it?
 *
 * The run is cut into batches of equal numbers of finished blocks; when there are SAMPLE_BATCHES of them, neighbours
 * are joined and the batch doubles, so memory is fixed and the batch grows with the run (method of batch means; Law and
 * Kelton, Simulation Modeling and Analysis). The first quarter is always discarded as warm-up, and so is
 * everything until the caches are warm: until hardly any line is placed in an empty way. The rest is steady when
 *   - the 95 % confidence interval of the mean batch time, from SAMPLE_GROUPS groups, is within SAMPLE_PERMILLE of it,
 * and
 *   - its two halves differ by no more than that.
 * Then no new block is started, those under way run to their end, and the blocks left out are taken to need the mean.
 */
#ifndef COALIGN_SIM_SAMPLE_H
#define COALIGN_SIM_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

enum { SAMPLE_BATCHES = 64, SAMPLE_GROUPS = 8, SAMPLE_PERMILLE = 20 };

typedef struct sampler {
    uint64_t batch;                         /* blocks */
    uint64_t finished;                      /* blocks so far */
    uint32_t marks;                         /* batches completed */
    int64_t cycle[SAMPLE_BATCHES + 1];      /* at the end of batch i (0: start) */
    uint64_t allocated[SAMPLE_BATCHES + 1]; /* lines placed by device-scope caches up to then */
    uint64_t cold[SAMPLE_BATCHES + 1];      /* of those, in empty ways */
    bool steady;
    double block_cycles;      /* mean time between two finished blocks */
    double block_cycles_half; /* half width of its 95 % confidence interval */
} sampler;

/* `resident`: blocks that the whole device holds at once; a batch is never smaller. */
void sampler_init(sampler *s, uint64_t resident);

/* One more block finished, at `cycle`; allocated and cold are the counts at about that time. Blocks must come in order
 * of time. Sets s->steady once the run is. */
void sampler_note(sampler *s, int64_t cycle, uint64_t allocated, uint64_t cold);

#endif

/* progress.h - a line on the terminal that says how far a run is. Silent when stderr is no terminal. */
#ifndef COALIGN_CMD_PROGRESS_H
#define COALIGN_CMD_PROGRESS_H

#include "cmd/rate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct progress {
    bool on;
    size_t index, count; /* of the case under way, from 0 */
    const char *name;
    rate *all; /* NULL, or what is shown instead: the job that this run is a part of */
} progress;

progress progress_start(size_t count, bool quiet);

/* sim_options.progress: context is the progress. Non-zero after Ctrl-C. */
int progress_show(void *context, uint64_t done, uint64_t total);

/* Removes the line. */
void progress_clear(const progress *p);

#endif

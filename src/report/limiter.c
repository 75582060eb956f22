#include "report/limiter.h"

#include <math.h>
#include <stdio.h>

static const char *const kind_names[] = {
#define X(id, name) name,
    LIMIT_LIST(X)
#undef X
};

const char *limiter_name(const run_record *r, uint32_t which) {
    const limiter *l = &r->sim.limit[which];
    if (l->kind == LIMIT_LEVEL && l->level < r->mach->level_count)
        return r->mach->level[l->level].name;
    return kind_names[l->kind];
}

static double percent_of(const limiter *l) {
    return fmin(fmax(l->utilisation, 0), 1) * 100;
}

static pipe_id busiest_pipe(const run_record *r) {
    pipe_id best = PIPE_ALU;
    for (int p = 0; p < PIPE_COUNT; p++)
        if (r->sim.pipe_busy[p] > r->sim.pipe_busy[best])
            best = (pipe_id)p;
    return best;
}

char *limiter_words(char *buffer, size_t size, const run_record *r) {
    const limiter *first = &r->sim.limit[0], *second = &r->sim.limit[1];
    if (r->sim.cycles == 0) {
        snprintf(buffer, size, "nothing: the kernel is empty");
        return buffer;
    }
    char who[96];
    if (first->kind == LIMIT_LATENCY) {
        snprintf(buffer, size, "latency: no resource is busy enough to be the limit; the busiest is %s (%.0f %%)",
                 limiter_name(r, 1), percent_of(second));
        return buffer;
    }
    pipe_id pipe = busiest_pipe(r);
    if (first->kind == LIMIT_ISSUE)
        snprintf(who, sizeof who, "issue (%.0f %%; busiest pipe %s, %.0f %% on average)", percent_of(first),
                 pipe_name(pipe), fmin(r->sim.pipe_busy[pipe], 1) * 100);
    else
        snprintf(who, sizeof who, "%s (%.0f %%)", limiter_name(r, 0), percent_of(first));
    if (second->kind == LIMIT_LATENCY)
        snprintf(buffer, size, "%s, nothing else is busy", who);
    else
        snprintf(buffer, size, "%s, then %s (%.0f %%), margin %.0f points", who, limiter_name(r, 1), percent_of(second),
                 percent_of(first) - percent_of(second));
    return buffer;
}

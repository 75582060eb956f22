#include "sim/team.h"

#include <sched.h>

enum { SPINS = 4096 };

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

void team_wait(team *t) {
    const unsigned round = atomic_load_explicit(&t->round, memory_order_acquire);
    if (atomic_fetch_add_explicit(&t->arrived, 1, memory_order_acq_rel) + 1 == t->size) {
        atomic_store_explicit(&t->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&t->round, round + 1, memory_order_release);
        return;
    }
    for (unsigned i = 0; atomic_load_explicit(&t->round, memory_order_acquire) == round; i++)
        if (i < SPINS)
            relax();
        else
            sched_yield();
}

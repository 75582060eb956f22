#include "cmd/progress.h"

#include "cmd/interrupt.h"

#include <stdio.h>
#include <unistd.h>

enum { BAR = 24 };

progress progress_start(size_t count, bool quiet) {
    return (progress){.on = !quiet && isatty(STDERR_FILENO), .count = count, .name = ""};
}

int progress_show(void *context, uint64_t done, uint64_t total) {
    const progress *p = context;
    if (p->all)
        rate_step(p->all, 0);
    if (p->on) {
        double part = total ? (double)done / (double)total : 1;
        char bar[BAR + 1] = {0};
        for (int i = 0; i < BAR; i++)
            bar[i] = i < part * BAR ? '#' : '.';
        fprintf(stderr, "\r\033[K[%zu/%zu] %s %3.0f %%  %.40s", p->index + 1, p->count, bar, part * 100, p->name);
        fflush(stderr);
    }
    return interrupt_wanted();
}

void progress_clear(const progress *p) {
    if (p->on)
        fputs("\r\033[K", stderr);
}

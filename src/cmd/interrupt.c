#include "cmd/interrupt.h"

#include <signal.h>
#include <stddef.h>

/* Signal handlers can reach nothing else. */
static volatile sig_atomic_t interrupted, reader_left;

static void on_signal(int number) {
    if (number == SIGPIPE)
        reader_left = 1;
    else
        interrupted = 1;
}

void interrupt_setup(void) {
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGPIPE, &action, NULL);
    /* A file beyond the limit of `ulimit -f` is a failed write too, with its message. */
    signal(SIGXFSZ, SIG_IGN);
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool interrupt_wanted(void) {
    return interrupted;
}

bool interrupt_reader_left(void) {
    return reader_left;
}

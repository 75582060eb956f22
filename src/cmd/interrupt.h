/* interrupt.h - Ctrl-C as a flag that long work looks at, and SIGPIPE as a failed write. */
#ifndef COALIGN_CMD_INTERRUPT_H
#define COALIGN_CMD_INTERRUPT_H

#include <stdbool.h>

/* Installs the handlers. A second Ctrl-C ends the program at once. */
void interrupt_setup(void);

/* Ctrl-C has been pressed. */
bool interrupt_wanted(void);

/* A write to a pipe has failed because nobody reads it any more. */
bool interrupt_reader_left(void);

#endif

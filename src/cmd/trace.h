/* trace.h - the subcommands of trace, and what they share. The file is the last operand. */
#ifndef COALIGN_CMD_TRACE_H
#define COALIGN_CMD_TRACE_H

#include "cmd/command.h"
#include "machine/machine.h"

status trace_counts_command(const arguments *args, message *m); /* trace replay --counts */
status trace_replay_command(const arguments *args, message *m); /* trace replay */
status trace_mrc_command(const arguments *args, message *m);

const char *trace_file(const arguments *args);
/* As reports call it. */
const char *trace_name(const arguments *args);

/* The machine of -m with -D; mem_free it. */
status trace_machine(const arguments *args, machine **out, message *m);

#endif

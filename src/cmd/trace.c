#include "base/nearest.h"
#include "cmd/command.h"

#include <string.h>

static const struct {
    const char *name;
    status (*run)(const arguments *args, message *m);
} subcommands[] = {
    {"replay", trace_counts_command},
    {"mrc", trace_mrc_command},
};

status trace_command(const arguments *args, message *m) {
    const char *known[sizeof subcommands / sizeof *subcommands];
    for (size_t i = 0; i < sizeof subcommands / sizeof *subcommands; i++) {
        known[i] = subcommands[i].name;
        if (strcmp(args->operands[0], known[i]) == 0)
            return subcommands[i].run(args, m);
    }
    char hint[128];
    return fail(m, ERR_INPUT, "trace: unknown subcommand '%s'%s", args->operands[0],
                nearest_hint(hint, sizeof hint, args->operands[0], known, sizeof known / sizeof *known));
}

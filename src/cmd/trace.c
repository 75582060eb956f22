#include "cmd/trace.h"

#include "base/mem.h"
#include "base/nearest.h"
#include "config/machine_config.h"

#include <string.h>

const char *trace_file(const arguments *args) {
    return args->operands[args->operand_count - 1];
}

const char *trace_name(const arguments *args) {
    return strcmp(trace_file(args), "-") == 0 ? "standard input" : trace_file(args);
}

status trace_machine(const arguments *args, machine **out, message *m) {
    machine *mach = mem_zero(1, sizeof *mach);
    machine_override *overrides = mem_zero(args->define_count + 1, sizeof *overrides);
    status s = mach && overrides ? OK : fail(m, ERR_MEMORY, "not enough memory");
    for (size_t i = 0; s == OK && i < args->define_count; i++)
        overrides[i] = (machine_override){args->defines[i], "-D"};
    if (s == OK)
        s = machine_load_overridden(args->machine, overrides, args->define_count, mach, m);
    mem_free(overrides);
    *out = s == OK ? mach : NULL;
    if (s != OK)
        mem_free(mach);
    return s;
}

static status replay(const arguments *args, message *m) {
    return args->counts ? trace_counts_command(args, m) : trace_replay_command(args, m);
}

static const struct {
    const char *name;
    status (*run)(const arguments *args, message *m);
} subcommands[] = {
    {"replay", replay},
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

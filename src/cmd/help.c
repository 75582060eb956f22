#include "cmd/command.h"
#include "cmd/document.h"

#include <string.h>

enum { LEFT = 24 };

static void option_line(FILE *out, const option_desc *o) {
    char left[64];
    if (o->letter)
        snprintf(left, sizeof left, "-%c, --%s %s", o->letter, o->name, o->argument ? o->argument : "");
    else
        snprintf(left, sizeof left, "    --%s %s", o->name, o->argument ? o->argument : "");
    fprintf(out, "  %-*s ", LEFT, left);
    for (const char *p = o->what; *p; p++) {
        fputc(*p, out);
        if (*p == '\n')
            fprintf(out, "%*s", LEFT + 3, "");
    }
    fputc('\n', out);
}

static void program_help(FILE *out) {
    fputs("coalign predicts what a memory-bound kernel costs on a GPU you may not own, and says why.\n\n"
          "usage: coalign COMMAND [OPTION]... [OPERAND]...\n\n",
          out);
    for (size_t i = 0; i < command_count; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s %s", command_table[i].name, command_table[i].operands);
        fprintf(out, "  %-*s %s\n", LEFT, left, command_table[i].summary);
    }
    fputs("\n", out);
    option_line(out, &option_table[OPT_HELP]);
    option_line(out, &option_table[OPT_VERSION]);
    fputs("\nExit status: 0 done, 1 a check failed, 2 bad usage or input, 130 interrupted.\n"
          "First steps: coalign run configs/futhark_copy.cfg\n",
          out);
}

void help_print(FILE *out, const command *c) {
    if (!c) {
        program_help(out);
        return;
    }
    fprintf(out, "usage: coalign %s [OPTION]...%s%s\n\n%s\n\n", c->name, *c->operands ? " " : "", c->operands,
            c->about);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (c->options >> i & 1)
            option_line(out, &option_table[i]);
}

status help_command(const arguments *args, message *m) {
    const command *c = NULL;
    if (args->as) {
        if (args->operand_count)
            return fail(m, ERR_INPUT, "--as %s has all commands: leave '%s' out", args->as, args->operands[0]);
        (*args->as == 'm' ? document_man : *args->as == 'b' ? document_bash : document_zsh)(stdout);
        return stream_status(stdout, "the help", m);
    }
    if (args->operand_count) {
        c = command_find(args->operands[0]);
        if (!c)
            return fail(m, ERR_INPUT, "no command '%s'; see: coalign --help", args->operands[0]);
    }
    help_print(stdout, c);
    return stream_status(stdout, "the help", m);
}

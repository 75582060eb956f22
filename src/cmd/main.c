/* main.c - finds the subcommand, runs it, and turns its status into an exit status and one line on stderr. */
#include "base/nearest.h"
#include "cmd/command.h"
#include "cmd/interrupt.h"

static status unknown_command(const char *word, message *m) {
    const char *known[32];
    size_t count = 0;
    for (size_t i = 0; i < command_count && count < sizeof known / sizeof *known; i++)
        known[count++] = command_table[i].name;
    char hint[256];
    return fail(m, ERR_INPUT, "unknown command '%s'%s", word, nearest_hint(hint, sizeof hint, word, known, count));
}

static status dispatch(int argc, char **argv, arguments *args, message *m) {
    if (argc < 2) {
        help_print(stderr, NULL);
        return fail(m, ERR_INPUT, "a command is needed");
    }
    const command *c = NULL;
    int first = 1;
    if (argv[1][0] != '-') {
        c = command_find(argv[1]);
        if (!c)
            return unknown_command(argv[1], m);
        first = 2;
    }
    TRY(arguments_parse(args, c, argc - first, argv + first, m));
    if (args->version)
        printf("coalign %s\n", coalign_version());
    else if (args->help)
        help_print(stdout, c);
    else if (c)
        return c->run(args, m);
    else
        return fail(m, ERR_INPUT, "a command is needed; see: coalign --help");
    return stream_status(stdout, "the help", m);
}

int main(int argc, char **argv) {
    message m = {{0}};
    arguments args = {0};
    interrupt_setup();
    status s = dispatch(argc, argv, &args, &m);
    arguments_free(&args);
    /* A reader that has seen enough (coalign ... | head) is no fault of anybody. */
    if (s == ERR_IO && interrupt_reader_left())
        return 0;
    if (s != OK && *m.text)
        fprintf(stderr, "coalign: %s\n", m.text);
    return status_exit_code(s);
}

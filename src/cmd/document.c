#include "cmd/document.h"

#include "cmd/command.h"

#include <string.h>

/* ---- manual page: text without troff's control characters ---------------------------------------------------------
 */

static void troff(FILE *out, const char *text) {
    bool begins = true;
    for (; *text; text++) {
        if (begins && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
        begins = *text == '\n';
    }
}

static void troff_option(FILE *out, const option_desc *o) {
    fputs(".TP\n", out);
    if (o->letter)
        fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
    fputs("\\fB\\-\\-", out);
    troff(out, o->name);
    fprintf(out, "\\fR%s%s\\fR\n", o->argument ? " \\fI" : "", o->argument ? o->argument : "");
    troff(out, o->what);
    fputc('\n', out);
}

void document_man(FILE *out) {
    fprintf(
        out,
        ".TH COALIGN 1 \"\" \"coalign %s\" \"User Commands\"\n.SH NAME\ncoalign \\- cache\\-aware simulation of GPUs "
        "and CPUs\n.SH SYNOPSIS\n.B coalign\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fIOPERAND\\fR]...\n.SH DESCRIPTION\n"
        "Predicts what a memory\\-bound kernel costs on a machine you may not own, and says why.\n.SH COMMANDS\n",
        coalign_version());
    for (size_t i = 0; i < command_count; i++) {
        const command *c = &command_table[i];
        fprintf(out, ".SS \"coalign %s [OPTION]...%s%s\"\n", c->name, *c->operands ? " " : "", c->operands);
        troff(out, c->about);
        fputc('\n', out);
        for (int o = 0; o < OPTION_COUNT; o++)
            if (c->options >> o & 1 && o != OPT_HELP && o != OPT_VERSION)
                troff_option(out, &option_table[o]);
    }
    fputs(".SH EXIT STATUS\n0 done, 1 a check failed, 2 bad usage or input, 130 interrupted.\n"
          ".SH ENVIRONMENT\n.TP\n.B COALIGN_MODELS\nThe first folder in which machines are looked for.\n",
          out);
}

/* ---- bash ----------------------------------------------------------------------------------------------------------
 */

void document_bash(FILE *out) {
    fputs("# Completion of coalign for bash.\n"
          "_coalign() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
          "    COMPREPLY=()\n"
          "    case $before in\n"
          "    -m | --machine) words=$(coalign machines --format csv 2>/dev/null | sed 1d | cut -d, -f1) ;;\n"
          "    --format) words='text json csv' ;;\n"
          "    -o | --output) return ;;\n"
          "    *)\n"
          "        if [ \"$COMP_CWORD\" -eq 1 ]; then words='",
          out);
    for (size_t i = 0; i < command_count; i++)
        fprintf(out, "%s ", command_table[i].name);
    fputs("--help --version'; fi\n"
          "        case ${COMP_WORDS[1]}:$word in\n",
          out);
    for (size_t i = 0; i < command_count; i++) {
        fprintf(out, "        %s:-*) words='", command_table[i].name);
        for (int o = 0; o < OPTION_COUNT; o++)
            if (command_table[i].options >> o & 1)
                fprintf(out, "--%s ", option_table[o].name);
        fputs("' ;;\n", out);
    }
    fputs("        esac ;;\n"
          "    esac\n"
          "    [ -z \"$words\" ] || mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
          "}\n"
          "complete -o default -F _coalign coalign\n",
          out);
}

/* ---- zsh -----------------------------------------------------------------------------------------------------------
 */

/* For within '...' and [...] of _arguments; the first line only. */
static void zsh_text(FILE *out, const char *text) {
    for (; *text && *text != '\n'; text++) {
        if (*text == '\'')
            fputs("'\\'", out);
        else if (*text == '[' || *text == ']' || *text == ':')
            fputc('\\', out);
        fputc(*text, out);
    }
}

static void zsh_option(FILE *out, const option_desc *o) {
    if (o->letter)
        fprintf(out, "            '*-%c[", o->letter);
    else
        fputs("            '*", out);
    for (int form = o->letter ? 0 : 1; form < 2; form++) {
        if (form)
            fprintf(out, "%s--%s[", o->letter ? "            '*" : "", o->name);
        zsh_text(out, o->what);
        fprintf(out, "]%s%s%s' \\\n", o->argument ? ":" : "", o->argument ? o->argument : "",
                o->argument ? ":_files" : "");
    }
}

void document_zsh(FILE *out) {
    fputs("#compdef coalign\n"
          "if (( CURRENT == 2 )); then\n"
          "    local -a commands=(\n",
          out);
    for (size_t i = 0; i < command_count; i++) {
        fprintf(out, "        '%s:", command_table[i].name);
        zsh_text(out, command_table[i].summary);
        fputs("'\n", out);
    }
    fputs("    )\n"
          "    _describe command commands\n"
          "else\n"
          "    local name=$words[2]\n"
          "    shift words; (( CURRENT-- ))\n"
          "    case $name in\n",
          out);
    for (size_t i = 0; i < command_count; i++) {
        fprintf(out, "    %s)\n        _arguments \\\n", command_table[i].name);
        for (int o = 0; o < OPTION_COUNT; o++)
            if (command_table[i].options >> o & 1)
                zsh_option(out, &option_table[o]);
        fputs("            '*:file:_files' ;;\n", out);
    }
    fputs("    esac\nfi\n", out);
}

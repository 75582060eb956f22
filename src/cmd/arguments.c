#include "base/mem.h"
#include "base/nearest.h"
#include "base/num.h"
#include "cmd/command.h"
#include "sim/mrc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HINT_MAX = 400, THREADS_MAX = 1024, SHARDS_MAX = 1000000 };

static bool takes(const command *c, option_id id) {
    if (!c)
        return id == OPT_HELP || id == OPT_VERSION;
    return c->options >> id & 1;
}

static status unknown_option(const command *c, const char *word, message *m) {
    const char *known[OPTION_COUNT];
    size_t count = 0;
    for (int i = 0; i < OPTION_COUNT; i++)
        if (takes(c, (option_id)i))
            known[count++] = option_table[i].name;
    char name[64], hint[HINT_MAX];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    return fail(m, ERR_INPUT, "unknown option --%s%s", name, nearest_hint(hint, sizeof hint, name, known, count));
}

static status set_threads(arguments *a, const char *text, message *m) {
    char *end = NULL;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (errno || end == text || *end || n < 1 || n > THREADS_MAX)
        return fail(m, ERR_INPUT, "--threads %s: a whole number from 1 to %d is needed", text, THREADS_MAX);
    a->threads = (uint32_t)n;
    return OK;
}

static status set_format(arguments *a, const char *text, message *m) {
    static const char *const names[] = {"text", "json", "csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0) {
            a->format = (report_format)i;
            return OK;
        }
    char hint[HINT_MAX];
    return fail(m, ERR_INPUT, "--format %s: unknown format%s", text,
                nearest_hint(hint, sizeof hint, text, names, sizeof names / sizeof *names));
}

static status set_rules(arguments *a, const char *text, message *m) {
    static const char *const names[] = {[COUNTS_HARDWARE] = "hardware", [COUNTS_CACHEGRIND] = "cachegrind"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0) {
            a->rules = (counts_rules)i;
            return OK;
        }
    char hint[HINT_MAX];
    return fail(m, ERR_INPUT, "--rules %s: unknown rules%s", text,
                nearest_hint(hint, sizeof hint, text, names, sizeof names / sizeof *names));
}

static status set_line(arguments *a, const char *text, message *m) {
    uint64_t bytes = 0;
    if (!parse_bytes(text, &bytes) || bytes < 4 || bytes > COUNTS_LINE_MAX || (bytes & (bytes - 1)))
        return fail(m, ERR_INPUT, "--line %s: a power of two from 4 to %d is needed", text, COUNTS_LINE_MAX);
    a->line_bytes = (uint32_t)bytes;
    return OK;
}

static status set_sample(arguments *a, const char *text, message *m) {
    if (!parse_bytes(text, &a->sample_lines) || a->sample_lines < MRC_LINES_MIN || a->sample_lines > MRC_LINES_MAX)
        return fail(m, ERR_INPUT, "--sample %s: a number of lines from %d to %d is needed", text, MRC_LINES_MIN,
                    MRC_LINES_MAX);
    return OK;
}

static status set_emit(arguments *a, const char *text, message *m) {
    static const char *const names[] = {"c", "cuda"};
    char hint[HINT_MAX];
    if (strcmp(text, names[0]) != 0 && strcmp(text, names[1]) != 0)
        return fail(m, ERR_INPUT, "--emit %s: unknown language%s", text,
                    nearest_hint(hint, sizeof hint, text, names, sizeof names / sizeof *names));
    a->emit = text;
    return OK;
}

static status set_as(arguments *a, const char *text, message *m) {
    static const char *const names[] = {"man", "bash", "zsh"};
    char hint[HINT_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0) {
            a->as = text;
            return OK;
        }
    return fail(m, ERR_INPUT, "--as %s: unknown form%s", text,
                nearest_hint(hint, sizeof hint, text, names, sizeof names / sizeof *names));
}

static status set_define(arguments *a, const char *text, message *m) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return fail(m, ERR_INPUT, "-D %s: KEY=VALUE is needed", text);
    a->defines[a->define_count++] = text;
    return OK;
}

static status set_shard(arguments *a, const char *text, message *m) {
    char *end = NULL;
    errno = 0;
    const unsigned long k = strtoul(text, &end, 10);
    const char *slash = end;
    const unsigned long n = *slash == '/' ? strtoul(slash + 1, &end, 10) : 0;
    if (errno || *text < '1' || *text > '9' || *end || k < 1 || k > n || n > SHARDS_MAX)
        return fail(m, ERR_INPUT, "--shard %s: K/N is needed, such as 1/4, with 1 <= K <= N <= %d", text, SHARDS_MAX);
    a->shard = (uint32_t)k;
    a->shards = (uint32_t)n;
    return OK;
}

static status set_max_regress(arguments *a, const char *text, message *m) {
    char *end = NULL;
    const double percent = strtod(text, &end);
    if (end == text || (*end && strcmp(end, "%") != 0) || !(percent >= 0 && percent <= 1e6))
        return fail(m, ERR_INPUT, "--max-regress %s: a percentage is needed, such as 2%%", text);
    a->max_regress = percent / 100;
    return OK;
}

/* value is "" for flags. */
static status set_option(arguments *a, option_id id, const char *value, message *m) {
    switch (id) {
    case OPT_MACHINE:
        a->machine = value;
        return OK;
    case OPT_DEFINE:
        return set_define(a, value, m);
    case OPT_CASE:
        a->wanted_cases[a->wanted_case_count++] = value;
        return OK;
    case OPT_SHAPE:
        a->shape = value;
        return OK;
    case OPT_SRC:
        a->src = value;
        return OK;
    case OPT_DST:
        a->dst = value;
        return OK;
    case OPT_SAME_MEMORY:
        a->same_memory = true;
        return OK;
    case OPT_COUNTS:
        a->counts = true;
        return OK;
    case OPT_CACHE:
        a->caches = value;
        return OK;
    case OPT_RULES:
        return set_rules(a, value, m);
    case OPT_LINE:
        return set_line(a, value, m);
    case OPT_SAMPLE:
        return set_sample(a, value, m);
    case OPT_LENIENT:
        a->lenient = true;
        return OK;
    case OPT_EXACT:
        a->exact = true;
        return OK;
    case OPT_FACTORING:
        a->factoring = true;
        break;
    case OPT_NATIVE:
        a->native = true;
        return OK;
    case OPT_BALANCE:
        a->balance = true;
        break;
    case OPT_DETAILS:
        a->details = true;
        return OK;
    case OPT_EMIT:
        return set_emit(a, value, m);
    case OPT_MEASURED:
        a->measured = value;
        return OK;
    case OPT_MARKDOWN:
        a->markdown = true;
        return OK;
    case OPT_TIMELINE:
        a->timeline = value;
        return OK;
    case OPT_AS:
        return set_as(a, value, m);
    case OPT_OVER:
        a->overs[a->over_count++] = value;
        return OK;
    case OPT_ZIP:
        a->zip = true;
        return OK;
    case OPT_SHARD:
        return set_shard(a, value, m);
    case OPT_MAX_REGRESS:
        return set_max_regress(a, value, m);
    case OPT_FORMAT:
        return set_format(a, value, m);
    case OPT_OUTPUT:
        a->outputs[a->output_count++] = value;
        return OK;
    case OPT_THREADS:
        return set_threads(a, value, m);
    case OPT_QUIET:
        a->quiet = true;
        return OK;
    case OPT_HELP:
        a->help = true;
        return OK;
    case OPT_VERSION:
        a->version = true;
        return OK;
    case OPTION_COUNT:
        break;
    }
    return OK;
}

/* argv[*at] is "--name", "--name=value" or, with its value, the next word too. */
static status parse_long(arguments *a, const command *c, int argc, char **argv, int *at, message *m) {
    const char *word = argv[*at] + 2;
    size_t length = strcspn(word, "=");
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option_desc *o = &option_table[i];
        if (!takes(c, (option_id)i) || strlen(o->name) != length || strncmp(o->name, word, length) != 0)
            continue;
        const char *value = word[length] ? word + length + 1 : NULL;
        if (!o->argument && value)
            return fail(m, ERR_INPUT, "--%s takes no value", o->name);
        if (o->argument && !value) {
            if (*at + 1 >= argc)
                return fail(m, ERR_INPUT, "--%s needs a value: %s", o->name, o->argument);
            value = argv[++*at];
        }
        return set_option(a, (option_id)i, value ? value : "", m);
    }
    return unknown_option(c, word, m);
}

/* argv[*at] is "-x", "-xVALUE", "-x VALUE" or several flags "-xyz". */
static status parse_short(arguments *a, const command *c, int argc, char **argv, int *at, message *m) {
    for (const char *p = argv[*at] + 1; *p; p++) {
        int i = 0;
        while (i < OPTION_COUNT && !(option_table[i].letter == *p && takes(c, (option_id)i)))
            i++;
        if (i == OPTION_COUNT)
            return fail(m, ERR_INPUT, "unknown option -%c", *p);
        if (!option_table[i].argument) {
            TRY(set_option(a, (option_id)i, "", m));
            continue;
        }
        if (p[1])
            return set_option(a, (option_id)i, p + 1, m);
        if (*at + 1 >= argc)
            return fail(m, ERR_INPUT, "-%c needs a value: %s", *p, option_table[i].argument);
        return set_option(a, (option_id)i, argv[++*at], m);
    }
    return OK;
}

static status check_operands(const arguments *a, const command *c, message *m) {
    if (!c || a->help || a->version)
        return OK;
    if (a->operand_count < c->operands_min)
        return fail(m, ERR_INPUT, "%s needs %s; see: coalign %s --help", c->name, c->operands, c->name);
    if (a->operand_count > c->operands_max)
        return fail(m, ERR_INPUT, "%s: '%s' is one operand too many", c->name, a->operands[c->operands_max]);
    return OK;
}

status arguments_parse(arguments *args, const command *c, int argc, char **argv, message *m) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t room = (size_t)argc + 1;
    *args = (arguments){.threads = cores < 1             ? 1
                                   : cores > THREADS_MAX ? THREADS_MAX
                                                         : (uint32_t)cores,
                        .shard = 1,
                        .shards = 1};
    args->defines = mem_zero(room, sizeof *args->defines);
    args->overs = mem_zero(room, sizeof *args->overs);
    args->wanted_cases = mem_zero(room, sizeof *args->wanted_cases);
    args->outputs = mem_zero(room, sizeof *args->outputs);
    args->operands = mem_zero(room, sizeof *args->operands);
    if (!args->defines || !args->overs || !args->wanted_cases || !args->outputs || !args->operands)
        return fail(m, ERR_MEMORY, "not enough memory for the command line");
    bool options = true;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (options && strcmp(word, "--") == 0)
            options = false;
        else if (options && strncmp(word, "--", 2) == 0)
            TRY(parse_long(args, c, argc, argv, &i, m));
        else if (options && word[0] == '-' && word[1])
            TRY(parse_short(args, c, argc, argv, &i, m));
        else
            args->operands[args->operand_count++] = word;
    }
    return check_operands(args, c, m);
}

void arguments_free(arguments *args) {
    mem_free(args->defines);
    mem_free(args->overs);
    mem_free(args->wanted_cases);
    mem_free(args->outputs);
    mem_free(args->operands);
    *args = (arguments){0};
}

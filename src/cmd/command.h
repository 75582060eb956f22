/* command.h - the subcommands and their options as data: parsing, --help and suggestions all read these tables. */
#ifndef COALIGN_CMD_COMMAND_H
#define COALIGN_CMD_COMMAND_H

#include "base/status.h"
#include "report/report.h"
#include "sim/counts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* X(enumerator, long name, letter or 0, argument's name or NULL for a flag, meaning) */
#define OPTION_LIST(X)                                                                                                 \
    X(OPT_MACHINE, "machine", 'm', "NAME", "machine to simulate: a name of `coalign machines` or a file")              \
    X(OPT_DEFINE, "define", 'D', "KEY=VALUE", "override a key of the config; may be repeated")                         \
    X(OPT_CASE, "case", 0, "TEXT", "only cases whose name contains TEXT; may be repeated")                             \
    X(OPT_SHAPE, "shape", 0, "DATASET", "shape and element type: '[8192][8192]i32'")                                   \
    X(OPT_SRC, "src", 0, "LMAD", "source layout: '1:[(8192,8193),(8192,1)]'; default row-major")                       \
    X(OPT_DST, "dst", 0, "LMAD", "destination layout; default row-major")                                              \
    X(OPT_SAME_MEMORY, "same-memory", 0, NULL, "both layouts lie in one array: offset 0 is the same place")            \
    X(OPT_BALANCE, "balance", 0, NULL, "the machine's balance between compute and memory instead")                     \
    X(OPT_FACTORING, "factoring", 0, NULL, "misses of the config's factoring by cause and array instead")              \
    X(OPT_NATIVE, "native", 0, NULL, "measure the CPU of this host")                                                   \
    X(OPT_COUNTS, "counts", 0, NULL, "cache counts only, no time")                                                     \
    X(OPT_CACHE, "cache", 0, "CACHES",                                                                                 \
      "instead of a machine's: I1=32K:8:64,L1=48K:12:64,LL=2M:16:64\n"                                                 \
      "(name=size:ways:line, nearest first; then :sN sectors of N bytes,\n"                                            \
      ":fifo, :random, :wt write-through, :nwa no write-allocate)")                                                    \
    X(OPT_RULES, "rules", 0, "RULES", "hardware (default): count lines; cachegrind: count as it does")                 \
    X(OPT_LINE, "line", 0, "BYTES", "bytes of a line (default 64)")                                                    \
    X(OPT_SAMPLE, "sample", 0, "LINES", "follow at most so many lines, e.g. 16384; default: all, exactly")             \
    X(OPT_LENIENT, "lenient", 0, NULL, "leave out what is wrong in a trace, and say how much")                         \
    X(OPT_EXACT, "exact", 0, NULL, "simulate every block; default: sample once the rate is steady")                    \
    X(OPT_DETAILS, "details", 0, NULL, "text: a page for every run, not only the table")                               \
    X(OPT_EMIT, "emit", 0, "LANGUAGE", "print the transformed bodies as c or cuda, and simulate nothing")              \
    X(OPT_MEASURED, "measured", 0, "FILE", "measurements to compare with, instead of the config's file")               \
    X(OPT_MARKDOWN, "markdown", 0, NULL, "print the accuracy table only, in Markdown")                                 \
    X(OPT_TIMELINE, "timeline", 0, "FILE", "also write, as CSV, what one warp does in a turn of the loop")             \
    X(OPT_OVER, "over", 0, "KEY=VALUES",                                                                               \
      "sweep over a key of the config, as -D takes it: 1,2,8 or 4..64 or\n"                                            \
      "0..1+0.25 or 4KiB..1MiB*2; may be repeated")                                                                    \
    X(OPT_ZIP, "zip", 0, NULL, "the keys side by side; default: every combination")                                    \
    X(OPT_SHARD, "shard", 0, "K/N", "only part K of N, from 1; coalign merge puts the parts together")                 \
    X(OPT_MAX_REGRESS, "max-regress", 0, "PERCENT", "how much worse a figure may be (default 0)")                      \
    X(OPT_AS, "as", 0, "FORM", "all of it as a man page or a completion: man, bash, zsh")                              \
    X(OPT_FORMAT, "format", 0, "FORMAT", "text (default), json or csv")                                                \
    X(OPT_OUTPUT, "output", 'o', "FILE",                                                                               \
      "write there instead of stdout; may be repeated; - is stdout;\n"                                                 \
      "the suffixes .json and .csv choose the format")                                                                 \
    X(OPT_THREADS, "threads", 0, "N", "host threads (default: all); the results do not depend on it")                  \
    X(OPT_QUIET, "quiet", 'q', NULL, "nothing on stderr but errors")                                                   \
    X(OPT_HELP, "help", 'h', NULL, "this text")                                                                        \
    X(OPT_VERSION, "version", 0, NULL, "version and commit")

typedef enum option_id {
#define X(id, name, letter, argument, what) id,
    OPTION_LIST(X)
#undef X
        OPTION_COUNT
} option_id;

typedef struct option_desc {
    const char *name;
    char letter;
    const char *argument;
    const char *what;
} option_desc;

extern const option_desc option_table[OPTION_COUNT];

/* The parsed command line. Strings point into argv. Release with arguments_free. */
typedef struct arguments {
    const char *machine, *shape, *src, *dst, *caches;
    const char *as;              /* "man", "bash", "zsh" or NULL */
    const char *emit, *timeline; /* emit: "c", "cuda" or NULL */
    const char *measured;
    const char **defines, **overs;
    size_t define_count, over_count;
    const char **wanted_cases; /* parts of names; none: all cases */
    size_t wanted_case_count;
    const char **outputs;
    size_t output_count;
    const char **operands;
    size_t operand_count;
    report_format format;
    uint32_t threads; /* >= 1 */
    counts_rules rules;
    uint32_t line_bytes;    /* 0: not given */
    uint64_t sample_lines;  /* 0: not given */
    uint32_t shard, shards; /* shard from 1; 1 of 1 where not given */
    double max_regress;     /* a share: 0.02 */
    bool counts, native, zip, same_memory, balance, factoring, exact, details, lenient, markdown, quiet, help, version;
} arguments;

typedef struct command {
    const char *name;
    const char *operands; /* as shown in the usage line */
    size_t operands_min, operands_max;
    uint64_t options; /* bit per option_id */
    const char *summary;
    const char *about; /* the paragraph of its --help */
    status (*run)(const arguments *args, message *m);
} command;

extern const command command_table[];
extern const size_t command_count;

/* NULL when there is none. */
const command *command_find(const char *name);

/* Parses argv[0 .. argc) (without program and command name) against what `c` takes; c NULL: --help and --version only.
 * ERR_INPUT names the option at fault and the nearest known one. With --help or --version the operands are not
 * checked. */
status arguments_parse(arguments *args, const command *c, int argc, char **argv, message *m);
void arguments_free(arguments *args);

/* The help of the program (c NULL) or of one command. */
void help_print(FILE *out, const command *c);

/* "0.1.0 (ab12cd34ef)" */
const char *coalign_version(void);

/* One subcommand a file. */
status run_command(const arguments *args, message *m);
status plan_command(const arguments *args, message *m);
status model_command(const arguments *args, message *m);
status hoist_command(const arguments *args, message *m);
status trace_command(const arguments *args, message *m);
status sweep_command(const arguments *args, message *m);
status merge_command(const arguments *args, message *m);
status check_command(const arguments *args, message *m);
status measure_command(const arguments *args, message *m);
status validate_command(const arguments *args, message *m);
status machines_command(const arguments *args, message *m);
status metrics_command(const arguments *args, message *m);
status help_command(const arguments *args, message *m);

#endif

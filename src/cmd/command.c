#include "cmd/command.h"

#include <string.h>

const option_desc option_table[OPTION_COUNT] = {
#define X(id, name, letter, argument, what) {name, letter, argument, what},
    OPTION_LIST(X)
#undef X
};

#define BIT(id) (UINT64_C(1) << (id))
#define ALWAYS  (BIT(OPT_HELP) | BIT(OPT_VERSION))
#define REPORTS (ALWAYS | BIT(OPT_FORMAT) | BIT(OPT_OUTPUT))
#define SIMULATES                                                                                                      \
    (REPORTS | BIT(OPT_MACHINE) | BIT(OPT_DEFINE) | BIT(OPT_EXACT) | BIT(OPT_DETAILS) | BIT(OPT_THREADS) |             \
     BIT(OPT_QUIET))

const command command_table[] = {
    {"run", "CONFIG", 1, 1, SIMULATES | BIT(OPT_CASE), "simulate the cases of a config file",
     "Simulates every case of CONFIG on its machine and reports predicted times, where the transactions went and what\n"
     "limited each case; beside measured times where the config has them. Ctrl-C ends early and reports what is done.",
     run_command},
    {"plan", "", 0, 0, SIMULATES | BIT(OPT_SHAPE) | BIT(OPT_SRC) | BIT(OPT_DST) | BIT(OPT_SAME_MEMORY),
     "choose a copy strategy for two layouts",
     "Says how an array should be copied between two layouts, and why. With a machine, simulates every strategy that\n"
     "applies and ranks them; says of the others why they do not apply.",
     plan_command},
    {"model", "[CONFIG]", 0, 1,
     REPORTS | BIT(OPT_MACHINE) | BIT(OPT_DEFINE) | BIT(OPT_DETAILS) | BIT(OPT_BALANCE) | BIT(OPT_FACTORING),
     "lower bounds on the time of a config's cases, in closed form",
     "Says for every case of CONFIG which part of the machine it keeps busy longest, so that no run can be faster, "
     "which\n"
     "part comes next, and what would move the bound. Takes milliseconds, whatever the size. With --balance: how many\n"
     "operations each float needs, what hides a load, what random access wastes, and more, for a machine. With\n"
     "--factoring: compulsory, capacity and conflict misses of each array of CONFIG's section 'factoring'.",
     model_command},
    {"hoist", "FILE", 1, 1, SIMULATES | BIT(OPT_EMIT) | BIT(OPT_TIMELINE),
     "move loads forward in loop bodies, and say what it brings",
     "Moves the loads of innermost loops to their front and simulates the body before and after, and for every number "
     "of\n"
     "moved loads: registers, occupancy, spills, stalls, time, and the reason for gain, no gain or loss. FILE is a "
     "loop body\n"
     "(- is stdin), or a config whose name ends in .cfg. For a body, -D takes the keys of a case: blocks, threads, "
     "limit,\n"
     "unroll, vector, window (of a list scheduler), no_alias, max_registers, min_blocks.",
     hoist_command},
    {"trace", "replay|mrc FILE", 2, 2,
     REPORTS | BIT(OPT_MACHINE) | BIT(OPT_DEFINE) | BIT(OPT_COUNTS) | BIT(OPT_CACHE) | BIT(OPT_RULES) | BIT(OPT_LINE) |
         BIT(OPT_SAMPLE) | BIT(OPT_LENIENT) | BIT(OPT_DETAILS) | BIT(OPT_THREADS) | BIT(OPT_QUIET),
     "replay recorded warps or accesses",
     "trace replay -m MACHINE FILE: the kernels of a GPU trace, timed, each with cold caches. FILE: kernelslist.g or "
     "a\n"
     "kernel of Accel-Sim.\n"
     "trace replay --counts FILE: what the accesses of a trace do to the caches of a machine or of --cache.\n"
     "trace mrc FILE: misses of fully associative LRU caches of all sizes.\n"
     "FILE of the last two: Valgrind Lackey or Dinero text. All may be compressed; - is stdin.",
     trace_command},
    {"sweep", "CONFIG", 1, 1,
     ALWAYS | BIT(OPT_MACHINE) | BIT(OPT_DEFINE) | BIT(OPT_OVER) | BIT(OPT_ZIP) | BIT(OPT_SHARD) | BIT(OPT_EXACT) |
         BIT(OPT_OUTPUT) | BIT(OPT_THREADS) | BIT(OPT_QUIET),
     "simulate a config for many values of its keys",
     "Simulates every case of CONFIG for all values of the keys in its section 'sweep' or of --over, on all host\n"
     "threads, into one CSV file (-o FILE): the keys and the columns of `run`. What is done is kept in\n"
     "FILE.journal: a sweep that was killed, or met a full disk, goes on where it stopped when it is started again.",
     sweep_command},
    {"merge", "FILE...", 1, 1 << 20, ALWAYS | BIT(OPT_OUTPUT), "put the parts of a sharded sweep together",
     "Puts the shards 1/N to N/N of a sweep together: the bytes that the undivided sweep writes. Says "
     "which\n"
     "points are missing.",
     merge_command},
    {"check", "BASELINE RESULT", 2, 2, ALWAYS | BIT(OPT_MAX_REGRESS), "compare two results; fail where one is worse",
     "Compares the CSV results of two runs or sweeps, case by case: predicted time, sectors of loads and stores, bytes\n"
     "read from and written to DRAM. Exit status 1 when a figure of RESULT is higher than that of BASELINE by more than\n"
     "--max-regress (0 %), or when a case is missing.",
     check_command},
    {"measure", "", 0, 0, REPORTS | BIT(OPT_QUIET) | BIT(OPT_NATIVE), "run copies and walks over memory on this host",
     "With --native: latency of a pointer chase, bandwidth by working set, strides, transpositions and slices, "
     "measured\n"
     "on one core of this host (half a minute). CSV has the columns of models/measured.",
     measure_command},
    {"validate", "CONFIG...", 1, 256, SIMULATES | BIT(OPT_MEASURED) | BIT(OPT_MARKDOWN),
     "compare predictions with recorded measurements",
     "Simulates the cases of each CONFIG and compares them with the measurements that its group 'validation' names: "
     "the\n"
     "error of every point, and for each metric MAPE, mean ratio, correlations, plateaus and knees. Exit status 1 "
     "when\n"
     "something is beyond the tolerance that the config states.",
     validate_command},
    {"machines", "[NAME]", 0, 1, REPORTS, "list the machines, or the figures of one",
     "Lists the machine descriptions that were found, or shows one.", machines_command},
    {"metrics", "", 0, 0, REPORTS, "list the metrics of the reports",
     "Lists every metric of the CSV and JSON reports: name, unit, meaning.", metrics_command},
    {"help", "[COMMAND]", 0, 1, ALWAYS | BIT(OPT_AS), "show the help of a command", "Shows the help of a command.", help_command},
};
const size_t command_count = sizeof command_table / sizeof *command_table;

const command *command_find(const char *name) {
    for (size_t i = 0; i < command_count; i++)
        if (strcmp(command_table[i].name, name) == 0)
            return &command_table[i];
    return NULL;
}

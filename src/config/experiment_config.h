/* experiment_config.h - what `coalign run CONFIG` reads: a machine and a list of copies to simulate on it.
 *
 *     title = "...";                       optional
 *     machine = "rx7900xt";                as for machine_load; -m replaces it
 *     machine_overrides = ("levels.L2.ways=8");     optional, as -D
 *     defaults = { ... };                  optional: any key of a case but name and the measured ones
 *     cases = ( { ... }, ... );            may be empty
 *     factoring = { ... };                 optional: for `coalign model`, config/factoring_config.h
 *     sweep = { ... };                     optional: for `coalign sweep`, config/sweep_config.h
 *     validation = { ... };                optional: for `coalign validate`, config/validation_config.h
 *
 * A case names its copy in one of two ways:
 *     dataset = "[8192][8193]i32"; view = "slice_2d"; permutation = "{1,0}";     (layout/syntax.h; view: "copy")
 *     shape = "[8192][8192]i32"; src = "1:[(8192,8193),(8192,1)]"; dst = "...";  (row-major where left out)
 * and may say
 *     name = "...";                        each its own; else the view and the dataset, or "case N"
 *     strategy = "auto";                   or a name of STRATEGY_LIST (layout/plan.h); default auto
 *     index = "64";                        or "32", "invariant"
 *     elements_per_thread = 1;             1, 2, 4, 8
 *     sorted = true; signed_sort = false; collapse = false;
 *     nontemporal = false; tile = 0; cores = 1;     CPUs only: kernel/cpu_copy.h
 *     src_base_bytes, dst_base_bytes       byte addresses of element offset 0; both or neither
 * or, for CPUs, walks over memory instead of copying (kernel/pattern.h), measured once the caches are warm:
 *     pattern = "chase";                   or "read", "write", "copy"
 *     working_set = "1 MiB"; access_bytes = 8; stride_bytes = "64";     stride: else the access
 *     random = false; stagger = false; nontemporal = false; cores = 1;
 *     thread_bytes = "64";                 distance of the cores' working sets; else the working set
 *     accesses = "100000";                 about how many to measure; else as many as make sense
 * or, for GPUs, a loop body (kernel/body.h) instead of a copy:
 *     body = [ "...", "..." ];             its lines, or a single string
 *     params = { n = 4096; };              other values for its integer params
 *     warm_params = { turns = 1; };        a shorter run that warms the caches: its time and counts are subtracted
 *     resident_blocks = 0;                 as if shared memory let a core hold so many blocks; 0: what fits
 *     counted = 1.0;                       share of the bytes that it loads and stores that count as useful
 *     unroll = 1; vector = 1; window = 0; no_alias = false; max_registers = 0;     kernel/lower.h
 * A body or a pattern may be a series:
 *     x = [1, 2, 3];                       a case for each: the body's param x; what a pattern's working_set is times
 * Any of them may have
 *     measured_us, measured_ci95_us = [lo, hi];     a published or measured time to compare with
 */
#ifndef COALIGN_CONFIG_EXPERIMENT_CONFIG_H
#define COALIGN_CONFIG_EXPERIMENT_CONFIG_H

#include "base/status.h"
#include "config/reader.h"
#include "config/validation_config.h"
#include "kernel/body.h"
#include "kernel/lower.h"
#include "kernel/pattern.h"
#include "layout/plan.h"
#include "machine/machine.h"
#include "model/factor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXPERIMENT_TITLE_MAX = 160, EXPERIMENT_NAME_MAX = 128, EXPERIMENT_TEXT_MAX = 512, EXPERIMENT_PLACE_MAX = 320 };

typedef struct experiment_case {
    char name[EXPERIMENT_NAME_MAX];
    char series[EXPERIMENT_NAME_MAX];  /* the name without x */
    double x;                          /* of a series; else NAN */
    char place[EXPERIMENT_PLACE_MAX];  /* "configs/x.cfg:12": begins messages about this case */
    char dataset[EXPERIMENT_TEXT_MAX]; /* the case's dataset or shape, as the config spells it */
    copy_desc copy;
    copy_options options; /* .strategy is the plan's choice when `automatic` */
    bool automatic;       /* strategy = "auto" */
    bool patterned;       /* a pattern instead of a copy */
    pattern pattern;
    uint64_t accesses; /* of the pattern; 0: as many as make sense */
    bool bodied;       /* a loop body instead of a copy */
    bool warmed;       /* `warm` is to be subtracted */
    body body, warm;
    lower_options lowering;
    uint32_t resident_blocks;
    double counted;
    bool placed; /* the config gives the addresses below */
    int64_t src_base, dst_base;
    double measured_us; /* NAN: none; likewise its 95 % confidence interval */
    double measured_low_us, measured_high_us;
} experiment_case;

typedef struct experiment {
    char title[EXPERIMENT_TITLE_MAX]; /* "" when the config has none */
    uint64_t text_hash;               /* of the config's text, before overrides */
    machine mach;
    experiment_case *cases;
    size_t case_count;
    factoring *factoring; /* NULL: none; likewise */
    validation *validation;
} experiment;

/* Reads a config. machine_name (from -m) may be NULL. Overrides whose path begins with "machine." change the machine,
 * the others the config. Every strategy that a case asks for can do its copy, else ERR_INPUT with file and line.
 * Release *e with experiment_free, also after a failure. */
status experiment_load(const char *path, const char *machine_name, const config_overrides *overrides, experiment *e,
                       message *m);

/* Keeps the cases whose name contains one of parts[0 .. count); count 0: all. ERR_INPUT names a part that is in no
 * name. */
status experiment_select(experiment *e, const char *const *parts, size_t count, message *m);

void experiment_free(experiment *e);

/* For other kinds of configs that have a machine: the machine that -m or the config's `machine` (in_file) names, with
 * the overrides of `machine_overrides` and of the command line; and the overrides of the config itself. */
status experiment_machine(const config *c, const char *machine_name, const char *in_file,
                          const config_overrides *overrides, machine *mach, message *m);
status experiment_overrides(config *c, const config_overrides *overrides, message *m);

#endif

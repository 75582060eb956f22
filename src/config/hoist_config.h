/* hoist_config.h - what `coalign hoist` reads: loop bodies, how they are compiled and launched, and a machine.
 *
 *     title = "...";                       optional
 *     machine = "a100-40";                 as for machine_load; -m replaces it
 *     machine_overrides = (...);           optional, as -D machine.KEY=VALUE
 *     defaults = { ... };                  optional: any key of a case but name and body
 *     cases = ( { ... }, ... );
 *
 * A case:
 *     name = "...";                        else "case N"
 *     body = [ "...", "..." ];             the lines of the text (kernel/body.h), or a single string
 *     blocks = 432; threads = 128;         in place of the body's own, which may be left out; in x
 *     limit = 8;                           loads that are hoisted at most
 *     sweep = true;                        also simulate every smaller and larger number of hoisted loads
 *     unroll = 1; vector = 1; window = 0; no_alias = false; max_registers = 0; min_blocks = 0;   kernel/lower.h
 *
 * A file that is no config is the body of a single case.
 */
#ifndef COALIGN_CONFIG_HOIST_CONFIG_H
#define COALIGN_CONFIG_HOIST_CONFIG_H

#include "config/experiment_config.h"
#include "kernel/body.h"
#include "kernel/lower.h"

typedef struct hoist_case {
    char name[EXPERIMENT_NAME_MAX];
    char place[EXPERIMENT_PLACE_MAX]; /* "x.cfg:12: body", "x.body": begins messages, before line and column */
    body b;
    uint32_t limit;
    bool sweep;
    lower_options options;
} hoist_case;

typedef struct hoist_experiment {
    char title[EXPERIMENT_TITLE_MAX];
    machine mach;
    hoist_case *cases;
    size_t case_count;
} hoist_experiment;

/* Reads a config. machine_name (from -m) may be NULL. Overrides as for experiment_load. Free with
 * hoist_experiment_free, also after a failure. */
status hoist_experiment_load(const char *path, const char *machine_name, const config_overrides *overrides,
                             hoist_experiment *e, message *m);
/* One case of the given body. machine_name NULL: e->mach stays empty. Overrides are keys of that case
 * (unroll=4), or begin with "machine.". */
status hoist_experiment_body(const char *file, const char *text, size_t length, const char *machine_name,
                             const config_overrides *overrides, hoist_experiment *e, message *m);
void hoist_experiment_free(hoist_experiment *e);

#endif

/* machine_config.h - machine descriptions: from models/ *.cfg to struct machine, every value checked. */
#ifndef COALIGN_CONFIG_MACHINE_CONFIG_H
#define COALIGN_CONFIG_MACHINE_CONFIG_H

#include "base/status.h"
#include "config/reader.h"
#include "machine/machine.h"

#include <stddef.h>

enum { MACHINE_SUMMARY_MAX = 160, MACHINE_PATH_MAX = 512 };

/* Loads a machine. A name with '/' or ending in ".cfg" is a file; any other is looked for as NAME.cfg in
 * $COALIGN_MODELS,
 * ./models and models below datadir() (base/datadir.h), in that order. ERR_INPUT: no such machine (with the nearest names), a fault in
 * the file, or a machine that contradicts itself. */
status machine_load(const char *name_or_path, machine *out, message *m);

/* The same after applying -D overrides to the description. A leading "machine." of a path is optional. */
status machine_load_with(const char *name_or_path, const config_overrides *overrides, machine *out, message *m);

/* One override and the origin that its messages begin with, for callers with both kinds; see config_override. */
typedef struct machine_override {
    const char *assignment;
    const char *origin;
} machine_override;
status machine_load_overridden(const char *name_or_path, const machine_override *overrides, size_t count, machine *out,
                               message *m);

/* The group of a description in which a fault lies. */
typedef struct machine_part {
    const char *group; /* "core", "lsu", "levels", "memory", "dram" */
    uint32_t level;    /* of "levels": which */
} machine_part;

/* ERR_INPUT when the machine contradicts itself; *part says where. Loading does this itself, with file and line. */
status machine_check(const machine *mach, machine_part *part, message *m);

typedef struct machine_entry {
    char id[MACHINE_NAME_MAX];
    char name[MACHINE_NAME_MAX];
    char summary[MACHINE_SUMMARY_MAX]; /* one line; when the file is faulty, the message that loading it gives */
    char path[MACHINE_PATH_MAX];
    bool loads; /* the file describes a consistent machine */
} machine_entry;

/* All machine files of the search path, sorted by id; a file hides one of the same name further down the path. Release
 * *entries with mem_free. */
status machines_list(machine_entry **entries, size_t *count, message *m);

#endif

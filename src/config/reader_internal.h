/* reader_internal.h - what reader.c and override.c share. */
#ifndef COALIGN_CONFIG_READER_INTERNAL_H
#define COALIGN_CONFIG_READER_INTERNAL_H

#include "config/reader.h"
#include "config/source.h"

struct config {
    config_t tree;
    source text;   /* what the tree was parsed from */
    arena strings; /* the path; origins of overrides, to which hooks of settings point */
    const char *path;
};

/* The text of `name` in a group that has one, else NULL. */
const char *config_entry_name(const config_setting_t *group);

#endif

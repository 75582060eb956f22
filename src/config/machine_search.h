/* machine_search.h - finding machine files by name. */
#ifndef COALIGN_CONFIG_MACHINE_SEARCH_H
#define COALIGN_CONFIG_MACHINE_SEARCH_H

#include "config/machine_config.h"

/* The file of a machine: see machine_load. */
status machine_find(const char *name_or_path, char path[MACHINE_PATH_MAX], message *m);

/* A file below the folders of the machines: name "measured/x.csv". False: there is none. */
bool models_find(const char *name, char path[MACHINE_PATH_MAX]);

/* "models/v100.cfg" -> "v100"; cut to fit. */
void machine_stem(const char *path, char stem[MACHINE_NAME_MAX]);

#endif

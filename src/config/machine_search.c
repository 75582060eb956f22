#include "config/machine_search.h"

#include "base/datadir.h"
#include "base/mem.h"
#include "base/nearest.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DIRECTORIES = 3, NAMES_MAX = 256 };

/* NULL where the environment names none. `installed` is room for one of them. */
static void search_path(const char *directories[DIRECTORIES], char installed[MACHINE_PATH_MAX]) {
    directories[0] = getenv("COALIGN_MODELS");
    directories[1] = "models";
    char folder[DATADIR_MAX];
    snprintf(installed, MACHINE_PATH_MAX, "%.*s/models", MACHINE_PATH_MAX - 8, datadir(folder));
    directories[2] = installed;
}

static bool ends_in_cfg(const char *name) {
    size_t n = strlen(name);
    return n > 4 && strcmp(name + n - 4, ".cfg") == 0;
}

static bool is_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

void machine_stem(const char *path, char stem[MACHINE_NAME_MAX]) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t n = strlen(name) - (ends_in_cfg(name) ? 4 : 0);
    if (n >= MACHINE_NAME_MAX)
        n = MACHINE_NAME_MAX - 1;
    memcpy(stem, name, n);
    stem[n] = '\0';
}

static bool join(char path[MACHINE_PATH_MAX], const char *directory, const char *name, const char *suffix) {
    int n = snprintf(path, MACHINE_PATH_MAX, "%s/%s%s", directory, name, suffix);
    return n > 0 && n < MACHINE_PATH_MAX;
}

static int by_id(const void *a, const void *b) {
    return strcmp(((const machine_entry *)a)->id, ((const machine_entry *)b)->id);
}

/* Adds the machine files of one directory that are not hidden by earlier ones. Only id and path are set. */
static status scan_directory(const char *directory, machine_entry **entries, size_t *count, size_t *capacity,
                             message *m) {
    DIR *d = opendir(directory);
    if (!d)
        return OK; /* a missing directory of the path is no fault */
    status st = OK;
    for (const struct dirent *e; st == OK && (e = readdir(d)) != NULL;) {
        machine_entry entry = {.loads = false};
        if (!ends_in_cfg(e->d_name) || strlen(e->d_name) - 4 >= MACHINE_NAME_MAX ||
            !join(entry.path, directory, e->d_name, "") || !is_file(entry.path))
            continue;
        machine_stem(e->d_name, entry.id);
        bool hidden = false;
        for (size_t i = 0; i < *count; i++)
            hidden = hidden || strcmp((*entries)[i].id, entry.id) == 0;
        if (hidden)
            continue;
        if (mem_reserve((void **)entries, capacity, *count + 1, sizeof entry))
            (*entries)[(*count)++] = entry;
        else
            st = fail(m, ERR_MEMORY, "not enough memory to list the machines");
    }
    closedir(d);
    return st;
}

static status scan_all(machine_entry **entries, size_t *count, message *m) {
    const char *directories[DIRECTORIES];
    char installed[MACHINE_PATH_MAX];
    search_path(directories, installed);
    size_t capacity = 0;
    *entries = NULL;
    *count = 0;
    for (size_t i = 0; i < DIRECTORIES; i++)
        if (directories[i] && *directories[i])
            TRY(scan_directory(directories[i], entries, count, &capacity, m));
    if (*count > 1)
        qsort(*entries, *count, sizeof **entries, by_id);
    return OK;
}

static status unknown_machine(const char *name, message *m) {
    machine_entry *entries = NULL;
    size_t count = 0;
    status st = scan_all(&entries, &count, m);
    if (st == OK) {
        const char *names[NAMES_MAX];
        size_t n = count < NAMES_MAX ? count : NAMES_MAX;
        for (size_t i = 0; i < n; i++)
            names[i] = entries[i].id;
        char hint[512], folder[DATADIR_MAX];
        if (n > 0)
            st = fail(m, ERR_INPUT, "unknown machine '%s'%s", name, nearest_hint(hint, sizeof hint, name, names, n));
        else
            st = fail(m, ERR_INPUT,
                      "unknown machine '%s': there are no machine files in $COALIGN_MODELS, ./models or %s/models",
                      name, datadir(folder));
    }
    mem_free(entries);
    return st;
}

bool models_find(const char *name, char path[MACHINE_PATH_MAX]) {
    char installed[MACHINE_PATH_MAX];
    const char *directories[DIRECTORIES];
    search_path(directories, installed);
    for (size_t i = 0; i < DIRECTORIES; i++)
        if (directories[i] && *directories[i] && join(path, directories[i], name, "") && is_file(path))
            return true;
    return false;
}

status machine_find(const char *name, char path[MACHINE_PATH_MAX], message *m) {
    if (*name == '\0')
        return fail(m, ERR_INPUT, "the name of the machine is empty");
    if (strlen(name) + 8 >= MACHINE_PATH_MAX)
        return fail(m, ERR_INPUT, "the name of the machine is longer than %d bytes", MACHINE_PATH_MAX - 8);
    if (strchr(name, '/') || ends_in_cfg(name)) {
        memcpy(path, name, strlen(name) + 1);
        return OK;
    }
    const char *directories[DIRECTORIES];
    char installed[MACHINE_PATH_MAX];
    search_path(directories, installed);
    for (size_t i = 0; i < DIRECTORIES; i++)
        if (directories[i] && *directories[i] && join(path, directories[i], name, ".cfg") && is_file(path))
            return OK;
    return unknown_machine(name, m);
}

static void describe(machine_entry *entry) {
    machine mach;
    message why = {{0}};
    memcpy(entry->name, entry->id, sizeof entry->name);
    entry->loads = machine_load(entry->path, &mach, &why) == OK;
    if (!entry->loads) {
        snprintf(entry->summary, sizeof entry->summary, "%.*s", (int)sizeof entry->summary - 1, why.text);
        return;
    }
    memcpy(entry->name, mach.name, sizeof entry->name);
    config *c = NULL;
    if (config_open(entry->path, &c, &why) == OK) {
        const config_setting_t *s = config_member(config_root(c), "summary");
        const char *text = s ? config_setting_get_string(s) : NULL;
        snprintf(entry->summary, sizeof entry->summary, "%.*s", (int)sizeof entry->summary - 1, text ? text : "");
        config_close(c);
    }
}

status machines_list(machine_entry **entries, size_t *count, message *m) {
    status st = scan_all(entries, count, m);
    if (st != OK) {
        mem_free(*entries);
        *entries = NULL;
        *count = 0;
        return st;
    }
    for (size_t i = 0; i < *count; i++)
        describe(&(*entries)[i]);
    return OK;
}

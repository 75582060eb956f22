#include "base/datadir.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The build may set it. */
#ifndef COALIGN_DATADIR
#define COALIGN_DATADIR "/usr/local/share/coalign"
#endif

static const char below_prefix[] = "/share/coalign";

/* Cuts the last part of a path off; false: there is none. */
static int cut(char *path) {
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
    return slash != NULL;
}

char *datadir(char path[DATADIR_MAX]) {
    struct stat info;
    const ssize_t n = readlink("/proc/self/exe", path, DATADIR_MAX - sizeof below_prefix);
    if (n > 0) {
        path[n] = '\0';
        if (cut(path) && cut(path)) {
            strcat(path, below_prefix);
            if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
                return path;
        }
    }
    snprintf(path, DATADIR_MAX, "%s", COALIGN_DATADIR);
    return path;
}

#include "cmd/command.h"

/* COALIGN_VERSION comes from the build: version and commit. */
const char *coalign_version(void) {
    return COALIGN_VERSION;
}

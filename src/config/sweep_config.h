/* sweep_config.h - which points a sweep visits: some keys of a config, each with its values.
 *
 *     sweep = {
 *         mode = "grid";                    every combination, the last key changing fastest; or "zip": side by side
 *         over = (
 *             { key = "defaults.access_bytes"; values = [4, 8, 16]; },
 *             { key = "defaults.working_set";  values = "4 KiB .. 64 MiB * 2"; },
 *             { key = "machine";               values = ["a100-40", "v100"]; }
 *         );
 *     };
 *
 * A key is a path as -D takes it. Values are a list, or a text: entries between commas (those in brackets do not
 * count), each a value or a range FROM..TO (in steps of 1), FROM..TO+STEP or FROM..TO*FACTOR, TO included where the
 * steps meet it. Ends of a range may have units of bytes.
 */
#ifndef COALIGN_CONFIG_SWEEP_CONFIG_H
#define COALIGN_CONFIG_SWEEP_CONFIG_H

#include "base/mem.h"
#include "config/reader.h"

enum { SWEEP_AXES_MAX = 16, SWEEP_VALUES_MAX = 100000, SWEEP_KEY_MAX = 256 };
#define SWEEP_POINTS_MAX UINT64_C(10000000)

typedef struct sweep_axis {
    const char *key;
    const char **value; /* as after -D KEY= */
    size_t count, capacity;
} sweep_axis;

typedef struct sweep {
    sweep_axis axis[SWEEP_AXES_MAX];
    size_t axes;
    bool zip;
    uint64_t points;
    arena text;
} sweep;

/* Reads the section `sweep` of the config at `path`. over: KEY=VALUES of the command line; one whose key the config has
 * too replaces its values. zip: side by side, whatever the config says. ERR_INPUT with its place: no values at all, a
 * range that is none, sides of different lengths, more than SWEEP_POINTS_MAX points. Release *s with sweep_free, also
 * after a failure. */
status sweep_load(const char *path, const config_overrides *overrides, const char *const *over, size_t over_count,
                  bool zip, sweep *s, message *m);
void sweep_free(sweep *s);

/* Which value of an axis point `point` (from 0) has. */
const char *sweep_value(const sweep *s, size_t axis, uint64_t point);

#endif

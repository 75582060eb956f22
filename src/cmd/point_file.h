/* point_file.h - the points of a sweep in CSV files: a header, then a line per point, in any order, that begins with
 * the sweep's hash, the number of the point (from 0) and how many there are:
 *
 *     sweep,point,points,...
 *     00f3a1c09d3e7b42,17,200,...
 *
 * A set is the union of such files, all of one sweep. No line has a line break of its own.
 */
#ifndef COALIGN_CMD_POINT_FILE_H
#define COALIGN_CMD_POINT_FILE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct point_place {
    uint32_t file; /* from 1; 0: nowhere */
    int64_t offset;
} point_place;

typedef struct point_input {
    char *path;
    FILE *stream;
} point_input;

typedef struct point_set {
    char *header; /* with its line feed */
    uint64_t sweep, points;
    point_place *place; /* [points] */
    uint64_t have;
    point_input *input;
    size_t inputs, input_capacity;
} point_set;

/* A set without files of a known sweep. A set that is all zero takes header and sweep from its first file. Release *s
 * with point_set_free, also after a failure. */
status point_set_begin(point_set *s, const char *header, uint64_t sweep, uint64_t points, message *m);

/* Adds a file. *whole (not NULL): bytes up to the end of the last whole line, so that what a kill has cut off is left
 * out; NULL: the file must end with its line. ERR_INPUT with file and line: no such file, another sweep, a damaged
 * line, a point that is there already. */
status point_set_add(point_set *s, const char *path, int64_t *whole, message *m);

/* Header and lines by number of the point. ERR_IO on reading; the state of `out` is the caller's to look at. */
status point_set_write(const point_set *s, FILE *out, message *m);

void point_set_free(point_set *s);

#endif

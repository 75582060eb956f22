#include "cmd/point_file.h"

#include "base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char head[] = "sweep,point,points,";

static char *copy_of(const char *text) {
    char *copy = mem_zero(strlen(text) + 1, 1);
    return copy ? memcpy(copy, text, strlen(text) + 1) : NULL;
}

status point_set_begin(point_set *s, const char *header, uint64_t sweep, uint64_t points, message *m) {
    *s = (point_set){.sweep = sweep, .points = points};
    s->header = copy_of(header);
    s->place = mem_zero(points, sizeof *s->place);
    return s->header && s->place ? OK : fail(m, ERR_MEMORY, "not enough memory for %" PRIu64 " points", points);
}

static bool number(const char **at, int base, uint64_t *value) {
    char *end = NULL;
    errno = 0;
    *value = strtoull(*at, &end, base);
    const bool good = !errno && end != *at && **at != '-' && **at != '+' && **at != ' ' && *end == ',';
    *at = end + 1;
    return good;
}

static bool read_identity(const char *line, uint64_t *sweep, uint64_t *point, uint64_t *points) {
    return number(&line, 16, sweep) && number(&line, 10, point) && number(&line, 10, points) && *point < *points;
}

static status take_header(point_set *s, const char *path, const char *line, message *m) {
    if (strncmp(line, head, sizeof head - 1) != 0)
        return fail_at(m, path, 1, "this is no result of coalign sweep: it does not begin with %s", head);
    if (!s->header) {
        s->header = copy_of(line);
        return s->header ? OK : fail(m, ERR_MEMORY, "not enough memory");
    }
    if (strcmp(s->header, line) != 0)
        return fail_at(m, path, 1, "the columns differ from those of %s: another sweep or version",
                       s->inputs ? s->input[0].path : "this sweep");
    return OK;
}

static status take_line(point_set *s, const char *path, int row, const char *line, int64_t offset, message *m) {
    uint64_t sweep = 0, point = 0, points = 0;
    if (!read_identity(line, &sweep, &point, &points))
        return fail_at(m, path, row, "this is no line of a sweep: %.40s", line);
    if (!s->place) {
        s->sweep = sweep;
        s->points = points;
        s->place = mem_zero(points, sizeof *s->place);
        if (!s->place)
            return fail(m, ERR_MEMORY, "not enough memory for %" PRIu64 " points", points);
    }
    if (sweep != s->sweep || points != s->points)
        return fail_at(m, path, row,
                       "another sweep: config, machine, options or version differ (%016" PRIx64 ", not %016" PRIx64 ")",
                       sweep, s->sweep);
    point_place *place = &s->place[point];
    if (place->file)
        return fail_at(m, path, row, "point %" PRIu64 " is there already, in %s", point,
                       place->file > s->inputs ? "this file" : s->input[place->file - 1].path);
    *place = (point_place){(uint32_t)s->inputs + 1, offset};
    s->have++;
    return OK;
}

static status take_lines(point_set *s, const char *path, FILE *in, int64_t *whole, message *m) {
    char *line = NULL;
    size_t room = 0;
    int64_t offset = 0;
    status st = OK;
    for (int row = 1; st == OK; row++) {
        const ssize_t n = getline(&line, &room, in);
        if (n < 0 && ferror(in))
            st = fail(m, ERR_IO, "cannot read %s: %s", path, strerror(errno));
        if (n < 0)
            break;
        if (line[n - 1] != '\n') {
            if (!whole)
                st = fail_at(m, path, row, "the file ends within this line: it was cut off");
            break;
        }
        st = row == 1 ? take_header(s, path, line, m) : take_line(s, path, row, line, offset, m);
        offset += n;
    }
    free(line);
    if (st == OK && !whole && offset == 0)
        st = fail_at(m, path, 0, "the file is empty");
    if (whole)
        *whole = offset;
    return st;
}

status point_set_add(point_set *s, const char *path, int64_t *whole, message *m) {
    if (!mem_reserve((void **)&s->input, &s->input_capacity, s->inputs + 1, sizeof *s->input))
        return fail(m, ERR_MEMORY, "not enough memory");
    FILE *in = fopen(path, "r");
    if (!in)
        return fail_at(m, path, 0, "cannot be opened: %s", strerror(errno));
    char *name = copy_of(path);
    status st = name ? take_lines(s, path, in, whole, m) : fail(m, ERR_MEMORY, "not enough memory");
    if (st == OK) {
        s->input[s->inputs++] = (point_input){name, in};
        return OK;
    }
    fclose(in);
    mem_free(name);
    return st;
}

status point_set_write(const point_set *s, FILE *out, message *m) {
    fputs(s->header, out);
    char *line = NULL;
    size_t room = 0;
    status st = OK;
    for (uint64_t i = 0; i < s->points && st == OK; i++) {
        const point_place *place = &s->place[i];
        if (!place->file)
            continue;
        const point_input *in = &s->input[place->file - 1];
        if (fseeko(in->stream, place->offset, SEEK_SET) != 0 || getline(&line, &room, in->stream) < 0)
            st = fail(m, ERR_IO, "cannot read %s: %s", in->path, errno ? strerror(errno) : "it has become shorter");
        else
            fputs(line, out);
    }
    free(line);
    return st;
}

void point_set_free(point_set *s) {
    for (size_t i = 0; i < s->inputs; i++) {
        fclose(s->input[i].stream);
        mem_free(s->input[i].path);
    }
    mem_free(s->input);
    mem_free(s->place);
    mem_free(s->header);
    *s = (point_set){.header = NULL};
}

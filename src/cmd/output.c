#include "cmd/output.h"

#include "base/mem.h"
#include "cmd/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WIDTH_MAX = 160 };

static report_format format_of(const char *path, report_format otherwise) {
    const char *dot = strrchr(path, '.');
    if (dot && strcmp(dot, ".json") == 0)
        return REPORT_JSON;
    if (dot && strcmp(dot, ".csv") == 0)
        return REPORT_CSV;
    return otherwise;
}

static char *joined(const char *a, const char *b) {
    size_t size = strlen(a) + strlen(b) + 1;
    char *text = mem_zero(size, 1);
    if (text)
        snprintf(text, size, "%s%s", a, b);
    return text;
}

static status cannot(const char *path, message *m) {
    return fail(m, ERR_IO, "cannot write %s: %s", path, strerror(errno));
}

/* A new file in the same folder, with the permissions that a plain open would give it. */
static status open_beside(output *o, message *m) {
    o->temporary = joined(o->path, ".XXXXXX");
    if (!o->temporary)
        return fail(m, ERR_MEMORY, "not enough memory");
    int fd = mkstemp(o->temporary);
    if (fd < 0) {
        mem_free(o->temporary);
        o->temporary = NULL;
        return cannot(o->path, m);
    }
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    o->stream = fdopen(fd, "w");
    if (!o->stream) {
        close(fd);
        return cannot(o->path, m);
    }
    return OK;
}

static status open_one(output *o, const char *path, report_format format, message *m) {
    *o = (output){.format = format};
    if (!*path)
        return fail(m, ERR_INPUT, "-o: the name of the file is empty");
    if (strcmp(path, "-") == 0) {
        o->stream = stdout;
        return OK;
    }
    o->format = format_of(path, format);
    struct stat info;
    bool exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
        return fail(m, ERR_IO, "cannot write %s: it is a directory", path);
    /* Through symbolic links: the file that they lead to is replaced, not the link. */
    char *target = exists ? realpath(path, NULL) : NULL;
    o->path = joined(target ? target : path, "");
    free(target);
    if (!o->path)
        return fail(m, ERR_MEMORY, "not enough memory");
    if (!exists || S_ISREG(info.st_mode))
        return open_beside(o, m);
    o->stream = fopen(path, "w");
    return o->stream ? OK : cannot(path, m);
}

status outputs_open(outputs *o, const arguments *args, message *m) {
    size_t wanted = args->output_count ? args->output_count : 1;
    *o = (outputs){.list = mem_zero(wanted, sizeof *o->list)};
    if (!o->list)
        return fail(m, ERR_MEMORY, "not enough memory");
    for (size_t i = 0; i < wanted; i++) {
        o->count = i + 1;
        TRY(open_one(&o->list[i], args->output_count ? args->outputs[i] : "-", args->format, m));
    }
    return OK;
}

/* Columns of text: the width of a terminal. */
static size_t width_of(FILE *stream) {
    struct winsize size;
    int fd = fileno(stream);
    if (fd >= 0 && isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
        return size.ws_col < WIDTH_MAX ? size.ws_col : WIDTH_MAX;
    return REPORT_WIDTH;
}

report_options output_options(const output *o, const arguments *args, const char *title) {
    return (report_options){.format = o->format,
                            .width = width_of(o->stream),
                            .title = title,
                            .details = args->details,
                            .version = coalign_version()};
}

status output_written(const output *o, status s) {
    return s == ERR_IO && o->stream == stdout && interrupt_reader_left() ? OK : s;
}

/* Gives the output the name that partial results have. */
static status rename_partial(output *o, message *m) {
    char *partial = joined(o->path, ".partial");
    if (!partial)
        return fail(m, ERR_MEMORY, "not enough memory");
    fprintf(stderr, "coalign: interrupted: what is done is in %s\n", partial);
    mem_free(o->path);
    o->path = partial;
    return OK;
}

static status commit(output *o, bool partial, message *m) {
    if (!o->path)
        return output_written(o, stream_status(o->stream, "standard output", m));
    TRY(stream_status(o->stream, o->path, m));
    if (partial && o->temporary)
        TRY(rename_partial(o, m));
    const char *name = o->path;
    /* The data must be on its way to the disk before the name points to it. Not all file systems can sync. */
    bool synced = !o->temporary || fsync(fileno(o->stream)) == 0 || errno == EINVAL || errno == EROFS;
    bool closed = fclose(o->stream) == 0;
    o->stream = NULL;
    if (!synced || !closed)
        return cannot(name, m);
    if (o->temporary && rename(o->temporary, o->path) != 0)
        return cannot(name, m);
    mem_free(o->temporary);
    o->temporary = NULL;
    return OK;
}

status outputs_commit(outputs *o, message *m) {
    for (size_t i = 0; i < o->count; i++)
        TRY(commit(&o->list[i], o->partial, m));
    return OK;
}

status outputs_report(outputs *o, const arguments *args, const char *title, const run_record *records, size_t count,
                      message *m) {
    for (size_t i = 0; i < o->count; i++) {
        const report_options options = output_options(&o->list[i], args, title);
        TRY(output_written(&o->list[i], report_write(o->list[i].stream, &options, records, count, m)));
    }
    return outputs_commit(o, m);
}

void outputs_close(outputs *o) {
    for (size_t i = 0; i < o->count; i++) {
        output *one = &o->list[i];
        if (one->stream && one->stream != stdout)
            fclose(one->stream);
        if (one->temporary)
            unlink(one->temporary);
        mem_free(one->temporary);
        mem_free(one->path);
    }
    mem_free(o->list);
    *o = (outputs){0};
}

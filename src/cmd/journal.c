#include "cmd/journal.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static status cannot(const journal *j, const char *what, message *m) {
    return fail(m, ERR_IO, "cannot %s %s: %s", what, j->path, strerror(errno));
}

/* All of it, or back to what was there. */
static status append(journal *j, const char *text, size_t length, message *m) {
    size_t written = 0;
    while (written < length) {
        const ssize_t n = pwrite(j->file, text + written, length - written, j->end + (off_t)written);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        written += (size_t)n;
    }
    /* Not all file systems can sync. */
    if (written == length && (fdatasync(j->file) == 0 || errno == EINVAL || errno == EROFS)) {
        j->end += (int64_t)length;
        return OK;
    }
    const status st =
        fail(m, ERR_IO, "cannot write %s: %s; what is done is kept: start the same command again when there is space",
             j->path, strerror(errno));
    /* Should this fail too, the next journal_open drops the torn line. */
    const int undone = ftruncate(j->file, j->end);
    (void)undone;
    return st;
}

/* The lock goes with the process. A file system without locks has to do without. */
static status lock(const journal *j, message *m) {
    if (flock(j->file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return OK;
    return fail(m, ERR_INPUT, "%s is being written by another process: wait for it, or use another -o", j->path);
}

status journal_open(journal *j, const char *path, point_set *set, message *m) {
    *j = (journal){.file = -1, .set = set};
    j->path = mem_zero(strlen(path) + 1, 1);
    if (!j->path)
        return fail(m, ERR_MEMORY, "not enough memory");
    memcpy(j->path, path, strlen(path));
    j->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (j->file < 0)
        return cannot(j, "write", m);
    TRY(lock(j, m));
    message why = {{0}};
    const status st = point_set_add(set, path, &j->end, &why);
    if (st == ERR_INPUT)
        return fail(m, st, "%.700s; remove it to begin anew, or use another -o", why.text);
    if (st != OK)
        return fail(m, st, "%s", why.text);
    if (ftruncate(j->file, j->end) != 0)
        return cannot(j, "write", m);
    return j->end ? OK : append(j, set->header, strlen(set->header), m);
}

status journal_append(journal *j, uint64_t point, const char *line, size_t length, message *m) {
    const int64_t offset = j->end;
    TRY(append(j, line, length, m));
    j->set->place[point] = (point_place){1, offset};
    j->set->have++;
    return OK;
}

status journal_remove(const journal *j, message *m) {
    return unlink(j->path) == 0 ? OK : cannot(j, "remove", m);
}

void journal_close(journal *j) {
    if (j->file >= 0)
        close(j->file);
    mem_free(j->path);
    *j = (journal){.file = -1};
}

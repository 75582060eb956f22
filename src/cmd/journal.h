/* journal.h - the finished points of a sweep in a file (point_file.h), each on the disk before the next is begun, so
 * that a sweep that was killed goes on where it stopped.
 *
 * A last line without its end, which a kill or a full disk leaves, is dropped. One process at a time may write.
 */
#ifndef COALIGN_CMD_JOURNAL_H
#define COALIGN_CMD_JOURNAL_H

#include "cmd/point_file.h"

typedef struct journal {
    char *path;
    int file;
    int64_t end;    /* bytes that are whole */
    point_set *set; /* what the file has */
} journal;

/* Opens or creates the file and adds what it has to the set, which has begun and has no files. ERR_INPUT: the file is
 * of another sweep, or another process writes it. ERR_IO. Release *j with journal_close, also after a failure; the set
 * outlives it. */
status journal_open(journal *j, const char *path, point_set *set, message *m);

/* Appends the line of a point, line feed included, and has it on the disk. ERR_IO: the file is as it was. */
status journal_append(journal *j, uint64_t point, const char *line, size_t length, message *m);

/* Removes the file. ERR_IO. */
status journal_remove(const journal *j, message *m);
void journal_close(journal *j);

#endif

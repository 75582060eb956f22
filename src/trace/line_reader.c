#include "trace/line_reader.h"

#include "base/mem.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

enum { BLOCK = 1 << 18 };

struct line_reader {
    const char *name; /* the caller's */
    struct archive *archive;
    bool ended;
    int line;
    size_t begin, end; /* of what is read and not used */
    const char *last, *last_end;
    bool again; /* last comes once more */
    char text[LINE_MAX_BYTES + BLOCK];
};

status line_reader_open(const char *path, line_reader **out, message *m) {
    *out = NULL;
    const bool input = strcmp(path, "-") == 0;
    struct stat info;
    if (!input && stat(path, &info) != 0)
        return fail(m, ERR_IO, "cannot read %s: %s", path, strerror(errno));
    if (!input && S_ISDIR(info.st_mode))
        return fail(m, ERR_IO, "cannot read %s: it is a directory", path);
    line_reader *r = mem_zero(1, sizeof *r);
    if (!r)
        return fail(m, ERR_MEMORY, "not enough memory");
    r->name = input ? "standard input" : path;
    r->archive = archive_read_new();
    if (!r->archive) {
        line_reader_close(r);
        return fail(m, ERR_MEMORY, "not enough memory");
    }
    archive_read_support_filter_all(r->archive);
    archive_read_support_format_raw(r->archive);
    archive_read_support_format_empty(r->archive);
    struct archive_entry *entry;
    if (archive_read_open_filename(r->archive, input ? NULL : path, BLOCK) != ARCHIVE_OK) {
        const status s = fail(m, ERR_IO, "cannot read %s: %s", r->name, archive_error_string(r->archive));
        line_reader_close(r);
        return s;
    }
    const int header = archive_read_next_header(r->archive, &entry);
    if (header != ARCHIVE_OK && header != ARCHIVE_EOF) {
        const status s = fail(m, ERR_IO, "cannot read %s: %s", r->name, archive_error_string(r->archive));
        line_reader_close(r);
        return s;
    }
    r->ended = header == ARCHIVE_EOF;
    *out = r;
    return OK;
}

void line_reader_close(line_reader *r) {
    if (!r)
        return;
    archive_read_free(r->archive);
    mem_free(r);
}

/* Moves the rest of a line to the front and reads on behind it. */
static status refill(line_reader *r, message *m) {
    memmove(r->text, r->text + r->begin, r->end - r->begin);
    r->end -= r->begin;
    r->begin = 0;
    const la_ssize_t n = archive_read_data(r->archive, r->text + r->end, BLOCK);
    if (n < 0)
        return fail_at(m, r->name, r->line + 1, "the file cannot be read on: %s", archive_error_string(r->archive));
    r->end += (size_t)n;
    r->ended = n == 0;
    return OK;
}

status line_reader_next(line_reader *r, const char **text, const char **text_end, message *m) {
    *text = NULL;
    if (r->again) {
        r->again = false;
        *text = r->last;
        *text_end = r->last_end;
        return OK;
    }
    for (;;) {
        char *newline = memchr(r->text + r->begin, '\n', r->end - r->begin);
        const size_t length = newline ? (size_t)(newline - r->text) - r->begin : r->end - r->begin;
        if (length >= LINE_MAX_BYTES)
            return fail_at(m, r->name, r->line + 1, "a line of %d bytes or more: this is no trace", LINE_MAX_BYTES);
        if (!newline && !r->ended) {
            TRY(refill(r, m));
            continue;
        }
        if (!newline && length == 0)
            return OK;
        *text = r->text + r->begin;
        *text_end = *text + length;
        r->begin += length + (newline ? 1 : 0);
        if (r->line == INT_MAX)
            r->line--; /* messages of longer files name this line */
        r->line++;
        if (length && (*text_end)[-1] == '\r')
            (*text_end)--;
        r->last = *text;
        r->last_end = *text_end;
        return OK;
    }
}

void line_reader_again(line_reader *r) {
    r->again = true;
}

status line_reader_next_text(line_reader *r, const char **text, const char **end, message *m) {
    do {
        TRY(line_reader_next(r, text, end, m));
        if (*text)
            line_skip_blanks(text, *end);
    } while (*text && *text == *end);
    return OK;
}

const char *line_reader_name(const line_reader *r) {
    return r->name;
}

int line_reader_line(const line_reader *r) {
    return r->line;
}

status line_reader_bad(const line_reader *r, const char *text, const char *end, const char *what, message *m) {
    char shown[48];
    size_t n = 0;
    for (; text < end && n + 1 < sizeof shown; text++)
        shown[n++] = *text >= ' ' && *text <= '~' ? *text : '?';
    shown[n] = '\0';
    return fail_at(m, r->name, r->line, "'%s': %s", shown, what);
}

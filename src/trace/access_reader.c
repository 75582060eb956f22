#include "trace/access_reader.h"

#include "base/mem.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

enum { BLOCK = 1 << 18, LINE_MAX_BYTES = 4096 };

typedef enum trace_format { FORMAT_UNKNOWN, FORMAT_LACKEY, FORMAT_DINERO } trace_format;

struct access_reader {
    const char *name; /* the caller's */
    struct archive *archive;
    trace_format format;
    bool ended, any;
    int line;
    size_t begin, end; /* of what is read and not used */
    char text[LINE_MAX_BYTES + BLOCK];
};

/* ---- lines ------------------------------------------------------------------------------------------------------- */

status access_reader_open(const char *path, access_reader **out, message *m) {
    *out = NULL;
    const bool input = strcmp(path, "-") == 0;
    struct stat info;
    if (!input && stat(path, &info) != 0)
        return fail(m, ERR_IO, "cannot read %s: %s", path, strerror(errno));
    if (!input && S_ISDIR(info.st_mode))
        return fail(m, ERR_IO, "cannot read %s: it is a directory", path);
    access_reader *r = mem_zero(1, sizeof *r);
    if (!r)
        return fail(m, ERR_MEMORY, "not enough memory");
    r->name = input ? "standard input" : path;
    r->archive = archive_read_new();
    if (!r->archive) {
        access_reader_close(r);
        return fail(m, ERR_MEMORY, "not enough memory");
    }
    archive_read_support_filter_all(r->archive);
    archive_read_support_format_raw(r->archive);
    archive_read_support_format_empty(r->archive);
    struct archive_entry *entry;
    if (archive_read_open_filename(r->archive, input ? NULL : path, BLOCK) != ARCHIVE_OK) {
        const status s = fail(m, ERR_IO, "cannot read %s: %s", r->name, archive_error_string(r->archive));
        access_reader_close(r);
        return s;
    }
    const int header = archive_read_next_header(r->archive, &entry);
    if (header != ARCHIVE_OK && header != ARCHIVE_EOF) {
        const status s = fail(m, ERR_IO, "cannot read %s: %s", r->name, archive_error_string(r->archive));
        access_reader_close(r);
        return s;
    }
    r->ended = header == ARCHIVE_EOF;
    *out = r;
    return OK;
}

void access_reader_close(access_reader *r) {
    if (!r)
        return;
    archive_read_free(r->archive);
    mem_free(r);
}

/* Moves the rest of a line to the front and reads on behind it. */
static status refill(access_reader *r, message *m) {
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

/* The next line without its end; *text NULL after the last. */
static status next_line(access_reader *r, const char **text, const char **text_end, message *m) {
    *text = NULL;
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
        return OK;
    }
}

/* ---- numbers and words ------------------------------------------------------------------------------------------- */

static int digit_of(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

/* At least one digit, less than 2^64; false otherwise. */
static bool number(const char **p, const char *end, int base, uint64_t *value) {
    uint64_t v = 0;
    const char *first = *p;
    for (; *p < end && digit_of(**p) < base; (*p)++)
        if (__builtin_mul_overflow(v, (uint64_t)base, &v) || __builtin_add_overflow(v, (uint64_t)digit_of(**p), &v))
            return false;
    *value = v;
    return *p > first;
}

static void skip_blanks(const char **p, const char *end) {
    while (*p < end && (**p == ' ' || **p == '\t'))
        (*p)++;
}

static bool hexadecimal(const char **p, const char *end, uint64_t *value) {
    if (end - *p > 2 && (*p)[0] == '0' && ((*p)[1] == 'x' || (*p)[1] == 'X'))
        *p += 2;
    return number(p, end, 16, value);
}

static status bad(const access_reader *r, const char *text, const char *end, const char *what, message *m) {
    char shown[48];
    size_t n = 0;
    for (; text < end && n + 1 < sizeof shown; text++)
        shown[n++] = *text >= ' ' && *text <= '~' ? *text : '?';
    shown[n] = '\0';
    return fail_at(m, r->name, r->line, "'%s': %s", shown, what);
}

/* ---- formats ----------------------------------------------------------------------------------------------------- */

static status lackey(const access_reader *r, const char *text, const char *end, trace_access *a, message *m) {
    const char *p = text;
    uint64_t size = 0;
    skip_blanks(&p, end);
    const char kind = p < end ? *p++ : '\0';
    a->kind = kind == 'L' ? TRACE_READ : kind == 'S' ? TRACE_WRITE : kind == 'M' ? TRACE_MODIFY : TRACE_FETCH;
    if (!strchr("LSMI", kind) || kind == '\0')
        return bad(r, text, end, "a line of Lackey starts with I, L, S or M", m);
    skip_blanks(&p, end);
    if (!number(&p, end, 16, &a->addr) || p == end || *p++ != ',' || !number(&p, end, 10, &size) || p != end)
        return bad(r, text, end, "a hexadecimal address of 64 bits, a comma and a decimal size are needed", m);
    if (size < 1 || size > UINT32_MAX)
        return bad(r, text, end, "a size from 1 to 2^32 - 1 bytes is needed", m);
    a->size = (uint32_t)size;
    return OK;
}

static status dinero(const access_reader *r, const char *text, const char *end, trace_access *a, message *m) {
    const char *p = text;
    uint64_t size = 4; /* what the format says where it says nothing */
    skip_blanks(&p, end);
    switch (p < end ? *p++ : '\0') {
    case '0':
    case 'r':
        a->kind = TRACE_READ;
        break;
    case '1':
    case 'w':
        a->kind = TRACE_WRITE;
        break;
    case '2':
    case 'i':
        a->kind = TRACE_FETCH;
        break;
    case '3':
    case '4':
    case 'm':
    case 'f':
        return bad(r, text, end, "label 3 or 4 is no access; remove such lines", m);
    default:
        return bad(r, text, end, "a label is needed: 0, 1, 2 or r, w, i", m);
    }
    const char *gap = p;
    skip_blanks(&p, end);
    if (p == gap || !hexadecimal(&p, end, &a->addr))
        return bad(r, text, end, "a hexadecimal address of 64 bits is needed after the label", m);
    skip_blanks(&p, end);
    /* Traditional traces may end in a comment; a word that is no number is one. */
    if (p < end && digit_of(*p) < 16 && !hexadecimal(&p, end, &size))
        return bad(r, text, end, "the size is no hexadecimal number", m);
    if (size < 1 || size > UINT32_MAX)
        return bad(r, text, end, "a size from 1 to 2^32 - 1 bytes is needed", m);
    a->size = (uint32_t)size;
    return OK;
}

static trace_format format_of(const char *text, const char *end) {
    const char *p = text;
    skip_blanks(&p, end);
    if (p < end && strchr("ILSM", *p))
        return FORMAT_LACKEY;
    if (p < end && strchr("012rwi34mf", *p))
        return FORMAT_DINERO;
    return FORMAT_UNKNOWN;
}

static bool is_message(const char *text, const char *end) {
    return end - text >= 2 && text[0] == '=' && text[1] == '=';
}

status access_reader_next(access_reader *r, trace_access *out, size_t capacity, size_t *count, message *m) {
    *count = 0;
    while (*count < capacity) {
        const char *text, *end;
        TRY(next_line(r, &text, &end, m));
        if (!text)
            break;
        if (text == end || is_message(text, end))
            continue;
        if (r->format == FORMAT_UNKNOWN)
            r->format = format_of(text, end);
        if (r->format == FORMAT_UNKNOWN)
            return bad(r, text, end, "neither a line of Lackey (I, L, S, M) nor of Dinero (0, 1, 2, r, w, i)", m);
        TRY(r->format == FORMAT_LACKEY ? lackey(r, text, end, &out[*count], m) : dinero(r, text, end, &out[*count], m));
        ++*count;
        r->any = true;
    }
    if (*count == 0 && !r->any && capacity)
        return fail_at(m, r->name, 0, "there is no access in this trace");
    return OK;
}

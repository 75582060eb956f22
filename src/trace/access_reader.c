#include "trace/access_reader.h"

#include "base/mem.h"
#include "trace/line_reader.h"

#include <string.h>

typedef enum trace_format { FORMAT_UNKNOWN, FORMAT_LACKEY, FORMAT_DINERO } trace_format;

struct access_reader {
    line_reader *lines;
    trace_format format;
    bool any;
};

status access_reader_open(const char *path, access_reader **out, message *m) {
    access_reader *r = mem_zero(1, sizeof *r);
    *out = NULL;
    if (!r)
        return fail(m, ERR_MEMORY, "not enough memory");
    const status s = line_reader_open(path, &r->lines, m);
    if (s == OK)
        *out = r;
    else
        mem_free(r);
    return s;
}

void access_reader_close(access_reader *r) {
    if (!r)
        return;
    line_reader_close(r->lines);
    mem_free(r);
}

/* ---- formats ----------------------------------------------------------------------------------------------------- */

static status lackey(const line_reader *r, const char *text, const char *end, trace_access *a, message *m) {
    const char *p = text;
    uint64_t size = 0;
    line_skip_blanks(&p, end);
    const char kind = p < end ? *p++ : '\0';
    a->kind = kind == 'L' ? TRACE_READ : kind == 'S' ? TRACE_WRITE : kind == 'M' ? TRACE_MODIFY : TRACE_FETCH;
    if (!strchr("LSMI", kind) || kind == '\0')
        return line_reader_bad(r, text, end, "a line of Lackey starts with I, L, S or M", m);
    line_skip_blanks(&p, end);
    if (!line_number(&p, end, 16, &a->addr) || p == end || *p++ != ',' || !line_number(&p, end, 10, &size) || p != end)
        return line_reader_bad(r, text, end, "a hexadecimal address of 64 bits, a comma and a decimal size are needed",
                               m);
    if (size < 1 || size > UINT32_MAX)
        return line_reader_bad(r, text, end, "a size from 1 to 2^32 - 1 bytes is needed", m);
    a->size = (uint32_t)size;
    return OK;
}

static status dinero(const line_reader *r, const char *text, const char *end, trace_access *a, message *m) {
    const char *p = text;
    uint64_t size = 4; /* what the format says where it says nothing */
    line_skip_blanks(&p, end);
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
        return line_reader_bad(r, text, end, "label 3 or 4 is no access; remove such lines", m);
    default:
        return line_reader_bad(r, text, end, "a label is needed: 0, 1, 2 or r, w, i", m);
    }
    const char *gap = p;
    line_skip_blanks(&p, end);
    if (p == gap || !line_hexadecimal(&p, end, &a->addr))
        return line_reader_bad(r, text, end, "a hexadecimal address of 64 bits is needed after the label", m);
    line_skip_blanks(&p, end);
    /* Traditional traces may end in a comment; a word that is no number is one. */
    if (p < end && line_digit(*p) < 16 && !line_hexadecimal(&p, end, &size))
        return line_reader_bad(r, text, end, "the size is no hexadecimal number", m);
    if (size < 1 || size > UINT32_MAX)
        return line_reader_bad(r, text, end, "a size from 1 to 2^32 - 1 bytes is needed", m);
    a->size = (uint32_t)size;
    return OK;
}

static trace_format format_of(const char *text, const char *end) {
    const char *p = text;
    line_skip_blanks(&p, end);
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
        TRY(line_reader_next(r->lines, &text, &end, m));
        if (!text)
            break;
        if (text == end || is_message(text, end))
            continue;
        if (r->format == FORMAT_UNKNOWN)
            r->format = format_of(text, end);
        if (r->format == FORMAT_UNKNOWN)
            return line_reader_bad(r->lines, text, end,
                                   "neither a line of Lackey (I, L, S, M) nor of Dinero (0, 1, 2, r, w, i)", m);
        TRY(r->format == FORMAT_LACKEY ? lackey(r->lines, text, end, &out[*count], m)
                                       : dinero(r->lines, text, end, &out[*count], m));
        ++*count;
        r->any = true;
    }
    if (*count == 0 && !r->any && capacity)
        return fail_at(m, line_reader_name(r->lines), 0, "there is no access in this trace");
    return OK;
}

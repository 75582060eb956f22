#include "config/source.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    INCLUDE_DEPTH_MAX = 16,
    FILE_BYTES_MAX = 16 << 20, /* far above any description written by hand */
};

/* The chain of files being read, innermost first. */
typedef struct open_file {
    const struct open_file *includer;
    const char *name;
    dev_t device;
    ino_t inode;
    int depth;
} open_file;

static status no_memory(message *m) {
    return fail(m, ERR_MEMORY, "not enough memory to read the configuration");
}

static status append(source *s, const char *bytes, size_t count, message *m) {
    if (!mem_reserve((void **)&s->text, &s->text_capacity, s->length + count + 1, 1))
        return no_memory(m);
    memcpy(s->text + s->length, bytes, count);
    s->length += count;
    s->text[s->length] = '\0';
    return OK;
}

static status append_line(source *s, const char *file, int line, const char *bytes, size_t count, message *m) {
    if (!mem_reserve((void **)&s->lines, &s->line_capacity, s->line_count + 1, sizeof *s->lines))
        return no_memory(m);
    s->lines[s->line_count++] = (source_line){file, line};
    TRY(append(s, bytes, count, m));
    return append(s, "\n", 1, m);
}

/* token[0 .. count) looks like a number: it starts with a digit, or a sign and a digit. */
static status check_number(const char *file, int line, const char *token, size_t count, message *m) {
    char word[80];
    if (count >= sizeof word)
        return fail_at(m, file, line, "the number %.20s... has too many digits", token);
    memcpy(word, token, count);
    word[count] = '\0';

    const char *digits = word + (word[0] == '-' || word[0] == '+');
    bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    const char *end = digits + (hex ? 2 : 0);
    while (hex ? isxdigit((unsigned char)*end) : isdigit((unsigned char)*end))
        end++;
    size_t suffix = strspn(end, "L");
    bool integer = end > digits + (hex ? 2 : 0) && suffix <= 2 && end[suffix] == '\0' && !(hex && digits != word);
    if (integer) {
        errno = 0;
        unsigned long long value = strtoull(digits, NULL, hex ? 16 : 10);
        unsigned long long limit = suffix ? INT64_MAX : INT32_MAX;
        if (word[0] == '-')
            limit++;
        if (errno == ERANGE || (suffix && value > limit))
            return fail_at(m, file, line, "the integer %s does not fit 64 bits", word);
        if (value > limit)
            return fail_at(m, file, line,
                           "the integer %s does not fit 32 bits and would wrap; write %sL, or a size as a text "
                           "such as \"6 MiB\"",
                           word, word);
        return OK;
    }
    char *rest = NULL;
    double value = hex ? 0 : strtod(word, &rest);
    if (hex || *rest != '\0')
        return fail_at(m, file, line, "'%s' is not a number; write a size as a text such as \"64 KiB\"", word);
    if (!isfinite(value))
        return fail_at(m, file, line, "the number %s is too large", word);
    return OK;
}

static bool word_char(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static size_t number_length(const char *p, size_t count) {
    size_t n = 1;
    bool hex = count > 1 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
    while (n < count && (word_char(p[n]) || (!hex && (p[n] == '-' || p[n] == '+') && (p[n - 1] | 0x20) == 'e')))
        n++;
    return n;
}

/* Walks over one line, keeping track of comments, and checks texts and numbers on the way. */
static status scan_line(const char *file, int line, const char *p, size_t count, bool *in_comment, message *m) {
    size_t i = 0;
    while (i < count) {
        if (*in_comment) {
            if (p[i] == '*' && i + 1 < count && p[i + 1] == '/') {
                *in_comment = false;
                i++;
            }
            i++;
        } else if (p[i] == '#' || (p[i] == '/' && i + 1 < count && p[i + 1] == '/')) {
            return OK;
        } else if (p[i] == '/' && i + 1 < count && p[i + 1] == '*') {
            *in_comment = true;
            i += 2;
        } else if (p[i] == '"') {
            for (i++; i < count && p[i] != '"'; i++)
                i += p[i] == '\\';
            if (i >= count)
                return fail_at(m, file, line, "a text begins with \" and does not end on this line");
            i++;
        } else if (isdigit((unsigned char)p[i]) ||
                   ((p[i] == '-' || p[i] == '+') && i + 1 < count && isdigit((unsigned char)p[i + 1]))) {
            size_t n = number_length(p + i, count - i);
            TRY(check_number(file, line, p + i, n, m));
            i += n;
        } else if (isalpha((unsigned char)p[i]) || p[i] == '_') {
            while (i < count && (word_char(p[i]) || p[i] == '-'))
                i++;
        } else {
            i++;
        }
    }
    return OK;
}

/* The text between the quotes of `@include "..."`, or false when the line is something else. */
static bool include_target(const char *p, size_t count, const char **target, size_t *length) {
    static const char word[] = "@include";
    size_t i = 0;
    while (i < count && (p[i] == ' ' || p[i] == '\t'))
        i++;
    if (count - i < sizeof word - 1 || memcmp(p + i, word, sizeof word - 1) != 0)
        return false;
    i += sizeof word - 1;
    while (i < count && (p[i] == ' ' || p[i] == '\t'))
        i++;
    *target = p + i;
    *length = 0;
    if (i < count && p[i] == '"') {
        const char *end = memchr(p + i + 1, '"', count - i - 1);
        if (end) {
            *target = p + i + 1;
            *length = (size_t)(end - *target);
        }
    }
    return true;
}

static status read_file(source *s, const char *name, const open_file *includer, int include_line, message *m);

static status include(source *s, const open_file *from, int line, const char *target, size_t length, message *m) {
    if (length == 0)
        return fail_at(m, from->name, line, "write @include \"FILE\"");
    const char *slash = target[0] == '/' ? NULL : strrchr(from->name, '/');
    size_t directory = slash ? (size_t)(slash - from->name) + 1 : 0;
    char *path = arena_alloc(&s->names, directory + length + 1);
    if (!path)
        return no_memory(m);
    memcpy(path, from->name, directory);
    memcpy(path + directory, target, length);
    return read_file(s, path, from, line, m);
}

static status take_lines(source *s, const open_file *self, const char *text, size_t count, message *m) {
    bool in_comment = false;
    int line = 1;
    for (size_t at = 0; at < count; line++) {
        const char *start = text + at;
        const char *newline = memchr(start, '\n', count - at);
        size_t length = newline ? (size_t)(newline - start) : count - at;
        at += length + 1;
        if (length > 0 && start[length - 1] == '\r')
            length--;
        const char *target = NULL;
        size_t target_length = 0;
        if (!in_comment && include_target(start, length, &target, &target_length)) {
            TRY(include(s, self, line, target, target_length, m));
            continue;
        }
        TRY(scan_line(self->name, line, start, length, &in_comment, m));
        TRY(append_line(s, self->name, line, start, length, m));
    }
    if (in_comment)
        return fail_at(m, self->name, line - 1, "a comment begins with /* and does not end");
    return OK;
}

static status take_text(source *s, const open_file *self, const char *text, size_t count, message *m) {
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    if (count >= 3 && memcmp(text, byte_order_mark, 3) == 0) {
        text += 3;
        count -= 3;
    }
    const char *nul = memchr(text, '\0', count);
    if (nul) {
        int line = 1;
        for (const char *p = text; p < nul; p++)
            line += *p == '\n';
        return fail_at(m, self->name, line, "there is a zero byte here: this is not a text file");
    }
    return take_lines(s, self, text, count, m);
}

/* Where a fault of the file itself is reported: the @include that names it, or the file. */
static status file_fault(message *m, const open_file *self, int include_line, const char *what) {
    if (self->includer)
        return fail_at(m, self->includer->name, include_line, "the included file '%s' %s", self->name, what);
    return fail_at(m, self->name, 0, "%s", what);
}

static status slurp(FILE *f, const open_file *self, int include_line, char **text, size_t *count, message *m) {
    size_t capacity = 0;
    for (;;) {
        if (!mem_reserve((void **)text, &capacity, *count + 65536, 1))
            return no_memory(m);
        size_t got = fread(*text + *count, 1, 65536, f);
        *count += got;
        if (ferror(f))
            return file_fault(m, self, include_line, "cannot be read");
        if (*count > FILE_BYTES_MAX)
            return file_fault(m, self, include_line, "is larger than 16 MiB: not a configuration");
        if (got == 0)
            return OK;
    }
}

static status read_open_file(source *s, FILE *f, open_file *self, int include_line, message *m) {
    struct stat info;
    if (fstat(fileno(f), &info) != 0)
        return file_fault(m, self, include_line, "cannot be read");
    if (S_ISDIR(info.st_mode))
        return file_fault(m, self, include_line, "is a directory, not a file");
    self->device = info.st_dev;
    self->inode = info.st_ino;
    for (const open_file *up = self->includer; up; up = up->includer)
        if (up->device == self->device && up->inode == self->inode)
            return file_fault(m, self, include_line, "includes itself");
    if (self->depth > INCLUDE_DEPTH_MAX)
        return file_fault(m, self, include_line, "is included too deeply");

    char *text = NULL;
    size_t count = 0;
    status st = slurp(f, self, include_line, &text, &count, m);
    if (st == OK)
        st = take_text(s, self, text, count, m);
    mem_free(text);
    return st;
}

static status read_file(source *s, const char *name, const open_file *includer, int include_line, message *m) {
    open_file self = {.includer = includer, .name = name, .depth = includer ? includer->depth + 1 : 0};
    FILE *f = fopen(name, "rb");
    if (!f) {
        char what[160];
        snprintf(what, sizeof what, "cannot be opened: %s", strerror(errno));
        return file_fault(m, &self, include_line, what);
    }
    status st = read_open_file(s, f, &self, include_line, m);
    fclose(f);
    return st;
}

status source_read(source *s, const char *path, message *m) {
    if (!*path)
        return fail(m, ERR_INPUT, "the name of the configuration file is empty");
    char *name = arena_string(&s->names, path);
    if (!name)
        return no_memory(m);
    TRY(append(s, "", 0, m));
    return read_file(s, name, NULL, 0, m);
}

status source_scan_text(source *s, const char *name, const char *text, message *m) {
    char *copy = arena_string(&s->names, name);
    if (!copy)
        return no_memory(m);
    TRY(append(s, "", 0, m));
    const open_file self = {.name = copy};
    bool in_comment = false;
    TRY(scan_line(self.name, 0, text, strlen(text), &in_comment, m));
    return append_line(s, self.name, 0, text, strlen(text), m);
}

void source_free(source *s) {
    mem_free(s->text);
    mem_free(s->lines);
    arena_free(&s->names);
    *s = (source){0};
}

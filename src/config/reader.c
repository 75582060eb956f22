#include "config/reader.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "base/num.h"
#include "config/reader_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { HINT_MAX = 512, LABEL_MAX = 160, KEYS_MAX = 64 };

/* The beginning of line 1 .. line_count of the assembled text; *length: without its '\n'. */
static const char *line_text(const config *c, unsigned line, size_t *length) {
    const char *text = c->text.text;
    for (unsigned i = 1; i < line; i++)
        text = strchr(text, '\n') + 1;
    *length = strcspn(text, "\n");
    return text;
}

static status syntax_error(const config *c, message *m) {
    int line = config_error_line(&c->tree);
    if (line > 0 && c->text.line_count > 0 && (size_t)line > c->text.line_count) {
        const source_line *last = &c->text.lines[c->text.line_count - 1];
        return fail_at(m, last->file, last->line, "%s at the end: is a bracket left open, or a ; missing?",
                       config_error_text(&c->tree));
    }
    if (line < 1 || (size_t)line > c->text.line_count)
        return fail_at(m, c->path, 0, "%s", config_error_text(&c->tree));
    size_t whole = 0;
    const char *text = line_text(c, (unsigned)line, &whole);
    text += strspn(text, " \t");
    int length = (int)strcspn(text, "\n");
    const source_line *place = &c->text.lines[line - 1];
    return fail_at(m, place->file, place->line, "%s at or before: %.*s%s", config_error_text(&c->tree),
                   length < 60 ? length : 60, text, length ? "" : "(end of line)");
}

/* text NULL: that of the file. */
static status parse(config *c, const char *path, const char *text, message *m) {
    c->path = arena_string(&c->strings, path);
    if (!c->path)
        return fail(m, ERR_MEMORY, "not enough memory to read the configuration");
    TRY(text ? source_scan_text(&c->text, path, text, m) : source_read(&c->text, path, m));
    if (!config_read_string(&c->tree, c->text.text))
        return syntax_error(c, m);
    return OK;
}

static status open_config(const char *path, const char *text, config **out, message *m) {
    *out = NULL;
    config *c = mem_zero(1, sizeof *c);
    if (!c)
        return fail(m, ERR_MEMORY, "not enough memory to read the configuration");
    config_init(&c->tree);
    status st = parse(c, path, text, m);
    if (st != OK) {
        config_close(c);
        return st;
    }
    *out = c;
    return OK;
}

status config_open(const char *path, config **out, message *m) {
    return open_config(path, NULL, out, m);
}

status config_open_text(const char *name, const char *text, config **out, message *m) {
    return open_config(name, text, out, m);
}

void config_close(config *c) {
    if (!c)
        return;
    config_destroy(&c->tree);
    source_free(&c->text);
    arena_free(&c->strings);
    mem_free(c);
}

const config_setting_t *config_root(const config *c) {
    return config_root_setting(&c->tree);
}

const char *config_path(const config *c) {
    return c->path;
}

uint64_t config_hash(const config *c) {
    return hash_text(HASH_START, c->text.text);
}

const config_setting_t *config_member(const config_setting_t *group, const char *key) {
    return config_setting_get_member((config_setting_t *)group, key);
}

/* libconfig looks one token ahead before it takes a text in a list, so it may name a line too late: find the text. */
static unsigned line_of_entry(const config *c, const config_setting_t *at, unsigned line) {
    const config_setting_t *parent = config_setting_parent(at);
    if (config_setting_name(at) || config_setting_type(at) != CONFIG_TYPE_STRING || !parent)
        return line;
    const char *wanted = config_setting_get_string(at);
    for (unsigned l = line; l >= 1 && l >= config_setting_source_line(parent); l--) {
        size_t length = 0;
        const char *text = line_text(c, l, &length);
        const char *found = strstr(text, wanted);
        if (found && found < text + length)
            return l;
    }
    return line;
}

static source_line place_of(const config *c, const config_setting_t *at) {
    const char *origin = config_setting_get_hook(at); /* set by an override */
    if (origin)
        return (source_line){origin, 0};
    unsigned line = config_setting_source_line(at);
    if (line < 1 || line > c->text.line_count)
        return (source_line){c->path, 0};
    return c->text.lines[line_of_entry(c, at, line) - 1];
}

status config_fail(const config *c, const config_setting_t *at, message *m, const char *format, ...) {
    char text[MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);

    const source_line place = place_of(c, at);
    return fail_at(m, place.file, place.line, "%s", text);
}

char *config_place(const config *c, const config_setting_t *at, char *buffer, size_t size) {
    const source_line place = place_of(c, at);
    if (place.line > 0)
        snprintf(buffer, size, "%s:%d", place.file, place.line);
    else
        snprintf(buffer, size, "%s", place.file);
    return buffer;
}

const char *config_entry_name(const config_setting_t *group) {
    const config_setting_t *name = config_setting_is_group(group) ? config_member(group, "name") : NULL;
    return name && config_setting_type(name) == CONFIG_TYPE_STRING ? config_setting_get_string(name) : NULL;
}

char *config_label(char *buffer, size_t size, const config_setting_t *group) {
    const config_setting_t *parent = config_setting_parent(group);
    if (!parent) {
        snprintf(buffer, size, "the file");
    } else if (config_setting_is_list(parent) && config_setting_name(parent)) {
        const char *list = config_setting_name(parent);
        size_t n = strlen(list);
        int singular = (int)(n > 1 && list[n - 1] == 's' ? n - 1 : n); /* "levels" -> "level" */
        const char *name = config_entry_name(group);
        if (name)
            snprintf(buffer, size, "%.*s '%s'", singular, list, name);
        else
            snprintf(buffer, size, "%.*s %d", singular, list, config_setting_index(group));
    } else if (config_setting_name(group)) {
        snprintf(buffer, size, "'%s'", config_setting_name(group));
    } else {
        snprintf(buffer, size, "entry %d", config_setting_index(group));
    }
    return buffer;
}

static const char *type_name(const config_setting_t *s) {
    switch (config_setting_type(s)) {
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_INT64:
        return "a whole number";
    case CONFIG_TYPE_FLOAT:
        return "a number with a fraction";
    case CONFIG_TYPE_STRING:
        return "a text";
    case CONFIG_TYPE_BOOL:
        return "true or false";
    case CONFIG_TYPE_GROUP:
        return "a group { }";
    case CONFIG_TYPE_ARRAY:
        return "an array [ ]";
    default:
        return "a list ( )";
    }
}

/* "'ways'", or "entry 2 of 'shift'" for an unnamed one. */
static const char *value_label(char *buffer, size_t size, const config_setting_t *s) {
    const config_setting_t *parent = config_setting_parent(s);
    if (config_setting_name(s))
        snprintf(buffer, size, "'%s'", config_setting_name(s));
    else if (parent && config_setting_name(parent))
        snprintf(buffer, size, "entry %d of '%s'", config_setting_index(s), config_setting_name(parent));
    else
        snprintf(buffer, size, "the value");
    return buffer;
}

static status wrong_type(const config *c, const config_setting_t *s, const char *wanted, message *m) {
    char label[LABEL_MAX];
    return config_fail(c, s, m, "%s must be %s, not %s", value_label(label, sizeof label, s), wanted, type_name(s));
}

static bool is_integer(const config_setting_t *s) {
    return config_setting_type(s) == CONFIG_TYPE_INT || config_setting_type(s) == CONFIG_TYPE_INT64;
}

/* config_setting_get_int64 returns 0 for a 32-bit integer in some versions; ask for what is there. */
static int64_t integer_of(const config_setting_t *s) {
    return config_setting_type(s) == CONFIG_TYPE_INT ? config_setting_get_int(s) : config_setting_get_int64(s);
}

/* The value as the file has it: a double would round long integers. */
static status check_range(const config *c, const config_setting_t *s, double value, const field *f, message *m) {
    if (value >= f->min && value <= f->max)
        return OK;
    const bool bytes = f->kind == FIELD_BYTES || f->kind == FIELD_SIZE;
    char label[LABEL_MAX], found[32];
    value_label(label, sizeof label, s);
    if (is_integer(s))
        snprintf(found, sizeof found, "%" PRId64, integer_of(s));
    else
        snprintf(found, sizeof found, bytes ? "%.0f" : "%.12g", value);
    if (bytes)
        return config_fail(c, s, m, "%s must be %.0f .. %.0f bytes; it is %s", label, f->min, f->max, found);
    return config_fail(c, s, m, "%s must be %.12g .. %.12g; it is %s", label, f->min, f->max, found);
}

static status read_count(const config *c, const config_setting_t *s, const field *f, uint32_t *out, message *m) {
    if (!is_integer(s))
        return wrong_type(c, s, "a whole number", m);
    int64_t value = integer_of(s);
    TRY(check_range(c, s, (double)value, f, m));
    *out = (uint32_t)value;
    return OK;
}

static status read_size(const config *c, const config_setting_t *s, const field *f, uint64_t *out, message *m) {
    const char *key = config_setting_name(s);
    size_t n = key ? strlen(key) : 0;
    bool unit_in_key = n > 6 && strcmp(key + n - 6, "_bytes") == 0;
    if (is_integer(s) && unit_in_key) {
        int64_t value = integer_of(s);
        TRY(check_range(c, s, (double)value, f, m));
        *out = (uint64_t)value;
        return OK;
    }
    if (config_setting_type(s) != CONFIG_TYPE_STRING)
        return wrong_type(c, s,
                          unit_in_key ? "a whole number of bytes or a text such as \"48 KiB\""
                                      : "a text with its unit, such as \"48 KiB\"",
                          m);
    const char *text = config_setting_get_string(s);
    char label[LABEL_MAX];
    if (!parse_bytes(text, out))
        return config_fail(c, s, m, "%s is \"%s\", which is not a size; write \"48 KiB\", \"6 MiB\", \"20 GB\"",
                           value_label(label, sizeof label, s), text);
    return check_range(c, s, (double)*out, f, m);
}

static status read_number(const config *c, const config_setting_t *s, const field *f, double *out, message *m) {
    double value = 0;
    if (is_integer(s))
        value = (double)integer_of(s);
    else if (config_setting_type(s) == CONFIG_TYPE_FLOAT)
        value = config_setting_get_float(s);
    else
        return wrong_type(c, s, "a number", m);
    TRY(check_range(c, s, value, f, m));
    *out = value;
    return OK;
}

static status read_choice(const config *c, const config_setting_t *s, const field *f, int *out, message *m) {
    char number[24]; /* index = 32 is as good as index = "32" */
    const char *text = number;
    if (is_integer(s))
        snprintf(number, sizeof number, "%" PRId64, integer_of(s));
    else if (config_setting_type(s) == CONFIG_TYPE_STRING)
        text = config_setting_get_string(s);
    else
        return wrong_type(c, s, "a text", m);
    size_t count = 0;
    for (; f->choices[count]; count++)
        if (strcmp(text, f->choices[count]) == 0) {
            *out = (int)count;
            return OK;
        }
    char label[LABEL_MAX], hint[HINT_MAX];
    return config_fail(c, s, m, "%s does not know \"%s\"%s", value_label(label, sizeof label, s), text,
                       nearest_hint(hint, sizeof hint, text, f->choices, count));
}

static status read_text(const config *c, const config_setting_t *s, const field *f, char *out, message *m) {
    if (config_setting_type(s) != CONFIG_TYPE_STRING)
        return wrong_type(c, s, "a text", m);
    const char *text = config_setting_get_string(s);
    size_t n = strlen(text);
    char label[LABEL_MAX];
    if (n == 0)
        return config_fail(c, s, m, "%s is empty", value_label(label, sizeof label, s));
    if ((double)n >= f->max)
        return config_fail(c, s, m, "%s is longer than %.0f bytes", value_label(label, sizeof label, s), f->max - 1);
    memcpy(out, text, n + 1);
    return OK;
}

status read_value(const config *c, const config_setting_t *at, const field *f, void *target, message *m) {
    switch (f->kind) {
    case FIELD_COUNT:
        return read_count(c, at, f, target, m);
    case FIELD_BYTES: {
        uint64_t bytes = 0;
        TRY(read_size(c, at, f, &bytes, m));
        *(uint32_t *)target = (uint32_t)bytes;
        return OK;
    }
    case FIELD_SIZE:
        return read_size(c, at, f, target, m);
    case FIELD_NUMBER:
        return read_number(c, at, f, target, m);
    case FIELD_FLAG:
        if (config_setting_type(at) != CONFIG_TYPE_BOOL)
            return wrong_type(c, at, "true or false", m);
        *(bool *)target = config_setting_get_bool(at);
        return OK;
    case FIELD_CHOICE:
        return read_choice(c, at, f, target, m);
    case FIELD_TEXT:
        return read_text(c, at, f, target, m);
    case FIELD_GROUP:
        return config_setting_is_group(at) ? OK : wrong_type(c, at, "a group { }", m);
    case FIELD_LIST:
        return config_setting_is_list(at) || config_setting_is_array(at) ? OK : wrong_type(c, at, "a list ( )", m);
    case FIELD_KNOWN:
        return OK;
    }
    return OK;
}

static status unknown_key(const config *c, const config_setting_t *group, const config_setting_t *s,
                          const field *fields, size_t count, message *m) {
    const char *keys[KEYS_MAX];
    size_t n = count < KEYS_MAX ? count : KEYS_MAX;
    for (size_t i = 0; i < n; i++)
        keys[i] = fields[i].key;
    char label[LABEL_MAX], hint[HINT_MAX];
    return config_fail(c, s, m, "unknown key '%s' in %s%s", config_setting_name(s),
                       config_label(label, sizeof label, group),
                       nearest_hint(hint, sizeof hint, config_setting_name(s), keys, n));
}

status read_fields(const config *c, const config_setting_t *group, const field *fields, size_t count, void *target,
                   message *m) {
    char label[LABEL_MAX];
    if (!config_setting_is_group(group))
        return config_fail(c, group, m, "%s must be a group { }, not %s", config_label(label, sizeof label, group),
                           type_name(group));
    /* Unknown keys first: a mistyped key is also a missing one, and the first message is the one that helps. */
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);
        size_t k = 0;
        while (k < count && strcmp(fields[k].key, config_setting_name(s)) != 0)
            k++;
        if (k == count)
            return unknown_key(c, group, s, fields, count, m);
    }
    for (size_t k = 0; k < count; k++) {
        const config_setting_t *s = config_member(group, fields[k].key);
        if (s)
            TRY(read_value(c, s, &fields[k], (char *)target + fields[k].offset, m));
        else if (!fields[k].optional)
            return config_fail(c, group, m, "%s lacks the key '%s'", config_label(label, sizeof label, group),
                               fields[k].key);
    }
    return OK;
}

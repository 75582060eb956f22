/* override.c - "levels.L2.ways=8": changing a parsed configuration before it is read. */
#include "base/nearest.h"
#include "config/reader.h"
#include "config/reader_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_WORD_MAX = 64, ENTRIES_MAX = 64, HINT_MAX = 512, LABEL_MAX = 160 };

/* The member, or the list entry by name or number; NULL when there is none. */
static config_setting_t *child(config_setting_t *parent, const char *word) {
    if (config_setting_is_group(parent))
        return config_setting_get_member(parent, word);
    int n = config_setting_length(parent);
    for (int i = 0; i < n; i++) {
        config_setting_t *entry = config_setting_get_elem(parent, (unsigned)i);
        const char *name = config_entry_name(entry);
        if (name && strcmp(name, word) == 0)
            return entry;
    }
    if (strspn(word, "0123456789") != strlen(word) || strlen(word) > 6)
        return NULL;
    return config_setting_get_elem(parent, (unsigned)strtoul(word, NULL, 10));
}

static status no_child(const config_setting_t *parent, const char *origin, const char *word, message *m) {
    const char *words[ENTRIES_MAX];
    size_t count = 0;
    int n = config_setting_is_aggregate(parent) ? config_setting_length(parent) : 0;
    for (int i = 0; i < n && count < ENTRIES_MAX; i++) {
        const config_setting_t *entry = config_setting_get_elem(parent, (unsigned)i);
        const char *name = config_setting_is_group(parent) ? config_setting_name(entry) : config_entry_name(entry);
        if (name)
            words[count++] = name;
    }
    char label[LABEL_MAX], hint[HINT_MAX];
    if (!config_setting_is_aggregate(parent))
        return fail_at(m, origin, 0, "%s is a plain value: it has no '%s'", config_label(label, sizeof label, parent),
                       word);
    if (count == 0)
        return fail_at(m, origin, 0, "%s has %d entries, numbered from 0: there is no '%s'",
                       config_label(label, sizeof label, parent), n, word);
    return fail_at(m, origin, 0, "there is no '%s' in %s%s", word, config_label(label, sizeof label, parent),
                   nearest_hint(hint, sizeof hint, word, words, count));
}

/* Gives `to` the value of `from`, which has the same type, and marks it and all below with the origin. */
static bool copy_value(config_setting_t *to, const config_setting_t *from, char *origin) {
    config_setting_set_hook(to, origin);
    switch (config_setting_type(from)) {
    case CONFIG_TYPE_INT:
        return config_setting_set_int(to, config_setting_get_int(from));
    case CONFIG_TYPE_INT64:
        return config_setting_set_int64(to, config_setting_get_int64(from));
    case CONFIG_TYPE_FLOAT:
        return config_setting_set_float(to, config_setting_get_float(from));
    case CONFIG_TYPE_BOOL:
        return config_setting_set_bool(to, config_setting_get_bool(from));
    case CONFIG_TYPE_STRING:
        return config_setting_set_string(to, config_setting_get_string(from));
    default:
        break;
    }
    for (int i = 0; i < config_setting_length(from); i++) {
        const config_setting_t *entry = config_setting_get_elem(from, (unsigned)i);
        config_setting_t *copy = config_setting_add(to, config_setting_name(entry), config_setting_type(entry));
        if (!copy || !copy_value(copy, entry, origin))
            return false;
    }
    return true;
}

/* Replaces or adds member `key` of a group by a value of any type. */
static bool put_member(config_setting_t *group, const char *key, const config_setting_t *value, char *origin) {
    if (config_setting_get_member(group, key))
        config_setting_remove(group, key);
    config_setting_t *fresh = config_setting_add(group, key, config_setting_type(value));
    return fresh && copy_value(fresh, value, origin);
}

static status put(config_setting_t *parent, const char *word, const config_setting_t *value, char *origin, message *m) {
    if (config_setting_is_group(parent)) {
        if (put_member(parent, word, value, origin))
            return OK;
        return fail_at(m, origin, 0, "'%s' is not a key", word);
    }
    config_setting_t *old = child(parent, word);
    if (!old)
        return no_child(parent, origin, word, m);
    if (config_setting_is_aggregate(old) || config_setting_type(old) != config_setting_type(value))
        return fail_at(m, origin, 0, "an entry of a list can only be replaced by a value of its own type");
    return copy_value(old, value, origin) ? OK : fail_at(m, origin, 0, "the value cannot be set");
}

static status set_text(config_t *scratch, const char *text, const char *origin, message *m) {
    config_setting_t *v = config_setting_add(config_root_setting(scratch), "value", CONFIG_TYPE_STRING);
    if (!v || !config_setting_set_string(v, text))
        return fail(m, ERR_MEMORY, "not enough memory for %s", origin);
    return OK;
}

/* Parses `value = TEXT`. When libconfig does not understand that, it is a text: 3MiB, general, [16][16]f32. But what
 * consists of numbers only and does not scan is a number at fault. */
static status parse_value(config_t *scratch, const char *text, const char *origin, message *m) {
    source s = {0};
    size_t size = strlen(text) + sizeof "value = ;";
    char *line = arena_alloc(&s.names, size);
    if (!line) {
        source_free(&s);
        return fail(m, ERR_MEMORY, "not enough memory for %s", origin);
    }
    snprintf(line, size, "value = %s;", text);
    bool numeric = *text && text[strspn(text, "+-.0123456789abcdefxABCDEFXL[](), ")] == '\0';
    message why = {{0}};
    status scanned = source_scan_text(&s, origin, line, &why);
    bool parsed = scanned == OK && *text && config_read_string(scratch, line) &&
                  config_setting_length(config_root_setting(scratch)) == 1;
    source_free(&s);
    if (scanned == ERR_MEMORY || (scanned != OK && numeric)) {
        if (m)
            *m = why;
        return scanned;
    }
    if (parsed)
        return OK;
    config_destroy(scratch);
    config_init(scratch);
    return set_text(scratch, text, origin, m);
}

/* Walks from *at to the group or list that holds the last word of the path, which is left in `word`. */
static status walk(config_setting_t **at, const char *assignment, size_t path_length, const char *origin, char *word,
                   message *m) {
    for (size_t start = 0;;) {
        size_t end = start;
        while (end < path_length && assignment[end] != '.')
            end++;
        if (end == start || end - start >= PATH_WORD_MAX)
            return fail_at(m, origin, 0, "write PATH=VALUE with a dotted path, such as levels.L2.ways=8");
        memcpy(word, assignment + start, end - start);
        word[end - start] = '\0';
        if (!config_setting_is_aggregate(*at))
            return no_child(*at, origin, word, m);
        if (end == path_length)
            return OK;
        config_setting_t *next = child(*at, word);
        if (!next)
            return no_child(*at, origin, word, m);
        *at = next;
        start = end + 1;
    }
}

status config_override(config *c, const char *assignment, const char *origin, message *m) {
    size_t n = strlen(assignment) + sizeof "-D ";
    char *place = origin ? arena_string(&c->strings, origin) : arena_alloc(&c->strings, n);
    if (!place)
        return fail(m, ERR_MEMORY, "not enough memory for -D %s", assignment);
    if (!origin)
        snprintf(place, n, "-D %s", assignment);

    const char *equals = strchr(assignment, '=');
    if (!equals)
        return fail_at(m, place, 0, "write PATH=VALUE, such as levels.L2.ways=8");
    size_t path_length = (size_t)(equals - assignment);
    while (path_length > 0 && assignment[path_length - 1] == ' ')
        path_length--;
    const char *value_text = equals + 1 + strspn(equals + 1, " ");

    char word[PATH_WORD_MAX];
    config_setting_t *parent = config_root_setting(&c->tree);
    TRY(walk(&parent, assignment, path_length, place, word, m));
    const config_setting_t *old = child(parent, word);
    if (old && config_setting_is_group(old))
        return fail_at(m, place, 0, "'%s' is a group: name one of its keys", word);

    /* A text stays a text: -D name=42 does not turn it into a number. Quotes around it are libconfig's. */
    bool as_text = old && config_setting_type(old) == CONFIG_TYPE_STRING && value_text[0] != '"';
    config_t scratch;
    config_init(&scratch);
    status st = as_text ? set_text(&scratch, value_text, place, m) : parse_value(&scratch, value_text, place, m);
    if (st == OK)
        st = put(parent, word, config_setting_get_elem(config_root_setting(&scratch), 0), place, m);
    config_destroy(&scratch);
    return st;
}

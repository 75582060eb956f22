/* reader.h - typed, checked access to a configuration file.
 *
 * A reader describes a group by a table of fields: key, kind, allowed range, where the value goes. read_fields then
 * does every check at one place: unknown keys (with the nearest known one), missing keys, wrong types, values out of
 * range. Every failure is ERR_INPUT and one sentence that begins with file:line, or with the -D option that set the
 * value.
 */
#ifndef COALIGN_CONFIG_READER_H
#define COALIGN_CONFIG_READER_H

#include "base/status.h"

#include <libconfig.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct config config; /* one parsed file with its includes and overrides */

/* The strings of -D options, "PATH=VALUE", in the order given; later ones win. */
typedef struct config_overrides {
    const char *const *text;
    size_t count;
} config_overrides;

/* Parses the file. On success *out is to be released with config_close. */
status config_open(const char *path, config **out, message *m);
/* The same for a text that is not in a file; `name` stands for the file in messages. */
status config_open_text(const char *name, const char *text, config **out, message *m);
void config_close(config *c);

/* The outermost group. It and all settings below it live until config_close. */
const config_setting_t *config_root(const config *c);
/* The path that config_open got. */
const char *config_path(const config *c);

/* Of the text with its includes in place, before any override. */
uint64_t config_hash(const config *c);

/* Applies one "PATH=VALUE" to the parsed text, before it is read. PATH is dotted; an entry of a list is named by its
 * `name` or its number from 0: levels.L2.ways, cases.0.strategy. VALUE is libconfig syntax; what is not (3MiB, general)
 * is a text. The last key of the path may be new, as long as its group exists: the reader then decides whether it is
 * known. `origin` begins the messages about this value ("-D levels.L2.ways=0"); NULL makes it that. */
status config_override(config *c, const char *assignment, const char *origin, message *m);

/* ERR_INPUT with the place of the setting in front. */
status config_fail(const config *c, const config_setting_t *at, message *m, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* That place by itself: "configs/x.cfg:12". Returns buffer. */
char *config_place(const config *c, const config_setting_t *at, char *buffer, size_t size);

/* How people would call this group: "level 'L2'", "case 3", "'core'", "the file". Returns buffer. */
char *config_label(char *buffer, size_t size, const config_setting_t *group);

typedef enum field_kind {
    FIELD_COUNT,  /* uint32_t: a whole number */
    FIELD_BYTES,  /* uint32_t: a text with unit ("2 KiB"), or a whole number if the key ends in _bytes */
    FIELD_SIZE,   /* uint64_t: a text with unit */
    FIELD_NUMBER, /* double: any number */
    FIELD_FLAG,   /* bool */
    FIELD_CHOICE, /* int: position of the text among `choices` */
    FIELD_TEXT,   /* char[max]: a text, at most max - 1 bytes */
    FIELD_GROUP,  /* known and, unless optional, required; a group, read elsewhere */
    FIELD_LIST,   /* known and, unless optional, required; a list or array, read elsewhere */
    FIELD_KNOWN,  /* known, of any type, read elsewhere */
} field_kind;

typedef struct field {
    const char *key;
    field_kind kind;
    bool optional;   /* when missing, the target is left as it is */
    size_t offset;   /* of the target in the struct */
    double min, max; /* allowed, inclusive; numbers and sizes only. FIELD_TEXT: max is the size of the array */
    const char *const *choices; /* FIELD_CHOICE: names in the order of the enumeration, NULL at the end */
} field;

/* Reads `group` into the struct at `target` by the table. */
status read_fields(const config *c, const config_setting_t *group, const field *fields, size_t count, void *target,
                   message *m);

/* One value by itself, with the checks of its kind. `at` must exist; `f->offset` is not used. */
status read_value(const config *c, const config_setting_t *at, const field *f, void *target, message *m);

/* The member of a group, or NULL; and the same with the wanted type checked by read_fields before. */
const config_setting_t *config_member(const config_setting_t *group, const char *key);

#endif

#include "config/factoring_config.h"

#include "base/nearest.h"
#include "layout/syntax.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 512 };
#define LENGTH(a) (sizeof(a) / sizeof *(a))

typedef struct factoring_reader {
    const config *c;
    factoring *f;
    lmad whole[FACTOR_ARRAYS_MAX]; /* each array as it lies */
    message *m;
} factoring_reader;

static status count_entries(const factoring_reader *r, const config_setting_t *list, const char *what, size_t room,
                            size_t *count) {
    *count = (size_t)config_setting_length(list);
    if (*count > room)
        return config_fail(r->c, list, r->m, "%zu %s; at most %zu can be followed", *count, what, room);
    return OK;
}

static status read_array(factoring_reader *r, const config_setting_t *group) {
    typedef struct raw_array {
        char name[FACTOR_NAME_MAX];
        char shape[TEXT_MAX];
    } raw_array;
    static const field fields[] = {
        {.key = "name", .kind = FIELD_TEXT, .offset = offsetof(raw_array, name), .max = FACTOR_NAME_MAX},
        {.key = "shape", .kind = FIELD_TEXT, .offset = offsetof(raw_array, shape), .max = TEXT_MAX},
    };
    raw_array raw;
    dataset d;
    int64_t elements = 0;
    message why = {{0}};
    TRY(read_fields(r->c, group, fields, LENGTH(fields), &raw, r->m));
    lmad *whole = &r->whole[r->f->arrays];
    if (parse_dataset(raw.shape, &d, &why) != OK || lmad_row_major(d.size, d.rank, whole, &why) != OK ||
        lmad_elements(whole, &elements, &why) != OK)
        return config_fail(r->c, config_member(group, "shape"), r->m, "'shape': %s", why.text);
    factor_array *a = &r->f->array[r->f->arrays];
    memcpy(a->name, raw.name, sizeof a->name);
    a->element_bytes = d.element_bytes;
    a->elements = (uint64_t)elements;
    for (uint32_t i = 0; i < r->f->arrays; i++)
        if (strcmp(r->f->array[i].name, a->name) == 0)
            return config_fail(r->c, config_member(group, "name"), r->m, "there are two arrays '%s'", a->name);
    r->f->arrays++;
    return OK;
}

static status find_array(const factoring_reader *r, const config_setting_t *at, const char *name, uint32_t *array) {
    const char *known[FACTOR_ARRAYS_MAX];
    for (uint32_t i = 0; i < r->f->arrays; i++) {
        known[i] = r->f->array[i].name;
        if (strcmp(known[i], name) == 0) {
            *array = i;
            return OK;
        }
    }
    char hint[256];
    return config_fail(r->c, at, r->m, "there is no array '%s'%s", name,
                       nearest_hint(hint, sizeof hint, name, known, r->f->arrays));
}

static status read_touch(factoring_reader *r, const config_setting_t *group) {
    typedef struct raw_touch {
        char array[FACTOR_NAME_MAX];
        char layout[TEXT_MAX];
    } raw_touch;
    static const field fields[] = {
        {.key = "array", .kind = FIELD_TEXT, .offset = offsetof(raw_touch, array), .max = FACTOR_NAME_MAX},
        {.key = "layout", .kind = FIELD_TEXT, .optional = true, .offset = offsetof(raw_touch, layout), .max = TEXT_MAX},
    };
    raw_touch raw = {.layout = ""};
    message why = {{0}};
    TRY(read_fields(r->c, group, fields, LENGTH(fields), &raw, r->m));
    if (r->f->touches == FACTOR_TOUCHES_MAX)
        return config_fail(r->c, group, r->m, "more than %d touches cannot be followed", FACTOR_TOUCHES_MAX);
    factor_touch *t = &r->f->touch[r->f->touches];
    TRY(find_array(r, config_member(group, "array"), raw.array, &t->array));
    t->layout = r->whole[t->array];
    if (*raw.layout && (parse_lmad(raw.layout, &t->layout, &why) != OK || lmad_check(&t->layout, "layout", &why) != OK))
        return config_fail(r->c, config_member(group, "layout"), r->m, "'layout': %s", why.text);
    r->f->touches++;
    return OK;
}

static status read_pass(factoring_reader *r, const config_setting_t *group) {
    typedef struct raw_pass {
        uint32_t repeat;
    } raw_pass;
    static const field fields[] = {
        {.key = "repeat",
         .kind = FIELD_COUNT,
         .optional = true,
         .offset = offsetof(raw_pass, repeat),
         .min = 1,
         .max = 1e9},
        {.key = "touches", .kind = FIELD_LIST},
    };
    raw_pass raw = {.repeat = 1};
    size_t count = 0;
    TRY(read_fields(r->c, group, fields, LENGTH(fields), &raw, r->m));
    const config_setting_t *list = config_member(group, "touches");
    TRY(count_entries(r, list, "touches", FACTOR_TOUCHES_MAX, &count));
    factor_pass *p = &r->f->pass[r->f->passes++];
    *p = (factor_pass){.first_touch = r->f->touches, .touches = (uint32_t)count, .repeat = raw.repeat};
    for (size_t i = 0; i < count; i++)
        TRY(read_touch(r, config_setting_get_elem(list, (unsigned)i)));
    return OK;
}

status factoring_read(const config *c, const config_setting_t *group, factoring *f, message *m) {
    static const field fields[] = {{.key = "arrays", .kind = FIELD_LIST}, {.key = "passes", .kind = FIELD_LIST}};
    factoring_reader r = {.c = c, .f = f, .m = m};
    size_t arrays = 0, passes = 0;
    uint32_t at = 0;
    message why = {{0}};
    *f = (factoring){0};
    TRY(read_fields(c, group, fields, LENGTH(fields), f, m));
    const config_setting_t *array_list = config_member(group, "arrays"), *pass_list = config_member(group, "passes");
    TRY(count_entries(&r, array_list, "arrays", FACTOR_ARRAYS_MAX, &arrays));
    TRY(count_entries(&r, pass_list, "passes", FACTOR_PASSES_MAX, &passes));
    for (size_t i = 0; i < arrays; i++)
        TRY(read_array(&r, config_setting_get_elem(array_list, (unsigned)i)));
    for (size_t i = 0; i < passes; i++)
        TRY(read_pass(&r, config_setting_get_elem(pass_list, (unsigned)i)));
    if (factor_check(f, &at, &why) != OK)
        return config_fail(c, at < passes ? config_setting_get_elem(pass_list, at) : group, m, "%s", why.text);
    return OK;
}

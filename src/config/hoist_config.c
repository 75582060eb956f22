#include "config/hoist_config.h"

#include "base/mem.h"
#include "config/body_text.h"
#include "config/machine_config.h"
#include "kernel/hoist.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LENGTH(a) (sizeof(a) / sizeof *(a))

typedef struct raw_case {
    char name[EXPERIMENT_NAME_MAX];
    uint32_t blocks, threads, limit, unroll, vector, window, max_registers, min_blocks;
    bool sweep, no_alias;
} raw_case;

static const raw_case raw_default = {.limit = HOIST_LIMIT_DEFAULT, .unroll = 1, .vector = 1, .sweep = true};

#define COUNT(member, low, high)                                                                                       \
    {                                                                                                                  \
        .key = #member, .kind = FIELD_COUNT, .optional = true, .offset = offsetof(raw_case, member), .min = low,       \
        .max = high                                                                                                    \
    }
#define FLAG(member)                                                                                                   \
    { .key = #member, .kind = FIELD_FLAG, .optional = true, .offset = offsetof(raw_case, member) }

/* The keys that `defaults` takes come first. */
enum { DEFAULTABLE = 10 };
static const field case_fields[] = {
    COUNT(blocks, 1, INT32_MAX),
    COUNT(threads, 1, 1024),
    COUNT(limit, 0, 65535),
    COUNT(unroll, 1, LOWER_UNROLL_MAX),
    COUNT(vector, 1, 4),
    COUNT(window, 0, LOWER_WINDOW_MAX),
    COUNT(max_registers, 0, 1024),
    COUNT(min_blocks, 0, 1024),
    FLAG(sweep),
    FLAG(no_alias),
    {.key = "name",
     .kind = FIELD_TEXT,
     .optional = true,
     .offset = offsetof(raw_case, name),
     .max = EXPERIMENT_NAME_MAX},
    {.key = "body", .kind = FIELD_KNOWN},
};

static void launch(body *b, const raw_case *raw) {
    if (raw->blocks) {
        b->blocks[0] = raw->blocks;
        b->blocks[1] = b->blocks[2] = 1;
        b->blocks_written = true;
    }
    if (raw->threads) {
        b->threads[0] = raw->threads;
        b->threads[1] = b->threads[2] = 1;
        b->threads_written = true;
    }
}

static void set_options(hoist_case *c, const raw_case *raw) {
    c->limit = raw->limit;
    c->sweep = raw->sweep;
    c->options = (lower_options){.unroll = raw->unroll,
                                 .vector = raw->vector,
                                 .window = raw->window,
                                 .no_alias = raw->no_alias,
                                 .max_registers = raw->max_registers,
                                 .min_blocks = raw->min_blocks};
}

/* The figures of a case from its group. */
static status read_figures(const config *c, const config_setting_t *group, const field *fields, size_t count,
                           raw_case *raw, message *m) {
    TRY(read_fields(c, group, fields, count, raw, m));
    if (raw->vector == 3)
        return config_fail(c, config_member(group, "vector"), m, "'vector' must be 1, 2 or 4; it is 3");
    return OK;
}

static status read_body(const config *c, const config_setting_t *at, hoist_case *out, message *m) {
    char file[EXPERIMENT_PLACE_MAX];
    textbuf text = {.length = 0};
    config_place(c, at, file, sizeof file);
    snprintf(out->place, sizeof out->place, "%.300s: body", file);
    status s = config_body_text(c, at, &text, m);
    if (s == OK)
        s = body_parse(out->place, text.text, text.length, &out->b, m);
    textbuf_free(&text);
    return s;
}

static status read_case(const config *c, const config_setting_t *group, const raw_case *defaults, hoist_case *out,
                        message *m) {
    raw_case raw = *defaults;
    TRY(read_figures(c, group, case_fields, LENGTH(case_fields), &raw, m));
    if (*raw.name)
        memcpy(out->name, raw.name, sizeof out->name);
    else
        snprintf(out->name, sizeof out->name, "case %d", config_setting_index(group));
    TRY(read_body(c, config_member(group, "body"), out, m));
    launch(&out->b, &raw);
    set_options(out, &raw);
    return OK;
}

typedef struct raw_experiment {
    char title[EXPERIMENT_TITLE_MAX];
    char machine[MACHINE_PATH_MAX];
} raw_experiment;

static const field experiment_fields[] = {
    {.key = "title",
     .kind = FIELD_TEXT,
     .optional = true,
     .offset = offsetof(raw_experiment, title),
     .max = EXPERIMENT_TITLE_MAX},
    {.key = "machine",
     .kind = FIELD_TEXT,
     .optional = true,
     .offset = offsetof(raw_experiment, machine),
     .max = MACHINE_PATH_MAX},
    {.key = "machine_overrides", .kind = FIELD_LIST, .optional = true},
    {.key = "defaults", .kind = FIELD_GROUP, .optional = true},
    {.key = "cases", .kind = FIELD_LIST},
};

/* NULL without memory. */
static hoist_case *make_cases(hoist_experiment *e, size_t count, message *m) {
    e->cases = mem_zero(count, sizeof *e->cases);
    if (e->cases)
        e->case_count = count;
    else
        fail(m, ERR_MEMORY, "not enough memory for %zu cases", count);
    return e->cases;
}

static status gpu_only(const machine *mach, message *m) {
    return mach->kind == MACHINE_GPU
               ? OK
               : fail(m, ERR_INPUT, "%s is a CPU, which reorders loads itself: hoisting is for GPUs", mach->name);
}

static status read_experiment(const config *c, const char *machine_name, const config_overrides *overrides,
                              hoist_experiment *e, message *m) {
    const config_setting_t *root = config_root(c);
    raw_experiment raw = {.title = ""};
    raw_case defaults = raw_default;
    TRY(read_fields(c, root, experiment_fields, LENGTH(experiment_fields), &raw, m));
    memcpy(e->title, raw.title, sizeof e->title);
    const config_setting_t *group = config_member(root, "defaults"), *list = config_member(root, "cases");
    if (group)
        TRY(read_figures(c, group, case_fields, DEFAULTABLE, &defaults, m));
    if (!make_cases(e, (size_t)config_setting_length(list), m))
        return ERR_MEMORY;
    for (size_t i = 0; i < e->case_count; i++)
        TRY(read_case(c, config_setting_get_elem(list, (unsigned)i), &defaults, &e->cases[i], m));
    TRY(experiment_machine(c, machine_name, raw.machine, overrides, &e->mach, m));
    return gpu_only(&e->mach, m);
}

status hoist_experiment_load(const char *path, const char *machine_name, const config_overrides *overrides,
                             hoist_experiment *e, message *m) {
    *e = (hoist_experiment){.case_count = 0};
    config *c = NULL;
    TRY(config_open(path, &c, m));
    status s = experiment_overrides(c, overrides, m);
    if (s == OK)
        s = read_experiment(c, machine_name, overrides, e, m);
    config_close(c);
    return s;
}

/* The options are a group of their own, so that -D and the checks are those of a config. */
static status read_body_options(const char *file, const config_overrides *overrides, raw_case *raw, message *m) {
    config *c = NULL;
    TRY(config_open_text(file, "", &c, m));
    status s = experiment_overrides(c, overrides, m);
    if (s == OK)
        s = read_figures(c, config_root(c), case_fields, DEFAULTABLE, raw, m);
    config_close(c);
    return s;
}

status hoist_experiment_body(const char *file, const char *text, size_t length, const char *machine_name,
                             const config_overrides *overrides, hoist_experiment *e, message *m) {
    *e = (hoist_experiment){.case_count = 0};
    raw_case raw = raw_default;
    TRY(read_body_options(file, overrides, &raw, m));
    hoist_case *c = make_cases(e, 1, m);
    if (!c)
        return ERR_MEMORY;
    snprintf(c->name, sizeof c->name, "%.100s", file);
    snprintf(c->place, sizeof c->place, "%.300s", file);
    TRY(body_parse(file, text, length, &c->b, m));
    launch(&c->b, &raw);
    set_options(c, &raw);
    if (!machine_name)
        return OK;
    config *empty = NULL;
    TRY(config_open_text(file, "", &empty, m));
    status s = experiment_machine(empty, machine_name, machine_name, overrides, &e->mach, m);
    if (s == OK)
        s = gpu_only(&e->mach, m);
    config_close(empty);
    return s;
}

void hoist_experiment_free(hoist_experiment *e) {
    for (size_t i = 0; i < e->case_count; i++)
        body_free(&e->cases[i].b);
    mem_free(e->cases);
    *e = (hoist_experiment){.case_count = 0};
}

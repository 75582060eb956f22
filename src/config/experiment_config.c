#include "config/experiment_config.h"

#include "base/mem.h"
#include "base/num.h"
#include "config/body_text.h"
#include "config/factoring_config.h"
#include "config/machine_config.h"
#include "layout/syntax.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LENGTH(a) (sizeof(a) / sizeof *(a))

static const char machine_prefix[] = "machine.";

enum { STRATEGY_AUTO, STRATEGY_FIRST }; /* positions in strategy_names */

#define X(id, name) name,
static const char *const strategy_names[] = {"auto", STRATEGY_LIST(X) NULL};
#undef X
#define X(id, name, what) name,
static const char *const pattern_names[] = {PATTERN_LIST(X) NULL};
#undef X
static const char *const index_names[] = {"64", "32", "invariant", NULL};

/* A case as it is written. Empty texts and NAN: not given. */
typedef struct raw_case {
    char name[EXPERIMENT_NAME_MAX];
    char dataset[EXPERIMENT_TEXT_MAX], view[64], permutation[EXPERIMENT_TEXT_MAX];
    char shape[EXPERIMENT_TEXT_MAX], src[EXPERIMENT_TEXT_MAX], dst[EXPERIMENT_TEXT_MAX];
    int strategy, index;
    uint32_t elements_per_thread;
    bool sorted, signed_sort, collapse, nontemporal;
    uint32_t tile, cores;
    uint64_t src_base_bytes, dst_base_bytes;
    int pattern;
    uint64_t working_set;
    uint32_t access_bytes;
    uint64_t stride_bytes, thread_bytes, accesses;
    bool random, stagger;
    uint32_t resident_blocks, unroll, vector, window, max_registers;
    bool no_alias;
    double counted;
    double measured_us;
} raw_case;

static const raw_case raw_default = {
    .elements_per_thread = 1,
    .sorted = true,
    .cores = 1,
    .pattern = PATTERN_COUNT,
    .access_bytes = 8,
    .unroll = 1,
    .vector = 1,
    .counted = 1,
    .measured_us = NAN,
    .src_base_bytes = UINT64_MAX,
    .dst_base_bytes = UINT64_MAX,
};

#define FIELD(member, its_kind, low, high, names)                                                                      \
    {                                                                                                                  \
        .key = #member, .kind = its_kind, .optional = true, .offset = offsetof(raw_case, member), .min = low,          \
        .max = high, .choices = names                                                                                  \
    }
#define TEXT(member) FIELD(member, FIELD_TEXT, 0, sizeof(((raw_case *)0)->member), NULL)

/* The keys that `defaults` takes come first. */
enum { DEFAULTABLE = 36 };
static const field case_fields[] = {
    TEXT(dataset),
    TEXT(view),
    TEXT(permutation),
    TEXT(shape),
    TEXT(src),
    TEXT(dst),
    FIELD(strategy, FIELD_CHOICE, 0, 0, strategy_names),
    FIELD(index, FIELD_CHOICE, 0, 0, index_names),
    FIELD(elements_per_thread, FIELD_COUNT, 1, 8, NULL),
    FIELD(sorted, FIELD_FLAG, 0, 0, NULL),
    FIELD(signed_sort, FIELD_FLAG, 0, 0, NULL),
    FIELD(collapse, FIELD_FLAG, 0, 0, NULL),
    FIELD(nontemporal, FIELD_FLAG, 0, 0, NULL),
    FIELD(tile, FIELD_COUNT, 0, 1 << 20, NULL),
    FIELD(cores, FIELD_COUNT, 1, MACHINE_CPU_CORES_MAX, NULL),
    FIELD(src_base_bytes, FIELD_SIZE, 0, 0x1p62, NULL),
    FIELD(dst_base_bytes, FIELD_SIZE, 0, 0x1p62, NULL),
    FIELD(pattern, FIELD_CHOICE, 0, 0, pattern_names),
    FIELD(working_set, FIELD_SIZE, 1, 0x1p40, NULL),
    FIELD(access_bytes, FIELD_BYTES, 1, IR_ACCESS_MAX, NULL),
    FIELD(stride_bytes, FIELD_SIZE, 1, 0x1p40, NULL),
    FIELD(thread_bytes, FIELD_SIZE, 1, 0x1p40, NULL),
    FIELD(accesses, FIELD_SIZE, 1, 0x1p50, NULL),
    FIELD(random, FIELD_FLAG, 0, 0, NULL),
    FIELD(stagger, FIELD_FLAG, 0, 0, NULL),
    {.key = "body", .kind = FIELD_KNOWN, .optional = true},
    {.key = "params", .kind = FIELD_GROUP, .optional = true},
    {.key = "warm_params", .kind = FIELD_GROUP, .optional = true},
    {.key = "x", .kind = FIELD_LIST, .optional = true},
    FIELD(resident_blocks, FIELD_COUNT, 0, 1024, NULL),
    FIELD(unroll, FIELD_COUNT, 1, LOWER_UNROLL_MAX, NULL),
    FIELD(vector, FIELD_COUNT, 1, 4, NULL),
    FIELD(window, FIELD_COUNT, 0, LOWER_WINDOW_MAX, NULL),
    FIELD(max_registers, FIELD_COUNT, 0, 1024, NULL),
    FIELD(no_alias, FIELD_FLAG, 0, 0, NULL),
    FIELD(counted, FIELD_NUMBER, 1e-6, 1e6, NULL),
    TEXT(name),
    FIELD(measured_us, FIELD_NUMBER, 1e-6, 1e15, NULL),
    {.key = "measured_ci95_us", .kind = FIELD_LIST, .optional = true},
};
_Static_assert(LENGTH(case_fields) == DEFAULTABLE + 3, "name and the measured keys come last");

typedef struct case_reader {
    const config *c;
    const config_setting_t *group;    /* the case */
    const config_setting_t *defaults; /* may be NULL */
    message *m;
} case_reader;

/* A key of the case, or else of the defaults; NULL: not given. */
static const config_setting_t *given(const case_reader *r, const char *key) {
    const config_setting_t *s = config_member(r->group, key);
    return s || !r->defaults ? s : config_member(r->defaults, key);
}

/* Where a key of the case was given: the case, else the defaults, else (not given) the case itself. */
static const config_setting_t *origin_of(const case_reader *r, const char *key) {
    const config_setting_t *s = given(r, key);
    return s ? s : r->group;
}

/* A complaint of the layout room about the text of a key. */
static status text_fault(const case_reader *r, const char *key, const message *why) {
    return config_fail(r->c, origin_of(r, key), r->m, "'%s': %s", key, why->text);
}

static status read_view(const case_reader *r, const raw_case *raw, copy_desc *copy) {
    message why = {{0}};
    dataset d;
    if (parse_dataset(raw->dataset, &d, &why) != OK)
        return text_fault(r, "dataset", &why);
    const char *view = *raw->view ? raw->view : "copy";
    const char *permutation = *raw->permutation ? raw->permutation : NULL;
    uint32_t unused[LMAD_RANK_MAX];
    if (permutation && parse_permutation(permutation, d.rank, unused, &why) != OK)
        return text_fault(r, "permutation", &why);
    if (view_copy(view, &d, permutation, copy, &why) != OK)
        return text_fault(r, *raw->view ? "view" : "dataset", &why);
    return OK;
}

static status read_side(const case_reader *r, const char *key, const char *text, const dataset *shape, lmad *l) {
    message why = {{0}};
    if (*text ? parse_lmad(text, l, &why) != OK : lmad_row_major(shape->size, shape->rank, l, &why) != OK)
        return text_fault(r, *text ? key : "shape", &why);
    return OK;
}

static status read_layouts(const case_reader *r, const raw_case *raw, copy_desc *copy) {
    message why = {{0}};
    dataset shape;
    if (parse_dataset(raw->shape, &shape, &why) != OK)
        return text_fault(r, "shape", &why);
    *copy = (copy_desc){.element_bytes = shape.element_bytes};
    TRY(read_side(r, "src", raw->src, &shape, &copy->src));
    TRY(read_side(r, "dst", raw->dst, &shape, &copy->dst));
    const lmad *const sides[2] = {&copy->src, &copy->dst};
    static const char *const keys[2] = {"src", "dst"};
    for (size_t i = 0; i < 2; i++)
        if (sides[i]->rank != shape.rank || memcmp(sides[i]->size, shape.size, shape.rank * sizeof *shape.size) != 0)
            return config_fail(r->c, origin_of(r, keys[i]), r->m, "'%s': the sizes are not those of 'shape', %s",
                               keys[i], raw->shape);
    return OK;
}

static status read_copy(const case_reader *r, const raw_case *raw, copy_desc *copy) {
    bool by_view = *raw->dataset || *raw->view || *raw->permutation;
    bool by_layout = *raw->shape || *raw->src || *raw->dst;
    char label[EXPERIMENT_NAME_MAX + 16];
    config_label(label, sizeof label, r->group);
    if (by_view && by_layout)
        return config_fail(r->c, r->group, r->m,
                           "%s mixes 'dataset', 'view', 'permutation' with 'shape', 'src', 'dst': use one set", label);
    if (by_view ? !*raw->dataset : !*raw->shape)
        return config_fail(r->c, r->group, r->m, "%s lacks the key '%s'", label,
                           by_view || !by_layout ? "dataset" : "shape");
    TRY(by_view ? read_view(r, raw, copy) : read_layouts(r, raw, copy));
    message why = {{0}};
    if (copy_check(copy, &why) != OK)
        return config_fail(r->c, r->group, r->m, "%s: %s", label, why.text);
    return OK;
}

/* "auto" asks the plan; any other strategy must be able to do the copy. */
static status read_strategy(const case_reader *r, const raw_case *raw, experiment_case *out) {
    if ((raw->elements_per_thread & (raw->elements_per_thread - 1)) != 0)
        return config_fail(r->c, origin_of(r, "elements_per_thread"), r->m,
                           "'elements_per_thread' must be 1, 2, 4 or 8; it is %" PRIu32, raw->elements_per_thread);
    plan_options plan = plan_options_default();
    plan.general = (copy_options){
        .strategy = COPY_GENERAL,
        .index = (index_variant)raw->index,
        .elements_per_thread = raw->elements_per_thread,
        .sorted = raw->sorted,
        .signed_sort = raw->signed_sort,
        .collapse = raw->collapse,
        .nontemporal = raw->nontemporal,
        .tile = raw->tile,
        .cores = raw->cores,
    };
    if (out->placed) {
        plan.src_base = out->src_base;
        plan.dst_base = out->dst_base;
    }
    out->automatic = raw->strategy == STRATEGY_AUTO;
    out->options = plan.general;
    if (out->automatic) {
        message why = {{0}};
        copy_plan chosen;
        if (plan_copy(&out->copy, &plan, &chosen, &why) != OK)
            return config_fail(r->c, r->group, r->m, "%s", why.text);
        out->options = chosen.options;
        return OK;
    }
    out->options.strategy = (copy_strategy)(raw->strategy - STRATEGY_FIRST);
    plan_text why;
    if (!plan_applicable(&out->copy, out->options.strategy, &plan, NULL, &why))
        return config_fail(r->c, origin_of(r, "strategy"), r->m, "'%s' cannot do this copy: %s",
                           strategy_names[raw->strategy], why.text);
    if (out->options.index != INDEX_64 && !copy_fits_32(&out->copy, 0, &why))
        return config_fail(r->c, origin_of(r, "index"), r->m, "'%s' indices cannot do this copy: %s",
                           index_names[raw->index], why.text);
    return OK;
}

static status read_bases(const case_reader *r, const raw_case *raw, experiment_case *out) {
    bool src = raw->src_base_bytes != UINT64_MAX, dst = raw->dst_base_bytes != UINT64_MAX;
    if (src != dst)
        return config_fail(r->c, origin_of(r, src ? "src_base_bytes" : "dst_base_bytes"), r->m,
                           "give both 'src_base_bytes' and 'dst_base_bytes' or neither");
    out->placed = src;
    out->src_base = src ? (int64_t)raw->src_base_bytes : 0;
    out->dst_base = dst ? (int64_t)raw->dst_base_bytes : 0;
    return OK;
}

static status read_measured(const case_reader *r, const raw_case *raw, experiment_case *out) {
    out->measured_us = raw->measured_us;
    out->measured_low_us = out->measured_high_us = NAN;
    const config_setting_t *ci = config_member(r->group, "measured_ci95_us");
    if (!ci)
        return OK;
    if (isnan(raw->measured_us))
        return config_fail(r->c, ci, r->m, "'measured_ci95_us' without 'measured_us'");
    if (config_setting_length(ci) != 2)
        return config_fail(r->c, ci, r->m, "'measured_ci95_us' has %d entries; write [low, high]",
                           config_setting_length(ci));
    static const field bound = {.kind = FIELD_NUMBER, .min = 1e-6, .max = 1e15};
    TRY(read_value(r->c, config_setting_get_elem(ci, 0), &bound, &out->measured_low_us, r->m));
    TRY(read_value(r->c, config_setting_get_elem(ci, 1), &bound, &out->measured_high_us, r->m));
    if (!(out->measured_low_us <= raw->measured_us && raw->measured_us <= out->measured_high_us))
        return config_fail(r->c, ci, r->m, "'measured_us' = %g lies outside 'measured_ci95_us' = [%g, %g]",
                           raw->measured_us, out->measured_low_us, out->measured_high_us);
    return OK;
}

static status read_pattern(const case_reader *r, raw_case *raw, experiment_case *out) {
    char label[EXPERIMENT_NAME_MAX + 16];
    config_label(label, sizeof label, r->group);
    if (*raw->dataset || *raw->shape || *raw->view || given(r, "body"))
        return config_fail(r->c, r->group, r->m, "%s has a 'pattern' and a copy or a body: one or the other", label);
    if (!raw->working_set)
        return config_fail(r->c, r->group, r->m, "%s lacks the key 'working_set'", label);
    if (!isnan(out->x)) {
        const double bytes = out->x * (double)raw->working_set;
        if (!(bytes >= 1 && bytes <= 0x1p40))
            return config_fail(r->c, origin_of(r, "x"), r->m, "%g times 'working_set' is no size up to 2^40 bytes",
                               out->x);
        raw->working_set = (uint64_t)llround(bytes);
    }
    out->patterned = true;
    out->accesses = raw->accesses;
    out->pattern = (pattern){.kind = (pattern_kind)raw->pattern,
                             .bytes = raw->working_set,
                             .stride_bytes = raw->stride_bytes ? raw->stride_bytes : raw->access_bytes,
                             .access_bytes = raw->access_bytes,
                             .random = raw->random,
                             .stagger = raw->stagger,
                             .nontemporal = raw->nontemporal,
                             .threads = raw->cores,
                             .thread_bytes = (int64_t)raw->thread_bytes};
    char size[32];
    snprintf(out->dataset, sizeof out->dataset, "%s", format_bytes(size, sizeof size, raw->working_set));
    if (!*raw->name)
        snprintf(out->name, sizeof out->name, "%s %s", pattern_kind_name(out->pattern.kind), size);
    message why = {{0}};
    kernel k;
    uint64_t done = 0;
    const status s = pattern_kernel_build(&out->pattern, 1, &k, &done, &why);
    kernel_free(&k);
    return s == OK ? OK : config_fail(r->c, r->group, r->m, "%s: %s", label, why.text);
}

enum { SETTINGS_MAX = 16 };

/* Adds the entries of the group `key`, if it is given; later ones win. */
static status read_settings(const case_reader *r, const char *key, body_setting settings[SETTINGS_MAX], size_t *count) {
    const config_setting_t *group = given(r, key);
    for (int i = 0; group && i < config_setting_length(group); i++) {
        const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);
        const int type = config_setting_type(s);
        if (type != CONFIG_TYPE_INT && type != CONFIG_TYPE_INT64)
            return config_fail(r->c, s, r->m, "'%s' of '%s' must be a whole number", config_setting_name(s), key);
        size_t k = 0;
        while (k < *count && strcmp(settings[k].name, config_setting_name(s)) != 0)
            k++;
        if (k == SETTINGS_MAX)
            return config_fail(r->c, s, r->m, "'%s' has more than %d params", key, (int)SETTINGS_MAX);
        settings[k] = (body_setting){config_setting_name(s), config_setting_get_int64(s)};
        *count += k == *count;
    }
    return OK;
}

static status parse_bodies(const case_reader *r, const config_setting_t *at, const textbuf *text,
                           experiment_case *out) {
    char place[EXPERIMENT_PLACE_MAX], file[EXPERIMENT_PLACE_MAX + 8];
    body_setting settings[SETTINGS_MAX];
    size_t count = 0;
    config_place(r->c, at, place, sizeof place);
    snprintf(file, sizeof file, "%s: body", place);
    if (!isnan(out->x)) {
        if (out->x != floor(out->x) || fabs(out->x) > 0x1p53)
            return config_fail(r->c, origin_of(r, "x"), r->m, "the 'x' of a body is a whole number; this is %g",
                               out->x);
        settings[count++] = (body_setting){"x", (int64_t)out->x};
    }
    TRY(read_settings(r, "params", settings, &count));
    TRY(body_parse_with(file, text->text, text->length, settings, count, &out->body, r->m));
    out->warmed = given(r, "warm_params") != NULL;
    if (!out->warmed)
        return OK;
    TRY(read_settings(r, "warm_params", settings, &count));
    return body_parse_with(file, text->text, text->length, settings, count, &out->warm, r->m);
}

static status read_body(const case_reader *r, const raw_case *raw, experiment_case *out) {
    char label[EXPERIMENT_NAME_MAX + 16];
    config_label(label, sizeof label, r->group);
    if (*raw->dataset || *raw->shape || *raw->view)
        return config_fail(r->c, r->group, r->m, "%s has a 'body' and a copy: one or the other", label);
    if (raw->vector == 3)
        return config_fail(r->c, origin_of(r, "vector"), r->m, "'vector' must be 1, 2 or 4; it is 3");
    out->bodied = true;
    out->resident_blocks = raw->resident_blocks;
    out->counted = raw->counted;
    out->lowering = (lower_options){.unroll = raw->unroll,
                                    .vector = raw->vector,
                                    .window = raw->window,
                                    .no_alias = raw->no_alias,
                                    .max_registers = raw->max_registers};
    snprintf(out->dataset, sizeof out->dataset, "loop body");
    textbuf text = {.length = 0};
    const config_setting_t *at = given(r, "body");
    status s = config_body_text(r->c, at, &text, r->m);
    if (s == OK)
        s = parse_bodies(r, at, &text, out);
    textbuf_free(&text);
    return s;
}

/* The name of a case; of a series, with x. */
static void put_name(const case_reader *r, const raw_case *raw, experiment_case *out) {
    if (*raw->name)
        memcpy(out->name, raw->name, sizeof out->name);
    else if (*raw->dataset)
        snprintf(out->name, sizeof out->name, "%s %.*s", *raw->view ? raw->view : "copy", EXPERIMENT_NAME_MAX - 72,
                 raw->dataset);
    else
        snprintf(out->name, sizeof out->name, "case %d", config_setting_index(r->group));
    memcpy(out->series, out->name, sizeof out->series);
    if (!isnan(out->x))
        snprintf(out->name, sizeof out->name, "%.100s, x = %g", out->series, out->x);
}

static status read_case(const case_reader *r, const raw_case *defaults, experiment_case *out) {
    raw_case raw = *defaults;
    /* The case's own way of naming the copy replaces the defaults' way as a whole. */
    if (config_setting_is_group(r->group)) {
        if (config_member(r->group, "shape"))
            raw.dataset[0] = raw.view[0] = raw.permutation[0] = '\0';
        if (config_member(r->group, "dataset"))
            raw.shape[0] = raw.src[0] = raw.dst[0] = '\0';
    }
    TRY(read_fields(r->c, r->group, case_fields, LENGTH(case_fields), &raw, r->m));
    config_place(r->c, r->group, out->place, sizeof out->place);
    put_name(r, &raw, out);
    if (raw.pattern != PATTERN_COUNT) {
        TRY(read_pattern(r, &raw, out));
        return read_measured(r, &raw, out);
    }
    if (!*raw.dataset && !*raw.shape && given(r, "body")) {
        TRY(read_body(r, &raw, out));
        return read_measured(r, &raw, out);
    }
    if (!isnan(out->x))
        return config_fail(r->c, origin_of(r, "x"), r->m, "'x' is for patterns and bodies, and this is a copy");
    memcpy(out->dataset, *raw.dataset ? raw.dataset : raw.shape, sizeof out->dataset);
    TRY(read_copy(r, &raw, &out->copy));
    TRY(read_bases(r, &raw, out));
    TRY(read_strategy(r, &raw, out));
    return read_measured(r, &raw, out);
}

static const experiment_case *same_name(const experiment_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(cases[i].name, cases[count].name) == 0)
            return &cases[i];
    return NULL;
}

/* Results are told apart by the names of their cases: what the user named twice is a mistake, what has no name of its
 * own gets a number. */
static status settle_name(const case_reader *r, experiment_case *cases, size_t i) {
    const experiment_case *twin = same_name(cases, i);
    if (twin && config_member(r->group, "name"))
        return config_fail(r->c, config_member(r->group, "name"), r->m,
                           "there are two cases '%s', the first at %s: give each a name of its own", twin->name,
                           twin->place);
    char plain[EXPERIMENT_NAME_MAX];
    memcpy(plain, cases[i].name, sizeof plain);
    for (unsigned n = 2; same_name(cases, i); n++)
        snprintf(cases[i].name, sizeof cases[i].name, "%.*s (%u)", EXPERIMENT_NAME_MAX - 16, plain, n);
    return OK;
}

/* A case, or one for each x. */
static status read_series(const case_reader *r, const raw_case *raw, experiment *e, size_t *capacity) {
    const config_setting_t *list = config_setting_is_group(r->group) ? given(r, "x") : NULL;
    static const field number = {.kind = FIELD_NUMBER, .min = -0x1p62, .max = 0x1p62};
    if (list && !config_setting_is_aggregate(list))
        return config_fail(r->c, list, r->m, "'x' must be an array of numbers");
    const int points = list ? config_setting_length(list) : 1;
    for (int i = 0; i < points; i++) {
        void *cases = e->cases;
        if (!mem_reserve(&cases, capacity, e->case_count + 1, sizeof *e->cases))
            return fail(r->m, ERR_MEMORY, "not enough memory for %zu cases", e->case_count + 1);
        e->cases = cases;
        experiment_case *out = &e->cases[e->case_count++];
        *out = (experiment_case){.x = NAN};
        if (list)
            TRY(read_value(r->c, config_setting_get_elem(list, (unsigned)i), &number, &out->x, r->m));
        TRY(read_case(r, raw, out));
        TRY(settle_name(r, e->cases, e->case_count - 1));
    }
    return OK;
}

static status read_cases(const config *c, experiment *e, message *m) {
    const config_setting_t *root = config_root(c);
    const config_setting_t *defaults = config_member(root, "defaults");
    const config_setting_t *list = config_member(root, "cases");
    raw_case raw = raw_default;
    if (defaults)
        TRY(read_fields(c, defaults, case_fields, DEFAULTABLE, &raw, m));
    size_t capacity = 0;
    for (int i = 0; i < config_setting_length(list); i++) {
        const config_setting_t *group = config_setting_get_elem(list, (unsigned)i);
        const case_reader r = {.c = c, .group = group, .defaults = defaults, .m = m};
        TRY(read_series(&r, &raw, e, &capacity));
    }
    return OK;
}

static status read_factoring(const config *c, const config_setting_t *group, experiment *e, message *m) {
    if (!group)
        return OK;
    e->factoring = mem_zero(1, sizeof *e->factoring);
    if (!e->factoring)
        return fail(m, ERR_MEMORY, "not enough memory for a factoring");
    return factoring_read(c, group, e->factoring, m);
}

static status read_validation(const config *c, const config_setting_t *group, experiment *e, message *m) {
    if (!group)
        return OK;
    e->validation = mem_zero(1, sizeof *e->validation);
    if (!e->validation)
        return fail(m, ERR_MEMORY, "not enough memory for a validation");
    return validation_read(c, group, e->validation, m);
}

static bool for_machine(const char *assignment) {
    return strncmp(assignment, machine_prefix, sizeof machine_prefix - 1) == 0;
}

/* The overrides of the config, then those of the command line, which win: their number in *count. `all` and `places`
 * have room for them. */
static status collect_overrides(const config *c, const config_setting_t *list, const config_overrides *overrides,
                                machine_override *all, char (*places)[EXPERIMENT_PLACE_MAX], size_t *count,
                                message *m) {
    int in_file = list ? config_setting_length(list) : 0;
    for (int i = 0; i < in_file; i++) {
        const config_setting_t *entry = config_setting_get_elem(list, (unsigned)i);
        if (config_setting_type(entry) != CONFIG_TYPE_STRING)
            return config_fail(c, entry, m,
                               "entry %d of 'machine_overrides' must be a text such as \"levels.L2.ways=8\"", i);
        config_place(c, entry, places[i], sizeof places[i]);
        all[(*count)++] = (machine_override){config_setting_get_string(entry), places[i]};
    }
    for (size_t i = 0; i < overrides->count; i++)
        if (for_machine(overrides->text[i]))
            all[(*count)++].assignment = overrides->text[i];
    return OK;
}

static status load_machine(const config *c, const char *name, const config_overrides *overrides, machine *mach,
                           message *m) {
    const config_setting_t *list = config_member(config_root(c), "machine_overrides");
    size_t in_file = list ? (size_t)config_setting_length(list) : 0, count = 0;
    char(*places)[EXPERIMENT_PLACE_MAX] = mem_zero(in_file, sizeof *places);
    machine_override *all = mem_zero(in_file + overrides->count, sizeof *all);
    status st = ERR_MEMORY;
    if (places && all)
        st = collect_overrides(c, list, overrides, all, places, &count, m);
    else
        fail(m, ERR_MEMORY, "not enough memory for the overrides");
    if (st == OK)
        st = machine_load_overridden(name, all, count, mach, m);
    mem_free(places);
    mem_free(all);
    return st;
}

status experiment_machine(const config *c, const char *machine_name, const char *in_file,
                          const config_overrides *overrides, machine *mach, message *m) {
    const config_setting_t *root = config_root(c), *named = config_member(root, "machine");
    if (!machine_name && !named)
        return config_fail(c, root, m, "the file names no 'machine'; add one or use -m");
    message why = {{0}};
    status st = load_machine(c, machine_name ? machine_name : in_file, overrides, mach, &why);
    /* "unknown machine" has no place of its own: it is the line that names it. */
    if (st == ERR_INPUT && !machine_name && strncmp(why.text, "unknown machine", 15) == 0)
        return config_fail(c, named, m, "%s", why.text);
    if (st != OK && m)
        *m = why;
    return st;
}

static status read_experiment(const config *c, const char *machine_name, const config_overrides *overrides,
                              experiment *e, message *m) {
    typedef struct raw_experiment {
        char title[EXPERIMENT_TITLE_MAX];
        char machine[MACHINE_PATH_MAX];
    } raw_experiment;
    static const field fields[] = {
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
        {.key = "factoring", .kind = FIELD_GROUP, .optional = true},
        {.key = "sweep", .kind = FIELD_GROUP, .optional = true},
        {.key = "validation", .kind = FIELD_GROUP, .optional = true},
    };
    raw_experiment raw = {.title = ""};
    const config_setting_t *root = config_root(c);
    TRY(read_fields(c, root, fields, LENGTH(fields), &raw, m));
    memcpy(e->title, raw.title, sizeof e->title);
    const config_setting_t *named = config_member(root, "machine");
    if (!machine_name && !named)
        return config_fail(c, root, m, "the file names no 'machine'; add one or use -m");
    TRY(read_cases(c, e, m));
    TRY(read_factoring(c, config_member(root, "factoring"), e, m));
    TRY(read_validation(c, config_member(root, "validation"), e, m));
    return experiment_machine(c, machine_name, raw.machine, overrides, &e->mach, m);
}

status experiment_overrides(config *c, const config_overrides *overrides, message *m) {
    for (size_t i = 0; i < overrides->count; i++)
        if (!for_machine(overrides->text[i]))
            TRY(config_override(c, overrides->text[i], NULL, m));
    return OK;
}

status experiment_load(const char *path, const char *machine_name, const config_overrides *overrides, experiment *e,
                       message *m) {
    *e = (experiment){.case_count = 0};
    config *c = NULL;
    TRY(config_open(path, &c, m));
    e->text_hash = config_hash(c);
    status st = experiment_overrides(c, overrides, m);
    if (st == OK)
        st = read_experiment(c, machine_name, overrides, e, m);
    config_close(c);
    return st;
}

status experiment_select(experiment *e, const char *const *parts, size_t count, message *m) {
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < e->case_count && !strstr(e->cases[k].name, parts[i]))
            k++;
        if (k == e->case_count)
            return fail(m, ERR_INPUT, "--case %.200s: none of the config's %zu cases has that in its name%s%s%s",
                        parts[i], e->case_count, k ? "; the first is '" : "", k ? e->cases[0].name : "", k ? "'" : "");
    }
    size_t kept = 0;
    for (size_t k = 0; k < e->case_count; k++) {
        bool wanted = count == 0;
        for (size_t i = 0; i < count && !wanted; i++)
            wanted = strstr(e->cases[k].name, parts[i]) != NULL;
        if (wanted && kept++ != k)
            e->cases[kept - 1] = e->cases[k];
    }
    e->case_count = kept;
    return OK;
}

void experiment_free(experiment *e) {
    for (size_t i = 0; i < e->case_count; i++) {
        body_free(&e->cases[i].body);
        body_free(&e->cases[i].warm);
    }
    mem_free(e->cases);
    mem_free(e->factoring);
    mem_free(e->validation);
    e->factoring = NULL;
    e->validation = NULL;
    e->cases = NULL;
    e->case_count = 0;
}

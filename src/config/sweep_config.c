#include "config/sweep_config.h"

#include "base/num.h"
#include "config/experiment_config.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 512 };
#define LENGTH(a) (sizeof(a) / sizeof *(a))

static status no_memory(message *m) {
    return fail(m, ERR_MEMORY, "not enough memory for the values of the sweep");
}

static status add_value(sweep *s, sweep_axis *a, const char *text, message *m) {
    if (a->count == SWEEP_VALUES_MAX)
        return fail(m, ERR_INPUT, "more than %d values", SWEEP_VALUES_MAX);
    if (!mem_reserve((void **)&a->value, &a->capacity, a->count + 1, sizeof *a->value))
        return no_memory(m);
    char *copy = arena_string(&s->text, text);
    if (!copy)
        return no_memory(m);
    a->value[a->count++] = copy;
    return OK;
}

static char *trimmed(char *text) {
    text += strspn(text, " \t");
    size_t n = strlen(text);
    while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
        text[--n] = '\0';
    return text;
}

/* A plain number, or (*bytes) a size with a unit. */
static bool read_end(const char *text, double *value, bool *bytes) {
    char *end = NULL;
    *value = strtod(text, &end);
    *bytes = false;
    if (end != text && *end == '\0')
        return isfinite(*value);
    uint64_t size = 0;
    *bytes = parse_bytes(text, &size);
    *value = (double)size;
    return *bytes && size < UINT64_C(1) << 53;
}

/* FROM..TO, FROM..TO+STEP, FROM..TO*FACTOR; `dots` is where the dots are. */
static status add_range(sweep *s, sweep_axis *a, const char *entry, const char *dots, message *m) {
    char text[TEXT_MAX];
    double from, to, step = 1;
    bool bytes, bytes_to, factor = false, unused;
    snprintf(text, sizeof text, "%s", entry);
    char *second = text + (dots - entry);
    *second = '\0';
    second += 2;
    char *how = strpbrk(second + strspn(second, " +"), "+*"); /* a sign before TO is no step */
    if (how) {
        factor = *how == '*';
        *how++ = '\0';
        if (!read_end(trimmed(how), &step, &unused))
            return fail(m, ERR_INPUT, "'%s': '%s' is no number", entry, trimmed(how));
    }
    if (!read_end(trimmed(text), &from, &bytes) || !read_end(trimmed(second), &to, &bytes_to))
        return fail(m, ERR_INPUT, "'%s': write a range as FROM..TO, FROM..TO+STEP or FROM..TO*FACTOR", entry);
    if (factor ? !(step > 1 && from > 0 && to >= from) : !(step > 0 && to >= from))
        return fail(m, ERR_INPUT, "'%s' never arrives: a range goes upwards%s", entry,
                    factor ? " from above 0 by a factor above 1" : " by a step above 0");
    const double slack = 1e-9 * fabs(to);
    for (uint64_t i = 0;; i++) {
        const double value = factor ? from * pow(step, (double)i) : from + step * (double)i;
        char one[64];
        if (value > to + slack)
            return OK;
        if (bytes || bytes_to)
            format_bytes(one, sizeof one, (uint64_t)(value + 0.5));
        else
            snprintf(one, sizeof one, "%.15g", value);
        TRY(add_value(s, a, one, m));
    }
}

static status add_text(sweep *s, sweep_axis *a, const char *text, message *m) {
    char entry[TEXT_MAX];
    int depth = 0;
    size_t n = 0;
    for (const char *p = text;; p++) {
        depth += *p && strchr("([{", *p) ? 1 : *p && strchr(")]}", *p) ? -1 : 0;
        if (*p && !(*p == ',' && depth <= 0)) {
            if (n + 1 >= sizeof entry)
                return fail(m, ERR_INPUT, "a value is longer than %d characters", TEXT_MAX - 1);
            entry[n++] = *p;
            continue;
        }
        entry[n] = '\0';
        n = 0;
        /* Ranges begin with a number: "../x.cfg" is none. */
        const char *one = trimmed(entry);
        const char *dots = isdigit((unsigned char)one[strspn(one, "+-")]) ? strstr(one, "..") : NULL;
        if (!*one)
            return fail(m, ERR_INPUT, "a value is empty in '%s'", text);
        TRY(dots ? add_range(s, a, one, dots, m) : add_value(s, a, one, m));
        if (!*p)
            return OK;
    }
}

static status add_scalar(sweep *s, sweep_axis *a, const config_setting_t *v, message *m) {
    char text[TEXT_MAX];
    switch (config_setting_type(v)) {
    case CONFIG_TYPE_INT: /* not get_int64: some versions return 0 for these */
        snprintf(text, sizeof text, "%d", config_setting_get_int(v));
        return add_value(s, a, text, m);
    case CONFIG_TYPE_INT64:
        snprintf(text, sizeof text, "%lld", config_setting_get_int64(v));
        return add_value(s, a, text, m);
    case CONFIG_TYPE_FLOAT:
        snprintf(text, sizeof text, "%.15g", config_setting_get_float(v));
        return add_value(s, a, text, m);
    case CONFIG_TYPE_BOOL:
        return add_value(s, a, config_setting_get_bool(v) ? "true" : "false", m);
    case CONFIG_TYPE_STRING:
        return add_value(s, a, config_setting_get_string(v), m);
    default:
        return fail(m, ERR_INPUT, "a value must be a number, a text, true or false");
    }
}

static sweep_axis *find_axis(sweep *s, const char *key) {
    for (size_t i = 0; i < s->axes; i++)
        if (strcmp(s->axis[i].key, key) == 0)
            return &s->axis[i];
    return NULL;
}

static status new_axis(sweep *s, const char *key, sweep_axis **a, message *m) {
    if (s->axes == SWEEP_AXES_MAX)
        return fail(m, ERR_INPUT, "more than %d keys", SWEEP_AXES_MAX);
    *a = &s->axis[s->axes];
    (*a)->key = arena_string(&s->text, key);
    if (!(*a)->key)
        return no_memory(m);
    s->axes++;
    return OK;
}

static status read_axis(const config *c, const config_setting_t *group, sweep *s, message *m) {
    typedef struct raw_axis {
        char key[SWEEP_KEY_MAX];
    } raw_axis;
    static const field fields[] = {
        {.key = "key", .kind = FIELD_TEXT, .offset = offsetof(raw_axis, key), .max = SWEEP_KEY_MAX},
        {.key = "values", .kind = FIELD_KNOWN},
    };
    raw_axis raw;
    TRY(read_fields(c, group, fields, LENGTH(fields), &raw, m));
    if (find_axis(s, raw.key))
        return config_fail(c, config_member(group, "key"), m, "'%s' is swept twice", raw.key);
    const config_setting_t *values = config_member(group, "values");
    message why = {{0}};
    sweep_axis *a = NULL;
    status st = new_axis(s, raw.key, &a, &why);
    if (st == OK && config_setting_type(values) == CONFIG_TYPE_STRING)
        st = add_text(s, a, config_setting_get_string(values), &why);
    else if (st == OK && !config_setting_is_aggregate(values))
        st = add_scalar(s, a, values, &why);
    else
        for (int i = 0; st == OK && i < config_setting_length(values); i++)
            st = add_scalar(s, a, config_setting_get_elem(values, (unsigned)i), &why);
    if (st == OK && a->count == 0)
        st = fail(&why, ERR_INPUT, "there is no value");
    if (st == ERR_INPUT)
        return config_fail(c, values, m, "'%s': %s", raw.key, why.text);
    return st == OK ? OK : fail(m, st, "%s", why.text);
}

static status read_section(const config *c, sweep *s, message *m) {
    typedef struct raw_sweep {
        int mode;
    } raw_sweep;
    static const char *const modes[] = {"grid", "zip", NULL};
    static const field fields[] = {
        {.key = "mode", .kind = FIELD_CHOICE, .optional = true, .offset = offsetof(raw_sweep, mode), .choices = modes},
        {.key = "over", .kind = FIELD_LIST, .optional = true},
    };
    const config_setting_t *group = config_member(config_root(c), "sweep");
    if (!group)
        return OK;
    if (!config_setting_is_group(group))
        return config_fail(c, group, m, "'sweep' must be a group: sweep = { over = ( ... ); };");
    raw_sweep raw = {0};
    TRY(read_fields(c, group, fields, LENGTH(fields), &raw, m));
    s->zip |= raw.mode == 1;
    const config_setting_t *over = config_member(group, "over");
    for (int i = 0; over && i < config_setting_length(over); i++)
        TRY(read_axis(c, config_setting_get_elem(over, (unsigned)i), s, m));
    return OK;
}

static status read_option(const char *option, sweep *s, message *m) {
    const char *equals = strchr(option, '=');
    char key[SWEEP_KEY_MAX];
    if (!equals || equals == option || equals - option >= SWEEP_KEY_MAX)
        return fail(m, ERR_INPUT, "--over %s: KEY=VALUES is needed", option);
    snprintf(key, sizeof key, "%.*s", (int)(equals - option), option);
    message why = {{0}};
    sweep_axis *a = find_axis(s, key);
    status st = a ? OK : new_axis(s, key, &a, &why);
    if (st == OK) {
        a->count = 0;
        st = add_text(s, a, equals + 1, &why);
    }
    return st == OK ? OK : fail(m, st, "--over %.600s: %s", option, why.text);
}

static status count_points(const char *path, sweep *s, message *m) {
    if (s->axes == 0)
        return fail_at(m, path, 0, "nothing to sweep over: add a section 'sweep' or use --over KEY=VALUES");
    s->points = s->zip ? s->axis[0].count : 1;
    for (size_t i = 0; i < s->axes; i++) {
        if (s->zip && s->axis[i].count != s->points)
            return fail_at(m, path, 0, "zip needs as many values for each key: '%s' has %" PRIu64 ", '%s' has %zu",
                           s->axis[0].key, s->points, s->axis[i].key, s->axis[i].count);
        if (!s->zip && (!mul_u64(s->points, s->axis[i].count, &s->points) || s->points > SWEEP_POINTS_MAX))
            return fail_at(m, path, 0, "more than %" PRIu64 " points: sweep over fewer values", SWEEP_POINTS_MAX);
    }
    return OK;
}

status sweep_load(const char *path, const config_overrides *overrides, const char *const *over, size_t over_count,
                  bool zip, sweep *s, message *m) {
    *s = (sweep){.zip = zip};
    config *c = NULL;
    TRY(config_open(path, &c, m));
    status st = experiment_overrides(c, overrides, m);
    if (st == OK)
        st = read_section(c, s, m);
    config_close(c);
    for (size_t i = 0; st == OK && i < over_count; i++)
        st = read_option(over[i], s, m);
    return st == OK ? count_points(path, s, m) : st;
}

void sweep_free(sweep *s) {
    for (size_t i = 0; i < SWEEP_AXES_MAX; i++)
        mem_free(s->axis[i].value);
    arena_free(&s->text);
    *s = (sweep){.axes = 0};
}

const char *sweep_value(const sweep *s, size_t axis, uint64_t point) {
    if (!s->zip)
        for (size_t i = s->axes - 1; i > axis; i--)
            point /= s->axis[i].count;
    return s->axis[axis].value[point % s->axis[axis].count];
}

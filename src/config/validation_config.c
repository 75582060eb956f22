#include "config/validation_config.h"

#include <math.h>

#define LENGTH(a) (sizeof(a) / sizeof *(a))
#define TEXT(type, member, can_be_left_out)                                                                            \
    {                                                                                                                  \
        .key = #member, .kind = FIELD_TEXT, .optional = can_be_left_out, .offset = offsetof(type, member),             \
        .max = sizeof(((type *)0)->member)                                                                             \
    }
#define NUMBER(type, member, low, high)                                                                                \
    {                                                                                                                  \
        .key = #member, .kind = FIELD_NUMBER, .optional = true, .offset = offsetof(type, member), .min = low,          \
        .max = high                                                                                                    \
    }

static const field metric_fields[] = {
    TEXT(validation_metric, name, false),         TEXT(validation_metric, of, false),
    TEXT(validation_metric, per, true),           NUMBER(validation_metric, scale, 1e-15, 1e15),
    NUMBER(validation_metric, mape_pct, 0, 1e6),  NUMBER(validation_metric, within_pct, 0, 1e6),
    NUMBER(validation_metric, share_pct, 0, 100), NUMBER(validation_metric, order_pct, 0, 1e6),
};

static const field fields[] = {
    TEXT(validation, set, false),
    TEXT(validation, measured, false),
    {.key = "fitted", .kind = FIELD_FLAG, .optional = true, .offset = offsetof(validation, fitted)},
    {.key = "metrics", .kind = FIELD_LIST},
    {.key = "plateaus", .kind = FIELD_LIST, .optional = true},
    NUMBER(validation, plateau_pct, 0, 1e6),
    NUMBER(validation, knee_pct, 0, 1e6),
};

static status read_metrics(const config *c, const config_setting_t *list, validation *v, message *m) {
    const int count = config_setting_length(list);
    if (count < 1 || count > VALIDATION_METRICS_MAX)
        return config_fail(c, list, m, "'metrics' has %d entries; 1 to %d are possible", count, VALIDATION_METRICS_MAX);
    for (int i = 0; i < count; i++) {
        const config_setting_t *group = config_setting_get_elem(list, (unsigned)i);
        validation_metric *x = &v->metric[v->metric_count++];
        *x = (validation_metric){.scale = 1, .mape_pct = NAN, .within_pct = NAN, .share_pct = 100, .order_pct = NAN};
        TRY(read_fields(c, group, metric_fields, LENGTH(metric_fields), x, m));
    }
    return OK;
}

static status read_plateaus(const config *c, const config_setting_t *list, validation *v, message *m) {
    static const field bound = {.kind = FIELD_NUMBER, .min = -1e300, .max = 1e300};
    const int count = list ? config_setting_length(list) : 0;
    double last = -INFINITY;
    if (count > VALIDATION_PLATEAUS_MAX)
        return config_fail(c, list, m, "'plateaus' has %d entries; %d are possible", count, VALIDATION_PLATEAUS_MAX);
    for (int i = 0; i < count; i++) {
        const config_setting_t *range = config_setting_get_elem(list, (unsigned)i);
        double *to = v->plateau[v->plateau_count++];
        if (!config_setting_is_aggregate(range) || config_setting_length(range) != 2)
            return config_fail(c, range, m, "a plateau is [from, to], in x");
        for (unsigned k = 0; k < 2; k++)
            TRY(read_value(c, config_setting_get_elem(range, k), &bound, &to[k], m));
        if (!(last < to[0] && to[0] <= to[1]))
            return config_fail(c, range, m, "plateaus must be ascending ranges of x that do not overlap");
        last = to[1];
    }
    return OK;
}

status validation_read(const config *c, const config_setting_t *group, validation *v, message *m) {
    *v = (validation){.plateau_pct = NAN, .knee_pct = NAN};
    TRY(read_fields(c, group, fields, LENGTH(fields), v, m));
    TRY(read_metrics(c, config_member(group, "metrics"), v, m));
    return read_plateaus(c, config_member(group, "plateaus"), v, m);
}

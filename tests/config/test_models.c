/* The shipped machine files as documents: they load, and every value has a unit and a source. */
#include "base/mem.h"
#include "config/machine_config.h"
#include "config_test.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <string.h>

Test(models, all_load) {
    machine_entry *entries = NULL;
    size_t count = 0;
    message m = {{0}};
    cr_assert_eq(machines_list(&entries, &count, &m), OK, "%s", m.text);
    cr_expect_geq(count, 4);
    for (size_t i = 0; i < count; i++) {
        cr_expect(entries[i].loads, "%s", entries[i].summary);
        cr_expect(entries[i].summary[0] != '\0' && entries[i].name[0] != '\0', "%s", entries[i].id);
    }
    mem_free(entries);
}

static bool ends_in(const char *key, const char *suffix) {
    size_t n = strlen(key), s = strlen(suffix);
    return n >= s && strcmp(key + n - s, suffix) == 0;
}

static bool has_unit(const char *key) {
    static const char *const units[] = {"_bytes", "_cycles", "_ns",        "_us",
                                        "_MHz",   "_GBps",   "_per_cycle", "_per_kilocycle"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (ends_in(key, units[i]))
            return true;
    return false;
}

/* Keys whose values have no unit: counts and shares of counts, names, choices, flags, and bit shifts. `size` has its
 * unit in the text. */
static bool has_none(const char *key) {
    static const char *const words[] = {
        "count",
        "per_cluster",
        "warp_width",
        "schedulers",
        "issue_width",
        "max_warps",
        "max_blocks",
        "max_block_threads",
        "registers",
        "register_granule",
        "max_thread_registers",
        "shared_banks",
        "queue",
        "tag_lines_per_pass",
        "tag_banks",
        "data_banks",
        "store_credits",
        "ways",
        "slices",
        "mshrs",
        "mshr_merges",
        "channels",
        "banks",
        "slice_queue",
        "read_queue",
        "write_queue_high",
        "write_queue_low",
        "size",
        "name",
        "vendor",
        "summary",
        "policy",
        "rule",
        "scope",
        "replace",
        "write",
        "partial",
        "set_hash",
        "channel_hash",
        "bank_hash",
        "masked_writes",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(key, words[i]) == 0)
            return true;
    return false;
}

static bool has_source(const char *comment) {
    static const char *const words[] = {"published", "derived", "fitted", "guess", "count"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(comment, words[i]))
            return true;
    return false;
}

/* "    ways = 20;   # guess" -> key; false for lines that are no single value. */
static bool value_line(const char *line, char key[64]) {
    while (*line == ' ')
        line++;
    size_t n = 0;
    while (n < 63 && (isalnum((unsigned char)line[n]) || line[n] == '_'))
        n++;
    memcpy(key, line, n);
    key[n] = '\0';
    const char *p = line + n + strspn(line + n, " ");
    if (n == 0 || *p != '=')
        return false;
    p += 1 + strspn(p + 1, " ");
    bool opens = (*p == '{' && !strchr(p, '}')) || *p == '('; /* a group on one line is a value, an opened one is not */
    return !opens;
}

Test(models, every_value_has_a_unit_and_a_source) {
    static const char *const files[] = {
        "models/rx7900xt.cfg", "models/v100.cfg",        "models/a100-40.cfg", "models/a100-80.cfg",
        "models/g80.cfg",      "models/parts/ga100.cfg", "models/gt200.cfg",   "models/titanx-pascal.cfg",
    };
    size_t values = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char text[TEST_TEXT_MAX];
        bool above = false; /* a comment that ends on the line before names a source */
        read_text(files[i], text);
        int number = 1;
        for (char *line = text; *line; number++) {
            char *end = strchr(line, '\n');
            if (end)
                *end = '\0';
            char key[64];
            if (value_line(line, key)) {
                values++;
                const char *comment = strchr(line, '#');
                bool is_label = strcmp(key, "name") == 0 || strcmp(key, "vendor") == 0 || strcmp(key, "summary") == 0 ||
                                strcmp(key, "scope") == 0; /* the structure itself */
                cr_expect(is_label || (comment ? has_source(comment) : above), "%s:%d: %s has no source", files[i],
                          number, key);
                cr_expect(has_unit(key) || has_none(key) || strchr(line, '{'), "%s:%d: %s has no unit", files[i],
                          number, key);
            }
            above = line[strspn(line, " ")] == '#' && (above || has_source(line));
            if (!end)
                break;
            line = end + 1;
        }
    }
    cr_expect_gt(values, 300, "the scan found only %zu values", values);
}

#include "config/reader.h"
#include "config_test.h"

#include <criterion/criterion.h>
#include <string.h>

static const char text[] = "n = 1; word = \"old\";\n"
                           "levels = ( { name = \"L1\"; ways = 4; hash = [1, 2]; }, { name = \"L2\"; ways = 8; } );\n"
                           "plain = ( 1, \"two\", true );\n";

static const config_setting_t *find(const config *c, const char *path) {
    return config_setting_lookup((config_setting_t *)config_root(c), path);
}

Test(override, changes_the_tree) {
    test_directory d;
    make_directory(&d);
    message m = {{0}};
    config *c = NULL;
    cr_assert_eq(config_open(write_file(&d, "a.cfg", text), &c, &m), OK, "%s", m.text);
    static const char *const assignments[] = {
        "n=7",
        "levels.L2.ways=16",   /* by name */
        "levels.0.ways = 2",   /* by number, with blanks */
        "levels.L1.size=3MiB", /* a new key; not libconfig syntax: a text */
        "levels.L1.hash=[5, 6, 7]",
        "word=42", /* a text stays a text */
        "plain.1=\"three\"",
        "levels.L2.name=LL",
        "levels.LL.write=through", /* by the name it has now */
        "n=0x10",                  /* the last one wins */
    };
    for (size_t i = 0; i < sizeof assignments / sizeof *assignments; i++)
        cr_expect_eq(config_override(c, assignments[i], NULL, &m), OK, "%s", m.text);
    cr_expect_eq(config_setting_get_int(find(c, "n")), 16);
    cr_expect_eq(config_setting_get_int(find(c, "levels.[1].ways")), 16);
    cr_expect_eq(config_setting_get_int(find(c, "levels.[0].ways")), 2);
    cr_expect_str_eq(config_setting_get_string(find(c, "levels.[0].size")), "3MiB");
    cr_expect_eq(config_setting_length(find(c, "levels.[0].hash")), 3);
    cr_expect_eq(config_setting_get_int_elem(find(c, "levels.[0].hash"), 2), 7);
    cr_expect_str_eq(config_setting_get_string(find(c, "word")), "42");
    cr_expect_str_eq(config_setting_get_string_elem(find(c, "plain"), 1), "three");
    cr_expect_str_eq(config_setting_get_string(find(c, "levels.[1].write")), "through");
    config_fail(c, find(c, "levels.[0].hash.[1]"), &m, "bad");
    cr_expect_str_eq(m.text, "-D levels.L1.hash=[5, 6, 7]: bad", "the place is the option, for parts of the value too");
    config_close(c);
    remove_directory(&d);
}

Test(override, faults) {
    static const struct {
        const char *assignment, *message;
    } cases[] = {
        {"n", "-D n: write PATH=VALUE, such as levels.L2.ways=8"},
        {"=3", "-D =3: write PATH=VALUE with a dotted path, such as levels.L2.ways=8"},
        {"levels..ways=3", "-D levels..ways=3: write PATH=VALUE with a dotted path, such as levels.L2.ways=8"},
        {"level.L1.ways=3", "-D level.L1.ways=3: there is no 'level' in the file; did you mean 'levels'?"},
        {"levels.L3.ways=3", "-D levels.L3.ways=3: there is no 'L3' in 'levels'; known: L1, L2"},
        {"levels.2.ways=3", "-D levels.2.ways=3: there is no '2' in 'levels'; known: L1, L2"},
        {"plain.7=1", "-D plain.7=1: 'plain' has 3 entries, numbered from 0: there is no '7'"},
        {"n.x=1", "-D n.x=1: 'n' is a plain value: it has no 'x'"},
        {"levels.L1=1", "-D levels.L1=1: 'L1' is a group: name one of its keys"},
        {"plain.0=\"x\"", "-D plain.0=\"x\": an entry of a list can only be replaced by a value of its own type"},
        {"n=4294967296",
         "-D n=4294967296: the integer 4294967296 does not fit 32 bits and would wrap; write 4294967296L, "
         "or a size as a text such as \"6 MiB\""},
    };
    test_directory d;
    make_directory(&d);
    const char *path = write_file(&d, "a.cfg", text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        message m = {{0}};
        config *c = NULL;
        cr_assert_eq(config_open(path, &c, &m), OK, "%s", m.text);
        cr_expect_eq(config_override(c, cases[i].assignment, NULL, &m), ERR_INPUT, "%s", cases[i].assignment);
        cr_expect_str_eq(m.text, cases[i].message);
        config_close(c);
    }
    remove_directory(&d);
}

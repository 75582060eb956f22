#include "config/reader.h"
#include "config_test.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

typedef struct sample {
    uint32_t count, bytes;
    uint64_t size;
    double number;
    bool flag;
    int choice;
    char text[8];
} sample;

static const char *const colours[] = {"red", "green", NULL};

static const field fields[] = {
    {.key = "count", .kind = FIELD_COUNT, .optional = true, .offset = offsetof(sample, count), .min = 1, .max = 100},
    {.key = "line_bytes", .kind = FIELD_BYTES, .optional = true, .offset = offsetof(sample, bytes), .max = 4096},
    {.key = "size", .kind = FIELD_SIZE, .optional = true, .offset = offsetof(sample, size), .max = 0x1p40},
    {.key = "number",
     .kind = FIELD_NUMBER,
     .optional = true,
     .offset = offsetof(sample, number),
     .min = -1,
     .max = 1e9},
    {.key = "flag", .kind = FIELD_FLAG, .optional = true, .offset = offsetof(sample, flag)},
    {.key = "choice", .kind = FIELD_CHOICE, .optional = true, .offset = offsetof(sample, choice), .choices = colours},
    {.key = "text", .kind = FIELD_TEXT, .optional = true, .offset = offsetof(sample, text), .max = 8},
    {.key = "group", .kind = FIELD_GROUP, .optional = true},
    {.key = "list", .kind = FIELD_LIST, .optional = true},
};

static status load(const char *path, sample *s, message *m) {
    config *c = NULL;
    TRY(config_open(path, &c, m));
    status st = read_fields(c, config_root(c), fields, sizeof fields / sizeof *fields, s, m);
    config_close(c);
    return st;
}

/* Every kind of value, and the odd texts that libconfig or Windows allow. */
Test(reader, values) {
    static const char text[] = "\xef\xbb\xbf# a byte-order mark and CR LF\r\ncount = 08;\r\nline_bytes = \"2 KiB\";\r\n"
                               "size = \"3 GiB\"; /* two\r\nlines \" */ number = 2\r\nflag = TRUE;\r\n"
                               "choice = \"green\"; text = \"a # b\"; // end";
    test_directory d;
    make_directory(&d);
    sample s = {0};
    message m = {{0}};
    cr_assert_eq(load(write_file(&d, "a.cfg", text), &s, &m), OK, "%s", m.text);
    cr_expect_eq(s.count, 8);
    cr_expect_eq(s.bytes, 2048);
    cr_expect_eq(s.size, UINT64_C(3) << 30);
    cr_expect_eq(s.number, 2.0);
    cr_expect(s.flag);
    cr_expect_eq(s.choice, 1);
    cr_expect_str_eq(s.text, "a # b");
    cr_assert_eq(load(write_file(&d, "a.cfg", "line_bytes = 64; count = 7L; number = -0.5;"), &s, &m), OK, "%s",
                 m.text);
    cr_expect_eq(s.bytes, 64);
    cr_expect_eq(s.count, 7);
    cr_expect_eq(s.number, -0.5);
    cr_assert_eq(load(write_file(&d, "a.cfg", ""), &s, &m), OK, "an empty file lacks nothing that is optional");
    remove_directory(&d);
}

/* One fault each; the message is the text behind the path of the file. */
Test(reader, faults) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        /* keys and types */
        {"\ncoutn = 1;", ":2: unknown key 'coutn' in the file; did you mean 'count'?"},
        {"zzz = 1;", ":1: unknown key 'zzz' in the file; known: count, line_bytes, size, number, flag, choice, text, "
                     "group, list"},
        {"count = 1.0;", ":1: 'count' must be a whole number, not a number with a fraction"},
        {"count = \"1\";", ":1: 'count' must be a whole number, not a text"},
        {"count = true;", ":1: 'count' must be a whole number, not true or false"},
        {"count = [1, 2];", ":1: 'count' must be a whole number, not an array [ ]"},
        {"flag = 1;", ":1: 'flag' must be true or false, not a whole number"},
        {"number = \"x\";", ":1: 'number' must be a number, not a text"},
        {"text = 5;", ":1: 'text' must be a text, not a whole number"},
        {"group = 5;", ":1: 'group' must be a group { }, not a whole number"},
        {"list = { };", ":1: 'list' must be a list ( ), not a group { }"},
        /* ranges */
        {"count = 0;", ":1: 'count' must be 1 .. 100; it is 0"},
        {"count = 101;", ":1: 'count' must be 1 .. 100; it is 101"},
        {"count = -1;", ":1: 'count' must be 1 .. 100; it is -1"},
        {"count = 5000000000L;", ":1: 'count' must be 1 .. 100; it is 5000000000"},
        {"line_bytes = 9223372036854775807L;", ":1: 'line_bytes' must be 0 .. 4096 bytes; it is 9223372036854775807"},
        {"number = -1.5;", ":1: 'number' must be -1 .. 1000000000; it is -1.5"},
        {"line_bytes = 4097;", ":1: 'line_bytes' must be 0 .. 4096 bytes; it is 4097"},
        {"size = \"2 TiB\";", ":1: 'size' must be 0 .. 1099511627776 bytes; it is 2199023255552"},
        {"size = \"99999999999999999999 GiB\";",
         ":1: 'size' is \"99999999999999999999 GiB\", which is not a size; write \"48 KiB\", \"6 MiB\", \"20 GB\""},
        {"size = \"6 mb\";", ":1: 'size' is \"6 mb\", which is not a size; write \"48 KiB\", \"6 MiB\", \"20 GB\""},
        {"size = 4096;", ":1: 'size' must be a text with its unit, such as \"48 KiB\", not a whole number"},
        {"text = \"12345678\";", ":1: 'text' is longer than 7 bytes"},
        {"text = \"\";", ":1: 'text' is empty"},
        {"choice = \"gren\";", ":1: 'choice' does not know \"gren\"; did you mean 'green'?"},
        {"choice = \"mauve\";", ":1: 'choice' does not know \"mauve\"; known: red, green"},
        /* numbers that libconfig 1.5 would wrap, clamp or lose */
        {"count = 4294967297;",
         ":1: the integer 4294967297 does not fit 32 bits and would wrap; write 4294967297L, or a "
         "size as a text such as \"6 MiB\""},
        {"count = 2147483648;",
         ":1: the integer 2147483648 does not fit 32 bits and would wrap; write 2147483648L, or a "
         "size as a text such as \"6 MiB\""},
        {"count = -2147483649;",
         ":1: the integer -2147483649 does not fit 32 bits and would wrap; write -2147483649L, or "
         "a size as a text such as \"6 MiB\""},
        {"count = 0xFFFFFFFF;",
         ":1: the integer 0xFFFFFFFF does not fit 32 bits and would wrap; write 0xFFFFFFFFL, or a "
         "size as a text such as \"6 MiB\""},
        {"count = 99999999999999999999;", ":1: the integer 99999999999999999999 does not fit 64 bits"},
        {"count = 9223372036854775808L;", ":1: the integer 9223372036854775808L does not fit 64 bits"},
        {"count = 0xFFFFFFFFFFFFFFFFL;", ":1: the integer 0xFFFFFFFFFFFFFFFFL does not fit 64 bits"},
        {"number = 1e999;", ":1: the number 1e999 is too large"},
        {"count = 64KB;", ":1: '64KB' is not a number; write a size as a text such as \"64 KiB\""},
        {"count = -0x10;", ":1: '-0x10' is not a number; write a size as a text such as \"64 KiB\""},
        /* syntax */
        {"list = (1,\n 2", ":2: syntax error at the end: is a bracket left open, or a ; missing?"},
        {"count = 1;\n\nflag = = 2;\ntext = \"x\";", ":3: syntax error at or before: flag = = 2;"},
        {"count = 1;\ncount = 2;", ":2: duplicate setting name at or before: count = 2;"},
        {"count = 1;\ntext = \"abc\nflag = true;", ":2: a text begins with \" and does not end on this line"},
        {"count = 1;\n/* never\nends", ":3: a comment begins with /* and does not end"},
        {"list = [1, 2.0];", ":1: mismatched element type in array at or before: list = [1, 2.0];"},
        {"count = 1;\n@include\n", ":2: write @include \"FILE\""},
        {"count = 1;\n@include \"none.cfg\"\n",
         ":2: the included file '%/none.cfg' cannot be opened: No such file or directory"},
        {"\n@include \"a.cfg\"\n", ":2: the included file '%/a.cfg' includes itself"},
    };
    test_directory d;
    make_directory(&d);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = write_file(&d, "a.cfg", cases[i].text);
        char wanted[1024];
        const char *percent = strchr(cases[i].message, '%'); /* stands for the directory */
        if (percent)
            snprintf(wanted, sizeof wanted, "%s%.*s%s%s", path, (int)(percent - cases[i].message), cases[i].message,
                     d.path, percent + 1);
        else
            snprintf(wanted, sizeof wanted, "%s%s", path, cases[i].message);
        sample s = {0};
        message m = {{0}};
        cr_expect_eq(load(path, &s, &m), ERR_INPUT, "%s", cases[i].text);
        cr_expect_str_eq(m.text, wanted);
    }
    remove_directory(&d);
}

/* Includes are relative to the file that says so, and faults are reported where they are. */
Test(reader, includes) {
    test_directory d;
    make_directory(&d);
    write_directory(&d, "sub");
    write_directory(&d, "sub/deep");
    const char *top = write_file(&d, "top.cfg", "count = 1;\n  @include \"sub/mid.cfg\"\nflag = true;\n");
    write_file(&d, "sub/mid.cfg", "/*\n@include \"none.cfg\"\n*/\nnumber = 3;\n@include \"deep/low.cfg\"\n");
    const char *low = write_file(&d, "sub/deep/low.cfg", "size = \"1 KiB\";\n");
    sample s = {0};
    message m = {{0}};
    cr_assert_eq(load(top, &s, &m), OK, "%s", m.text);
    cr_expect(s.count == 1 && s.number == 3 && s.size == 1024 && s.flag);

    char wanted[1024];
    write_file(&d, "sub/deep/low.cfg", "\n\nsizes = \"1 KiB\";\n");
    cr_expect_eq(load(top, &s, &m), ERR_INPUT);
    snprintf(wanted, sizeof wanted, "%s:3: unknown key 'sizes' in the file; did you mean 'size'?", low);
    cr_expect_str_eq(m.text, wanted);

    write_file(&d, "sub/deep/low.cfg", "size = \"1 KiB\";\nflag = 5;\n");
    write_file(&d, "top.cfg", "count = 1;\n@include \"sub/mid.cfg\"\nchoice = 7;\n");
    cr_expect_eq(load(top, &s, &m), ERR_INPUT);
    snprintf(wanted, sizeof wanted, "%s:2: 'flag' must be true or false, not a whole number", low);
    cr_expect_str_eq(m.text, wanted);
    write_file(&d, "sub/deep/low.cfg", "size = \"1 KiB\";\n");
    cr_expect_eq(load(top, &s, &m), ERR_INPUT);
    snprintf(wanted, sizeof wanted, "%s:3: 'choice' does not know \"7\"; known: red, green", top);
    cr_expect_str_eq(m.text, wanted);

    write_file(&d, "sub/deep/low.cfg", "size = \"1 KiB\";\n@include \"../../top.cfg\"\n");
    cr_expect_eq(load(top, &s, &m), ERR_INPUT);
    snprintf(wanted, sizeof wanted, "%s:2: the included file '%s/sub/deep/../../top.cfg' includes itself", low, d.path);
    cr_expect_str_eq(m.text, wanted);
    remove_directory(&d);
}

/* What is no text file at all. */
Test(reader, files) {
    test_directory d;
    make_directory(&d);
    sample s = {0};
    message m = {{0}};
    char wanted[1024], missing[TEST_PATH_MAX + 16];
    snprintf(missing, sizeof missing, "%s/missing.cfg", d.path);
    cr_expect_eq(load(missing, &s, &m), ERR_INPUT);
    snprintf(wanted, sizeof wanted, "%s: cannot be opened: No such file or directory", missing);
    cr_expect_str_eq(m.text, wanted);

    cr_expect_eq(load(d.path, &s, &m), ERR_INPUT);
    snprintf(wanted, sizeof wanted, "%s: is a directory, not a file", d.path);
    cr_expect_str_eq(m.text, wanted);

    const char *path = write_bytes(&d, "a.cfg", "count = 1;\n\0\1\2", 14);
    cr_expect_eq(load(path, &s, &m), ERR_INPUT);
    snprintf(wanted, sizeof wanted, "%s:2: there is a zero byte here: this is not a text file", path);
    cr_expect_str_eq(m.text, wanted);

    char deep[4096];
    memset(deep, '(', sizeof deep);
    memcpy(deep, "list = ", 7);
    path = write_bytes(&d, "a.cfg", deep, sizeof deep);
    cr_expect_eq(load(path, &s, &m), ERR_INPUT, "nesting without end");
    cr_expect_eq(strncmp(m.text, path, strlen(path)), 0, "%s", m.text);
    remove_directory(&d);
}

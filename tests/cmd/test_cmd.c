#include "cmd/command.h"
#include "cmd/place.h"
#include "cmd/shrink.h"
#include "cmd/simulate.h"
#include "layout/syntax.h"

#include <criterion/criterion.h>
#include <string.h>

static copy_desc view_of(const char *view, const char *dataset_text) {
    dataset d;
    copy_desc c;
    message m;
    cr_assert_eq(parse_dataset(dataset_text, &d, &m), OK, "%s", m.text);
    cr_assert_eq(view_copy(view, &d, NULL, &c, &m), OK, "%s", m.text);
    return c;
}

static void expect_same_layout(const lmad *a, const lmad *b, const char *what) {
    char x[SYNTAX_TEXT_MAX], y[SYNTAX_TEXT_MAX];
    cr_expect_str_eq(format_lmad(x, sizeof x, a), format_lmad(y, sizeof y, b), "%s", what);
}

/* A shrunk copy is the copy that the same view makes of a smaller array, where nothing else depends on the size. */
Test(shrink, gives_the_layout_of_a_smaller_array) {
    static const struct {
        const char *view, *large, *small;
    } cases[] = {
        {"slice_2d", "[8192][8193]i32", "[2048][8193]i32"},
        {"slice_3d", "[256][256][1025]i32", "[64][256][1025]i32"},
        {"reversed_rows", "[8192][8192]i32", "[2048][8192]i32"},
        {"copy", "[16][1000]f64", "[4][1000]f64"},
        {"copy", "[7][1000]f64", "[7][250]f64"}, /* 7 is less than two quarters: the next dimension is taken */
        {"transpose", "[4096][1024]i32", "[1024][1024]i32"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        copy_desc large = view_of(cases[i].view, cases[i].large), want = view_of(cases[i].view, cases[i].small), got;
        cr_assert(shrink_copy(&large, 4, &got), "case %zu", i);
        expect_same_layout(&got.src, &want.src, cases[i].large);
        expect_same_layout(&got.dst, &want.dst, cases[i].large);
    }
    copy_desc tiny = view_of("copy", "[7][7]i32"), unused;
    cr_expect_not(shrink_copy(&tiny, 4, &unused));
}

/* Both arrays lie within their allocations, apart, the destination on a large page, for layouts that begin anywhere. */
Test(place, arrays_are_aligned_and_apart) {
    static const struct {
        const char *dataset, *src, *dst;
    } cases[] = {
        {"[8192][8192]i32", "1:[(8192,8193),(8192,1)]", "[(8192,8192),(8192,1)]"},
        {"[4][8]i8", "31:[(4,-8),(8,-1)]", "[(4,8),(8,1)]"},
        {"[4][8]f64", "[(4,-8),(8,-1)]", "-100:[(4,8),(8,1)]"},
        {"[0][8]i32", "[(0,8),(8,1)]", "[(0,8),(8,1)]"},
        {"[1]b128", "1000:[(1,1)]", "5000:[(1,1)]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dataset d;
        copy_desc c;
        message m;
        int64_t base[2], low[2], high[2];
        cr_assert_eq(parse_dataset(cases[i].dataset, &d, &m), OK);
        c.element_bytes = d.element_bytes;
        cr_assert_eq(parse_lmad(cases[i].src, &c.src, &m), OK);
        cr_assert_eq(parse_lmad(cases[i].dst, &c.dst, &m), OK);
        cr_assert_eq(place_copy(&c, false, &base[0], &base[1], &m), OK, "%s", m.text);
        const lmad *side[] = {&c.src, &c.dst};
        for (int s = 0; s < 2; s++) {
            cr_assert_eq(lmad_range(side[s], &low[s], &high[s], &m), OK);
            low[s] = base[s] + (low[s] < 0 ? low[s] : 0) * c.element_bytes;
            high[s] = base[s] + (high[s] + 1) * c.element_bytes;
        }
        cr_expect_eq(low[0], INT64_C(4) << 30, "case %zu", i);
        cr_expect_eq(low[1] % (INT64_C(2) << 20), 0, "case %zu", i);
        cr_expect_geq(low[1], high[0], "case %zu", i);
    }
}

/* Views of one array share offset 0, and nothing of either lies below the array's beginning. */
Test(place, views_of_one_array_share_their_base) {
    static const struct {
        const char *src, *dst;
        int64_t below; /* the lowest offset of both */
    } cases[] = {
        {"[(8,1)]", "8:[(8,1)]", 0},
        {"-3:[(8,1)]", "[(8,1)]", -3},
        {"7:[(8,-1)]", "3:[(8,-1)]", -4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        copy_desc c = {.element_bytes = 4};
        message m;
        int64_t src = 0, dst = 1;
        cr_assert_eq(parse_lmad(cases[i].src, &c.src, &m), OK);
        cr_assert_eq(parse_lmad(cases[i].dst, &c.dst, &m), OK);
        cr_assert_eq(place_copy(&c, true, &src, &dst, &m), OK, "%s", m.text);
        cr_expect_eq(src, dst);
        cr_expect_eq(src + 4 * cases[i].below, INT64_C(4) << 30, "case %zu", i);
    }
}

Test(place, what_does_not_fit_is_refused) {
    copy_desc c = view_of("copy", "[4]i32");
    c.src.stride[0] = INT64_MAX / 4;
    int64_t src, dst;
    message m = {{0}};
    for (int same = 0; same < 2; same++) {
        m.text[0] = '\0';
        cr_expect_eq(place_copy(&c, same, &src, &dst, &m), ERR_INPUT);
        cr_expect(strlen(m.text) > 0);
    }
}

Test(label, names_what_differs) {
    static const struct {
        copy_options options;
        const char *label;
    } cases[] = {
        {{.strategy = COPY_MEMCPY, .sorted = true, .elements_per_thread = 1}, "memcpy"},
        {{.strategy = COPY_GENERAL, .elements_per_thread = 1}, "general"},
        {{.strategy = COPY_GENERAL, .sorted = true, .elements_per_thread = 1}, "general sorted"},
        {{.strategy = COPY_GENERAL, .sorted = true, .index = INDEX_32, .elements_per_thread = 4},
         "general sorted 32-bit x4"},
        {{.strategy = COPY_GENERAL, .index = INDEX_INVARIANT, .elements_per_thread = 1, .collapse = true},
         "general invariant collapsed"},
    };
    char label[STRATEGY_LABEL_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_str_eq(strategy_label(label, sizeof label, &cases[i].options), cases[i].label);
}

Test(arguments, every_way_to_write_an_option) {
    char *argv[] = {"-mv100", "-D",  "a=1",      "-Db=2", "--define=c=3", "--format=csv", "--threads", "3", "-qo",
                    "x",      "one", "--output", "-",     "--",           "-two"};
    arguments a;
    message m;
    static const command c = {.name = "c", .operands = "", .operands_max = 2, .options = UINT64_MAX};
    cr_assert_eq(arguments_parse(&a, &c, (int)(sizeof argv / sizeof *argv), argv, &m), OK, "%s", m.text);
    cr_expect_str_eq(a.machine, "v100");
    cr_assert_eq(a.define_count, 3);
    cr_expect_str_eq(a.defines[1], "b=2");
    cr_expect_str_eq(a.defines[2], "c=3");
    cr_expect_eq(a.format, REPORT_CSV);
    cr_expect_eq(a.threads, 3);
    cr_expect(a.quiet);
    cr_assert_eq(a.output_count, 2);
    cr_expect_str_eq(a.outputs[0], "x");
    cr_assert_eq(a.operand_count, 2);
    cr_expect_str_eq(a.operands[1], "-two");
    arguments_free(&a);
}

/* Every option that a command takes is in its help, and no other. */
Test(help, lists_what_a_command_takes) {
    for (size_t i = 0; i < command_count; i++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        help_print(out, &command_table[i]);
        fclose(out);
        for (int o = 0; o < OPTION_COUNT; o++) {
            char name[64];
            snprintf(name, sizeof name, "--%s ", option_table[o].name);
            cr_expect_eq(strstr(text, name) != NULL, command_table[i].options >> o & 1, "%s %s", command_table[i].name,
                         name);
        }
        free(text);
    }
}

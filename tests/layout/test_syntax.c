#include "layout/syntax.h"
#include "layout_test.h"

#include <criterion/criterion.h>
#include <string.h>

Test(syntax, datasets) {
    static const struct {
        const char *text, *back;
        uint32_t rank, bytes;
    } cases[] = {
        {"[8192][8193]i32", "[8192][8193]i32", 2, 4},
        {" [ 65536 ] [32][33] f16 ", "[65536][32][33]f16", 3, 2},
        {"[0][32]bool", "[0][32]bool", 2, 1},
        {"f64", "f64", 0, 8},
        {"[7]b128", "[7]b128", 1, 16},
        {"[9223372036854775807]u8", "[9223372036854775807]u8", 1, 1},
        {"[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][2]i8", "[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][2]i8", 16,
         1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dataset d;
        message m = {""};
        char back[SYNTAX_TEXT_MAX];
        cr_expect_eq(parse_dataset(cases[i].text, &d, &m), OK, "%s: %s", cases[i].text, m.text);
        cr_expect(d.rank == cases[i].rank && d.element_bytes == cases[i].bytes, "%s", cases[i].text);
        cr_expect_str_eq(format_dataset(back, sizeof back, &d), cases[i].back);
    }
#define X(name, bytes, what)                                                                                           \
    {                                                                                                                  \
        dataset d;                                                                                                     \
        message m;                                                                                                     \
        cr_expect_eq(parse_dataset("[3]" name, &d, &m), OK);                                                           \
        cr_expect(d.element_bytes == bytes && d.size[0] == 3);                                                         \
    }
    ELEMENT_TYPE_LIST(X)
#undef X
}

Test(syntax, layouts) {
    static const struct {
        const char *text, *back;
    } cases[] = {
        {"1:[(8192,8193),(8192,1)]", "1:[(8192,8193),(8192,1)]"},
        {" 8191 : [ ( 8192 , 8192 ) , ( 8192 , -1 ) ]", "8191:[(8192,8192),(8192,-1)]"},
        {"[(4,5),(5,1)]", "[(4,5),(5,1)]"},
        {"0:[(4,5)]", "[(4,5)]"},
        {"-3:[(4,-9223372036854775808)]", "-3:[(4,-9223372036854775808)]"},
        {"+3:[(4,+7)]", "3:[(4,7)]"},
        {"[]", "[]"},
        {"5:[ ]", "5:[]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lmad l;
        message m = {""};
        char back[SYNTAX_TEXT_MAX];
        cr_expect_eq(parse_lmad(cases[i].text, &l, &m), OK, "%s: %s", cases[i].text, m.text);
        cr_expect_str_eq(format_lmad(back, sizeof back, &l), cases[i].back);
    }
}

Test(syntax, random_layouts_and_permutations_come_back) {
    prng g = {.state = 6};
    for (int round = 0; round < 2000; round++) {
        lmad l = {.rank = (uint32_t)prng_below(&g, LMAD_RANK_MAX + 1)}, back;
        l.offset = (int64_t)prng_next(&g);
        for (uint32_t k = 0; k < l.rank; k++) {
            l.size[k] = (int64_t)(prng_next(&g) >> between(&g, 1, 63));
            l.stride[k] = (int64_t)prng_next(&g);
        }
        char text[SYNTAX_TEXT_MAX];
        message m = {""};
        format_lmad(text, sizeof text, &l);
        if (parse_lmad(text, &back, &m) != OK || memcmp(&back, &l, sizeof l) != 0)
            cr_assert(false, "%s does not come back: %s", text, m.text);
        uint32_t order[LMAD_RANK_MAX] = {0}, order_back[LMAD_RANK_MAX] = {0};
        random_order(&g, l.rank, order);
        format_permutation(text, sizeof text, order, l.rank);
        if (parse_permutation(text, l.rank, order_back, &m) != OK || memcmp(order, order_back, sizeof order) != 0)
            cr_assert(false, "%s does not come back: %s", text, m.text);
    }
    char cut[6];
    lmad l = {.rank = 1, .size = {12345}, .stride = {1}};
    cr_expect_str_eq(format_lmad(cut, sizeof cut, &l), "[(123");
}

typedef struct wrong {
    const char *text, *said;
} wrong;

Test(syntax, errors_name_the_column) {
    static const wrong datasets[] = {
        {"", "column 1: expected '[' or an element type, found the end"},
        {"[8192][8193]", "column 13: expected '[' or an element type, found the end"},
        {"[8192][-5]i32", "column 8: size -5 is negative (a stride may be, a size may not)"},
        {"[8192][ x]i32", "column 9: expected a size, found 'x'"},
        {"[8192", "column 6: expected ']', found the end"},
        {"[12 34]i32", "column 5: expected ']', found '3'"},
        {"[9223372036854775808]i32", "column 2: 9223372036854775808 does not fit 64 bits"},
        {"[4]i33", "column 4: no element type 'i33' (there are i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64 bool b128)"},
        {"[4]i32 x", "column 8: expected the end after the element type, found 'x'"},
        {"[4]\xc3\xa9", "column 4: expected '[' or an element type, found byte 0xc3"},
        {"[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1]i8", "column 50: more than 16 dimensions"},
    };
    static const wrong layouts[] = {
        {"", "column 1: expected an offset or '[', found the end"},
        {"1[(4,5)]", "column 2: expected ':' after the offset, found '['"},
        {"[(4,5),]", "column 8: expected '(size,stride)', found ']'"},
        {"[(4;5)]", "column 4: expected ',' and a stride, found ';'"},
        {"[(-4,5)]", "column 3: size -4 is negative (a stride may be, a size may not)"},
        {"[(4,5)", "column 7: expected ',' or ']', found the end"},
        {"[(4,5)] 7", "column 9: expected the end after ']', found '7'"},
        {"[(4,99999999999999999999)]", "column 5: 99999999999999999999 does not fit 64 bits"},
        {"-9223372036854775809:[]", "column 1: -9223372036854775809 does not fit 64 bits"},
        {"[(4,-)]", "column 5: expected a stride, found '-'"},
    };
    static const wrong permutations[] = {
        /* case U9; rank is 4 */
        {"{0,2,1}", "column 1: perm has 3 entries, rank is 4"},
        {"{0,2,1,3,4}", "column 1: perm has 5 entries, rank is 4"},
        {"{}", "column 1: perm has 0 entries, rank is 4"},
        {"{0,2,-1,3}", "column 6: perm entry -1 is negative: dimensions count from 0"},
        {"{0,2,4,3}", "column 6: perm entry 4 is out of range, rank is 4"},
        {"{0,2,2,3}", "column 6: perm entry 2 occurs twice"},
        {"{0,1,2,3,4000000000}", "column 10: perm entry 4000000000 is out of range, rank is 4"},
        {"0,1,2,3", "column 1: expected '{', found '0'"},
        {"{0,1,2,3", "column 9: expected ',' or '}', found the end"},
        {"{0,1,2,3}x", "column 10: expected the end after '}', found 'x'"},
    };
    for (size_t i = 0; i < sizeof datasets / sizeof *datasets; i++) {
        dataset d;
        message m = {""};
        cr_expect_eq(parse_dataset(datasets[i].text, &d, &m), ERR_INPUT, "%s", datasets[i].text);
        cr_expect_str_eq(m.text, datasets[i].said);
    }
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        lmad l;
        message m = {""};
        cr_expect_eq(parse_lmad(layouts[i].text, &l, &m), ERR_INPUT, "%s", layouts[i].text);
        cr_expect_str_eq(m.text, layouts[i].said);
    }
    for (size_t i = 0; i < sizeof permutations / sizeof *permutations; i++) {
        uint32_t order[LMAD_RANK_MAX];
        message m = {""};
        cr_expect_eq(parse_permutation(permutations[i].text, 4, order, &m), ERR_INPUT, "%s", permutations[i].text);
        cr_expect_str_eq(m.text, permutations[i].said);
    }
}

/* The eight rows of the post, and permuted copies. */
Test(view, known_views) {
    static const struct {
        const char *view, *dataset, *permutation, *src, *dst;
    } cases[] = {
        {"slice_2d", "[8192][8193]i32", NULL, "1:[(8192,8193),(8192,1)]", "[(8192,8192),(8192,1)]"},
        {"slice_2d", "[65536][1025]i32", NULL, "1:[(65536,1025),(1024,1)]", "[(65536,1024),(1024,1)]"},
        {"slice_2d", "[1048576][65]i32", NULL, "1:[(1048576,65),(64,1)]", "[(1048576,64),(64,1)]"},
        {"slice_2d", "[16777216][5]i32", NULL, "1:[(16777216,5),(4,1)]", "[(16777216,4),(4,1)]"},
        {"slice_3d", "[256][256][1025]i32", NULL, "1:[(256,262400),(256,1025),(1024,1)]",
         "[(256,262144),(256,1024),(1024,1)]"},
        {"slice_3d", "[65536][32][33]i32", NULL, "1:[(65536,1056),(32,33),(32,1)]", "[(65536,1024),(32,32),(32,1)]"},
        {"reversed_rows", "[8192][8192]i32", NULL, "8191:[(8192,8192),(8192,-1)]", "[(8192,8192),(8192,1)]"},
        {"reversed_rows", "[16777216][4]i32", NULL, "3:[(16777216,4),(4,-1)]", "[(16777216,4),(4,1)]"},
        {"reversed_rows", "[5][0]i32", NULL, "[(5,0),(0,-1)]", "[(5,0),(0,1)]"},
        {"slice_2d", "[5][1]i32", NULL, "1:[(5,1),(0,1)]", "[(5,0),(0,1)]"},
        {"copy", "[4][5]f64", NULL, "[(4,5),(5,1)]", "[(4,5),(5,1)]"},
        {"copy", "f64", NULL, "[]", "[]"},
        {"transpose", "[4][5]f64", NULL, "[(5,1),(4,5)]", "[(5,4),(4,1)]"},
        {"transpose", "[2][3][4]u8", "{0,2,1}", "[(2,12),(4,1),(3,4)]", "[(2,12),(4,3),(3,1)]"},
        {"transpose", "[1][462][16][64]f32", "{0,2,3,1}", "[(1,473088),(16,64),(64,1),(462,1024)]",
         "[(1,473088),(16,29568),(64,462),(462,1)]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dataset d;
        copy_desc c;
        message m = {""};
        char text[SYNTAX_TEXT_MAX];
        cr_assert_eq(parse_dataset(cases[i].dataset, &d, &m), OK);
        cr_assert_eq(view_copy(cases[i].view, &d, cases[i].permutation, &c, &m), OK, "%zu: %s", i, m.text);
        cr_expect_str_eq(format_lmad(text, sizeof text, &c.src), cases[i].src);
        cr_expect_str_eq(format_lmad(text, sizeof text, &c.dst), cases[i].dst);
        cr_expect_eq(c.element_bytes, d.element_bytes);
    }
}

Test(view, errors) {
    static const struct {
        const char *view, *dataset, *permutation, *said;
    } cases[] = {
        {"slice2d", "[4][5]i32", NULL, "no view 'slice2d' (there are copy transpose slice_2d slice_3d reversed_rows)"},
        {"slice_2d", "[4][5][6]i32", NULL, "slice_2d needs an array of rank 2, this one has rank 3"},
        {"slice_2d", "[4][0]i32", NULL, "the innermost dimension has size 0: there is no first element to drop"},
        {"transpose", "[1][2][3][4]i32", "{0,2,1}", "column 1: perm has 3 entries, rank is 4"},
        {"copy", "[4][5]i32", "{1,0}", "copy takes no permutation, only transpose does"},
        {"copy", "[4294967296][2147483648]u8", NULL,
         "shape: the number of elements does not fit 64 bits: 4294967296 times size 2147483648 of dimension 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dataset d;
        copy_desc c;
        message m = {""};
        cr_assert_eq(parse_dataset(cases[i].dataset, &d, &m), OK);
        cr_expect_eq(view_copy(cases[i].view, &d, cases[i].permutation, &c, &m), ERR_INPUT);
        cr_expect_str_eq(m.text, cases[i].said);
    }
}

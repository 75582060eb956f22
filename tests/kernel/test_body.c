/* Loop bodies: messages, types, layouts, print and copy. */
#include "body_random.h"
#include "kernel/body_interpret.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every message in full. Places count from 1; a tab is one column. */
Test(body, says_what_is_wrong_and_where) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"global f32 abc[4]\nfor (k, 0, 4) {\n\tabc[k] = abd[k] * 2\n}",
         "t:3:11: unknown array 'abd'; did you mean 'abc'?\n    3 |  abc[k] = abd[k] * 2\n      |           ^"},
        {"x = 1", "t:1:1: unknown array 'x'\n    1 | x = 1\n      | ^"},
        {"global f32 a\na = alpha", "t:2:5: unknown name 'alpha'; known: a\n    2 | a = alpha\n      |     ^"},
        {"global f32 a\na = foo(1)", "t:2:5: unknown function 'foo'; known: a\n    2 | a = foo(1)\n      |     ^"},
        {"global f32 a[2, 3]\na[1] = 0",
         "t:2:1: 'a' has 2 dimensions, and here is 1 subscript\n    2 | a[1] = 0\n      | ^"},
        {"global f32 a[2]\na[1, 0] = 0",
         "t:2:6: 'a' has 1 dimension, and this is subscript 2\n    2 | a[1, 0] = 0\n      |      ^"},
        {"global f32 a[2]\na = 0", "t:2:1: 'a' has 1 dimension, and here are 0 subscripts\n    2 | a = 0\n      | ^"},
        {"global f32 a\na[0] = 0",
         "t:2:3: 'a' has 0 dimensions, and this is subscript 1\n    2 | a[0] = 0\n      |   ^"},
        {"global f32 a[2]\na[a[0] + 1] = 0",
         "t:2:8: a subscript must be an integer, and this is f32\n    2 | a[a[0] + 1] = 0\n      |        ^"},
        {"param i32 n = 1\nn = 2", "t:2:1: 'n' is a param, and only arrays are stored to\n    2 | n = 2\n      | ^"},
        {"let t = t + 1", "t:1:9: 't' is used in its own declaration\n    1 | let t = t + 1\n      |         ^"},
        {"global f32 a[a]",
         "t:1:14: 'a' is used in its own declaration\n    1 | global f32 a[a]\n      |              ^"},
        {"param i32 n = n",
         "t:1:15: 'n' is used in its own declaration\n    1 | param i32 n = n\n      |               ^"},
        {"for (k, 0, k) {}",
         "t:1:12: 'k' is used in its own declaration\n    1 | for (k, 0, k) {}\n      |            ^"},
        {"let t = 1\nfor (t, 0, 2) {}",
         "t:2:6: 't' is already a let, declared at line 1\n    2 | for (t, 0, 2) {}\n      |      ^"},
        {"global f32 min", "t:1:12: 'min' is a word of the language and cannot be a name\n"
                           "    1 | global f32 min\n      |            ^"},
        {"global f32 a[0]", "t:1:14: an extent must be positive, and this is 0\n    1 | global f32 a[0]\n"
                            "      |              ^"},
        {"global f32 a[1.5]", "t:1:14: an extent must be an integer, and this is f32\n    1 | global f32 a[1.5]\n"
                              "      |              ^"},
        {"global f32 a[65536 * 65536]", "t:1:20: the result does not fit i32\n    1 | global f32 a[65536 * 65536]\n"
                                        "      |                    ^"},
        {"global f64 a[3000000000, 3000000000]",
         "t:1:12: 'a' does not fit 63 bits of addresses\n    1 | global f64 a[3000000000, 3000000000]\n"
         "      |            ^"},
        {"global f32 a[4] strides (-1)", "t:1:12: the layout of 'a' reaches element -3, before its first\n"
                                         "    1 | global f32 a[4] strides (-1)\n      |            ^"},
        {"global f33 a", "t:1:8: expected a type (f16, f32, f64, i32 or i64), found 'f33'\n    1 | global f33 a\n"
                         "      |        ^"},
        {"param f16 h = 1", "t:1:7: a param cannot be f16; f16 is a type of arrays only\n    1 | param f16 h = 1\n"
                            "      |       ^"},
        {"param i32 n = 1 / 0", "t:1:17: division by zero\n    1 | param i32 n = 1 / 0\n      |                 ^"},
        {"param f32 x = 1e300", "t:1:15: the value is not a finite f32\n    1 | param f32 x = 1e300\n"
                                "      |               ^"},
        {"param i32 n = tid", "t:1:15: this must be a constant, and tid is not\n    1 | param i32 n = tid\n"
                              "      |               ^"},
        {"blocks 0", "t:1:8: the number of blocks must be positive, and this is 0\n    1 | blocks 0\n"
                     "      |        ^"},
        {"threads 65536, 65536", "t:1:16: the number of threads does not fit 31 bits\n    1 | threads 65536, 65536\n"
                                 "      |                ^"},
        {"threads 1, 2, 3, 4", "t:1:18: threads have three dimensions at most\n    1 | threads 1, 2, 3, 4\n"
                               "      |                  ^"},
        {"for (k, 0, 4) {\nlet t = k\n", "t:1:15: this '{' is never closed\n    1 | for (k, 0, 4) {\n"
                                         "      |               ^"},
        {"}", "t:1:1: this '}' closes nothing\n    1 | }\n      | ^"},
        {"for (k, 0) {}", "t:1:10: expected ',' and the end of the loop, found ')'\n    1 | for (k, 0) {}\n"
                          "      |          ^"},
        {"for (k, 0, 4, -1) {}", "t:1:15: the step of a loop must be positive, and this is -1\n"
                                 "    1 | for (k, 0, 4, -1) {}\n      |               ^"},
        {"for (k, 0, 3000000000) {}", "t:1:12: the end of a loop must fit 32 bits, and this is 3000000000\n"
                                      "    1 | for (k, 0, 3000000000) {}\n      |            ^"},
        {"for (k, 0, tid) {}", "t:1:12: this must be a constant, and tid is not\n    1 | for (k, 0, tid) {}\n"
                               "      |            ^"},
        {"global f32 a\nblock(s) { a = 1 a = 2 }",
         "t:2:18: a second store in the schedule block 's', which must hold one\n    2 | block(s) { a = 1 a = 2 }\n"
         "      |                  ^"},
        {"block(s) { let t = 1 }", "t:1:1: the schedule block 's' stores nothing; it must hold one store\n"
                                   "    1 | block(s) { let t = 1 }\n      | ^"},
        {"block(s) { for (k, 0, 1) {} }", "t:1:12: a loop cannot stand in the schedule block 's'\n"
                                          "    1 | block(s) { for (k, 0, 1) {} }\n      |            ^"},
        {"let t = 1\nglobal f32 a", "t:2:1: a declaration comes before the first statement\n    2 | global f32 a\n"
                                    "      | ^"},
        {"let t = 1.5 % 2", "t:1:13: % needs integers, and this is f32\n    1 | let t = 1.5 % 2\n"
                            "      |             ^"},
        {"let t = ", "t:1:9: expected an expression, found the end of the text\n    1 | let t = \n"
                     "      |         ^"},
        {"let t = (1", "t:1:11: expected ')', found the end of the text\n    1 | let t = (1\n      |           ^"},
        {"let t = 9223372036854775808", "t:1:9: this number does not fit 64 bits\n    1 | let t = 9223372036854775808\n"
                                        "      |         ^"},
        {"let t = 1e999", "t:1:9: this number does not fit f64\n    1 | let t = 1e999\n      |         ^"},
        {"let t = 0x10", "t:1:9: '0x10' is not a number\n    1 | let t = 0x10\n      |         ^"},
        {"let t = 1 $ 2", "t:1:11: '$' does not belong here\n    1 | let t = 1 $ 2\n      |           ^"},
        {"/* never", "t:1:1: this comment does not end\n    1 | /* never\n      | ^"},
        {"let t = min(1)", "t:1:14: expected ',' before argument 2 of min, found ')'\n    1 | let t = min(1)\n"
                           "      |              ^"},
        {"let t = tid.w", "t:1:13: expected x, y or z, found 'w'\n    1 | let t = tid.w\n      |             ^"},
        {"/* \xc3\xa4 */ let t = $", "t:1:18: '$' does not belong here\n    1 | /* \xc3\xa4 */ let t = $\n"
                                     "      |                 ^"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        body b;
        message m = {""};
        cr_expect_eq(body_parse("t", cases[i].text, strlen(cases[i].text), &b, &m), ERR_INPUT, "%s", cases[i].text);
        cr_expect_str_eq(m.text, cases[i].message, "got:\n%s\nnot:\n%s", m.text, cases[i].message);
        body_free(&b);
    }
}

static char *repeated(const char *head, const char *text, size_t count, const char *tail) {
    size_t n = strlen(text);
    char *all = malloc(strlen(head) + n * count + strlen(tail) + 1);
    cr_assert(all);
    strcpy(all, head);
    char *at = all + strlen(head);
    for (size_t i = 0; i < count; i++, at += n)
        memcpy(at, text, n);
    strcpy(at, tail);
    return all;
}

/* Neither a crash nor a quadratic time. */
Test(body, survives_the_very_large) {
    enum { MANY = 100000 };
    static const struct {
        const char *head, *text;
        size_t count;
        const char *tail, *word; /* word: in the message; NULL: it parses */
    } cases[] = {
        {"let t = ", "(", MANY, "", "nested more than 200 deep"},
        {"let t = ", "-", MANY, "1", "nested more than 200 deep"},
        {"let t = ", "!", MANY, "1", "nested more than 200 deep"},
        {"let t = ", "1 ? 1 : ", MANY, "1", "nested more than 200 deep"},
        {"let t = ", "exp(", MANY, "1", "nested more than 200 deep"},
        {"global i32 a[9] a[0] = ", "a[", MANY, "1", "nested more than 200 deep"},
        {"let t = 1", " + 1", MANY, "", "more than 1000 operations deep"},
        {"let t = 1", " + 1", 900, "", NULL},
        {"let t = ", "1 ? (", 99, "2", "expected ')'"},
        {"", "if (1) {", MANY, "", "nested more than 200 deep"},
        {"", "if (1) {} else ", MANY, "{}", "nested more than 200 deep"},
        {"", "{", MANY, "", "expected a statement"},
        {"let ", "x", MANY, "= 1", "more than 63 bytes"},
        {"let t = ", "1", MANY, "", "does not fit 64 bits"},
        {"let t = 0.", "1", MANY, "", "more than 350 digits"},
        {"global f32 a[9]\n", "a[1] = a[2] + a[3] * 2\n", 10000, "", NULL},
        {"global f32 a[9", ", 9", MANY, "]", "more than 8 dimensions"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = repeated(cases[i].head, cases[i].text, cases[i].count, cases[i].tail);
        body b;
        message m = {""};
        status st = body_parse("t", text, strlen(text), &b, &m);
        cr_expect_eq(st, cases[i].word ? ERR_INPUT : OK, "%s%s...: %s", cases[i].head, cases[i].text, m.text);
        cr_expect(!cases[i].word || strstr(m.text, cases[i].word), "%s", m.text);
        body_free(&b);
        free(text);
    }
}

/* A long line is cut around its fault, and a NUL does not end the text. */
Test(body, shows_what_fits) {
    char *text = repeated("let t = 1", " + 1", 400, " $ 1");
    body b;
    message m;
    cr_expect_eq(body_parse("t", text, strlen(text), &b, &m), ERR_INPUT);
    const char *caret = strrchr(m.text, '\n'), *line = strchr(m.text, '\n');
    cr_assert(caret && line && caret > line);
    cr_expect_eq(line[strlen(caret) - 1], '$', "%s", m.text);
    free(text);
    cr_expect_eq(body_parse("t", "let t = 1\0", 10, &b, &m), ERR_INPUT);
    cr_expect(strstr(m.text, "t:1:10: byte 0x00 does not belong here"), "%s", m.text);
}

/* What C says the types are, and literals that adapt. */
Test(body, types) {
    static const struct {
        const char *value;
        body_type type;
    } cases[] = {
        {"1", TYPE_I32},        {"2147483648", TYPE_I64},  {"1.5", TYPE_F32},
        {"1e300", TYPE_F64},    {"i + 1", TYPE_I32},       {"i + l", TYPE_I64},
        {"l + f", TYPE_F32},    {"f + 0.1", TYPE_F32},     {"d + 0.1", TYPE_F64},
        {"d + 0.1f", TYPE_F64}, {"h + h", TYPE_F32},       {"f < d", TYPE_I32},
        {"d && d", TYPE_I32},   {"!d", TYPE_I32},          {"exp(i)", TYPE_F32},
        {"exp(d)", TYPE_F64},   {"i ? 1 : d", TYPE_F64},   {"min(i, l)", TYPE_I64},
        {"abs(-i)", TYPE_I32},  {"tid + bid.x", TYPE_I32}, {"select(d, i, l)", TYPE_I64},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text, "global i32 i global i64 l global f16 h global f32 f global f64 d let t = %s",
                 cases[i].value);
        body b = body_from(text);
        const body_stmt *s = b.list.first;
        cr_expect_eq(s->variable->type, cases[i].type, "%s: %s", cases[i].value, body_type_name(s->variable->type));
        body_free(&b);
    }
    body b = body_from("global f64 d global f32 f d = f * (0.1 + d)");
    const body_expr *sum = b.list.first->body.first->value->arg[1];
    cr_expect_eq(sum->arg[0]->type, TYPE_F64);
    body_free(&b);
}

Test(body, layouts) {
    static const struct {
        const char *array;
        int64_t stride[3], offset, elements, estimate;
    } cases[] = {
        {"x[2, 3, 4]", {12, 4, 1}, 0, 24, 24},
        {"x[n, 4]", {4, 1}, 0, 4000, 128},
        {"x[2, 3] strides (1, 2)", {1, 2}, 0, 6, 6},
        {"x[4] strides (-2) offset 7", {-2}, 7, 8, 4},
        {"x[2, 3] strides (0, n)", {0, 1000}, 0, 2001, 6},
        {"x", {0}, 0, 1, 1},
        {"x offset 5", {0}, 5, 6, 1},
        {"x[n * n, 2 * n, 3]", {6000, 3, 1}, 0, 6000000000, 3072},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[100];
        snprintf(text, sizeof text, "param i64 n = 1000 global f32 %s", cases[i].array);
        body b = body_from(text);
        const body_array *a = b.array[0];
        for (uint32_t d = 0; d < a->rank; d++)
            cr_expect_eq(a->stride[d], cases[i].stride[d], "%s", text);
        cr_expect_eq(a->offset, cases[i].offset, "%s", text);
        cr_expect_eq(a->elements, cases[i].elements, "%s: %lld", text, (long long)a->elements);
        cr_expect_eq(a->estimate, cases[i].estimate, "%s: %lld", text, (long long)a->estimate);
        body_free(&b);
    }
}

/* Parentheses where they are needed and nowhere else; everything that the grammar has. */
Test(body, prints_what_it_read) {
    static const char *const texts[] = {
        "let t = 1 - (2 - 3) - 4\n",
        "let t = (1 + 2) * 3 / (4 * 5) % 6\n",
        "let t = -(-!(1 < 2))\n",
        "let t = !(!1)\n",
        "let t = (1 ? 2 : 3) ? 4 ? 5 : 6 : 7 ? 8 : 9\n",
        "let t = (1 || 2) && 3 || 4 == (5 == 6)\n",
        "let t = min(1, max(2.0, 3e+40)) + exp(log(sqrt(rsqrt(abs(-0.1f)))))\n",
        "let t = tid + tid.x * bid - bid.z\n",
        "param i64 n = -9223372036854775807 - 1\nparam f32 x = -0.1f\nparam f64 y = 0.1\n",
        "global f32 a[4, 5] strides (1, 4 + 1) offset 3\nshared i64 s\nlocal f16 l[2]\nblocks 2, 1, 3\nthreads 32\n",
        ("for (k, 0, 8, 2) {\n    if (k) {\n        let t = 1\n    } else if (k < 2) {\n    } else {\n"
         "        let u = 2\n    }\n}\n"),
        "global f32 a[8]\nblock(root_x) {\n    block(s) {\n        a[0] = 1\n    }\n    a[1] = a[a[0] > 0]\n}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        body b = body_from(texts[i]), copy;
        message m;
        textbuf t = body_text(&b);
        cr_expect_str_eq(t.text, texts[i]);
        textbuf_free(&t);
        cr_assert_eq(body_copy(&b, &copy, &m), OK);
        body_free(&b);
        t = body_text(&copy);
        cr_expect_str_eq(t.text, texts[i]);
        textbuf_free(&t);
        body_free(&copy);
    }
}

Test(body, reads_its_own_print) {
    prng g = {1};
    for (int i = 0; i < 500; i++) {
        textbuf text = random_body(&g);
        body b = body_from(text.text);
        textbuf first = body_text(&b);
        body again = body_from(first.text);
        textbuf second = body_text(&again);
        cr_assert_str_eq(second.text, first.text);
        body_free(&b);
        body_free(&again);
        textbuf_free(&text);
        textbuf_free(&first);
        textbuf_free(&second);
    }
}

/* The example of body.h, by hand: 3 rows of products, the guard leaves the others alone. */
Test(body, interprets) {
    body b = body_from("param i32 n = 3\nglobal f32 a[n, 2], b[n, 2], r[5]\nglobal i32 w\nlocal f32 sum\nblocks 2\n"
                       "threads 2\nif (bid * 2 + tid < n) {\n for (k, 0, 2) {\n  sum = sum + a[bid * 2 + tid, k] * "
                       "b[bid * 2 + tid, k]\n }\n r[bid * 2 + tid] = sum\n}\nw = w * 65536 + 2.9\n");
    float a[] = {1, 2, 3, 4, 5, 6}, c[] = {10, 20, 30, 40, 50, 60}, r[] = {-1, -1, -1, -1, -1};
    int32_t w = 1;
    message m;
    cr_assert_eq(body_interpret(&b, (void *[]){a, c, r, &w, NULL}, &m), OK, "%s", m.text);
    static const float want[] = {50, 250, 610, -1, -1};
    for (int i = 0; i < 5; i++)
        cr_expect_eq(r[i], want[i]);
    cr_expect_eq(w, 131074); /* 2 * 65536 + 2, after two turns that wrapped to 2 */
    body_free(&b);
}

Test(body, interpreter_keeps_bounds) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"global f32 a[4] for (k, 0, 9) { a[k] = 1 }", "1:35: subscript 1 of 'a' is 4, outside its extent of 4"},
        {"global f32 a[2, 4] a[1, 0] = a[0, 0 - 1]", "1:37: subscript 2 of 'a' is -1, outside its extent of 4"},
        {"global f32 a[1] a[0] = 1 / tid", "1:26: division by zero"},
        {"global f32 a[1] a[0] = 0 && a[1] > 0", "1:31: subscript 1 of 'a' is 1, outside its extent of 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float a[8] = {0};
        message m = {""};
        body b = body_from(cases[i].text);
        cr_expect_eq(body_interpret(&b, (void *[]){a}, &m), ERR_INPUT);
        cr_expect_str_eq(m.text, cases[i].message);
        body_free(&b);
    }
}

/* Without memory at any one place: ERR_MEMORY, nothing leaks (the sanitizers look), and then it works again. */
Test(body, survives_failing_memory) {
    static const char text[] =
        "param i32 n = 2\nglobal f32 a[n], b[n]\nlocal f16 h\nfor (k, 0, n) { h = a[k] let t = h "
        "if (t > 0.5) { b[k] = t } else { b[k] = min(a[k], 1) } }";
    status st = ERR_MEMORY;
    size_t n = 0;
    for (n = 1; st == ERR_MEMORY && n < 1000; n++) {
        body b, copy;
        message m = {""};
        float a[2] = {0, 1}, c[2];
        mem_fail_after(n);
        st = body_parse("t", text, sizeof text - 1, &b, &m);
        if (st == OK)
            st = body_copy(&b, &copy, &m);
        else
            copy = (body){0};
        if (st == OK)
            st = body_interpret(&copy, (void *[]){a, c, NULL}, &m);
        mem_fail_after(0);
        cr_assert(st == OK || st == ERR_MEMORY, "%zu: %s", n, m.text);
        body_free(&b);
        if (copy.arrays)
            body_free(&copy);
    }
    cr_expect_eq(st, OK);
    cr_expect_gt(n, 8);
}

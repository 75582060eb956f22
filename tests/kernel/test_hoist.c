/* The pass that moves loads to the front, by examples whose answers are known, and by what bodies compute. */
#include "body_random.h"
#include "kernel/body_interpret.h"
#include "kernel/hoist.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct trial {
    body before, after;
    hoist_report report;
} trial;

static trial hoisted(const char *text, uint32_t limit) {
    trial t = {.before = body_from(text)};
    message m;
    cr_assert_eq(hoist(&t.before, limit, &t.after, &t.report, &m), OK, "%s", m.text);
    return t;
}

static void close_trial(trial *t) {
    body_free(&t->before);
    body_free(&t->after);
    hoist_report_free(&t->report);
}

/* The hoisted loads, "a[k], c[k]; f[k]": leaf blocks apart by semicolons, those without any left out. */
static void list_hoisted(const hoist_report *r, char *out, size_t size) {
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < r->leaves; i++)
        for (uint32_t k = 0; k < r->leaf[i].hoisted; k++)
            used += (size_t)snprintf(out + used, size - used, "%s%s",
                                     k      ? ", "
                                     : used ? "; "
                                            : "",
                                     r->leaf[i].load[k].text);
}

/* "n" is a param, for what the rules call an unknown dimension. */
#define DECLARATIONS                                                                                                   \
    "param i32 n = 32\nglobal f32 d[32], e[32], c[32], f[32]\nglobal i32 a[40]\nlocal f32 loc[32]\n"                   \
    "shared f32 shm[32]\nglobal f32 v0[64], v1[32], v2[32], v3[256], v4[32], v5[512], v6[32], v7[32], v8[32], "        \
    "v9[128]\n"                                                                                                        \
    "global f32 big[100], sm[127], dyn[n, 4]\n"

/* What the pass of PaddlePaddle does (its pull request's three examples, then its rules, one by one). */
Test(hoist, known_answers) {
    static const struct {
        const char *text, *hoisted;
        const char *after; /* the statements, where the rewriting matters */
    } cases[] = {
        {"for (k, 0, 32) { d[k] = d[k] + f[k] * c[k] }", "f[k], c[k]",
         "for (k, 0, 32) {\n    let f_local = f[k]\n    let c_local = c[k]\n    d[k] = d[k] + f_local * c_local\n}\n"},
        {"for (k, 0, 32) { d[k] = a[k] + c[k] e[k] = a[k] * f[k] }", "a[k], c[k], f[k]",
         "for (k, 0, 32) {\n    let a_local = a[k]\n    let c_local = c[k]\n    let f_local = f[k]\n"
         "    d[k] = a_local + c_local\n    e[k] = a_local * f_local\n}\n"},
        {"for (k, 0, 32) { d[k] = c[a[k]] > 0 ? f[k] : 0 e[k] = d[k] * 2 }", "",
         "for (k, 0, 32) {\n    d[k] = c[a[k]] > 0 ? f[k] : 0\n    e[k] = d[k] * 2\n}\n"},
        {"for (k, 0, 32) { d[k] = a[k] > 0 ? c[k] * 2 : c[k] }", "a[k], c[k]",
         "for (k, 0, 32) {\n    let a_local = a[k]\n    let c_local = c[k]\n    d[k] = a_local > 0 ? c_local * 2 : "
         "c_local\n"
         "}\n"},
        {"for (k, 0, 32) { d[k] = c[k] + (f[k] > 0 ? c[k] : 0) }", "c[k], f[k]",
         "for (k, 0, 32) {\n    let c_local = c[k]\n    let f_local = f[k]\n"
         "    d[k] = c_local + (f_local > 0 ? c_local : 0)\n}\n"},
        {"for (k, 0, 32) { d[k] = v0[k] + v1[k] + v2[k] + v3[k] + v4[k] + v5[k] + v6[k] + v7[k] + v8[k] + v9[k] }",
         "v5[k], v3[k], v9[k], v0[k], v1[k], v2[k], v4[k], v6[k]", NULL},
        {"for (k, 0, 32) { d[k] = a[k] + a[k + 1] }", "a[k], a[k + 1]",
         "for (k, 0, 32) {\n    let a_local = a[k]\n    let a_local_1 = a[k + 1]\n    d[k] = a_local + a_local_1\n}\n"},
        {"for (k, 0, 32) { d[k] = a[k + 1] + a[1 + k] }", "a[k + 1], a[1 + k]", NULL},
        {"for (k, 0, 32) { d[k] = big[k] + sm[k] + dyn[k, 0] }", "dyn[k, 0], sm[k], big[k]", NULL},
        {"for (k, 0, 32) { d[k] = loc[k] + (shm[k] + a[k]) }", "a[k]", NULL},
        {"for (k, 0, 32) { loc[k] = a[k] d[k] = a[k] * c[k] }", "a[k], c[k]",
         "for (k, 0, 32) {\n    let a_local = a[k]\n    let c_local = c[k]\n    loc[k] = a_local\n"
         "    d[k] = a_local * c_local\n}\n"},
        {"for (k, 0, 32) { block(d) { if (k < 9) { d[k] = a[k] } } e[k] = -a[k] }", "a[k]",
         "for (k, 0, 32) {\n    let a_local = a[k]\n    block(d) {\n        if (k < 9) {\n            d[k] = a_local\n"
         "        }\n    }\n    e[k] = -a_local\n}\n"},
        {"for (k, 0, 32) { block(d) { if (k < 9) { d[k] = a[k] } } }", "", NULL},
        {"d[0] = a[0] + c[0]", "", NULL},
        {"for (i, 0, 32) { e[i] = c[i] } for (k, 0, 32) { d[k] = e[k] + f[k] }", "c[i]; f[k]", NULL},
        {"for (k, 0, 32) { d[k] = e[k] + f[k] } for (i, 0, 32) { e[i] = c[i] }", "e[k], f[k]; c[i]", NULL},
        {"for (k, 0, 32) { d[k] = e[k] e[k] = c[k] }", "c[k]", NULL},
        {"for (i, 0, 32) { d[i] = a[i] for (k, 0, 32) { e[k] = c[k] + f[i] } }", "c[k], f[i]", NULL},
        {"for (k, 0, 32) { d[k] = c[a[k]] + a[k] }", "a[k]",
         "for (k, 0, 32) {\n    let a_local = a[k]\n    d[k] = c[a[k]] + a_local\n}\n"},
        {"for (i, 0, 32) { if (i < n) { d[i] = a[i] + c[i] } }", "a[i], c[i]",
         "for (i, 0, 32) {\n    if (i < n) {\n        let a_local = a[i]\n        let c_local = c[i]\n"
         "        d[i] = a_local + c_local\n    }\n}\n"},
        {"for (k, 0, 32) { d[k] = a[k] > 0 ? (c[k] > 0 ? e[k] : f[k]) : c[k] + f[k] }", "a[k], c[k]", NULL},
        /* Rows of the other table that are not among these. */
        {"for (k, 0, 32) { d[k] = n > 3 ? f[k] + 1 : f[k] * 2 }", "f[k]",
         "for (k, 0, 32) {\n    let f_local = f[k]\n    d[k] = n > 3 ? f_local + 1 : f_local * 2\n}\n"},
        {"for (k, 0, 32) { d[k] = f[k] > 0 ? c[k] : 0 }", "f[k]",
         "for (k, 0, 32) {\n    let f_local = f[k]\n    d[k] = f_local > 0 ? c[k] : 0\n}\n"},
        {"for (k, 0, 32) { f[k] = f[k] + c[k] e[k] = f[k] * 2 }", "c[k]", NULL},
        /* And what the rules say besides. */
        {"for (k, 0, 32) { d[a[k]] = c[k] }", "c[k]",
         "for (k, 0, 32) {\n    let c_local = c[k]\n    d[a[k]] = c_local\n}\n"},
        {"for (k, 0, 32) { d[a[k]] = a[k] * 2 }", "a[k]",
         "for (k, 0, 32) {\n    let a_local = a[k]\n    d[a_local] = a_local * 2\n}\n"},
        {"for (k, 0, 32) { block(root) { d[k] = c[k] } }", "c[k]", NULL},
        {"for (k, 0, 32) { block(root) { d[k] = c[k] } e[k] = f[k] }", "c[k]", NULL},
        {"for (k, 0, 32) { let t = c[k] d[k] = f[k] }", "", NULL},
        {"for (k, 0, 32) { block(s) { let j = k + 1 d[k] = a[j] + c[k] } }", "c[k]", NULL},
        {"for (k, 0, 32) { block(s) { let t = c[k] d[k] = t * f[k] } e[k] = c[k] * 2 }", "f[k], c[k]",
         "for (k, 0, 32) {\n    let f_local = f[k]\n    let c_local = c[k]\n    block(s) {\n        let t = c_local\n"
         "        d[k] = t * f_local\n    }\n    e[k] = c_local * 2\n}\n"},
        {"let c_local = 1 let c_local_1 = 2 for (k, 0, 32) { d[k] = c[k] + c_local }", "c[k]",
         "let c_local = 1\nlet c_local_1 = 2\nfor (k, 0, 32) {\n    let c_local_2 = c[k]\n    d[k] = c_local_2 + "
         "c_local\n"
         "}\n"},
        {"for (k, 0, 32) { loc[k] = c[k] + 1 d[k] = f[k] }", "c[k], f[k]", NULL},
        {"for (k, 0, 32) { loc[k] = c[k] }", "", NULL},
        {"for (k, 0, 32) { shm[k] = c[k] }", "c[k]", NULL},
        {"for (k, 0, 32) { d[k] = c[k] > 0 ? 1 : f[k] e[k] = f[k] > 0 ? 1 : c[k] }", "c[k], f[k]", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024], list[256], want[1024];
        snprintf(text, sizeof text, "%s%s", DECLARATIONS, cases[i].text);
        trial t = hoisted(text, HOIST_LIMIT_DEFAULT);
        list_hoisted(&t.report, list, sizeof list);
        cr_expect_str_eq(list, cases[i].hoisted, "%s: %s", cases[i].text, list);
        textbuf before = body_text(&t.before), after = body_text(&t.after);
        bool changed = strcmp(before.text, after.text) != 0;
        cr_expect_eq(changed, cases[i].hoisted[0] != '\0', "%s", cases[i].text);
        if (cases[i].after) {
            const char *declarations_end = strstr(after.text, "dyn[n, 4]\n") + strlen("dyn[n, 4]\n");
            snprintf(want, sizeof want, "%s", cases[i].after);
            cr_expect_str_eq(declarations_end, want);
        }
        textbuf_free(&before);
        textbuf_free(&after);
        close_trial(&t);
    }
}

/* Ten loads of arrays of sizes 1 .. 10: the largest, descending, for any limit. */
Test(hoist, limit) {
    char text[1024], list[256], want[256];
    size_t used = 0;
    for (int i = 1; i <= 10; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "global f32 v%d[%d]\n", i, i);
    used += (size_t)snprintf(text + used, sizeof text - used, "global f32 d\nfor (k, 0, 1) { d = ");
    for (int i = 1; i <= 10; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%sv%d[k]", i > 1 ? " + " : "", i);
    snprintf(text + used, sizeof text - used, " }");
    for (uint32_t limit = 0; limit <= 12; limit++) {
        trial t = hoisted(text, limit);
        uint32_t count = limit < 10 ? limit : 10;
        used = 0;
        want[0] = '\0';
        for (uint32_t i = 0; i < count; i++)
            used += (size_t)snprintf(want + used, sizeof want - used, "%sv%u[k]", i ? ", " : "", 10 - i);
        list_hoisted(&t.report, list, sizeof list);
        cr_expect_str_eq(list, want);
        cr_expect_eq(t.report.hoisted, count);
        cr_expect_eq(t.report.leaf[0].loads, 10); /* d is stored to and not loaded */
        for (uint32_t i = count; i < 10; i++)
            cr_expect_eq(t.report.leaf[0].load[i].verdict, HOIST_LIMIT);
        close_trial(&t);
    }
}

/* Every load that stays has its reason. */
Test(hoist, says_why_not) {
    static const struct {
        const char *text, *load;
        hoist_verdict verdict;
        uint32_t uses;
    } cases[] = {
        {"for (k, 0, 32) { d[k] = d[k] + c[k] + c[k] }", "c[k]", HOIST_DONE, 2},
        {"for (k, 0, 32) { d[k] = d[k] + c[k] }", "d[k]", HOIST_WRITTEN, 1},
        {"for (k, 0, 32) { d[k] = loc[k] }", "loc[k]", HOIST_NOT_GLOBAL, 1},
        {"for (k, 0, 32) { d[k] = shm[k] }", "shm[k]", HOIST_NOT_GLOBAL, 1},
        {"for (k, 0, 32) { d[k] = c[a[k]] }", "c[a[k]]", HOIST_INDIRECT, 1},
        {"for (k, 0, 32) { d[k] = c[a[k]] }", "a[k]", HOIST_IN_SUBSCRIPT, 1},
        {"for (k, 0, 32) { d[a[k]] = 1 }", "a[k]", HOIST_IN_SUBSCRIPT, 1},
        {"for (k, 0, 32) { d[k] = k ? c[k] : 1 }", "c[k]", HOIST_ONE_SIDED, 1},
        {"for (k, 0, 32) { d[k] = k ? c[k] : c[k + 1] + c[k] }", "c[k]", HOIST_DONE, 2},
        {"for (k, 0, 32) { block(d) { if (k) { d[k] = c[k] } } }", "c[k]", HOIST_IN_IF, 1},
        {"for (k, 0, 32) { block(d) { if (c[k] > 0) { d[k] = 1 } } }", "c[k]", HOIST_IN_IF, 1},
        {"for (k, 0, 32) { loc[k] = c[k] }", "c[k]", HOIST_LOCAL_INIT, 1},
        {"for (k, 0, 32) { block(d) { let t = c[k] d[k] = t } }", "c[k]", HOIST_IN_LET, 1},
        {"for (k, 0, 32) { block(d) { let j = k d[k] = c[j] } }", "c[j]", HOIST_NEEDS_LET, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s", DECLARATIONS, cases[i].text);
        trial t = hoisted(text, HOIST_LIMIT_DEFAULT);
        cr_assert_eq(t.report.leaves, 1);
        cr_assert_null(t.report.leaf[0].obstacle);
        uint32_t found = 0;
        for (uint32_t k = 0; k < t.report.leaf[0].loads; k++) {
            const hoist_load *l = &t.report.leaf[0].load[k];
            if (strcmp(l->text, cases[i].load) != 0)
                continue;
            found++;
            cr_expect_eq(l->verdict, cases[i].verdict, "%s: %s", cases[i].text, hoist_verdict_text(l->verdict));
            cr_expect_eq(l->uses, cases[i].uses, "%s: %u", cases[i].text, l->uses);
            cr_expect_eq(l->let != NULL, l->verdict == HOIST_DONE);
        }
        cr_expect_eq(found, 1, "%s", cases[i].text);
        close_trial(&t);
    }
}

Test(hoist, says_why_no_leaf) {
    static const struct {
        const char *text, *obstacle;
    } cases[] = {
        {"d[0] = c[0]", "it is not in a loop"},
        {"for (k, 0, 32) { d[k] = c[k] let t = 1 }", "a let stands beside its blocks"},
        {"for (k, 0, 32) { d[k] = c[k] if (k) {} }", "an if stands beside its blocks"},
        {"for (k, 0, 32) { d[k] = c[k] for (i, 0, 1) {} }", "a loop stands beside its blocks"},
        {"for (k, 0, 32) { d[k] = c[k] block(root) {} }", "a root block stands beside its blocks"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s", DECLARATIONS, cases[i].text);
        trial t = hoisted(text, HOIST_LIMIT_DEFAULT);
        cr_assert_eq(t.report.leaves, 1);
        cr_expect_str_eq(t.report.leaf[0].obstacle, cases[i].obstacle);
        close_trial(&t);
    }
}

/* Bodies compute the same bits before and after, read back as they were printed, and a hoisted loop stays as it is. */
Test(hoist, random_bodies_compute_the_same) {
    enum { BODIES = 3000 };
    prng g = {2024};
    uint32_t changed = 0, loads = 0;
    for (int i = 0; i < BODIES; i++) {
        textbuf text = random_body(&g);
        trial t = hoisted(text.text, (uint32_t)prng_below(&g, 10)), again;
        void **before = body_memory(&t.before, (uint64_t)i), **after = body_memory(&t.before, (uint64_t)i);
        message m = {""};
        cr_assert_eq(body_interpret(&t.before, before, &m), OK, "%s\n%s", m.text, text.text);
        cr_assert_eq(body_interpret(&t.after, after, &m), OK, "%s\n%s", m.text, text.text);
        body_memory_expect_equal(&t.before, after, before, text.text);
        textbuf print = body_text(&t.after);
        again = hoisted(print.text, HOIST_LIMIT_DEFAULT);
        textbuf print_again = body_text(&again.before);
        cr_assert_str_eq(print_again.text, print.text);
        changed += t.report.hoisted > 0;
        loads += t.report.hoisted;
        textbuf_free(&print_again);
        textbuf_free(&print);
        body_memory_free(&t.before, before);
        body_memory_free(&t.before, after);
        close_trial(&again);
        close_trial(&t);
        textbuf_free(&text);
    }
    cr_expect_gt(changed, BODIES / 4, "only %u of %d bodies had anything to hoist", changed, BODIES);
    cr_expect_gt(loads, BODIES / 2);
}

/* 10,000 statements in one block, most of them with loads of their own; 300 loads in flight. */
Test(hoist, large_blocks) {
    enum { MANY = 10000 };
    textbuf text = {0};
    textbuf_put(&text, "global f32 a[20000], d[20000]\nfor (k, 0, 1) {\n");
    for (int i = 0; i < MANY; i++)
        textbuf_printf(&text, "d[k + %d] = a[k + %d] * a[k + %d]\n", i, i, i + 1);
    textbuf_put(&text, "}\n");
    trial t = hoisted(text.text, 300);
    cr_expect_eq(t.report.leaf[0].loads, MANY + 1);
    cr_expect_eq(t.report.hoisted, 300);
    cr_expect_str_eq(t.report.leaf[0].load[299].text, "a[k + 299]");
    close_trial(&t);
    textbuf_free(&text);
}

Test(hoist, survives_failing_memory) {
    static const char text[] =
        DECLARATIONS "for (k, 0, 32) { d[k] = c[k] > 0 ? f[k] : f[k] * v0[k] e[k] = f[k] + c[k] }";
    status st = ERR_MEMORY;
    size_t n;
    body b = body_from(text);
    for (n = 1; st == ERR_MEMORY && n < 1000; n++) {
        body after;
        hoist_report r;
        message m = {""};
        mem_fail_after(n);
        st = hoist(&b, HOIST_LIMIT_DEFAULT, &after, &r, &m);
        mem_fail_after(0);
        cr_assert(st == OK || st == ERR_MEMORY, "%zu: %s", n, m.text);
        cr_expect(st != OK || r.hoisted == 2);
        body_free(&after);
        hoist_report_free(&r);
    }
    cr_expect_eq(st, OK);
    cr_expect_gt(n, 10);
    body_free(&b);
}

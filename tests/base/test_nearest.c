#include "base/nearest.h"

#include <criterion/criterion.h>
#include <string.h>

/* Distances of the literature's examples, both ways round. */
Test(nearest, edit_distance) {
    static const struct {
        const char *a, *b;
        unsigned distance;
    } cases[] = {
        {"kitten", "sitting", 3}, {"saturday", "sunday", 3}, {"", "", 0},   {"", "abc", 3},
        {"ways", "wyas", 1},      {"ca", "abc", 3},          {"a", "a", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_eq(edit_distance(cases[i].a, cases[i].b), cases[i].distance, "%s %s", cases[i].a, cases[i].b);
        cr_expect_eq(edit_distance(cases[i].b, cases[i].a), cases[i].distance, "%s %s", cases[i].b, cases[i].a);
    }
}

Test(nearest, suggests_only_what_is_near) {
    static const char *const words[] = {"latency_cycles", "ways", "line_bytes"};
    static const struct {
        const char *word, *nearest;
    } cases[] = {
        {"latncy_cycles", "latency_cycles"}, {"way", "ways"},  {"WAYS", "ways"},
        {"line_byte", "line_bytes"},         {"wyas", "ways"}, {"sets", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *nearest = nearest_word(cases[i].word, words, 3);
        cr_expect(cases[i].nearest ? nearest && strcmp(nearest, cases[i].nearest) == 0 : !nearest, "%s", cases[i].word);
    }
    char hint[80], cut[20];
    cr_expect_str_eq(nearest_hint(hint, sizeof hint, "wayz", words, 3), "; did you mean 'ways'?");
    cr_expect_str_eq(nearest_hint(hint, sizeof hint, "sets", words, 3), "; known: latency_cycles, ways, line_bytes");
    cr_expect_str_eq(nearest_hint(hint, sizeof hint, "sets", words, 0), "");
    cr_expect_str_eq(nearest_hint(cut, sizeof cut, "sets", words, 3), "; known: latency_cy");
}

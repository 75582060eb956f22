#include "base/intern.h"

#include <criterion/criterion.h>
#include <stdio.h>

Test(intern, keeps_strings_once) {
    enum { WORDS = 1000 };
    static interned *known[WORDS];
    intern_table t = {0};
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < WORDS; i++) {
            char word[16];
            int length = snprintf(word, sizeof word, "w%dx", i);
            interned *e = intern(&t, word, (size_t)length - 1); /* not the x */
            cr_assert(e && e->length == (size_t)length - 1);
            cr_assert(round == 0 ? e->value == NULL : e == known[i] && e->value == &known[i]);
            known[i] = e;
            e->value = &known[i];
        }
    cr_expect_eq(t.count, WORDS);
    cr_expect_str_eq(known[7]->text, "w7");
    intern_free(&t);
}

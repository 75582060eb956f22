/* Messages and exit codes. */
#include "base/status.h"

#include <criterion/criterion.h>
#include <string.h>

Test(status, messages) {
    message m = {{0}};
    cr_expect_eq(fail(&m, ERR_MEMORY, "not enough memory for %d lines", 3), ERR_MEMORY);
    cr_expect_str_eq(m.text, "not enough memory for 3 lines");
    cr_expect_eq(fail(NULL, ERR_IO, "nobody listens"), ERR_IO);
    cr_expect_eq(fail_at(&m, "a.cfg", 12, "unknown key '%s'", "wyas"), ERR_INPUT);
    cr_expect_str_eq(m.text, "a.cfg:12: unknown key 'wyas'");
    cr_expect_eq(fail_at(&m, "a.cfg", 0, "no such file"), ERR_INPUT);
    cr_expect_str_eq(m.text, "a.cfg: no such file");
    cr_expect_eq(fail_at(&m, NULL, 0, "perm has 3 entries, rank is 4"), ERR_INPUT);
    cr_expect_str_eq(m.text, "perm has 3 entries, rank is 4");
    cr_expect_eq(fail_at(NULL, "a.cfg", 1, "nobody listens"), ERR_INPUT);
}

/* Long texts are cut; a place too long to leave room is left out rather than the sentence. */
Test(status, long_messages) {
    static char word[3 * MESSAGE_MAX];
    memset(word, 'x', sizeof word - 1);
    message m;
    fail(&m, ERR_INPUT, "%s", word);
    cr_expect_eq(strlen(m.text), MESSAGE_MAX - 1);
    fail_at(&m, "a.cfg", 1, "%s", word);
    cr_expect_eq(strlen(m.text), MESSAGE_MAX - 1);
    cr_expect_eq(strncmp(m.text, "a.cfg:1: xxx", 12), 0);
    fail_at(&m, word, 1, "sentence");
    cr_expect_str_eq(m.text, "sentence");
}

/* 0 done, 1 a check failed, 2 bad usage or input, 70 our fault (EX_SOFTWARE), 130 = 128 + SIGINT. */
Test(status, exit_codes) {
    cr_expect_eq(status_exit_code(OK), 0);
    cr_expect_eq(status_exit_code(ERR_CHECK), 1);
    cr_expect_eq(status_exit_code(ERR_INPUT), 2);
    cr_expect_eq(status_exit_code(ERR_IO), 2);
    cr_expect_eq(status_exit_code(ERR_MEMORY), 2);
    cr_expect_eq(status_exit_code(ERR_INTERNAL), 70);
    cr_expect_eq(status_exit_code(ERR_INTERRUPTED), 130);
}

static int after;
static status step(status code) {
    TRY(code);
    after++;
    return OK;
}

Test(status, try_leaves_at_once) {
    cr_expect_eq(step(ERR_IO), ERR_IO);
    cr_expect_eq(after, 0);
    cr_expect_eq(step(OK), OK);
    cr_expect_eq(after, 1);
}

/* Lackey and Dinero text: what is read, and what is refused at which line. */
#include "trace/access_reader.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 8 };

/* Reads a file with this content, in batches of `step`; the number of accesses before the end or the error. */
static size_t read_text(const char *text, size_t length, size_t step, trace_access out[ROOM], status *s, message *m) {
    char path[] = "/tmp/coalign_reader_XXXXXX";
    const int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, text, length), (ssize_t)length);
    close(fd);
    access_reader *r = NULL;
    size_t total = 0, count = 0;
    *s = access_reader_open(path, &r, m);
    if (*s == OK)
        do {
            *s = access_reader_next(r, out + total, ROOM - total < step ? ROOM - total : step, &count, m);
            total += count;
        } while (*s == OK && count);
    access_reader_close(r);
    unlink(path);
    return total;
}

Test(access_reader, good_traces) {
    static const trace_access lackey[] = {{0x401000, 3, TRACE_FETCH},
                                          {0x1fff000708, 8, TRACE_READ},
                                          {0xabc, 16, TRACE_WRITE},
                                          {UINT64_MAX, 1, TRACE_MODIFY}};
    static const trace_access dinero[] = {{0x10, 4, TRACE_READ}, {0xff, 16, TRACE_WRITE}, {0x20, 4, TRACE_FETCH}};
    static const struct {
        const char *text;
        const trace_access *want;
        size_t count;
    } rows[] = {
        {"==1== Lackey\nI  00401000,3\n L 1fff000708,8\n S ABC,16\n M ffffffffffffffff,1\n==1== end\n", lackey, 4},
        {"==1== x\r\n\r\nI  00401000,3\r\n L 1fff000708,8\r\n S abc,16\r\n M ffffffffffffffff,1", lackey, 4},
        {"0 10\n1 0xff 10\n2 20", dinero, 3},
        {"r 10\nw ff 10 and a comment\n\ni 0X20\r\n", dinero, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t step = 1; step <= ROOM; step += ROOM - 1) {
            trace_access got[ROOM];
            status s = OK;
            message m = {{0}};
            const size_t n = read_text(rows[i].text, strlen(rows[i].text), step, got, &s, &m);
            cr_expect_eq(s, OK, "row %zu: %s", i, m.text);
            cr_assert_eq(n, rows[i].count, "row %zu: %zu accesses", i, n);
            for (size_t k = 0; k < n; k++) {
                cr_expect_eq(got[k].addr, rows[i].want[k].addr, "row %zu, access %zu", i, k);
                cr_expect_eq(got[k].size, rows[i].want[k].size, "row %zu, access %zu", i, k);
                cr_expect_eq(got[k].kind, rows[i].want[k].kind, "row %zu, access %zu", i, k);
            }
        }
}

Test(access_reader, bad_traces) {
    static const struct {
        const char *text, *say;
        size_t before; /* accesses that were read */
    } rows[] = {
        {"", "there is no access", 0},
        {"==1== only messages\n", "there is no access", 0},
        {"hello\n", ":1: 'hello': neither", 0},
        {" L 10,8\n\nL 10;8\n", ":3: 'L 10;8'", 1},
        {" L 10,8\n L 10,\n", ":2:", 1},
        {" L ,8\n", ":1:", 0},
        {" L 10,0\n", "a size from 1", 0},
        {" L 10,4294967296\n", "a size from 1", 0},
        {" L 10,99999999999999999999\n", ":1:", 0},
        {" L 10000000000000000,8\n", ":1:", 0}, /* 2^64 */
        {" L 10,8x\n", ":1:", 0},
        {" L 10,8\n0 10\n", ":2: '0 10': a line of Lackey", 1},
        {"0 10\n3 10\n", ":2: '3 10': label 3 or 4", 1},
        {"0 10\n7 10\n", ":2: '7 10': a label", 1},
        {"0\n", ":1:", 0},
        {"0 xyz\n", ":1:", 0},
        {"0 10 0\n", "a size from 1", 0},
        {"\x1f\x8b\x08", "", 0}, /* the start of a gzip file, and no more */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        trace_access got[ROOM];
        status s = OK;
        message m = {{0}};
        const size_t n = read_text(rows[i].text, strlen(rows[i].text), ROOM, got, &s, &m);
        cr_expect_neq(s, OK, "row %zu", i);
        cr_expect(*m.text && strstr(m.text, rows[i].say), "row %zu: %s", i, m.text);
        cr_expect_eq(n, rows[i].before, "row %zu: %zu accesses", i, n);
    }
}

/* A line that never ends is refused soon, not gathered. */
Test(access_reader, endless_line) {
    const size_t length = 3 << 20;
    char *text = malloc(length);
    cr_assert(text);
    memset(text, '0', length);
    memcpy(text, " L 10,8\n", 8);
    trace_access got[ROOM];
    status s = OK;
    message m = {{0}};
    read_text(text, length, ROOM, got, &s, &m);
    free(text);
    cr_expect_eq(s, ERR_INPUT);
    cr_expect(strstr(m.text, ":2: a line of"), "%s", m.text);
}

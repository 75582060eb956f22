/* What the tests of src/config share: temporary files, and texts with one thing changed. */
#ifndef COALIGN_TESTS_CONFIG_TEST_H
#define COALIGN_TESTS_CONFIG_TEST_H

#include <stddef.h>

enum { TEST_PATH_MAX = 256, TEST_TEXT_MAX = 65536 };

/* A fresh directory below $TMPDIR or /tmp; remove_directory takes it away with the files made by write_file. */
typedef struct test_directory {
    char path[TEST_PATH_MAX];
    char files[32][TEST_PATH_MAX];
    size_t count;
} test_directory;

void make_directory(test_directory *d);
void remove_directory(test_directory *d);

/* Writes (or overwrites) a file of the directory and returns its path, valid until remove_directory. */
const char *write_bytes(test_directory *d, const char *name, const char *bytes, size_t count);
const char *write_file(test_directory *d, const char *name, const char *text);
/* A directory within. */
const char *write_directory(test_directory *d, const char *name);

/* The whole file, NUL-terminated, into text[TEST_TEXT_MAX]. */
void read_text(const char *path, char *text);

/* out = text with the first occurrence of `find` replaced, which must exist. Returns the line of that place, from 1. */
int replace_first(const char *text, const char *find, const char *replacement, char *out);

/* models/v100.cfg with its include of the instruction set made absolute, so that it loads from anywhere. */
void v100_text(char *text);

#endif

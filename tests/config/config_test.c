#include "config_test.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void make_directory(test_directory *d) {
    const char *parent = getenv("TMPDIR");
    snprintf(d->path, sizeof d->path, "%.200s/coalign-config-XXXXXX", parent && *parent ? parent : "/tmp");
    d->count = 0;
    cr_assert(mkdtemp(d->path) != NULL);
}

void remove_directory(test_directory *d) {
    while (d->count > 0)
        remove(d->files[--d->count]);
    cr_expect(rmdir(d->path) == 0);
}

static const char *file_path(test_directory *d, const char *name) {
    char path[2 * TEST_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", d->path, name);
    for (size_t i = 0; i < d->count; i++)
        if (strcmp(d->files[i], path) == 0)
            return d->files[i];
    cr_assert(d->count < sizeof d->files / sizeof *d->files && strlen(path) < TEST_PATH_MAX);
    memcpy(d->files[d->count], path, strlen(path) + 1);
    return d->files[d->count++];
}

const char *write_bytes(test_directory *d, const char *name, const char *bytes, size_t count) {
    const char *path = file_path(d, name);
    FILE *f = fopen(path, "wb");
    cr_assert(f && fwrite(bytes, 1, count, f) == count && fclose(f) == 0, "%s", path);
    return path;
}

const char *write_file(test_directory *d, const char *name, const char *text) {
    return write_bytes(d, name, text, strlen(text));
}

const char *write_directory(test_directory *d, const char *name) {
    const char *path = file_path(d, name);
    cr_assert(mkdir(path, 0700) == 0);
    return path;
}

void read_text(const char *path, char *text) {
    FILE *f = fopen(path, "rb");
    cr_assert(f, "%s", path);
    size_t n = fread(text, 1, TEST_TEXT_MAX - 1, f);
    cr_assert(n < TEST_TEXT_MAX - 1 && fclose(f) == 0);
    text[n] = '\0';
}

int replace_first(const char *text, const char *find, const char *replacement, char *out) {
    const char *at = strstr(text, find);
    cr_assert(at, "the text has no '%s'", find);
    int line = 1;
    for (const char *p = text; p < at; p++)
        line += *p == '\n';
    snprintf(out, TEST_TEXT_MAX, "%.*s%s%s", (int)(at - text), text, replacement, at + strlen(find));
    return line;
}

void v100_text(char *text) {
    char original[TEST_TEXT_MAX], directory[TEST_PATH_MAX], include[2 * TEST_PATH_MAX];
    read_text("models/v100.cfg", original);
    cr_assert(getcwd(directory, sizeof directory));
    snprintf(include, sizeof include, "@include \"%s/models/isa/sm_70.cfg\"", directory);
    replace_first(original, "@include \"isa/sm_70.cfg\"", include, text);
}

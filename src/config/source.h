/* source.h - the text of a configuration file with its includes put in place, and where every line came from.
 *
 * libconfig 1.5 would read files itself, but it looks for included files in one directory only, loses integers that do
 * not fit 32 bits without a word, and rejects a byte-order mark. So the text is assembled and its numbers are checked
 * here, and libconfig only parses it.
 *
 *     @include "isa/gfx1100.cfg"        alone on its line; relative to the file that says so
 */
#ifndef COALIGN_CONFIG_SOURCE_H
#define COALIGN_CONFIG_SOURCE_H

#include "base/mem.h"
#include "base/status.h"

#include <stddef.h>

typedef struct source_line {
    const char *file; /* as the user or the @include spelt it, prefixed by the directory of the including file */
    int line;         /* from 1 */
} source_line;

typedef struct source {
    char *text; /* NUL-terminated; lines end in '\n' */
    size_t length, text_capacity;
    source_line *lines; /* lines[i] is where line i + 1 of the text came from */
    size_t line_count, line_capacity;
    arena names;
} source;

/* Reads path into *s, which must be zero. Free with source_free, also after a failure. ERR_INPUT with file and line:
 * a file that cannot be read, a directory, binary content, a cyclic include, an unterminated text, a number that does
 * not fit. */
status source_read(source *s, const char *path, message *m);

/* The same checks for a text that is not in a file; `name` stands for the file in messages. */
status source_scan_text(source *s, const char *name, const char *text, message *m);

void source_free(source *s);

#endif

/* nearest.h - "did you mean ...?": the known word that a mistyped one most resembles. */
#ifndef COALIGN_BASE_NEAREST_H
#define COALIGN_BASE_NEAREST_H

#include <stddef.h>

/* Optimal string alignment distance: insertions, deletions and substitutions of one byte and exchanges of two
 * neighbours. Words longer than 63 bytes are cut. */
unsigned edit_distance(const char *a, const char *b);

/* The word of words[0 .. count) nearest to `word`, if it is near enough to be meant (at most one edit in three bytes,
 * case ignored), else NULL. */
const char *nearest_word(const char *word, const char *const *words, size_t count);

/* The end of an error message: "; did you mean 'ways'?" or, when nothing is near, "; known: a, b, c". Cut at `size`
 * bytes. Returns buffer. */
char *nearest_hint(char *buffer, size_t size, const char *word, const char *const *words, size_t count);

#endif

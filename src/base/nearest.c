#include "base/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 63 };

static unsigned smaller(unsigned a, unsigned b) {
    return a < b ? a : b;
}

static size_t word_length(const char *word) {
    size_t n = strlen(word);
    return n < WORD_MAX ? n : WORD_MAX;
}

/* Three rows of the dynamic-programming table at a time: the current one, the one before, and the one before that for
 * transpositions. */
static unsigned distance(const char *a, const char *b, int (*fold)(int)) {
    size_t na = word_length(a), nb = word_length(b);
    unsigned rows[3][WORD_MAX + 1];
    for (size_t j = 0; j <= nb; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            int x = fold((unsigned char)a[i - 1]), y = fold((unsigned char)b[j - 1]);
            row[j] = smaller(smaller(above[j], row[j - 1]) + 1, above[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == fold((unsigned char)b[j - 2]) && y == fold((unsigned char)a[i - 2]))
                row[j] = smaller(row[j], above2[j - 2] + 1);
        }
    }
    return rows[na % 3][nb];
}

static int same(int c) {
    return c;
}

unsigned edit_distance(const char *a, const char *b) {
    return distance(a, b, same);
}

const char *nearest_word(const char *word, const char *const *words, size_t count) {
    const char *best = NULL;
    unsigned best_distance = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned d = distance(word, words[i], tolower);
        if (!best || d < best_distance) {
            best = words[i];
            best_distance = d;
        }
    }
    size_t longer = best && word_length(best) > word_length(word) ? word_length(best) : word_length(word);
    return best && best_distance <= longer / 3 ? best : NULL;
}

char *nearest_hint(char *buffer, size_t size, const char *word, const char *const *words, size_t count) {
    const char *best = nearest_word(word, words, count);
    if (best) {
        snprintf(buffer, size, "; did you mean '%s'?", best);
        return buffer;
    }
    size_t used = (size_t)snprintf(buffer, size, count ? "; known: " : "");
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", i ? ", " : "", words[i]);
    return buffer;
}

#include "cmd/cache_option.h"

#include "base/nearest.h"
#include "base/num.h"

#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 64 };

/* The text up to `stop` or the end, without it; moves *p behind it. False when it does not fit. */
static bool take(const char **p, const char *stops, char word[WORD_MAX]) {
    const size_t length = strcspn(*p, stops);
    if (length >= WORD_MAX)
        return false;
    memcpy(word, *p, length);
    word[length] = '\0';
    *p += length;
    return true;
}

/* parse_bytes, and K, M, G as caches are written: powers of 1024. */
static bool size_of(const char *word, uint64_t *bytes) {
    static const char letters[] = "KMGkmg";
    char text[WORD_MAX + 2];
    const size_t length = strlen(word);
    const char *letter = length ? strchr(letters, word[length - 1]) : NULL;
    if (!letter)
        return parse_bytes(word, bytes);
    snprintf(text, sizeof text, "%.*s%ciB", (int)length - 1, word, letters[(letter - letters) % 3]);
    return parse_bytes(text, bytes);
}

static bool small_of(const char *word, uint32_t *value) {
    uint64_t v = 0;
    if (!parse_bytes(word, &v) || v > UINT32_MAX)
        return false;
    *value = (uint32_t)v;
    return true;
}

static status policy(counts_cache *k, const char *word, message *m) {
    static const char *const words[] = {"lru", "fifo", "random", "wb", "wt", "wa", "nwa", "sBYTES"};
    if (word[0] == 's' && small_of(word + 1, &k->sector_bytes))
        return OK;
    size_t i = 0;
    while (i < 7 && strcmp(word, words[i]) != 0)
        i++;
    char hint[128];
    switch (i) {
    case 0:
        k->replace = REPLACE_LRU;
        return OK;
    case 1:
        k->replace = REPLACE_FIFO;
        return OK;
    case 2:
        k->replace = REPLACE_RANDOM;
        return OK;
    case 3:
    case 4:
        k->write_back = i == 3;
        return OK;
    case 5:
    case 6:
        k->write_allocate = i == 5;
        return OK;
    default:
        return fail(m, ERR_INPUT, "--cache: %s: unknown word '%s'%s", k->name, word,
                    nearest_hint(hint, sizeof hint, word, words, sizeof words / sizeof *words));
    }
}

/* One cache; *p is behind it afterwards. */
static status one(const char **p, counts_cache *k, message *m) {
    static const char form[] = "NAME=SIZE:WAYS:LINE is needed, as in L1=48K:12:64";
    char word[WORD_MAX];
    *k = (counts_cache){.write_back = true, .write_allocate = true};
    const char *begin = *p;
    if (!take(p, "=,", word) || **p != '=' || !word[0])
        return fail(m, ERR_INPUT, "--cache: '%.40s': %s", begin, form);
    if (strlen(word) >= sizeof k->name)
        return fail(m, ERR_INPUT, "--cache: the name '%s' has %zu letters; at most %zu are possible", word,
                    strlen(word), sizeof k->name - 1);
    memcpy(k->name, word, strlen(word) + 1);
    ++*p;
    if (!take(p, ":,", word) || !size_of(word, &k->size_bytes))
        return fail(m, ERR_INPUT, "--cache: %s: '%.40s' is no size; %s", k->name, word, form);
    uint32_t *const numbers[] = {&k->ways, &k->line_bytes};
    static const char *const names[] = {"number of ways", "size of a line"};
    for (int i = 0; i < 2; i++) {
        if (**p != ':')
            return fail(m, ERR_INPUT, "--cache: %s: no %s; %s", k->name, names[i], form);
        ++*p;
        if (!take(p, ":,", word) || !small_of(word, numbers[i]))
            return fail(m, ERR_INPUT, "--cache: %s: '%.40s' is no %s", k->name, word, names[i]);
    }
    k->sector_bytes = k->line_bytes;
    while (**p == ':') {
        ++*p;
        if (!take(p, ":,", word))
            return fail(m, ERR_INPUT, "--cache: %s: a word of more than %d letters", k->name, WORD_MAX - 1);
        TRY(policy(k, word, m));
    }
    return counts_check(k, m);
}

status cache_option_parse(const char *text, counts_hierarchy *h, message *m) {
    h->levels = 0;
    h->has_fetch = false;
    for (const char *p = text;; p++) {
        counts_cache k;
        TRY(one(&p, &k, m));
        if (h->levels == 0 && !h->has_fetch && (k.name[0] == 'I' || k.name[0] == 'i')) {
            h->has_fetch = true;
            h->fetch = k;
        } else if (h->levels == COUNTS_LEVELS_MAX)
            return fail(m, ERR_INPUT, "--cache: more than %d levels", COUNTS_LEVELS_MAX);
        else
            h->data[h->levels++] = k;
        if (*p != ',')
            break;
    }
    if (h->levels == 0)
        return fail(m, ERR_INPUT, "--cache: %s is an instruction cache; a data cache is needed too", h->fetch.name);
    return OK;
}

void caches_of_machine(const machine *mach, counts_hierarchy *h) {
    h->has_fetch = false;
    h->levels = mach->level_count;
    for (uint32_t i = 0; i < mach->level_count; i++) {
        const cache_level *l = &mach->level[i];
        const uint64_t set_bytes = (uint64_t)l->ways * l->line_bytes;
        counts_cache *k = &h->data[i];
        *k = (counts_cache){.size_bytes = l->size_bytes - l->size_bytes % set_bytes,
                            .ways = l->ways,
                            .line_bytes = l->line_bytes,
                            .sector_bytes = l->sector_bytes,
                            .replace = l->replace,
                            .write_back = l->write == WRITE_BACK,
                            .write_allocate = l->write == WRITE_BACK,
                            .set_hash = l->set_hash};
        snprintf(k->name, sizeof k->name, "%s", l->name);
    }
}

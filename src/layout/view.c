/* The copies that named views of a row-major array make. Three of them, slice_2d, slice_3d and reversed_rows, are the
 * benchmark functions of "Optimising the identity function" (Futhark blog). */
#include "layout/syntax.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Turns *src, the row-major array, into the view. permutation: the user's text or NULL. */
typedef status view_function(lmad *src, const char *permutation, message *m);

static status make_copy(lmad *src, const char *permutation, message *m) {
    (void)src, (void)permutation, (void)m;
    return OK;
}

static status make_transpose(lmad *src, const char *permutation, message *m) {
    uint32_t order[LMAD_RANK_MAX] = {0};
    for (uint32_t k = 0; k < src->rank; k++)
        order[k] = src->rank - 1 - k;
    if (permutation)
        TRY(parse_permutation(permutation, src->rank, order, m));
    *src = lmad_permute(src, order);
    return OK;
}

static status drop_first(lmad *src, message *m) {
    uint32_t last = src->rank - 1;
    if (src->size[last] == 0)
        return fail(m, ERR_INPUT, "the innermost dimension has size 0: there is no first element to drop");
    src->size[last]--;
    src->offset += src->stride[last];
    return OK;
}

static status make_slice_2d(lmad *src, const char *permutation, message *m) {
    (void)permutation;
    return drop_first(src, m);
}

static status make_slice_3d(lmad *src, const char *permutation, message *m) {
    (void)permutation;
    return drop_first(src, m);
}

static status make_reversed_rows(lmad *src, const char *permutation, message *m) {
    (void)permutation, (void)m;
    uint32_t last = src->rank - 1;
    if (src->size[last] > 0)
        src->offset += src->size[last] - 1;
    src->stride[last] = -src->stride[last];
    return OK;
}

static const struct {
    const char *name;
    uint32_t rank;
    view_function *make;
} views[] = {
#define X(name, rank, what) {#name, rank, make_##name},
    VIEW_LIST(X)
#undef X
};

enum { VIEW_COUNT = sizeof views / sizeof *views };

static status no_such_view(const char *name, message *m) {
    char known[160] = "";
    for (size_t i = 0, used = 0; i < VIEW_COUNT; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? " " : "", views[i].name);
    return fail(m, ERR_INPUT, "no view '%.80s' (there are %s)", name, known);
}

status view_copy(const char *name, const dataset *d, const char *permutation, copy_desc *c, message *m) {
    size_t v = 0;
    while (v < VIEW_COUNT && strcmp(views[v].name, name) != 0)
        v++;
    if (v == VIEW_COUNT)
        return no_such_view(name, m);
    if (views[v].rank && views[v].rank != d->rank)
        return fail(m, ERR_INPUT, "%s needs an array of rank %" PRIu32 ", this one has rank %" PRIu32, name,
                    views[v].rank, d->rank);
    if (permutation && views[v].make != make_transpose)
        return fail(m, ERR_INPUT, "%s takes no permutation, only transpose does", name);
    *c = (copy_desc){.element_bytes = d->element_bytes};
    TRY(lmad_row_major(d->size, d->rank, &c->src, m));
    TRY(views[v].make(&c->src, permutation, m));
    TRY(lmad_row_major(c->src.size, c->src.rank, &c->dst, m));
    return copy_check(c, m);
}

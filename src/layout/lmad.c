#include "layout/lmad.h"

#include "base/num.h"

#include <inttypes.h>
#include <string.h>

bool lmad_empty(const lmad *l) {
    for (uint32_t k = 0; k < l->rank; k++)
        if (l->size[k] == 0)
            return true;
    return false;
}

/* A zero size makes the product 0 even if the others alone would overflow. */
static status count_elements(const lmad *l, const char *what, int64_t *count, message *m) {
    *count = lmad_empty(l) ? 0 : 1;
    for (uint32_t k = 0; *count && k < l->rank; k++) {
        int64_t before = *count;
        if (!mul_i64(before, l->size[k], count))
            return fail(m, ERR_INPUT,
                        "%s: the number of elements does not fit 64 bits: %" PRId64 " times size %" PRId64
                        " of dimension %" PRIu32,
                        what, before, l->size[k], k);
    }
    return OK;
}

static status find_range(const lmad *l, const char *what, int64_t *lowest, int64_t *highest, message *m) {
    *lowest = 0;
    *highest = -1;
    if (lmad_empty(l))
        return OK;
    *lowest = *highest = l->offset;
    for (uint32_t k = 0; k < l->rank; k++) {
        int64_t reach = 0;
        int64_t *end = l->stride[k] < 0 ? lowest : highest;
        if (!mul_i64(l->size[k] - 1, l->stride[k], &reach) || !add_i64(*end, reach, end))
            return fail(m, ERR_INPUT,
                        "%s: offsets do not fit 64 bits: dimension %" PRIu32 " has size %" PRId64
                        " and stride %" PRId64,
                        what, k, l->size[k], l->stride[k]);
    }
    return OK;
}

status lmad_check(const lmad *l, const char *what, message *m) {
    if (l->rank > LMAD_RANK_MAX)
        return fail(m, ERR_INPUT, "%s: rank %" PRIu32 " is above %d", what, l->rank, LMAD_RANK_MAX);
    for (uint32_t k = 0; k < l->rank; k++)
        if (l->size[k] < 0)
            return fail(m, ERR_INPUT,
                        "%s: size %" PRId64 " of dimension %" PRIu32 " is negative (a stride may be, a size may not)",
                        what, l->size[k], k);
    int64_t count = 0, lowest = 0, highest = 0;
    TRY(count_elements(l, what, &count, m));
    return find_range(l, what, &lowest, &highest, m);
}

status lmad_row_major(const int64_t *size, uint32_t rank, lmad *out, message *m) {
    *out = (lmad){.rank = rank};
    if (rank <= LMAD_RANK_MAX && rank > 0)
        memcpy(out->size, size, rank * sizeof *size);
    TRY(lmad_check(out, "shape", m));
    int64_t stride = 1;
    for (uint32_t k = rank; k-- > 0;) {
        out->stride[k] = stride;
        /* Only an empty shape can overflow here, and its strides are never used. */
        if (!mul_i64(stride, size[k], &stride))
            stride = 0;
    }
    return OK;
}

status lmad_elements(const lmad *l, int64_t *count, message *m) {
    return count_elements(l, "shape", count, m);
}

status lmad_range(const lmad *l, int64_t *lowest, int64_t *highest, message *m) {
    return find_range(l, "layout", lowest, highest, m);
}

status lmad_apply(const lmad *l, const int64_t *index, int64_t *offset, message *m) {
    *offset = l->offset;
    for (uint32_t k = 0; k < l->rank; k++) {
        if (index[k] < 0 || index[k] >= l->size[k])
            return fail(m, ERR_INPUT, "index %" PRId64 " is outside dimension %" PRIu32 " of size %" PRId64, index[k],
                        k, l->size[k]);
        int64_t step = 0;
        if (!mul_i64(index[k], l->stride[k], &step) || !add_i64(*offset, step, offset))
            return fail(m, ERR_INPUT,
                        "the offset does not fit 64 bits: index %" PRId64 " times stride %" PRId64
                        " of dimension %" PRIu32,
                        index[k], l->stride[k], k);
    }
    return OK;
}

lmad lmad_permute(const lmad *l, const uint32_t *order) {
    lmad out = {.offset = l->offset, .rank = l->rank};
    for (uint32_t k = 0; k < l->rank; k++) {
        out.size[k] = l->size[order[k]];
        out.stride[k] = l->stride[order[k]];
    }
    return out;
}

copy_desc copy_permute(const copy_desc *c, const uint32_t *order) {
    return (copy_desc){
        .element_bytes = c->element_bytes,
        .src = lmad_permute(&c->src, order),
        .dst = lmad_permute(&c->dst, order),
    };
}

/* Dimension `outer` of the one and `inner` of the other LMAD walk as one dimension of stride[inner]. */
static bool continues(const lmad *a, uint32_t outer, const lmad *b, uint32_t inner) {
    int64_t span = 0;
    return mul_i64(b->size[inner], b->stride[inner], &span) && a->stride[outer] == span;
}

static lmad nothing(int64_t offset) {
    return (lmad){.offset = offset, .rank = 1, .size = {0}, .stride = {1}};
}

/* One pass suffices: merging (n2,s2) into the dimension before it leaves that one's product size * stride as it was, so
 * whether the next outer dimension continues it does not change. */
copy_desc copy_collapse(const copy_desc *c) {
    copy_desc out = {.element_bytes = c->element_bytes};
    out.src.offset = c->src.offset;
    out.dst.offset = c->dst.offset;
    lmad *s = &out.src, *d = &out.dst;
    if (lmad_empty(&c->src)) {
        *s = nothing(c->src.offset);
        *d = nothing(c->dst.offset);
        return out;
    }
    for (uint32_t k = 0; k < c->src.rank; k++) {
        int64_t n = c->src.size[k];
        if (n == 1)
            continue;
        bool merge = s->rank > 0 && continues(s, s->rank - 1, &c->src, k) && continues(d, d->rank - 1, &c->dst, k);
        uint32_t to = merge ? s->rank - 1 : s->rank++;
        d->rank = s->rank;
        s->size[to] = d->size[to] = merge ? s->size[to] * n : n;
        s->stride[to] = c->src.stride[k];
        d->stride[to] = c->dst.stride[k];
    }
    return out;
}

lmad lmad_collapse(const lmad *l) {
    copy_desc both = {.element_bytes = 1, .src = *l, .dst = *l};
    return copy_collapse(&both).src;
}

static void drop_dimension(lmad *l, uint32_t k) {
    l->rank--;
    for (; k < l->rank; k++) {
        l->size[k] = l->size[k + 1];
        l->stride[k] = l->stride[k + 1];
    }
    l->size[l->rank] = l->stride[l->rank] = 0;
}

/* Merges one pair; false when there is none. */
static bool merge_pair(copy_desc *c) {
    for (uint32_t outer = 0; outer < c->src.rank; outer++)
        for (uint32_t inner = 0; inner < c->src.rank; inner++)
            if (outer != inner && continues(&c->src, outer, &c->src, inner) &&
                continues(&c->dst, outer, &c->dst, inner)) {
                c->src.size[inner] *= c->src.size[outer];
                c->dst.size[inner] = c->src.size[inner];
                drop_dimension(&c->src, outer);
                drop_dimension(&c->dst, outer);
                return true;
            }
    return false;
}

copy_desc copy_collapse_any(const copy_desc *c) {
    copy_desc out = copy_collapse(c);
    while (merge_pair(&out)) {
    }
    return out;
}

/* The byte offset of an element's last byte fits as well. */
static status check_bytes(const lmad *l, uint32_t element_bytes, const char *what, message *m) {
    int64_t lowest = 0, highest = 0, bytes = 0;
    TRY(find_range(l, what, &lowest, &highest, m));
    if (!mul_i64(lowest, element_bytes, &bytes) || !mul_i64(highest, element_bytes, &bytes) ||
        !add_i64(bytes, element_bytes, &bytes))
        return fail(m, ERR_INPUT,
                    "%s: byte offsets do not fit 64 bits: element offsets reach from %" PRId64 " to %" PRId64
                    ", %" PRIu32 " bytes each",
                    what, lowest, highest, element_bytes);
    return OK;
}

status copy_check(const copy_desc *c, message *m) {
    uint32_t width = c->element_bytes;
    if (width == 0 || width > 16 || (width & (width - 1)) != 0)
        return fail(m, ERR_INPUT, "elements of %" PRIu32 " bytes: only 1, 2, 4, 8 and 16 can be copied", width);
    TRY(lmad_check(&c->src, "source", m));
    TRY(lmad_check(&c->dst, "destination", m));
    if (c->src.rank != c->dst.rank)
        return fail(m, ERR_INPUT, "the source has rank %" PRIu32 ", the destination rank %" PRIu32, c->src.rank,
                    c->dst.rank);
    for (uint32_t k = 0; k < c->src.rank; k++)
        if (c->src.size[k] != c->dst.size[k])
            return fail(m, ERR_INPUT,
                        "dimension %" PRIu32 " has size %" PRId64 " in the source and %" PRId64 " in the destination",
                        k, c->src.size[k], c->dst.size[k]);
    TRY(check_bytes(&c->src, width, "source", m));
    TRY(check_bytes(&c->dst, width, "destination", m));
    int64_t bytes = 0;
    if (!mul_i64(copy_elements(c), width, &bytes))
        return fail(m, ERR_INPUT, "the copy moves %" PRId64 " elements of %" PRIu32 " bytes: more than 2^63 bytes",
                    copy_elements(c), width);
    return OK;
}

int64_t copy_elements(const copy_desc *c) {
    int64_t count = 0;
    return count_elements(&c->src, "shape", &count, NULL) == OK ? count : -1;
}

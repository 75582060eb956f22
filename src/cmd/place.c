#include "cmd/place.h"

#include "base/num.h"

static const int64_t first_address = INT64_C(4) << 30;
static const int64_t large_page = INT64_C(2) << 20;

/* Bytes from the lowest byte to offset 0, and from offset 0 to behind the highest byte. */
static status extent(const lmad *l, uint32_t element_bytes, int64_t *before, int64_t *after, message *m) {
    int64_t lowest = 0, highest = -1;
    TRY(lmad_range(l, &lowest, &highest, m));
    lowest = lowest < 0 ? lowest : 0;
    highest = highest < -1 ? -1 : highest;
    if (!mul_i64(-lowest, element_bytes, before) || !add_i64(highest, 1, after) ||
        !mul_i64(*after, element_bytes, after))
        return fail(m, ERR_INPUT, "the array does not fit a 64-bit address space");
    return OK;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

status place_copy(const copy_desc *copy, bool same_memory, int64_t *src_base, int64_t *dst_base, message *m) {
    int64_t src_before = 0, src_after = 0, dst_before = 0, dst_after = 0, end = 0, unused = 0;
    TRY(extent(&copy->src, copy->element_bytes, &src_before, &src_after, m));
    TRY(extent(&copy->dst, copy->element_bytes, &dst_before, &dst_after, m));
    if (same_memory) {
        bool fits = add_i64(first_address, larger(src_before, dst_before), src_base) &&
                    add_i64(*src_base, larger(src_after, dst_after), &unused);
        *dst_base = *src_base;
        return fits ? OK : fail(m, ERR_INPUT, "the array does not fit a 64-bit address space");
    }
    bool fits = add_i64(first_address, src_before, src_base) && add_i64(*src_base, src_after, &end) &&
                add_i64(end, large_page - 1, &end);
    end -= fits ? end % large_page : 0;
    fits = fits && add_i64(end, dst_before, dst_base) && add_i64(*dst_base, dst_after, &unused);
    return fits ? OK : fail(m, ERR_INPUT, "the two arrays do not fit a 64-bit address space");
}

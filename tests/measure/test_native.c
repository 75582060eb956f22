/* What is timed does what it says: one cycle through all lines, and copies that move every element. */
#include "measure/native.h"
#include "measure/native_work.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(native, one_cycle_through_all_lines) {
    for (size_t lines = 1; lines <= 65; lines += 8) {
        char *memory = calloc(lines, NATIVE_LINE_BYTES);
        native_link(memory, lines * NATIVE_LINE_BYTES, lines);
        const char *p = memory;
        for (size_t i = 1; i <= lines; i++) {
            memcpy(&p, p, sizeof p);
            cr_assert(p >= memory && p < memory + lines * NATIVE_LINE_BYTES);
            cr_assert_eq(p == memory, i == lines, "%zu lines: back after %zu", lines, i);
        }
        free(memory);
    }
}

Test(native, copies_move_every_element) {
    enum { SIDE = 100, BYTES = SIDE * (SIDE + 1) * 4 };
    static native_pass *const pass[] = {native_by_rows,   native_by_columns, native_tiled,
                                        native_recursive, native_slice_rows, native_slice_columns};
    float *from = aligned_alloc(64, (BYTES + 63) / 64 * 64), *to = aligned_alloc(64, (BYTES + 63) / 64 * 64);
    for (size_t i = 0; i < BYTES / 4; i++)
        from[i] = (float)i;
    for (size_t k = 0; k < sizeof pass / sizeof *pass; k++) {
        memset(to, 0xff, BYTES);
        pass[k](&(native_work){.from = (char *)from, .to = (char *)to, .side = SIDE, .tile = 24});
        for (size_t r = 0; r < SIDE; r++)
            for (size_t c = 0; c < SIDE; c++)
                cr_assert_eq(to[r * SIDE + c], k < 4 ? from[c * SIDE + r] : from[r * (SIDE + 1) + c + 1],
                             "copy %zu at %zu, %zu", k, r, c);
    }
    free(from);
    free(to);
}

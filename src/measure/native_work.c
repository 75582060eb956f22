#include "measure/native_work.h"

#include "base/num.h"
#include "measure/native.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The compiler has to believe that the value is used, and that memory may have changed. */
#define KEEP(value) __asm__ volatile("" : : "r"(value) : "memory")

void native_link(char *from, size_t bytes, uint64_t seed) {
    const size_t n = bytes / NATIVE_LINE_BYTES;
    prng g = {seed};
    for (size_t i = 0; i < n; i++)
        *(size_t *)(void *)(from + i * NATIVE_LINE_BYTES) = i;
    for (size_t i = n; i-- > 1;) { /* Sattolo's shuffle: one cycle */
        size_t *a = (size_t *)(void *)(from + i * NATIVE_LINE_BYTES);
        size_t *b = (size_t *)(void *)(from + prng_below(&g, i) * NATIVE_LINE_BYTES);
        const size_t t = *a;
        *a = *b;
        *b = t;
    }
    for (size_t i = 0; i < n; i++) /* numbers become addresses */
        *(size_t *)(void *)(from + i * NATIVE_LINE_BYTES) =
            (size_t)from + *(size_t *)(void *)(from + i * NATIVE_LINE_BYTES) * NATIVE_LINE_BYTES;
}

void native_chase(const native_work *w) {
    const void *p = w->from;
    for (size_t i = w->bytes / NATIVE_LINE_BYTES; i > 0; i--)
        p = *(void *const *)p;
    KEEP(p);
}

void native_read(const native_work *w) {
    const uint64_t *p = (const uint64_t *)(const void *)w->from;
    uint64_t sum[8] = {0};
    for (size_t i = 0; i < w->bytes / 8; i += 8)
        for (size_t k = 0; k < 8; k++)
            sum[k] += p[i + k];
    KEEP(sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7]);
}

void native_copy(const native_work *w) {
    const uint64_t *from = (const uint64_t *)(const void *)w->from;
    uint64_t *to = (uint64_t *)(void *)w->to;
    for (size_t i = 0; i < w->bytes / 8; i++) {
        to[i] = from[i];
        __asm__ volatile(""); /* stays a loop, not a call of memcpy */
    }
    KEEP(to);
}

void native_memcpy(const native_work *w) {
    memcpy(w->to, w->from, w->bytes);
    KEEP(w->to);
}

void native_stream(const native_work *w) {
#ifdef __SSE2__
    const __m128i *from = (const __m128i *)(const void *)w->from;
    __m128i *to = (__m128i *)(void *)w->to;
    for (size_t i = 0; i < w->bytes / sizeof *to; i++)
        _mm_stream_si128(&to[i], _mm_load_si128(&from[i]));
    _mm_sfence();
#else
    (void)w;
#endif
}

void native_stride(const native_work *w) {
    uint64_t sum = 0;
    for (size_t i = 0; i < w->bytes; i += w->stride)
        sum += *(const uint64_t *)(const void *)(w->from + i);
    KEEP(sum);
}

static void rectangle(const native_work *w, size_t row, size_t rows, size_t column, size_t columns) {
    const float *from = (const float *)(const void *)w->from;
    float *to = (float *)(void *)w->to;
    for (size_t c = column; c < column + columns; c++) /* stores are contiguous */
        for (size_t r = row; r < row + rows; r++)
            to[c * w->side + r] = from[r * w->side + c];
}

void native_by_columns(const native_work *w) {
    rectangle(w, 0, w->side, 0, w->side);
    KEEP(w->to);
}

void native_by_rows(const native_work *w) {
    const float *from = (const float *)(const void *)w->from;
    float *to = (float *)(void *)w->to;
    for (size_t r = 0; r < w->side; r++)
        for (size_t c = 0; c < w->side; c++)
            to[c * w->side + r] = from[r * w->side + c];
    KEEP(to);
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

void native_tiled(const native_work *w) {
    for (size_t r = 0; r < w->side; r += w->tile)
        for (size_t c = 0; c < w->side; c += w->tile)
            rectangle(w, r, least(w->tile, w->side - r), c, least(w->tile, w->side - c));
    KEEP(w->to);
}

static void halve(const native_work *w, size_t row, size_t rows, size_t column, size_t columns) {
    if (rows <= w->tile && columns <= w->tile) {
        rectangle(w, row, rows, column, columns);
    } else if (rows >= columns) {
        halve(w, row, rows / 2, column, columns);
        halve(w, row + rows / 2, rows - rows / 2, column, columns);
    } else {
        halve(w, row, rows, column, columns / 2);
        halve(w, row, rows, column + columns / 2, columns - columns / 2);
    }
}

void native_recursive(const native_work *w) {
    halve(w, 0, w->side, 0, w->side);
    KEEP(w->to);
}

void native_slice_rows(const native_work *w) {
    const float *from = (const float *)(const void *)w->from;
    float *to = (float *)(void *)w->to;
    for (size_t r = 0; r < w->side; r++)
        for (size_t c = 0; c < w->side; c++)
            to[r * w->side + c] = from[r * (w->side + 1) + c + 1];
    KEEP(to);
}

void native_slice_columns(const native_work *w) {
    const float *from = (const float *)(const void *)w->from;
    float *to = (float *)(void *)w->to;
    for (size_t c = 0; c < w->side; c++)
        for (size_t r = 0; r < w->side; r++)
            to[r * w->side + c] = from[r * (w->side + 1) + c + 1];
    KEEP(to);
}

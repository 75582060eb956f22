/* native_work.h - what is timed (internal to src/measure). */
#ifndef COALIGN_MEASURE_NATIVE_WORK_H
#define COALIGN_MEASURE_NATIVE_WORK_H

#include <stddef.h>
#include <stdint.h>

typedef struct native_work {
    char *from, *to;
    size_t bytes, stride; /* of one array; of a step */
    size_t side, tile;    /* of a matrix of floats, which lies at from and to */
} native_work;

/* One pass. */
typedef void native_pass(const native_work *w);

native_pass native_chase, native_read, native_copy, native_memcpy, native_stream, native_stride;
/* Transpositions: rows of the source, its columns, tiles, halves of the longer side. */
native_pass native_by_rows, native_by_columns, native_tiled, native_recursive;
/* All but the first column of side x (side + 1), innermost loop over columns or over rows. */
native_pass native_slice_rows, native_slice_columns;

/* Links the lines of from .. from + bytes to one random cycle, which native_chase follows. */
void native_link(char *from, size_t bytes, uint64_t seed);

#endif

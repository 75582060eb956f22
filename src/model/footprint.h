/* footprint.h - how many different sectors, lines or bursts an array's layout touches, in closed form.
 *
 * Let the dimensions be sorted by the magnitude of their strides, and R be the bytes that the inner ones cover. A
 * further dimension whose stride leaves a gap of less than one unit between its rows misses no unit: it lengthens R.
 * Where the gap is a unit or more, no two rows share a unit, so their units add up; how many a row has depends only on
 * its address modulo the unit, and how many rows have each remainder is counted dimension by dimension. Both steps are
 * exact. A dimension that interleaves with the inner ones (its stride is less than their extent) is counted once: then
 * the result is a lower bound, and *exact says so.
 */
#ifndef COALIGN_MODEL_FOOTPRINT_H
#define COALIGN_MODEL_FOOTPRINT_H

#include "layout/lmad.h"

#include <stdbool.h>
#include <stdint.h>

/* Units of `unit` bytes (a power of two up to 4096) that hold a byte of an element; base is the byte address of element
 * offset 0. The LMAD has passed its check, and its addresses fit 64 bits (copy_check). */
uint64_t footprint_units(const lmad *l, uint32_t element_bytes, int64_t base, uint32_t unit, bool *exact);

#endif

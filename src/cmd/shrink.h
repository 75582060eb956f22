/* shrink.h - the same copy with fewer elements, to find where the ranking of strategies changes. */
#ifndef COALIGN_CMD_SHRINK_H
#define COALIGN_CMD_SHRINK_H

#include "layout/lmad.h"

#include <stdbool.h>

/* Divides the size of the dimension that is outermost in the source (largest size x stride) by `factor`. A stride that
 * is a multiple of that dimension's extent shrinks with it, so that what was packed stays packed; padding that does not
 * depend on the size stays as it is, and arrays that ran backwards start where they did. False when every dimension is
 * too small. The copy has passed copy_check. */
bool shrink_copy(const copy_desc *c, int64_t factor, copy_desc *out);

#endif

/* body_random.h - loop bodies and data for tests that need many. */
#ifndef TESTS_KERNEL_BODY_RANDOM_H
#define TESTS_KERNEL_BODY_RANDOM_H

#include "base/num.h"
#include "kernel/body.h"

/* The text of a random body that runs without errors: all types and spaces, layouts, indirect and repeated loads,
 * nested loops, ifs, schedule blocks, selects. Integer arrays get integers only. To be freed with textbuf_free. */
textbuf random_body(prng *g);

body body_from(const char *text); /* parses or fails the test */
textbuf body_text(const body *b); /* its print */

/* Random contents for the global arrays, the same for the same seed; the other entries are NULL. */
void **body_memory(const body *b, uint64_t seed);
void body_memory_free(const body *b, void **memory);
/* Asserts that the global arrays with the same ids hold the same bits (NaNs: are NaNs). */
void body_memory_expect_equal(const body *b, void *const *got, void *const *want, const char *text);

#endif

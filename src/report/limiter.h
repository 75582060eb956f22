/* limiter.h - what limits a run, in words. */
#ifndef COALIGN_REPORT_LIMITER_H
#define COALIGN_REPORT_LIMITER_H

#include "report/record.h"

#include <stddef.h>
#include <stdint.h>

/* which: 0 the limiter, 1 the runner-up. A cache level goes by its own name ("L2"), the rest by LIMIT_LIST's. */
const char *limiter_name(const run_record *r, uint32_t which);

/* "issue (93 %; busiest pipe alu, 91 % on average), then dram (81 %), margin 12 points". Returns buffer. */
char *limiter_words(char *buffer, size_t size, const run_record *r);

#endif

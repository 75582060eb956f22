/* sample.h - results filled by hand, with figures that are easy to check in the head. */
#ifndef TESTS_REPORT_SAMPLE_H
#define TESTS_REPORT_SAMPLE_H

#include "report/report.h"

/* Two levels: "L1" (core scope) and "L2 cache" (device scope), 32 B sectors; 1 GHz; DRAM 1000 GB/s. */
machine sample_machine(void);

/* 1000 us (launch overhead 0), measured 800 us; 1 000 000 000 useful bytes; one load request of 32 sectors, one store
 * request of 4. Limited by issue, then L2. */
run_record sample_record(const machine *mach);

/* The same case of an empty array: nothing ran, nothing was measured. */
run_record sample_empty(const machine *mach);

/* What report_write writes, to be freed; size without the NUL. */
char *report_string(const report_options *options, const run_record *records, size_t count, size_t *size);

/* The field of `column` in row `row` (0 = first below the header) of CSV text without quoted separators; to be freed.
 * NULL when there is none. */
char *csv_at(const char *csv, const char *column, size_t row);

#endif

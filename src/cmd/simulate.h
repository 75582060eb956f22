/* simulate.h - one copy from its description to a record: place the arrays, build the kernel, run it. */
#ifndef COALIGN_CMD_SIMULATE_H
#define COALIGN_CMD_SIMULATE_H

#include "cmd/command.h"
#include "cmd/progress.h"
#include "config/experiment_config.h"
#include "kernel/pattern.h"
#include "layout/plan.h"
#include "report/record.h"

enum { STRATEGY_LABEL_MAX = 64 };

/* What people call the variant: "transpose_default", "general sorted", "general sorted 32-bit x4". Returns buffer. */
char *strategy_label(char *buffer, size_t size, const copy_options *o);
/* "chase", "read 64 B", "read 4 B / 64 B random", "copy 64 B past caches". Returns buffer. */
char *pattern_label(char *buffer, size_t size, const pattern *p);

/* Fills the record's launch figures and counters; names and measured times are the caller's. The arrays lie at the
 * given addresses (place.h chooses some). Of the command line --threads and --exact matter. The conservation laws are
 * always checked. Errors as copy_kernel_build, sim_run. */
status simulate_copy(const machine *mach, const copy_desc *copy, const copy_options *options, int64_t src_base,
                     int64_t dst_base, const arguments *args, progress *p, run_record *r, message *m);
/* The same for a case that is a loop body: elements are the bytes that it loads and stores. */
status simulate_body(const machine *mach, const experiment_case *what, const arguments *args, progress *p,
                     run_record *r, message *m);
/* The same for a pattern: elements are its accesses, all figures those of its steady part. */
status simulate_pattern(const machine *mach, const pattern *what, uint64_t accesses, const arguments *args, progress *p,
                        run_record *r, message *m);

#endif

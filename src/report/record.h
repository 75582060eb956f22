/* record.h - one finished run with what a report says beside the simulator's counters. */
#ifndef COALIGN_REPORT_RECORD_H
#define COALIGN_REPORT_RECORD_H

#include "layout/plan.h"
#include "machine/machine.h"
#include "sim/sim.h"

#include <stdint.h>

/* The strings and the machine belong to the caller and outlive the record. Only notes may be NULL. */
typedef struct run_record {
    const char *case_name;
    const char *strategy;
    const char *dataset;               /* as users write it: "[8192][8193]i32" */
    const char *plan_reason;           /* a sentence; "" when the strategy was the user's own choice */
    const char *note[PLAN_NOTE_COUNT]; /* what the user should know about this copy; NULL or "": nothing */
    const machine *mach;
    uint32_t block_threads, registers; /* registers: per thread */
    uint32_t shared_bytes;             /* per block */
    uint32_t element_bytes;
    uint64_t elements;
    uint64_t useful_bytes; /* read + written bytes that the user asked for */
    double measured_us;    /* NAN: not measured; likewise its 95 % confidence interval */
    double measured_low_us, measured_high_us;
    sim_result sim;
} run_record;

#endif

/* mrc_report.h - a miss-ratio curve as text (a row a power of two), JSON or CSV (eight sizes to a power of two). */
#ifndef COALIGN_REPORT_MRC_REPORT_H
#define COALIGN_REPORT_MRC_REPORT_H

#include "report/report.h"
#include "sim/mrc.h"

typedef struct mrc_record {
    const char *trace; /* its name */
    uint32_t line_bytes;
    const mrc *curve;
} mrc_record;

status report_mrc(FILE *out, const report_options *options, const mrc_record *r, message *m);

#endif

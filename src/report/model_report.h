/* model_report.h - bounds of a list of cases, and the balance of a machine, as text, JSON or CSV.
 *
 * Text: a row for each case with the bound that binds, the runner-up and the margin; then what would move it; with
 * details or for a single case all its bounds. JSON: {"version", "machine", "cases": [{..., "bounds": [...], "roofs":
 * [...]}]}. CSV: a row for each bound and each roof of each case; plots/roofline.gp draws it.
 */
#ifndef COALIGN_REPORT_MODEL_REPORT_H
#define COALIGN_REPORT_MODEL_REPORT_H

#include "model/balance.h"
#include "model/model.h"
#include "report/report.h"

/* The texts and the machine are the caller's. */
typedef struct model_record {
    const char *case_name, *strategy, *dataset;
    const machine *mach;
    double measured_us; /* NAN: not measured */
    model model;
} model_record;

status report_models(FILE *out, const report_options *options, const model_record *records, size_t count, message *m);
status report_balance(FILE *out, const report_options *options, const machine *mach, const balance *b, message *m);

#endif

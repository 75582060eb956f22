/* machine_report.h - the figures of a machine, and the list of machines, as text, JSON or CSV. */
#ifndef COALIGN_REPORT_MACHINE_REPORT_H
#define COALIGN_REPORT_MACHINE_REPORT_H

#include "machine/machine.h"
#include "report/report.h"

/* One line of the list. */
typedef struct machine_line {
    const char *id, *name, *summary; /* summary: what is wrong when it does not load */
    bool loads;
} machine_line;

status report_machine(FILE *out, const report_options *options, const machine *mach, message *m);
status report_machines(FILE *out, const report_options *options, const machine_line *lines, size_t count, message *m);

#endif

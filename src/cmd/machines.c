#include "base/mem.h"
#include "cmd/output.h"
#include "config/machine_config.h"
#include "report/machine_report.h"

static status show(outputs *o, const arguments *args, message *m) {
    machine *mach = mem_zero(1, sizeof *mach);
    if (!mach)
        return fail(m, ERR_MEMORY, "not enough memory");
    status s = machine_load(args->operands[0], mach, m);
    for (size_t i = 0; i < o->count && s == OK; i++) {
        const report_options options = output_options(&o->list[i], args, NULL);
        s = output_written(&o->list[i], report_machine(o->list[i].stream, &options, mach, m));
    }
    mem_free(mach);
    return s;
}

static status list(outputs *o, const arguments *args, message *m) {
    machine_entry *entries = NULL;
    size_t count = 0;
    TRY(machines_list(&entries, &count, m));
    machine_line *lines = mem_zero(count, sizeof *lines);
    if (!lines) {
        mem_free(entries);
        return fail(m, ERR_MEMORY, "not enough memory");
    }
    status s = OK;
    for (size_t i = 0; i < count; i++)
        lines[i] = (machine_line){entries[i].id, entries[i].name, entries[i].summary, entries[i].loads};
    for (size_t i = 0; i < o->count && s == OK; i++) {
        const report_options options = output_options(&o->list[i], args, NULL);
        s = output_written(&o->list[i], report_machines(o->list[i].stream, &options, lines, count, m));
    }
    mem_free(lines);
    mem_free(entries);
    return s;
}

status machines_command(const arguments *args, message *m) {
    outputs o;
    status s = outputs_open(&o, args, m);
    if (s == OK)
        s = args->operand_count ? show(&o, args, m) : list(&o, args, m);
    if (s == OK)
        s = outputs_commit(&o, m);
    outputs_close(&o);
    return s;
}

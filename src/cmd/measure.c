#include "cmd/interrupt.h"
#include "cmd/output.h"
#include "measure/native.h"

#include <math.h>
#include <unistd.h>

static const uint64_t largest_bytes = 128 << 20;

static int show(void *context, const char *name) {
    const bool quiet = *(const bool *)context;
    if (!quiet && isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[Kmeasuring %s", name);
    return interrupt_wanted();
}

/* Figures that the kernel did not give are in the CSV only. */
static void text(FILE *out, const native_result *r) {
    fprintf(out, "Measured on %s, ", r->host);
    if (r->core >= 0)
        fprintf(out, "pinned to core %d", r->core);
    else
        fputs("not pinned", out);
    fprintf(out, "; performance counters: %s\nmedian of %d, least and most\n\n", r->counters ? "yes" : "n/a",
            NATIVE_REPEATS);
    fprintf(out, "%-22s %11s  %-6s %11s %11s %11s\n", "case", "x", "unit", "median", "least", "most");
    for (size_t i = 0; i < r->count; i++) {
        const native_row *x = &r->row[i];
        if (!isnan(x->value))
            fprintf(out, "%-22s %11.0f  %-6s %11.4g %11.4g %11.4g\n", x->name, x->x, x->unit, x->value, x->low,
                    x->high);
    }
}

static status measure(const arguments *args, outputs *o, native_result *r, message *m) {
    if (!args->native)
        return fail(m, ERR_INPUT, "measure needs to know what: --native measures this host's CPU");
    TRY(outputs_open(o, args, m));
    for (size_t i = 0; i < o->count; i++)
        if (o->list[i].format == REPORT_JSON)
            return fail(m, ERR_INPUT, "measure writes text or csv, not json");
    const bool quiet = args->quiet;
    const status s = native_measure(largest_bytes, show, (void *)(uintptr_t)&quiet, r, m);
    if (!quiet && isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    TRY(s);
    for (size_t i = 0; i < o->count; i++)
        if (o->list[i].format == REPORT_TEXT)
            text(o->list[i].stream, r);
        else
            native_write_csv(o->list[i].stream, r);
    return outputs_commit(o, m);
}

status measure_command(const arguments *args, message *m) {
    outputs o = {0};
    native_result r = {0};
    const status s = measure(args, &o, &r, m);
    outputs_close(&o);
    native_free(&r);
    return s;
}

#include "report/text.h"

#include "report/write.h"

#include <math.h>
#include <string.h>

/* Three to five digits, no grouping: narrow, and readable by awk. */
static char *short_real(char *buffer, size_t size, metric_value v) {
    if (v.kind != VALUE_REAL)
        return format_value(buffer, size, v);
    double magnitude = fabs(v.real);
    snprintf(buffer, size, "%.*f", magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2, v.real);
    return buffer;
}

static char *short_metric(char *buffer, const run_record *r, const char *name) {
    return short_real(buffer, CELL, metric_get(r, name));
}

static char *signed_error(char *buffer, const run_record *r) {
    metric_value v = metric_get(r, "error_pct");
    if (v.kind == VALUE_REAL)
        snprintf(buffer, CELL, "%+.1f", v.real);
    else
        format_value(buffer, CELL, v);
    return buffer;
}

void text_paragraph(FILE *out, const char *label, const char *text, size_t width) {
    size_t indent = 2 + strlen(label), column = indent;
    fprintf(out, "  %s", label);
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column > indent && column + 1 + word > width) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        }
        if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, word, out);
        column += word;
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

status report_text(FILE *out, const report_options *options, const run_record *records, size_t count, message *m) {
    if (count == 0)
        return OK;
    if (count > 1 || options->baseline)
        TRY(summary(out, options, records, count, m));
    if (options->details || (count == 1 && !options->baseline))
        for (size_t i = 0; i < count; i++) {
            if (count > 1 || options->baseline)
                fputc('\n', out);
            TRY(page(out, options, &records[i], m));
        }
    return OK;
}

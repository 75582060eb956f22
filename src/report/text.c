#include "report/text.h"

#include "report/write.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

char *short_metric(char *buffer, const run_record *r, const char *name) {
    metric_value v = metric_get(r, name);
    if (v.kind != VALUE_REAL)
        return format_value(buffer, CELL, v);
    double magnitude = fabs(v.real);
    snprintf(buffer, CELL, "%.*f", magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2, v.real);
    return buffer;
}

char *predicted_interval(char *buffer, const run_record *r) {
    char low[CELL], high[CELL];
    if (metric_get(r, "predicted_ci95_low_us").kind == VALUE_REAL)
        snprintf(buffer, CELL, "[%.29s, %.29s]", short_metric(low, r, "predicted_ci95_low_us"),
                 short_metric(high, r, "predicted_ci95_high_us"));
    else
        snprintf(buffer, CELL, "n/a");
    return buffer;
}

char *signed_error(char *buffer, const run_record *r) {
    metric_value v = metric_get(r, "error_pct");
    if (v.kind == VALUE_REAL)
        snprintf(buffer, CELL, "%+.1f", v.real);
    else
        format_value(buffer, CELL, v);
    return buffer;
}

/* The text from column `indent` on, where the cursor is, broken between words. */
static void flow(FILE *out, const char *text, size_t indent, size_t width) {
    size_t column = indent;
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

void text_paragraph(FILE *out, const char *label, const char *text, size_t width) {
    fprintf(out, "  %s", label);
    flow(out, text, 2 + strlen(label), width);
}

void text_line(FILE *out, size_t width, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    flow(out, text, 0, width);
}

status report_text(FILE *out, const report_options *options, const run_record *records, size_t count, message *m) {
    if (count == 0)
        return OK;
    if (count > 1 || options->baseline)
        TRY(text_summary(out, options, records, count, m));
    if (options->details || (count == 1 && !options->baseline))
        for (size_t i = 0; i < count; i++) {
            if (count > 1 || options->baseline)
                fputc('\n', out);
            TRY(text_page(out, options, &records[i], m));
        }
    return OK;
}

#include "report/report.h"

#include "base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

status stream_status(FILE *out, const char *what, message *m) {
    errno = 0;
    if (fflush(out) == 0 && !ferror(out))
        return OK;
    return fail(m, ERR_IO, "cannot write %s: %s", what, errno ? strerror(errno) : "an earlier write failed");
}

char *format_value(char *buffer, size_t size, metric_value v) {
    switch (v.kind) {
    case VALUE_NONE:
        snprintf(buffer, size, "n/a");
        break;
    case VALUE_COUNT:
        format_grouped(buffer, size, v.count);
        break;
    case VALUE_TEXT:
        snprintf(buffer, size, "%s", v.text);
        break;
    case VALUE_HASH:
        snprintf(buffer, size, "%016" PRIx64, v.count);
        break;
    case VALUE_REAL: {
        double magnitude = fabs(v.real);
        if (magnitude <= 0) {
            snprintf(buffer, size, "0");
        } else if (magnitude >= 999.95 && magnitude < 1e15) {
            char digits[32];
            format_grouped(digits, sizeof digits, (uint64_t)llround(magnitude));
            snprintf(buffer, size, "%s%s", v.real < 0 ? "-" : "", digits);
        } else {
            snprintf(buffer, size, "%.*f", magnitude >= 99.995 ? 1 : magnitude >= 9.9995 ? 2 : 3, v.real);
        }
        break;
    }
    }
    return buffer;
}

status report_write(FILE *out, const report_options *options, const run_record *records, size_t count, message *m) {
    switch (options->format) {
    case REPORT_TEXT:
        TRY(report_text(out, options, records, count, m));
        break;
    case REPORT_JSON:
        TRY(report_json(out, options, records, count, m));
        break;
    case REPORT_CSV:
        TRY(report_csv(out, records, count, m));
        break;
    }
    return stream_status(out, "the results", m);
}

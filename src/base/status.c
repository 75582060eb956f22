#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

status fail(message *m, status code, const char *format, ...) {
    if (m) {
        va_list args;
        va_start(args, format);
        vsnprintf(m->text, sizeof m->text, format, args);
        va_end(args);
    }
    return code;
}

status fail_at(message *m, const char *file, int line, const char *format, ...) {
    if (m) {
        int used = 0;
        if (file && line > 0)
            used = snprintf(m->text, sizeof m->text, "%s:%d: ", file, line);
        else if (file)
            used = snprintf(m->text, sizeof m->text, "%s: ", file);
        if (used < 0 || (size_t)used >= sizeof m->text)
            used = 0;
        va_list args;
        va_start(args, format);
        vsnprintf(m->text + used, sizeof m->text - (size_t)used, format, args);
        va_end(args);
    }
    return ERR_INPUT;
}

int status_exit_code(status code) {
    static const int exit_codes[] = {
#define X(name, exit_code) [name] = exit_code,
        STATUS_LIST(X)
#undef X
    };
    return exit_codes[code];
}

#include "cmd/output.h"

static status list(outputs *o, message *m) {
    for (size_t i = 0; i < o->count; i++) {
        report_options options = {.format = o->list[i].format, .version = coalign_version()};
        TRY(output_written(&o->list[i], report_metrics(o->list[i].stream, &options, m)));
    }
    return outputs_commit(o, m);
}

status metrics_command(const arguments *args, message *m) {
    outputs o;
    status s = outputs_open(&o, args, m);
    if (s == OK)
        s = list(&o, m);
    outputs_close(&o);
    return s;
}

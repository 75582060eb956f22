#include "machine/opclass.h"

const char *op_class_name(op_class c) {
    static const char *const names[] = {
#define X(id, name, what) name,
        OP_CLASS_LIST(X)
#undef X
    };
    return names[c];
}

const char *pipe_name(pipe_id p) {
    static const char *const names[] = {
#define X(id, name) name,
        PIPE_LIST(X)
#undef X
    };
    return names[p];
}

const char *stall_metric(stall_reason r) {
    static const char *const names[] = {
#define X(id, metric, label) metric,
        STALL_LIST(X)
#undef X
    };
    return names[r];
}

const char *stall_label(stall_reason r) {
    static const char *const labels[] = {
#define X(id, metric, label) label,
        STALL_LIST(X)
#undef X
    };
    return labels[r];
}

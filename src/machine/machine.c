#include "machine/machine.h"

const char *coalesce_rule_name(coalesce_rule r) {
    static const char *const names[] = {
#define X(id, name) name,
        COALESCE_LIST(X)
#undef X
    };
    return names[r];
}

const char *isa_piece_name(isa_piece p) {
    static const char *const names[] = {
#define X(id, name) name,
        ISA_PIECE_LIST(X)
#undef X
    };
    return names[p];
}

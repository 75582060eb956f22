#include "kernel/mix.h"

uint32_t mix_count(const isa_mix *mix) {
    uint32_t count = 0;
    for (int i = 0; i < OP_CLASS_COUNT; i++)
        count += mix->count[i];
    return count;
}

op_class mix_next(const isa_mix *mix, const uint32_t emitted[OP_CLASS_COUNT], uint32_t done, uint32_t count) {
    op_class best = OP_INT;
    int64_t most = INT64_MIN;
    for (int i = 0; i < OP_CLASS_COUNT; i++) {
        int64_t due = (int64_t)mix->count[i] * (done + 1) - (int64_t)emitted[i] * count;
        if (emitted[i] < mix->count[i] && due > most) {
            most = due;
            best = (op_class)i;
        }
    }
    return best;
}

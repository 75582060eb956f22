#include "cmd/simulate.h"

#include "kernel/copy_kernel.h"
#include "sim/sim.h"

#include <stdio.h>

char *strategy_label(char *buffer, size_t size, const copy_options *o) {
    if (o->strategy != COPY_GENERAL) {
        snprintf(buffer, size, "%s", copy_strategy_name(o->strategy));
        return buffer;
    }
    static const char *const index[] = {[INDEX_64] = "", [INDEX_32] = " 32-bit", [INDEX_INVARIANT] = " invariant"};
    char each[16] = "";
    if (o->elements_per_thread > 1)
        snprintf(each, sizeof each, " x%u", (unsigned)o->elements_per_thread);
    snprintf(buffer, size, "%s%s%s%s%s", copy_strategy_name(o->strategy), o->sorted ? " sorted" : "", index[o->index],
             each, o->collapse ? " collapsed" : "");
    return buffer;
}

status simulate_copy(const machine *mach, const copy_desc *copy, const copy_options *options, int64_t src_base,
                     int64_t dst_base, const arguments *args, progress *p, run_record *r, message *m) {
    kernel k = {0};
    status s = copy_kernel_build(mach, copy, options, src_base, dst_base, &k, m);
    if (s == OK) {
        r->mach = mach;
        r->block_threads = k.block_threads;
        r->registers = k.registers;
        r->shared_bytes = k.shared_bytes;
        r->element_bytes = k.element_bytes;
        r->elements = k.elements;
        r->useful_bytes = k.useful_bytes;
        sim_options o = {.threads = args->threads,
                         .sample = !args->exact,
                         .check = true,
                         .progress = progress_show,
                         .progress_context = p};
        s = sim_run(mach, &k, &o, &r->sim, m);
    }
    kernel_free(&k);
    return s;
}

#include "cmd/simulate.h"

#include "base/num.h"
#include "kernel/copy_kernel.h"
#include "sim/pattern_run.h"
#include "sim/steady.h"

#include <math.h>
#include <stdio.h>

char *strategy_label(char *buffer, size_t size, const copy_options *o) {
    char cores[24] = "", tile[32] = "";
    if (o->cores > 1)
        snprintf(cores, sizeof cores, " %u cores", (unsigned)o->cores);
    if (o->tile)
        snprintf(tile, sizeof tile, " %ux%u", (unsigned)o->tile, (unsigned)o->tile);
    if (o->strategy != COPY_GENERAL) {
        snprintf(buffer, size, "%s%s%s%s", copy_strategy_name(o->strategy), tile, o->nontemporal ? " past caches" : "",
                 cores);
        return buffer;
    }
    static const char *const index[] = {[INDEX_64] = "", [INDEX_32] = " 32-bit", [INDEX_INVARIANT] = " invariant"};
    char each[16] = "";
    if (o->elements_per_thread > 1)
        snprintf(each, sizeof each, " x%u", (unsigned)o->elements_per_thread);
    snprintf(buffer, size, "%s%s%s%s%s%s", copy_strategy_name(o->strategy), o->sorted ? " sorted" : "", index[o->index],
             each, o->collapse ? " collapsed" : "", cores);
    return buffer;
}

char *pattern_label(char *buffer, size_t size, const pattern *p) {
    char stride[48] = "", cores[24] = "", each[32];
    format_bytes(each, sizeof each, p->stride_bytes);
    if (p->kind != PATTERN_CHASE && p->stride_bytes != p->access_bytes)
        snprintf(stride, sizeof stride, " every %s", each);
    if (p->threads > 1)
        snprintf(cores, sizeof cores, " %u cores", (unsigned)p->threads);
    snprintf(buffer, size, "%s %u B%s%s%s%s", pattern_kind_name(p->kind), (unsigned)p->access_bytes, stride,
             p->random ? " random" : "", p->nontemporal ? " past caches" : "", cores);
    return buffer;
}

static sim_options options_of(const arguments *args, progress *p) {
    return (sim_options){.threads = args->threads,
                         .sample = !args->exact,
                         .check = true,
                         .progress = progress_show,
                         .progress_context = p};
}

status simulate_pattern(const machine *mach, const pattern *what, uint64_t accesses, const arguments *args, progress *p,
                        run_record *r, message *m) {
    const sim_options o = options_of(args, p);
    uint64_t done = 0;
    TRY(pattern_run(mach, what, accesses, &o, &r->sim, &done, m));
    r->mach = mach;
    r->block_threads = 1;
    r->element_bytes = what->access_bytes;
    r->elements = done;
    r->useful_bytes = done * what->access_bytes * (what->kind == PATTERN_COPY ? 2 : 1);
    return OK;
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
        const sim_options o = options_of(args, p);
        s = sim_run(mach, &k, &o, &r->sim, m);
    }
    kernel_free(&k);
    return s;
}

/* So much shared memory that a core holds `blocks` blocks and no more. */
static void limit_residency(const machine *mach, uint32_t blocks, kernel *k) {
    const uint32_t granule = mach->core.shared_granule_bytes ? mach->core.shared_granule_bytes : 1;
    const uint32_t share = blocks ? mach->core.shared_bytes / blocks / granule * granule : 0;
    if (share > k->shared_bytes)
        k->shared_bytes = share;
}

static status run_body(const machine *mach, const body *b, const experiment_case *what, const sim_options *o,
                       run_record *r, sim_result *result, message *m) {
    lowered code;
    status s = lower(mach, b, "body", &what->lowering, &code, m);
    if (s == OK) {
        kernel *k = &code.k;
        limit_residency(mach, what->resident_blocks, k);
        r->block_threads = k->block_threads;
        r->registers = k->registers;
        r->shared_bytes = k->shared_bytes;
        s = sim_run(mach, k, o, result, m);
    }
    lowered_free(&code);
    return s;
}

status simulate_body(const machine *mach, const experiment_case *what, const arguments *args, progress *p,
                     run_record *r, message *m) {
    sim_options o = options_of(args, p);
    sim_result warm;
    if (mach->kind != MACHINE_GPU)
        return fail(m, ERR_INPUT, "%s is a CPU; loop bodies are for GPUs", mach->name);
    r->mach = mach;
    o.sample = o.sample && !what->warmed;
    if (what->warmed)
        TRY(run_body(mach, &what->warm, what, &o, r, &warm, m));
    TRY(run_body(mach, &what->body, what, &o, r, &r->sim, m));
    if (what->warmed)
        steady_difference(mach, &r->sim, &warm);
    r->element_bytes = 1;
    r->elements = r->sim.useful_bytes[0] + r->sim.useful_bytes[1];
    r->useful_bytes = (uint64_t)llround(what->counted * (double)r->elements);
    return OK;
}

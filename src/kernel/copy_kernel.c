#include "kernel/copy_kernel.h"

#include "base/num.h"
#include "kernel/copy_build.h"
#include "kernel/cpu_copy.h"

#include <stdio.h>
#include <string.h>

static status build_nothing(copy_build *b) {
    b->k->block_threads = b->mach->kind == MACHINE_CPU ? 1 : FLAT_BLOCK;
    b->k->registers = 16;
    return emit_exit(b);
}

static status build(copy_build *b, const copy_options *options) {
    copy_strategy strategy = options->strategy;
    if (strategy >= COPY_STRATEGY_COUNT)
        return fail(b->m, ERR_INPUT, "There is no copy strategy %d.", (int)strategy);
    if (copy_elements(b->copy) == 0)
        return build_nothing(b);
    plan_options any = plan_options_default();
    any.contiguous = CONTIGUITY_IGNORE_SINGLETONS;
    transpose_shape t;
    plan_text why;
    if (!plan_applicable(b->copy, strategy, &any, &t, &why))
        return fail(b->m, ERR_INPUT, "%s cannot do this copy: %s.", copy_strategy_name(strategy), why.text);
    if (b->mach->kind == MACHINE_CPU)
        return cpu_copy_build(b, options, &t);
    if (options->nontemporal || options->tile || options->cores > 1)
        return fail(b->m, ERR_INPUT, "Non-temporal stores, tiles of one's own and a number of cores are for CPUs.");
    switch (strategy) {
    case COPY_MEMCPY:
        return build_memcpy(b);
    case COPY_GENERAL:
        return build_general(b, options);
    case COPY_TRANSPOSE_SMALL:
    case COPY_TRANSPOSE_NAIVE:
        return build_flat_transpose(b, strategy, &t);
    case COPY_TRANSPOSE_LOW_WIDTH:
    case COPY_TRANSPOSE_LOW_HEIGHT:
        return build_low(b, strategy, &t);
    default:
        return build_tile(b, strategy, &t);
    }
}

/* The same name for all machines: what CPUs make of it is in cpu_copy.h. */
static void name_kernel(const copy_options *options, kernel *k) {
    if (options->strategy >= COPY_STRATEGY_COUNT)
        return;
    if (options->strategy != COPY_GENERAL) {
        snprintf(k->name, sizeof k->name, "%s", copy_strategy_name(options->strategy));
        return;
    }
    snprintf(k->name, sizeof k->name, "general%s%s index_%s x%u", options->sorted ? " sorted" : "",
             options->collapse ? " collapsed" : "",
             options->index <= INDEX_INVARIANT ? index_variant_name(options->index) : "?",
             options->elements_per_thread);
}

status copy_kernel_build(const machine *mach, const copy_desc *copy, const copy_options *options, int64_t src_base,
                         int64_t dst_base, kernel *k, message *m) {
    memset(k, 0, sizeof *k);
    name_kernel(options, k);
    TRY(copy_check(copy, m));
    copy_build b = {.k = k, .mach = mach, .m = m, .copy = copy, .src_base = src_base, .dst_base = dst_base};
    k->elements = (uint64_t)copy_elements(copy);
    k->element_bytes = copy->element_bytes;
    if (!mul_u64(2 * (uint64_t)copy->element_bytes, k->elements, &k->useful_bytes))
        return fail(m, ERR_INPUT, "The copy moves more than 2^64 bytes.");
    TRY(build(&b, options));
    return ir_check(k, m);
}

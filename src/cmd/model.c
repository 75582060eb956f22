#include "base/mem.h"
#include "cmd/case.h"
#include "cmd/output.h"
#include "config/machine_config.h"
#include "kernel/copy_kernel.h"
#include "report/factor_report.h"
#include "report/model_report.h"

typedef struct modelled {
    experiment experiment;
    run_case *cases;
    model_record *records;
    balance balance;
    factor_record factoring;
} modelled;

static status only_gpus(const machine *mach, message *m) {
    return mach->kind == MACHINE_GPU
               ? OK
               : fail(m, ERR_INPUT, "%s is a CPU: its bounds are not modelled yet; simulate it with `coalign run`",
                      mach->name);
}

static status model_case(const machine *mach, const run_case *c, model_record *r, message *m) {
    const copy_desc *copy = &c->what->copy;
    kernel k = {0};
    *r = (model_record){.case_name = c->what->name,
                        .strategy = c->strategy,
                        .dataset = c->what->dataset,
                        .mach = mach,
                        .measured_us = c->what->measured_us};
    const model_array arrays[] = {
        {.element_bytes = copy->element_bytes, .layout = copy->src, .base = c->src_base},
        {.store = true, .element_bytes = copy->element_bytes, .layout = copy->dst, .base = c->dst_base}};
    status s = copy_kernel_build(mach, copy, &c->options, c->src_base, c->dst_base, &k, m);
    if (s == OK)
        s = model_of(mach, &k, arrays, 2, &r->model, m);
    kernel_free(&k);
    return case_with_place(s, c->what, m);
}

static status model_all(modelled *x, const arguments *args, message *m) {
    const config_overrides overrides = {args->defines, args->define_count};
    TRY(experiment_load(args->operands[0], args->machine, &overrides, &x->experiment, m));
    TRY(only_gpus(&x->experiment.mach, m));
    const size_t count = x->experiment.case_count;
    x->cases = mem_zero(count, sizeof *x->cases);
    x->records = mem_zero(count, sizeof *x->records);
    if (!x->cases || !x->records)
        return fail(m, ERR_MEMORY, "not enough memory for %zu cases", count);
    for (size_t i = 0; i < count; i++) {
        TRY(case_prepare(&x->cases[i], &x->experiment.cases[i], m));
        TRY(model_case(&x->experiment.mach, &x->cases[i], &x->records[i], m));
    }
    return OK;
}

static status load_machine(modelled *x, const arguments *args, message *m) {
    const config_overrides overrides = {args->defines, args->define_count};
    if (!args->operand_count && !args->machine)
        return fail(m, ERR_INPUT, "model --balance needs a machine: -m NAME, or a CONFIG that names one");
    if (args->operand_count)
        TRY(experiment_load(args->operands[0], args->machine, &overrides, &x->experiment, m));
    else
        TRY(machine_load_with(args->machine, &overrides, &x->experiment.mach, m));
    return only_gpus(&x->experiment.mach, m);
}

static status factor(modelled *x, const arguments *args, message *m) {
    const config_overrides overrides = {args->defines, args->define_count};
    const machine *mach = &x->experiment.mach;
    if (!args->operand_count)
        return fail(m, ERR_INPUT, "model --factoring needs a CONFIG with a section 'factoring'");
    TRY(experiment_load(args->operands[0], args->machine, &overrides, &x->experiment, m));
    if (!x->experiment.factoring)
        return fail(m, ERR_INPUT, "%s: there is no section 'factoring'; see configs/data_factoring.cfg",
                    args->operands[0]);
    x->factoring.mach = mach;
    x->factoring.f = x->experiment.factoring;
    for (uint32_t l = 0; l < mach->level_count; l++)
        TRY(factor_cache(x->factoring.f, &mach->level[l], x->factoring.count[l], m));
    return OK;
}

static status print(const modelled *x, const arguments *args, const output *o, message *m) {
    const report_options options = output_options(o, args, x->experiment.title);
    if (args->balance)
        return report_balance(o->stream, &options, &x->experiment.mach, &x->balance, m);
    if (args->factoring)
        return report_factoring(o->stream, &options, &x->factoring, m);
    return report_models(o->stream, &options, x->records, x->experiment.case_count, m);
}

static status run(modelled *x, outputs *o, const arguments *args, message *m) {
    if (args->balance && args->factoring)
        return fail(m, ERR_INPUT, "--balance and --factoring are different reports: ask for one");
    if (args->balance) {
        TRY(load_machine(x, args, m));
        balance_of(&x->experiment.mach, &x->balance);
    } else if (args->factoring) {
        TRY(factor(x, args, m));
    } else if (!args->operand_count) {
        return fail(m, ERR_INPUT, "model needs a CONFIG, or --balance and a machine; see: coalign help model");
    } else {
        TRY(model_all(x, args, m));
    }
    TRY(outputs_open(o, args, m));
    for (size_t i = 0; i < o->count; i++)
        TRY(output_written(&o->list[i], print(x, args, &o->list[i], m)));
    return outputs_commit(o, m);
}

status model_command(const arguments *args, message *m) {
    modelled *x = mem_zero(1, sizeof *x);
    outputs o = {0};
    status s = x ? run(x, &o, args, m) : fail(m, ERR_MEMORY, "not enough memory");
    outputs_close(&o);
    if (x) {
        experiment_free(&x->experiment);
        mem_free(x->cases);
        mem_free(x->records);
    }
    mem_free(x);
    return s;
}

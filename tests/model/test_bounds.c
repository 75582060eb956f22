/* No run is faster than any bound: every case of the shipped configurations, shrunk, on every machine; and bounds that
 * are known by hand. */
#include "base/mem.h"
#include "base/num.h"
#include "cmd/place.h"
#include "cmd/shrink.h"
#include "config/experiment_config.h"
#include "config/machine_config.h"
#include "kernel/copy_kernel.h"
#include "model/model.h"
#include "sim/sim.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct modelled {
    model m;
    sim_result sim;
} modelled;

static uint32_t arrays_of(const copy_desc *c, int64_t src, int64_t dst, model_array *a) {
    a[0] = (model_array){.element_bytes = c->element_bytes, .layout = c->src, .base = src};
    a[1] = (model_array){.store = true, .element_bytes = c->element_bytes, .layout = c->dst, .base = dst};
    return 2;
}

static void check_case(const machine *mach, const experiment_case *what, int64_t elements_max, double *nearest) {
    message m = {{0}};
    copy_desc copy = what->copy, smaller;
    while (copy_elements(&copy) > elements_max && shrink_copy(&copy, 2, &smaller))
        copy = smaller;
    int64_t src = 0, dst = 0;
    cr_assert_eq(place_copy(&copy, false, &src, &dst, &m), OK, "%s", m.text);
    kernel k = {0};
    if (copy_kernel_build(mach, &copy, &what->options, src, dst, &k, &m) == OK) {
        model_array arrays[2];
        model *model_result = mem_zero(1, sizeof *model_result);
        sim_result sim;
        const uint32_t n = arrays_of(&copy, src, dst, arrays);
        const sim_options o = {.threads = 1, .sample = true, .check = true};
        cr_assert_eq(model_of(mach, &k, arrays, n, model_result, &m), OK, "%s", m.text);
        cr_assert_eq(sim_run(mach, &k, &o, &sim, &m), OK, "%s", m.text);
        cr_assert_gt(model_result->bound_count, 5);
        for (uint32_t i = 0; i < model_result->bound_count; i++) {
            char label[64];
            const bound *b = &model_result->bound[i];
            cr_expect_leq(b->cycles, (double)sim.cycles, "%s on %s: %s bound %.0f, simulated %lu cycles", what->name,
                          mach->id, bound_label(label, sizeof label, mach, b), b->cycles, (unsigned long)sim.cycles);
        }
        const double near = model_result->cycles / (double)sim.cycles;
        if (getenv("SHOW")) {
            char label[64];
            fprintf(stderr, "%-10s %-36s %8lu cycles, %5.3f %s\n", mach->id, what->name, (unsigned long)sim.cycles,
                    near, bound_label(label, sizeof label, mach, &model_result->bound[0]));
        }
        *nearest = near > *nearest ? near : *nearest;
        mem_free(model_result);
    }
    kernel_free(&k);
}

static void check_config(const char *path, int64_t elements_max) {
    static const char *const machines[] = {"v100", "a100-40", "a100-80", "rx7900xt", "g80", "gt200"};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        experiment e = {0};
        message m = {{0}};
        const config_overrides none = {NULL, 0};
        double nearest = 0;
        cr_assert_eq(experiment_load(path, machines[i], &none, &e, &m), OK, "%s", m.text);
        for (size_t k = 0; k < e.case_count; k++)
            check_case(&e.mach, &e.cases[k], elements_max, &nearest);
        /* And the bounds are not idle: the best of them comes near. */
        cr_expect_gt(nearest, 0.4, "%s: no bound above %.2f of a simulated time", machines[i], nearest);
        experiment_free(&e);
    }
}

Test(bounds, copy_strategies, .timeout = 120) {
    check_config("configs/copy_strategies.cfg", 1 << 17);
}

Test(bounds, futhark_copies, .timeout = 120) {
    check_config("configs/futhark_copy.cfg", 1 << 16);
}

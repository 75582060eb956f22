#include "report/plan_report.h"
#include "sample.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A plan whose choice, "general sorted", needs `choice_us` and is simulated beside another strategy of 100 us; each
 * time is known to +-`half_us`. The text at `width` columns; free it. */
static char *plan_text_of(double choice_us, double half_us, size_t width) {
    static machine mach;
    mach = sample_machine();
    mach.launch_overhead_s = 7e-6;
    run_record runs[] = {sample_record(&mach), sample_record(&mach)};
    size_t chosen = choice_us > 100;
    runs[chosen].strategy = "general sorted";
    runs[!chosen].strategy = "transpose_default";
    runs[chosen].sim.time_s = choice_us * 1e-6;
    runs[!chosen].sim.time_s = 100e-6;
    for (size_t i = 0; i < 2; i++) {
        runs[i].sim.time_half_s = half_us * 1e-6;
        runs[i].sim.blocks = half_us > 0 ? 4 : 2;
    }
    plan_size sizes[] = {{.elements = 1000000, .fastest_us = 100, .launch_us = 7, .choice_us = choice_us},
                         {.elements = 1000, .fastest_us = 10, .launch_us = 7, .choice_us = NAN}};
    snprintf(sizes[0].fastest, sizeof sizes[0].fastest, "%s", runs[0].strategy);
    snprintf(sizes[1].fastest, sizeof sizes[1].fastest, "memcpy");
    const plan_refusal refusals[] = {{"memcpy", "a reason that is long enough to be broken over two lines of eighty"},
                                     {"transpose_small", "another"},
                                     {"transpose_naive", "another"}};
    static copy_plan plan;
    plan = (copy_plan){.options = {.strategy = COPY_GENERAL}, .elements = 1000000};
    snprintf(plan.reason.text, sizeof plan.reason.text, "general: nothing else can do it");
    const plan_record p = {.dataset = "[1000][1000]i32",
                           .src = "[(1000,1),(1000,1000)]",
                           .dst = "[(1000,1000),(1000,1)]",
                           .element_bytes = 4,
                           .plan = &plan,
                           .choice = "general sorted",
                           .chosen = &runs[chosen],
                           .runs = runs,
                           .run_count = 2,
                           .sizes = sizes,
                           .size_count = 2,
                           .refusals = refusals,
                           .refusal_count = 3,
                           .machine = true};
    const report_options options = {.format = REPORT_TEXT, .width = width};
    char *text = NULL;
    size_t size = 0;
    message m;
    FILE *out = open_memstream(&text, &size);
    cr_assert_eq(report_plan(out, &options, &p, &m), OK);
    fclose(out);
    return text;
}

Test(plan_report, names_the_fastest_and_how_sure_that_is) {
    static const struct {
        double choice_us, half_us;
        const char *says;
    } cases[] = {
        {90, 0, "\nThe plan's choice (general sorted) is the fastest.\n"},
        {90, 20, "\nThe plan's choice (general sorted) is the fastest.\n"},
        {150, 0, "\nFastest: transpose_default, 1.50 times as fast as the plan's choice (general sorted).\n"},
        {150, 24, "\nFastest: transpose_default, 1.50 times as fast as the plan's choice (general sorted).\n"},
        {150, 26,
         "\nFastest: transpose_default, but its lead over the plan's choice (general sorted) is within the\n"
         "sampling error.\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = plan_text_of(cases[i].choice_us, cases[i].half_us, REPORT_WIDTH);
        cr_expect_not_null(strstr(text, cases[i].says), "case %zu:\n%s", i, text);
        free(text);
    }
}

Test(plan_report, crossovers_and_refusals) {
    char *text = plan_text_of(150, 5, REPORT_WIDTH);
    static const char *const says[] = {
        "\nSomewhere between 1 000 000 and 1 000 elements launch overhead becomes most of the time.\n",
        "\n  transpose_small, transpose_naive\n      another\n", /* one reason, one paragraph */
        "n/a",                                                   /* the choice cannot do the smaller size */
    };
    for (size_t i = 0; i < sizeof says / sizeof *says; i++)
        cr_expect_not_null(strstr(text, says[i]), "%s\n%s", says[i], text);
    free(text);
}

Test(plan_report, fits_its_width) {
    for (size_t width = 80; width <= 100; width += 20) {
        char *text = plan_text_of(150, 26, width);
        for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
            size_t columns = 0;
            for (const char *p = line; *p != '\n'; p++)
                columns += ((unsigned char)*p & 0xc0) != 0x80;
            cr_expect_leq(columns, width, "%zu columns:\n%s", width, text);
        }
        free(text);
    }
}

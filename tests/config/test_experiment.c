#include "base/mem.h"
#include "config/experiment_config.h"
#include "config_test.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const config_overrides none = {NULL, 0};

/* The 16 rows of the config are those of the measured table, in its order. */
Test(experiment, futhark_copy_is_the_published_table) {
    experiment e;
    message m = {{0}};
    cr_assert_eq(experiment_load("configs/futhark_copy.cfg", NULL, &none, &e, &m), OK, "%s", m.text);
    cr_assert_eq(e.case_count, 16);
    cr_expect_str_eq(e.mach.id, "rx7900xt");
    FILE *f = fopen("models/measured/futhark_copy_rx7900xt.csv", "r");
    cr_assert(f);
    char line[256];
    size_t row = 0;
    while (fgets(line, sizeof line, f)) {
        char entry[32], shape[64], wanted[128];
        int sorted = 0;
        double us = 0, low = 0, high = 0;
        if (sscanf(line, "RX 7900 XT,hip,%31[^,],%63[^,],i32,%d,%lf,%lf,%lf", entry, shape, &sorted, &us, &low,
                   &high) != 6)
            continue;
        cr_assert_lt(row, e.case_count);
        const experiment_case *c = &e.cases[row++];
        snprintf(wanted, sizeof wanted, "%s %s %s", entry, shape, sorted ? "sorted" : "unsorted");
        cr_expect_str_eq(c->name, wanted);
        cr_expect_eq(c->options.sorted, sorted == 1);
        cr_expect_eq(c->options.strategy, COPY_GENERAL);
        cr_expect_eq(c->options.index, INDEX_64);
        cr_expect_eq(c->measured_us, us);
        cr_expect_eq(c->measured_low_us, low);
        cr_expect_eq(c->measured_high_us, high);
        cr_expect_eq(copy_elements(&c->copy), INT64_C(1) << 26, "%s", c->name); /* the post: each row moves 2^26 */
        cr_expect_eq(c->copy.element_bytes, 4);
    }
    fclose(f);
    cr_expect_eq(row, 16);
    experiment_free(&e);
}

Test(experiment, copy_strategies_loads) {
    experiment e;
    message m = {{0}};
    cr_assert_eq(experiment_load("configs/copy_strategies.cfg", NULL, &none, &e, &m), OK, "%s", m.text);
    cr_expect_eq(e.case_count, 6);
    for (size_t i = 0; i < e.case_count; i++)
        cr_expect(isnan(e.cases[i].measured_us) && !e.cases[i].placed);
    experiment_free(&e);
}

static const char sample[] =
    "title = \"a sample\";\n"
    "machine = \"v100\";\n"
    "machine_overrides = (\"levels.L2.ways=12\", \"clock_MHz=1000\");\n"
    "defaults = { dataset = \"[32][64]f32\"; elements_per_thread = 2; sorted = false; };\n"
    "cases = (\n"
    "    { view = \"transpose\"; },\n"
    "    { name = \"by layout\"; shape = \"[8][8]u16\"; src = \"1:[(8,9),(8,1)]\"; strategy = \"general\";\n"
    "      index = 32; elements_per_thread = 4; sorted = true; signed_sort = true; collapse = true;\n"
    "      src_base_bytes = 4096; dst_base_bytes = \"1 GiB\"; measured_us = 2; measured_ci95_us = [1.5, 2.5]; },\n"
    "    { strategy = \"memcpy\"; }\n"
    ");\n";

Test(experiment, every_key) {
    test_directory d;
    make_directory(&d);
    const char *path = write_file(&d, "a.cfg", sample);
    experiment e;
    message m = {{0}};
    cr_assert_eq(experiment_load(path, NULL, &none, &e, &m), OK, "%s", m.text);
    cr_expect_str_eq(e.title, "a sample");
    cr_expect_eq(e.mach.clock_hz, 1e9);
    cr_expect_eq(e.mach.level[1].ways, 12);
    cr_assert_eq(e.case_count, 3);

    const experiment_case *c = &e.cases[0];
    cr_expect_str_eq(c->name, "transpose [32][64]f32");
    cr_expect(c->automatic && !c->placed);
    cr_expect_eq(c->options.strategy, COPY_TRANSPOSE_DEFAULT);
    char place[EXPERIMENT_PLACE_MAX];
    snprintf(place, sizeof place, "%s:6", path);
    cr_expect_str_eq(c->place, place);

    c = &e.cases[1];
    cr_expect_str_eq(c->name, "by layout");
    cr_expect(!c->automatic && c->placed && c->src_base == 4096 && c->dst_base == 1 << 30);
    cr_expect(c->options.strategy == COPY_GENERAL && c->options.index == INDEX_32 && c->options.sorted);
    cr_expect(c->options.elements_per_thread == 4 && c->options.signed_sort && c->options.collapse);
    cr_expect(c->copy.element_bytes == 2 && c->copy.src.offset == 1 && c->copy.src.stride[0] == 9);
    cr_expect(c->copy.dst.offset == 0 && c->copy.dst.stride[0] == 8 && c->copy.dst.stride[1] == 1);
    cr_expect(c->measured_us == 2 && c->measured_low_us == 1.5 && c->measured_high_us == 2.5);

    c = &e.cases[2];
    cr_expect(c->options.strategy == COPY_MEMCPY && c->options.elements_per_thread == 2 && !c->options.sorted);
    experiment_free(&e);

    /* The command line wins over the file, for the machine too. */
    static const char *const assignments[] = {
        "machine.clock_MHz=1200",          "cases.0.strategy=transpose_naive",
        "cases.by layout.index=invariant", "title=other",
        "machine.levels.L2.ways=16",
    };
    const config_overrides overrides = {assignments, 5};
    cr_assert_eq(experiment_load(path, "a100-40", &overrides, &e, &m), OK, "%s", m.text);
    cr_expect_str_eq(e.mach.id, "a100-40");
    cr_expect_eq(e.mach.clock_hz, 1.2e9);
    cr_expect_eq(e.cases[0].options.strategy, COPY_TRANSPOSE_NAIVE);
    cr_expect_eq(e.cases[1].options.index, INDEX_INVARIANT);
    cr_expect_str_eq(e.title, "other");
    experiment_free(&e);
    remove_directory(&d);
}

/* Empty work is legal. */
Test(experiment, nothing_to_do) {
    test_directory d;
    make_directory(&d);
    experiment e;
    message m = {{0}};
    cr_assert_eq(experiment_load(write_file(&d, "a.cfg", "machine = \"v100\"; cases = ();"), NULL, &none, &e, &m), OK,
                 "%s", m.text);
    cr_expect_eq(e.case_count, 0);
    experiment_free(&e);
    cr_assert_eq(
        experiment_load(write_file(&d, "a.cfg", "machine = \"v100\"; cases = ({ dataset = \"[0][32]i32\"; });"), NULL,
                        &none, &e, &m),
        OK, "%s", m.text);
    cr_expect_eq(e.cases[0].options.strategy, COPY_NOTHING);
    experiment_free(&e);
    remove_directory(&d);
}

/* One fault each, on line 3; %: the path of the file. */
Test(experiment, faults) {
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"{ datset = \"[8]i32\"; }", "%:3: unknown key 'datset' in case 0; did you mean 'dataset'?"},
        {"{ name = \"x\"; }", "%:3: case 'x' lacks the key 'dataset'"},
        {"{ src = \"[(8,1)]\"; }", "%:3: case 0 lacks the key 'shape'"},
        {"{ dataset = \"[8]i32\"; src = \"[(8,1)]\"; }",
         "%:3: case 0 mixes 'dataset', 'view', 'permutation' with 'shape', 'src', 'dst': use one set"},
        {"{ dataset = \"[8]i32\"; strategy = \"genral\"; }",
         "%:3: 'strategy' does not know \"genral\"; did you mean 'general'?"},
        {"{ dataset = \"[8]i32\"; index = 16; }", "%:3: 'index' does not know \"16\"; known: 64, 32, invariant"},
        {"{ dataset = \"[8]i32\"; elements_per_thread = 3; }",
         "%:3: 'elements_per_thread' must be 1, 2, 4 or 8; it is 3"},
        {"{ dataset = \"[8]i32\"; elements_per_thread = 16; }", "%:3: 'elements_per_thread' must be 1 .. 8; it is 16"},
        {"{ dataset = \"[8]i32\"; sorted = 1; }", "%:3: 'sorted' must be true or false, not a whole number"},
        {"{ dataset = \"[8]i32\"; src_base_bytes = 0; }",
         "%:3: give both 'src_base_bytes' and 'dst_base_bytes' or neither"},
        {"{ dataset = \"[8]i32\"; measured_us = -1.0; }", "%:3: 'measured_us' must be 1e-06 .. 1e+15; it is -1"},
        {"{ dataset = \"[8]i32\"; measured_ci95_us = [1.0, 2.0]; }", "%:3: 'measured_ci95_us' without 'measured_us'"},
        {"{ dataset = \"[8]i32\"; measured_us = 3; measured_ci95_us = [1.0, 2.0]; }",
         "%:3: 'measured_us' = 3 lies outside 'measured_ci95_us' = [1, 2]"},
        {"{ dataset = \"[8]i32\"; measured_us = 3; measured_ci95_us = [1.0]; }",
         "%:3: 'measured_ci95_us' has 1 entries; write [low, high]"},
        {"{ shape = \"[8]i32\"; src = \"[(9,1)]\"; }", "%:3: 'src': the sizes are not those of 'shape', [8]i32"},
        {"\"a text\"", "%:3: case 0 must be a group { }, not a text"},
    };
    static const char *const starts[] = {
        /* the layout room's own words follow */
        "{ dataset = \"[-8]i32\"; }",
        "'dataset': column",
        "{ dataset = \"[8]i33\"; }",
        "'dataset': column",
        "{ dataset = \"[8][8]i32\"; view = \"slice_2\"; }",
        "'view': ",
        "{ dataset = \"[8][8]i32\"; view = \"transpose\"; permutation = \"{0}\"; }",
        "'permutation': column 1: ",
        "{ dataset = \"[4294967296][4294967296]i32\"; }",
        "",
        "{ shape = \"[8][8]i32\"; src = \"[(8,8),(8\"; }",
        "'src': column",
        "{ dataset = \"[8][8]i32\"; strategy = \"transpose_default\"; }",
        "'transpose_default' cannot do this copy: ",
        "{ dataset = \"[65536][65536]i32\"; strategy = \"general\"; index = \"32\"; }",
        "'32' indices cannot do this copy: ",
    };
    test_directory d;
    make_directory(&d);
    char text[2048], wanted[1024];
    experiment e;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "machine = \"v100\";\ncases = (\n%s\n);\n", cases[i].line);
        const char *path = write_file(&d, "a.cfg", text);
        message m = {{0}};
        cr_expect_eq(experiment_load(path, NULL, &none, &e, &m), ERR_INPUT, "%s", cases[i].line);
        snprintf(wanted, sizeof wanted, "%s%s", path, cases[i].message + 1);
        cr_expect_str_eq(m.text, wanted);
        experiment_free(&e);
    }
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i += 2) {
        snprintf(text, sizeof text, "machine = \"v100\";\ncases = (\n%s\n);\n", starts[i]);
        const char *path = write_file(&d, "a.cfg", text);
        message m = {{0}};
        cr_expect_eq(experiment_load(path, NULL, &none, &e, &m), ERR_INPUT, "%s", starts[i]);
        snprintf(wanted, sizeof wanted, "%s:3: %s", path, starts[i + 1]);
        cr_expect_eq(strncmp(m.text, wanted, strlen(wanted)), 0, "%s", m.text);
        cr_expect_gt(strlen(m.text), strlen(wanted) + 8);
        experiment_free(&e);
    }
    remove_directory(&d);
}

/* Faults of the machine are reported where the config names or changes it. */
Test(experiment, machine_faults) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"cases = ();\n", "%: the file names no 'machine'; add one or use -m"},
        {"machine = \"v100\";\n", "%: the file lacks the key 'cases'"},
        {"\nmachine = \"v1000\"; cases = ();\n", "%:2: unknown machine 'v1000'; did you mean 'v100'?"},
        {"machine = \"v100\"; cases = ();\nmachine_overrides = (\n\"levels.L2.ways=12\",\n\"levels.L2.wys=3\"\n);\n",
         "%:4: unknown key 'wys' in level 'L2'; did you mean 'ways'?"},
        {"machine = \"v100\"; cases = ();\nmachine_overrides = (5);\n",
         "%:2: entry 0 of 'machine_overrides' must be a text such as \"levels.L2.ways=8\""},
        {"machine = \"v100\"; cases = ();\ndefaults = { name = \"x\"; };\n",
         "%:2: unknown key 'name' in 'defaults'; known: dataset, view, permutation, shape, src, dst, strategy, index, "
         "elements_per_thread, sorted, signed_sort, collapse, nontemporal, tile, cores, src_base_bytes, "
         "dst_base_bytes, "
         "pattern, working_set, access_bytes, stride_bytes, thread_bytes, accesses, random, stagger, body, params, warm_params, "
         "x, resident_blocks, unroll, vector, window, max_registers, no_alias, counted"},
    };
    test_directory d;
    make_directory(&d);
    char wanted[1024];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = write_file(&d, "a.cfg", cases[i].text);
        experiment e;
        message m = {{0}};
        cr_expect_eq(experiment_load(path, NULL, &none, &e, &m), ERR_INPUT, "%s", cases[i].text);
        snprintf(wanted, sizeof wanted, "%s%s", path, cases[i].message + 1);
        cr_expect_str_eq(m.text, wanted);
        experiment_free(&e);
    }
    remove_directory(&d);
}

Test(experiment, out_of_memory) {
    test_directory d;
    make_directory(&d);
    const char *path = write_file(&d, "a.cfg", sample);
    static const char *const assignments[] = {"machine.clock_MHz=1200", "cases.0.strategy=auto"};
    const config_overrides overrides = {assignments, 2};
    status st = ERR_MEMORY;
    for (size_t n = 1; st == ERR_MEMORY; n++) {
        experiment e;
        message m = {{0}};
        cr_assert_lt(n, 1000);
        mem_fail_after(n);
        st = experiment_load(path, NULL, &overrides, &e, &m);
        mem_fail_after(0);
        cr_expect(st == OK || (st == ERR_MEMORY && m.text[0]), "allocation %zu: %s", n, m.text);
        experiment_free(&e);
    }
    cr_expect_eq(st, OK);
    remove_directory(&d);
}

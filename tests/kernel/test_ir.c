#include "fixture.h"
#include "kernel/interpret.h"

#include <criterion/criterion.h>
#include <string.h>

/* A kernel with everything: two nested loops around a load and a store behind a bound, an exit test before them. */
static kernel sample(void) {
    message m;
    kernel k = {.name = "sample", .blocks = 10, .block_threads = 64, .registers = 16, .shared_bytes = 1024};
    uint32_t thread = 0, turn = 0;
    uint16_t load = 0, store = 0, id = 0;
    cr_assert_eq(ir_add_index(&k, (ir_index){.per_thread = 1, .per_block = 64}, &thread, &m), OK);
    cr_assert_eq(ir_add_index(&k, (ir_index){.per_loop = {3, 1}}, &turn, &m), OK);
    cr_assert_eq(ir_add_term(&k, (ir_term){.index = thread, .div = 1, .mul = 4}, &m), OK);
    cr_assert_eq(ir_add_term(&k, (ir_term){.index = turn, .div = 1, .mod = 100, .mul = 4096}, &m), OK);
    cr_assert_eq(ir_add_bound(&k, (ir_bound){.first_term = 0, .terms = 1, .limit = 2500}, &m), OK);
    ir_access a = {.bytes = 4, .base = 1 << 20, .first_term = 0, .terms = 2, .bounds = 1};
    cr_assert_eq(ir_add_access(&k, a, &load, &m), OK);
    a.base = 1 << 24;
    cr_assert_eq(ir_add_access(&k, a, &store, &m), OK);
    a.terms = 1;
    cr_assert_eq(ir_add_access(&k, a, &id, &m), OK);
    const ir_inst code[] = {
        {.op = OP_BRANCH, .access = id, .loop = IR_NONE},
        {.op = OP_INT, .dst = 1, .access = IR_NONE, .loop = IR_NONE},
        {.op = OP_LOAD, .dst = 2, .src = {1}, .access = load, .loop = IR_NONE},
        {.op = OP_STORE, .src = {2, 1}, .access = store, .loop = IR_NONE},
        {.op = OP_BRANCH, .access = IR_NONE, .loop = 1},
        {.op = OP_BRANCH, .access = IR_NONE, .loop = 0},
        {.op = OP_EXIT, .access = IR_NONE, .loop = IR_NONE},
    };
    for (size_t i = 0; i < sizeof code / sizeof *code; i++)
        cr_assert_eq(ir_add_inst(&k, code[i], &m), OK);
    cr_assert_eq(ir_add_loop(&k, (ir_loop){.first = 1, .last = 5, .trips = 2, .depth = 0}, &id, &m), OK);
    cr_assert_eq(ir_add_loop(&k, (ir_loop){.first = 2, .last = 4, .trips = 3, .depth = 1}, &id, &m), OK);
    return k;
}

typedef void breakage(kernel *k);
static void no_end(kernel *k) {
    k->code_count--;
}
static void early_exit(kernel *k) {
    k->code[1].op = OP_EXIT;
}
static void no_class(kernel *k) {
    k->code[1].op = OP_CLASS_COUNT;
}
static void no_code(kernel *k) {
    k->code_count = 0;
}
static void no_threads(kernel *k) {
    k->block_threads = 0;
}
static void no_registers(kernel *k) {
    k->registers = 0;
}
static void endless_name(kernel *k) {
    memset(k->name, 'x', sizeof k->name);
}
static void no_access(kernel *k) {
    k->code[2].access = IR_NONE;
}
static void wrong_access(kernel *k) {
    k->code[2].access = 3;
}
static void access_of_arithmetic(kernel *k) {
    k->code[1].access = 0;
}
static void load_to_nothing(kernel *k) {
    k->code[2].dst = 0;
}
static void store_of_nothing(kernel *k) {
    k->code[3].src[0] = 0;
}
static void store_to_register(kernel *k) {
    k->code[3].dst = 3;
}
static void wrong_space(kernel *k) {
    k->accesses[0].space = SPACE_SHARED;
}
static void no_space(kernel *k) {
    k->accesses[0].space = (ir_space)3;
}
static void odd_width(kernel *k) {
    k->accesses[1].bytes = 12;
}
static void no_width(kernel *k) {
    k->accesses[1].bytes = 0;
}
static void terms_past_end(kernel *k) {
    k->accesses[0].terms = 3;
}
static void terms_wrap(kernel *k) {
    k->accesses[0].first_term = UINT32_MAX;
}
static void bounds_past_end(kernel *k) {
    k->accesses[0].first_bound = 1;
}
static void bound_terms_past_end(kernel *k) {
    k->bounds[0].terms = 3;
}
static void bound_counts_loop(kernel *k) {
    k->bounds[0].terms = 2;
}
static void test_of_nothing(kernel *k) {
    k->accesses[2].bounds = 0;
}
static void wrong_index(kernel *k) {
    k->terms[1].index = 2;
}
static void div_zero(kernel *k) {
    k->terms[0].div = 0;
}
static void div_huge(kernel *k) {
    k->terms[0].div = UINT64_MAX;
}
static void mod_huge(kernel *k) {
    k->terms[1].mod = UINT64_MAX;
}
static void index_overflow(kernel *k) {
    k->indices[0].per_block = INT64_MAX / 4;
}
static void term_overflow(kernel *k) {
    k->terms[0].mul = INT64_MAX / 100;
}
static void modulo_overflow(kernel *k) {
    k->terms[1].mul = INT64_MAX / 50;
}
static void sum_overflow(kernel *k) {
    k->accesses[0].base = INT64_MAX - 1000;
}
static void loop_counter_outside(kernel *k) {
    k->accesses[2].terms = 2;
}
static void wrong_loop(kernel *k) {
    k->code[4].loop = 2;
}
static void loops_swapped(kernel *k) {
    k->code[4].loop = 0;
}
static void loop_of_arithmetic(kernel *k) {
    k->code[1].loop = 0;
}
static void loop_and_test(kernel *k) {
    k->code[4].access = 2;
}
static void no_turns(kernel *k) {
    k->loops[0].trips = 0;
}
static void backwards(kernel *k) {
    k->loops[1].first = 5;
}
static void loop_past_end(kernel *k) {
    k->loops[0].last = 7;
}
static void overlap(kernel *k) {
    k->loops[1].first = 0;
}
static void wrong_depth(kernel *k) {
    k->loops[1].depth = 0;
}
static void deep(kernel *k) {
    k->loops[1].depth = IR_LOOPS_MAX;
}

Test(ir, check_finds_every_fault) {
    static breakage *const faults[] = {
        no_end,
        early_exit,
        no_class,
        no_code,
        no_threads,
        no_registers,
        endless_name,
        no_access,
        wrong_access,
        access_of_arithmetic,
        load_to_nothing,
        store_of_nothing,
        store_to_register,
        wrong_space,
        no_space,
        odd_width,
        no_width,
        terms_past_end,
        terms_wrap,
        bounds_past_end,
        bound_terms_past_end,
        bound_counts_loop,
        test_of_nothing,
        wrong_index,
        div_zero,
        div_huge,
        mod_huge,
        index_overflow,
        term_overflow,
        modulo_overflow,
        sum_overflow,
        loop_counter_outside,
        wrong_loop,
        loops_swapped,
        loop_of_arithmetic,
        loop_and_test,
        no_turns,
        backwards,
        loop_past_end,
        overlap,
        wrong_depth,
        deep,
    };
    message m;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        kernel k = sample();
        cr_assert_eq(ir_check(&k, &m), OK, "%s", m.text);
        faults[i](&k);
        cr_expect_eq(ir_check(&k, &m), ERR_INTERNAL, "fault %zu", i);
        kernel_free(&k);
        cr_expect_eq(k.code, NULL);
    }
}

enum { SPAN_BYTES = 4096 * 6 + 2560 };

/* 640 threads, of which those with 4 * number < 2500 move one word a turn; turn (i, j) reads page 3 i + j. */
Test(ir, interpreter_runs_loops_and_exit_tests) {
    static uint8_t src[SPAN_BYTES], dst[SPAN_BYTES], stores[SPAN_BYTES];
    prng g = {1};
    for (int i = 0; i < SPAN_BYTES; i++)
        src[i] = (uint8_t)prng_next(&g);
    memory_region memory[] = {{1 << 20, sizeof src, src, NULL}, {1 << 24, sizeof dst, dst, stores}};
    message m;
    kernel k = sample();
    cr_assert_eq(interpret(&k, 32, memory, 2, &m), OK, "%s", m.text);
    for (int i = 0; i < SPAN_BYTES; i++) {
        bool moved = i % 4096 < 2500 && i < 4096 * 6;
        cr_assert_eq(stores[i], moved, "byte %d", i);
        cr_assert_eq(dst[i], moved ? src[i] : 0, "byte %d", i);
    }
    kernel_free(&k);
}

static void short_memory(kernel *k) {
    k->accesses[0].base -= 4;
}
static void far_memory(kernel *k) {
    k->accesses[1].base = INT64_MIN / 2;
}
static void arithmetic_data(kernel *k) {
    k->code[3].src[0] = 1;
}
static void other_width(kernel *k) {
    k->accesses[1].bytes = 2;
}
static void past_shared(kernel *k) {
    k->code[3].op = OP_SHARED_STORE;
    k->accesses[1].space = SPACE_SHARED;
}

Test(ir, interpreter_finds_stray_accesses) {
    static breakage *const faults[] = {short_memory, far_memory, arithmetic_data, other_width, past_shared};
    static uint8_t src[SPAN_BYTES], dst[SPAN_BYTES];
    memory_region memory[] = {{1 << 20, sizeof src, src, NULL}, {1 << 24, sizeof dst, dst, NULL}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        message m = {""};
        kernel k = sample();
        faults[i](&k);
        cr_expect_eq(ir_check(&k, &m), OK, "fault %zu: %s", i, m.text);
        cr_expect_eq(interpret(&k, 32, memory, 2, &m), ERR_INTERNAL, "fault %zu", i);
        cr_expect(strstr(m.text, "block 0, thread 0"), "fault %zu: %s", i, m.text);
        kernel_free(&k);
    }
}

/* Every allocation fails once; nothing leaks (under the address sanitizer) and the status says so. */
Test(ir, out_of_memory) {
    machine mach = fixture_machine();
    prng g = {3};
    copy_desc c = fixture_transpose(&g, 4, 2, 40, 50);
    for (copy_strategy s = COPY_GENERAL; s <= COPY_TRANSPOSE_NAIVE; s++)
        for (size_t n = 1;; n++) {
            copy_options o = {.strategy = s, .elements_per_thread = 1};
            message m = {""};
            kernel k;
            mem_fail_after(n);
            status got = copy_kernel_build(&mach, &c, &o, 0, 1 << 20, &k, &m);
            mem_fail_after(0);
            kernel_free(&k);
            if (got != ERR_MEMORY) {
                cr_expect(got == OK || s == COPY_TRANSPOSE_SMALL || s == COPY_TRANSPOSE_LOW_WIDTH ||
                              s == COPY_TRANSPOSE_LOW_HEIGHT,
                          "%s", m.text);
                cr_expect(n > 5 || got != OK);
                break;
            }
            cr_assert(n < 1000);
        }
}

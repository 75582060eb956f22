/* Loop bodies as instructions: that they move the right data, what they consist of, registers and spills. */
#include "body_random.h"
#include "fixture.h"
#include "kernel/address.h"
#include "kernel/body_interpret.h"
#include "kernel/hoist.h"
#include "kernel/interpret.h"
#include "kernel/lower.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static machine lower_machine(void) {
    machine mach = fixture_machine();
    mach.level_count = 2;
    mach.level[0].latency_cycles = 30;
    mach.level[1].latency_cycles = 200;
    for (int i = 0; i < OP_CLASS_COUNT; i++)
        mach.core.op[i] = (op_timing){PIPE_ALU, 4, 1};
    mach.isa[ISA_DIV_F32] = (isa_mix){.count = {[OP_SFU] = 2, [OP_FP32] = 5, [OP_BRANCH] = 1}, .ilp = 1};
    mach.isa[ISA_EXP_F32] = (isa_mix){.count = {[OP_SFU] = 1, [OP_FP32] = 6, [OP_INT] = 1}, .ilp = 1};
    mach.isa[ISA_DIV_I32] = (isa_mix){.count = {[OP_INT] = 13, [OP_IMUL] = 6}, .ilp = 2};
    return mach;
}

static lowered lowered_from(const body *b, const lower_options *o) {
    const machine mach = lower_machine();
    lowered l;
    message m = {{0}};
    cr_assert_eq(lower(&mach, b, "test", o, &l, &m), OK, "%s", m.text);
    return l;
}

/* ---- data movement ------------------------------------------------------------------------------------------------
 */

enum { LOOPS = 3 };

/* The shape of a random body that only copies: every thread and turn stores elements of its own. */
typedef struct copying {
    prng *g;
    textbuf text;
    int64_t blocks[3], threads[3], trips[LOOPS], start[LOOPS], step[LOOPS];
    int loops, statements;
    const char *type;
} copying;

static int64_t volume(const int64_t v[3]) {
    return v[0] * v[1] * v[2];
}

/* Something that varies, below the extent. */
static void random_subscript(copying *c, int64_t extent) {
    const uint64_t kind = prng_below(c->g, 6), axis = prng_below(c->g, 3);
    if (kind == 0 && c->threads[axis] <= extent) {
        textbuf_printf(&c->text, "tid.%c", "xyz"[axis]);
        return;
    }
    textbuf_printf(&c->text, "(%" PRId64, fixture_between(c->g, 0, 9));
    if (prng_below(c->g, 2))
        textbuf_printf(&c->text, " + tid * %" PRId64, fixture_between(c->g, 1, 40));
    if (prng_below(c->g, 2))
        textbuf_printf(&c->text, " + bid * %" PRId64, fixture_between(c->g, 1, 9));
    for (int k = 0; k < c->loops; k++)
        if (prng_below(c->g, 2))
            textbuf_printf(&c->text, " + k%d * %" PRId64, k, fixture_between(c->g, 1, 7));
    textbuf_put(&c->text, ")");
    if (kind == 1)
        textbuf_printf(&c->text, " / %" PRId64, fixture_between(c->g, 1, 5));
    textbuf_printf(&c->text, " %% %" PRId64, extent);
}

/* Thread, block and turns, some of them backwards. */
static void own_subscripts(copying *c) {
    const int64_t threads = volume(c->threads), blocks = volume(c->blocks);
    textbuf_put(&c->text, prng_below(c->g, 2) ? "[bid, " : "[");
    if (c->text.text[c->text.length - 1] == '[')
        textbuf_printf(&c->text, "%" PRId64 " - bid, ", blocks - 1);
    if (prng_below(c->g, 2))
        textbuf_put(&c->text, "tid");
    else
        textbuf_printf(&c->text, "%" PRId64 " - tid", threads - 1);
    for (int k = 0; k < c->loops; k++)
        textbuf_printf(&c->text, ", (k%d - %" PRId64 ") / %" PRId64, k, c->start[k], c->step[k]);
    textbuf_put(&c->text, "]");
}

static void indent(copying *c, int depth) {
    textbuf_printf(&c->text, "%*s", 4 * depth, "");
}

static void random_statements(copying *c) {
    const int depth = c->loops;
    for (int i = 0; i < c->statements; i++) {
        const int kind = (int)prng_below(c->g, 4);
        indent(c, depth);
        bool guarded = prng_below(c->g, 3) == 0;
        if (guarded)
            textbuf_printf(&c->text, "if (tid * 3 + bid %s %" PRId64 "%s) {\n",
                           prng_below(c->g, 2) ? "<" : ">=", fixture_between(c->g, 0, 60),
                           prng_below(c->g, 2) ? " && tid != 0" : "");
        if (kind == 0) { /* through local memory */
            textbuf_put(&c->text, "loc[");
            random_subscript(c, 5);
            textbuf_put(&c->text, "] = s0[");
            random_subscript(c, 64);
            textbuf_put(&c->text, ", 0]\n");
        }
        textbuf_printf(&c->text, "d%d", i);
        own_subscripts(c);
        textbuf_printf(&c->text, " = s%d[", (int)prng_below(c->g, 2));
        random_subscript(c, 64);
        textbuf_put(&c->text, ", ");
        random_subscript(c, 3);
        textbuf_put(&c->text, "]\n");
        if (guarded)
            textbuf_put(&c->text, "}\n");
    }
}

static textbuf random_copying(prng *g) {
    copying c = {.g = g, .loops = (int)prng_below(g, LOOPS + 1), .statements = 1 + (int)prng_below(g, 12)};
    static const char *const types[] = {"f32", "f64", "i32", "i64"};
    c.type = types[prng_below(g, 4)];
    for (int i = 0; i < 3; i++) {
        c.blocks[i] = prng_below(g, 3) ? 1 : fixture_between(g, 1, 3);
        c.threads[i] = prng_below(g, 3) ? 1 : fixture_between(g, 1, i ? 3 : 40);
    }
    textbuf_printf(&c.text, "global %s s0[64, 3], s1[64, 3] strides (1, 64) offset 5\nlocal %s loc[5]\n", c.type,
                   c.type);
    for (int k = 0; k < c.loops; k++) {
        c.trips[k] = fixture_between(g, 1, 6);
        c.start[k] = fixture_between(g, 0, 3);
        c.step[k] = fixture_between(g, 1, 3);
    }
    for (int i = 0; i < c.statements; i++) {
        textbuf_printf(&c.text, "global %s d%d[%" PRId64 ", %" PRId64, c.type, i, volume(c.blocks), volume(c.threads));
        for (int k = 0; k < c.loops; k++)
            textbuf_printf(&c.text, ", %" PRId64, c.trips[k]);
        textbuf_put(&c.text, "]\n");
    }
    textbuf_printf(&c.text,
                   "blocks %" PRId64 ", %" PRId64 ", %" PRId64 "\nthreads %" PRId64 ", %" PRId64 ", %" PRId64 "\n",
                   c.blocks[0], c.blocks[1], c.blocks[2], c.threads[0], c.threads[1], c.threads[2]);
    for (int k = 0; k < c.loops; k++) {
        indent(&c, k);
        textbuf_printf(&c.text, "for (k%d, %" PRId64 ", %" PRId64 ", %" PRId64 ") {\n", k, c.start[k],
                       c.start[k] + c.trips[k] * c.step[k], c.step[k]);
    }
    random_statements(&c);
    for (int k = c.loops; k-- > 0;) {
        indent(&c, k);
        textbuf_put(&c.text, "}\n");
    }
    return c.text;
}

/* Executes the kernel on copies of the arrays that lie where lower.h says. */
static void execute(const body *b, const lowered *l, void **memory, const char *text) {
    enum { REGIONS = 32 };
    memory_region region[REGIONS];
    uint32_t count = 0;
    int64_t next = INT64_C(4) << 30;
    const int64_t page = INT64_C(2) << 20;
    for (uint32_t i = 0; i < b->arrays; i++) {
        const body_array *a = b->array[i];
        if (a->space != SPACE_GLOBAL)
            continue;
        const int64_t bytes = a->elements * body_type_bytes(a->type);
        region[count++] = (memory_region){.base = next, .size = (uint64_t)bytes, .data = memory[i]};
        next = (next + bytes + page - 1) / page * page;
    }
    const uint64_t threads = (l->k.block_threads + 31) / 32 * 32, size = l->k.blocks * threads * l->local_bytes;
    uint8_t *local = mem_zero(size, 1);
    region[count++] = (memory_region){.base = next, .size = size, .data = local};
    message m = {{0}};
    cr_assert_eq(interpret(&l->k, 32, region, count, &m), OK, "%s\n%s", m.text, text);
    mem_free(local);
}

static lower_options random_options(prng *g) {
    lower_options o = {.unroll = (uint32_t)prng_below(g, 5),
                       .window = prng_below(g, 2) ? (uint32_t)prng_below(g, 40) : 0,
                       .no_alias = prng_below(g, 2),
                       .max_registers = prng_below(g, 2) ? (uint32_t)fixture_between(g, 20, 60) : 0};
    return o;
}

/* Whatever is unrolled, scheduled, hoisted or spilled: the kernel stores what the body stores, where it does. */
Test(lower, moves_what_the_body_moves) {
    prng g = {.state = 20261130};
    uint32_t spilled = 0, guarded = 0, local = 0;
    for (int i = 0; i < 400; i++) {
        textbuf text = random_copying(&g);
        body b = body_from(text.text), moved = {.params = 0};
        hoist_report report = {.leaves = 0};
        message m = {{0}};
        cr_assert_eq(hoist(&b, (uint32_t)prng_below(&g, 20), &moved, &report, &m), OK);
        const lower_options o = random_options(&g);
        lowered l = lowered_from(&moved, &o);
        cr_assert_leq(l.k.registers, o.max_registers ? o.max_registers : LOWER_REGISTERS_MAX);
        void **want = body_memory(&b, (uint64_t)i), **got = body_memory(&b, (uint64_t)i);
        cr_assert_eq(body_interpret(&b, want, &m), OK, "%s", m.text);
        execute(&b, &l, got, text.text);
        body_memory_expect_equal(&b, got, want, text.text);
        spilled += l.spilled > 0;
        guarded += l.k.bound_count > 0;
        local += l.local_bytes > 0;
        body_memory_free(&b, want);
        body_memory_free(&b, got);
        lowered_free(&l);
        hoist_report_free(&report);
        body_free(&moved);
        body_free(&b);
        textbuf_free(&text);
    }
    cr_expect_gt(spilled, 10, "%u of the bodies spill", spilled);
    cr_expect_gt(guarded, 100);
    cr_expect_gt(local, 100);
}

/* ---- what the code consists of ------------------------------------------------------------------------------------
 */

static uint32_t count_op(const lowered *l, op_class op) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->k.code_count; i++)
        n += l->k.code[i].op == op;
    return n;
}

/* By hand from the assumptions in lower.h. S2R for tid and bid once; an index 32 * bid + tid is one IMAD, each address
 * one IMAD.WIDE; in the loop each pointer advances by 2 adds, the counter by the machine's loop piece (2) and its
 * branch. */
Test(lower, instructions_by_hand) {
    static const struct {
        const char *what, *text;
        uint32_t op[OP_CLASS_COUNT];
    } cases[] = {
        {"one FMA",
         "global f32 a[32], b[32], c[32]\nthreads 32\nc[tid] = a[tid] * b[tid] + c[tid]",
         {[OP_SCALAR] = 1, [OP_IMUL_WIDE] = 3, [OP_LOAD] = 3, [OP_FP32] = 1, [OP_STORE] = 1, [OP_EXIT] = 1}},
        {"two blocks: bid too, one index for all",
         "global f32 a[64], b[64]\nblocks 2\nthreads 32\nb[bid * 32 + tid] = a[bid * 32 + tid]",
         {[OP_SCALAR] = 2, [OP_IMUL] = 1, [OP_IMUL_WIDE] = 2, [OP_LOAD] = 1, [OP_STORE] = 1, [OP_EXIT] = 1}},
        {"a loop: two pointers that advance",
         "global f32 a[8, 32], b[8, 32]\nthreads 32\nfor (k, 0, 8) { b[k, tid] = a[k, tid] + 1 }",
         {[OP_SCALAR] = 1,
          [OP_IMUL_WIDE] = 2,
          [OP_LOAD] = 1,
          [OP_FP32] = 1,
          [OP_STORE] = 1,
          [OP_EXIT] = 1,
          [OP_INT] = 1 + 2 + 2 * 2,
          [OP_BRANCH] = 1}},
        {"neighbours share a pointer, the constant is an immediate",
         "global f32 a[34], b[32]\nthreads 32\nb[tid] = a[tid] + a[tid + 1] + a[tid + 2]",
         {[OP_SCALAR] = 1, [OP_IMUL_WIDE] = 2, [OP_LOAD] = 3, [OP_FP32] = 2, [OP_STORE] = 1, [OP_EXIT] = 1}},
        {"the same load twice is one",
         "global f32 a[32], b[32]\nthreads 32\nb[tid] = a[tid] * a[tid]",
         {[OP_SCALAR] = 1, [OP_IMUL_WIDE] = 2, [OP_LOAD] = 1, [OP_FP32] = 1, [OP_STORE] = 1, [OP_EXIT] = 1}},
        {"unless a store comes between",
         "global f32 a[32], b[32], c[32]\nthreads 32\nb[tid] = a[tid] + 1\nc[tid] = a[tid] + 2",
         {[OP_SCALAR] = 1, [OP_IMUL_WIDE] = 3, [OP_LOAD] = 2, [OP_FP32] = 2, [OP_STORE] = 2, [OP_EXIT] = 1}},
        {"a select loads both sides",
         "global f32 a[32], b[32]\nthreads 32\nb[tid] = a[tid] > 0 ? a[tid] : b[tid]",
         {[OP_SCALAR] = 1, [OP_IMUL_WIDE] = 2, [OP_LOAD] = 2, [OP_INT] = 2, [OP_STORE] = 1, [OP_EXIT] = 1}},
        {"division by the machine's piece",
         "global f32 a[32], b[32]\nthreads 32\nb[tid] = a[tid] / b[tid]",
         {[OP_SCALAR] = 1,
          [OP_IMUL_WIDE] = 2,
          [OP_LOAD] = 2,
          [OP_SFU] = 2,
          [OP_FP32] = 5,
          [OP_BRANCH] = 1,
          [OP_STORE] = 1,
          [OP_EXIT] = 1}},
        {"a guard around all: an exit test",
         "global f32 a[32]\nthreads 32\nif (tid < 20) { a[tid] = a[tid] + 1 }",
         {[OP_SCALAR] = 1,
          [OP_IMUL_WIDE] = 1,
          [OP_INT] = 1,
          [OP_BRANCH] = 1,
          [OP_LOAD] = 1,
          [OP_FP32] = 1,
          [OP_STORE] = 1,
          [OP_EXIT] = 1}},
        {"f64: pairs",
         "global f64 a[32]\nthreads 32\na[tid] = a[tid] * 2 + 1",
         {[OP_SCALAR] = 1, [OP_IMUL_WIDE] = 1, [OP_LOAD] = 1, [OP_FP64] = 1, [OP_STORE] = 1, [OP_EXIT] = 1}},
        {"a local array of constant subscripts is registers",
         "global f32 a[32]\nlocal f32 t[2]\nthreads 32\nt[0] = a[tid] + 1\nt[1] = t[0] * 2\na[tid] = t[0] + t[1]",
         {[OP_SCALAR] = 1,
          [OP_IMUL_WIDE] = 1,
          [OP_LOAD] = 1,
          [OP_INT] = 2,
          [OP_FP32] = 3,
          [OP_STORE] = 1,
          [OP_EXIT] = 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        body b = body_from(cases[i].text);
        lowered l = lowered_from(&b, &(lower_options){.unroll = 1});
        for (int c = 0; c < OP_CLASS_COUNT; c++)
            cr_expect_eq(count_op(&l, (op_class)c), cases[i].op[c], "%s: %u of %s, not %u", cases[i].what,
                         count_op(&l, (op_class)c), op_class_name((op_class)c), cases[i].op[c]);
        lowered_free(&l);
        body_free(&b);
    }
}

/* Copies of 4 neighbours by one access of 16 bytes, where layout and types allow. */
Test(lower, vectors) {
    static const struct {
        const char *text;
        uint32_t vector, loads, stores, bytes;
    } cases[] = {
        {"global f32 a[32, 16], b[32, 16]\nthreads 32\nfor (k, 0, 16) { b[tid, k] = a[tid, k] }", 4, 1, 1, 16},
        {"global f32 a[32, 16], b[32, 16]\nthreads 32\nfor (k, 0, 16) { b[tid, k] = a[tid, k] }", 2, 1, 1, 8},
        {"global f64 a[32, 16], b[32, 16]\nthreads 32\nfor (k, 0, 16) { b[tid, k] = a[tid, k] }", 2, 1, 1, 16},
        {"global f64 a[32, 16], b[32, 16]\nthreads 32\nfor (k, 0, 16) { b[tid, k] = a[tid, k] }", 4, 4, 4, 8},
        {"global f32 a[32, 17], b[32, 16]\nthreads 32\nfor (k, 0, 16) { b[tid, k] = a[tid, k] + 1 }", 4, 4, 1, 4},
        {"global f32 a[16, 32], b[32, 16]\nthreads 32\nfor (k, 0, 16) { b[tid, k] = a[k, tid] + 1 }", 4, 4, 1, 4},
        {"global f32 b[32, 16]\nthreads 32\nfor (k, 0, 16) { b[tid, k] = b[tid, k] + 1 }", 4, 4, 4, 4},
        {"global f32 a[32, 16] offset 1, b[32, 16]\nthreads 32\nfor (k, 0, 16) { b[tid, k] = a[tid, k] + 1 }", 4, 4, 1,
         4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        body b = body_from(cases[i].text);
        lowered l = lowered_from(&b, &(lower_options){.vector = cases[i].vector});
        cr_expect_eq(count_op(&l, OP_LOAD), cases[i].loads, "%zu: %u loads", i, count_op(&l, OP_LOAD));
        cr_expect_eq(count_op(&l, OP_STORE), cases[i].stores, "%zu: %u stores", i, count_op(&l, OP_STORE));
        for (uint32_t k = 0; k < l.k.code_count; k++)
            if (l.k.code[k].op == OP_LOAD)
                cr_expect_eq(l.k.accesses[l.k.code[k].access].bytes, cases[i].bytes, "%zu", i);
        if (cases[i].loads == 1) { /* and they move the right data */
            message m = {{0}};
            void **want = body_memory(&b, 7), **got = body_memory(&b, 7);
            cr_assert_eq(body_interpret(&b, want, &m), OK, "%s", m.text);
            execute(&b, &l, got, cases[i].text);
            body_memory_expect_equal(&b, got, want, cases[i].text);
            body_memory_free(&b, want);
            body_memory_free(&b, got);
        }
        lowered_free(&l);
        body_free(&b);
    }
}

/* Distance in instructions from the first load to the first instruction that reads one. */
static uint32_t loads_before_use(const lowered *l) {
    uint32_t loads = 0;
    bool loaded[256] = {false};
    for (uint32_t i = 0; i < l->k.code_count; i++) {
        const ir_inst *x = &l->k.code[i];
        for (int s = 0; s < 3; s++)
            if (x->src[s] && loaded[x->src[s]])
                return loads;
        if (x->op == OP_LOAD) {
            loaded[x->dst] = true;
            loads++;
        }
    }
    return loads;
}

/* NVIDIA/apex #359: with stores between, unrolling brings no loads in flight, whatever the scheduler's window; with the
 * loads separated, or pointers known to differ, it does. */
Test(lower, stores_keep_loads_apart) {
    const char *interleaved = "global f32 a[256], b[256]\nfor (k, 0, 256) { b[k] = a[k] * 2 }";
    const char *separate = "global f32 a[256], b[256]\nfor (k, 0, 256, 4) {\n"
                           "let p = a[k]\nlet q = a[k + 1]\nlet r = a[k + 2]\nlet s = a[k + 3]\n"
                           "b[k] = p * 2\nb[k + 1] = q * 2\nb[k + 2] = r * 2\nb[k + 3] = s * 2\n}";
    static const struct {
        bool separate;
        lower_options o;
        uint32_t loads;
    } cases[] = {
        {false, {.unroll = 1}, 1},
        {false, {.unroll = 4}, 1},
        {false, {.unroll = 4, .window = 64}, 1},
        {false, {.unroll = 4, .window = 64, .no_alias = true}, 4},
        {true, {.unroll = 1}, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        body b = body_from(cases[i].separate ? separate : interleaved);
        lowered l = lowered_from(&b, &cases[i].o);
        cr_expect_eq(loads_before_use(&l), cases[i].loads, "%zu: %u", i, loads_before_use(&l));
        lowered_free(&l);
        body_free(&b);
    }
}

/* Case 33 (cuda-oxide #708): the same launch bound fits one kernel and makes the other spill. */
Test(lower, launch_bound) {
    textbuf text = {.length = 0};
    static const struct {
        uint32_t loads, limit;
        bool spills;
    } cases[] = {{8, 32, false}, {48, 32, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text.length = 0;
        textbuf_put(&text, "global f32 r[256]\n");
        for (uint32_t k = 0; k < cases[i].loads; k++)
            textbuf_printf(&text, "global f32 a%u[256]\n", k);
        textbuf_put(&text, "threads 256\nfor (k, 0, 8) {\nr[tid] = 0");
        for (uint32_t k = 0; k < cases[i].loads; k++)
            textbuf_printf(&text, " + a%u[tid] * a%u[tid]", k, cases[i].loads - 1 - k);
        textbuf_put(&text, "\n}");
        body b = body_from(text.text), moved = {.params = 0};
        hoist_report report = {.leaves = 0};
        message m = {{0}};
        cr_assert_eq(hoist(&b, 64, &moved, &report, &m), OK);
        lowered l = lowered_from(&moved, &(lower_options){.min_blocks = 8}); /* 8 * 256 threads: 32 registers each */
        cr_expect_eq(l.register_limit, cases[i].limit);
        cr_expect_leq(l.k.registers, 32);
        cr_expect_eq(l.spilled > 0, cases[i].spills, "%u loads: %u spilled", cases[i].loads, l.spilled);
        lowered_free(&l);
        hoist_report_free(&report);
        body_free(&moved);
        body_free(&b);
    }
    textbuf_free(&text);
}

Test(lower, says_what_it_cannot_do) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"global f32 a[64, 64]\nfor (i, 0, 8) { for (k, 0, 8) { a[i * k, k] = 0 } }",
         "2:37: subscript 1 of 'a' cannot be simulated: only sums of threads, blocks and loop variables times "
         "constants "
         "can, and their quotients and remainders by constants"},
        {"global f32 a[2, 2, 2, 2]\nfor (i, 0, 2) { for (j, 0, 2) { for (k, 0, 2) { for (l, 0, 2) {\na[i, j, k, l] = 0 "
         "} } } }",
         "2:49: the loop lies in more than 2 others that turn more than once; unroll or merge some"},
        {"global f32 a\na = log(a)", "2:5: machine test GPU says nothing of log_f32 in its isa group"},
        {"global f32 a\nthreads 2048\na = 1", "a block of 2048 threads; test GPU allows 1024"},
    };
    const machine mach = lower_machine();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        body b = body_from(cases[i].text);
        lowered l;
        message m = {{0}};
        cr_expect_eq(lower(&mach, &b, "test", &(lower_options){.unroll = 1}, &l, &m), ERR_INPUT);
        cr_expect_str_eq(m.text, cases[i].message);
        lowered_free(&l);
        body_free(&b);
    }
}

/* b[a[i]]: pseudo-random within b, equal where equal elements of a are read, and the same by lane and by warp. */
static uint32_t scattered_lanes(const char *index) {
    textbuf text = {.length = 0};
    textbuf_printf(&text, "global i32 a[64]\nglobal f32 b[100, 4], c[64]\nthreads 64\nc[tid] = b[a[%s], 2]", index);
    body b = body_from(text.text);
    lowered l = lowered_from(&b, &(lower_options){.unroll = 1});
    cr_assert_eq(l.scattered, 1);
    const int64_t first = (INT64_C(4) << 30) + (INT64_C(2) << 20);
    uint32_t checked = 0, different = 0;
    for (uint32_t i = 0; i < l.k.code_count; i++) {
        if (l.k.code[i].op != OP_LOAD || l.note[i].array != b.array[1])
            continue;
        const ir_access *x = &l.k.accesses[l.k.code[i].access];
        warp_access warp, lanes;
        const warp_place place = {.first_thread = 32, .width = 32};
        address_warp(&l.k, x, &place, false, &warp);
        address_warp(&l.k, x, &place, true, &lanes);
        for (uint32_t t = 0; t < 32; t++, checked++) {
            int64_t address = 0;
            cr_assert(address_thread(&l.k, x, 0, 32 + t, (const uint64_t[IR_LOOPS_MAX]){0}, &address));
            cr_expect_eq(warp.lane[t], address);
            cr_expect_eq(lanes.lane[t], address);
            cr_expect(address >= first && address < first + 1600 && (address - first) % 16 == 8);
            different += address != warp.lane[0];
        }
    }
    cr_expect_eq(checked, 32);
    lowered_free(&l);
    body_free(&b);
    textbuf_free(&text);
    return different;
}

Test(lower, addresses_that_depend_on_data) {
    cr_expect_eq(scattered_lanes("7"), 0);
    cr_expect_gt(scattered_lanes("tid"), 20);
    cr_expect_gt(scattered_lanes("63 - tid"), 20);
}

/* Any body that the language allows is lowered or refused with a place, and never more. */
Test(lower, random_bodies) {
    prng g = {.state = 3};
    const machine mach = lower_machine();
    uint32_t done = 0;
    for (int i = 0; i < 600; i++) {
        textbuf text = random_body(&g);
        body b = body_from(text.text);
        lowered l;
        message m = {{0}};
        const lower_options o = random_options(&g);
        const status s = lower(&mach, &b, "test", &o, &l, &m);
        cr_assert(s == OK || s == ERR_INPUT, "%s\n%s", m.text, text.text);
        done += s == OK;
        lowered_free(&l);
        body_free(&b);
        textbuf_free(&text);
    }
    cr_expect_gt(done, 100, "%u", done);
}

static void expect_big(const char *head, const char *statement, uint32_t count, const char *tail, bool spills) {
    textbuf text = {.length = 0};
    textbuf_put(&text, head);
    for (uint32_t i = 0; i < count; i++)
        textbuf_printf(&text, statement, i, i, i);
    textbuf_put(&text, tail);
    body b = body_from(text.text);
    lowered l = lowered_from(&b, &(lower_options){.unroll = 1});
    cr_expect_leq(l.k.registers, LOWER_REGISTERS_MAX);
    cr_expect_eq(l.spilled > 0, spills, "%u", l.spilled);
    lowered_free(&l);
    body_free(&b);
    textbuf_free(&text);
}

Test(lower, large_bodies) {
    expect_big("global f32 a[20000], b[20000]\nfor (k, 0, 4) {\n", "b[%u] = a[%u + k] * 2 + %u\n", 10000, "}\n", false);
    textbuf sum = {.length = 0};
    textbuf_put(&sum, "b[0] = v0");
    for (uint32_t i = 1; i < 300; i++)
        textbuf_printf(&sum, " + v%u", i);
    textbuf_put(&sum, "\n}\n");
    expect_big("global f32 a[1000], b[4]\nfor (k, 0, 4) {\n", "let v%u = a[k + %u * 3] /* %u */\n", 300, sum.text,
               true);
    textbuf_free(&sum);
}

/* Every allocation of the way may fail. */
Test(lower, out_of_memory) {
    const machine mach = lower_machine();
    body b = body_from("global f32 a[8, 32], b[8, 32]\nlocal f32 t[8]\nthreads 32\nfor (k, 0, 8) {\nlet x = a[k, tid]\n"
                       "t[k] = x / 2\nif (tid < 9) { b[k, tid] = t[7 - k] + x }\n}");
    message m = {{0}};
    bool done = false;
    for (size_t n = 1; n < 2000 && !done; n++) {
        lowered l;
        mem_fail_after(n);
        const status s =
            lower(&mach, &b, "test", &(lower_options){.unroll = 2, .window = 8, .max_registers = 10}, &l, &m);
        mem_fail_after(0);
        cr_assert(s == OK || s == ERR_MEMORY, "%zu: %s", n, m.text);
        done = s == OK;
        lowered_free(&l);
    }
    cr_expect(done);
    body_free(&b);
}

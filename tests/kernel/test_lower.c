/* Loop bodies as instructions: that they move the right data, what they consist of, registers and spills. */
#include "body_random.h"
#include "fixture.h"
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

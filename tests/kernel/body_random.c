#include "body_random.h"

#include "base/half.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAYS = 9, EXTENT = 8, LETS = 4 };

typedef struct writer {
    textbuf out;
    prng *g;
    int depth;          /* of loops */
    int lets, all_lets; /* in scope, and ever */
    bool let_is_float[64];
} writer;

/* a .. i, with what each is */
static const struct {
    const char *declaration;
    bool real, two; /* dimensions */
} arrays[ARRAYS] = {
    {"global f32 a[n]", true, false},   {"global f32 b[8, n] strides (1, 9)", true, true},
    {"global f16 c[8]", true, false},   {"global f64 d[9, 8]", true, true},
    {"global i32 e[8]", false, false},  {"global i64 f[n] strides (-2) offset 14", false, false},
    {"shared f32 g[8]", true, false},   {"local f32 h[8]", true, false},
    {"local i32 i[8, 8]", false, true},
};

static uint64_t below(writer *w, uint64_t n) {
    return prng_below(w->g, n);
}

static void put(writer *w, const char *text) {
    textbuf_put(&w->out, text);
}

static void integer(writer *w, int size);

/* Within 0 .. 7 whatever the data. Few forms, so that the same text comes often. */
static void subscript(writer *w, int size) {
    uint64_t form = below(w, size > 0 ? 8 : 5);
    if (form == 0 || w->depth == 0)
        textbuf_printf(&w->out, "%d", (int)below(w, EXTENT));
    else if (form < 3)
        textbuf_printf(&w->out, "k%d", (int)below(w, (uint64_t)w->depth));
    else if (form == 3)
        textbuf_printf(&w->out, "k%d + %d", (int)below(w, (uint64_t)w->depth), (int)below(w, 3));
    else if (form == 4)
        put(w, below(w, 2) ? "tid + tid.x" : "bid + 2 * tid.y");
    else {
        put(w, "max(");
        integer(w, size - 1);
        put(w, ", 0) % 8");
    }
}

static void access(writer *w, int array, int size) {
    textbuf_printf(&w->out, "%c[", 'a' + array);
    subscript(w, size);
    if (arrays[array].two) {
        put(w, ", ");
        subscript(w, size);
    }
    put(w, "]");
}

static int some_array(writer *w, bool real) {
    int array;
    do
        array = (int)below(w, ARRAYS);
    while (arrays[array].real != real);
    return array;
}

static bool some_let(writer *w, bool real) {
    if (w->lets == 0)
        return false;
    int let = (int)below(w, (uint64_t)w->lets), first = w->all_lets - w->lets;
    if (w->let_is_float[first + let] != real)
        return false;
    textbuf_printf(&w->out, "t%d", first + let);
    return true;
}

static void real(writer *w, int size);

static void condition(writer *w, int size) {
    static const char *const operators[] = {" < ", " <= ", " > ", " >= ", " == ", " != ", " && ", " || "};
    put(w, below(w, 6) == 0 ? "!(" : "(");
    (below(w, 2) ? real : integer)(w, size - 1);
    put(w, operators[below(w, 8)]);
    (below(w, 2) ? real : integer)(w, size - 1);
    put(w, ")");
}

static void pair(writer *w, const char *open, const char *middle, const char *close, int size,
                 void (*side)(writer *w, int size)) {
    put(w, open);
    side(w, size - 1);
    put(w, middle);
    side(w, size - 1);
    put(w, close);
}

static void integer(writer *w, int size) {
    switch (below(w, size > 0 ? 10 : 4)) {
    case 0:
        textbuf_printf(&w->out, "%lld", (long long)prng_next(w->g) >> (1 + below(w, 62)) & INT64_MAX);
        return;
    case 1:
        if (some_let(w, false))
            return;
        put(w, "n");
        return;
    case 2:
        subscript(w, 0);
        return;
    case 3:
        access(w, some_array(w, false), size - 1);
        return;
    case 4:
        pair(w, "(", " + ", ")", size, integer);
        return;
    case 5:
        pair(w, "(", " * ", ")", size, integer);
        return;
    case 6:
        pair(w, "min(", ", ", ")", size, integer);
        return;
    case 7:
        put(w, "abs(-");
        integer(w, size - 1);
        put(w, below(w, 2) ? ") / 3" : ") % 5");
        return;
    default:
        put(w, "(");
        condition(w, size - 1);
        pair(w, " ? ", " : ", ")", size, integer);
    }
}

static void real(writer *w, int size) {
    static const char *const functions[] = {"exp(", "log(", "sqrt(", "rsqrt(", "abs(", "-("};
    static const char *const literals[] = {"0.1", "2.5f", "1e-3", "3.0", "1e39", "x", "y"};
    switch (below(w, size > 0 ? 12 : 4)) {
    case 0:
        put(w, literals[below(w, 7)]);
        return;
    case 1:
        if (some_let(w, true))
            return;
        put(w, "x");
        return;
    case 4:
        pair(w, "(", " - ", ")", size, real);
        return;
    case 5:
        pair(w, "max(", ", ", ")", size, real);
        return;
    case 6:
        put(w, functions[below(w, 6)]);
        real(w, size - 1);
        put(w, ")");
        return;
    case 7:
        put(w, "(");
        integer(w, size - 1);
        put(w, " + ");
        real(w, size - 1);
        put(w, ")");
        return;
    case 8:
    case 9:
        put(w, "(");
        condition(w, size - 1);
        pair(w, " ? ", " : ", ")", size, real);
        return;
    case 10:
        pair(w, "(", " / ", ")", size, real);
        return;
    case 11:
        pair(w, "", " * ", "", 1, real);
        return;
    default:
        access(w, some_array(w, true), size - 1);
    }
}

static void value(writer *w, bool is_real) {
    if (is_real)
        real(w, 1 + (int)below(w, 3));
    else
        integer(w, 1 + (int)below(w, 3));
}

static void store(writer *w) {
    int array = (int)below(w, ARRAYS);
    access(w, array, 1);
    put(w, " = ");
    value(w, arrays[array].real);
    put(w, below(w, 2) ? ";\n" : "\n");
}

static void let(writer *w) {
    if (w->lets == LETS || w->all_lets == 64)
        return;
    bool is_real = below(w, 2);
    textbuf_printf(&w->out, "let t%d = ", w->all_lets);
    value(w, is_real);
    put(w, "\n");
    w->let_is_float[w->all_lets++] = is_real;
    w->lets++;
}

/* What was declared inside is never named again, nor, to keep it simple, what was declared before. */
static void end_scope(writer *w, int all_lets) {
    if (w->all_lets > all_lets)
        w->lets = 0;
}

static void schedule_block(writer *w) {
    int lets = w->all_lets;
    textbuf_printf(&w->out, "block(s%d) {\n", (int)below(w, 9));
    if (below(w, 2))
        let(w);
    bool branch = below(w, 2);
    if (branch) {
        put(w, "if (");
        condition(w, 2);
        put(w, ") {\n");
    }
    store(w);
    put(w, branch ? below(w, 2) ? "} else {}\n}\n" : "}\n}\n" : "}\n");
    end_scope(w, lets);
}

static void statements(writer *w, int count);

static void statement(writer *w) {
    int lets = w->all_lets;
    switch (below(w, w->depth < 3 ? 10 : 7)) {
    case 0:
        schedule_block(w);
        return;
    case 1:
        let(w);
        return;
    case 2:
        put(w, "if (");
        condition(w, 2);
        put(w, ") {\n");
        statements(w, 1 + (int)below(w, 3));
        put(w, "} else {\n");
        end_scope(w, lets);
        statements(w, (int)below(w, 2));
        put(w, "}\n");
        end_scope(w, lets);
        return;
    case 7:
    case 8:
    case 9:
        textbuf_printf(&w->out, "for (k%d, %d, %d, %d) {\n", w->depth, (int)below(w, 3), (int)below(w, 6),
                       1 + (int)below(w, 2));
        w->depth++;
        statements(w, 1 + (int)below(w, 4));
        w->depth--;
        put(w, "}\n");
        end_scope(w, lets);
        return;
    default:
        store(w);
    }
}

static void statements(writer *w, int count) {
    for (int i = 0; i < count; i++)
        statement(w);
}

textbuf random_body(prng *g) {
    writer w = {.g = g};
    put(&w, "param i32 n = 8\nparam f32 x = 0.3\nparam f64 y = -1.7\n");
    for (int i = 0; i < ARRAYS; i++)
        textbuf_printf(&w.out, "%s\n", arrays[i].declaration);
    put(&w, "blocks 2\nthreads 2, 2\n");
    statements(&w, 2);
    put(&w, "for (k0, 0, 4) {\n");
    w.depth = 1;
    w.lets = 0;
    statements(&w, 1 + (int)below(&w, 5));
    put(&w, "}\n");
    cr_assert(!w.out.failed);
    return w.out;
}

body body_from(const char *text) {
    body b;
    message m;
    cr_assert_eq(body_parse("body", text, strlen(text), &b, &m), OK, "%s\n%s", m.text, text);
    return b;
}

textbuf body_text(const body *b) {
    textbuf t = {0};
    body_print(&t, b);
    cr_assert(!t.failed);
    return t;
}

static double some_real(prng *g) {
    static const double special[] = {0, -0.0, 1, INFINITY, -INFINITY, NAN, 65504, 1e-7};
    if (prng_below(g, 8) == 0)
        return special[prng_below(g, 8)];
    return (double)(int64_t)prng_next(g) / 0x1p61;
}

static void fill(void *data, body_type type, int64_t i, prng *g) {
    double real_number = some_real(g);
    int64_t number = (int64_t)prng_next(g) >> (1 + prng_below(g, 63));
    switch (type) {
    case TYPE_I32:
        ((int32_t *)data)[i] = (int32_t)(number >> 32);
        break;
    case TYPE_I64:
        ((int64_t *)data)[i] = number;
        break;
    case TYPE_F16:
        ((uint16_t *)data)[i] = half_from_double(real_number);
        break;
    case TYPE_F32:
        ((float *)data)[i] = (float)real_number;
        break;
    case TYPE_F64:
        ((double *)data)[i] = real_number;
        break;
    }
}

void **body_memory(const body *b, uint64_t seed) {
    prng g = {seed};
    void **memory = calloc(b->arrays + 1, sizeof *memory);
    cr_assert(memory);
    for (uint32_t id = 0; id < b->arrays; id++) {
        const body_array *a = b->array[id];
        if (a->space != SPACE_GLOBAL)
            continue;
        memory[id] = calloc((size_t)a->elements, body_type_bytes(a->type));
        cr_assert(memory[id]);
        for (int64_t i = 0; i < a->elements; i++)
            fill(memory[id], a->type, i, &g);
    }
    return memory;
}

void body_memory_free(const body *b, void **memory) {
    for (uint32_t id = 0; id < b->arrays; id++)
        free(memory[id]);
    free(memory);
}

static double as_real(const void *data, body_type type, int64_t i) {
    return type == TYPE_F16   ? half_to_double(((const uint16_t *)data)[i])
           : type == TYPE_F32 ? (double)((const float *)data)[i]
                              : ((const double *)data)[i];
}

void body_memory_expect_equal(const body *b, void *const *got, void *const *want, const char *text) {
    for (uint32_t id = 0; id < b->arrays; id++) {
        const body_array *a = b->array[id];
        size_t bytes = body_type_bytes(a->type);
        for (int64_t i = 0; a->space == SPACE_GLOBAL && i < a->elements; i++) {
            const char *x = (const char *)got[id] + (size_t)i * bytes, *y = (const char *)want[id] + (size_t)i * bytes;
            bool nans = body_type_is_float(a->type) && isnan(as_real(got[id], a->type, i)) &&
                        isnan(as_real(want[id], a->type, i));
            cr_assert(nans || memcmp(x, y, bytes) == 0, "%s differs at element %lld\n%s", a->name, (long long)i, text);
        }
    }
}

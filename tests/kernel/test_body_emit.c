/* The C and CUDA that loop bodies become: what compilers say to it, and what the C computes. */
#include "body_random.h"
#include "kernel/body_interpret.h"
#include "kernel/hoist.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Names that mean something elsewhere, all types and spaces, what C reads differently. */
static const char awkward[] =
    "param i32 n = 4\nparam f64 int = 0.5\n"
    "global f32 double[n, 8], double_[8], expf[9], _x[9], v_x[9], body_min_i32[n]\nglobal f16 half[3, n, 2]\n"
    "global i64 out[8, n] strides (1, 8 + 1) offset 2\nglobal f64 huge[3000000000]\n"
    "shared f32 s[4], unit\nshared f16 sh[3]\nlocal f32 acc\nlocal f16 hacc, hl[2]\nlocal i32 li[2] offset 1\n"
    "blocks 2, 3\nthreads 4, 2\n"
    "for (k, 0, n, 2) {\n"
    "  acc = acc + double[k, 1] * double_[k] - -1.5 * int\n"
    "  hacc = hacc + half[1, k, 0]\n  hl[0] = hacc\n unit = acc\n sh[1] = unit\n"
    "  block(b) { if (k < 3 && acc > 0 || !(k == 1) == 0) { let t = min(k, abs(n - 9)) out[t, k] = t * 5000000000 } "
    "else if (k) { } else { let u = 1 } }\n"
    "  expf[tid.x] = exp(_x[tid.y + bid.z]) + rsqrt(v_x[1]) + log(sqrt(abs(acc))) + (acc > 1 ? 2 : 3)\n"
    "  half[0, 1, 1] = max(1.0, int)\n  body_min_i32[k] = max(k, 2147483648) % 7\n  huge[k] = (acc < 1) == (k > 2)\n"
    "  li[0] = li[0] - (-(-tid))\n}\n";

/* What CUDA adds to C, as far as a syntax check needs it. */
static const char cuda_words[] =
    "#define __global__\n#define __device__\n#define __shared__\n#define __half _Float16\n"
    "typedef struct { unsigned x, y, z; } dim3;\nextern dim3 threadIdx, blockIdx, blockDim, gridDim;\n"
    "void __syncthreads(void);\n_Float16 __float2half(float x);\n_Float16 __double2half(double x);\n"
    "float __half2float(_Float16 x);\nfloat expf(float x), logf(float x), sqrtf(float x), rsqrtf(float x);\n"
    "float fabsf(float x), fminf(float x, float y), fmaxf(float x, float y);\n"
    "double exp(double x), log(double x), sqrt(double x), rsqrt(double x), fabs(double x);\n"
    "double fmin(double x, double y), fmax(double x, double y);\n";

static FILE *compiler(const char *arguments) {
    char command[600];
    const char *cc = getenv("CC");
    snprintf(command, sizeof command, "%s -std=gnu11 -x c %s -", cc && *cc ? cc : "cc", arguments);
    FILE *to = popen(command, "w");
    cr_assert(to);
    return to;
}

/* C11 with _Float16, which gcc knows from version 12 and clang from 15. */
static bool compiler_knows_half(void) {
    FILE *to = compiler("-fsyntax-only 2>/dev/null");
    fputs("_Float16 x;\n", to);
    return pclose(to) == 0;
}

Test(body_emit, compilers_accept_it) {
    if (!compiler_knows_half())
        cr_skip_test("the C compiler does not know _Float16");
    body b = body_from(awkward);
    for (int cuda = 0; cuda < 2; cuda++) {
        textbuf t = {0};
        (cuda ? body_emit_cuda : body_emit_c)(&t, &b, "kernel");
        FILE *to = compiler("-fsyntax-only -Wall -Wextra -Werror -Wno-unused");
        if (cuda) /* without the header that only CUDA has */
            fprintf(to, "%s%s", cuda_words, strchr(t.text, '\n'));
        else
            fputs(t.text, to);
        cr_expect_eq(pclose(to), 0, "%s", t.text);
        textbuf_free(&t);
    }
    body_free(&b);
}

static void expect_emitted(const char *text, const char *c, const char *cuda) {
    body b = body_from(text);
    textbuf t = {0};
    body_emit_c(&t, &b, "f");
    cr_expect_str_eq(t.text, c);
    t.length = 0;
    body_emit_cuda(&t, &b, "f");
    cr_expect_str_eq(t.text, cuda);
    textbuf_free(&t);
    body_free(&b);
}

Test(body_emit, reads_well) {
    expect_emitted(
        "param i32 n = 8\nglobal f32 a[16, n], r[16]\nblocks 4\nthreads 4\nfor (k, 0, n) {\n"
        "r[bid * 4 + tid] = r[bid * 4 + tid] + a[bid * 4 + tid, k] * 0.5\n}\n",
        "#include <math.h>\n#include <stdint.h>\n\n"
        "void f(const float *restrict a, float *restrict r, int32_t n) {\n"
        "    for (int32_t bid = 0; bid < 4; bid++) {\n        for (int32_t tid = 0; tid < 4; tid++) {\n"
        "            for (int32_t k = 0; k < n; k++) {\n"
        "                r[bid * 4 + tid] = r[bid * 4 + tid] + a[(bid * 4 + tid) * n + k] * 0.5f;\n"
        "            }\n        }\n    }\n}\n",
        "#include <stdint.h>\n\n/* <<<dim3(4, 1, 1), dim3(4, 1, 1)>>> */\n"
        "__global__ void f(const float *__restrict__ a, float *__restrict__ r, int32_t n) {\n"
        "    const int32_t bid = (int32_t)(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));\n"
        "    const int32_t tid = (int32_t)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * "
        "threadIdx.z));\n"
        "    for (int32_t k = 0; k < n; k++) {\n"
        "        r[bid * 4 + tid] = r[bid * 4 + tid] + a[(bid * 4 + tid) * n + k] * 0.5f;\n    }\n}\n");
}

/* call_I(memory) hands the arrays of body I, and its params, to f_I. */
static void put_call(FILE *to, const body *b, int i) {
    fprintf(to, "void call_%d(void **memory) {\n    f_%d(", i, i);
    const char *between = "";
    for (uint32_t id = 0; id < b->arrays; id++)
        if (b->array[id]->space == SPACE_GLOBAL) {
            fprintf(to, "%smemory[%u]", between, id);
            between = ", ";
        }
    for (uint32_t id = 0; id < b->params; id++)
        if (body_type_is_float(b->param[id]->type))
            fprintf(to, ", %a", b->param[id]->real);
        else
            fprintf(to, ", %lld", (long long)b->param[id]->integer);
    fprintf(to, ");\n}\n");
}

/* Random bodies, hoisted, compiled as C and run: the same bits as the interpreter's. So both are right about what C
 * does, or wrong in the same way. */
Test(body_emit, compiled_bodies_compute_what_the_interpreter_does) {
    enum { BODIES = 60 };
    if (!compiler_knows_half())
        cr_skip_test("the C compiler does not know _Float16");
    static body bodies[BODIES], after[BODIES];
    char library[] = "/tmp/coalign_test_XXXXXX", arguments[200];
    int file = mkstemp(library);
    cr_assert_geq(file, 0);
    close(file);
    /* As written: no fused multiply-add, no functions computed by the compiler, overflow wraps. */
    snprintf(arguments, sizeof arguments, "-O1 -w -fwrapv -ffp-contract=off -fno-builtin -shared -fPIC -o %s", library);
    FILE *to = compiler(arguments);
    prng g = {77};
    for (int i = 0; i < BODIES; i++) {
        char name[32];
        message m;
        hoist_report r;
        textbuf text = random_body(&g), c = {0};
        bodies[i] = body_from(text.text);
        cr_assert_eq(hoist(&bodies[i], HOIST_LIMIT_DEFAULT, &after[i], &r, &m), OK);
        snprintf(name, sizeof name, "f_%d", i);
        body_emit_c(&c, &after[i], name);
        /* The helpers are static and would be there twice. */
        fprintf(to,
                "#define body_min_i32 min_i32_%d\n#define body_max_i32 max_i32_%d\n#define body_abs_i32 abs_i32_%d\n"
                "#define body_min_i64 min_i64_%d\n#define body_max_i64 max_i64_%d\n#define body_abs_i64 abs_i64_%d\n"
                "%s#undef body_min_i32\n#undef body_max_i32\n#undef body_abs_i32\n#undef body_min_i64\n"
                "#undef body_max_i64\n#undef body_abs_i64\n",
                i, i, i, i, i, i, c.text);
        put_call(to, &bodies[i], i);
        hoist_report_free(&r);
        textbuf_free(&text);
        textbuf_free(&c);
    }
    cr_assert_eq(pclose(to), 0);
    void *handle = dlopen(library, RTLD_NOW);
    cr_assert(handle, "%s", dlerror());
    for (int i = 0; i < BODIES; i++) {
        char name[32];
        message m;
        snprintf(name, sizeof name, "call_%d", i);
        void (*call)(void **memory) = NULL;
        *(void **)&call = dlsym(handle, name);
        cr_assert(call);
        void **got = body_memory(&bodies[i], (uint64_t)i), **want = body_memory(&bodies[i], (uint64_t)i);
        cr_assert_eq(body_interpret(&bodies[i], want, &m), OK, "%s", m.text);
        call(got);
        textbuf text = body_text(&bodies[i]);
        body_memory_expect_equal(&bodies[i], got, want, text.text);
        textbuf_free(&text);
        body_memory_free(&bodies[i], got);
        body_memory_free(&bodies[i], want);
        body_free(&bodies[i]);
        body_free(&after[i]);
    }
    dlclose(handle);
    unlink(library);
}

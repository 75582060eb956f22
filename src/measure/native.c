#define _GNU_SOURCE /* sched_setaffinity, syscall */
#include "measure/native.h"

#include "base/mem.h"
#include "measure/native_work.h"

#include <linux/perf_event.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { COUNTERS = 2, PAGE_BYTES = 4096, SIDE_LEAST = 256 };

static const uint64_t counted[COUNTERS] = {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_CACHE_MISSES};
static const char *const counted_name[COUNTERS] = {"cycles_per_access", "cache_misses_per_access"};
static const char *const counted_unit[COUNTERS] = {"cycle", "miss"};

typedef struct session {
    native_result *out;
    int (*progress)(void *context, const char *name);
    void *context;
    message *m;
    int counter[COUNTERS];
    native_work work;
} session;

typedef struct sample {
    double seconds, count[COUNTERS]; /* of one pass; NAN: n/a */
} sample;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int open_counter(uint64_t what) {
    struct perf_event_attr a = {
        .type = PERF_TYPE_HARDWARE, .size = sizeof a, .config = what, .exclude_kernel = 1, .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
}

static double read_counter(int fd) {
    uint64_t n = 0;
    return fd >= 0 && read(fd, &n, sizeof n) == sizeof n ? (double)n : NAN;
}

static sample time_passes(const session *s, native_pass *pass, uint64_t passes) {
    sample x = {0};
    double before[COUNTERS];
    for (int i = 0; i < COUNTERS; i++)
        before[i] = read_counter(s->counter[i]);
    const double start = now();
    for (uint64_t i = 0; i < passes; i++)
        pass(&s->work);
    x.seconds = (now() - start) / (double)passes;
    for (int i = 0; i < COUNTERS; i++)
        x.count[i] = (read_counter(s->counter[i]) - before[i]) / (double)passes;
    return x;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static status add_row(session *s, const char *name, double x, const char *metric, const char *unit,
                      double value[NATIVE_REPEATS]) {
    native_result *r = s->out;
    if (!mem_reserve((void **)&r->row, &r->capacity, r->count + 1, sizeof *r->row))
        return fail(s->m, ERR_MEMORY, "not enough memory for the measurements");
    native_row row = {.name = name, .metric = metric, .unit = unit, .x = x, .value = NAN, .low = NAN, .high = NAN};
    if (!isnan(value[0])) {
        qsort(value, NATIVE_REPEATS, sizeof *value, ascending);
        row.low = value[0];
        row.value = value[NATIVE_REPEATS / 2];
        row.high = value[NATIVE_REPEATS - 1];
    }
    r->row[r->count++] = row;
    return OK;
}

/* Times a pass of `accesses` accesses; bytes 0: the time of one is the figure, else bytes a second. */
static status point(session *s, const char *name, double x, native_pass *pass, double accesses, double bytes) {
    if (s->progress && s->progress(s->context, name))
        return fail(s->m, ERR_INTERRUPTED, "interrupted after %zu figures", s->out->count);
    uint64_t passes = 1;
    pass(&s->work);
    while (time_passes(s, pass, passes).seconds * (double)passes < NATIVE_SAMPLE_S)
        passes *= 2;
    double figure[NATIVE_REPEATS], count[COUNTERS][NATIVE_REPEATS];
    for (int i = 0; i < NATIVE_REPEATS; i++) {
        const sample t = time_passes(s, pass, passes);
        figure[i] = bytes > 0 ? bytes / t.seconds * 1e-9 : t.seconds / accesses * 1e9;
        for (int c = 0; c < COUNTERS; c++)
            count[c][i] = t.count[c] / accesses;
    }
    const char *metric = strcmp(name, "chase") == 0 ? "latency" : bytes > 0 ? "bandwidth" : "time_per_access";
    TRY(add_row(s, name, x, metric, bytes > 0 ? "GB/s" : "ns", figure));
    for (int c = 0; c < COUNTERS; c++)
        TRY(add_row(s, name, x, counted_name[c], counted_unit[c], count[c]));
    return OK;
}

static status walks(session *s, uint64_t largest) {
    native_work *w = &s->work;
    for (uint64_t size = 4096; size <= largest; size *= 2) {
        const double bytes = (double)size;
        w->bytes = size;
        native_link(w->from, size, 1);
        TRY(point(s, "chase", bytes, native_chase, bytes / NATIVE_LINE_BYTES, 0));
        TRY(point(s, "read", bytes, native_read, bytes / 8, bytes));
        w->bytes = size / 2; /* of each array */
        TRY(point(s, "copy", bytes, native_copy, bytes / 16, bytes));
        TRY(point(s, "memcpy", bytes, native_memcpy, bytes / 16, bytes));
#ifdef __SSE2__
        TRY(point(s, "stream", bytes, native_stream, bytes / 32, bytes));
#endif
    }
    w->bytes = largest < NATIVE_STRIDE_BYTES ? largest : NATIVE_STRIDE_BYTES;
    for (w->stride = 8; w->stride <= 8192; w->stride *= 2)
        TRY(point(s, "stride", (double)w->stride, native_stride, (double)(w->bytes / w->stride), 0));
    return OK;
}

static status copies(session *s, uint64_t largest) {
    native_work *w = &s->work;
    for (size_t side = SIDE_LEAST; side * (side + 1) * sizeof(float) <= largest / 2; side *= 2) {
        const double elements = (double)side * (double)side, bytes = 2 * elements * sizeof(float), x = (double)side;
        w->side = side;
        TRY(point(s, "transpose rows", x, native_by_rows, elements, bytes));
        TRY(point(s, "transpose columns", x, native_by_columns, elements, bytes));
        w->tile = 32;
        TRY(point(s, "transpose tiles of 32", x, native_tiled, elements, bytes));
        w->tile = 64;
        TRY(point(s, "transpose recursive", x, native_recursive, elements, bytes));
        TRY(point(s, "slice rows", x, native_slice_rows, elements, bytes));
        TRY(point(s, "slice columns", x, native_slice_columns, elements, bytes));
    }
    return OK;
}

/* The core that the thread runs on stays it. */
static int pin(void) {
    const int core = sched_getcpu();
    cpu_set_t one;
    CPU_ZERO(&one);
    if (core >= 0)
        CPU_SET((size_t)core, &one);
    return core >= 0 && sched_setaffinity(0, sizeof one, &one) == 0 ? core : -1;
}

static void name_host(char *name, size_t size) {
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[256];
    snprintf(name, size, "unknown processor");
    while (f && fgets(line, sizeof line, f)) {
        char *at = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (!at)
            continue;
        at[strcspn(at, "\n")] = '\0';
        for (char *p = at; *p; p++) /* a field of CSV */
            if (*p == ',' || *p == '"')
                *p = ' ';
        snprintf(name, size, "%s", at + 1 + strspn(at + 1, " "));
        break;
    }
    if (f)
        fclose(f);
}

status native_measure(uint64_t largest, int (*progress)(void *context, const char *name), void *context,
                      native_result *out, message *m) {
    *out = (native_result){.counters = true};
    session s = {.out = out, .progress = progress, .context = context, .m = m};
    char *memory = mem_zero(1, 2 * largest + 2 * PAGE_BYTES);
    if (!memory)
        return fail(m, ERR_MEMORY, "not enough memory for two arrays of %llu bytes", (unsigned long long)largest);
    char *start = memory + (PAGE_BYTES - (uintptr_t)memory % PAGE_BYTES) % PAGE_BYTES;
    s.work = (native_work){.from = start, .to = start + largest};
    cpu_set_t before;
    const bool known = sched_getaffinity(0, sizeof before, &before) == 0;
    name_host(out->host, sizeof out->host);
    out->core = pin();
    memset(start, 1, 2 * largest); /* pages of its own, not the shared page of zeros */
    for (int i = 0; i < COUNTERS; i++) {
        s.counter[i] = open_counter(counted[i]);
        out->counters = out->counters && s.counter[i] >= 0;
    }
    status st = walks(&s, largest);
    if (st == OK) {
        memset(start, 0, 2 * largest); /* no denormal or NaN floats */
        st = copies(&s, largest);
    }
    for (int i = 0; i < COUNTERS; i++)
        if (s.counter[i] >= 0)
            close(s.counter[i]);
    if (known)
        sched_setaffinity(0, sizeof before, &before);
    mem_free(memory);
    return st;
}

void native_free(native_result *r) {
    mem_free(r->row);
    *r = (native_result){0};
}

static void csv_number(FILE *out, double x) {
    if (isnan(x))
        fputs(",n/a", out);
    else
        fprintf(out, ",%.6g", x);
}

void native_write_csv(FILE *out, const native_result *r) {
    fputs("set,case,x,metric,unit,value,low,high,source\n", out);
    for (size_t i = 0; i < r->count; i++) {
        const native_row *x = &r->row[i];
        fprintf(out, "native,%s,%.0f,%s,%s", x->name, x->x, x->metric, x->unit);
        csv_number(out, x->value);
        csv_number(out, x->low);
        csv_number(out, x->high);
        fprintf(out, ",coalign measure --native on %s\n", r->host);
    }
}

/* hoist_text.c - the page about one body: what moved, a turn of the loop, what it costs, the sweep. */
#include "base/mem.h"
#include "report/hoist_result.h"
#include "report/limiter.h"
#include "report/table.h"
#include "report/text.h"
#include "report/value.h"
#include "report/write.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LINES_MAX = 400, SHOWN_STALLS = 6, ROW_LABEL = 10 };

/* ---- the source, before and after -------------------------------------------------------------------------------- */

typedef struct lines {
    const char *start[LINES_MAX];
    int length[LINES_MAX];
    uint32_t count;
    bool all;
} lines;

static void split(const char *text, lines *l) {
    l->count = 0;
    while (*text && l->count < LINES_MAX) {
        const size_t length = strcspn(text, "\n");
        l->start[l->count] = text;
        l->length[l->count++] = (int)length;
        text += length + (text[length] == '\n');
    }
    l->all = !*text;
}

static bool same_line(const lines *a, uint32_t i, const lines *b, uint32_t j) {
    return a->length[i] == b->length[j] && memcmp(a->start[i], b->start[j], (size_t)a->length[i]) == 0;
}

static void put_line(FILE *out, char sign, const lines *l, uint32_t i) {
    fprintf(out, "  %c %.*s\n", sign, l->length[i], l->start[i]);
}

/* The longest common subsequence tells what stays. */
static void print_difference(FILE *out, const lines *a, const lines *b, uint16_t (*common)[LINES_MAX + 1]) {
    for (uint32_t i = a->count; i-- > 0;)
        for (uint32_t j = b->count; j-- > 0;) {
            uint16_t skip = common[i + 1][j] > common[i][j + 1] ? common[i + 1][j] : common[i][j + 1];
            common[i][j] = same_line(a, i, b, j) ? (uint16_t)(common[i + 1][j + 1] + 1) : skip;
        }
    uint32_t i = 0, j = 0;
    while (i < a->count || j < b->count) {
        if (i < a->count && j < b->count && same_line(a, i, b, j)) {
            put_line(out, ' ', a, i++);
            j++;
        } else if (j == b->count || (i < a->count && common[i + 1][j] >= common[i][j + 1])) {
            put_line(out, '-', a, i++);
        } else {
            put_line(out, '+', b, j++);
        }
    }
}

static status print_source(FILE *out, const hoist_result *r, message *m) {
    lines *text = mem_zero(2, sizeof *text);
    uint16_t(*common)[LINES_MAX + 1] = mem_zero(LINES_MAX + 1, sizeof *common);
    status s = OK;
    if (text && common) {
        split(r->before_text, &text[0]);
        split(r->after_text, &text[1]);
        if (text[0].all && text[1].all)
            print_difference(out, &text[0], &text[1], common);
        else
            fprintf(out, "  (longer than %d lines: see --emit)\n", LINES_MAX);
    } else {
        s = fail(m, ERR_MEMORY, "not enough memory to compare the bodies");
    }
    mem_free(text);
    mem_free(common);
    return s;
}

/* ---- a turn of the loop ------------------------------------------------------------------------------------------ */

int64_t timeline_span(const hoist_variant *v) {
    if (v->turn_end <= v->turn_first)
        return 0;
    int64_t end = v->line.event[v->turn_end - 1].cycle + 1;
    for (uint32_t i = v->turn_first; i < v->turn_end; i++) {
        const timeline_event *e = &v->line.event[i];
        const uint8_t op = v->code.k.code[e->pc].op;
        if (op == OP_LOAD && e->ready > end)
            end = e->ready;
    }
    return end - v->line.event[v->turn_first].cycle;
}

static char issue_mark(uint8_t op) {
    switch (op) {
    case OP_LOAD:
    case OP_SHARED_LOAD:
        return 'L';
    case OP_STORE:
    case OP_SHARED_STORE:
        return 'S';
    default:
        return '#';
    }
}

static int importance(char mark) {
    return mark == 'L' ? 3 : mark == 'S' ? 2 : mark == '#';
}

void timeline_rows(const hoist_variant *v, uint32_t columns, int64_t scale, char *issue, char *flight) {
    memset(issue, ' ', columns);
    memset(flight, ' ', columns);
    issue[columns] = flight[columns] = '\0';
    if (v->turn_end <= v->turn_first)
        return;
    const int64_t start = v->line.event[v->turn_first].cycle, span = timeline_span(v);
    const int64_t last = v->line.event[v->turn_end - 1].cycle - start;
    for (uint32_t c = 0; c < columns && c * scale < span; c++) {
        const int64_t from = start + c * scale, to = from + scale;
        uint32_t most = 0, now = 0;
        if (c * scale <= last)
            issue[c] = '.';
        for (uint32_t i = v->turn_first; i < v->turn_end; i++) {
            const timeline_event *e = &v->line.event[i];
            const uint8_t op = v->code.k.code[e->pc].op;
            const char mark = issue_mark(op);
            if (e->cycle >= from && e->cycle < to && importance(mark) > importance(issue[c]))
                issue[c] = mark;
            now += op == OP_LOAD && e->cycle < to && e->ready > from;
        }
        most = now;
        flight[c] = most == 0 ? ' ' : most < 10 ? (char)('0' + most) : '+';
    }
}

static void print_timeline(FILE *out, const char *label, const hoist_variant *v, uint32_t columns, int64_t scale,
                           char *issue, char *flight) {
    timeline_rows(v, columns, scale, issue, flight);
    const int64_t turn = v->line.event[v->turn_end - 1].cycle - v->line.event[v->turn_first].cycle + 1;
    fprintf(out, "\n  %s: %" PRId64 " cycles from the first to the last issue\n", label, turn);
    fprintf(out, "  %-*s%s\n  %-*s%s\n", ROW_LABEL - 2, "issue", issue, ROW_LABEL - 2, "loads", flight);
}

static status print_timelines(FILE *out, const hoist_result *r, size_t width, message *m) {
    const hoist_variant *b = &r->variant[r->before], *a = &r->variant[r->after];
    const uint32_t columns = (uint32_t)(width > 140 ? 130 : width - ROW_LABEL);
    const int64_t spans[2] = {timeline_span(b), timeline_span(a)};
    const int64_t longest = spans[0] > spans[1] ? spans[0] : spans[1];
    if (!longest)
        return OK;
    const int64_t scale = (longest + columns - 1) / columns;
    char *rows = mem_zero(2, columns + 1u);
    if (!rows)
        return fail(m, ERR_MEMORY, "not enough memory for a timeline");
    fprintf(out, "\n");
    text_line(
        out, width,
        "One turn of the innermost loop in the first warp. A column is %" PRId64
        " cycle%s: L issues a load, S a store, # another instruction, . waits; below, how many loads are in flight.",
        scale, scale == 1 ? "" : "s");
    print_timeline(out, "as written", b, columns, scale, rows, rows + columns + 1);
    if (r->after != r->before) {
        char label[64];
        snprintf(label, sizeof label, "%" PRIu32 " load%s hoisted", a->hoisted, a->hoisted == 1 ? "" : "s");
        print_timeline(out, label, a, columns, scale, rows, rows + columns + 1);
    }
    mem_free(rows);
    return OK;
}

/* The instructions of the turn, for --details. */
static status print_instructions(FILE *out, const char *label, const hoist_variant *v, size_t width, message *m) {
    static const table_column columns[] = {{"cycle", "", 1, 0},       {"waited", "", 1, 0}, {"for", "", 0, 0},
                                           {"instruction", "", 0, 0}, {"of", "", 0, 0},     {"ready", "", 1, 0},
                                           {"line", "", 1, 0}};
    table t = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    status s = OK;
    const int64_t start = v->turn_end > v->turn_first ? v->line.event[v->turn_first].cycle : 0;
    for (uint32_t i = v->turn_first; i < v->turn_end && s == OK; i++) {
        const timeline_event *e = &v->line.event[i];
        const lower_note *note = &v->code.note[e->pc];
        const char *of = note->array ? note->array->name : lower_origin_name(note->origin);
        uint64_t waited = 0;
        int most = -1;
        for (int k = 0; k < STALL_COUNT; k++) {
            waited += e->stall[k];
            if (e->stall[k] && (most < 0 || e->stall[k] > e->stall[most]))
                most = k;
        }
        s = table_add(&t, m, "%" PRId64, e->cycle - start);
        s = s ? s : table_add(&t, m, "%" PRIu64, waited);
        s = s ? s : table_add(&t, m, "%s", most < 0 ? "" : stall_label((stall_reason)most));
        s = s ? s : table_add(&t, m, "%s", op_class_name((op_class)v->code.k.code[e->pc].op));
        s = s ? s : table_add(&t, m, "%s", of);
        s = s ? s : (e->ready < 0 ? table_add(&t, m, "%s", "") : table_add(&t, m, "%" PRId64, e->ready - start));
        s = s ? s : (note->line ? table_add(&t, m, "%d", (int)note->line) : table_add(&t, m, "%s", ""));
    }
    if (s == OK) {
        fprintf(out, "\n  Instructions of the turn, %s:\n\n", label);
        table_print(&t, out, width);
    }
    table_free(&t);
    return s;
}

/* ---- figures ----------------------------------------------------------------------------------------------------- */

static double change(double before, double after) {
    return before > 0 ? 100 * (after - before) / before : NAN;
}

static status add_row(table *t, message *m, const char *label, const char *unit, double before, double after) {
    char a[CELL], b[CELL], c[CELL] = "";
    format_value(a, sizeof a, real(before));
    format_value(b, sizeof b, real(after));
    const double percent = change(before, after);
    if (isfinite(percent) && (percent >= 0.05 || percent <= -0.05))
        snprintf(c, sizeof c, "%+.1f %%", percent);
    TRY(table_add(t, m, "%s", label));
    TRY(table_add(t, m, "%s", unit));
    TRY(table_add(t, m, "%s", a));
    TRY(table_add(t, m, "%s", b));
    return table_add(t, m, "%s", c);
}

static status add_whole(table *t, message *m, const char *label, const char *unit, uint64_t before, uint64_t after) {
    TRY(table_add(t, m, "%s", label));
    TRY(table_add(t, m, "%s", unit));
    TRY(table_add(t, m, "%" PRIu64, before));
    TRY(table_add(t, m, "%" PRIu64, after));
    return before == after ? table_add(t, m, "%s", "") : table_add(t, m, "%+" PRId64, (int64_t)after - (int64_t)before);
}

static double microseconds(const hoist_variant *v) {
    return v->run.sim.time_s * 1e6;
}

static status add_stalls(table *t, const hoist_variant *b, const hoist_variant *a, message *m) {
    bool shown[STALL_COUNT] = {false};
    for (int n = 0; n < SHOWN_STALLS; n++) {
        int best = -1;
        double most = 0.05;
        for (int i = 0; i < STALL_COUNT; i++) {
            const double x = hoist_stall(b, (stall_reason)i), y = hoist_stall(a, (stall_reason)i);
            const double larger = x > y ? x : y;
            if (!shown[i] && larger > most) {
                most = larger;
                best = i;
            }
        }
        if (best < 0)
            break;
        shown[best] = true;
        TRY(add_row(t, m, stall_label((stall_reason)best), "cycles/warp", hoist_stall(b, (stall_reason)best),
                    hoist_stall(a, (stall_reason)best)));
    }
    return OK;
}

static status add_figures(table *t, const hoist_result *r, message *m) {
    const hoist_variant *b = &r->variant[r->before], *a = &r->variant[r->after];
    const sim_result *x = &b->run.sim, *y = &a->run.sim;
    char before[96], after[96];
    TRY(add_row(t, m, "time", "us", microseconds(b), microseconds(a)));
    TRY(add_whole(t, m, "cycles", "", x->cycles, y->cycles));
    TRY(add_whole(t, m, "registers of a thread", "", b->code.k.registers, a->code.k.registers));
    TRY(add_whole(t, m, "resident warps of a core", "", hoist_warps(b), hoist_warps(a)));
    TRY(add_whole(t, m, "values spilled", "", b->code.spilled, a->code.spilled));
    TRY(add_whole(t, m, "loads of a warp in flight", "", b->loads_in_flight, a->loads_in_flight));
    TRY(add_whole(t, m, "instructions in the code", "", b->code.k.code_count, a->code.k.code_count));
    snprintf(before, sizeof before, "%s %.0f %%", limiter_name(&b->run, 0), x->limit[0].utilisation * 100);
    snprintf(after, sizeof after, "%s %.0f %%", limiter_name(&a->run, 0), y->limit[0].utilisation * 100);
    TRY(table_add(t, m, "busiest resource"));
    TRY(table_add(t, m, "%s", ""));
    TRY(table_add(t, m, "%s", before));
    TRY(table_add(t, m, "%s", after));
    TRY(table_add(t, m, "%s", ""));
    TRY(add_row(t, m, "a warp is resident", "cycles", (double)x->resident_cycles / (double)(x->warps ? x->warps : 1),
                (double)y->resident_cycles / (double)(y->warps ? y->warps : 1)));
    TRY(add_row(t, m, "Selected (issues)", "cycles/warp", (double)x->issue_cycles / (double)(x->warps ? x->warps : 1),
                (double)y->issue_cycles / (double)(y->warps ? y->warps : 1)));
    return add_stalls(t, b, a, m);
}

static status print_figures(FILE *out, const hoist_result *r, size_t width, message *m) {
    static const table_column columns[] = {
        {"", "", 0, 0}, {"", "", 0, 0}, {"as written", "", 1, 0}, {"hoisted", "", 1, 0}, {"change", "", 1, 0}};
    table t = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    status s = add_figures(&t, r, m);
    if (s == OK) {
        fputc('\n', out);
        table_print(&t, out, width);
    }
    table_free(&t);
    return s;
}

static status print_sweep(FILE *out, const hoist_result *r, size_t width, message *m) {
    static const table_column columns[] = {{"hoisted", "", 1, 0}, {"registers", "", 1, 0}, {"warps", "", 1, 0},
                                           {"spilled", "", 1, 0}, {"in flight", "", 1, 0}, {"time", "us", 1, 0},
                                           {"speedup", "", 1, 0}, {"", "", 0, 0}};
    if (r->variants < 3)
        return OK;
    table t = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    status s = OK;
    for (uint32_t i = 0; i < r->variants && s == OK; i++) {
        const hoist_variant *v = &r->variant[i];
        char time[CELL], mark[64] = "";
        format_value(time, sizeof time, real(microseconds(v)));
        snprintf(mark, sizeof mark, "%s%s%s", i == r->best ? "best" : "", i == r->best && i == r->after ? ", " : "",
                 i == r->after ? "shown above" : "");
        s = table_add(&t, m, "%" PRIu32, v->hoisted);
        s = s ? s : table_add(&t, m, "%" PRIu32, v->code.k.registers);
        s = s ? s : table_add(&t, m, "%" PRIu32, hoist_warps(v));
        s = s ? s : table_add(&t, m, "%" PRIu32, v->code.spilled);
        s = s ? s : table_add(&t, m, "%" PRIu32, v->loads_in_flight);
        s = s ? s : table_add(&t, m, "%s", time);
        s = s ? s : table_add(&t, m, "%.3f", hoist_speedup(r, i));
        s = s ? s : table_add(&t, m, "%s", mark);
    }
    if (s == OK) {
        fprintf(out, "\n");
        table_print(&t, out, width);
    }
    table_free(&t);
    return s;
}

static void print_notes(FILE *out, const hoist_result *r, size_t width) {
    const hoist_variant *a = &r->variant[r->after];
    if (a->code.scattered)
        text_line(out, width,
                  "Note: the address of %" PRIu32
                  " access%s depends on data; it is simulated as pseudo-random within the "
                  "extent of the subscript.",
                  a->code.scattered, a->code.scattered == 1 ? "" : "es");
    if (a->run.sim.simulated_blocks < a->run.sim.blocks)
        text_line(out, width, "Note: %.3g %% of the blocks were simulated, until the rate was steady (--exact: all).",
                  100.0 * (double)a->run.sim.simulated_blocks / (double)a->run.sim.blocks);
}

status hoist_page(FILE *out, const report_options *o, const hoist_result *r, message *m) {
    const hoist_variant *b = &r->variant[r->before], *a = &r->variant[r->after];
    fprintf(out, "%s: %" PRIu64 " blocks of %" PRIu32 " threads on %s\n\n", r->name, b->code.k.blocks,
            b->code.k.block_threads, b->run.mach->name);
    text_line(out, o->width, "%s", r->reason);
    if (r->best != r->after && hoist_speedup(r, r->best) > hoist_speedup(r, r->after))
        text_line(out, o->width, "Best: %" PRIu32 " load%s hoisted, %.3f times as fast as written.",
                  r->variant[r->best].hoisted, r->variant[r->best].hoisted == 1 ? "" : "s", hoist_speedup(r, r->best));
    print_notes(out, r, o->width);
    fputc('\n', out);
    TRY(print_source(out, r, m));
    TRY(print_timelines(out, r, o->width, m));
    TRY(print_figures(out, r, o->width, m));
    TRY(print_sweep(out, r, o->width, m));
    if (!o->details)
        return OK;
    TRY(print_instructions(out, "as written", b, o->width, m));
    if (r->after != r->before)
        TRY(print_instructions(out, "hoisted", a, o->width, m));
    fputc('\n', out);
    TRY(text_page(out, o, &b->run, m));
    fputc('\n', out);
    return r->after == r->before ? OK : text_page(out, o, &a->run, m);
}

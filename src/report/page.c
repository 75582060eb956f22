/* page.c - everything about one run, for people. */
#include "report/limiter.h"
#include "report/table.h"
#include "report/text.h"
#include "report/value.h"
#include "report/write.h"

#include <math.h>
#include <string.h>

static void heading(FILE *out, const char *title) {
    fprintf(out, "\n  %s\n  ", title);
    for (size_t i = 0; i < REPORT_WIDTH - 4; i++)
        fputc('-', out);
    fputc('\n', out);
}

static void plain_section(FILE *out, const run_record *r, section where) {
    heading(out, section_title(where));
    for (size_t i = 0; i < metric_count; i++) {
        const metric *m = &metric_table[i];
        if (m->where != where)
            continue;
        metric_value v = m->get(r, m->argument);
        /* A class or pipe that was not used is not news. */
        if (where == SECTION_INSTRUCTIONS && m->label[0] == ' ' &&
            ((v.kind == VALUE_COUNT && v.count == 0) || (v.kind == VALUE_REAL && v.real <= 0)))
            continue;
        char cell[CELL];
        fprintf(out, "  %-44s %-16s %24s\n", m->label, m->unit, format_value(cell, sizeof cell, v));
    }
}

/* Load/store pairs side by side. */
static void pair_section(FILE *out, const run_record *r, section where) {
    heading(out, section_title(where));
    fprintf(out, "  %-44s %-16s %16s %16s\n", "", "", "loads", "stores");
    for (size_t i = 0; i + 1 < metric_count; i++) {
        const metric *ld = &metric_table[i], *st = &metric_table[i + 1];
        if (ld->where != where || st->where != where || ld->argument != 0)
            continue;
        char a[CELL], b[CELL];
        fprintf(out, "  %-44s %-16s %16s %16s\n", ld->label, ld->unit, format_value(a, sizeof a, ld->get(r, 0)),
                format_value(b, sizeof b, st->get(r, 1)));
    }
}

/* Labelled level metrics downwards, levels sideways: there are few levels. */
static status level_section(FILE *out, const run_record *r, message *m) {
    heading(out, section_title(SECTION_CACHES));
    table_column columns[2 + MACHINE_LEVELS_MAX] = {{"  ", "", 0, 0}, {"", "", 0, 0}};
    size_t levels = r->mach->level_count;
    for (size_t l = 0; l < levels; l++)
        columns[2 + l] = (table_column){r->mach->level[l].name, "", 1, 0};
    table t = {.columns = columns, .column_count = 2 + levels, .bare = true};
    status s = OK;
    for (size_t i = 0; i < level_metric_count && s == OK; i++) {
        const level_metric *lm = &level_metric_table[i];
        if (!*lm->label)
            continue;
        s = table_add(&t, m, "  %-24s", lm->label);
        if (s == OK)
            s = table_add(&t, m, "%s", lm->unit);
        for (uint32_t l = 0; l < levels && s == OK; l++) {
            char cell[CELL];
            s = table_add(&t, m, "%s", format_value(cell, sizeof cell, lm->get(r, l)));
        }
    }
    if (s == OK)
        table_print(&t, out, SIZE_MAX);
    table_free(&t);
    return s;
}

static void stall_line(FILE *out, const char *label, uint64_t cycles, const sim_result *s) {
    enum { BAR = 30 };
    double part = (double)cycles / (double)s->resident_cycles;
    char bar[BAR + 1] = {0};
    memset(bar, '#', (size_t)(fmin(fmax(part, 0), 1) * BAR + 0.5));
    fprintf(out, "  %-28s %10.2f cycle/inst %8.1f %%   %s\n", label, (double)cycles / (double)s->issue_cycles,
            part * 100, bar);
}

static void stall_section(FILE *out, const run_record *r) {
    const sim_result *s = &r->sim;
    heading(out, section_title(SECTION_STALLS));
    if (s->issue_cycles == 0 || s->resident_cycles == 0) {
        fprintf(out, "  no instruction was issued\n");
        return;
    }
    fprintf(out, "  A warp issues an instruction every %.2f cycles; it spends them so:\n\n",
            (double)s->resident_cycles / (double)s->issue_cycles);
    stall_line(out, "Selected (issues)", s->issue_cycles, s);
    /* Largest first; ties in the order of the list. */
    bool shown[STALL_COUNT] = {false};
    for (int turn = 0; turn < STALL_COUNT; turn++) {
        int best = -1;
        for (int i = 0; i < STALL_COUNT; i++)
            if (!shown[i] && (best < 0 || s->stall_cycles[i] > s->stall_cycles[best]))
                best = i;
        shown[best] = true;
        if (s->stall_cycles[best])
            stall_line(out, stall_label((stall_reason)best), s->stall_cycles[best], s);
    }
}

status text_page(FILE *out, const report_options *options, const run_record *r, message *m) {
    char words[256], a[CELL], b[CELL];
    fprintf(out, "%s: %s of %s on %s\n", r->case_name, r->strategy, r->dataset, r->mach->name);
    if (*r->plan_reason)
        text_paragraph(out, "Plan:      ", r->plan_reason, options->width);
    for (int i = 0; i < PLAN_NOTE_COUNT; i++)
        if (r->note[i] && *r->note[i])
            text_paragraph(out, "Note:      ", r->note[i], options->width);
    fprintf(out, "  Predicted: %s us", short_metric(a, r, "predicted_us"));
    if (sampled(r))
        fprintf(out, " (95 %% CI: %s)", predicted_interval(b, r));
    if (r->useful_bytes)
        fprintf(out, ", %s GiB/s useful", short_metric(b, r, "useful_gib_per_s"));
    fputc('\n', out);
    if (!isnan(r->measured_us))
        fprintf(out, "  Measured:  %s us, error %s %%\n", short_metric(a, r, "measured_us"), signed_error(b, r));
    if (sampled(r)) {
        snprintf(words, sizeof words,
                 "%.3g %% of the blocks were simulated, until the rate was steady; every count is scaled from them "
                 "to the whole run (--exact: all)",
                 (double)r->sim.simulated_blocks / (double)r->sim.blocks * 100);
        text_paragraph(out, "Sampled:   ", words, options->width);
    }
    text_paragraph(out, "Limiter:   ", limiter_words(words, sizeof words, r), options->width);
    plain_section(out, r, SECTION_TIME);
    pair_section(out, r, SECTION_MEMORY);
    if (r->sim.shared_requests[0] || r->sim.shared_requests[1])
        pair_section(out, r, SECTION_SHARED);
    TRY(level_section(out, r, m));
    plain_section(out, r, SECTION_DRAM);
    plain_section(out, r, r->mach->kind == MACHINE_CPU ? SECTION_CPU : SECTION_OCCUPANCY);
    plain_section(out, r, SECTION_INSTRUCTIONS);
    stall_section(out, r);
    return OK;
}

#include "report/machine_report.h"

#include "base/mem.h"
#include "report/write.h"

#include <string.h>

/* ---- one machine: rows of group, key, unit, value ------------------------------------------------------------------
 */

enum { ROWS_MAX = 512, GROUP_MAX = 32, KEY_MAX = 40 };

typedef struct row {
    char group[GROUP_MAX], key[KEY_MAX];
    const char *unit;
    metric_value value;
} row;

typedef struct rows {
    row list[ROWS_MAX];
    size_t count;
    const char *group;
} rows;

static void add(rows *r, const char *key, const char *unit, metric_value value) {
    if (r->count == ROWS_MAX)
        return;
    row *new = &r->list[r->count++];
    snprintf(new->group, sizeof new->group, "%s", r->group);
    snprintf(new->key, sizeof new->key, "%s", key);
    new->unit = unit;
    new->value = value;
}

static void add_count(rows *r, const char *key, const char *unit, uint64_t n) {
    add(r, key, unit, (metric_value){.kind = VALUE_COUNT, .count = n});
}

static void add_real(rows *r, const char *key, const char *unit, double x) {
    add(r, key, unit, (metric_value){.kind = VALUE_REAL, .real = x});
}

static void add_text(rows *r, const char *key, const char *text) {
    add(r, key, "", (metric_value){.kind = VALUE_TEXT, .text = text});
}

static const char *scope_name(cache_scope s) {
    static const char *const names[] = {[SCOPE_CORE] = "core", [SCOPE_CLUSTER] = "cluster", [SCOPE_DEVICE] = "device"};
    return names[s];
}

static void core_rows(rows *r, const machine *mach) {
    const core_desc *c = &mach->core;
    r->group = "core";
    add_count(r, "count", "core", c->count);
    add_count(r, "per_cluster", "core", c->per_cluster);
    add_count(r, "warp_width", "lane", c->warp_width);
    add_count(r, "schedulers", "scheduler", c->schedulers);
    add_count(r, "issue_width", "inst/cycle", c->issue_width);
    add_count(r, "max_warps", "warp", c->max_warps);
    add_count(r, "max_blocks", "block", c->max_blocks);
    add_count(r, "max_block_threads", "thread", c->max_block_threads);
    add_count(r, "registers", "register", c->registers);
    add_count(r, "max_thread_registers", "register", c->max_thread_registers);
    add_count(r, "shared_bytes", "byte", c->shared_bytes);
    add_count(r, "shared_banks", "bank", c->shared_banks);
    add_count(r, "shared_bank_bytes", "byte", c->shared_bank_bytes);
    add_count(r, "shared_latency_cycles", "cycle", c->shared_latency_cycles);
    add_count(r, "block_launch_cycles", "cycle", c->block_launch_cycles);
    add_count(r, "dispatch_blocks_per_kilocycle", "block", c->dispatch_blocks_per_kilocycle);
    for (int i = 0; i < OP_CLASS_COUNT; i++) {
        char key[KEY_MAX];
        snprintf(key, sizeof key, "%s_latency_cycles", op_class_name((op_class)i));
        add_count(r, key, "cycle", c->op[i].latency_cycles);
        snprintf(key, sizeof key, "%s_interval_cycles", op_class_name((op_class)i));
        add_count(r, key, "cycle", c->op[i].interval_cycles);
    }
}

static void lsu_rows(rows *r, const machine *mach) {
    const lsu_desc *l = &mach->lsu;
    r->group = "load/store unit";
    add_text(r, "coalescing", coalesce_rule_name(l->rule));
    add_count(r, "queue", "inst", l->queue);
    add_count(r, "tag_lines_per_pass", "line", l->tag_lines_per_pass);
    add_count(r, "tag_banks", "bank", l->tag_banks);
    add_count(r, "data_banks", "bank", l->data_banks);
    add_count(r, "data_bank_bytes", "byte", l->data_bank_bytes);
    add_count(r, "bytes_per_cycle", "byte/cycle", l->bytes_per_cycle);
    add_count(r, "store_credits", "line", l->store_credits);
}

static void level_rows(rows *r, const cache_level *l) {
    r->group = l->name;
    add_text(r, "scope", scope_name(l->scope));
    add_count(r, "size_bytes", "byte", l->size_bytes);
    add_count(r, "ways", "way", l->ways);
    add_count(r, "line_bytes", "byte", l->line_bytes);
    add_count(r, "sector_bytes", "byte", l->sector_bytes);
    add_count(r, "slices", "slice", l->slices);
    add_text(r, "write_policy", l->write == WRITE_BACK ? "write_back" : "write_through");
    add_text(r, "partial_writes", l->partial == PARTIAL_MASK ? "mask" : l->partial == PARTIAL_MERGE ? "merge" : "fill");
    add_real(r, "bytes_per_cycle", "byte/cycle", l->bytes_per_cycle);
    add_count(r, "request_cycles", "cycle", l->request_cycles);
    add_count(r, "latency_cycles", "cycle", l->latency_cycles);
    add_count(r, "mshrs", "line", l->mshrs);
    add_count(r, "mshr_merges", "request", l->mshr_merges);
}

static void dram_rows(rows *r, const machine *mach) {
    const dram_desc *d = &mach->dram;
    r->group = "DRAM";
    add_count(r, "channels", "channel", mach->channels);
    add_count(r, "interleave_bytes", "byte", mach->interleave_bytes);
    add_real(r, "bandwidth_gb_per_s", "GB/s", d->bandwidth_bytes_per_s / 1e9);
    add_count(r, "latency_cycles", "cycle", d->latency_cycles);
    add_count(r, "burst_bytes", "byte", d->burst_bytes);
    add_count(r, "banks", "bank", d->banks);
    add_count(r, "row_bytes", "byte", d->row_bytes);
    const struct {
        const char *key;
        double ns;
    } timings[] = {
        {"t_rcd_ns", d->t_rcd_ns}, {"t_rp_ns", d->t_rp_ns},     {"t_ras_ns", d->t_ras_ns}, {"t_rrd_ns", d->t_rrd_ns},
        {"t_faw_ns", d->t_faw_ns}, {"t_wr_ns", d->t_wr_ns},     {"t_wtr_ns", d->t_wtr_ns}, {"t_rtw_ns", d->t_rtw_ns},
        {"t_rfc_ns", d->t_rfc_ns}, {"t_refi_ns", d->t_refi_ns},
    };
    for (size_t i = 0; i < sizeof timings / sizeof *timings; i++)
        add_real(r, timings[i].key, "ns", timings[i].ns);
}

static void collect(rows *r, const machine *mach) {
    r->group = "machine";
    add_text(r, "name", mach->name);
    add_text(r, "id", mach->id);
    add_text(r, "vendor", mach->vendor);
    add_real(r, "clock_mhz", "MHz", mach->clock_hz / 1e6);
    add_real(r, "launch_overhead_us", "us", mach->launch_overhead_s * 1e6);
    add_text(r, "isa", mach->isa_name);
    core_rows(r, mach);
    lsu_rows(r, mach);
    for (uint32_t i = 0; i < mach->level_count; i++)
        level_rows(r, &mach->level[i]);
    r->group = "fabric";
    add_real(r, "request_bytes_per_cycle", "byte/cycle", mach->fabric.request_bytes_per_cycle);
    add_real(r, "response_bytes_per_cycle", "byte/cycle", mach->fabric.response_bytes_per_cycle);
    add_count(r, "slice_queue", "request", mach->fabric.slice_queue);
    dram_rows(r, mach);
}

static void machine_text(FILE *out, const rows *r) {
    const char *group = "";
    for (size_t i = 0; i < r->count; i++) {
        char cell[64];
        const row *e = &r->list[i];
        if (strcmp(group, e->group) != 0)
            fprintf(out, "%s%s\n", i ? "\n" : "", e->group);
        group = e->group;
        fprintf(out, "  %-34s %18s%s%s\n", e->key, format_value(cell, sizeof cell, e->value), *e->unit ? " " : "",
                e->unit);
    }
}

static void machine_csv(FILE *out, const rows *r) {
    fputs("group,key,value,unit\n", out);
    for (size_t i = 0; i < r->count; i++) {
        const row *e = &r->list[i];
        csv_field(out, e->group);
        fprintf(out, ",%s,", e->key);
        csv_value(out, e->value);
        fprintf(out, ",%s\n", e->unit);
    }
}

static status machine_json(FILE *out, const rows *r, message *m) {
    json_t *root = json_object();
    int bad = !root;
    for (size_t i = 0; i < r->count && !bad; i++) {
        const row *e = &r->list[i];
        json_t *group = json_object_get(root, e->group);
        if (!group) {
            group = json_object();
            bad |= json_object_set_new(root, e->group, group);
        }
        bad |= json_object_set_new(group, e->key, json_value(e->value));
    }
    return json_print(out, root, bad, m);
}

status report_machine(FILE *out, const report_options *options, const machine *mach, message *m) {
    rows *r = mem_zero(1, sizeof *r);
    if (!r)
        return fail(m, ERR_MEMORY, "not enough memory for the figures of a machine");
    collect(r, mach);
    status s = OK;
    if (options->format == REPORT_TEXT)
        machine_text(out, r);
    else if (options->format == REPORT_CSV)
        machine_csv(out, r);
    else
        s = machine_json(out, r, m);
    mem_free(r);
    return s;
}

/* ---- the list ------------------------------------------------------------------------------------------------------
 */

static int longer(int width, const char *text) {
    int n = (int)strlen(text);
    return n > width ? n : width;
}

static void list_text(FILE *out, const report_options *options, const machine_line *lines, size_t count) {
    int id = 0, name = 0;
    for (size_t i = 0; i < count; i++) {
        id = longer(id, lines[i].id);
        name = longer(name, lines[i].name);
    }
    for (size_t i = 0; i < count; i++) {
        char label[2 * MACHINE_NAME_MAX + 32];
        snprintf(label, sizeof label, "%-*s  %-*s  %s", id, lines[i].id, name, lines[i].name,
                 lines[i].loads ? "" : "does not load: ");
        text_paragraph(out, label, lines[i].summary, options->width);
    }
}

static void list_csv(FILE *out, const machine_line *lines, size_t count) {
    fputs("id,name,loads,summary\n", out);
    for (size_t i = 0; i < count; i++) {
        csv_field(out, lines[i].id);
        fputc(',', out);
        csv_field(out, lines[i].name);
        fputs(lines[i].loads ? ",yes," : ",no,", out);
        csv_field(out, lines[i].summary);
        fputc('\n', out);
    }
}

static status list_json(FILE *out, const machine_line *lines, size_t count, message *m) {
    json_t *root = json_array();
    int bad = !root;
    for (size_t i = 0; i < count; i++)
        bad |= json_array_append_new(root, json_pack("{s:s, s:s, s:b, s:s}", "id", lines[i].id, "name", lines[i].name,
                                                     "loads", lines[i].loads, "summary", lines[i].summary));
    return json_print(out, root, bad, m);
}

status report_machines(FILE *out, const report_options *options, const machine_line *lines, size_t count, message *m) {
    switch (options->format) {
    case REPORT_TEXT:
        list_text(out, options, lines, count);
        break;
    case REPORT_CSV:
        list_csv(out, lines, count);
        break;
    case REPORT_JSON:
        return list_json(out, lines, count, m);
    }
    return OK;
}

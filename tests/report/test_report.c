#include "base/num.h"
#include "report/limiter.h"
#include "report/report.h"
#include "report/table.h"
#include "sample.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const report_options csv = {.format = REPORT_CSV};
static const report_options json = {.format = REPORT_JSON, .version = "1.2.3"};
static const report_options text = {.format = REPORT_TEXT, .width = REPORT_WIDTH};

static size_t separators(const char *line) {
    size_t n = 0;
    for (; *line && *line != '\n'; line++)
        n += *line == ',';
    return n;
}

Test(csv, header_begins_as_documented_and_rows_are_as_long) {
    machine mach = sample_machine();
    run_record records[] = {sample_record(&mach), sample_empty(&mach)};
    size_t size = 0;
    char *out = report_string(&csv, records, 2, &size);
    const char *head = "case,strategy,predicted_us,measured_us,error_pct,limiter,";
    cr_assert_eq(strncmp(out, head, strlen(head)), 0);
    const char *line = out;
    size_t lines = 0, want = separators(out);
    cr_assert_eq(want + 1, metric_count + 2 * level_metric_count);
    for (; *line; line = strchr(line, '\n') + 1, lines++)
        cr_expect_eq(separators(line), want, "line %zu", lines);
    cr_assert_eq(lines, 3);
    cr_assert_null(strstr(out, "nan"));
    cr_assert_null(strstr(out, "inf,"));
    free(out);
}

Test(csv, values_under_their_names) {
    static const struct {
        const char *column, *filled, *empty;
    } want[] = {
        {"case", "slice", "empty"},
        {"predicted_us", "1000", "0"},
        {"measured_us", "800", "n/a"},
        {"error_pct", "25", "n/a"},
        {"predicted_ci95_low_us", "n/a", "n/a"},
        {"predicted_ci95_high_us", "n/a", "n/a"},
        {"simulated_blocks", "2", "0"},
        {"simulated_pct", "100", "n/a"},
        {"measured_ci95_low_us", "790", "n/a"},
        {"limiter", "issue", "n/a"},
        {"limiter_pct", "93", "n/a"},
        {"runner_up", "L2 cache", "n/a"},
        {"runner_up_pct", "81", "n/a"},
        {"useful_gb_per_s", "1000", "n/a"},
        {"useful_gib_per_s", "931.322575", "n/a"}, /* 10^12 / 2^30 */
        {"dram_gb_per_s", "500", "n/a"},
        {"gpu__time_duration.sum", "1000000", "0"},
        {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "1", "0"},
        {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "32", "n/a"},
        {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", "4", "n/a"},
        {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", "4", "n/a"},
        {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "12.5", "n/a"},
        {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", "100", "n/a"},
        {"tag_wavefronts_ld", "1.25", "0"},
        {"l1tex__t_sector_hit_rate.pct", "0", "n/a"},
        {"lts__t_sector_op_read_hit_rate.pct", "75", "n/a"},
        {"lts__t_sector_op_write_hit_rate.pct", "100", "n/a"},
        {"l1_read_hit_pct", "0", "n/a"},
        {"l1_write_hit_pct", "n/a", "n/a"},
        {"l2_cache_read_hit_pct", "75", "n/a"},
        {"l2_cache_write_hit_pct", "0", "n/a"},
        {"l2_cache_write_hit_nvidia_pct", "100", "n/a"},
        {"l2_cache_cold_allocations", "5", "0"},
        {"l2_cache_busy_max_pct", "60", "n/a"},
        {"l2_cache_busy_peak_pct", "70", "n/a"},
        {"dram__bytes_read.sum", "300000000", "0"},
        {"dram__throughput.avg.pct_of_peak_sustained_elapsed", "50", "n/a"},
        {"dram_row_hit_pct", "75", "n/a"},
        {"dram_blocked_max_pct", "80", "n/a"},
        {"dram_blocked_peak_pct", "90", "n/a"},
        {"sm__maximum_warps_per_active_cycle_pct", "50", "n/a"},
        {"sm__warps_active.avg.pct_of_peak_sustained_active", "45", "n/a"},
        {"occupancy_limit", "registers", "n/a"},
        {"smsp__inst_executed.sum", "400", "0"},
        {"smsp__issue_active.avg.pct_of_peak_sustained_elapsed", "25", "n/a"},
        {"smsp__average_warp_latency_per_inst_issued.ratio", "10", "n/a"},
        {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", "7.5", "n/a"},
        {"smsp__warp_issue_stalled_wait_per_warp_active.pct", "15", "n/a"},
        {"checksum", "0000000000000abc", "0000000000000000"},
    };
    machine mach = sample_machine();
    run_record records[] = {sample_record(&mach), sample_empty(&mach)};
    size_t size = 0;
    char *out = report_string(&csv, records, 2, &size);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        char *filled = csv_at(out, want[i].column, 0), *empty = csv_at(out, want[i].column, 1);
        cr_expect_str_eq(filled ? filled : "no such column", want[i].filled, "%s", want[i].column);
        cr_expect_str_eq(empty ? empty : "no such column", want[i].empty, "%s of the empty case", want[i].column);
        free(filled);
        free(empty);
    }
    free(out);
}

Test(csv, texts_are_quoted_when_they_must_be) {
    machine mach = sample_machine();
    run_record r = sample_record(&mach);
    r.case_name = "a \"b\", c";
    size_t size = 0;
    char *out = report_string(&csv, &r, 1, &size);
    cr_assert_not_null(strstr(out, "\n\"a \"\"b\"\", c\",general,"));
    free(out);
}

/* Machines with different levels in one file: a column of a level that a machine lacks is n/a. */
Test(csv, machines_with_different_levels) {
    machine one = sample_machine(), other = sample_machine();
    snprintf(other.level[1].name, sizeof other.level[1].name, "L3");
    run_record records[] = {sample_record(&one), sample_record(&other)};
    size_t size = 0;
    char *out = report_string(&csv, records, 2, &size);
    static const struct {
        const char *column, *first, *second;
    } want[] = {
        {"l1_read_sectors", "32", "32"}, {"l2_cache_read_hit_pct", "75", "n/a"}, {"l3_read_hit_pct", "n/a", "75"}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        char *first = csv_at(out, want[i].column, 0), *second = csv_at(out, want[i].column, 1);
        cr_expect_str_eq(first ? first : "", want[i].first, "%s", want[i].column);
        cr_expect_str_eq(second ? second : "", want[i].second, "%s", want[i].column);
        free(first);
        free(second);
    }
    free(out);
}

Test(json, parses_back_with_exact_counts_and_stable_order) {
    machine mach = sample_machine();
    run_record records[] = {sample_record(&mach), sample_empty(&mach)};
    records[0].sim.dram.read_bytes = (UINT64_C(1) << 53) + 1; /* a double would lose the last bit */
    size_t size = 0;
    char *out = report_string(&json, records, 2, &size);
    json_error_t error;
    json_t *root = json_loads(out, JSON_REJECT_DUPLICATES, &error);
    cr_assert_not_null(root, "%s", error.text);
    cr_expect_str_eq(json_string_value(json_object_get(root, "version")), "1.2.3");
    json_t *run = json_array_get(json_object_get(root, "runs"), 0);
    cr_expect_eq(json_integer_value(json_object_get(run, "dram__bytes_read.sum")), (INT64_C(1) << 53) + 1);
    cr_expect_float_eq(json_real_value(json_object_get(run, "error_pct")), 25, 1e-9);
    cr_expect_str_eq(json_string_value(json_object_get(run, "plan_reason")), records[0].plan_reason);
    json_t *levels = json_object_get(run, "levels");
    cr_expect_eq(json_array_size(levels), 2);
    cr_expect_float_eq(json_real_value(json_object_get(json_array_get(levels, 1), "read_hit_pct")), 75, 1e-9);
    json_t *empty = json_array_get(json_object_get(root, "runs"), 1);
    cr_expect(json_is_null(json_object_get(empty, "measured_us")));
    cr_expect(json_is_null(json_object_get(empty, "useful_gb_per_s")));
    cr_expect(json_is_null(json_object_get(empty, "plan_reason")));
    size_t i = 0;
    const char *key;
    json_t *value;
    json_object_foreach(run, key, value) {
        if (i < metric_count)
            cr_expect_str_eq(key, metric_table[i].name, "key %zu", i);
        i++;
    }
    cr_expect_gt(i, metric_count);
    json_decref(root);
    free(out);
}

Test(metrics, names_are_unique_and_described) {
    for (size_t i = 0; i < metric_count; i++) {
        cr_expect_eq(metric_find(metric_table[i].name), &metric_table[i], "%s is there twice", metric_table[i].name);
        cr_expect_gt(strlen(metric_table[i].what), 5, "%s", metric_table[i].name);
        cr_expect_null(strpbrk(metric_table[i].name, ", \""), "%s", metric_table[i].name);
    }
}

/* Whatever the counters, even impossible ones: a percentage lies within 0 and 100, and no number is NaN or infinite. */
Test(metrics, percentages_stay_within_bounds) {
    machine mach = sample_machine();
    prng g = {42};
    for (int turn = 0; turn < 2000; turn++) {
        run_record r = sample_record(&mach);
        sim_result *s = &r.sim;
        uint64_t *counters[] = {&s->sectors[0],
                                &s->useful_bytes[0],
                                &s->level[0].read_sectors,
                                &s->level[1].read_hit_sectors,
                                &s->level[1].write_sectors,
                                &s->level[1].write_hit_sectors,
                                &s->dram.read_bytes,
                                &s->dram.row_hits,
                                &s->scheduler_active_cycles,
                                &s->resident_cycles,
                                &s->issue_cycles,
                                &s->stall_cycles[STALL_WAIT],
                                &s->cycles};
        for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
            *counters[i] = prng_next(&g) >> prng_below(&g, 65) % 64 & (prng_below(&g, 4) ? UINT64_MAX : 0);
        s->achieved_occupancy = (double)prng_below(&g, 3000) / 1000;
        s->limit[0].utilisation = (double)prng_below(&g, 2000) / 1000;
        for (size_t i = 0; i < metric_count; i++) {
            const metric *m = &metric_table[i];
            metric_value v = m->get(&r, m->argument);
            if (v.kind != VALUE_REAL)
                continue;
            cr_assert(isfinite(v.real), "%s", m->name);
            if (strcmp(m->unit, "%") == 0 && strcmp(m->name, "error_pct") != 0)
                cr_assert(v.real >= 0 && v.real <= 100, "%s = %g", m->name, v.real);
        }
    }
}

Test(limiter, words) {
    static const struct {
        limiter first, second;
        const char *words;
    } want[] = {
        {{LIMIT_ISSUE, 0, 0.93},
         {LIMIT_DRAM, 0, 0.81},
         "issue (93 %; busiest pipe alu, 91 % on average), then dram (81 %), margin 12 points"},
        {{LIMIT_LEVEL, 1, 0.995}, {LIMIT_ISSUE, 0, 0.2}, "L2 cache (100 %), then issue (20 %), margin 80 points"},
        {{LIMIT_DRAM, 0, 1.0}, {LIMIT_LATENCY, 0, 0}, "dram (100 %), nothing else is busy"},
        {{LIMIT_LATENCY, 0, 0},
         {LIMIT_FABRIC, 0, 0.4},
         "latency: no resource is busy enough to be the limit; the busiest is fabric (40 %)"},
    };
    machine mach = sample_machine();
    run_record r = sample_record(&mach);
    char words[256];
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        r.sim.limit[0] = want[i].first;
        r.sim.limit[1] = want[i].second;
        cr_expect_str_eq(limiter_words(words, sizeof words, &r), want[i].words);
    }
    r = sample_empty(&mach);
    cr_expect_str_eq(limiter_words(words, sizeof words, &r), "nothing: the kernel is empty");
}

Test(text, values) {
    static const struct {
        metric_value value;
        const char *text;
    } want[] = {
        {{.kind = VALUE_NONE}, "n/a"},
        {{.kind = VALUE_COUNT, .count = 0}, "0"},
        {{.kind = VALUE_COUNT, .count = 12345678}, "12 345 678"},
        {{.kind = VALUE_REAL, .real = 0}, "0"},
        {{.kind = VALUE_REAL, .real = 9.9994}, "9.999"},
        {{.kind = VALUE_REAL, .real = 9.9996}, "10.00"},
        {{.kind = VALUE_REAL, .real = 99.996}, "100.0"},
        {{.kind = VALUE_REAL, .real = 999.97}, "1 000"},
        {{.kind = VALUE_REAL, .real = -17561.4}, "-17 561"},
        {{.kind = VALUE_TEXT, .text = "warps"}, "warps"},
        {{.kind = VALUE_HASH, .count = 255}, "00000000000000ff"},
    };
    char buffer[64];
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        cr_expect_str_eq(format_value(buffer, sizeof buffer, want[i].value), want[i].text);
}

static size_t longest_line(const char *s) {
    size_t longest = 0;
    while (*s) {
        size_t n = strcspn(s, "\n");
        longest = n > longest ? n : longest;
        s += n + (s[n] == '\n');
    }
    return longest;
}

/* The summary fits the width that it is given, and no name and no limiter is cut whatever the width. */
Test(text, summary_fits_its_width) {
    machine mach = sample_machine();
    run_record records[] = {sample_record(&mach), sample_record(&mach), sample_empty(&mach)};
    records[0].case_name = "a case with a rather long name [1048576][65]i32";
    records[0].strategy = "transpose_low_height";
    for (size_t width = 70; width <= 140; width += 10) {
        report_options o = {.format = REPORT_TEXT, .width = width};
        size_t size = 0;
        char *out = report_string(&o, records, 3, &size);
        cr_expect_leq(longest_line(out), width, "width %zu:\n%s", width, out);
        cr_expect_not_null(strstr(out, records[0].case_name), "width %zu", width);
        cr_expect_not_null(strstr(out, "issue 93"), "width %zu", width);
        free(out);
    }
}

Test(text, details_name_every_section_and_stall) {
    machine mach = sample_machine();
    run_record r = sample_record(&mach);
    size_t size = 0;
    char *out = report_string(&text, &r, 1, &size);
    cr_expect_leq(longest_line(out), (size_t)REPORT_WIDTH);
    static const char *const titles[] = {"Time",         "Memory workload", "Caches", "DRAM", "Launch and occupancy",
                                         "Instructions", "Warp state"};
    const char *at = out;
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        char line[64];
        snprintf(line, sizeof line, "\n  %s\n", titles[i]);
        const char *found = strstr(at, line);
        cr_assert_not_null(found, "%s is missing or out of order", titles[i]);
        at = found + 1;
    }
    cr_expect_null(strstr(out, "Shared memory\n"), "no shared access, no section");
    const char *first = strstr(at, "Stall Long Scoreboard"), *second = strstr(at, "Stall Wait");
    cr_assert(first && second && first < second, "the largest stall comes first");
    cr_expect_not_null(strstr(first, "7.50 cycle/inst     75.0 %"));
    free(out);
}

/* 3073 us, half width 11 us, an eighth of the blocks: what people, CSV and JSON are told of it. */
Test(sampled, says_so_everywhere) {
    machine mach = sample_machine();
    run_record records[] = {sample_record(&mach), sample_record(&mach)};
    sim_result *s = &records[0].sim;
    s->time_s = 3073e-6;
    s->time_half_s = 11e-6;
    s->blocks = 16;
    s->simulated_blocks = 2;
    size_t size = 0;
    char *page = report_string(&text, records, 1, &size);
    cr_expect_not_null(strstr(page, "Predicted: 3073 us (95 % CI: [3062, 3084])"), "%s", page);
    cr_expect_not_null(strstr(page, "Sampled:   12.5 % of the blocks were simulated"), "%s", page);
    cr_expect_not_null(strstr(page, "every count is scaled"), "%s", page);
    cr_expect_leq(longest_line(page), (size_t)REPORT_WIDTH);
    free(page);
    char *exact = report_string(&text, &records[1], 1, &size);
    cr_expect_null(strstr(exact, "95 % CI: ["));
    cr_expect_null(strstr(exact, "Sampled:"));
    free(exact);
    char *rows_text = report_string(&text, records, 2, &size);
    cr_expect_not_null(strstr(rows_text, " 3073 ±11 "), "%s", rows_text);
    cr_expect_not_null(strstr(rows_text, " 12  issue 93"), "%s", rows_text);
    cr_expect_not_null(strstr(rows_text, "100  issue 93"), "%s", rows_text);
    free(rows_text);
    static const struct {
        const char *column, *sampled, *exact;
    } want[] = {{"predicted_us", "3073", "1000"},          {"predicted_ci95_low_us", "3062", "n/a"},
                {"predicted_ci95_high_us", "3084", "n/a"}, {"simulated_blocks", "2", "2"},
                {"launch__grid_size", "16", "2"},          {"simulated_pct", "12.5", "100"}};
    char *rows = report_string(&csv, records, 2, &size);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        char *a = csv_at(rows, want[i].column, 0), *b = csv_at(rows, want[i].column, 1);
        cr_expect_str_eq(a ? a : "no such column", want[i].sampled, "%s", want[i].column);
        cr_expect_str_eq(b ? b : "no such column", want[i].exact, "%s", want[i].column);
        free(a);
        free(b);
    }
    free(rows);
}

/* What should be known about a copy stands on its page, below the table (once for all whom it concerns), and in JSON.
 */
Test(notes, are_told_everywhere_and_once) {
    machine mach = sample_machine();
    run_record records[] = {sample_record(&mach), sample_record(&mach), sample_empty(&mach)};
    records[0].note[NOTE_OVERLAP] = records[1].note[NOTE_OVERLAP] = "they share bytes";
    records[1].note[NOTE_COLLISION] = "";
    size_t size = 0;
    char *page = report_string(&text, records, 1, &size);
    cr_expect_not_null(strstr(page, "\n  Note:      they share bytes\n"), "%s", page);
    free(page);
    char *rows_text = report_string(&text, records, 3, &size);
    const char *first = strstr(rows_text, "Note on slice and 1 more:\n  they share bytes\n");
    cr_assert_not_null(first, "%s", rows_text);
    cr_expect_null(strstr(first + 1, "Note on"), "%s", rows_text);
    free(rows_text);
    char *out = report_string(&json, records, 3, &size);
    json_t *root = json_loads(out, 0, NULL), *runs = json_object_get(root, "runs");
    for (size_t i = 0; i < 3; i++) {
        json_t *notes = json_object_get(json_array_get(runs, i), "notes");
        cr_expect(json_is_object(notes));
        cr_expect_eq(json_object_size(notes), i < 2);
    }
    cr_expect_str_eq(json_string_value(json_object_get(json_object_get(json_array_get(runs, 0), "notes"), "overlap")),
                     "they share bytes");
    json_decref(root);
    free(out);
}

Test(text, the_page_of_an_empty_case_invents_nothing) {
    machine mach = sample_machine();
    run_record r = sample_empty(&mach);
    size_t size = 0;
    char *out = report_string(&text, &r, 1, &size);
    cr_expect_not_null(strstr(out, "nothing: the kernel is empty"));
    cr_expect_null(strstr(out, "nan"));
    cr_expect_null(strstr(out, "inf"));
    cr_expect_null(strstr(out, "Measured: "));
    free(out);
}

Test(text, table_gives_up_columns_by_rank) {
    static const table_column columns[] = {
        {"name", "", 0, 0}, {"keep", "us", 1, 0}, {"first to go", "", 1, 2}, {"second to go", "", 1, 1}};
    table t = {.columns = columns, .column_count = 4};
    static const char *const cells[] = {"row one", "1", "2", "3"};
    message m;
    for (size_t i = 0; i < 4; i++)
        cr_assert_eq(table_add(&t, &m, "%s", cells[i]), OK);
    static const struct {
        size_t width;
        const char *left_out;
    } want[] = {
        {200, ""}, {40, ""}, {33, ""}, {32, "first to go"}, {20, "first to go"}, {19, "first to go, second to go"}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        char left_out[64];
        cr_expect_str_eq(table_left_out(&t, want[i].width, left_out, sizeof left_out), want[i].left_out, "width %zu",
                         want[i].width);
    }
    table_free(&t);
}

Test(write, a_full_disk_is_an_error) {
    machine mach = sample_machine();
    run_record r = sample_record(&mach);
    static const report_format formats[] = {REPORT_TEXT, REPORT_JSON, REPORT_CSV};
    for (size_t i = 0; i < 3; i++) {
        FILE *full = fopen("/dev/full", "w");
        cr_assert_not_null(full);
        report_options o = {.format = formats[i], .width = REPORT_WIDTH, .version = ""};
        message m = {{0}};
        cr_expect_eq(report_write(full, &o, &r, 1, &m), ERR_IO, "format %zu", i);
        cr_expect_not_null(strstr(m.text, "No space left on device"), "%s", m.text);
        fclose(full);
    }
}

#include "report/metrics.h"

#include "report/limiter.h"
#include "report/value.h"

#include <math.h>
#include <string.h>

/* ---- result and time ----------------------------------------------------------------------------------------------
 */

static metric_value get_case(const run_record *r, uint32_t a) {
    (void)a;
    return text(r->case_name);
}

static metric_value get_strategy(const run_record *r, uint32_t a) {
    (void)a;
    return text(r->strategy);
}

static metric_value get_dataset(const run_record *r, uint32_t a) {
    (void)a;
    return text(r->dataset);
}

static metric_value get_machine(const run_record *r, uint32_t a) {
    (void)a;
    return text(r->mach->name);
}

static metric_value get_predicted(const run_record *r, uint32_t a) {
    (void)a;
    return real(r->sim.time_s * 1e6);
}

/* argument: the end of the interval, 0 lower, 1 upper */
static metric_value get_predicted_ci(const run_record *r, uint32_t end) {
    double half = r->sim.time_half_s;
    return sampled(r) ? real((r->sim.time_s + (end ? half : -half)) * 1e6) : none();
}

static metric_value get_simulated(const run_record *r, uint32_t a) {
    (void)a;
    return count(r->sim.simulated_blocks);
}

static metric_value get_simulated_share(const run_record *r, uint32_t a) {
    (void)a;
    return percent(r->sim.simulated_blocks, r->sim.blocks);
}

/* argument: 0 the measured time, 1 and 2 the ends of its confidence interval */
static metric_value get_measured(const run_record *r, uint32_t which) {
    const double us[] = {r->measured_us, r->measured_low_us, r->measured_high_us};
    return real(us[which]);
}

static metric_value get_error(const run_record *r, uint32_t a) {
    (void)a;
    if (!(r->measured_us > 0))
        return none();
    return real((r->sim.time_s * 1e6 / r->measured_us - 1) * 100);
}

/* argument: 0 the limiter, 1 the runner-up */
static metric_value get_limiter(const run_record *r, uint32_t which) {
    return ran(r) ? text(limiter_name(r, which)) : none();
}

static metric_value get_limiter_use(const run_record *r, uint32_t which) {
    /* "latency" is the absence of a busy resource: it has no utilisation. */
    if (!ran(r) || r->sim.limit[which].kind == LIMIT_LATENCY)
        return none();
    return share(r->sim.limit[which].utilisation);
}

static metric_value get_elements(const run_record *r, uint32_t a) {
    (void)a;
    return count(r->elements);
}

static metric_value get_element_bytes(const run_record *r, uint32_t a) {
    (void)a;
    return count(r->element_bytes);
}

/* argument: which word of cpu_counters */
#define CPU_WORD(member) (offsetof(cpu_counters, member) / sizeof(uint64_t))
static metric_value get_cpu(const run_record *r, uint32_t word) {
    return r->mach->kind == MACHINE_CPU ? count(((const uint64_t *)&r->sim.cpu)[word]) : none();
}

static metric_value get_element_ns(const run_record *r, uint32_t a) {
    (void)a;
    return r->elements ? real(r->sim.time_s * 1e9 / (double)r->elements) : none();
}

static metric_value get_duration(const run_record *r, uint32_t a) {
    (void)a;
    return real((double)r->sim.cycles / r->mach->clock_hz * 1e9);
}

static metric_value get_launch(const run_record *r, uint32_t a) {
    (void)a;
    return real(r->mach->launch_overhead_s * 1e6);
}

static metric_value get_cycles(const run_record *r, uint32_t a) {
    (void)a;
    return count(r->sim.cycles);
}

static metric_value get_useful_bytes(const run_record *r, uint32_t a) {
    (void)a;
    return count(r->useful_bytes);
}

/* A kernel that moves nothing has no bandwidth, however long it takes. argument: bytes of the unit */
static metric_value get_useful_rate(const run_record *r, uint32_t unit) {
    return r->useful_bytes ? ratio((double)r->useful_bytes / (double)unit, r->sim.time_s) : none();
}

static metric_value get_moved_rate(const run_record *r, uint32_t unit) {
    double bytes = (double)r->sim.dram.read_bytes + (double)r->sim.dram.write_bytes;
    return r->useful_bytes ? ratio(bytes / (double)unit, r->sim.time_s) : none();
}

/* ---- global memory: argument 0 loads, 1 stores ---------------------------------------------------------------------
 */

static metric_value get_requests(const run_record *r, uint32_t d) {
    return count(r->sim.requests[d]);
}

static metric_value get_requests_empty(const run_record *r, uint32_t d) {
    return count(r->sim.requests_empty[d]);
}

static metric_value get_lines(const run_record *r, uint32_t d) {
    return count(r->sim.lines[d]);
}

static metric_value get_sectors(const run_record *r, uint32_t d) {
    return count(r->sim.sectors[d]);
}

static metric_value get_sectors_per_request(const run_record *r, uint32_t d) {
    return ratio((double)r->sim.sectors[d], (double)r->sim.requests[d]);
}

static metric_value get_access_bytes(const run_record *r, uint32_t d) {
    return count(r->sim.useful_bytes[d]);
}

static metric_value get_bytes_per_sector(const run_record *r, uint32_t d) {
    return ratio((double)r->sim.useful_bytes[d], (double)r->sim.sectors[d]);
}

/* Above 100 % when several lanes ask for the same bytes (a broadcast); a share of the sector is at most all of it. */
static metric_value get_sector_use(const run_record *r, uint32_t d) {
    uint32_t sector = r->mach->level_count ? r->mach->level[0].sector_bytes : MACHINE_BARE_SECTOR;
    double whole = (double)r->sim.sectors[d] * sector;
    return whole > 0 ? share((double)r->sim.useful_bytes[d] / whole) : none();
}

static metric_value get_data_wavefronts(const run_record *r, uint32_t d) {
    return count(r->sim.data_wavefronts[d]);
}

static metric_value get_tag_wavefronts(const run_record *r, uint32_t d) {
    return real((double)r->sim.tag_wavefronts_milli[d] / 1000);
}

static metric_value get_lsu_cycles(const run_record *r, uint32_t d) {
    return count(r->sim.lsu_cycles[d]);
}

static metric_value get_lookup_hit(const run_record *r, uint32_t a) {
    (void)a;
    const level_counters *c = &r->sim.level[0];
    return r->sim.level_count ? count(c->read_hit_sectors + c->read_pending_sectors) : none();
}

static metric_value get_lookup_miss(const run_record *r, uint32_t a) {
    (void)a;
    return r->sim.level_count ? count(r->sim.level[0].read_miss_sectors) : none();
}

/* ---- shared memory: argument 0 loads, 1 stores ---------------------------------------------------------------------
 */

static metric_value get_shared_requests(const run_record *r, uint32_t d) {
    return count(r->sim.shared_requests[d]);
}

static metric_value get_shared_wavefronts(const run_record *r, uint32_t d) {
    return count(r->sim.shared_wavefronts[d]);
}

static metric_value get_shared_conflicts(const run_record *r, uint32_t d) {
    uint64_t all = r->sim.shared_wavefronts[d], ideal = r->sim.shared_ideal_wavefronts[d];
    return count(all > ideal ? all - ideal : 0);
}

static metric_value get_shared_per_request(const run_record *r, uint32_t d) {
    return ratio((double)r->sim.shared_wavefronts[d], (double)r->sim.shared_requests[d]);
}

static metric_value get_shared_bytes(const run_record *r, uint32_t d) {
    return count(r->sim.shared_bytes[d]);
}

/* ---- caches --------------------------------------------------------------------------------------------------------
 */

static metric_value read_and_write_hit(const level_counters *c) {
    return percent(c->read_hit_sectors + c->read_pending_sectors + c->write_nofill_sectors,
                   c->read_sectors + c->write_sectors);
}

/* What Nsight Compute calls LTS is the device-wide cache nearest to the cores. NULL when there is none. */
static const level_counters *lts(const run_record *r) {
    for (uint32_t i = 0; i < r->sim.level_count; i++)
        if (r->mach->level[i].scope == SCOPE_DEVICE)
            return &r->sim.level[i];
    return NULL;
}

static metric_value get_l1_hit(const run_record *r, uint32_t a) {
    (void)a;
    return r->sim.level_count ? read_and_write_hit(&r->sim.level[0]) : none();
}

static metric_value get_lts_hit(const run_record *r, uint32_t a) {
    (void)a;
    const level_counters *c = lts(r);
    return c ? read_and_write_hit(c) : none();
}

static metric_value get_lts_read_hit(const run_record *r, uint32_t a) {
    (void)a;
    const level_counters *c = lts(r);
    return c ? read_hit(c) : none();
}

static metric_value get_lts_write_hit(const run_record *r, uint32_t a) {
    (void)a;
    const level_counters *c = lts(r);
    return c ? percent(c->write_nofill_sectors, c->write_sectors) : none();
}

static metric_value get_lts_sectors(const run_record *r, uint32_t d) {
    const level_counters *c = lts(r);
    return c ? count(d ? c->write_sectors : c->read_sectors) : none();
}

/* ---- DRAM ----------------------------------------------------------------------------------------------------------
 */

static metric_value get_dram_bytes(const run_record *r, uint32_t d) {
    return count(d ? r->sim.dram.write_bytes : r->sim.dram.read_bytes);
}

static metric_value get_dram_requests(const run_record *r, uint32_t d) {
    return count(d ? r->sim.dram.write_requests : r->sim.dram.read_requests);
}

static metric_value get_dram_throughput(const run_record *r, uint32_t a) {
    (void)a;
    double seconds = (double)r->sim.cycles / r->mach->clock_hz;
    double bytes = (double)r->sim.dram.read_bytes + (double)r->sim.dram.write_bytes;
    return seconds > 0 ? share(bytes / seconds / r->mach->dram.bandwidth_bytes_per_s) : none();
}

static metric_value get_row_hit(const run_record *r, uint32_t a) {
    (void)a;
    return percent(r->sim.dram.row_hits, r->sim.dram.row_hits + r->sim.dram.row_misses);
}

static metric_value get_turnarounds(const run_record *r, uint32_t a) {
    (void)a;
    return count(r->sim.dram.turnarounds);
}

static metric_value get_refreshes(const run_record *r, uint32_t a) {
    (void)a;
    return count(r->sim.dram.refreshes);
}

/* argument: 0 busiest channel's data bus, 1 average, 2 busiest channel including what it waits for, 3 likewise,
 * whichever channel is the busiest at the time */
static metric_value get_dram_busy(const run_record *r, uint32_t which) {
    const double x[] = {r->sim.dram.busy_max, r->sim.dram.busy_mean, r->sim.dram.blocked_max, r->sim.dram.blocked_peak};
    return ran(r) ? share(x[which]) : none();
}

/* ---- launch and occupancy ------------------------------------------------------------------------------------------
 */

static metric_value get_grid(const run_record *r, uint32_t a) {
    (void)a;
    return count(r->sim.blocks);
}

static metric_value get_block(const run_record *r, uint32_t a) {
    (void)a;
    return count(r->block_threads);
}

static metric_value get_warps(const run_record *r, uint32_t a) {
    (void)a;
    return count(r->sim.warps);
}

static metric_value get_registers(const run_record *r, uint32_t a) {
    (void)a;
    return count(r->registers);
}

static metric_value get_shared_per_block(const run_record *r, uint32_t a) {
    (void)a;
    return count(r->shared_bytes);
}

static metric_value get_resident_blocks(const run_record *r, uint32_t a) {
    (void)a;
    return ran(r) ? count(r->sim.resident_blocks) : none();
}

static metric_value get_theoretical(const run_record *r, uint32_t a) {
    (void)a;
    return ran(r) ? percent(r->sim.resident_warps, r->mach->core.max_warps) : none();
}

static metric_value get_achieved(const run_record *r, uint32_t a) {
    (void)a;
    return ran(r) ? share(r->sim.achieved_occupancy) : none();
}

static metric_value get_occupancy_limit(const run_record *r, uint32_t a) {
    (void)a;
    return ran(r) && r->sim.occupancy_limit ? text(r->sim.occupancy_limit) : none();
}

/* ---- instructions and warp states ----------------------------------------------------------------------------------
 */

static uint64_t instructions(const run_record *r) {
    uint64_t sum = 0;
    for (int i = 0; i < OP_CLASS_COUNT; i++)
        sum += r->sim.instructions[i];
    return sum;
}

static metric_value get_instructions(const run_record *r, uint32_t a) {
    (void)a;
    return count(instructions(r));
}

static metric_value get_class(const run_record *r, uint32_t c) {
    return count(r->sim.instructions[c]);
}

static metric_value get_pipe(const run_record *r, uint32_t p) {
    return ran(r) ? share(r->sim.pipe_busy[p]) : none();
}

static metric_value get_issue_active(const run_record *r, uint32_t a) {
    (void)a;
    double slots = (double)r->sim.cycles * r->mach->core.count * r->mach->core.schedulers;
    return slots > 0 ? share((double)r->sim.scheduler_active_cycles / slots) : none();
}

static metric_value get_resident_cycles(const run_record *r, uint32_t a) {
    (void)a;
    return count(r->sim.resident_cycles);
}

static metric_value get_issue_cycles(const run_record *r, uint32_t a) {
    (void)a;
    return count(r->sim.issue_cycles);
}

static metric_value get_warp_latency(const run_record *r, uint32_t a) {
    (void)a;
    return ratio((double)r->sim.resident_cycles, (double)r->sim.issue_cycles);
}

static metric_value get_selected_share(const run_record *r, uint32_t a) {
    (void)a;
    return percent(r->sim.issue_cycles, r->sim.resident_cycles);
}

static metric_value get_stall_cycles(const run_record *r, uint32_t s) {
    return count(r->sim.stall_cycles[s]);
}

static metric_value get_stall_ratio(const run_record *r, uint32_t s) {
    return ratio((double)r->sim.stall_cycles[s], (double)r->sim.issue_cycles);
}

static metric_value get_stall_share(const run_record *r, uint32_t s) {
    return percent(r->sim.stall_cycles[s], r->sim.resident_cycles);
}

static metric_value get_checksum(const run_record *r, uint32_t a) {
    (void)a;
    return (metric_value){.kind = VALUE_HASH, .count = r->sim.checksum};
}

/* ---- the tables ----------------------------------------------------------------------------------------------------
 */

enum { GIGA = 1000000000, GIBI = 1 << 30 };

#define PAIR(where, stem, end, label, unit, what, get)                                                                 \
    {where, stem "ld" end, label, unit, what ", loads", get, 0}, {                                                     \
        where, stem "st" end, label, unit, what ", stores", get, 1                                                     \
    }

const metric metric_table[] = {
    {SECTION_RESULT, "case", "Case", "", "name of the case", get_case, 0},
    {SECTION_RESULT, "strategy", "Strategy", "", "copy strategy that was simulated", get_strategy, 0},
    {SECTION_RESULT, "predicted_us", "Predicted time", "us", "kernel time and launch overhead", get_predicted, 0},
    {SECTION_RESULT, "measured_us", "Measured time", "us", "as given in the config", get_measured, 0},
    {SECTION_RESULT, "error_pct", "Error", "%", "(predicted - measured) / measured", get_error, 0},
    {SECTION_RESULT, "limiter", "Limiter", "", "the busiest resource, or latency when none is busy", get_limiter, 0},
    {SECTION_RESULT, "limiter_pct", "Limiter utilisation", "%",
     "share of the run in which it works: whichever instance is the busiest at the time", get_limiter_use, 0},
    {SECTION_RESULT, "runner_up", "Runner-up", "", "the second busiest resource", get_limiter, 1},
    {SECTION_RESULT, "runner_up_pct", "Runner-up utilisation", "%", "likewise", get_limiter_use, 1},
    {SECTION_RESULT, "machine", "Machine", "", "name of the simulated machine", get_machine, 0},
    {SECTION_RESULT, "dataset", "Dataset", "", "shape and element type", get_dataset, 0},
    {SECTION_RESULT, "elements", "Elements", "element", "elements copied", get_elements, 0},
    {SECTION_RESULT, "element_bytes", "Element size", "byte", "bytes of an element", get_element_bytes, 0},

    {SECTION_TIME, "predicted_ci95_low_us", "Predicted, 95 % CI low", "us",
     "lower end of the 95 % confidence interval of a sampled run", get_predicted_ci, 0},
    {SECTION_TIME, "predicted_ci95_high_us", "Predicted, 95 % CI high", "us", "upper end of it", get_predicted_ci, 1},
    {SECTION_TIME, "simulated_blocks", "Blocks simulated", "block",
     "when fewer than were launched: the run was steady, the rest extrapolated, every count scaled", get_simulated, 0},
    {SECTION_TIME, "simulated_pct", "Share of blocks simulated", "%", "blocks simulated / blocks launched",
     get_simulated_share, 0},
    {SECTION_TIME, "measured_ci95_low_us", "Measured, 95 % CI low", "us", "as given in the config", get_measured, 1},
    {SECTION_TIME, "measured_ci95_high_us", "Measured, 95 % CI high", "us", "as given in the config", get_measured, 2},
    {SECTION_TIME, "gpu__time_duration.sum", "Kernel time", "ns", "first block's start to last write's arrival",
     get_duration, 0},
    {SECTION_TIME, "launch_overhead_us", "Launch overhead", "us", "host-visible time of an empty kernel", get_launch,
     0},
    {SECTION_TIME, "sm__cycles_elapsed.max", "Core cycles", "cycle", "kernel time in core clock cycles", get_cycles, 0},
    {SECTION_TIME, "ns_per_element", "Time per element", "ns", "predicted time / elements (of a pattern: accesses)",
     get_element_ns, 0},
    {SECTION_TIME, "useful_bytes", "Useful bytes", "byte", "bytes read and written on the user's behalf",
     get_useful_bytes, 0},
    {SECTION_TIME, "useful_gb_per_s", "Useful bandwidth", "GB/s", "useful bytes / predicted time, 10^9 bytes a second",
     get_useful_rate, GIGA},
    {SECTION_TIME, "useful_gib_per_s", "Useful bandwidth", "GiB/s",
     "useful bytes / predicted time, 2^30 bytes a second", get_useful_rate, GIBI},
    {SECTION_TIME, "dram_gb_per_s", "Moved bandwidth (DRAM)", "GB/s", "DRAM bytes read and written / predicted time",
     get_moved_rate, GIGA},
    {SECTION_TIME, "dram_gib_per_s", "Moved bandwidth (DRAM)", "GiB/s", "DRAM bytes read and written / predicted time",
     get_moved_rate, GIBI},

    PAIR(SECTION_MEMORY, "l1tex__t_requests_pipe_lsu_mem_global_op_", ".sum", "Requests", "request",
         "warp accesses to global memory with an active lane", get_requests),
    PAIR(SECTION_MEMORY, "requests_empty_", "", "Requests without active lanes", "request",
         "warp accesses to global memory without an active lane", get_requests_empty),
    PAIR(SECTION_MEMORY, "lines_", "", "Lines looked up", "line", "first-level tags looked up", get_lines),
    PAIR(SECTION_MEMORY, "l1tex__t_sectors_pipe_lsu_mem_global_op_", ".sum", "Sectors", "sector",
         "first-level sectors touched", get_sectors),
    PAIR(SECTION_MEMORY, "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_", ".ratio", "Sectors/Req",
         "sector/request", "sectors a request", get_sectors_per_request),
    PAIR(SECTION_MEMORY, "useful_bytes_", "", "Bytes asked for", "byte", "active lanes x width", get_access_bytes),
    PAIR(SECTION_MEMORY, "smsp__sass_average_data_bytes_per_sector_mem_global_op_", ".ratio", "Useful bytes a sector",
         "byte/sector", "bytes asked for / sectors touched", get_bytes_per_sector),
    PAIR(SECTION_MEMORY, "smsp__sass_average_data_bytes_per_sector_mem_global_op_", ".pct", "Useful share of a sector",
         "%", "useful bytes a sector / sector size", get_sector_use),
    PAIR(SECTION_MEMORY, "data_wavefronts_", "", "Data wavefronts", "wavefront",
         "passes over the first level's data banks", get_data_wavefronts),
    PAIR(SECTION_MEMORY, "tag_wavefronts_", "", "Tag wavefronts", "wavefront", "passes over the first level's tags",
         get_tag_wavefronts),
    PAIR(SECTION_MEMORY, "lsu_cycles_", "", "Load/store unit busy", "cycle", "cycles for the passes, summed over cores",
         get_lsu_cycles),

    PAIR(SECTION_SHARED, "shared_requests_", "", "Requests", "request", "warp accesses to shared memory",
         get_shared_requests),
    PAIR(SECTION_SHARED, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_", ".sum", "Wavefronts", "wavefront",
         "passes over the shared-memory banks", get_shared_wavefronts),
    PAIR(SECTION_SHARED, "shared_wavefronts_per_request_", "", "Wavefronts a request", "wavefront/request",
         "passes a request", get_shared_per_request),
    PAIR(SECTION_SHARED, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_", ".sum", "Bank conflicts", "wavefront",
         "passes beyond those that the width of the data needs", get_shared_conflicts),
    PAIR(SECTION_SHARED, "shared_bytes_", "", "Bytes", "byte", "active lanes x width in shared memory",
         get_shared_bytes),

    {SECTION_CACHES, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", "First level, load hits", "sector",
     "sectors of loads found in the first level or already on their way there", get_lookup_hit, 0},
    {SECTION_CACHES, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum", "First level, load misses", "sector",
     "sectors of loads that the first level had to fetch", get_lookup_miss, 0},
    {SECTION_CACHES, "l1tex__t_sector_hit_rate.pct", "First level, hit rate", "%",
     "of all sectors of the first level, those not fetched; stores count as hits when they need no fill", get_l1_hit,
     0},
    {SECTION_CACHES, "lts__t_sectors_op_read.sum", "Device-wide cache, read sectors", "sector",
     "sectors read from the device-wide cache nearest to the cores", get_lts_sectors, 0},
    {SECTION_CACHES, "lts__t_sectors_op_write.sum", "Device-wide cache, write sectors", "sector",
     "sectors written to the device-wide cache nearest to the cores", get_lts_sectors, 1},
    {SECTION_CACHES, "lts__t_sector_hit_rate.pct", "Device-wide cache, hit rate", "%",
     "of all its sectors, those not fetched; stores count as hits when they need no fill", get_lts_hit, 0},
    {SECTION_CACHES, "lts__t_sector_op_read_hit_rate.pct", "Device-wide cache, read hit rate", "%",
     "of its read sectors, those not fetched", get_lts_read_hit, 0},
    {SECTION_CACHES, "lts__t_sector_op_write_hit_rate.pct", "Device-wide cache, write hit rate", "%",
     "of its written sectors, those that needed no fill (NVIDIA's definition)", get_lts_write_hit, 0},

    {SECTION_DRAM, "dram__bytes_read.sum", "Bytes read", "byte", "bytes read on the DRAM bus, in whole bursts",
     get_dram_bytes, 0},
    {SECTION_DRAM, "dram__bytes_write.sum", "Bytes written", "byte", "bytes written on the DRAM bus, in whole bursts",
     get_dram_bytes, 1},
    {SECTION_DRAM, "dram__throughput.avg.pct_of_peak_sustained_elapsed", "Throughput", "%",
     "bytes moved / what the bus could move during the kernel", get_dram_throughput, 0},
    {SECTION_DRAM, "dram_read_requests", "Read requests", "request", "lines, or parts of lines, read",
     get_dram_requests, 0},
    {SECTION_DRAM, "dram_write_requests", "Write requests", "request", "lines, or parts of lines, written",
     get_dram_requests, 1},
    {SECTION_DRAM, "dram_row_hit_pct", "Row-buffer hit rate", "%", "requests to a row that was open", get_row_hit, 0},
    {SECTION_DRAM, "dram_turnarounds", "Read/write turnarounds", "turnaround", "changes of bus direction, all channels",
     get_turnarounds, 0},
    {SECTION_DRAM, "dram_refreshes", "Refreshes", "refresh", "refreshes, all channels", get_refreshes, 0},
    {SECTION_DRAM, "dram_busy_mean_pct", "Data bus busy, average channel", "%", "share of the run with data on the bus",
     get_dram_busy, 1},
    {SECTION_DRAM, "dram_busy_max_pct", "Data bus busy, busiest channel", "%", "likewise", get_dram_busy, 0},
    {SECTION_DRAM, "dram_blocked_max_pct", "Not available, busiest channel", "%",
     "share of the run in which it moved data, turned round, activated or refreshed", get_dram_busy, 2},
    {SECTION_DRAM, "dram_blocked_peak_pct", "Not available, busiest at the time", "%",
     "the same for whichever channel is the busiest at the time: hot spots that move", get_dram_busy, 3},

    {SECTION_CPU, "cpu_cores", "Cores at work", "core", "cores that had a thread to run", get_cpu, CPU_WORD(cores)},
    {SECTION_CPU, "tlb_requests", "TLB look-ups", "request", "addresses translated", get_cpu, CPU_WORD(tlb_requests)},
    {SECTION_CPU, "tlb_second_hits", "  found in the second TLB", "request",
     "of those, not in the first TLB but in the second", get_cpu, CPU_WORD(tlb_second_hits)},
    {SECTION_CPU, "page_walks", "Page walks", "walk", "translations read from the page tables", get_cpu,
     CPU_WORD(page_walks)},
    {SECTION_CPU, "page_walk_reads", "Page table entries read", "read", "by page walks", get_cpu, CPU_WORD(walk_reads)},
    {SECTION_CPU, "ownership_requests", "Ownership requests", "line",
     "lines that the first level asked for to write them", get_cpu, CPU_WORD(ownership_requests)},
    {SECTION_CPU, "invalidations", "Invalidations", "line",
     "copies taken from a core because another one wants to write the line", get_cpu, CPU_WORD(invalidations)},
    {SECTION_CPU, "downgrades", "Downgrades", "line",
     "lines that a core may no longer write because another one reads them", get_cpu, CPU_WORD(downgrades)},
    {SECTION_CPU, "back_invalidations", "Back-invalidations", "line",
     "copies taken because an inclusive shared level dropped the line", get_cpu, CPU_WORD(back_invalidations)},
    {SECTION_CPU, "mispredicted_branches", "Mispredicted branches", "inst", "exits of loops too long for the predictor",
     get_cpu, CPU_WORD(mispredicted)},
    {SECTION_CPU, "forwarded_loads", "Loads answered by the store buffer", "inst", "by a store not written yet",
     get_cpu, CPU_WORD(forwarded)},
    {SECTION_CPU, "streamed_lines", "Non-temporal buffers sent", "line", "past the caches to memory", get_cpu,
     CPU_WORD(streamed_lines)},
    {SECTION_CPU, "streamed_partial", "  of those, partly filled", "line", "sent before every byte was there", get_cpu,
     CPU_WORD(streamed_partial)},
    {SECTION_CPU, "fill_buffers_full_cycles", "Fill buffers all in use", "cycle", "summed over cores", get_cpu,
     CPU_WORD(fill_full_cycles)},

    {SECTION_OCCUPANCY, "launch__grid_size", "Blocks", "block", "blocks launched", get_grid, 0},
    {SECTION_OCCUPANCY, "launch__block_size", "Threads a block", "thread", "threads of a block", get_block, 0},
    {SECTION_OCCUPANCY, "warps", "Warps", "warp", "warps launched", get_warps, 0},
    {SECTION_OCCUPANCY, "launch__registers_per_thread", "Registers a thread", "register",
     "32-bit registers of a thread", get_registers, 0},
    {SECTION_OCCUPANCY, "launch__shared_mem_per_block", "Shared memory a block", "byte", "shared memory of a block",
     get_shared_per_block, 0},
    {SECTION_OCCUPANCY, "resident_blocks", "Resident blocks a core", "block", "blocks that fit a core",
     get_resident_blocks, 0},
    {SECTION_OCCUPANCY, "sm__maximum_warps_per_active_cycle_pct", "Theoretical occupancy", "%",
     "warps that fit a core / its maximum", get_theoretical, 0},
    {SECTION_OCCUPANCY, "sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved occupancy", "%",
     "resident warps / the maximum, averaged over time and cores", get_achieved, 0},
    {SECTION_OCCUPANCY, "occupancy_limit", "Occupancy limited by", "", "the resource that admits no further block",
     get_occupancy_limit, 0},

    {SECTION_INSTRUCTIONS, "smsp__inst_executed.sum", "Warp instructions", "inst", "warp instructions issued",
     get_instructions, 0},
#define X(id, short_name, meaning)                                                                                     \
    {SECTION_INSTRUCTIONS, "inst_" short_name, "  " short_name, "inst", meaning, get_class, id},
    OP_CLASS_LIST(X)
#undef X
        {SECTION_INSTRUCTIONS, "smsp__issue_active.avg.pct_of_peak_sustained_elapsed", "Issue slots busy", "%",
         "scheduler cycles with at least one issue", get_issue_active, 0},
#define X(id, short_name)                                                                                              \
    {SECTION_INSTRUCTIONS,                                                                                             \
     "pipe_" short_name "_pct",                                                                                        \
     "  " short_name " pipe busy",                                                                                     \
     "%",                                                                                                              \
     "share of the run in which the pipe works, averaged over schedulers",                                             \
     get_pipe,                                                                                                         \
     id},
    PIPE_LIST(X)
#undef X

        {SECTION_STALLS, "warp_cycles_resident", "Resident", "cycle", "cycles of all warps, start to end",
         get_resident_cycles, 0},
    {SECTION_STALLS, "warp_cycles_selected", "Selected", "cycle", "of those, the warp issued", get_issue_cycles, 0},
    {SECTION_STALLS, "smsp__average_warp_latency_per_inst_issued.ratio", "Cycles between two issues of a warp",
     "cycle/inst", "resident cycles / instructions issued", get_warp_latency, 0},
    {SECTION_STALLS, "smsp__warp_issue_stalled_selected_per_warp_active.pct", "Selected", "%",
     "share of the resident cycles in which the warp issued", get_selected_share, 0},
#define X(id, short_name, gui)                                                                                         \
    {SECTION_STALLS,                                                                                                   \
     "warp_cycles_stalled_" short_name,                                                                                \
     gui,                                                                                                              \
     "cycle",                                                                                                          \
     "cycles of all warps spent in this state",                                                                        \
     get_stall_cycles,                                                                                                 \
     id},
    STALL_LIST(X)
#undef X
#define X(id, short_name, gui)                                                                                         \
    {SECTION_STALLS,                                                                                                   \
     "smsp__average_warps_issue_stalled_" short_name "_per_issue_active.ratio",                                        \
     gui,                                                                                                              \
     "cycle/inst",                                                                                                     \
     "cycles in this state per instruction issued",                                                                    \
     get_stall_ratio,                                                                                                  \
     id},
        STALL_LIST(X)
#undef X
#define X(id, short_name, gui)                                                                                         \
    {SECTION_STALLS,                                                                                                   \
     "smsp__warp_issue_stalled_" short_name "_per_warp_active.pct",                                                    \
     gui,                                                                                                              \
     "%",                                                                                                              \
     "share of the resident cycles in this state",                                                                     \
     get_stall_share,                                                                                                  \
     id},
            STALL_LIST(X)
#undef X
                {SECTION_RESULT, "checksum", "Checksum", "", "of every counter: equal bits, equal checksum",
                 get_checksum, 0},
};
const size_t metric_count = sizeof metric_table / sizeof *metric_table;

const char *section_title(section s) {
    static const char *const titles[] = {
#define X(id, title) title,
        SECTION_LIST(X)
#undef X
    };
    return titles[s];
}

const metric *metric_find(const char *name) {
    for (size_t i = 0; i < metric_count; i++)
        if (strcmp(metric_table[i].name, name) == 0)
            return &metric_table[i];
    return NULL;
}

metric_value metric_get(const run_record *r, const char *name) {
    const metric *m = metric_find(name);
    return m ? m->get(r, m->argument) : none();
}

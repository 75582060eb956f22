#include "report/metrics.h"
#include "report/value.h"

#define COUNTER(field)                                                                                                 \
    static metric_value level_##field(const run_record *r, uint32_t level) {                                           \
        return count(r->sim.level[level].field);                                                                       \
    }
COUNTER(read_requests)
COUNTER(write_requests)
COUNTER(read_sectors)
COUNTER(read_hit_sectors)
COUNTER(read_pending_sectors)
COUNTER(read_miss_sectors)
COUNTER(write_sectors)
COUNTER(write_hit_sectors)
COUNTER(write_nofill_sectors)
COUNTER(fill_sectors)
COUNTER(down_read_requests)
COUNTER(down_read_bytes)
COUNTER(down_write_requests)
COUNTER(down_write_bytes)
COUNTER(cold_allocations)
COUNTER(evictions)
COUNTER(dirty_evictions)
COUNTER(partial_evictions)
COUNTER(mshr_full_events)
COUNTER(prefetches)
COUNTER(prefetch_useful)
COUNTER(prefetch_useless)
COUNTER(taken_lines)
#undef COUNTER

metric_value level_read_hit(const run_record *r, uint32_t level) {
    return read_hit(&r->sim.level[level]);
}

static metric_value level_write_hit(const run_record *r, uint32_t level) {
    return percent(r->sim.level[level].write_hit_sectors, r->sim.level[level].write_sectors);
}

static metric_value level_write_nofill(const run_record *r, uint32_t level) {
    return percent(r->sim.level[level].write_nofill_sectors, r->sim.level[level].write_sectors);
}

static metric_value level_busy_max(const run_record *r, uint32_t level) {
    return ran(r) ? share(r->sim.level[level].busy_max) : none();
}

static metric_value level_busy_mean(const run_record *r, uint32_t level) {
    return ran(r) ? share(r->sim.level[level].busy_mean) : none();
}

static metric_value level_busy_peak(const run_record *r, uint32_t level) {
    return ran(r) ? share(r->sim.level[level].busy_peak) : none();
}

const level_metric level_metric_table[] = {
    {"read_requests", "Read requests", "request", "lines asked for by loads", level_read_requests},
    {"read_sectors", "Read sectors", "sector", "sectors asked for by loads", level_read_sectors},
    {"read_hit_sectors", "", "sector", "of those, present", level_read_hit_sectors},
    {"read_pending_sectors", "", "sector", "of those, already on their way: merged with a miss",
     level_read_pending_sectors},
    {"read_miss_sectors", "", "sector", "of those, fetched", level_read_miss_sectors},
    {"read_hit_pct", "Read hit", "%", "read sectors that needed no fetch of their own: present or on their way",
     level_read_hit},
    {"write_requests", "Write requests", "request", "lines written by stores", level_write_requests},
    {"write_sectors", "Write sectors", "sector", "sectors touched by stores", level_write_sectors},
    {"write_hit_sectors", "", "sector", "of those, the line was present", level_write_hit_sectors},
    {"write_nofill_sectors", "", "sector", "of those, needed no fill", level_write_nofill_sectors},
    {"write_hit_pct", "Write hit", "%", "write sectors whose line was present", level_write_hit},
    {"write_hit_nvidia_pct", "Write hit, NVIDIA's", "%", "write sectors that needed no fill: a hit as NVIDIA counts",
     level_write_nofill},
    {"fill_sectors", "Fill sectors", "sector", "sectors fetched from below", level_fill_sectors},
    {"down_read_requests", "", "request", "reads sent to the next level or DRAM", level_down_read_requests},
    {"down_read_bytes", "Reads below", "byte", "bytes read from the next level or DRAM", level_down_read_bytes},
    {"down_write_requests", "", "request", "writes sent to the next level or DRAM", level_down_write_requests},
    {"down_write_bytes", "Writes below", "byte", "bytes written to the next level or DRAM", level_down_write_bytes},
    {"cold_allocations", "", "line", "lines placed in an empty way: until the cache is full", level_cold_allocations},
    {"evictions", "", "line", "lines evicted", level_evictions},
    {"dirty_evictions", "", "line", "of those, with bytes to write back", level_dirty_evictions},
    {"partial_evictions", "", "line", "of those, with a sector only partly written", level_partial_evictions},
    {"mshr_full_events", "", "event", "misses that found no free MSHR", level_mshr_full_events},
    {"prefetches", "Prefetches", "line", "lines that this level's prefetchers asked for (CPUs)", level_prefetches},
    {"prefetch_useful", "Prefetches used", "line", "of those, asked for by the program afterwards",
     level_prefetch_useful},
    {"prefetch_useless", "", "line", "of those, dropped before anyone asked", level_prefetch_useless},
    {"taken_lines", "", "line", "reads that another core's cache answered (shared level of a CPU)", level_taken_lines},
    {"busy_mean_pct", "Busy, average", "%", "share of the run in which an average instance's port is taken",
     level_busy_mean},
    {"busy_max_pct", "Busy, busiest", "%", "share of the run in which the busiest instance's port is taken",
     level_busy_max},
    {"busy_peak_pct", "Busy, busiest at the time", "%",
     "the same for whichever instance is the busiest at the time: hot spots that move", level_busy_peak},
};
const size_t level_metric_count = sizeof level_metric_table / sizeof *level_metric_table;

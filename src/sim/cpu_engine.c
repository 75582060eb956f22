#include "sim/cpu_engine.h"

#include "base/mem.h"
#include "sim/cpu_core.h"
#include "sim/engine.h"
#include "sim/llc.h"
#include "sim/team.h"
#include "sim/tick.h"

#include <omp.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

typedef struct cpu_engine {
    const machine *mach;
    const kernel *k;
    const sim_options *options;
    cpu_core *core[MACHINE_CPU_CORES_MAX]; /* those that have threads */
    uint32_t cores, privates;
    llc *shared; /* per channel */
    int64_t quantum, now;
    double last_report;
    status result;
    bool stop;
} cpu_engine;

static status engine_init(cpu_engine *e, message *m) {
    const machine *mach = e->mach;
    const uint64_t threads = e->k->blocks;
    const uint32_t cores = threads < mach->core.count ? (uint32_t)threads : mach->core.count;
    e->quantum = llc_round_trip_cycles(mach);
    while (e->privates < mach->level_count && mach->level[e->privates].scope == SCOPE_CORE)
        e->privates++;
    for (; e->cores < cores; e->cores++) {
        status s = cpu_core_new(mach, e->k, e->cores, e->cores, cores, &e->core[e->cores], m);
        if (s != OK) {
            e->cores += e->core[e->cores] != NULL;
            return s;
        }
    }
    e->shared = mem_zero(mach->channels, sizeof *e->shared);
    if (!e->shared)
        return fail(m, ERR_MEMORY, "not enough memory for %u channels", mach->channels);
    for (uint32_t i = 0; i < mach->channels; i++)
        TRY(llc_init(&e->shared[i], mach, i, m));
    return OK;
}

static void engine_free(cpu_engine *e) {
    for (uint32_t i = 0; i < e->cores; i++)
        cpu_core_free(e->core[i]);
    for (uint32_t i = 0; e->shared && i < e->mach->channels; i++)
        llc_free(&e->shared[i]);
    mem_free(e->shared);
}

/* --- one quantum ---------------------------------------------------------------------------------------------------
 */

static void run_core(cpu_engine *e, uint32_t i, int64_t to) {
    for (uint32_t p = 0; p < e->mach->channels; p++) {
        message_list *l = &e->shared[p].out[i];
        for (size_t n = 0; n < l->count; n++)
            cpu_core_deliver(e->core[i], &l->item[n]);
        l->count = 0;
    }
    cpu_core_run(e->core[i], to);
}

/* Handles what arrives at channel p before `limit`, in order of (time, core). */
static void run_channel(cpu_engine *e, uint32_t p, int64_t limit) {
    llc *x = &e->shared[p];
    for (;;) {
        message_list *first = NULL;
        int64_t time = limit;
        for (uint32_t i = 0; i < e->cores; i++) {
            message_list *l = cpu_core_out(e->core[i], p);
            if (l->next < l->count && l->item[l->next].time < time) {
                time = l->item[l->next].time;
                first = l;
            }
        }
        if (!first)
            break;
        llc_message(x, &first->item[first->next++]);
        if (first->next == first->count)
            first->next = first->count = 0;
    }
    llc_advance(x, limit);
}

static bool quiet(const cpu_engine *e) {
    for (uint32_t i = 0; i < e->cores; i++) {
        if (!cpu_core_done(e->core[i]))
            return false;
        for (uint32_t p = 0; p < e->mach->channels; p++)
            if (cpu_core_out(e->core[i], p)->count)
                return false;
    }
    for (uint32_t p = 0; p < e->mach->channels; p++)
        if (!llc_quiet(&e->shared[p]))
            return false;
    return true;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(cpu_engine *e, status s) {
    e->result = s;
    e->stop = true;
}

static void report(cpu_engine *e, message *m) {
    const double now = seconds();
    if (!e->options->progress || now - e->last_report <= 0.1)
        return;
    e->last_report = now;
    uint64_t done = 0;
    for (uint32_t i = 0; i < e->cores; i++)
        done += cpu_core_done(e->core[i]);
    if (e->options->progress(e->options->progress_context, done, e->cores))
        stop(e, fail(m, ERR_INTERRUPTED, "interrupted after %llu cycles", (unsigned long long)e->now));
}

/* When the next thing happens anywhere, as far as is known; quanta in which nothing happens are skipped. */
static int64_t next_event(const cpu_engine *e) {
    int64_t next = TICK_NEVER;
    for (uint32_t i = 0; i < e->cores; i++) {
        const int64_t t = cpu_core_next_event(e->core[i]);
        next = t < next ? t : next;
        for (uint32_t p = 0; p < e->mach->channels; p++)
            if (cpu_core_out(e->core[i], p)->count || e->shared[p].out[i].count)
                return e->now;
    }
    for (uint32_t p = 0; p < e->mach->channels; p++)
        if (e->shared[p].dram.reads.count)
            return e->now;
    return next;
}

/* Between two quanta, on one thread. */
static void between(cpu_engine *e, message *m) {
    for (uint32_t i = 0; i < e->cores; i++)
        if (cpu_core_fault(e->core[i]))
            stop(e, fail(m, ERR_INTERNAL, "core %u: %s", i, cpu_core_fault(e->core[i])));
    for (uint32_t p = 0; p < e->mach->channels; p++)
        if (e->shared[p].fault)
            stop(e, fail(m, ERR_INTERNAL, "channel %u: %s", p, e->shared[p].fault));
    e->now += e->quantum;
    if (!e->stop && quiet(e))
        e->stop = true;
    if (!e->stop) {
        const int64_t next = next_event(e);
        if (next == TICK_NEVER)
            stop(e, fail(m, ERR_INTERNAL, "nothing happens any more after cycle %lld", (long long)e->now));
        else if (next > e->now)
            e->now = next;
        report(e, m);
    }
}

static void loop(cpu_engine *e, message *m) {
    const int64_t forward = llc_forward_ticks(e->mach);
    e->last_report = seconds();
    e->stop = e->cores == 0;
    uint32_t threads = e->options->threads < e->cores ? e->options->threads : e->cores;
    threads = threads ? threads : 1;
    team crew = {.size = threads};
    atomic_uint next_core = 0, next_channel = 0;
#pragma omp parallel num_threads((int)threads)
    {
#pragma omp single
        crew.size = (uint32_t)omp_get_num_threads();
        while (!e->stop) {
            const int64_t to = e->now + e->quantum;
            uint32_t i;
            while ((i = atomic_fetch_add_explicit(&next_core, 1, memory_order_relaxed)) < e->cores)
                run_core(e, i, to);
            team_wait(&crew);
            while ((i = atomic_fetch_add_explicit(&next_channel, 1, memory_order_relaxed)) < e->mach->channels)
                run_channel(e, i, cycle_to_tick(to) + forward);
            team_wait(&crew);
            if (omp_get_thread_num() == 0) {
                between(e, m);
                atomic_store_explicit(&next_core, 0, memory_order_relaxed);
                atomic_store_explicit(&next_channel, 0, memory_order_relaxed);
            }
            team_wait(&crew);
        }
    }
}

/* --- result --------------------------------------------------------------------------------------------------------
 */

static void add_words(uint64_t *to, const uint64_t *from, size_t n) {
    for (size_t i = 0; i < n; i++)
        to[i] += from[i];
}

#define ADD(to, from) add_words((to), (from), sizeof(to) / sizeof *(to))

typedef struct totals {
    uint64_t blind_reads;
    int64_t first_busy, second_busy, link_busy; /* of the busiest core */
    double fill_full;                           /* share of the run, of the core that waited most */
} totals;

static int64_t max64(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static void sum_cores(const cpu_engine *e, sim_result *r, totals *t) {
    for (uint32_t i = 0; i < e->cores; i++) {
        const cpu_core_counters *n = cpu_core_count(e->core[i]);
        r->blocks += n->threads;
        r->warps += n->threads;
        ADD(r->instructions, n->instructions);
        ADD(r->requests, n->requests);
        ADD(r->requests_empty, n->requests_empty);
        ADD(r->lines, n->lines);
        ADD(r->sectors, n->lines);
        ADD(r->useful_bytes, n->useful_bytes);
        ADD(r->data_wavefronts, n->lines);
        ADD(r->stall_cycles, n->stall_cycles);
        r->resident_cycles += n->resident_cycles;
        r->issue_cycles += n->leave_cycles;
        r->scheduler_active_cycles += n->leave_cycles;
        t->blind_reads += n->blind_reads;
        t->first_busy = max64(t->first_busy, n->first_busy_ticks);
        t->second_busy = max64(t->second_busy, n->second_busy_ticks);
        t->link_busy = max64(t->link_busy, n->link_busy_ticks);
        const double full = r->cycles ? (double)n->cpu.fill_full_cycles / (double)r->cycles : 0;
        t->fill_full = full > t->fill_full ? full : t->fill_full;
        add_words((uint64_t *)&r->cpu, (const uint64_t *)&n->cpu, sizeof r->cpu / sizeof(uint64_t));
        for (int p = 0; p < PIPE_COUNT; p++) {
            const uint32_t ports =
                p == PIPE_MEMORY ? e->mach->cpu.load_ports + e->mach->cpu.store_ports : e->mach->cpu.ports[p];
            if (ports && r->cycles)
                r->pipe_busy[p] += (double)n->pipe_cycles[p] / (double)r->cycles / ports / e->cores;
        }
        for (uint32_t l = 0; l < e->privates; l++)
            result_add_level(&r->level[l], cpu_core_level(e->core[i], l));
        r->cpu.dirty_left += cpu_core_dirty_lines(e->core[i]);
    }
    r->cpu.cores = e->cores;
    r->lsu_cycles[0] = r->lines[0];
    r->lsu_cycles[1] = r->lines[1];
}

static double share(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

/* Lines that only the shared level has changed. */
static uint64_t shared_dirty_lines(const cpu_engine *e, const llc *x) {
    uint64_t n = 0;
    for (uint32_t s = 0; x->desc && s < x->slices; s++) {
        const cache *c = &x->slice[s].tags;
        for (size_t i = 0; i < (size_t)c->sets * c->ways; i++) {
            bool only = c->line[i].number >= 0 && c->line[i].dirty;
            for (uint32_t k = 0; only && k < e->cores; k++)
                only = !cpu_core_dirty(e->core[k], x->slice[s].line[i]);
            n += only;
        }
    }
    return n;
}

static void sum_shared(const cpu_engine *e, sim_result *r) {
    const uint32_t channels = e->mach->channels;
    const double ticks = (double)r->cycles * TICKS;
    dram_counters *n = &r->dram;
    for (uint32_t p = 0; p < channels; p++) {
        const llc *x = &e->shared[p];
        const dram_channel *d = &x->dram;
        if (x->desc) {
            level_counters *to = &r->level[e->privates];
            result_add_level(to, &x->count);
            for (uint32_t s = 0; s < x->slices; s++) {
                const double busy = share((double)x->slice[s].busy, ticks);
                to->busy_max = busy > to->busy_max ? busy : to->busy_max;
                to->busy_mean += busy / (channels * x->slices);
            }
            to->busy_peak = to->busy_max;
        }
        r->cpu.invalidations += x->invalidations;
        r->cpu.downgrades += x->downgrades;
        r->cpu.back_invalidations += x->back_invalidations;
        r->cpu.dirty_left += shared_dirty_lines(e, x);
        n->read_requests += d->read_requests;
        n->write_requests += d->write_requests;
        n->read_bytes += d->read_bursts * d->desc->burst_bytes;
        n->write_bytes += d->write_bursts * d->desc->burst_bytes;
        n->row_hits += d->row_hits;
        n->row_misses += d->row_misses;
        n->turnarounds += d->turnarounds;
        n->refreshes += d->refreshes;
        const double busy = share((double)d->busy, ticks), blocked = share((double)d->blocked, ticks);
        n->busy_max = busy > n->busy_max ? busy : n->busy_max;
        n->busy_mean += busy / channels;
        n->blocked_max = blocked > n->blocked_max ? blocked : n->blocked_max;
    }
    n->blocked_peak = n->blocked_max;
}

static void find_limiter(const cpu_engine *e, sim_result *r, const totals *t) {
    const double ticks = (double)r->cycles * TICKS;
    uint64_t insts = 0;
    for (int i = 0; i < OP_CLASS_COUNT; i++)
        insts += r->instructions[i];
    double issue = share((double)insts, (double)r->cycles * e->mach->core.issue_width * (e->cores ? e->cores : 1));
    for (int p = 0; p < PIPE_COUNT; p++)
        if (p != PIPE_MEMORY && r->pipe_busy[p] > issue)
            issue = r->pipe_busy[p];
    r->limit[0] = r->limit[1] = (limiter){LIMIT_LATENCY, 0, 0};
    const double first = share((double)t->first_busy, ticks);
    const double load_store = first > r->pipe_busy[PIPE_MEMORY] ? first : r->pipe_busy[PIPE_MEMORY];
    r->level[0].busy_max = r->level[0].busy_mean = r->level[0].busy_peak = first;
    result_offer(r, LIMIT_ISSUE, 0, issue);
    result_offer(r, LIMIT_LSU, 0, load_store);
    result_offer(r, LIMIT_FABRIC, 0, share((double)t->link_busy, ticks));
    result_offer(r, LIMIT_FILL, 0, t->fill_full);
    if (e->privates > 1) {
        const double second = share((double)t->second_busy, ticks);
        r->level[1].busy_max = r->level[1].busy_mean = r->level[1].busy_peak = second;
        result_offer(r, LIMIT_LEVEL, 1, second);
    }
    if (r->level_count > e->privates)
        result_offer(r, LIMIT_LEVEL, e->privates, r->level[e->privates].busy_peak);
    result_offer(r, LIMIT_DRAM, 0, r->dram.blocked_peak);
    if (r->limit[0].utilisation < result_busy_enough) {
        r->limit[1] = r->limit[0];
        r->limit[0] = (limiter){LIMIT_LATENCY, 0, r->limit[1].utilisation};
    }
}

#define LAW(what, left, right)                                                                                         \
    do {                                                                                                               \
        const uint64_t left_ = (left), right_ = (right);                                                               \
        if (left_ != right_)                                                                                           \
            return fail(m, ERR_INTERNAL, "conservation law broken: %s: %llu is not %llu", what,                        \
                        (unsigned long long)left_, (unsigned long long)right_);                                        \
    } while (0)

static status check_laws(const cpu_engine *e, const sim_result *r, const totals *t, message *m) {
    uint64_t stalls = 0, insts = 0, left = 0;
    for (int i = 0; i < STALL_COUNT; i++)
        stalls += r->stall_cycles[i];
    for (int i = 0; i < OP_CLASS_COUNT; i++)
        insts += r->instructions[i];
    for (uint32_t i = 0; i < e->cores; i++)
        left += cpu_core_retired(e->core[i]);
    LAW("cycles with leaving instructions + stalls = cycles of the threads", r->issue_cycles + stalls,
        r->resident_cycles);
    LAW("instructions that entered the window = those that left", insts, left);
    LAW("threads run = threads of the kernel", r->blocks, e->k->blocks);
    LAW("lines of loads = read requests of the first level", r->lines[0] + (e->privates == 1 ? t->blind_reads : 0),
        r->level[0].read_requests);
    LAW("lines of stores = write requests of the first level", r->lines[1], r->level[0].write_requests);
    if (e->privates > 1) {
        LAW("first-level misses + ownership requests + prefetches = its requests",
            r->level[0].read_miss_sectors + r->cpu.ownership_requests + r->level[0].prefetches,
            r->level[0].down_read_requests);
        LAW("requests of the first level + reads of page walks = requests of the second",
            r->level[0].down_read_requests + t->blind_reads, r->level[1].read_requests);
        LAW("second-level misses + prefetches = its requests", r->level[1].read_miss_sectors + r->level[1].prefetches,
            r->level[1].down_read_requests);
        LAW("lines that the first level wrote down = writes of the second", r->level[0].down_write_requests,
            r->level[1].write_requests);
    }
    for (uint32_t l = 0; l < r->level_count; l++) {
        const level_counters *n = &r->level[l];
        LAW("lines read = hit + pending + missed", n->read_sectors,
            n->read_hit_sectors + n->read_pending_sectors + n->read_miss_sectors);
        if (n->prefetches < n->prefetch_useful + n->prefetch_useless)
            return fail(m, ERR_INTERNAL, "conservation law broken: more prefetched lines used or dropped than fetched");
    }
    const dram_desc *dram = &e->mach->dram;
    const uint32_t line = e->mach->level[0].line_bytes;
    if (r->cpu.streamed_partial == 0 && line >= dram->burst_bytes) {
        LAW("lines read from DRAM = bytes on its bus", r->dram.read_requests * line, r->dram.read_bytes);
        LAW("lines written to DRAM = bytes on its bus", r->dram.write_requests * line, r->dram.write_bytes);
    }
    const level_counters *outer = &r->level[e->privates - 1];
    const bool shared = r->level_count > e->privates;
    if (shared) {
        const level_counters *n = &r->level[e->privates];
        LAW("requests of the cores = read requests of the shared level", outer->down_read_requests, n->read_requests);
        LAW("lines and buffers written down = writes of the shared level", outer->down_write_requests,
            n->write_requests);
        LAW("misses of the shared level = reads of DRAM", n->down_read_requests, r->dram.read_requests);
        LAW("lines that the shared level wrote down = writes of DRAM", n->down_write_requests, r->dram.write_requests);
    } else if (r->cpu.downgrades + r->cpu.invalidations == 0) {
        LAW("requests of the cores = reads of DRAM", outer->down_read_requests, r->dram.read_requests);
        LAW("lines and buffers written down = writes of DRAM", outer->down_write_requests, r->dram.write_requests);
    }
    return OK;
}

static status collect(const cpu_engine *e, sim_result *r, message *m) {
    totals t = {0};
    int64_t end = 0;
    for (uint32_t i = 0; i < e->cores; i++)
        end = max64(end, cpu_core_end(e->core[i]));
    r->cycles = (uint64_t)end;
    r->simulated_blocks = e->k->blocks;
    r->level_count = e->mach->level_count;
    r->resident_blocks = r->resident_warps = 1;
    r->occupancy_limit = "warps";
    r->achieved_occupancy = share((double)e->cores, e->mach->core.count);
    sum_cores(e, r, &t);
    sum_shared(e, r);
    find_limiter(e, r, &t);
    if (e->options->check)
        TRY(check_laws(e, r, &t, m));
    r->time_s = (double)r->cycles / e->mach->clock_hz + (e->k->blocks ? e->mach->launch_overhead_s : 0);
    r->checksum = result_checksum(r);
    return OK;
}

status cpu_run(const machine *mach, const kernel *k, const sim_options *options, sim_result *result, message *m) {
    cpu_engine e = {.mach = mach, .k = k, .options = options};
    memset(result, 0, sizeof *result);
    status s = engine_init(&e, m);
    if (s == OK) {
        loop(&e, m);
        s = e.result;
        for (uint32_t p = 0; p < mach->channels; p++) /* writes that still wait: every byte counts */
            llc_drain(&e.shared[p]);
    }
    if (s == OK)
        s = collect(&e, result, m);
    engine_free(&e);
    return s;
}

/* engine.c - the quantum loop.
 *
 * Nothing that a core sends can come back sooner than the shortest round trip to the memory side. So all clusters are
 * simulated, independently, for one such quantum; then all partitions, independently, over what was sent, in order of
 * (time, cluster); then their answers, which cannot be due before the next quantum, are delivered in order of
 * partition. Nothing depends on the number of host threads.
 */
#include "sim/engine.h"

#include "base/mem.h"
#include "sim/cpu_engine.h"
#include "sim/team.h"
#include "sim/tick.h"

#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WINDOW_CYCLES = 16384 }; /* some 10 us: thousands of requests a slice, so that chance does not make peaks */

typedef struct finish {
    int64_t cycle;
    uint32_t core; /* in dispatch order */
} finish;

/* Cores in the order in which blocks go to them: one to each cluster in turn, so that neighbours share nothing. */
static core *dispatch_core(const engine *e, uint32_t i) {
    const uint32_t full = e->cluster_count;
    uint32_t left = i, depth = 0;
    for (;;) {
        uint32_t width = 0;
        for (uint32_t c = 0; c < full; c++)
            width += e->clusters[c].cores > depth;
        if (left < width)
            break;
        left -= width;
        depth++;
    }
    for (uint32_t c = 0; c < full; c++)
        if (e->clusters[c].cores > depth && left-- == 0)
            return e->clusters[c].core[depth];
    return NULL;
}

/* Scoreboard names that a warp needs: the highest register in the code, and none, which is 0. */
static uint32_t count_registers(const kernel *k) {
    uint32_t highest = 0;
    for (uint32_t i = 0; i < k->code_count; i++) {
        const ir_inst *x = &k->code[i];
        highest = x->dst > highest ? x->dst : highest;
        for (int r = 0; r < IR_SOURCES_MAX; r++)
            highest = x->src[r] > highest ? x->src[r] : highest;
    }
    return highest + 1;
}

static status engine_init(engine *e, const machine *mach, const kernel *k, const sim_options *o, core **order,
                          message *m) {
    e->mach = mach;
    e->k = k;
    e->options = o;
    TRY(occupancy(mach, k, &e->occupancy, m));
    TRY(core_decode(mach, k, &e->code, m));
    const int32_t level = cluster_level(mach);
    const uint32_t width = level >= 0 ? mach->core.per_cluster : 1;
    e->core_count = mach->core.count;
    e->cluster_count = (e->core_count + width - 1) / width;
    e->working = k->blocks < e->cluster_count ? (uint32_t)k->blocks : e->cluster_count;
    e->shared = (core_shared){
        .mach = mach,
        .k = k,
        .code = e->code,
        .lane_loop = o->lane_loop,
        .line = o->line,
        .registers = o->source ? IR_REGISTERS_MAX : count_registers(k),
        .cores = mach->core.count,
        .warps_per_block = (k->block_threads + mach->core.warp_width - 1) / mach->core.warp_width,
        .resident_blocks = e->occupancy.blocks,
        .has_level = mach->level_count > 0 && mach->level[0].scope == SCOPE_CORE,
        .forward_ticks = partition_forward_ticks(mach),
    };
    if (level >= 0) {
        const uint32_t below = level > 0 ? mach->level[level - 1].latency_cycles : 0;
        e->shared.forward_ticks = cycle_to_tick((mach->level[level].latency_cycles - below) / 2);
    }
    e->quantum = partition_round_trip_cycles(mach);
    if (mach->core.block_launch_cycles && mach->core.block_launch_cycles < e->quantum)
        e->quantum = mach->core.block_launch_cycles;
    e->clusters = mem_zero(e->cluster_count, sizeof *e->clusters);
    e->partitions = mem_zero(mach->channels, sizeof *e->partitions);
    if (!e->clusters || !e->partitions)
        return fail(m, ERR_MEMORY, "not enough memory for %u cores", e->core_count);
    for (uint32_t i = 0; i < e->cluster_count; i++) {
        const uint32_t first = i * width;
        const uint32_t cores = e->core_count - first < width ? e->core_count - first : width;
        TRY(cluster_init(&e->clusters[i], &e->shared, i, cores, m));
    }
    for (uint32_t i = 0; i < mach->channels; i++)
        TRY(partition_init(&e->partitions[i], mach, i, e->cluster_count, m));
    for (uint32_t i = 0; i < e->core_count; i++)
        order[i] = dispatch_core(e, i);
    return OK;
}

static void engine_free(engine *e) {
    for (uint32_t i = 0; e->clusters && i < e->cluster_count; i++)
        cluster_free(&e->clusters[i]);
    for (uint32_t i = 0; e->partitions && i < e->mach->channels; i++)
        partition_free(&e->partitions[i]);
    mem_free(e->clusters);
    mem_free(e->partitions);
    mem_free(e->finish);
    mem_free(e->code);
}

/* --- blocks --------------------------------------------------------------------------------------------------------
 */

/* The next block of the recording; false: there is none, or e->source says what is wrong. */
static bool read_block(engine *e, recorded_block **block) {
    recording *r = e->options->source;
    e->source = recording_next_block(r, block, &e->source_message);
    if (e->source == OK && *block && r->k.code_count != e->code_count) {
        mem_free(e->code);
        e->source = core_decode(e->mach, e->k, &e->code, &e->source_message);
        e->code_count = r->k.code_count;
        e->shared.code = e->code;
    }
    if (e->source == OK && *block)
        return true;
    recorded_block_free(*block);
    e->blocks = r->k.blocks = e->next_block;
    return false;
}

/* Starts the next block, if there is one, on this core at `cycle`, or when the dispatcher is free. */
static void start_next(engine *e, core *c, int64_t cycle) {
    recorded_block *recorded = NULL;
    if (e->options->source && !read_block(e, &recorded))
        return;
    int64_t at = cycle * 1000;
    if (e->mach->core.dispatch_blocks_per_kilocycle) {
        const int64_t step = 1000000 / e->mach->core.dispatch_blocks_per_kilocycle;
        if (at < e->last_dispatch + step)
            at = e->last_dispatch + step;
        e->last_dispatch = at;
    }
    core_launch(c, e->next_block++, recorded, (at + 999) / 1000);
}

static void start_first(engine *e, core *const *order) {
    e->last_dispatch = INT64_MIN / 2;
    for (uint32_t round = 0; round < e->occupancy.blocks; round++)
        for (uint32_t i = 0; i < e->core_count && e->next_block < e->blocks; i++)
            start_next(e, order[i], 0);
}

static int finish_order(const void *a, const void *b) {
    const finish *x = a, *y = b;
    if (x->cycle != y->cycle)
        return x->cycle < y->cycle ? -1 : 1;
    return x->core < y->core ? -1 : x->core > y->core;
}

/* Lines that the device-scope caches have placed so far; *cold: in empty ways. */
static uint64_t lines_placed(const engine *e, uint64_t *cold) {
    uint64_t placed = 0;
    for (uint32_t i = 0; i < e->mach->channels; i++)
        for (uint32_t l = 0; l < e->partitions[i].levels; l++) {
            const level_counters *n = &e->partitions[i].count[l];
            placed += n->evictions + n->cold_allocations;
            *cold += n->cold_allocations;
        }
    return placed;
}

/* Gives the room of every block that ended in this quantum to the next block, in order of (time, core). */
static bool replace_finished(engine *e, core *const *order) {
    size_t n = 0;
    for (uint32_t i = 0; i < e->core_count; i++) {
        uint32_t count = 0;
        const int64_t *cycles = core_finished(order[i], &count);
        if (!count)
            continue;
        if (!mem_reserve((void **)&e->finish, &e->finish_capacity, n + count, sizeof *e->finish))
            return false;
        for (uint32_t k = 0; k < count; k++)
            e->finish[n++] = (finish){cycles[k], i};
        core_clear_finished(order[i]);
    }
    e->finished_blocks += n;
    if (!n || e->next_block >= e->blocks)
        return true;
    qsort(e->finish, n, sizeof *e->finish, finish_order);
    if (e->options->sample) {
        uint64_t cold = 0;
        const uint64_t allocated = lines_placed(e, &cold);
        for (size_t i = 0; i < n; i++)
            sampler_note(&e->sample, e->finish[i].cycle, allocated, cold);
        if (e->sample.steady) {
            e->blocks = e->next_block;
            return true;
        }
    }
    for (size_t i = 0; i < n && e->next_block < e->blocks; i++) {
        int64_t cycle = e->finish[i].cycle + e->mach->core.block_launch_cycles;
        if (cycle < e->now + e->quantum)
            cycle = e->now + e->quantum;
        start_next(e, order[e->finish[i].core], cycle);
    }
    return true;
}

/* --- memory side ---------------------------------------------------------------------------------------------------
 */

typedef struct merge_item {
    int64_t time;
    uint32_t cluster;
} merge_item;

static bool merge_before(merge_item a, merge_item b) {
    return a.time != b.time ? a.time < b.time : a.cluster < b.cluster;
}

static void merge_down(merge_item *heap, uint32_t n, uint32_t i) {
    const merge_item moved = heap[i];
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= n)
            break;
        if (child + 1 < n && merge_before(heap[child + 1], heap[child]))
            child++;
        if (!merge_before(heap[child], moved))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = moved;
}

/* The requests of a quantum go to as many sets of the caches, more than the host keeps near: fetch them all at once. */
static void prefetch_requests(const engine *e, uint32_t p, int64_t limit, bool lines) {
    for (uint32_t i = 0; i < e->working; i++) {
        const request_list *l = &e->clusters[i].port.to[p];
        for (size_t k = l->next; k < l->count && l->item[k].time < limit; k++)
            partition_prefetch(&e->partitions[p], &l->item[k], lines);
    }
}

/* A hot spot counts when it lasts: windows of about WINDOW_CYCLES cycles, in whole quanta. */
static int64_t window_quanta(const engine *e) {
    return (WINDOW_CYCLES + e->quantum - 1) / e->quantum;
}

static bool window_ends(const engine *e) {
    return (e->now / e->quantum + 1) % window_quanta(e) == 0;
}

/* Handles every request for partition p that arrives before `limit`. */
static void run_partition(engine *e, uint32_t p, int64_t limit) {
    merge_item heap[MACHINE_CORES_MAX];
    uint32_t n = 0;
    prefetch_requests(e, p, limit, false);
    prefetch_requests(e, p, limit, true);
    for (uint32_t i = 0; i < e->working; i++) {
        const request_list *l = &e->clusters[i].port.to[p];
        if (l->next < l->count && l->item[l->next].time < limit)
            heap[n++] = (merge_item){l->item[l->next].time, i};
    }
    for (uint32_t i = n / 2; i-- > 0;)
        merge_down(heap, n, i);
    while (n) {
        const uint32_t source = heap[0].cluster;
        request_list *l = &e->clusters[source].port.to[p];
        partition_request(&e->partitions[p], source, &l->item[l->next++]);
        if (l->next < l->count && l->item[l->next].time < limit) {
            heap[0].time = l->item[l->next].time;
        } else {
            if (l->next == l->count)
                l->next = l->count = 0;
            heap[0] = heap[--n];
        }
        if (n)
            merge_down(heap, n, 0);
    }
    partition_advance(&e->partitions[p], limit);
    if (window_ends(e))
        partition_window(&e->partitions[p], cycle_to_tick(e->quantum) * window_quanta(e));
}

static void run_cluster(engine *e, uint32_t i, int64_t from, int64_t to) {
    cluster *cl = &e->clusters[i];
    for (uint32_t p = 0; p < e->mach->channels; p++) {
        response_list *l = &e->partitions[p].out[i];
        for (size_t k = 0; k < l->count; k++)
            cluster_prefetch(cl, &l->item[k]);
    }
    for (uint32_t p = 0; p < e->mach->channels; p++) {
        response_list *l = &e->partitions[p].out[i];
        for (size_t k = 0; k < l->count; k++)
            cluster_deliver(cl, &l->item[k]);
        l->count = 0;
    }
    cluster_run(cl, from, to);
}

/* True when no request and no answer is on its way: also none that nobody waits for. */
static bool quiet(const engine *e) {
    for (uint32_t p = 0; p < e->mach->channels; p++)
        if (e->partitions[p].dram.reads.count)
            return false;
    for (uint32_t i = 0; i < e->working; i++) {
        const cluster *cl = &e->clusters[i];
        if (!crossbar_idle(&cl->port))
            return false;
        for (uint32_t p = 0; p < e->mach->channels; p++)
            if (e->partitions[p].out[i].count)
                return false;
        for (uint32_t c = 0; c < cl->cores; c++)
            if (core_requests(cl->core[c])->count || core_next_event(cl->core[c]) != TICK_NEVER)
                return false;
    }
    return true;
}

/* --- the loop ------------------------------------------------------------------------------------------------------
 */

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct loop_state {
    double last_report;
    bool stop;
    status result;
} loop_state;

/* The busiest slice and channel of this window, whichever they are. */
static void add_peaks(engine *e) {
    const uint32_t first = e->partitions[0].first_level, levels = e->partitions[0].levels;
    for (uint32_t l = 0; l <= levels; l++) {
        int64_t peak = 0;
        for (uint32_t p = 0; p < e->mach->channels; p++)
            if (e->partitions[p].window_busy[l] > peak)
                peak = e->partitions[p].window_busy[l];
        e->peak_ticks[first + l] += (uint64_t)peak;
    }
}

/* Between two quanta, on one thread: blocks, faults, progress. */
static void between(engine *e, core *const *order, loop_state *s, message *m) {
    for (uint32_t i = 0; i < e->cluster_count; i++)
        if (e->clusters[i].fault) {
            s->result = fail(m, ERR_INTERNAL, "%s", e->clusters[i].fault);
            s->stop = true;
        }
    for (uint32_t p = 0; p < e->mach->channels; p++)
        if (e->partitions[p].failed) {
            s->result = fail(m, ERR_MEMORY, "not enough memory for the requests of channel %u", p);
            s->stop = true;
        }
    if (!s->stop && !replace_finished(e, order)) {
        s->result = fail(m, ERR_MEMORY, "not enough memory for %u cores", e->core_count);
        s->stop = true;
    }
    if (!s->stop && e->source != OK) {
        s->result = fail(m, e->source, "%s", e->source_message.text);
        s->stop = true;
    }
    if (window_ends(e))
        add_peaks(e);
    e->now += e->quantum;
    if (e->finished_blocks == e->blocks && quiet(e))
        s->stop = true;
    if (e->options->progress) {
        const double now = seconds();
        if (now - s->last_report > 0.1) {
            s->last_report = now;
            if (e->options->progress(e->options->progress_context, e->finished_blocks, e->k->blocks)) {
                s->result = fail(m, ERR_INTERRUPTED, "interrupted after %llu of %llu blocks",
                                 (unsigned long long)e->finished_blocks, (unsigned long long)e->k->blocks);
                s->stop = true;
            }
        }
    }
}

static status engine_loop(engine *e, core *const *order, message *m) {
    loop_state s = {.last_report = seconds(), .result = OK};
    e->blocks = e->k->blocks;
    if (e->blocks == 0)
        return OK;
    sampler_init(&e->sample, (uint64_t)e->occupancy.blocks * e->core_count);
    start_first(e, order);
    const int64_t forward = partition_forward_ticks(e->mach);
    team crew = {0};
    atomic_uint next_cluster = 0, next_partition = 0;
    /* One cluster leaves the other threads little to do but wait. */
    const int threads = e->options->threads && e->working > 1 ? (int)e->options->threads : 1;
#pragma omp parallel num_threads(threads)
    {
#pragma omp single
        crew.size = (uint32_t)omp_get_num_threads();
        while (!s.stop) {
            const int64_t from = e->now, to = e->now + e->quantum;
            uint32_t i;
            while ((i = atomic_fetch_add_explicit(&next_cluster, 1, memory_order_relaxed)) < e->working)
                run_cluster(e, i, from, to);
            team_wait(&crew);
            while ((i = atomic_fetch_add_explicit(&next_partition, 1, memory_order_relaxed)) < e->mach->channels)
                run_partition(e, i, cycle_to_tick(to) + forward);
            team_wait(&crew);
            if (omp_get_thread_num() == 0) {
                between(e, order, &s, m);
                atomic_store_explicit(&next_cluster, 0, memory_order_relaxed);
                atomic_store_explicit(&next_partition, 0, memory_order_relaxed);
            }
            team_wait(&crew);
        }
    }
    if (s.result != OK)
        return s.result;
    for (uint32_t i = 0; i < e->core_count; i++)
        if (core_end(order[i]) > e->end)
            e->end = core_end(order[i]);
    for (uint32_t p = 0; p < e->mach->channels; p++) {
        const int64_t last = tick_to_cycle(e->partitions[p].last_write);
        if (last > e->end)
            e->end = last;
        partition_drain(&e->partitions[p]);
    }
    return OK;
}

status sim_run(const machine *mach, const kernel *k, const sim_options *options, sim_result *result, message *m) {
    if (mach->kind == MACHINE_CPU)
        return cpu_run(mach, k, options, result, m);
    engine e = {0};
    memset(result, 0, sizeof *result);
    core **order = mem_zero(mach->core.count, sizeof *order);
    if (!order)
        return fail(m, ERR_MEMORY, "not enough memory for %u cores", mach->core.count);
    status code = engine_init(&e, mach, k, options, order, m);
    if (code == OK)
        code = engine_loop(&e, order, m);
    if (code == OK)
        code = engine_result(&e, result, m);
    engine_free(&e);
    mem_free(order);
    return code;
}

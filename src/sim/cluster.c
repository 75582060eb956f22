#include "sim/cluster.h"

#include "base/mem.h"
#include "sim/tick.h"

int32_t cluster_level(const machine *mach) {
    for (uint32_t l = 0; l < mach->level_count; l++)
        if (mach->level[l].scope == SCOPE_CLUSTER)
            return (int32_t)l;
    return -1;
}

status cluster_init(cluster *cl, const core_shared *shared, uint32_t id, uint32_t cores, message *m) {
    const machine *mach = shared->mach;
    const int32_t level = cluster_level(mach);
    *cl = (cluster){.shared = shared, .mach = mach, .id = id, .cores = cores, .has_level = level >= 0};
    cl->core = mem_zero(cores, sizeof *cl->core);
    if (!cl->core)
        return fail(m, ERR_MEMORY, "not enough memory for a cluster of %u cores", cores);
    TRY(crossbar_init(&cl->port, mach, m));
    for (uint32_t i = 0; i < cores; i++)
        TRY(core_new(shared, i, id * (level >= 0 ? mach->core.per_cluster : 1) + i, &cl->core[i], m));
    if (cl->has_level) {
        const cache_level *desc = &mach->level[level];
        cl->level_index = (uint32_t)level;
        cl->per_byte = tick_per_byte(desc->bytes_per_cycle);
        cl->hit_ticks = cycle_to_tick(desc->latency_cycles) - shared->forward_ticks;
        cl->forward_ticks = partition_forward_ticks(mach) - shared->forward_ticks;
        cl->window = desc->latency_cycles;
        TRY(cache_init(&cl->level.tags, desc, 1, m));
    }
    return OK;
}

void cluster_free(cluster *cl) {
    for (uint32_t i = 0; cl->core && i < cl->cores; i++)
        core_free(cl->core[i]);
    mem_free(cl->core);
    crossbar_free(&cl->port);
    cache_free(&cl->level.tags);
}

static int64_t max64(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static void give(cluster *cl, uint32_t who, uint32_t token, bytemask mask, int64_t tick) {
    const mem_response r = {.cycle = tick_to_cycle(tick), .mask = mask, .token = token, .core = (uint16_t)who};
    if (!core_deliver(cl->core[who], &r))
        cl->fault = "not enough memory";
}

static void satisfy(cluster *cl, const cache_waiter *w, int64_t tick) {
    give(cl, w->who, w->tag, w->mask, max64(tick, w->earliest));
}

void cluster_prefetch(const cluster *cl, const mem_response *r) {
    if (r->core == CORE_IS_CLUSTER)
        cache_prefetch_mshr(&cl->level.tags, r->token);
}

void cluster_deliver(cluster *cl, const mem_response *r) {
    if (r->core == CORE_IS_CROSSBAR) {
        crossbar_credit(&cl->port, r->token, r->cycle);
        return;
    }
    if (r->core != CORE_IS_CLUSTER) {
        if (!core_deliver(cl->core[r->core], r))
            cl->fault = "not enough memory";
        return;
    }
    cache *c = &cl->level.tags;
    cache_mshr *h = &c->mshr[r->token];
    const int64_t tick = cycle_to_tick(r->cycle);
    h->remaining &= ~r->mask;
    if (h->fill_time == CACHE_UNKNOWN || h->fill_time < tick)
        h->fill_time = tick;
    if (h->remaining)
        return;
    cache_schedule_fill(c, (int32_t)r->token, h->fill_time);
    const int64_t time = h->fill_time;
    const int32_t first = cache_take_waiters(c, (int32_t)r->token);
    for (int32_t i = first; i != CACHE_NONE; i = c->waiter[i].next)
        satisfy(cl, &c->waiter[i], time);
    cache_release_waiters(c, first);
}

static void pass_on(cluster *cl, const mem_request *r) {
    if (!crossbar_send(&cl->port, r))
        cl->fault = "not enough memory";
}

static void send_down(cluster *cl, uint64_t line, bytemask mask, int32_t mshr, int64_t tick) {
    const mem_request r = {.time = tick + cl->forward_ticks,
                           .address = line,
                           .mask = mask,
                           .token = (uint32_t)mshr,
                           .core = CORE_IS_CLUSTER};
    pass_on(cl, &r);
}

static void write_through(cluster *cl, const mem_request *r, int64_t tick) {
    cache *c = &cl->level.tags;
    level_counters *n = &cl->level_count;
    const uint32_t shift = (uint32_t)(r->address % c->line_bytes);
    const uint32_t sectors = bytemask_units(r->mask, c->desc->sector_bytes);
    const int32_t slot = cache_find(c, (int64_t)(r->address / c->line_bytes));
    n->write_requests++;
    n->write_sectors += sectors;
    n->write_nofill_sectors += sectors;
    n->down_write_requests++;
    n->down_write_bytes += bytemask_count(r->mask);
    if (slot != CACHE_NONE) {
        n->write_hit_sectors += sectors;
        c->line[slot].present |= r->mask << shift;
    }
    mem_request down = *r;
    down.time = tick + cl->forward_ticks;
    pass_on(cl, &down);
}

/* Handles one core's request if the cache can take it; false when it has to wait for an answer not known yet. */
static bool handle(cluster *cl, const mem_request *r) {
    cache *c = &cl->level.tags;
    level_counters *n = &cl->level_count;
    const uint32_t sector = c->desc->sector_bytes;
    const uint64_t line_address = r->address - r->address % c->line_bytes;
    const int64_t line = (int64_t)(r->address / c->line_bytes);
    int64_t tick = max64(r->time, cl->level.port_free);
    cache_settle(c, tick);
    const uint32_t shift = (uint32_t)(r->address - line_address);
    const bytemask asked = r->mask << shift;
    const bytemask need = bytemask_round(asked, sector);
    const uint32_t bytes = bytemask_count(need);
    int64_t length = max64(tick_for_bytes(cl->per_byte, bytes), cycle_to_tick(c->desc->request_cycles));
    if (r->write) {
        cl->level.port_free = tick + length;
        cl->level.busy += length;
        write_through(cl, r, tick);
        return true;
    }
    int32_t slot;
    bytemask missing, fresh;
    /* Look until everything the request needs is to be had; fills whose time is known may have to come first. */
    for (;;) {
        slot = cache_find(c, line);
        missing = slot == CACHE_NONE ? need : bytemask_round(need & ~c->line[slot].present, sector);
        fresh = missing;
        bool wait = false;
        if (slot != CACHE_NONE)
            for (int32_t i = c->line[slot].mshr; i != CACHE_NONE; i = c->mshr[i].next)
                if (c->mshr[i].mask & missing) {
                    fresh &= ~c->mshr[i].mask;
                    wait |= c->mshr[i].remaining && c->mshr[i].waiter_count > c->desc->mshr_merges;
                }
        if (fresh && c->free_mshr == CACHE_NONE)
            wait = true;
        if (!wait && missing && slot == CACHE_NONE) {
            slot = cache_victim(c, line);
            wait = slot == CACHE_NONE;
            if (!wait) {
                n->evictions += c->line[slot].number >= 0;
                cache_replace(c, slot, line);
            }
        }
        if (!wait)
            break;
        n->mshr_full_events++;
        if (cache_next_fill(c) == CACHE_UNKNOWN)
            return false;
        tick = max64(tick, cache_next_fill(c));
        cl->level.port_free = tick;
        cache_settle(c, tick);
    }
    cl->level.port_free = tick + length;
    cl->level.busy += length;
    n->read_requests++;
    n->read_sectors += bytes / sector;
    n->read_hit_sectors += (bytes - bytemask_count(missing)) / sector;
    cache_waiter w = {.who = r->core, .tag = r->token, .earliest = tick + cl->hit_ticks, .shift = shift};
    if (asked & ~missing)
        give(cl, r->core, r->token, (asked & ~missing) >> shift, w.earliest);
    if (!missing)
        return true;
    for (int32_t i = c->line[slot].mshr; i != CACHE_NONE; i = c->mshr[i].next) {
        const bytemask part = c->mshr[i].mask & missing;
        if (!part)
            continue;
        n->read_pending_sectors += bytemask_whole_units(part, sector);
        w.mask = (part & asked) >> shift;
        if (!w.mask)
            continue;
        if (c->mshr[i].remaining)
            cache_mshr_wait(c, i, w);
        else
            satisfy(cl, &w, c->mshr[i].fill_time);
    }
    if (fresh) {
        const int32_t mshr = cache_mshr_new(c, slot, line, fresh);
        w.mask = (fresh & asked) >> shift;
        if (w.mask)
            cache_mshr_wait(c, mshr, w);
        n->read_miss_sectors += bytemask_whole_units(fresh, sector);
        n->fill_sectors += bytemask_whole_units(fresh, sector);
        n->down_read_requests++;
        n->down_read_bytes += bytemask_count(fresh);
        send_down(cl, line_address, fresh, mshr, tick);
    }
    return true;
}

/* Has the host fetch, all at once, what these requests will touch. */
static void prefetch_requests(cluster *cl, int64_t limit, void (*prefetch)(const cache *c, int64_t line)) {
    for (uint32_t i = 0; i < cl->cores; i++) {
        const request_list *l = core_requests(cl->core[i]);
        for (size_t k = l->next; k < l->count && l->item[k].time < limit; k++)
            prefetch(&cl->level.tags, (int64_t)(l->item[k].address / cl->level.tags.line_bytes));
    }
}

/* Handles the cores' requests that arrive before `limit`, in order of (time, core). */
static void handle_all(cluster *cl, int64_t limit) {
    int64_t head[MACHINE_CORES_MAX]; /* when each core's first request arrives */
    uint32_t cores = 0;
    do { /* a cluster has at least one core */
        const request_list *l = core_requests(cl->core[cores]);
        head[cores] = l->next < l->count ? l->item[l->next].time : TICK_NEVER;
    } while (++cores < cl->cores);
    prefetch_requests(cl, limit, cache_prefetch_set);
    prefetch_requests(cl, limit, cache_prefetch_line);
    for (;;) {
        uint32_t first = 0;
        for (uint32_t i = 1; i < cores; i++)
            if (head[i] < head[first])
                first = i;
        if (head[first] >= limit)
            break;
        request_list *l = core_requests(cl->core[first]);
        cl->blocked = !handle(cl, &l->item[l->next]);
        if (cl->blocked)
            break;
        if (++l->next == l->count)
            l->next = l->count = 0;
        head[first] = l->next < l->count ? l->item[l->next].time : TICK_NEVER;
    }
}

void cluster_run(cluster *cl, int64_t from, int64_t to) {
    if (!cl->has_level) {
        core_run(cl->core[0], to);
        request_list *l = core_requests(cl->core[0]);
        for (size_t i = 0; i < l->count; i++)
            pass_on(cl, &l->item[i]);
        l->count = 0;
    } else {
        /* A request that had to wait for an answer goes on as if it came now, so that nothing it causes comes back
         * before the quantum that begins here is over. */
        if (cl->blocked)
            cl->level.port_free = max64(cl->level.port_free, cycle_to_tick(from) + cl->shared->forward_ticks);
        while (from < to) {
            const int64_t end = from + cl->window < to ? from + cl->window : to;
            for (uint32_t i = 0; i < cl->cores; i++)
                core_run(cl->core[i], end);
            handle_all(cl, cycle_to_tick(end) + cl->shared->forward_ticks);
            from = end;
        }
    }
    if (!crossbar_drain(&cl->port))
        cl->fault = "not enough memory";
    for (uint32_t i = 0; i < cl->cores; i++)
        if (core_fault(cl->core[i]))
            cl->fault = core_fault(cl->core[i]);
}

#include "sim/partition.h"

#include "base/mem.h"
#include "sim/tick.h"

/* Where the waiter of an MSHR of the first device level sits: `who` is the cluster, `tag` the token, and the core is
 * packed beside the cluster. Waiters of deeper levels: `who` is the slice above, `tag` its MSHR. */
static uint32_t pack_source(uint32_t cluster, uint16_t core) {
    return cluster << 16 | core;
}

static int64_t max64(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static uint32_t first_device_level(const machine *mach) {
    uint32_t l = 0;
    while (l < mach->level_count && mach->level[l].scope != SCOPE_DEVICE)
        l++;
    return l;
}

static uint32_t first_device_latency(const machine *mach) {
    const uint32_t l = first_device_level(mach);
    return l < mach->level_count ? mach->level[l].latency_cycles : mach->dram.latency_cycles;
}

int64_t partition_forward_ticks(const machine *mach) {
    const uint32_t core = mach->level_count && mach->level[0].scope == SCOPE_CORE ? mach->level[0].latency_cycles : 0;
    return cycle_to_tick((first_device_latency(mach) - core) / 2);
}

uint32_t partition_round_trip_cycles(const machine *mach) {
    return first_device_latency(mach);
}

status partition_init(partition *p, const machine *mach, uint32_t id, uint32_t clusters, message *m) {
    *p = (partition){.mach = mach, .id = id, .first_level = first_device_level(mach), .clusters = clusters};
    p->levels = mach->level_count - p->first_level;
    int64_t latency = 0;
    for (uint32_t l = 0; l < p->levels; l++) {
        const cache_level *desc = &mach->level[p->first_level + l];
        const int64_t here = cycle_to_tick(desc->latency_cycles);
        p->forward[l] = l == 0 ? partition_forward_ticks(mach) : (here - latency) / 2;
        p->backward[l] = here - latency - p->forward[l];
        latency = here;
        p->per_byte[l] = tick_per_byte(desc->bytes_per_cycle);
        p->slices[l] = desc->slices / mach->channels;
        p->slice[l] = mem_zero(p->slices[l], sizeof *p->slice[l]);
        if (!p->slice[l])
            return fail(m, ERR_MEMORY, "not enough memory for the slices of %s", desc->name);
        for (uint32_t s = 0; s < p->slices[l]; s++)
            TRY(cache_init(&p->slice[l][s].tags, desc, desc->slices, m));
    }
    TRY(dram_init(&p->dram, mach, m));
    /* A DRAM latency is that of a whole answer to a row hit on an idle channel: one burst is part of it. */
    int64_t here = cycle_to_tick(mach->dram.latency_cycles) - p->dram.burst;
    if (here < latency)
        here = latency;
    p->forward[p->levels] = p->levels ? (here - latency) / 2 : partition_forward_ticks(mach);
    p->backward[p->levels] = here - latency - p->forward[p->levels];
    p->direct_free = CACHE_NONE;
    p->out = mem_zero(clusters, sizeof *p->out);
    if (!p->out)
        return fail(m, ERR_MEMORY, "not enough memory for the answers of %u clusters", clusters);
    return OK;
}

void partition_free(partition *p) {
    for (uint32_t l = 0; l < p->levels; l++) {
        for (uint32_t s = 0; p->slice[l] && s < p->slices[l]; s++)
            cache_free(&p->slice[l][s].tags);
        mem_free(p->slice[l]);
    }
    dram_free(&p->dram);
    mem_free(p->direct);
    for (uint32_t i = 0; p->out && i < p->clusters; i++)
        mem_free(p->out[i].item);
    mem_free(p->out);
}

static uint64_t hash_index(const address_hash *hash, uint64_t index) {
    uint64_t h = index;
    for (const uint8_t *s = hash->shift; *s; s++)
        h ^= index >> *s;
    return h;
}

uint32_t partition_of(const machine *mach, uint64_t address) {
    return (uint32_t)(hash_index(&mach->channel_hash, address / mach->interleave_bytes) % mach->channels);
}

uint64_t partition_local(const machine *mach, uint64_t address) {
    const uint64_t chunk = hash_index(&mach->channel_hash, address / mach->interleave_bytes);
    return chunk / mach->channels * mach->interleave_bytes + address % mach->interleave_bytes;
}

/* --- answers -------------------------------------------------------------------------------------------------------
 */

static void answer(partition *p, uint32_t source, uint32_t token, bytemask mask, int64_t tick, bool write) {
    const mem_response r = {
        .cycle = tick_to_cycle(tick), .mask = mask, .token = token, .core = (uint16_t)source, .write = write};
    if (!response_list_push(&p->out[source >> 16], &r))
        p->failed = true;
}

/* Bytes that an MSHR of device level l (slice s) asked for below will be here at `tick`. */
static void arrive(partition *p, uint32_t l, uint32_t s, int32_t mshr, bytemask mask, int64_t tick);
static void occupy(partition *p, uint32_t l, slice *s, uint32_t bytes);

/* Level l has the bytes that this waiter wants, at `tick`. */
static void satisfy(partition *p, uint32_t l, const cache_waiter *w, int64_t tick) {
    if (tick < w->earliest)
        tick = w->earliest;
    tick += p->backward[l];
    if (l == 0)
        answer(p, w->who, w->tag, w->mask, tick, false);
    else
        arrive(p, l - 1, w->who, (int32_t)w->tag, w->mask, tick);
}

static void arrive(partition *p, uint32_t l, uint32_t s, int32_t mshr, bytemask mask, int64_t tick) {
    cache *c = &p->slice[l][s].tags;
    cache_mshr *h = &c->mshr[mshr];
    h->remaining &= ~mask;
    if (h->fill_time == CACHE_UNKNOWN || h->fill_time < tick)
        h->fill_time = tick;
    if (h->remaining)
        return;
    cache_schedule_fill(c, mshr, h->fill_time);
    occupy(p, l, &p->slice[l][s], bytemask_count(h->mask));
    const int64_t time = h->fill_time;
    const int32_t first = cache_take_waiters(c, mshr);
    for (int32_t i = first; i != CACHE_NONE; i = c->waiter[i].next)
        satisfy(p, l, &c->waiter[i], time);
    cache_release_waiters(c, first);
}

/* --- DRAM ----------------------------------------------------------------------------------------------------------
 */

/* DRAM requesters are MSHRs of the last device level, packed as slice and MSHR, or, without one, `direct` waiters. */
static bool dram_decide(partition *p, int64_t limit) {
    int32_t requester = DRAM_NO_REQUESTER;
    bytemask mask = 0;
    int64_t done = 0;
    if (!dram_step(&p->dram, limit, &requester, &mask, &done))
        return false;
    if (requester == DRAM_NO_REQUESTER)
        return true;
    done += p->backward[p->levels];
    if (p->levels == 0) {
        cache_waiter *w = &p->direct[requester];
        answer(p, w->who, w->tag, w->mask, max64(done, w->earliest), false);
        w->next = p->direct_free;
        p->direct_free = requester;
        return true;
    }
    const uint32_t last = p->levels - 1;
    const uint32_t mshrs = p->slice[last][0].tags.mshr_count;
    const uint32_t s = (uint32_t)requester / mshrs;
    arrive(p, last, s, (int32_t)((uint32_t)requester % mshrs), mask, done);
    return true;
}

void partition_advance(partition *p, int64_t tick) {
    while (dram_decide(p, tick))
        ;
}

/* --- one level -----------------------------------------------------------------------------------------------------
 */

static int64_t level_write(partition *p, uint32_t l, uint64_t local, bytemask mask, int64_t tick);

/* Takes the slice's port for a request that moves `bytes`, not before `tick`; returns when it has it. */
static int64_t take_port(partition *p, uint32_t l, slice *s, uint32_t bytes, int64_t tick) {
    const cache_level *desc = &p->mach->level[p->first_level + l];
    const int64_t start = max64(tick, s->port_free);
    int64_t length = tick_for_bytes(p->per_byte[l], bytes);
    length = max64(length, cycle_to_tick(desc->request_cycles));
    s->port_free = start + length;
    s->busy += length;
    cache_settle(&s->tags, start);
    if (l == 0)
        p->began = start;
    return start;
}

/* A fill or an eviction moves `bytes` through the slice's data array, whenever it happens: what comes next waits. */
static void occupy(partition *p, uint32_t l, slice *s, uint32_t bytes) {
    const int64_t length = tick_for_bytes(p->per_byte[l], bytes);
    s->port_free += length;
    s->busy += length;
}

/* Something in this slice has to end first: DRAM decides until a fill is known, and the slice waits for it. */
static int64_t wait_for_fill(partition *p, slice *s, int64_t tick) {
    cache *c = &s->tags;
    while (cache_next_fill(c) == CACHE_UNKNOWN)
        if (!dram_decide(p, TICK_NEVER))
            break;
    const int64_t fill = cache_next_fill(c);
    if (fill == CACHE_UNKNOWN) {
        p->failed = true;
        return tick;
    }
    tick = max64(tick, fill);
    cache_settle(c, tick);
    return tick;
}

/* Makes room for the line: writes back what the victim holds. Returns when the slot is free. */
static int64_t allocate(partition *p, uint32_t l, uint32_t s_id, int64_t line, int64_t tick, int32_t *slot) {
    slice *s = &p->slice[l][s_id];
    cache *c = &s->tags;
    level_counters *n = &p->count[l];
    while ((*slot = cache_victim(c, line)) == CACHE_NONE)
        tick = wait_for_fill(p, s, tick);
    cache_line *old = &c->line[*slot];
    if (old->number < 0) {
        n->cold_allocations++;
    } else {
        n->evictions++;
        if (old->dirty) {
            const uint32_t sector = c->desc->sector_bytes;
            const bytemask dirty = old->dirty;
            occupy(p, l, s, bytemask_count(bytemask_round(dirty, sector)));
            n->dirty_evictions++;
            n->partial_evictions += bytemask_round(dirty, sector) != dirty;
            n->down_write_requests++;
            n->down_write_bytes += bytemask_count(dirty);
            /* slice-local line back to the channel-local address */
            const uint64_t line_in_channel = (uint64_t)old->number * p->slices[l] + s_id;
            const int64_t taken =
                level_write(p, l + 1, line_in_channel * c->line_bytes, dirty, tick + p->forward[l + 1]);
            tick = max64(tick, taken - p->forward[l + 1]);
        }
    }
    cache_replace(c, *slot, line);
    return tick;
}

/* Reads `mask` of the line at channel-local address `local` on behalf of `w`, arriving at `tick`. */
static void level_read(partition *p, uint32_t l, uint64_t local, cache_waiter w, int64_t tick);

/* Sends a miss of level l (MSHR of slice s_id) to the level below. */
static void fetch(partition *p, uint32_t l, uint32_t s_id, int32_t mshr, uint64_t local, bytemask mask, int64_t tick) {
    level_counters *n = &p->count[l];
    n->down_read_requests++;
    n->down_read_bytes += bytemask_count(mask);
    n->fill_sectors += bytemask_units(mask, p->mach->level[p->first_level + l].sector_bytes);
    tick += p->forward[l + 1];
    if (l + 1 < p->levels) {
        const cache_waiter w = {.who = s_id, .tag = (uint32_t)mshr, .mask = mask, .earliest = tick};
        level_read(p, l + 1, local, w, tick);
    } else {
        const int32_t requester = (int32_t)(s_id * p->slice[l][0].tags.mshr_count) + mshr;
        if (!dram_read(&p->dram, local, mask, tick, requester))
            p->failed = true;
    }
}

static void locate(const partition *p, uint32_t l, uint64_t local, uint32_t *s, int64_t *line, uint32_t *offset) {
    const uint32_t line_bytes = p->mach->level[p->first_level + l].line_bytes;
    const uint64_t number = local / line_bytes;
    *s = (uint32_t)(number % p->slices[l]);
    *line = (int64_t)(number / p->slices[l]);
    *offset = (uint32_t)(local % line_bytes);
}

/* The waiter joins a miss under way, for `part` of this level's line; returns when the slice has taken it. */
static int64_t join(partition *p, uint32_t l, cache *c, int32_t mshr, cache_waiter w, int64_t tick) {
    const cache_mshr *h = &c->mshr[mshr];
    while (h->remaining) {
        if (cache_mshr_wait(c, mshr, w))
            return tick;
        /* All merges are taken: the slice waits until the bytes are here. */
        if (!dram_decide(p, TICK_NEVER)) {
            p->failed = true;
            return tick;
        }
        if (!h->remaining)
            tick = max64(tick, h->fill_time);
    }
    satisfy(p, l, &w, max64(tick, h->fill_time));
    return tick;
}

/* Fetches what of `need` (whole sectors of the line in slot) is not under way yet. The waiter asked for `asked` of it
 * and is told of each part when it comes; NULL: nobody waits. */
static int64_t miss(partition *p, uint32_t l, uint32_t s_id, int32_t slot, int64_t line, bytemask need, bytemask asked,
                    const cache_waiter *w, int64_t tick) {
    slice *s = &p->slice[l][s_id];
    cache *c = &s->tags;
    level_counters *n = &p->count[l];
    const uint32_t sector = c->desc->sector_bytes;
    for (int32_t i = c->line[slot].mshr; i != CACHE_NONE && need;) {
        const int32_t next = c->mshr[i].next;
        const bytemask part = c->mshr[i].mask & need;
        need &= ~part;
        if (w && part) {
            n->read_pending_sectors += bytemask_whole_units(part, sector);
            cache_waiter joined = *w;
            joined.mask = (part & asked) >> w->shift;
            if (joined.mask)
                tick = join(p, l, c, i, joined, tick);
        }
        i = next;
    }
    if (!need)
        return tick;
    if (w)
        n->read_miss_sectors += bytemask_whole_units(need, sector);
    int32_t mshr = CACHE_NONE;
    while ((mshr = cache_mshr_new(c, slot, line, need)) == CACHE_NONE) {
        n->mshr_full_events++;
        tick = wait_for_fill(p, s, tick);
    }
    if (w && (need & asked)) {
        cache_waiter first = *w;
        first.mask = (need & asked) >> w->shift;
        first.earliest = max64(first.earliest, tick);
        cache_mshr_wait(c, mshr, first);
    }
    const uint64_t line_in_channel = (uint64_t)line * p->slices[l] + s_id;
    fetch(p, l, s_id, mshr, line_in_channel * c->line_bytes, need, tick);
    return tick;
}

static void level_read(partition *p, uint32_t l, uint64_t local, cache_waiter w, int64_t tick) {
    uint32_t s_id = 0;
    int64_t line = 0;
    locate(p, l, local, &s_id, &line, &w.shift);
    slice *s = &p->slice[l][s_id];
    cache *c = &s->tags;
    level_counters *n = &p->count[l];
    const uint32_t sector = c->desc->sector_bytes;
    const bytemask asked = w.mask << w.shift;
    const bytemask need = bytemask_round(asked, sector);
    const uint32_t sectors = bytemask_whole_units(need, sector);
    n->read_requests++;
    n->read_sectors += sectors;
    tick = take_port(p, l, s, sectors * sector, tick);
    int32_t slot = cache_find(c, line);
    const bytemask missing = slot == CACHE_NONE ? need : bytemask_round(need & ~c->line[slot].present, sector);
    n->read_hit_sectors += sectors - bytemask_whole_units(missing, sector);
    w.earliest = tick;
    /* What is present answers at once, every missing part when it comes. */
    if (asked & ~missing) {
        cache_waiter ready = w;
        ready.mask = (asked & ~missing) >> w.shift;
        satisfy(p, l, &ready, tick);
    }
    if (!missing)
        return;
    if (slot == CACHE_NONE)
        tick = allocate(p, l, s_id, line, tick, &slot);
    tick = miss(p, l, s_id, slot, line, missing, asked, &w, tick);
    s->port_free = max64(s->port_free, tick);
}

/* A store of `mask` at channel-local address `local`; returns the tick at which it was taken in. */
static int64_t level_write(partition *p, uint32_t l, uint64_t local, bytemask mask, int64_t tick) {
    if (l == p->levels) {
        while (dram_write_full(&p->dram) && dram_decide(p, TICK_NEVER))
            tick = max64(tick, dram_busy_until(&p->dram));
        if (!dram_write(&p->dram, local, mask, tick))
            p->failed = true;
        return tick;
    }
    uint32_t s_id = 0, offset = 0;
    int64_t line = 0;
    locate(p, l, local, &s_id, &line, &offset);
    slice *s = &p->slice[l][s_id];
    cache *c = &s->tags;
    level_counters *n = &p->count[l];
    const uint32_t sector = c->desc->sector_bytes;
    mask <<= offset;
    const bytemask whole = bytemask_round(mask, sector);
    const uint32_t sectors = bytemask_whole_units(whole, sector);
    n->write_requests++;
    n->write_sectors += sectors;
    tick = take_port(p, l, s, sectors * sector, tick);
    if (c->desc->partial == PARTIAL_MERGE && whole != mask)
        occupy(p, l, s,
               bytemask_count(bytemask_round(whole & ~mask, sector))); /* read, then written with the new bytes */
    int32_t slot = cache_find(c, line);
    if (slot != CACHE_NONE)
        n->write_hit_sectors += sectors;
    if (c->desc->write == WRITE_THROUGH) {
        n->write_nofill_sectors += sectors;
        n->down_write_requests++;
        n->down_write_bytes += bytemask_count(mask);
        if (slot != CACHE_NONE)
            c->line[slot].present |= mask;
        const int64_t taken = level_write(p, l + 1, local, mask >> offset, tick + p->forward[l + 1]);
        return max64(tick, taken - p->forward[l + 1]);
    }
    if (slot == CACHE_NONE)
        tick = allocate(p, l, s_id, line, tick, &slot);
    cache_line *cl = &c->line[slot];
    bytemask partial = 0;
    if (c->desc->partial == PARTIAL_FILL)
        partial = bytemask_round(whole & ~mask & ~cl->present, sector) & ~cl->present;
    n->write_nofill_sectors += sectors - bytemask_units(partial, sector);
    cl->present |= mask;
    cl->dirty |= mask;
    if (partial)
        tick = miss(p, l, s_id, slot, line, partial, 0, NULL, tick);
    s->port_free = max64(s->port_free, tick);
    return tick;
}

/* Without a device-scope cache a read goes straight to DRAM. */
static void direct_read(partition *p, uint64_t local, cache_waiter w) {
    int32_t id = p->direct_free;
    if (id != CACHE_NONE) {
        p->direct_free = p->direct[id].next;
    } else {
        if (!mem_reserve((void **)&p->direct, &p->direct_capacity, (size_t)p->direct_count + 1, sizeof w)) {
            p->failed = true;
            return;
        }
        id = (int32_t)p->direct_count++;
    }
    p->direct[id] = w;
    if (!dram_read(&p->dram, local, w.mask, w.earliest, id))
        p->failed = true;
}

void partition_prefetch(const partition *p, const mem_request *r, bool lines) {
    const uint64_t local = partition_local(p->mach, r->address);
    for (uint32_t l = 0; l < p->levels; l++) {
        uint32_t s = 0, offset = 0;
        int64_t line = 0;
        locate(p, l, local, &s, &line, &offset);
        (lines ? cache_prefetch_line : cache_prefetch_set)(&p->slice[l][s].tags, line);
    }
}

/* A DRAM latency counts one burst, also for stores that end there: no answer beats the round trip. */
static int64_t way_back(const partition *p) {
    return p->backward[0] + (p->levels ? 0 : p->dram.burst);
}

static void give_credit(partition *p, uint32_t cluster) {
    if (p->mach->fabric.slice_queue)
        answer(p, pack_source(cluster, CORE_IS_CROSSBAR), p->id, 0, p->began + way_back(p), false);
}

void partition_request(partition *p, uint32_t cluster, const mem_request *r) {
    partition_advance(p, r->time);
    p->began = r->time;
    const uint64_t local = partition_local(p->mach, r->address);
    const uint32_t source = pack_source(cluster, r->core);
    if (r->write) {
        const int64_t taken = level_write(p, 0, local, r->mask, r->time);
        if (taken > p->last_write)
            p->last_write = taken;
        answer(p, source, r->token, r->mask, taken + way_back(p), true);
        give_credit(p, cluster);
        return;
    }
    const cache_waiter w = {.who = source, .tag = r->token, .mask = r->mask, .earliest = r->time};
    if (p->levels)
        level_read(p, 0, local, w, r->time);
    else
        direct_read(p, local, w);
    give_credit(p, cluster);
}

/* Work taken in earlier windows counts when it is done: at most a window's length each. */
static int64_t worked_off(int64_t *before, int64_t *backlog, int64_t busy, int64_t ticks) {
    *backlog += busy - *before;
    *before = busy;
    const int64_t done = *backlog < ticks ? *backlog : ticks;
    *backlog -= done;
    return done;
}

void partition_window(partition *p, int64_t ticks) {
    for (uint32_t l = 0; l < p->levels; l++) {
        p->window_busy[l] = 0;
        for (uint32_t i = 0; i < p->slices[l]; i++) {
            slice *s = &p->slice[l][i];
            p->window_busy[l] = max64(p->window_busy[l], worked_off(&s->busy_before, &s->backlog, s->busy, ticks));
        }
    }
    p->window_busy[p->levels] = worked_off(&p->blocked_before, &p->blocked_backlog, p->dram.blocked, ticks);
}

int64_t partition_drain(partition *p) {
    while (dram_decide(p, TICK_NEVER))
        ;
    return max64(p->last_write, dram_busy_until(&p->dram));
}

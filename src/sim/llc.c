#include "sim/llc.h"

#include "sim/partition.h"
#include "sim/tick.h"

static int64_t max64(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Load-to-use of the last level that a core has for itself, and of the first thing behind it. */
static uint32_t private_latency(const machine *mach) {
    uint32_t latency = 0;
    for (uint32_t i = 0; i < mach->level_count && mach->level[i].scope == SCOPE_CORE; i++)
        latency = mach->level[i].latency_cycles;
    return latency;
}

static const cache_level *shared_level(const machine *mach) {
    const cache_level *last = &mach->level[mach->level_count - 1];
    return last->scope == SCOPE_DEVICE ? last : NULL;
}

uint32_t llc_round_trip_cycles(const machine *mach) {
    const cache_level *shared = shared_level(mach);
    return (shared ? shared->latency_cycles : mach->dram.latency_cycles) - private_latency(mach);
}

/* The bus time of a line, which a DRAM latency includes. */
static int64_t line_bursts(const machine *mach) {
    const double seconds = mach->level[0].line_bytes / (mach->dram.bandwidth_bytes_per_s / mach->channels);
    return (int64_t)(seconds * mach->clock_hz * TICKS + 0.5);
}

/* Without a shared cache the line's time on the bus is part of the round trip, and no answer comes sooner. */
static int64_t on_the_way(const machine *mach) {
    const int64_t trip = cycle_to_tick(llc_round_trip_cycles(mach));
    return shared_level(mach) ? trip : max64(trip - line_bursts(mach), 0);
}

int64_t llc_forward_ticks(const machine *mach) {
    return on_the_way(mach) / 2;
}

status llc_init(llc *x, const machine *mach, uint32_t id, message *m) {
    *x = (llc){.mach = mach,
               .id = id,
               .line_bytes = mach->level[0].line_bytes,
               .line_shift = (uint32_t)__builtin_ctz(mach->level[0].line_bytes),
               .desc = shared_level(mach),
               .work_free = LINEMAP_NONE,
               .waiting_free = LINEMAP_NONE};
    x->out = mem_zero(mach->core.count, sizeof *x->out);
    if (!x->out)
        return fail(m, ERR_MEMORY, "not enough memory for the answers of %u cores", mach->core.count);
    TRY(dram_init(&x->dram, mach, m));
    x->forward = llc_forward_ticks(mach);
    x->backward = on_the_way(mach) - x->forward;
    /* A DRAM latency is that of a whole answer to a row hit on an idle channel. */
    const int64_t bursts = line_bursts(mach);
    if (!x->desc) {
        x->bus = cycle_to_tick(llc_round_trip_cycles(mach)) - on_the_way(mach);
        return OK;
    }
    const int64_t beyond = cycle_to_tick(mach->dram.latency_cycles - x->desc->latency_cycles) - bursts;
    x->dram_forward = max64(beyond, 0) / 2;
    x->dram_backward = max64(beyond, 0) - x->dram_forward;
    x->per_byte = tick_per_byte(x->desc->bytes_per_cycle);
    x->slices = x->desc->slices / mach->channels;
    x->slice = mem_zero(x->slices, sizeof *x->slice);
    if (!x->slice)
        return fail(m, ERR_MEMORY, "not enough memory for the slices of %s", x->desc->name);
    for (uint32_t s = 0; s < x->slices; s++) {
        llc_slice *one = &x->slice[s];
        TRY(cache_init(&one->tags, x->desc, x->desc->slices, m));
        one->line = mem_zero((size_t)one->tags.sets * one->tags.ways, sizeof *one->line);
        if (!one->line)
            return fail(m, ERR_MEMORY, "not enough memory for the slices of %s", x->desc->name);
    }
    return OK;
}

void llc_free(llc *x) {
    for (uint32_t s = 0; x->slice && s < x->slices; s++) {
        cache_free(&x->slice[s].tags);
        mem_free(x->slice[s].line);
    }
    for (uint32_t i = 0; x->out && i < x->mach->core.count; i++)
        mem_free(x->out[i].item);
    mem_free(x->slice);
    mem_free(x->out);
    mem_free(x->work);
    mem_free(x->waiting);
    dram_free(&x->dram);
    linemap_free(&x->directory);
}

/* --- small parts ---------------------------------------------------------------------------------------------------
 */

static uint64_t bit(uint32_t core) {
    return UINT64_C(1) << core;
}

static bool takes_victims(const llc *x) {
    return x->desc && (x->desc->holds == INCLUSION_EXCLUSIVE || x->desc->holds == INCLUSION_MOSTLY);
}

static uint64_t local_of(const llc *x, uint64_t line) {
    return partition_local(x->mach, line << x->line_shift);
}

static llc_slice *slice_of(const llc *x, uint64_t local, int64_t *number) {
    const uint64_t n = local >> x->line_shift;
    *number = (int64_t)(n / x->slices);
    return &x->slice[n % x->slices];
}

static void broken(llc *x) {
    x->fault = "not enough memory";
}

static void answer(llc *x, uint32_t core, line_message msg, int64_t tick) {
    msg.time = tick_to_cycle(tick + x->backward);
    msg.core = (uint8_t)core;
    if (!message_append(&x->out[core], &msg))
        broken(x);
}

static void probe(llc *x, uint64_t cores, line_kind kind, uint64_t line, int64_t tick) {
    for (; cores; cores &= cores - 1)
        answer(x, (uint32_t)__builtin_ctzll(cores), (line_message){.line = line, .kind = (uint8_t)kind}, tick);
}

static llc_work *new_work(llc *x, int32_t *id) {
    *id = x->work_free;
    if (*id != LINEMAP_NONE) {
        x->work_free = x->work[*id].next_free;
    } else {
        if (!mem_reserve((void **)&x->work, &x->work_capacity, x->work_count + 1, sizeof *x->work)) {
            broken(x);
            return NULL;
        }
        *id = (int32_t)x->work_count++;
    }
    x->work[*id] = (llc_work){.first_waiting = LINEMAP_NONE, .last_waiting = LINEMAP_NONE};
    return &x->work[*id];
}

static void wait_in_line(llc *x, llc_work *w, const line_message *msg) {
    int32_t id = x->waiting_free;
    if (id != LINEMAP_NONE) {
        x->waiting_free = x->waiting[id].next;
    } else {
        if (!mem_reserve((void **)&x->waiting, &x->waiting_capacity, x->waiting_count + 1, sizeof *x->waiting)) {
            broken(x);
            return;
        }
        id = (int32_t)x->waiting_count++;
    }
    x->waiting[id] = (llc_waiting){*msg, LINEMAP_NONE};
    if (w->last_waiting == LINEMAP_NONE)
        w->first_waiting = id;
    else
        x->waiting[w->last_waiting].next = id;
    w->last_waiting = id;
}

/* A line moves through the slice's data array, whenever that is: what comes next waits. */
static void occupy(const llc *x, llc_slice *s) {
    const int64_t length = tick_for_bytes(x->per_byte, x->line_bytes);
    s->port_free += length;
    s->busy += length;
}

static int64_t take_port(const llc *x, llc_slice *s, bool data, int64_t tick) {
    const int64_t start = max64(tick, s->port_free);
    const int64_t least = cycle_to_tick(x->desc->request_cycles);
    const int64_t length = max64(data ? tick_for_bytes(x->per_byte, x->line_bytes) : 0, least);
    s->port_free = start + length;
    s->busy += length;
    return start;
}

static void write_dram(llc *x, uint64_t local, bytemask mask, int64_t tick) {
    x->write_requests++;
    if (!dram_write(&x->dram, local, mask, tick + x->dram_forward))
        broken(x);
}

static void write_line(llc *x, uint64_t local, int64_t tick) {
    if (x->desc) {
        x->count.down_write_requests++;
        x->count.down_write_bytes += x->line_bytes;
    }
    write_dram(x, local, bytemask_range(0, x->line_bytes), tick);
}

/* --- the shared cache ----------------------------------------------------------------------------------------------
 */

/* Puts the line into its slice. What has to go tells the cores, where the level is inclusive. False: every way of the
 * set is needed for work under way. */
static bool place(llc *x, uint64_t line, uint64_t local, bool dirty, int64_t tick) {
    int64_t number = 0;
    llc_slice *s = slice_of(x, local, &number);
    cache *c = &s->tags;
    int32_t slot = cache_find(c, number);
    occupy(x, s);
    if (slot == CACHE_NONE) {
        slot = cache_victim(c, number);
        if (slot == CACHE_NONE)
            return false;
        const cache_line *old = &c->line[slot];
        if (old->number < 0) {
            x->count.cold_allocations++;
        } else {
            const uint64_t old_line = s->line[slot], old_local = local_of(x, old_line);
            const bool old_dirty = old->dirty != 0;
            linemap_entry *e = x->desc->holds == INCLUSION_INCLUSIVE ? linemap_find(&x->directory, old_line) : NULL;
            x->count.evictions++;
            x->count.dirty_evictions += old_dirty;
            if (e && e->sharers && e->busy == LINEMAP_NONE) {
                int32_t id = LINEMAP_NONE;
                llc_work *w = new_work(x, &id);
                if (!w)
                    return false;
                w->eviction = true;
                w->request = (line_message){.line = old_line};
                w->local = old_local;
                w->dirty = old_dirty;
                w->ready = tick;
                w->probes = (uint32_t)__builtin_popcountll(e->sharers);
                e->busy = id;
                x->back_invalidations += w->probes;
                probe(x, e->sharers, LINE_BACK_INVALIDATE, old_line, tick);
            } else if (old_dirty) {
                write_line(x, old_local, tick);
            }
        }
        cache_replace(c, slot, number);
        c->line[slot].present = 1;
    }
    s->line[slot] = line;
    if (dirty)
        c->line[slot].dirty = 1;
    return true;
}

static void keep_or_write(llc *x, uint64_t line, uint64_t local, bool dirty, int64_t tick) {
    if (!x->desc || !place(x, line, local, dirty, tick))
        if (dirty)
            write_line(x, local, tick);
}

/* The slot of a line; marks it as needed by work under way, or no longer. */
static int32_t find(llc *x, uint64_t local, cache **tags) {
    if (!x->desc)
        return CACHE_NONE;
    int64_t number = 0;
    *tags = &slice_of(x, local, &number)->tags;
    return cache_look(*tags, number);
}

static void pin(llc *x, uint64_t local, bool pinned) {
    cache *c = NULL;
    const int32_t slot = find(x, local, &c);
    if (slot != CACHE_NONE)
        cache_pin(c, slot, pinned);
}

/* --- requests ------------------------------------------------------------------------------------------------------
 */

/* The requester gets the line. `fetched`: it comes from DRAM; `dirty`: another core had changed it. */
static void grant(llc *x, linemap_entry *e, const line_message *req, uint64_t local, bool fetched, bool dirty,
                  int64_t tick) {
    e->sharers |= bit(req->core);
    const bool exclusive = req->kind == LINE_OWN || e->sharers == bit(req->core);
    e->owner = exclusive ? req->core : LINEMAP_NONE;
    line_message msg = {.line = req->line, .token = req->token, .kind = LINE_DATA, .exclusive = exclusive};
    cache *c = NULL;
    const int32_t slot = find(x, local, &c);
    if (slot != CACHE_NONE) {
        const bool moves = x->desc->holds == INCLUSION_EXCLUSIVE || x->desc->holds == INCLUSION_MOSTLY;
        if (moves && exclusive) {
            dirty |= c->line[slot].dirty != 0;
            cache_pin(c, slot, false);
            cache_drop(c, slot);
        } else {
            int64_t number = 0;
            cache_find(&slice_of(x, local, &number)->tags, number); /* it is the newest of its set */
            if (dirty && !exclusive) {
                c->line[slot].dirty = 1;
                dirty = false;
            }
        }
        msg.dirty = dirty && exclusive;
    } else {
        msg.dirty = dirty && exclusive;
        if (dirty && !exclusive)
            keep_or_write(x, req->line, local, true, tick);
        else if (fetched && x->desc && !takes_victims(x))
            place(x, req->line, local, false, tick);
    }
    answer(x, req->core, msg, tick);
}

static void stream(llc *x, const line_message *req, uint64_t local, bool dirty, int64_t tick) {
    cache *c = NULL;
    const int32_t slot = find(x, local, &c);
    bytemask mask = req->mask;
    if (slot != CACHE_NONE) {
        dirty |= c->line[slot].dirty != 0;
        cache_pin(c, slot, false);
        cache_drop(c, slot);
    }
    if (dirty) /* what was changed before goes along */
        mask = bytemask_range(0, x->line_bytes);
    if (x->desc) {
        x->count.down_write_requests++;
        x->count.down_write_bytes += bytemask_count(mask);
    }
    write_dram(x, local, mask, tick);
    x->last_write = max64(x->last_write, tick + x->dram_forward);
    answer(x, req->core, (line_message){.line = req->line, .token = req->token, .kind = LINE_TAKEN}, tick);
}

static void fetch(llc *x, llc_work *w, int32_t id, int64_t tick) {
    w->from_dram = true;
    x->read_requests++;
    if (x->desc) {
        int64_t number = 0;
        slice_of(x, w->local, &number)->in_flight++;
        x->count.down_read_requests++;
        x->count.down_read_bytes += x->line_bytes;
        x->count.fill_sectors++;
        x->count.read_miss_sectors++;
    }
    if (!dram_read(&x->dram, w->local, bytemask_range(0, x->line_bytes), tick - x->bus + x->dram_forward, id))
        broken(x);
}

/* Begins with a request whose line is free. */
static void begin(llc *x, const line_message *req, bool queued, int64_t tick) {
    const uint64_t local = local_of(x, req->line);
    linemap_entry *e = linemap_put(&x->directory, req->line);
    if (!e) {
        broken(x);
        return;
    }
    e->sharers &= ~bit(req->core);
    if (e->owner == req->core)
        e->owner = LINEMAP_NONE;
    tick += x->bus;
    cache *c = NULL;
    const int32_t slot = find(x, local, &c);
    const bool hit = slot != CACHE_NONE;
    if (x->desc && !queued) {
        int64_t number = 0;
        tick = take_port(x, slice_of(x, local, &number), hit || req->kind == LINE_STREAM, tick);
    }
    uint64_t asked = 0;
    if (req->kind == LINE_READ)
        asked = e->owner != LINEMAP_NONE ? bit((uint32_t)e->owner) : 0;
    else
        asked = e->sharers;
    if (x->desc) {
        if (req->kind == LINE_STREAM) {
            x->count.write_requests++;
            x->count.write_sectors++;
            x->count.write_nofill_sectors++;
        } else {
            x->count.read_requests++;
            x->count.read_sectors++;
            x->count.read_hit_sectors += hit;
        }
    }
    if (!asked && req->kind == LINE_STREAM) {
        stream(x, req, local, false, tick);
        return;
    }
    if (!asked && hit) {
        grant(x, e, req, local, false, false, tick);
        return;
    }
    int32_t id = LINEMAP_NONE;
    llc_work *w = new_work(x, &id);
    if (!w)
        return;
    w->request = *req;
    w->local = local;
    w->ready = tick;
    w->has_data = hit || req->kind == LINE_STREAM;
    w->missed = !hit && req->kind != LINE_STREAM;
    w->probes = (uint32_t)__builtin_popcountll(asked);
    e->busy = id;
    if (hit)
        cache_pin(c, slot, true);
    if (asked) {
        const bool share = req->kind == LINE_READ;
        *(share ? &x->downgrades : &x->invalidations) += w->probes;
        probe(x, asked, share ? LINE_SHARE : LINE_INVALIDATE, req->line, tick);
    }
    if (!w->has_data && e->owner == LINEMAP_NONE)
        fetch(x, w, id, tick);
}

static void forget_if_idle(llc *x, uint64_t line) {
    linemap_entry *e = linemap_find(&x->directory, line);
    if (e && !e->sharers && e->busy == LINEMAP_NONE)
        linemap_remove(&x->directory, e);
}

/* The line is free again at `tick`: those who waited for it have their turn, until one of them keeps it busy. */
static void release(llc *x, uint64_t line, int32_t id, int64_t tick) {
    int32_t first = x->work[id].first_waiting;
    x->work[id].next_free = x->work_free;
    x->work_free = id;
    linemap_entry *e = linemap_find(&x->directory, line);
    if (e)
        e->busy = LINEMAP_NONE;
    while (first != LINEMAP_NONE && !x->fault) {
        const line_message msg = x->waiting[first].message;
        const int32_t next = x->waiting[first].next;
        e = linemap_find(&x->directory, line);
        if (e && e->busy != LINEMAP_NONE) {
            wait_in_line(x, &x->work[e->busy], &msg);
        } else {
            begin(x, &msg, true, max64(tick, msg.time));
        }
        x->waiting[first].next = x->waiting_free;
        x->waiting_free = first;
        first = next;
    }
    forget_if_idle(x, line);
}

/* Goes on with work whose probes are all answered. */
static void go_on(llc *x, int32_t id) {
    llc_work *w = &x->work[id];
    const llc_work now = *w;
    const uint64_t line = now.request.line;
    linemap_entry *e = linemap_find(&x->directory, line);
    if (!e) {
        x->fault = "the directory lost a line that is being worked on";
        return;
    }
    if (now.eviction) {
        if (now.dirty)
            write_line(x, now.local, now.ready);
    } else if (now.request.kind == LINE_STREAM) {
        stream(x, &now.request, now.local, now.dirty, now.ready);
    } else if (!now.has_data) {
        cache *c = NULL;
        if (now.from_dram)
            return; /* still on its way */
        if (find(x, now.local, &c) == CACHE_NONE) {
            fetch(x, w, id, now.ready);
            return;
        }
        /* The owner's victim arrived before its answer: another core's line after all. */
        x->count.read_pending_sectors += x->desc != NULL;
        x->count.taken_lines += x->desc != NULL;
        grant(x, e, &now.request, now.local, false, now.dirty, now.ready);
    } else {
        if (now.missed && !now.from_dram && x->desc) {
            x->count.read_pending_sectors++;
            x->count.taken_lines++;
        }
        pin(x, now.local, false);
        grant(x, e, &now.request, now.local, now.from_dram, now.dirty, now.ready);
    }
    release(x, line, id, now.ready);
}

static void acknowledge(llc *x, const line_message *msg) {
    linemap_entry *e = linemap_find(&x->directory, msg->line);
    if (!e || e->busy == LINEMAP_NONE) {
        x->fault = "an answer to a probe that was not sent";
        return;
    }
    const int32_t id = e->busy;
    llc_work *w = &x->work[id];
    const bool stays = w->request.kind == LINE_READ && !w->eviction && msg->kind != LINE_ACK;
    if (!stays)
        e->sharers &= ~bit(msg->core);
    if (e->owner == msg->core)
        e->owner = LINEMAP_NONE;
    w->ready = max64(w->ready, msg->time + x->bus);
    w->has_data |= msg->kind != LINE_ACK && !w->eviction;
    w->dirty |= msg->kind == LINE_ACK_DIRTY;
    if (--w->probes == 0)
        go_on(x, id);
}

static void victim(llc *x, const line_message *msg) {
    linemap_entry *e = linemap_find(&x->directory, msg->line);
    if (e) {
        e->sharers &= ~bit(msg->core);
        if (e->owner == msg->core)
            e->owner = LINEMAP_NONE;
    }
    const bool dirty = msg->kind == LINE_DIRTY;
    const uint64_t local = local_of(x, msg->line);
    if (x->desc && (dirty || takes_victims(x))) {
        cache *c = NULL;
        int64_t number = 0;
        const bool hit = find(x, local, &c) != CACHE_NONE;
        const int64_t start = take_port(x, slice_of(x, local, &number), false, msg->time);
        if (dirty) {
            x->count.write_requests++;
            x->count.write_sectors++;
            x->count.write_hit_sectors += hit;
            x->count.write_nofill_sectors++;
        }
        keep_or_write(x, msg->line, local, dirty, start);
    } else if (dirty) {
        write_line(x, local, msg->time);
    }
    if (dirty)
        x->last_write = max64(x->last_write, msg->time);
    forget_if_idle(x, msg->line);
}

static bool dram_decide(llc *x, int64_t limit) {
    int32_t requester = DRAM_NO_REQUESTER;
    bytemask mask = 0;
    int64_t done = 0;
    if (!dram_step(&x->dram, limit, &requester, &mask, &done))
        return false;
    if (requester == DRAM_NO_REQUESTER)
        return true;
    llc_work *w = &x->work[requester];
    if (x->desc) {
        int64_t number = 0;
        slice_of(x, w->local, &number)->in_flight--;
    }
    w->has_data = true;
    w->ready = max64(w->ready, done + x->dram_backward);
    if (w->probes == 0)
        go_on(x, requester);
    return true;
}

void llc_advance(llc *x, int64_t tick) {
    while (!x->fault && dram_decide(x, tick))
        ;
}

static bool is_request(const line_message *msg) {
    return msg->kind == LINE_READ || msg->kind == LINE_OWN || msg->kind == LINE_STREAM;
}

void llc_message(llc *x, const line_message *msg) {
    llc_advance(x, msg->time);
    if (msg->kind == LINE_ACK || msg->kind == LINE_ACK_DATA || msg->kind == LINE_ACK_DIRTY) {
        acknowledge(x, msg);
        return;
    }
    if (!is_request(msg)) {
        victim(x, msg);
        return;
    }
    int64_t tick = msg->time;
    while (dram_write_full(&x->dram) && dram_decide(x, TICK_NEVER))
        tick = max64(tick, dram_busy_until(&x->dram) - x->dram_forward);
    if (x->desc && msg->kind != LINE_STREAM) {
        int64_t number = 0;
        llc_slice *s = slice_of(x, local_of(x, msg->line), &number);
        bool full = false;
        while (s->in_flight >= x->desc->mshrs && dram_decide(x, TICK_NEVER)) {
            full = true;
            tick = max64(tick, dram_busy_until(&x->dram) + x->dram_backward);
        }
        x->count.mshr_full_events += full;
    }
    linemap_entry *e = linemap_find(&x->directory, msg->line);
    if (e && e->busy != LINEMAP_NONE) {
        line_message later = *msg;
        later.time = tick;
        wait_in_line(x, &x->work[e->busy], &later);
        return;
    }
    begin(x, msg, false, tick);
    forget_if_idle(x, msg->line);
}

bool llc_quiet(const llc *x) {
    if (x->dram.reads.count)
        return false;
    for (uint32_t i = 0; i < x->mach->core.count; i++)
        if (x->out[i].count)
            return false;
    return true;
}

void llc_drain(llc *x) {
    while (!x->fault && dram_decide(x, TICK_NEVER))
        ;
}

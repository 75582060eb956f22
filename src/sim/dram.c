#include "sim/dram.h"

#include "base/mem.h"
#include "sim/tick.h"

#include <string.h>

static int64_t ns_to_ticks(double ns, double clock_hz) {
    return (int64_t)(ns * 1e-9 * clock_hz * TICKS + 0.5);
}

status dram_init(dram_channel *d, const machine *mach, message *m) {
    const dram_desc *desc = &mach->dram;
    const double f = mach->clock_hz;
    const double channel_rate = desc->bandwidth_bytes_per_s / mach->channels;
    *d = (dram_channel){
        .desc = desc,
        .burst = (int64_t)(desc->burst_bytes / channel_rate * f * TICKS + 0.5),
        .rcd = ns_to_ticks(desc->t_rcd_ns, f),
        .rp = ns_to_ticks(desc->t_rp_ns, f),
        .ras = ns_to_ticks(desc->t_ras_ns, f),
        .rrd = ns_to_ticks(desc->t_rrd_ns, f),
        .faw = ns_to_ticks(desc->t_faw_ns, f),
        .wr = ns_to_ticks(desc->t_wr_ns, f),
        .wtr = ns_to_ticks(desc->t_wtr_ns, f),
        .rtw = ns_to_ticks(desc->t_rtw_ns, f),
        .refi = ns_to_ticks(desc->t_refi_ns, f),
        .rfc = ns_to_ticks(desc->t_rfc_ns, f),
        .row_bursts = desc->row_bytes / desc->burst_bytes,
        .last_activate = INT64_MIN / 2,
    };
    d->next_refresh = d->refi > 0 ? d->refi : TICK_NEVER;
    for (int i = 0; i < 4; i++)
        d->activates[i] = INT64_MIN / 2;
    d->bank = mem_zero(desc->banks, sizeof *d->bank);
    if (!d->bank)
        return fail(m, ERR_MEMORY, "not enough memory for a DRAM channel of %u banks", desc->banks);
    for (uint32_t i = 0; i < desc->banks; i++)
        d->bank[i].open_row = -1;
    return OK;
}

void dram_free(dram_channel *d) {
    mem_free(d->bank);
    mem_free(d->reads.item);
    mem_free(d->writes.item);
    *d = (dram_channel){0};
}

static bool enqueue(dram_channel *d, dram_queue *q, uint64_t local, bytemask mask, int64_t arrival, int32_t requester) {
    size_t capacity = q->capacity;
    if (!mem_reserve((void **)&q->item, &capacity, (size_t)q->count + 1, sizeof *q->item))
        return false;
    q->capacity = (uint32_t)capacity;
    if (!q->count)
        q->oldest_since = arrival;
    const dram_desc *desc = d->desc;
    const uint64_t row_number = local / desc->row_bytes;
    uint64_t h = row_number;
    for (const uint8_t *s = desc->bank_hash.shift; *s; s++)
        h ^= row_number >> *s;
    q->item[q->count++] = (dram_request){
        .arrival = arrival,
        .row = row_number / desc->banks,
        .bank = (uint32_t)(h % desc->banks),
        .bursts = bytemask_units(mask, desc->burst_bytes),
        .requester = requester,
        .mask = mask,
    };
    return true;
}

bool dram_read(dram_channel *d, uint64_t local, bytemask mask, int64_t arrival, int32_t requester) {
    d->read_requests++;
    return enqueue(d, &d->reads, local, mask, arrival, requester);
}

bool dram_write_full(const dram_channel *d) {
    return d->writes.count >= 2 * d->desc->write_queue_high;
}

bool dram_write(dram_channel *d, uint64_t local, bytemask mask, int64_t arrival) {
    d->write_requests++;
    if (!d->desc->masked_writes) {
        const bytemask whole = bytemask_round(mask, d->desc->burst_bytes);
        /* A burst of which only some bytes are new is read first (read-modify-write of the ECC word). */
        bytemask partial = bytemask_round(whole & ~mask, d->desc->burst_bytes);
        if (partial && !enqueue(d, &d->reads, local, partial, arrival, DRAM_NO_REQUESTER))
            return false;
    }
    return enqueue(d, &d->writes, local, mask, arrival, DRAM_NO_REQUESTER);
}

static int64_t max64(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* First column command for this request, and whether it hits the open row. */
static int64_t column_time(const dram_channel *d, const dram_request *r, bool *hit) {
    const dram_bank *b = &d->bank[r->bank];
    *hit = b->open_row == (int64_t)r->row;
    if (*hit)
        return max64(b->column_ok, r->arrival);
    int64_t act = max64(b->activate_ok, r->arrival + (b->open_row >= 0 ? d->rp : 0));
    act = max64(act, d->last_activate + d->rrd);
    act = max64(act, d->activates[d->activate_index] + d->faw);
    return act + d->rcd;
}

/* The item to serve next among those that have arrived by `now`; -1 if none has. */
static int32_t choose(const dram_channel *d, const dram_queue *q, uint32_t window, int64_t now) {
    int32_t best = -1;
    int64_t best_start = TICK_NEVER;
    if (q->count && q->item[0].arrival <= now && now - q->oldest_since > cycle_to_tick(DRAM_STARVE_CYCLES))
        return 0;
    const uint32_t n = q->count < window ? q->count : window;
    for (uint32_t i = 0; i < n; i++) {
        const dram_request *r = &q->item[i];
        if (r->arrival > now)
            continue;
        bool hit = false;
        const int64_t start = column_time(d, r, &hit);
        if (hit && start <= now)
            return (int32_t)i;
        if (start < best_start) {
            best_start = start;
            best = (int32_t)i;
        }
    }
    return best;
}

static int64_t first_arrival(const dram_queue *q) {
    int64_t first = TICK_NEVER;
    for (uint32_t i = 0; i < q->count; i++)
        if (q->item[i].arrival < first)
            first = q->item[i].arrival;
    return first;
}

static void refresh(dram_channel *d) {
    const int64_t start = max64(d->bus_free, d->next_refresh);
    const int64_t end = start + d->rfc;
    for (uint32_t i = 0; i < d->desc->banks; i++) {
        d->bank[i].open_row = -1;
        d->bank[i].activate_ok = max64(d->bank[i].activate_ok, end);
    }
    d->blocked += end - start;
    d->bus_free = end;
    d->next_refresh += d->refi;
    d->refreshes++;
}

/* Moves the request's data, updates bank and bus; returns the tick of its last data. */
static int64_t serve(dram_channel *d, const dram_request *r, bool write) {
    bool hit = false;
    const int64_t column = column_time(d, r, &hit);
    dram_bank *b = &d->bank[r->bank];
    if (hit) {
        d->row_hits++;
    } else {
        const int64_t act = column - d->rcd;
        d->row_misses++;
        b->open_row = (int64_t)r->row;
        b->activated = act;
        d->last_activate = act;
        d->activates[d->activate_index] = act;
        d->activate_index = (d->activate_index + 1) % 4;
    }
    int64_t start = max64(column, d->bus_free);
    if (write && !d->last_was_write)
        start = max64(start, d->bus_free + d->rtw);
    if (!write && d->last_was_write)
        start = max64(start, d->read_after);
    if (write != d->last_was_write)
        d->turnarounds++;
    const int64_t length = d->burst * r->bursts;
    const int64_t end = start + length;
    /* The bus idled before this transfer although the request had arrived: turnaround, activates or bank conflicts. */
    d->blocked += end - max64(d->bus_free, start < r->arrival ? start : max64(r->arrival, d->bus_free));
    d->busy += length;
    d->bus_free = end;
    d->last_was_write = write;
    if (write)
        d->read_after = end + d->wtr;
    b->column_ok = max64(column, b->column_ok);
    b->activate_ok = max64(max64(b->activated + d->ras, write ? end + d->wr : start) + d->rp, b->activate_ok);
    if (write)
        d->write_bursts += r->bursts;
    else
        d->read_bursts += r->bursts;
    return end;
}

static void remove_item(dram_queue *q, int32_t i, int64_t now) {
    q->count--;
    if (i == 0)
        q->oldest_since = now;
    memmove(q->item + i, q->item + i + 1, (q->count - (uint32_t)i) * sizeof *q->item);
}

bool dram_step(dram_channel *d, int64_t limit, int32_t *requester, bytemask *mask, int64_t *done) {
    const dram_desc *desc = d->desc;
    if (!d->reads.count && !d->writes.count)
        return false;
    /* The decision falls when the bus becomes free or the first request is there, whichever is later. */
    int64_t now = d->bus_free;
    const bool read_there = d->reads.count && d->reads.item[0].arrival <= now;
    const bool write_there = d->writes.count && d->writes.item[0].arrival <= now;
    if (!read_there && !write_there) {
        const int64_t r = first_arrival(&d->reads), w = first_arrival(&d->writes);
        now = max64(now, r < w ? r : w);
    }
    if (now >= limit)
        return false;
    if (now >= d->next_refresh) {
        refresh(d);
        *requester = DRAM_NO_REQUESTER;
        return true;
    }
    if (d->writes.count >= desc->write_queue_high)
        d->draining = true;
    else if (d->writes.count <= desc->write_queue_low)
        d->draining = false;
    int32_t i = -1;
    bool write = d->draining;
    if (write)
        i = choose(d, &d->writes, 2 * desc->write_queue_high, now);
    if (i < 0) {
        write = false;
        i = choose(d, &d->reads, desc->read_queue, now);
    }
    if (i < 0) {
        write = true;
        i = choose(d, &d->writes, 2 * desc->write_queue_high, now);
    }
    if (i < 0) { /* only requests beyond the windows have arrived: out-of-order arrivals at a queue's end */
        write = !d->reads.count;
        i = 0;
    }
    dram_queue *q = write ? &d->writes : &d->reads;
    const dram_request r = q->item[i];
    remove_item(q, i, now);
    *done = serve(d, &r, write);
    *requester = write ? DRAM_NO_REQUESTER : r.requester;
    *mask = r.mask;
    return true;
}

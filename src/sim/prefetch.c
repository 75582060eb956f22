#include "sim/prefetch.h"

#include "base/mem.h"

status prefetcher_init(prefetcher *p, const prefetch_desc *desc, uint32_t line_bytes, message *m) {
    *p = (prefetcher){.desc = desc,
                      .line_shift = (uint32_t)__builtin_ctz(line_bytes),
                      .block_shift = (uint32_t)(__builtin_ctz(desc->boundary_bytes) - __builtin_ctz(line_bytes)),
                      .last_line = UINT64_MAX - 1};
    p->stride = mem_zero(desc->stride_entries, sizeof *p->stride);
    p->stream = mem_zero(desc->streams, sizeof *p->stream);
    return p->stride && p->stream ? OK : fail(m, ERR_MEMORY, "not enough memory for the prefetchers");
}

void prefetcher_free(prefetcher *p) {
    mem_free(p->stride);
    mem_free(p->stream);
    *p = (prefetcher){0};
}

static bool same_block(const prefetcher *p, uint64_t a, uint64_t b) {
    return a >> p->block_shift == b >> p->block_shift;
}

static uint32_t add(const prefetcher *p, uint64_t from, uint64_t to, uint64_t *line, uint32_t n) {
    if (to == from || !same_block(p, from, to) || n == PREFETCH_LINES_MAX)
        return n;
    line[n] = to;
    return n + 1;
}

uint32_t prefetch_first(prefetcher *p, uint32_t instruction, uint64_t address, uint64_t line[PREFETCH_LINES_MAX]) {
    const prefetch_desc *d = p->desc;
    const uint64_t here = address >> p->line_shift;
    uint32_t n = 0;
    if (d->next_line && here == p->last_line + 1)
        n = add(p, here, here + 1, line, n);
    p->last_line = here;
    if (!d->stride_entries)
        return n;
    stride_entry *e = &p->stride[instruction % d->stride_entries];
    if (e->instruction != instruction + 1) {
        *e = (stride_entry){.instruction = instruction + 1, .address = address};
        return n;
    }
    const int64_t stride = (int64_t)(address - e->address);
    e->address = address;
    if (stride == 0)
        return n;
    if (stride != e->stride) {
        e->stride = stride;
        e->confidence = 0;
        return n;
    }
    e->confidence += e->confidence < 3;
    if (e->confidence < 2)
        return n;
    return add(p, here, (address + (uint64_t)stride * d->stride_distance) >> p->line_shift, line, n);
}

static stream_entry *stream_of(prefetcher *p, uint64_t block) {
    if (p->last_stream < p->desc->streams && p->stream[p->last_stream].block == block + 1)
        return &p->stream[p->last_stream];
    stream_entry *oldest = p->stream;
    for (uint32_t i = 0; i < p->desc->streams; i++) {
        stream_entry *e = &p->stream[i];
        if (e->block == block + 1) {
            p->last_stream = i;
            return e;
        }
        if (e->used < oldest->used)
            oldest = e;
    }
    *oldest = (stream_entry){.block = block + 1};
    return oldest;
}

uint32_t prefetch_outer(prefetcher *p, uint64_t request, bool demand, uint64_t line[PREFETCH_LINES_MAX]) {
    const prefetch_desc *d = p->desc;
    uint32_t n = 0;
    if (d->adjacent_line && demand)
        n = add(p, request, request ^ 1, line, n);
    if (!d->streams)
        return n;
    stream_entry *e = stream_of(p, request >> p->block_shift);
    const bool fresh = e->used == 0;
    e->used = ++p->clock;
    const int32_t direction = request > e->line ? 1 : -1;
    if (fresh || request == e->line) {
        if (fresh)
            e->line = e->ahead = request;
        return n;
    }
    if (direction != e->direction) {
        e->direction = direction;
        e->confidence = 0;
        e->ahead = request;
    }
    e->confidence += e->confidence < 2;
    e->line = request;
    if (direction > 0 ? e->ahead < request : e->ahead > request)
        e->ahead = request;
    for (uint32_t i = 0; i < d->stream_degree && n < PREFETCH_LINES_MAX; i++) {
        const uint64_t next = direction > 0 ? e->ahead + 1 : e->ahead - 1;
        const uint64_t distance = direction > 0 ? next - request : request - next;
        if (distance > d->stream_distance || !same_block(p, request, next))
            break;
        line[n++] = next;
        e->ahead = next;
    }
    return n;
}

#include "sim/cpu_core.h"

#include "base/mem.h"
#include "kernel/address.h"
#include "sim/cache.h"
#include "sim/llc.h"
#include "sim/partition.h"
#include "sim/prefetch.h"
#include "sim/tick.h"
#include "sim/tlb.h"

#include <string.h>

/* --- state ---------------------------------------------------------------------------------------------------------
 */

enum {
    NONE = -1,
    FIRST = 0,                /* the first level */
    STORE_QUEUE = PIPE_COUNT, /* ready stores; ready loads are those of PIPE_MEMORY */
    QUEUES = PIPE_COUNT + 1,
    STORE_HASH = 1024,
    FORWARD_RETRY = 2, /* cycles after which a load looks again for a store that has not executed yet */
};

/* Of a line in a private level, beside cache_line.dirty. */
enum { LINE_WRITABLE = 1, LINE_PREFETCHED = 2 };

typedef struct event {
    int64_t cycle;
    uint64_t order;
} event;

typedef struct heap {
    event *item;
    size_t count, capacity;
} heap;

/* An instruction in the window. Lists of waiting things link nodes: an operand is 4 * slot + operand, a part of a
 * memory access (a line; two when it straddles) 2 * slot + part. */
typedef struct slot {
    uint64_t seq;
    int64_t ready, done; /* cycles; done = TICK_NEVER while unknown */
    uint64_t address;    /* virtual */
    uint16_t code, bytes;
    uint8_t operands; /* not known yet */
    uint8_t parts, parts_left, parts_begun, parts_translated;
    uint8_t reason; /* stall_reason of whoever waits for it */
    int32_t dependents;
    int32_t next_operand[4];
    int32_t next_part[2];
    int64_t entered;
    uint32_t store; /* its place in the store buffer */
} slot;

typedef struct store_entry {
    uint64_t seq, address, line; /* virtual address; physical line of the part to be written next */
    uint64_t physical[2];
    uint32_t code;
    uint8_t bytes, parts, part, nontemporal;
    bool executed, senior, asked, ahead; /* ahead: a line was asked for before it was its turn */
} store_entry;

typedef enum fill_state { FILL_FREE, FILL_WAITS, FILL_SENT, FILL_COMING, FILL_GATHERS, FILL_STREAMED } fill_state;

/* A line-fill buffer. */
typedef struct fill {
    uint64_t line;
    bytemask mask; /* non-temporal: bytes gathered */
    uint64_t used; /* when last, for those that gather */
    fill_state state;
    bool own, demand, prefetch, writable, dirty;
    int32_t waiting; /* first part */
} fill;

/* A line asked of the shared side. */
typedef struct ask {
    uint64_t line;
    int32_t fill, walk; /* for whom; both NONE: the outer level's prefetcher */
    bool prefetch;
} ask;

typedef struct walk {
    uint64_t page, read[TLB_READS_MAX];
    uint32_t count, next;
    int32_t waiting;  /* first part */
    bool used, stuck; /* stuck: waits for room among the asks */
} walk;

struct cpu_core {
    const machine *mach;
    const cpu_desc *d;
    const kernel *k;
    uint32_t number, privates, line_shift;
    uint64_t thread, threads_step;

    /* front end */
    warp_place place;
    uint32_t pc;
    bool running, ended; /* a thread is under way; its EXIT has entered the window */
    int64_t fetch_from;  /* TICK_NEVER: until the branch of fetch_branch has executed */
    uint64_t fetch_branch;
    int64_t started, accounted; /* cycles up to which the thread's time is charged */

    /* window */
    slot *window;
    uint64_t head, tail; /* sequence numbers: [head, tail) are in the window */
    uint64_t writer[IR_REGISTERS_MAX];
    heap future, ready[QUEUES];
    int64_t *port_free[PIPE_COUNT];
    uint32_t loads;
    int32_t replay_first, replay_last; /* parts that wait for a fill buffer */

    /* stores */
    store_entry *store; /* ring */
    uint64_t store_head, store_tail, store_asked;
    uint32_t lines_ahead;             /* of stores in the buffer */
    uint16_t store_lines[STORE_HASH]; /* stores in the buffer, by virtual line */

    /* caches */
    cache level[MACHINE_PRIVATE_MAX];
    uint8_t *state[MACHINE_PRIVATE_MAX];
    level_counters count_level[MACHINE_PRIVATE_MAX];
    int64_t first_free, second_free; /* ticks: data paths */
    uint64_t first_per_byte, second_per_byte;
    fill *fills;
    uint64_t fills_taken; /* a bit each */
    uint32_t fills_used, fills_waiting;
    int64_t full_since;
    ask *asks;
    uint64_t asks_taken; /* a bit each */
    uint32_t ask_count, asks_used;
    tlb translation;
    walk *walks;
    uint32_t walks_used, walks_stuck;
    int32_t walk_queue_first, walk_queue_last; /* parts that wait for a page walker */
    prefetcher fetcher;
    heap timed; /* fills that come from the second level, and reads of walks: order = fill, or fill_buffers + walk */

    /* to and from the shared side */
    heap inbox;
    line_message *letter;
    size_t letter_capacity, letter_count;
    int32_t letter_free;
    uint64_t letters;
    line_message *probe;
    size_t probe_capacity, probe_count;
    message_list *out;
    int64_t forward, link_free, answer_free;
    uint64_t request_per_byte, response_per_byte;
    bool victims_travel; /* the shared level takes clean victims with their data */
    uint32_t streams_out;

    bool worked;      /* in this cycle */
    bool stores_move; /* something has changed that may let a store be written or a line be asked for */
    int64_t now, next;
    int64_t until; /* simulated so far: nothing may come for a cycle before it */
    int64_t end;
    cpu_core_counters count;
    const char *fault;
};

/* --- heaps ---------------------------------------------------------------------------------------------------------
 */

static bool before(event a, event b) {
    return a.cycle != b.cycle ? a.cycle < b.cycle : a.order < b.order;
}

static void push(cpu_core *c, heap *h, int64_t cycle, uint64_t order) {
    if (!mem_reserve((void **)&h->item, &h->capacity, h->count + 1, sizeof *h->item)) {
        c->fault = "not enough memory";
        return;
    }
    const event e = {cycle, order};
    size_t i = h->count++;
    for (; i > 0 && before(e, h->item[(i - 1) / 2]); i = (i - 1) / 2)
        h->item[i] = h->item[(i - 1) / 2];
    h->item[i] = e;
}

static event pop(heap *h) {
    const event first = h->item[0], moved = h->item[--h->count];
    size_t i = 0;
    for (size_t child = 1; child < h->count; child = 2 * i + 1) {
        child += child + 1 < h->count && before(h->item[child + 1], h->item[child]);
        if (!before(h->item[child], moved))
            break;
        h->item[i] = h->item[child];
        i = child;
    }
    h->item[i] = moved;
    return first;
}

static int64_t first_of(const heap *h) {
    return h->count ? h->item[0].cycle : TICK_NEVER;
}

static int64_t max64(int64_t a, int64_t b) {
    return a > b ? a : b;
}
static int64_t min64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* --- making and freeing --------------------------------------------------------------------------------------------
 */

static status check_kernel(const kernel *k, message *m) {
    if (k->block_threads != 1)
        return fail(m, ERR_INPUT, "kernel %s has blocks of %u threads; a CPU runs kernels for CPUs, of one thread each",
                    k->name, k->block_threads);
    for (uint32_t i = 0; i < k->code_count; i++)
        if (k->code[i].op == OP_SHARED_LOAD || k->code[i].op == OP_SHARED_STORE || k->code[i].op == OP_BARRIER)
            return fail(m, ERR_INPUT, "kernel %s uses %s instructions, which CPUs do not have", k->name,
                        op_class_name((op_class)k->code[i].op));
    return OK;
}

static status init_caches(cpu_core *c, message *m) {
    const machine *mach = c->mach;
    for (uint32_t i = 0; i < c->privates; i++) {
        TRY(cache_init(&c->level[i], &mach->level[i], 1, m));
        c->state[i] = mem_zero((size_t)c->level[i].sets * c->level[i].ways, 1);
        if (!c->state[i])
            return fail(m, ERR_MEMORY, "not enough memory for cache level %s", mach->level[i].name);
    }
    TRY(tlb_init(&c->translation, &c->d->tlb, m));
    return prefetcher_init(&c->fetcher, &c->d->prefetch, mach->level[0].line_bytes, m);
}

status cpu_core_new(const machine *mach, const kernel *k, uint32_t number, uint64_t first, uint64_t step,
                    cpu_core **out, message *m) {
    TRY(check_kernel(k, m));
    cpu_core *c = mem_zero(1, sizeof *c);
    *out = c;
    if (!c)
        return fail(m, ERR_MEMORY, "not enough memory for a core");
    c->mach = mach;
    c->d = &mach->cpu;
    c->k = k;
    c->number = number;
    c->thread = first;
    c->threads_step = step;
    c->line_shift = (uint32_t)__builtin_ctz(mach->level[0].line_bytes);
    while (c->privates < mach->level_count && mach->level[c->privates].scope == SCOPE_CORE)
        c->privates++;
    const cache_level *outer = &mach->level[c->privates - 1];
    c->ask_count = outer->mshrs;
    c->window = mem_zero(c->d->window, sizeof *c->window);
    c->store = mem_zero(c->d->store_buffer, sizeof *c->store);
    c->fills = mem_zero(c->d->fill_buffers, sizeof *c->fills);
    c->asks = mem_zero(c->ask_count, sizeof *c->asks);
    c->walks = mem_zero(c->d->tlb.walkers, sizeof *c->walks);
    c->out = mem_zero(mach->channels, sizeof *c->out);
    bool all = c->window && c->store && c->fills && c->asks && c->walks && c->out;
    for (int p = 0; p < PIPE_COUNT; p++) {
        c->port_free[p] = mem_zero(c->d->ports[p], sizeof *c->port_free[p]);
        all = all && c->port_free[p];
    }
    if (!all)
        return fail(m, ERR_MEMORY, "not enough memory for a core with a window of %u instructions", c->d->window);
    TRY(init_caches(c, m));
    c->first_per_byte = tick_per_byte(mach->level[FIRST].bytes_per_cycle);
    c->second_per_byte = c->privates > 1 ? tick_per_byte(mach->level[1].bytes_per_cycle) : 0;
    c->request_per_byte = tick_per_byte(mach->fabric.request_bytes_per_cycle);
    c->response_per_byte = tick_per_byte(mach->fabric.response_bytes_per_cycle);
    c->forward = llc_forward_ticks(mach);
    const cache_level *last = &mach->level[mach->level_count - 1];
    c->victims_travel =
        last->scope == SCOPE_DEVICE && (last->holds == INCLUSION_EXCLUSIVE || last->holds == INCLUSION_MOSTLY);
    c->head = c->tail = 1; /* 0: no instruction */
    c->replay_first = c->replay_last = c->walk_queue_first = c->walk_queue_last = NONE;
    c->letter_free = NONE;
    c->full_since = TICK_NEVER;
    c->fetch_from = first < k->blocks ? 0 : TICK_NEVER;
    c->next = first < k->blocks ? 0 : TICK_NEVER;
    return OK;
}

void cpu_core_free(cpu_core *c) {
    if (!c)
        return;
    for (uint32_t i = 0; i < c->privates; i++) {
        cache_free(&c->level[i]);
        mem_free(c->state[i]);
    }
    for (int p = 0; p < PIPE_COUNT; p++)
        mem_free(c->port_free[p]);
    for (int q = 0; q < QUEUES; q++)
        mem_free(c->ready[q].item);
    for (uint32_t i = 0; c->out && i < c->mach->channels; i++)
        mem_free(c->out[i].item);
    tlb_free(&c->translation);
    prefetcher_free(&c->fetcher);
    mem_free(c->future.item);
    mem_free(c->timed.item);
    mem_free(c->inbox.item);
    mem_free(c->letter);
    mem_free(c->probe);
    mem_free(c->window);
    mem_free(c->store);
    mem_free(c->fills);
    mem_free(c->asks);
    mem_free(c->walks);
    mem_free(c->out);
    mem_free(c);
}

/* --- messages ------------------------------------------------------------------------------------------------------
 */

bool cpu_core_deliver(cpu_core *c, const line_message *msg) {
    if (msg->time < c->until) {
        c->fault = "an answer reached a core in its past";
        return false;
    }
    int32_t id = c->letter_free;
    if (id != NONE) {
        c->letter_free = (int32_t)c->letter[id].token;
    } else {
        if (!mem_reserve((void **)&c->letter, &c->letter_capacity, c->letter_count + 1, sizeof *c->letter))
            return false;
        id = (int32_t)c->letter_count++;
    }
    c->letter[id] = *msg;
    push(c, &c->inbox, msg->time, c->letters++ << 20 | (uint64_t)id);
    c->next = min64(c->next, msg->time);
    return !c->fault;
}

/* Sends at tick `tick`, or when the link is free. */
static void send(cpu_core *c, line_message msg, bool data, int64_t tick) {
    int64_t start = tick;
    if (data) {
        start = max64(tick, c->link_free);
        const int64_t length = tick_for_bytes(c->request_per_byte, c->mach->level[0].line_bytes);
        c->link_free = start + length;
        c->count.link_busy_ticks += length;
    }
    msg.core = (uint8_t)c->number;
    msg.time = start + c->forward;
    const uint32_t channel = partition_of(c->mach, msg.line << c->line_shift);
    if (!message_insert(&c->out[channel], &msg))
        c->fault = "not enough memory";
}

/* --- window: results and who waits for them ------------------------------------------------------------------------
 */

static uint32_t slot_id(const cpu_core *c, uint64_t seq) {
    return (uint32_t)(seq % c->d->window);
}

static void schedule(cpu_core *c, const slot *s, int64_t cycle) {
    push(c, &c->future, cycle, s->seq);
}

/* The result can be used from `cycle` on. */
static void complete(cpu_core *c, slot *s, int64_t cycle) {
    s->done = cycle;
    if (c->fetch_from == TICK_NEVER && s->seq == c->fetch_branch)
        c->fetch_from = cycle + c->d->mispredict_cycles;
    for (int32_t node = s->dependents; node != NONE;) {
        slot *waiting = &c->window[node / 4];
        const int32_t next = waiting->next_operand[node % 4];
        waiting->ready = max64(waiting->ready, cycle);
        if (--waiting->operands == 0)
            schedule(c, waiting, waiting->ready);
        node = next;
    }
    s->dependents = NONE;
}

static void part_done(cpu_core *c, slot *s, int64_t cycle) {
    s->ready = max64(s->ready, cycle); /* of the parts so far */
    if (--s->parts_left == 0)
        complete(c, s, s->ready);
}

static void list_append(cpu_core *c, int32_t *first, int32_t *last, int32_t node) {
    c->window[node / 2].next_part[node % 2] = NONE;
    if (*first == NONE)
        *first = node;
    else
        c->window[*last / 2].next_part[*last % 2] = node;
    *last = node;
}

/* --- private caches ------------------------------------------------------------------------------------------------
 */

static uint32_t outer_of(const cpu_core *c) {
    return c->privates - 1;
}

/* The second level moves a line, whenever that is. Returns when it begins. */
static int64_t second_port(cpu_core *c, int64_t tick) {
    const int64_t start = max64(tick, c->second_free);
    const int64_t length = tick_for_bytes(c->second_per_byte, c->mach->level[0].line_bytes);
    c->second_free = start + length;
    c->count.second_busy_ticks += length;
    return start;
}

static int32_t find_fill(const cpu_core *c, uint64_t line) {
    for (uint64_t left = c->fills_taken; left; left &= left - 1) {
        const fill *x = &c->fills[__builtin_ctzll(left)];
        if (x->line == line && x->state != FILL_STREAMED)
            return (int32_t)(x - c->fills);
    }
    return NONE;
}

static void install(cpu_core *c, uint32_t i, uint64_t line, bool dirty, uint8_t state, int64_t t);

/* No private level has the line any more. */
static void tell_dropped(cpu_core *c, uint64_t line, bool dirty, int64_t t) {
    send(c, (line_message){.line = line, .kind = dirty ? LINE_DIRTY : LINE_CLEAN}, dirty || c->victims_travel,
         cycle_to_tick(t));
    level_counters *n = &c->count_level[outer_of(c)];
    if (dirty) {
        n->down_write_requests++;
        n->down_write_bytes += c->mach->level[0].line_bytes;
    }
}

/* A line leaves level i for want of room. */
static void evict(cpu_core *c, uint32_t i, uint64_t line, bool dirty, uint8_t state, int64_t t) {
    c->stores_move = true; /* it may be the line that the first store waited for its turn with */
    level_counters *n = &c->count_level[i];
    n->evictions++;
    n->dirty_evictions += dirty;
    n->prefetch_useless += (state & LINE_PREFETCHED) != 0;
    state &= (uint8_t)~LINE_PREFETCHED;
    if (i + 1 < c->privates) {
        level_counters *below = &c->count_level[i + 1];
        const int32_t at = cache_look(&c->level[i + 1], (int64_t)line);
        if (dirty) {
            n->down_write_requests++;
            n->down_write_bytes += c->mach->level[0].line_bytes;
            below->write_requests++;
            below->write_sectors++;
            below->write_hit_sectors += at != NONE;
            below->write_nofill_sectors++;
            second_port(c, cycle_to_tick(t));
        }
        if (at != NONE) {
            if (dirty)
                c->level[i + 1].line[at].dirty = 1;
            c->state[i + 1][at] |= state & LINE_WRITABLE;
        } else if (dirty || c->mach->level[i + 1].holds == INCLUSION_EXCLUSIVE) {
            if (!dirty)
                second_port(c, cycle_to_tick(t));
            install(c, i + 1, line, dirty, state, t);
        } else {
            tell_dropped(c, line, false, t);
        }
        return;
    }
    if (i > 0) {
        const int32_t coming = find_fill(c, line);
        if (coming != NONE && c->fills[coming].state == FILL_COMING) { /* on its way to the first level */
            c->fills[coming].dirty |= dirty;
            return;
        }
        const int32_t at = cache_look(&c->level[FIRST], (int64_t)line);
        if (at != NONE && c->mach->level[i].holds == INCLUSION_INCLUSIVE) {
            dirty |= c->level[FIRST].line[at].dirty != 0;
            c->count_level[FIRST].evictions++;
            c->count_level[FIRST].prefetch_useless += (c->state[FIRST][at] & LINE_PREFETCHED) != 0;
            cache_drop(&c->level[FIRST], at);
        } else if (at != NONE) { /* the core still has it */
            if (dirty)
                c->level[FIRST].line[at].dirty = 1;
            return;
        }
    }
    tell_dropped(c, line, dirty, t);
}

static void install(cpu_core *c, uint32_t i, uint64_t line, bool dirty, uint8_t state, int64_t t) {
    cache *tags = &c->level[i];
    int32_t at = cache_find(tags, (int64_t)line);
    if (at == NONE) {
        at = cache_victim(tags, (int64_t)line);
        const cache_line old = tags->line[at];
        const uint8_t old_state = c->state[i][at];
        cache_replace(tags, at, (int64_t)line);
        tags->line[at].present = 1;
        c->state[i][at] = state;
        if (old.number >= 0)
            evict(c, i, (uint64_t)old.number, old.dirty != 0, old_state, t);
        else
            c->count_level[i].cold_allocations++;
    } else {
        c->state[i][at] |= state & LINE_WRITABLE;
    }
    if (dirty)
        tags->line[at].dirty = 1;
}

/* Takes the line out of all private levels. Returns whether it was there; *dirty, *writable: in any of them. */
static bool take_away(cpu_core *c, uint64_t line, bool *dirty, bool *writable) {
    bool found = false;
    *dirty = *writable = false;
    for (uint32_t i = 0; i < c->privates; i++) {
        const int32_t at = cache_look(&c->level[i], (int64_t)line);
        if (at == NONE)
            continue;
        found = true;
        *dirty |= c->level[i].line[at].dirty != 0;
        *writable |= (c->state[i][at] & LINE_WRITABLE) != 0;
        c->count_level[i].prefetch_useless += (c->state[i][at] & LINE_PREFETCHED) != 0;
        cache_drop(&c->level[i], at);
    }
    return found;
}

/* A use of a line by the program: a line that a prefetcher brought was worth it. */
static void note_use(cpu_core *c, uint32_t i, int32_t at) {
    if (c->state[i][at] & LINE_PREFETCHED) {
        c->state[i][at] &= (uint8_t)~LINE_PREFETCHED;
        c->count_level[i].prefetch_useful++;
    }
}

/* --- requests of the shared side -----------------------------------------------------------------------------------
 */

static int32_t find_ask(const cpu_core *c, uint64_t line) {
    for (uint64_t left = c->asks_taken; left; left &= left - 1)
        if (c->asks[__builtin_ctzll(left)].line == line)
            return __builtin_ctzll(left);
    return NONE;
}

static int32_t new_ask(cpu_core *c, uint64_t line, bool own, int64_t t) {
    if (c->asks_used == c->ask_count)
        return NONE;
    const uint32_t i = (uint32_t)__builtin_ctzll(~c->asks_taken);
    c->asks_used++;
    c->asks_taken |= UINT64_C(1) << i;
    c->asks[i] = (ask){.line = line, .fill = NONE, .walk = NONE};
    send(c, (line_message){.line = line, .kind = own ? LINE_OWN : LINE_READ, .token = i}, false, cycle_to_tick(t));
    level_counters *n = &c->count_level[outer_of(c)];
    n->down_read_requests++;
    n->down_read_bytes += c->mach->level[0].line_bytes;
    n->fill_sectors++;
    return (int32_t)i;
}

/* What the outer level's prefetchers want after this request, as far as there is room: demand goes first. */
static void prefetch_outer_lines(cpu_core *c, uint64_t line, bool demand, int64_t t) {
    uint64_t wanted[PREFETCH_LINES_MAX];
    const uint32_t n = prefetch_outer(&c->fetcher, line, demand, wanted);
    const uint32_t i = outer_of(c);
    for (uint32_t k = 0; k < n; k++) {
        if (c->asks_used + c->d->fill_buffers / 4 >= c->ask_count)
            return;
        bool known = find_ask(c, wanted[k]) != NONE;
        for (uint32_t l = 0; l < c->privates; l++)
            known = known || cache_look(&c->level[l], (int64_t)wanted[k]) != NONE;
        if (known)
            continue;
        const int32_t a = new_ask(c, wanted[k], false, t);
        c->asks[a].prefetch = true;
        c->count_level[i].prefetches++;
    }
}

/* --- line-fill buffers ---------------------------------------------------------------------------------------------
 */

static void send_stream(cpu_core *c, int32_t f, int64_t t) {
    fill *x = &c->fills[f];
    x->state = FILL_STREAMED;
    c->count.cpu.streamed_lines++;
    c->count.cpu.streamed_partial += bytemask_count(x->mask) != c->mach->level[0].line_bytes;
    level_counters *n = &c->count_level[outer_of(c)];
    n->down_write_requests++;
    n->down_write_bytes += bytemask_count(x->mask);
    c->streams_out++;
    send(c, (line_message){.line = x->line, .kind = LINE_STREAM, .token = (uint32_t)f, .mask = x->mask}, true,
         cycle_to_tick(t));
}

/* No buffer is free: the one that has gathered longest is sent as it is. */
static void push_out_gathering(cpu_core *c, int64_t t) {
    int32_t oldest = NONE;
    for (uint32_t i = 0; i < c->d->fill_buffers; i++)
        if (c->fills[i].state == FILL_GATHERS && (oldest == NONE || c->fills[i].used < c->fills[oldest].used))
            oldest = (int32_t)i;
    if (oldest != NONE)
        send_stream(c, oldest, t);
}

static int32_t new_fill(cpu_core *c, uint64_t line, fill_state state, int64_t t) {
    if (c->fills_used == c->d->fill_buffers) {
        push_out_gathering(c, t);
        return NONE;
    }
    const uint32_t i = (uint32_t)__builtin_ctzll(~c->fills_taken);
    c->fills_used++;
    c->fills_taken |= UINT64_C(1) << i;
    if (c->fills_used == c->d->fill_buffers)
        c->full_since = t;
    c->fills[i] = (fill){.line = line, .state = state, .waiting = NONE};
    return (int32_t)i;
}

/* Wakes the loads that wait for a buffer: the oldest, and those of the same line. */
static void wake_replays(cpu_core *c, int64_t t) {
    uint64_t line = 0;
    for (bool first = true; c->replay_first != NONE; first = false) {
        slot *s = &c->window[c->replay_first / 2];
        const uint64_t here = (s->address >> c->line_shift) + (uint64_t)(c->replay_first % 2);
        if (!first && here != line)
            return;
        line = here;
        const int32_t next = s->next_part[c->replay_first % 2];
        schedule(c, s, t);
        c->replay_first = next;
    }
}

/* A load that may have been woken for a buffer needed none: the next may have it. */
static void pass_buffer_on(cpu_core *c, int64_t t) {
    if (c->replay_first == NONE)
        return;
    if (c->fills_used < c->d->fill_buffers) {
        wake_replays(c, t + 1);
        return;
    }
    for (uint32_t i = 0; i < c->d->fill_buffers; i++)
        if (c->fills[i].state != FILL_GATHERS)
            return; /* it will be free without further ado */
    push_out_gathering(c, t);
}

static void free_fill(cpu_core *c, int32_t f, int64_t t) {
    if (c->fills_used == c->d->fill_buffers && c->full_since != TICK_NEVER) {
        c->count.cpu.fill_full_cycles += (uint64_t)(t - c->full_since);
        c->full_since = TICK_NEVER;
    }
    c->fills[f].state = FILL_FREE;
    c->fills_taken &= ~(UINT64_C(1) << f);
    c->fills_used--;
    c->stores_move = true;
    wake_replays(c, t);
}

/* The line of this buffer is here, at cycle t. */
static void fill_arrives(cpu_core *c, int32_t f, int64_t t) {
    fill *x = &c->fills[f];
    uint8_t state = x->writable ? LINE_WRITABLE : 0;
    if (x->prefetch && !x->demand)
        state |= LINE_PREFETCHED;
    install(c, FIRST, x->line, x->dirty, state, t);
    for (int32_t node = x->waiting; node != NONE;) {
        slot *s = &c->window[node / 2];
        const int32_t next = s->next_part[node % 2];
        part_done(c, s, t);
        node = next;
    }
    free_fill(c, f, t);
    c->worked = true;
}

/* Sends a buffer on: the second level has its line, or the shared side is asked. False: there is no room to ask. */
static bool send_fill(cpu_core *c, int32_t f, int64_t t) {
    fill *x = &c->fills[f];
    const uint64_t line = x->line;
    if (c->privates > 1 && x->state == FILL_WAITS) {
        level_counters *n = &c->count_level[1];
        const int32_t at = cache_find(&c->level[1], (int64_t)line);
        if (at != NONE && (!x->own || (c->state[1][at] & LINE_WRITABLE))) {
            n->read_requests++;
            n->read_sectors++;
            n->read_hit_sectors++;
            note_use(c, 1, at);
            const int64_t start = second_port(c, cycle_to_tick(t));
            x->writable = (c->state[1][at] & LINE_WRITABLE) != 0;
            if (c->mach->level[1].holds == INCLUSION_EXCLUSIVE) {
                x->dirty = c->level[1].line[at].dirty != 0;
                cache_drop(&c->level[1], at);
            }
            x->state = FILL_COMING;
            push(c, &c->timed, tick_to_cycle(start) + c->mach->level[1].latency_cycles, (uint64_t)f);
            prefetch_outer_lines(c, line, !x->prefetch, t);
            return true;
        }
        if (at != NONE) { /* owned by more than this core: it has to be asked for again, to be written */
            bool dirty = false, writable = false;
            take_away(c, line, &dirty, &writable);
        }
    }
    const int64_t sent = t + c->mach->level[outer_of(c)].latency_cycles;
    int32_t a = find_ask(c, line);
    const bool pending = a != NONE;
    if (a == NONE)
        a = new_ask(c, line, x->own, sent);
    if (a == NONE)
        return false;
    if (c->privates > 1) {
        level_counters *n = &c->count_level[1];
        n->read_requests++;
        n->read_sectors++;
        *(pending ? &n->read_pending_sectors : &n->read_miss_sectors) += 1;
        if (pending && c->asks[a].prefetch) {
            c->asks[a].prefetch = false;
            n->prefetch_useful++;
        }
    }
    c->asks[a].fill = f;
    x->state = FILL_SENT;
    prefetch_outer_lines(c, line, !x->prefetch, sent);
    return true;
}

static void count_down(cpu_core *c) {
    level_counters *n = &c->count_level[FIRST];
    if (c->privates == 1)
        return; /* new_ask counts */
    n->down_read_requests++;
    n->down_read_bytes += c->mach->level[0].line_bytes;
    n->fill_sectors++;
}

/* Asks for a line of the first level. NONE: no buffer is free. */
static int32_t ask_for(cpu_core *c, uint64_t line, bool own, bool prefetch, int64_t t) {
    const int32_t f = new_fill(c, line, FILL_WAITS, t);
    if (f == NONE)
        return NONE;
    fill *x = &c->fills[f];
    x->own = own;
    x->prefetch = prefetch;
    x->demand = !prefetch;
    count_down(c);
    if (!send_fill(c, f, t))
        c->fills_waiting++;
    return f;
}

/* Room among the asks: buffers and walks that waited for it. */
static void walk_read(cpu_core *c, uint32_t w, int64_t t);

static void retry_waiting(cpu_core *c, int64_t t) {
    for (uint32_t w = 0; c->walks_stuck && w < c->d->tlb.walkers && c->asks_used < c->ask_count; w++)
        if (c->walks[w].used && c->walks[w].stuck) {
            c->walks[w].stuck = false;
            c->walks_stuck--;
            walk_read(c, w, t);
        }
    for (uint32_t f = 0; c->fills_waiting && f < c->d->fill_buffers && c->asks_used < c->ask_count; f++)
        if (c->fills[f].state == FILL_WAITS && send_fill(c, (int32_t)f, t))
            c->fills_waiting--;
}

static void prefetch_first_lines(cpu_core *c, uint32_t code, uint64_t physical, int64_t t) {
    uint64_t wanted[PREFETCH_LINES_MAX];
    const uint32_t n = prefetch_first(&c->fetcher, code, physical, wanted);
    for (uint32_t i = 0; i < n; i++) {
        if (c->fills_used + 2 > c->d->fill_buffers || cache_look(&c->level[FIRST], (int64_t)wanted[i]) != NONE ||
            find_fill(c, wanted[i]) != NONE)
            continue;
        if (ask_for(c, wanted[i], false, true, t) != NONE)
            c->count_level[FIRST].prefetches++;
    }
}

/* --- translation ---------------------------------------------------------------------------------------------------
 */

static void walk_step(cpu_core *c, uint32_t w, int64_t t);

/* Reads the next entry of a walk, from the last private level on. */
static void walk_read(cpu_core *c, uint32_t w, int64_t t) {
    walk *x = &c->walks[w];
    const uint32_t i = outer_of(c);
    const uint64_t line = x->read[x->next] >> c->line_shift;
    level_counters *n = &c->count_level[i];
    const int32_t at = cache_find(&c->level[i], (int64_t)line);
    int32_t a = NONE;
    bool pending = false;
    if (at == NONE) {
        a = find_ask(c, line);
        pending = a != NONE;
        if (pending && c->asks[a].walk != NONE) { /* two walks, one line: the second looks again */
            push(c, &c->timed, t + c->mach->level[i].latency_cycles, c->d->fill_buffers + w);
            x->stuck = false;
            x->next |= TLB_READS_MAX; /* not read yet */
            return;
        }
        if (!pending)
            a = new_ask(c, line, false, t + c->mach->level[i].latency_cycles);
        if (a == NONE) {
            x->stuck = true;
            c->walks_stuck++;
            return;
        }
        c->asks[a].walk = (int32_t)w;
        c->asks[a].prefetch = false;
    }
    n->read_requests++;
    n->read_sectors++;
    c->count.blind_reads++;
    c->count.cpu.walk_reads++;
    if (at != NONE) {
        n->read_hit_sectors++;
        push(c, &c->timed, t + c->mach->level[i].latency_cycles, c->d->fill_buffers + w);
    } else {
        *(pending ? &n->read_pending_sectors : &n->read_miss_sectors) += 1;
    }
}

static void begin_walk(cpu_core *c, uint64_t page, int32_t node, int64_t t) {
    uint32_t w = 0;
    while (c->walks[w].used)
        w++;
    walk *x = &c->walks[w];
    *x = (walk){.page = page, .waiting = node, .used = true};
    c->window[node / 2].next_part[node % 2] = NONE;
    x->count = tlb_walk(&c->translation, page, x->read);
    c->walks_used++;
    c->count.cpu.page_walks++;
    walk_read(c, w, t);
}

/* An entry has been read. */
static void walk_step(cpu_core *c, uint32_t w, int64_t t) {
    walk *x = &c->walks[w];
    if (x->next & TLB_READS_MAX) {
        x->next &= ~(uint32_t)TLB_READS_MAX;
        walk_read(c, w, t);
        return;
    }
    if (++x->next < x->count) {
        walk_read(c, w, t);
        return;
    }
    tlb_fill(&c->translation, x->page);
    for (int32_t node = x->waiting; node != NONE;) {
        slot *s = &c->window[node / 2];
        const int32_t next = s->next_part[node % 2];
        s->parts_translated |= (uint8_t)(1u << node % 2);
        schedule(c, s, t);
        node = next;
    }
    x->used = false;
    c->walks_used--;
    c->worked = true;
    /* Parts that wait for a walker look again: their page may have come with this one. */
    int32_t node = c->walk_queue_first;
    c->walk_queue_first = c->walk_queue_last = NONE;
    while (node != NONE) {
        slot *s = &c->window[node / 2];
        const int32_t next = s->next_part[node % 2];
        schedule(c, s, t);
        node = next;
    }
}

/* True: the part's address is translated, in *extra further cycles. False: it waits and will be tried again. */
static bool translate(cpu_core *c, slot *s, uint32_t part, uint64_t address, int64_t t, uint32_t *extra) {
    *extra = 0;
    if (s->parts_translated >> part & 1)
        return true;
    const uint64_t page = tlb_page(&c->translation, address);
    const int32_t node = (int32_t)(2 * slot_id(c, s->seq) + part);
    for (uint32_t w = 0; c->walks_used && w < c->d->tlb.walkers; w++)
        if (c->walks[w].used && c->walks[w].page == page) {
            s->next_part[part] = c->walks[w].waiting;
            c->walks[w].waiting = node;
            c->count.cpu.tlb_requests++;
            return false;
        }
    const tlb_place where = tlb_look(&c->translation, page);
    if (where == TLB_ABSENT && c->walks_used == c->d->tlb.walkers) {
        list_append(c, &c->walk_queue_first, &c->walk_queue_last, node);
        return false;
    }
    c->count.cpu.tlb_requests++;
    if (where == TLB_ABSENT) {
        begin_walk(c, page, node, t);
        return false;
    }
    s->parts_translated |= (uint8_t)(1u << part);
    if (where == TLB_SECOND) {
        c->count.cpu.tlb_second_hits++;
        *extra = c->d->tlb.second_cycles;
    }
    return true;
}

/* --- loads ---------------------------------------------------------------------------------------------------------
 */

static uint32_t store_hash(uint64_t virtual_line) {
    return (uint32_t)(virtual_line * UINT64_C(0x9e3779b97f4a7c15) >> 54) % STORE_HASH;
}

typedef enum forwarding { NO_STORE, FORWARDED, STORE_UNREADY } forwarding;

/* What an older store in the buffer says to a load. */
static forwarding look_for_store(const cpu_core *c, const slot *s) {
    const uint64_t first = s->address >> c->line_shift, last = (s->address + s->bytes - 1) >> c->line_shift;
    if (!c->store_lines[store_hash(first)] && !c->store_lines[store_hash(last)])
        return NO_STORE;
    for (uint64_t i = c->store_tail; i-- > c->store_head;) {
        const store_entry *e = &c->store[i % c->d->store_buffer];
        if (e->seq > s->seq || e->bytes == 0 || e->address >= s->address + s->bytes ||
            s->address >= e->address + e->bytes)
            continue;
        const bool all = e->address <= s->address && e->address + e->bytes >= s->address + s->bytes;
        return all && e->executed && !e->nontemporal ? FORWARDED : STORE_UNREADY;
    }
    return NO_STORE;
}

/* One line of a load, whose look-up begins at cycle t. False: no fill buffer is free. */
static bool load_part(cpu_core *c, slot *s, uint32_t part, uint64_t line, int64_t t) {
    level_counters *n = &c->count_level[FIRST];
    const int32_t at = cache_find(&c->level[FIRST], (int64_t)line);
    if (at != NONE) {
        n->read_requests++;
        n->read_sectors++;
        n->read_hit_sectors++;
        note_use(c, FIRST, at);
        part_done(c, s, t + c->mach->level[FIRST].latency_cycles);
        return true;
    }
    int32_t f = find_fill(c, line);
    if (f != NONE && c->fills[f].state == FILL_GATHERS)
        send_stream(c, f, t); /* memory has to have it before it can be read */
    else if (f != NONE) {
        n->read_pending_sectors++;
        if (c->fills[f].prefetch && !c->fills[f].demand)
            n->prefetch_useful++;
        c->fills[f].demand = true;
    }
    if (f == NONE || c->fills[f].state == FILL_STREAMED) {
        f = ask_for(c, line, false, false, t);
        if (f == NONE)
            return false;
        n->read_miss_sectors++;
    }
    n->read_requests++;
    n->read_sectors++;
    s->next_part[part] = c->fills[f].waiting;
    c->fills[f].waiting = (int32_t)(2 * slot_id(c, s->seq) + part);
    s->reason = STALL_LONG_SCOREBOARD;
    return true;
}

static void execute_load(cpu_core *c, slot *s, int64_t t) {
    if (!s->parts_begun) {
        const forwarding from = look_for_store(c, s);
        if (from == STORE_UNREADY) {
            schedule(c, s, t + FORWARD_RETRY);
            return;
        }
        if (from == FORWARDED) {
            c->count.cpu.forwarded++;
            s->parts_begun = (uint8_t)((1u << s->parts) - 1);
            level_counters *n = &c->count_level[FIRST];
            n->read_requests += s->parts;
            n->read_sectors += s->parts;
            n->read_hit_sectors += s->parts;
            complete(c, s, t + c->mach->level[FIRST].latency_cycles);
            pass_buffer_on(c, t);
            return;
        }
    }
    for (uint32_t part = 0; part < s->parts; part++) {
        if (s->parts_begun >> part & 1)
            continue;
        uint64_t address = s->address;
        if (part)
            address = ((s->address >> c->line_shift) + 1) << c->line_shift;
        uint32_t extra = 0;
        const bool fresh = !(s->parts_translated >> part & 1);
        if (!translate(c, s, part, address, t, &extra)) {
            s->reason = STALL_LONG_SCOREBOARD;
            return;
        }
        const uint64_t physical = tlb_physical(&c->translation, address);
        if (!load_part(c, s, part, physical >> c->line_shift, t + extra)) {
            list_append(c, &c->replay_first, &c->replay_last, (int32_t)(2 * slot_id(c, s->seq) + part));
            s->reason = STALL_LONG_SCOREBOARD;
            return;
        }
        s->parts_begun |= (uint8_t)(1u << part);
        pass_buffer_on(c, t);
        if (part == 0 && fresh)
            prefetch_first_lines(c, s->code, physical, t + extra);
    }
}

/* --- stores --------------------------------------------------------------------------------------------------------
 */

static void execute_store(cpu_core *c, slot *s, int64_t t) {
    store_entry *e = &c->store[s->store];
    for (uint32_t part = 0; part < s->parts; part++) {
        if (s->parts_begun >> part & 1)
            continue;
        const uint64_t address = part ? ((s->address >> c->line_shift) + 1) << c->line_shift : s->address;
        uint32_t extra = 0;
        if (!translate(c, s, part, address, t, &extra)) {
            s->reason = STALL_LONG_SCOREBOARD;
            return;
        }
        e->physical[part] = tlb_physical(&c->translation, address) >> c->line_shift;
        s->parts_begun |= (uint8_t)(1u << part);
    }
    e->executed = true;
    complete(c, s, t + 1);
}

static bool owned(cpu_core *c, uint64_t line, int32_t *at) {
    *at = cache_find(&c->level[FIRST], (int64_t)line);
    return *at != NONE && (c->state[FIRST][*at] & LINE_WRITABLE);
}

/* Has the line on its way to this core's ownership, if there is room. True when nothing more is to be done. */
static bool ask_to_own(cpu_core *c, uint64_t line, int64_t t) {
    int32_t at = NONE;
    if (owned(c, line, &at) || find_fill(c, line) != NONE)
        return true;
    if (c->fills_used == c->d->fill_buffers) {
        push_out_gathering(c, t);
        return false;
    }
    if (at != NONE) {
        bool dirty = false, writable = false;
        take_away(c, line, &dirty, &writable);
    }
    ask_for(c, line, true, false, t);
    c->count.cpu.ownership_requests++;
    return true;
}

/* Bytes of the entry's current part within its line. */
static bytemask store_mask(const cpu_core *c, const store_entry *e) {
    const uint32_t line = c->mach->level[0].line_bytes, offset = (uint32_t)(e->address % line);
    const uint32_t first = e->parts == 1 ? e->bytes : line - offset;
    return e->part == 0 ? bytemask_range(offset, first) : bytemask_range(0, e->bytes - first);
}

/* Bytes of a non-temporal store join their buffer. False: it has to wait. */
static bool gather(cpu_core *c, const store_entry *e, uint64_t line, int64_t t) {
    int32_t f = find_fill(c, line);
    if (f != NONE && c->fills[f].state != FILL_GATHERS)
        return false;
    if (f == NONE) {
        f = new_fill(c, line, FILL_GATHERS, t);
        if (f == NONE)
            return false;
        bool dirty = false, writable = false;
        if (take_away(c, line, &dirty, &writable))
            tell_dropped(c, line, dirty, t);
    }
    c->fills[f].mask |= store_mask(c, e);
    c->fills[f].used = e->seq;
    if (bytemask_count(c->fills[f].mask) == c->mach->level[0].line_bytes)
        send_stream(c, f, t);
    return true;
}

static void leave_store_buffer(cpu_core *c) {
    store_entry *e = &c->store[c->store_head % c->d->store_buffer];
    if (e->bytes) {
        c->store_lines[store_hash(e->address >> c->line_shift)]--;
        c->store_lines[store_hash((e->address + e->bytes - 1) >> c->line_shift)]--;
    }
    c->lines_ahead -= e->ahead;
    c->store_head++;
    c->store_asked = c->store_asked > c->store_head ? c->store_asked : c->store_head;
}

static void write_stores(cpu_core *c, int64_t t) {
    if (!c->stores_move)
        return;
    c->stores_move = false;
    level_counters *n = &c->count_level[FIRST];
    uint64_t written = UINT64_MAX; /* line of this cycle's first store: further ones have to go there too */
    for (uint32_t port = 0; port < c->d->store_ports && c->store_head < c->store_tail; port++) {
        store_entry *e = &c->store[c->store_head % c->d->store_buffer];
        if (!e->senior || (port && e->bytes && e->physical[e->part] != written))
            break;
        written = e->physical[e->part];
        if (!e->bytes) { /* no active lane */
            leave_store_buffer(c);
            c->worked = c->stores_move = true;
            continue;
        }
        const uint64_t line = e->physical[e->part];
        if (e->nontemporal) {
            if (!gather(c, e, line, t))
                break;
            n->write_requests++;
            n->write_sectors++;
            n->write_nofill_sectors++;
        } else {
            int32_t at = NONE;
            if (!owned(c, line, &at)) {
                e->asked = true;
                const int32_t f = find_fill(c, line);
                if (f != NONE && c->fills[f].state == FILL_GATHERS)
                    send_stream(c, f, t);
                else if (f == NONE && ask_to_own(c, line, t))
                    c->worked = c->stores_move = true;
                break;
            }
            n->write_requests++;
            n->write_sectors++;
            n->write_hit_sectors += !e->asked;
            n->write_nofill_sectors += !e->asked;
            note_use(c, FIRST, at);
            c->level[FIRST].line[at].dirty = 1;
            e->asked = false;
        }
        c->worked = c->stores_move = true;
        if (++e->part == e->parts)
            leave_store_buffer(c);
    }
    /* Lines of the stores behind the first are asked for ahead, as many as there are fill buffers: more could push each
     * other out of the first level before they are written. */
    for (uint32_t tries = 0; c->store_asked < c->store_tail && tries < 4; tries++) {
        store_entry *e = &c->store[c->store_asked % c->d->store_buffer];
        if (!e->senior || c->lines_ahead >= c->d->fill_buffers)
            break;
        bool all = true;
        int32_t at = NONE;
        for (uint32_t p = e->part; p < e->parts && e->bytes && !e->nontemporal; p++) {
            if (owned(c, e->physical[p], &at))
                continue;
            e->asked = true;
            if (!e->ahead && find_fill(c, e->physical[p]) == NONE) {
                e->ahead = true;
                c->lines_ahead++;
            }
            all = all && ask_to_own(c, e->physical[p], t);
        }
        if (!all)
            break;
        c->store_asked++;
        c->worked = c->stores_move = true;
    }
}

/* Nothing more will be stored: buffers that gather are sent as they are. */
static void flush_gathering(cpu_core *c, int64_t t) {
    for (uint32_t i = 0; i < c->d->fill_buffers; i++)
        if (c->fills[i].state == FILL_GATHERS)
            send_stream(c, (int32_t)i, t);
}

/* --- front end -----------------------------------------------------------------------------------------------------
 */

/* Follows a branch of a loop; true when it leaves a loop too long for the predictor. */
static bool follow_loop(cpu_core *c, const ir_loop *l) {
    if (c->place.loop[l->depth] + 1 < l->trips) {
        c->place.loop[l->depth]++;
        c->pc = l->first;
        return false;
    }
    c->place.loop[l->depth] = 0;
    c->pc++;
    return l->trips > c->d->predicted_trips;
}

static void set_access(cpu_core *c, slot *s, const ir_access *a, uint64_t address) {
    s->address = address;
    s->bytes = (uint16_t)a->bytes;
    s->parts = address >> c->line_shift == (address + a->bytes - 1) >> c->line_shift ? 1 : 2;
    s->parts_left = s->parts;
}

static void enter_store(cpu_core *c, slot *s, const ir_access *a) {
    s->store = (uint32_t)(c->store_tail % c->d->store_buffer);
    c->store[s->store] = (store_entry){.seq = s->seq,
                                       .address = s->address,
                                       .bytes = (uint8_t)s->bytes,
                                       .parts = s->parts,
                                       .code = s->code,
                                       .nontemporal = a->nontemporal};
    c->store_tail++;
    if (s->bytes) {
        c->store_lines[store_hash(s->address >> c->line_shift)]++;
        c->store_lines[store_hash((s->address + s->bytes - 1) >> c->line_shift)]++;
    }
}

static void wait_for_operands(cpu_core *c, slot *s, const ir_inst *x) {
    const uint32_t id = slot_id(c, s->seq);
    for (uint32_t i = 0; i < 3; i++) {
        const uint64_t from = x->src[i] ? c->writer[x->src[i]] : 0;
        if (from < c->head)
            continue;
        slot *p = &c->window[slot_id(c, from)];
        if (p->done != TICK_NEVER) {
            s->ready = max64(s->ready, p->done);
            continue;
        }
        s->next_operand[i] = p->dependents;
        p->dependents = (int32_t)(4 * id + i);
        s->operands++;
    }
}

/* One more instruction enters the window at cycle t; false when it cannot. */
static bool enter(cpu_core *c, int64_t t) {
    if (c->tail - c->head == c->d->window)
        return false;
    const ir_inst *x = &c->k->code[c->pc];
    const bool load = x->op == OP_LOAD, store = x->op == OP_STORE;
    if ((load && c->loads == c->d->load_queue) || (store && c->store_tail - c->store_head == c->d->store_buffer))
        return false;
    const uint64_t seq = c->tail++;
    slot *s = &c->window[slot_id(c, seq)];
    *s = (slot){.seq = seq,
                .ready = t + 1,
                .done = TICK_NEVER,
                .code = (uint16_t)c->pc,
                .dependents = NONE,
                .reason = STALL_WAIT,
                .entered = t};
    c->count.instructions[x->op]++;
    bool active = true, leaves = false;
    if (load || store) {
        const ir_access *a = &c->k->accesses[x->access];
        warp_access where;
        address_warp(c->k, a, &c->place, false, &where);
        active = where.mask != 0;
        if (active) {
            set_access(c, s, a, (uint64_t)(where.affine ? where.base : where.lane[0]));
            c->count.requests[store]++;
            c->count.lines[store] += s->parts;
            c->count.useful_bytes[store] += a->bytes;
        } else {
            c->count.requests_empty[store]++;
        }
        if (store)
            enter_store(c, s, a);
        c->loads += load;
        c->pc++;
    } else if (x->op == OP_EXIT) {
        leaves = true;
    } else if (x->op == OP_BRANCH && x->access != IR_NONE) {
        leaves = !address_mask(c->k, &c->k->accesses[x->access], &c->place);
        c->pc++;
    } else if (x->op == OP_BRANCH && x->loop != IR_NONE) {
        if (follow_loop(c, &c->k->loops[x->loop])) {
            c->count.cpu.mispredicted++;
            c->fetch_from = TICK_NEVER;
            c->fetch_branch = seq;
        }
    } else {
        c->pc++;
    }
    c->ended |= leaves;
    if (x->op == OP_EXIT || ((load || store) && !active)) {
        s->bytes = 0;
        s->parts = 0;
        if (store)
            c->store[s->store].executed = true;
        complete(c, s, t + 1);
    } else {
        wait_for_operands(c, s, x);
        if (!s->operands)
            schedule(c, s, s->ready);
    }
    if (x->dst)
        c->writer[x->dst] = seq;
    return true;
}

static void start_thread(cpu_core *c, int64_t t) {
    c->place = (warp_place){.block = c->thread, .width = 1};
    c->pc = 0;
    c->running = true;
    c->ended = false;
    c->started = c->accounted = t;
    c->fetch_from = t;
    memset(c->writer, 0, sizeof c->writer);
    c->count.threads++;
}

/* The stall that a cycle without a leaving instruction is charged to. */
static void charge(cpu_core *c, stall_reason why, int64_t up_to) {
    if (up_to > c->accounted) {
        c->count.stall_cycles[why] += (uint64_t)(up_to - c->accounted);
        c->accounted = up_to;
    }
}

static void end_thread(cpu_core *c, int64_t t) {
    t = max64(t, c->accounted);
    charge(c, STALL_DRAIN, t);
    c->count.resident_cycles += (uint64_t)(t - c->started);
    c->end = max64(c->end, t);
    c->running = false;
    c->thread += c->threads_step;
    if (c->thread >= c->k->blocks)
        c->fetch_from = TICK_NEVER;
    c->worked = true;
}

static void front_end(cpu_core *c, int64_t t) {
    if (!c->running) {
        if (c->thread >= c->k->blocks || t < c->fetch_from)
            return;
        start_thread(c, t);
    }
    if (c->ended) {
        if (c->head != c->tail || c->store_head != c->store_tail)
            return;
        flush_gathering(c, t);
        if (!c->streams_out)
            end_thread(c, t);
        return;
    }
    for (uint32_t i = 0; i < c->mach->core.issue_width && !c->ended && c->fetch_from <= t; i++) {
        if (!enter(c, t))
            return;
        c->worked = true;
    }
}

/* --- execution and leaving -----------------------------------------------------------------------------------------
 */

/* A port of this pipe for an instruction that takes it for `interval` cycles. */
static bool take_pipe(cpu_core *c, pipe_id p, uint32_t interval, int64_t t) {
    for (uint32_t i = 0; i < c->d->ports[p]; i++)
        if (c->port_free[p][i] <= t) {
            c->port_free[p][i] = t + interval;
            c->count.pipe_cycles[p] += interval;
            return true;
        }
    return false;
}

static void execute_queue(cpu_core *c, uint32_t q, int64_t t) {
    heap *h = &c->ready[q];
    uint32_t ports = q == PIPE_MEMORY ? c->d->load_ports : c->d->store_ports;
    while (h->count) {
        slot *s = &c->window[slot_id(c, h->item[0].order)];
        const op_timing *timing = &c->mach->core.op[c->k->code[s->code].op];
        if (q == PIPE_MEMORY || q == STORE_QUEUE) {
            if (ports == 0)
                return;
            if (q == PIPE_MEMORY) { /* the first level's data path */
                if (c->first_free >= cycle_to_tick(t + 1))
                    return;
                const int64_t length = tick_for_bytes(c->first_per_byte, s->bytes);
                c->first_free = max64(c->first_free, cycle_to_tick(t)) + length;
                c->count.first_busy_ticks += length;
            }
            ports--;
            c->count.pipe_cycles[PIPE_MEMORY]++;
        } else if (!take_pipe(c, (pipe_id)q, timing->interval_cycles, t)) {
            return;
        }
        pop(h);
        c->worked = true;
        if (q == PIPE_MEMORY)
            execute_load(c, s, t);
        else if (q == STORE_QUEUE)
            execute_store(c, s, t);
        else
            complete(c, s, t + timing->latency_cycles);
    }
}

static void execute(cpu_core *c, int64_t t) {
    while (first_of(&c->future) <= t) {
        const uint64_t seq = pop(&c->future).order;
        const ir_inst *x = &c->k->code[c->window[slot_id(c, seq)].code];
        const uint32_t q = x->op == OP_STORE  ? STORE_QUEUE
                           : x->op == OP_LOAD ? PIPE_MEMORY
                                              : (uint32_t)c->mach->core.op[x->op].pipe;
        push(c, &c->ready[q], 0, seq);
    }
    for (uint32_t q = 0; q < QUEUES; q++)
        if (c->ready[q].count)
            execute_queue(c, q, t);
}

static void leave_window(cpu_core *c, int64_t t) {
    uint32_t left = 0;
    for (; left < c->mach->core.issue_width && c->head < c->tail; left++) {
        slot *s = &c->window[slot_id(c, c->head)];
        if (s->done > t)
            break;
        if (left == 0) {
            /* Before it entered there was nothing to leave. */
            const bool waits = c->store_tail - c->store_head == c->d->store_buffer;
            charge(c, waits ? STALL_LG_THROTTLE : STALL_BRANCH_RESOLVING, min64(s->entered, t));
            charge(c, (stall_reason)s->reason, t);
        }
        const uint8_t op = c->k->code[s->code].op;
        if (op == OP_STORE)
            c->store[s->store].senior = c->stores_move = true;
        c->loads -= op == OP_LOAD;
        c->head++;
    }
    if (left) {
        c->count.leave_cycles++;
        c->accounted = t + 1;
        c->worked = true;
    }
}

/* --- answers and probes --------------------------------------------------------------------------------------------
 */

static void data_arrives(cpu_core *c, const line_message *msg, int64_t t) {
    const ask got = c->asks[msg->token];
    const uint32_t i = outer_of(c);
    c->asks_taken &= ~(UINT64_C(1) << msg->token);
    c->asks_used--;
    const uint8_t state = msg->exclusive ? LINE_WRITABLE : 0;
    if (i > 0) {
        const bool keeps = got.fill == NONE || c->mach->level[i].holds != INCLUSION_EXCLUSIVE;
        if (keeps)
            install(c, i, msg->line, msg->dirty, (uint8_t)(state | (got.prefetch ? LINE_PREFETCHED : 0)), t);
        if (got.fill != NONE)
            c->fills[got.fill].dirty = msg->dirty && !keeps;
    } else if (got.fill == NONE) {
        install(c, FIRST, msg->line, msg->dirty, (uint8_t)(state | (got.prefetch ? LINE_PREFETCHED : 0)), t);
    } else {
        c->fills[got.fill].dirty = msg->dirty;
    }
    if (got.fill != NONE) {
        c->fills[got.fill].writable = msg->exclusive;
        fill_arrives(c, got.fill, t);
    }
    if (got.walk != NONE)
        walk_step(c, (uint32_t)got.walk, t);
    retry_waiting(c, t);
}

/* False: the line is between two of the core's levels; a few cycles later it is not. */
static bool answer_probe(cpu_core *c, const line_message *msg, int64_t t) {
    const int32_t f = find_fill(c, msg->line);
    if (f != NONE && c->fills[f].state == FILL_COMING)
        return false;
    bool dirty = false, writable = false;
    if (msg->kind == LINE_SHARE) {
        for (uint32_t i = 0; i < c->privates; i++) {
            const int32_t at = cache_look(&c->level[i], (int64_t)msg->line);
            if (at == NONE)
                continue;
            dirty |= c->level[i].line[at].dirty != 0;
            writable |= (c->state[i][at] & LINE_WRITABLE) != 0;
            c->level[i].line[at].dirty = 0;
            c->state[i][at] &= (uint8_t)~LINE_WRITABLE;
        }
    } else {
        take_away(c, msg->line, &dirty, &writable);
    }
    const line_kind kind = dirty ? LINE_ACK_DIRTY : writable ? LINE_ACK_DATA : LINE_ACK;
    send(c, (line_message){.line = msg->line, .kind = (uint8_t)kind}, kind != LINE_ACK, cycle_to_tick(t));
    return true;
}

/* Messages come one after the other over the core's link, in order. False: it takes longer, and comes again. */
static bool link_takes(cpu_core *c, line_message *msg, int64_t t) {
    if (msg->mask)
        return true;
    const int64_t length =
        msg->kind == LINE_DATA ? tick_for_bytes(c->response_per_byte, c->mach->level[0].line_bytes) : 0;
    const int64_t start = max64(cycle_to_tick(t), c->answer_free);
    c->answer_free = start + length;
    c->count.link_busy_ticks += length;
    msg->mask = 1; /* has been on the link */
    msg->time = tick_to_cycle(start);
    return msg->time <= t;
}

static void read_inbox(cpu_core *c, int64_t t) {
    while (first_of(&c->inbox) <= t) {
        const int32_t id = (int32_t)(pop(&c->inbox).order & ((UINT64_C(1) << 20) - 1));
        line_message msg = c->letter[id];
        c->letter[id].token = (uint32_t)c->letter_free;
        c->letter_free = id;
        c->worked = true;
        if (!link_takes(c, &msg, t)) {
            cpu_core_deliver(c, &msg);
            continue;
        }
        if (msg.kind == LINE_DATA) {
            data_arrives(c, &msg, t);
        } else if (msg.kind == LINE_TAKEN) {
            c->streams_out--;
            free_fill(c, (int32_t)msg.token, t);
        } else {
            if (!mem_reserve((void **)&c->probe, &c->probe_capacity, c->probe_count + 1, sizeof *c->probe)) {
                c->fault = "not enough memory";
                return;
            }
            c->probe[c->probe_count++] = msg;
        }
    }
}

/* --- the cycle -----------------------------------------------------------------------------------------------------
 */

static void cycle(cpu_core *c, int64_t t) {
    c->now = t;
    c->worked = false;
    read_inbox(c, t);
    while (first_of(&c->timed) <= t) {
        const uint64_t what = pop(&c->timed).order;
        c->worked = true;
        if (what < c->d->fill_buffers)
            fill_arrives(c, (int32_t)what, t);
        else
            walk_step(c, (uint32_t)(what - c->d->fill_buffers), t);
    }
    write_stores(c, t); /* before probes: who got a line to write it writes at least once */
    size_t left = 0;
    for (size_t i = 0; i < c->probe_count; i++)
        if (!answer_probe(c, &c->probe[i], t))
            c->probe[left++] = c->probe[i];
    c->stores_move |= c->probe_count != left; /* a line may be gone */
    c->probe_count = left;
    leave_window(c, t);
    execute(c, t);
    front_end(c, t);
}

/* After a cycle in which nothing was done nothing will be, until something that is known to come. */
static int64_t next_cycle(const cpu_core *c) {
    if (c->worked)
        return c->now + 1;
    int64_t next = min64(first_of(&c->timed), first_of(&c->future));
    next = min64(next, first_of(&c->inbox));
    if (c->head < c->tail)
        next = min64(next, c->window[slot_id(c, c->head)].done);
    if (c->fetch_from > c->now)
        next = min64(next, c->fetch_from);
    for (int q = 0; q < QUEUES; q++)
        if (c->ready[q].count)
            return c->now + 1;
    return max64(next, c->now + 1);
}

void cpu_core_run(cpu_core *c, int64_t to) {
    while (c->next < to && !c->fault) {
        cycle(c, c->next);
        const int64_t next = next_cycle(c);
        c->next = next == INT64_MAX ? TICK_NEVER : next;
    }
    c->until = to;
}

int64_t cpu_core_next_event(const cpu_core *c) {
    return c->next;
}

bool cpu_core_done(const cpu_core *c) {
    return !c->running && c->thread >= c->k->blocks && !c->asks_used;
}

message_list *cpu_core_out(cpu_core *c, uint32_t channel) {
    return &c->out[channel];
}
const cpu_core_counters *cpu_core_count(const cpu_core *c) {
    return &c->count;
}
const level_counters *cpu_core_level(const cpu_core *c, uint32_t level) {
    return &c->count_level[level];
}
static bool dirty_in(const cpu_core *c, uint32_t level, uint64_t line) {
    const int32_t at = cache_look(&c->level[level], (int64_t)line);
    return at != NONE && c->level[level].line[at].dirty;
}

bool cpu_core_dirty(const cpu_core *c, uint64_t line) {
    bool dirty = false;
    for (uint32_t i = 0; i < c->privates; i++)
        dirty = dirty || dirty_in(c, i, line);
    return dirty;
}

uint64_t cpu_core_dirty_lines(const cpu_core *c) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < c->privates; i++) {
        const cache *x = &c->level[i];
        for (size_t s = 0; s < (size_t)x->sets * x->ways; s++)
            n += x->line[s].number >= 0 && x->line[s].dirty &&
                 (i == 0 || !dirty_in(c, FIRST, (uint64_t)x->line[s].number));
    }
    return n;
}

int64_t cpu_core_end(const cpu_core *c) {
    return c->end;
}
uint64_t cpu_core_retired(const cpu_core *c) {
    return c->head - 1;
}
const char *cpu_core_fault(const cpu_core *c) {
    return c->fault;
}

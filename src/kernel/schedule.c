/* schedule.c - a list scheduler with a window, as compilers have one.
 *
 * Within a stretch of code without loop ends and branches it picks, again and again, among the next `window`
 * instructions that are left, the one that can issue first for a lone warp; of those that can at once, the one with the
 * longest chain of latencies behind it, and then the first as written. Loads are taken to answer after the latency of
 * the level behind the core's own, which is what a compiler would hope for. Loads do not pass stores that may write
 * what they read. */
#include "base/mem.h"
#include "kernel/vcode.h"

#include <string.h>

typedef struct node {
    uint32_t height;       /* latencies on the longest way from here to the end, its own included */
    uint32_t wait;         /* predecessors that are left */
    int64_t ready;         /* cycle at which its operands are there */
    uint32_t first, edges; /* in edge[] */
} node;

typedef struct edge {
    uint32_t to, latency;
} edge;

typedef struct scheduler {
    const machine *mach;
    const kernel *k;
    const vinst *in;
    uint32_t count, window;
    bool no_alias;
    node *node;
    size_t node_capacity;
    edge *edge;
    size_t edge_count, edge_capacity;
    vlist out;
    bool failed;
} scheduler;

static bool is_memory(const vinst *x) {
    return x->op == OP_LOAD || x->op == OP_STORE || x->op == OP_SHARED_LOAD || x->op == OP_SHARED_STORE;
}

static bool is_store(const vinst *x) {
    return x->op == OP_STORE || x->op == OP_SHARED_STORE;
}

static uint32_t latency(const scheduler *s, const vinst *x) {
    const machine *mach = s->mach;
    if (x->op == OP_SHARED_LOAD)
        return mach->core.shared_latency_cycles;
    if (x->op == OP_LOAD)
        return mach->level_count > 1   ? mach->level[1].latency_cycles
               : mach->level_count > 0 ? mach->level[0].latency_cycles
                                       : mach->dram.latency_cycles;
    return x->op < OP_CLASS_COUNT ? mach->core.op[x->op].latency_cycles : 0;
}

static bool names(const vinst *x, uint32_t reg) {
    return x->src[0] == reg || x->src[1] == reg || x->src[2] == reg;
}

/* Must b stay behind a? *wait: cycles between them. */
static bool depends(const scheduler *s, const vinst *a, const vinst *b, uint32_t *wait) {
    *wait = 0;
    bool order = false;
    if (a->dst && (names(b, a->dst) || b->dst == a->dst)) {
        *wait = latency(s, a);
        order = true;
    }
    order = order || (b->dst && names(a, b->dst));
    if (is_memory(a) && is_memory(b) && (is_store(a) || is_store(b))) {
        const ir_space one = s->k->accesses[a->access].space, other = s->k->accesses[b->access].space;
        bool apart = one != other || (s->no_alias && a->note.array && b->note.array && a->note.array != b->note.array);
        order = order || !apart;
    }
    return order;
}

static void add_edge(scheduler *s, uint32_t to, uint32_t wait) {
    s->failed = s->failed || !mem_reserve((void **)&s->edge, &s->edge_capacity, s->edge_count + 1, sizeof *s->edge);
    if (!s->failed)
        s->edge[s->edge_count++] = (edge){to, wait};
}

/* Edges reach no further than twice the window: what lies behind cannot pass what is that far ahead. */
static void build(scheduler *s) {
    s->edge_count = 0;
    for (uint32_t i = 0; i < s->count; i++)
        s->node[i] = (node){.height = 0};
    for (uint32_t i = 0; i < s->count && !s->failed; i++) {
        s->node[i].first = (uint32_t)s->edge_count;
        uint32_t end = s->count - i > 2 * s->window ? i + 2 * s->window : s->count;
        for (uint32_t j = i + 1, wait = 0; j < end; j++)
            if (depends(s, &s->in[i], &s->in[j], &wait)) {
                add_edge(s, j, wait);
                s->node[j].wait++;
            }
        s->node[i].edges = (uint32_t)s->edge_count - s->node[i].first;
    }
    for (uint32_t i = s->count; i-- > 0 && !s->failed;) {
        node *n = &s->node[i];
        n->height = latency(s, &s->in[i]);
        for (uint32_t e = n->first; e < n->first + n->edges; e++) {
            uint32_t far = s->edge[e].latency + s->node[s->edge[e].to].height;
            n->height = far > n->height ? far : n->height;
        }
    }
}

static bool better(const scheduler *s, uint32_t a, uint32_t b, int64_t now) {
    const node *x = &s->node[a], *y = &s->node[b];
    int64_t at = x->ready > now ? x->ready : now, other = y->ready > now ? y->ready : now;
    return at != other ? at < other : x->height > y->height;
}

static void run(scheduler *s, bool *done) {
    build(s);
    memset(done, 0, s->count);
    int64_t now = 0;
    uint32_t head = 0;
    for (uint32_t placed = 0; placed < s->count && !s->failed; placed++) {
        while (done[head])
            head++;
        uint32_t best = head, seen = 0;
        for (uint32_t i = head; i < s->count && seen < s->window; i++) {
            if (done[i])
                continue;
            seen++;
            if (s->node[i].wait == 0 && (i == head || better(s, i, best, now)))
                best = i;
        }
        node *n = &s->node[best];
        now = n->ready > now ? n->ready : now;
        for (uint32_t e = n->first; e < n->first + n->edges; e++) {
            node *to = &s->node[s->edge[e].to];
            to->wait--;
            to->ready = now + s->edge[e].latency > to->ready ? now + s->edge[e].latency : to->ready;
        }
        now++;
        done[best] = true;
        s->failed = s->failed || !vlist_add(&s->out, &s->in[best]);
    }
}

static bool ends_stretch(const vinst *x) {
    return x->op == VCODE_LOOP_BEGIN || x->op == OP_BRANCH || x->op == OP_EXIT || x->op == OP_BARRIER;
}

status vcode_schedule(vcode *v, const machine *mach, const kernel *k, uint32_t window, bool no_alias, message *m) {
    scheduler s = {.mach = mach, .k = k, .window = window, .no_alias = no_alias};
    bool *done = mem_zero(v->code.count + 1, sizeof *done);
    s.failed = !done || !mem_reserve((void **)&s.node, &s.node_capacity, v->code.count + 1, sizeof *s.node);
    for (size_t at = 0; at < v->code.count && !s.failed;) {
        size_t end = at;
        while (end < v->code.count && !ends_stretch(&v->code.inst[end]))
            end++;
        s.in = v->code.inst + at;
        s.count = (uint32_t)(end - at);
        run(&s, done);
        if (end < v->code.count)
            s.failed = s.failed || !vlist_add(&s.out, &v->code.inst[end]);
        at = end + 1;
    }
    mem_free(done);
    mem_free(s.node);
    mem_free(s.edge);
    if (s.failed) {
        mem_free(s.out.inst);
        return fail(m, ERR_MEMORY, "not enough memory to schedule kernel %s", k->name);
    }
    mem_free(v->code.inst);
    v->code = s.out;
    return OK;
}

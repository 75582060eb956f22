/* hoist_reason.c - why hoisting gained, lost or did nothing, from the counters of both runs. */
#include "report/hoist_result.h"
#include "report/limiter.h"
#include "report/value.h"

#include "base/num.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* Less is noise of the model; a utilisation beyond `busy` is a bottleneck; so many times the misses or turnarounds
 * matter. */
static const double noticeable = 0.01, busy = 0.80, many_more = 1.05;

const char *hoist_cause_name(hoist_cause c) {
    static const char *const names[] = {
#define X(id, name) [id] = name,
        HOIST_CAUSE_LIST(X)
#undef X
    };
    return names[c];
}

double hoist_speedup(const hoist_result *r, uint32_t variant) {
    const uint64_t before = r->variant[r->before].run.sim.cycles, now = r->variant[variant].run.sim.cycles;
    return now ? (double)before / (double)now : NAN;
}

double hoist_stall(const hoist_variant *v, stall_reason reason) {
    const sim_result *s = &v->run.sim;
    return s->warps ? (double)s->stall_cycles[reason] / (double)s->warps : 0;
}

uint32_t hoist_warps(const hoist_variant *v) {
    const kernel *k = &v->code.k;
    const core_desc *c = &v->run.mach->core;
    const uint64_t each = ceil_div(k->block_threads, c->warp_width), given = ceil_div(k->blocks, c->count) * each;
    return given < v->run.sim.resident_warps ? (uint32_t)given : v->run.sim.resident_warps;
}

/* ---- the timeline ------------------------------------------------------------------------------------------------ */

static bool is_global_load(const hoist_variant *v, const timeline_event *e) {
    const ir_inst *x = &v->code.k.code[e->pc];
    return x->op == OP_LOAD && v->code.k.accesses[x->access].space == SPACE_GLOBAL;
}

static uint32_t loads_in_flight(const hoist_variant *v) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < v->line.count; i++) {
        const timeline_event *e = &v->line.event[i];
        if (!is_global_load(v, e) || e->ready < 0)
            continue;
        uint32_t now = 0;
        for (uint32_t j = 0; j <= i; j++)
            now += is_global_load(v, &v->line.event[j]) && v->line.event[j].ready > e->cycle;
        most = now > most ? now : most;
    }
    return most;
}

/* The loop that turns most often in the timeline; IR_NONE. */
static uint16_t busiest_loop(const hoist_variant *v) {
    uint16_t best = IR_NONE;
    uint32_t most = 0;
    for (uint16_t loop = 0; loop < v->code.k.loop_count; loop++) {
        uint32_t turns = 0;
        for (uint32_t i = 0; i < v->line.count; i++)
            turns += v->line.event[i].pc == v->code.k.loops[loop].last;
        if (turns > most) {
            most = turns;
            best = loop;
        }
    }
    return best;
}

/* The third turn, when there are as many: caches and queues are in their stride by then. */
static void find_turn(hoist_variant *v) {
    const uint16_t loop = busiest_loop(v);
    v->turn_first = 0;
    v->turn_end = v->line.count;
    if (loop == IR_NONE)
        return;
    const ir_loop *l = &v->code.k.loops[loop];
    uint32_t turns = 0;
    for (uint32_t i = 0; i < v->line.count && turns < 3; i++) {
        if (v->line.event[i].pc == l->first) {
            v->turn_first = i;
            v->turn_end = v->line.count;
        }
        if (v->line.event[i].pc == l->last) {
            v->turn_end = i + 1;
            turns++;
        }
    }
}

void hoist_watch(hoist_variant *v) {
    v->loads_in_flight = loads_in_flight(v);
    find_turn(v);
}

/* ---- the sentence ------------------------------------------------------------------------------------------------ */

static void say(hoist_result *r, hoist_cause cause, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void say(hoist_result *r, hoist_cause cause, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->reason, sizeof r->reason, format, arguments);
    va_end(arguments);
    r->cause = cause;
}

static bool grew(uint64_t before, uint64_t after) {
    return (double)after > many_more * (double)before && after > before + 1;
}

/* Appends to the sentence. */
static void go_on(hoist_result *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void go_on(hoist_result *r, const char *format, ...) {
    const size_t used = strlen(r->reason);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->reason + used, sizeof r->reason - used, format, arguments);
    va_end(arguments);
}

enum { NAMED_LOADS = 3 };

static void nothing(hoist_result *r) {
    const hoist_report *p = r->pass;
    if (!p->leaves) {
        say(r, CAUSE_NOTHING, "No gain because there is nothing to hoist: no statement stores anything.");
        return;
    }
    for (uint32_t i = 0; i < p->leaves; i++)
        if (p->leaf[i].obstacle) {
            say(r, CAUSE_NOTHING,
                "No gain because there is nothing to hoist: the statements at line %d are no leaf block: %s.",
                p->leaf[i].at.line, p->leaf[i].obstacle);
            return;
        }
    uint32_t named = 0;
    say(r, CAUSE_NOTHING, "No gain because there is nothing to hoist: ");
    for (uint32_t i = 0; i < p->leaves; i++)
        for (uint32_t k = 0; k < p->leaf[i].loads; k++, named++) {
            const hoist_load *l = &p->leaf[i].load[k];
            if (named < NAMED_LOADS)
                go_on(r, "%s%s stays, %s", named ? "; " : "", l->text, hoist_verdict_text(l->verdict));
        }
    if (named > NAMED_LOADS)
        go_on(r, "; and so on");
    go_on(r, named ? "." : "the statements load nothing.");
}

static void faster(hoist_result *r, const hoist_variant *b, const hoist_variant *a, double speedup) {
    const double waited = hoist_stall(b, STALL_LONG_SCOREBOARD), waits = hoist_stall(a, STALL_LONG_SCOREBOARD);
    if (a->loads_in_flight > b->loads_in_flight)
        say(r, CAUSE_OVERLAP,
            "%.2f times as fast because a warp has up to %" PRIu32 " loads in flight instead of %" PRIu32
            ": it waits %.0f instead of %.0f cycles for them (Long Scoreboard).",
            speedup, a->loads_in_flight, b->loads_in_flight, waits, waited);
    else if (a->run.sim.requests[0] < b->run.sim.requests[0])
        say(r, CAUSE_FEWER_LOADS,
            "%.2f times as fast because a value that several statements use is loaded once: %" PRIu64
            " instead of %" PRIu64 " loads.",
            speedup, a->run.sim.requests[0], b->run.sim.requests[0]);
    else
        say(r, CAUSE_OTHER,
            "%.2f times as fast: a warp waits %.0f instead of %.0f cycles for loads (Long Scoreboard), with as many of "
            "them in "
            "flight.",
            speedup, waits, waited);
}

static stall_reason most_grown(const hoist_variant *b, const hoist_variant *a) {
    stall_reason most = STALL_LONG_SCOREBOARD;
    for (int i = 0; i < STALL_COUNT; i++)
        if (hoist_stall(a, (stall_reason)i) - hoist_stall(b, (stall_reason)i) >
            hoist_stall(a, most) - hoist_stall(b, most))
            most = (stall_reason)i;
    return most;
}

static void slower(hoist_result *r, const hoist_variant *b, const hoist_variant *a, double speedup) {
    const double loss = (1 - speedup) * 100;
    const sim_result *before = &b->run.sim, *after = &a->run.sim;
    const stall_reason grown = most_grown(b, a);
    const double was = hoist_stall(b, grown), is = hoist_stall(a, grown);
    const level_counters *first_before = &before->level[0], *first_after = &after->level[0];
    const uint64_t moves = a->code.spill_loads + a->code.spill_stores;
    if (a->code.spilled > b->code.spilled) {
        say(r, CAUSE_SPILLS,
            "Slower by %.1f %% because %" PRIu32 " values do not fit the %" PRIu32
            " registers of a thread and live in local memory: %" PRIu64 " loads and stores more in the code.",
            loss, a->code.spilled, a->code.register_limit, moves);
    } else if (hoist_warps(a) < hoist_warps(b)) {
        char proof[128] = "";
        if (r->same_warps_cycles)
            snprintf(proof, sizeof proof, "; with as many warps as before it would be %.2f times as fast",
                     (double)before->cycles / (double)r->same_warps_cycles);
        say(r, CAUSE_OCCUPANCY,
            "Slower by %.1f %% because %" PRIu32 " instead of %" PRIu32 " registers a thread leave %" PRIu32
            " instead of %" PRIu32 " warps on a core%s.",
            loss, a->code.k.registers, b->code.k.registers, hoist_warps(a), hoist_warps(b), proof);
    } else if (a->run.mach->level_count && grew(first_before->read_miss_sectors, first_after->read_miss_sectors)) {
        say(r, CAUSE_THRASH,
            "Slower by %.1f %% because the loads that are in flight at once push each other out of the %s: %" PRIu64
            " instead of %" PRIu64 " of its sectors miss.",
            loss, a->run.mach->level[0].name, first_after->read_miss_sectors, first_before->read_miss_sectors);
    } else if (after->limit[0].kind == LIMIT_DRAM && grew(before->dram.turnarounds, after->dram.turnarounds)) {
        say(r, CAUSE_DRAM,
            "Slower by %.1f %% because the DRAM, which is the limit, turns between reads and writes %" PRIu64
            " instead of %" PRIu64 " times: its buses move data %.0f instead of %.0f %% of the time.",
            loss, after->dram.turnarounds, before->dram.turnarounds, after->dram.busy_mean * 100,
            before->dram.busy_mean * 100);
    } else if (grown == STALL_LG_THROTTLE) {
        say(r, CAUSE_QUEUE,
            "Slower by %.1f %% because the loads come in bursts that fill the queue of the load/store unit: a warp "
            "waits "
            "%.0f instead of %.0f cycles for it (LG Throttle).",
            loss, is, was);
    } else {
        say(r, CAUSE_OTHER, "Slower by %.1f %%: a warp waits %.0f instead of %.0f cycles, %s.", loss, is, was,
            stall_label(grown));
    }
}

static bool moves_data(limit_kind k) {
    return k == LIMIT_LSU || k == LIMIT_LEVEL || k == LIMIT_FABRIC || k == LIMIT_DRAM || k == LIMIT_SHARED;
}

static void no_gain(hoist_result *r, const hoist_variant *b, const hoist_variant *a) {
    const limiter *l = &b->run.sim.limit[0];
    const double percent_busy = l->utilisation * 100;
    if (moves_data(l->kind) && l->utilisation >= busy)
        say(r, CAUSE_BANDWIDTH,
            "No gain because the kernel is bandwidth-bound: %s is busy %.0f %% of the time as written.",
            limiter_name(&b->run, 0), percent_busy);
    else if (l->kind == LIMIT_ISSUE && l->utilisation >= busy)
        say(r, CAUSE_ENOUGH_WARPS,
            "No gain because enough warps hide the latency: with %" PRIu32
            " on a core its schedulers or their pipes are busy %.0f %% of the time as written.",
            hoist_warps(b), percent_busy);
    else if (a->loads_in_flight <= b->loads_in_flight)
        say(r, CAUSE_ALREADY,
            "No gain because the loads overlap already: a warp has up to %" PRIu32 " in flight as written, and %" PRIu32
            " when they are hoisted.",
            b->loads_in_flight, a->loads_in_flight);
    else if (hoist_warps(a) < hoist_warps(b))
        say(r, CAUSE_OCCUPANCY,
            "No gain because %" PRIu32 " instead of %" PRIu32 " registers a thread leave %" PRIu32
            " instead of %" PRIu32 " warps on a core, which costs what the overlap of %" PRIu32 " loads brings.",
            a->code.k.registers, b->code.k.registers, hoist_warps(a), hoist_warps(b), a->loads_in_flight);
    else
        say(r, CAUSE_ENOUGH_WARPS,
            "No gain because the other warps hide the latency already: with %" PRIu32
            " on a core the busiest resource, %s, is busy %.0f %% of the time as written.",
            hoist_warps(b), limiter_name(&b->run, 0), percent_busy);
}

void hoist_explain(hoist_result *r) {
    const hoist_variant *b = &r->variant[r->before], *a = &r->variant[r->after];
    const double speedup = hoist_speedup(r, r->after);
    if (!a->hoisted)
        nothing(r);
    else if (speedup >= 1 + noticeable)
        faster(r, b, a, speedup);
    else if (speedup <= 1 - noticeable)
        slower(r, b, a, speedup);
    else
        no_gain(r, b, a);
}

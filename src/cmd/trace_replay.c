/* trace replay: the kernels of a trace of warps, timed, one after the other, each on a machine with cold caches. */
#include "base/mem.h"
#include "cmd/output.h"
#include "cmd/progress.h"
#include "cmd/trace.h"
#include "trace/recording.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct replay {
    machine *mach;
    warp_stream *stream;
    recording source;
    arena texts; /* of the records */
    run_record *records;
    size_t count, capacity;
    uint64_t instructions; /* of all kernels */
} replay;

static status open_replay(replay *r, const arguments *args, message *m) {
    if (!args->machine)
        return fail(m, ERR_INPUT, "trace replay needs a machine: -m NAME (`coalign machines` lists them)");
    if (args->caches || args->line_bytes || args->sample_lines)
        return fail(m, ERR_INPUT, "--cache, --line and --sample belong to trace replay --counts and trace mrc");
    TRY(trace_machine(args, &r->mach, m));
    if (r->mach->kind == MACHINE_CPU)
        return fail(m, ERR_INPUT, "%s is a CPU; warps are replayed on GPUs", r->mach->id);
    TRY(warp_stream_open(trace_file(args), args->lenient, &r->stream, m));
    recording_init(&r->source, r->stream);
    return OK;
}

static status describe(replay *r, run_record *record, message *m) {
    const warp_kernel *k = &r->source.event.kernel;
    char dims[96];
    snprintf(dims, sizeof dims, "%ux%ux%u blocks of %ux%ux%u", k->grid[0], k->grid[1], k->grid[2], k->block[0],
             k->block[1], k->block[2]);
    *record = (run_record){.case_name = arena_string(&r->texts, k->name[0] ? k->name : "unnamed"),
                           .strategy = "trace",
                           .dataset = arena_string(&r->texts, dims),
                           .plan_reason = "",
                           .mach = r->mach,
                           .block_threads = r->source.k.block_threads,
                           .registers = k->registers,
                           .shared_bytes = k->shared_bytes,
                           .measured_us = NAN,
                           .measured_low_us = NAN,
                           .measured_high_us = NAN};
    if (!record->case_name || !record->dataset)
        return fail(m, ERR_MEMORY, "not enough memory for the results");
    if (k->lanes != r->mach->core.warp_width)
        return fail(m, ERR_INPUT, "kernel %s was recorded with warps of %u threads; %s has warps of %u", k->name,
                    k->lanes, r->mach->name, r->mach->core.warp_width);
    return OK;
}

/* What a user should know of how the trace was read. */
static void say(const replay *r, const arguments *args, uint64_t grid_blocks) {
    const recording *s = &r->source;
    if (args->quiet)
        return;
    if (s->k.blocks < grid_blocks)
        fprintf(stderr, "%s: the trace has %" PRIu64 " of the grid's %" PRIu64 " thread blocks\n", s->k.name,
                s->k.blocks, grid_blocks);
    if (s->exits_added)
        fprintf(stderr, "%s: an EXIT was added to %" PRIu64 " warps, which end without one\n", s->k.name,
                s->exits_added);
    if (s->unknown)
        fprintf(stderr, "%s: charged as integer instructions: %" PRIu64 " with unknown opcodes, such as %s\n",
                s->k.name, s->unknown, s->unknown_opcode);
}

static status replay_kernel(replay *r, const arguments *args, progress *bar, message *m) {
    run_record record;
    TRY(describe(r, &record, m));
    bar->index = r->count;
    bar->name = record.case_name;
    const uint64_t grid_blocks = r->source.k.blocks;
    const sim_options o = {.threads = args->threads,
                           .check = true,
                           .source = &r->source,
                           .progress = progress_show,
                           .progress_context = bar};
    TRY(sim_run(r->mach, &r->source.k, &o, &record.sim, m));
    progress_clear(bar);
    record.useful_bytes = record.sim.useful_bytes[0] + record.sim.useful_bytes[1];
    say(r, args, grid_blocks);
    if (!mem_reserve((void **)&r->records, &r->capacity, r->count + 1, sizeof *r->records))
        return fail(m, ERR_MEMORY, "not enough memory for the results");
    r->records[r->count++] = record;
    r->instructions += r->source.instructions;
    return OK;
}

static status replay_kernels(replay *r, const arguments *args, message *m) {
    progress bar = progress_start(0, args->quiet);
    status s = OK;
    bool any = true;
    while (s == OK && any) {
        s = recording_next_kernel(&r->source, &any, m);
        if (s == OK && any)
            s = replay_kernel(r, args, &bar, m);
    }
    progress_clear(&bar);
    if (s != OK || r->instructions)
        return s;
    if (r->stream->faults.count) {
        *m = r->stream->faults.first;
        return ERR_INPUT;
    }
    return r->count ? OK : fail_at(m, trace_file(args), 0, "there is no kernel in this trace");
}

static status replay_all(replay *r, outputs *o, const arguments *args, message *m) {
    TRY(open_replay(r, args, m));
    TRY(outputs_open(o, args, m));
    const status s = replay_kernels(r, args, m);
    if (s != OK && !(s == ERR_INTERRUPTED && r->count))
        return s;
    o->partial = s == ERR_INTERRUPTED;
    TRY(outputs_report(o, args, trace_name(args), r->records, r->count, m));
    if (r->stream->faults.count)
        fprintf(stderr, "faults passed over in the trace: %" PRIu64 "; the first: %s\n", r->stream->faults.count,
                r->stream->faults.first.text);
    return s;
}

status trace_replay_command(const arguments *args, message *m) {
    replay r = {0};
    outputs o = {0};
    const status s = replay_all(&r, &o, args, m);
    outputs_close(&o);
    recording_free(&r.source);
    warp_stream_close(r.stream);
    arena_free(&r.texts);
    mem_free(r.records);
    mem_free(r.mach);
    return s;
}

#include "trace/recording.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

enum {
    WINDOW_BYTES =
        1 << 24,       /* of shared and of local memory in generic addresses: CUDA's driver keeps 16 MiB for each */
    CODE_MAX = 1 << 22 /* different instructions of one kernel: no program is so long */
};

/* ---- scoreboard names -------------------------------------------------------------------------------------------- */

/* What stands for each register: the name of the instruction that wrote it last, 0 when that has certainly ended. */
typedef struct names {
    uint8_t of[WARP_REGISTER_NAMES + 4];
} names;

static uint8_t own_name(uint32_t reg) {
    return (uint8_t)(reg >= WARP_UNIFORM ? 255 - (reg - WARP_UNIFORM) : reg + 1);
}

static void names_init(names *n) {
    for (uint32_t reg = 0; reg < WARP_REGISTER_NAMES; reg++)
        n->of[reg] = reg == 255 || reg == WARP_REGISTER_NAMES - 1 ? 0 : own_name(reg);
    memset(n->of + WARP_REGISTER_NAMES, 0, 4);
}

/* Adds a name that the instruction has to wait for, unless it is there or the instruction is full. */
static void wait_for(ir_inst *x, uint32_t *count, uint8_t name) {
    if (!name || name == x->dst || *count == IR_SOURCES_MAX)
        return;
    for (uint32_t i = 0; i < *count; i++)
        if (x->src[i] == name)
            return;
    x->src[(*count)++] = name;
}

static void read_registers(const names *n, ir_inst *x, uint32_t *count, uint32_t reg, uint32_t words) {
    for (uint32_t i = 0; i < words; i++)
        wait_for(x, count, n->of[reg + i]);
}

static void write_registers(names *n, ir_inst *x, uint32_t *count, uint32_t reg, uint32_t words) {
    const uint8_t name = own_name(reg);
    if (!x->dst)
        x->dst = name;
    for (uint32_t i = 0; i < words; i++)
        wait_for(x, count, n->of[reg + i]);
    /* Whoever had this name before has ended when this instruction issues. */
    for (uint32_t i = 0; i < 4; i++)
        if (n->of[reg + i] == name)
            n->of[reg + i] = 0;
    for (uint32_t i = 0; i < words; i++)
        n->of[reg + i] = x->dst;
}

static void set_registers(const warp_kernel *k, names *n, const warp_inst *from, ir_inst *x) {
    const opcode_info *info = &from->info;
    uint32_t count = 0;
    for (uint32_t i = 0; i < from->src_count; i++)
        read_registers(n, x, &count, from->src[i],
                       k->whole_registers ? 1
                       : i == 0           ? info->address_words
                                          : info->data_words);
    for (uint32_t i = 0; i < from->dst_count; i++)
        write_registers(n, x, &count, from->dst[i], k->whole_registers ? 1 : info->dst_words);
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static status no_memory(message *m) {
    return fail(m, ERR_MEMORY, "not enough memory for a thread block of the trace");
}

/* The access of this space and width in the kernel. */
static status access_id(kernel *k, ir_space space, uint32_t bytes, uint16_t *id, message *m) {
    for (uint32_t i = 0; i < k->access_count; i++)
        if (k->accesses[i].space == space && k->accesses[i].bytes == bytes) {
            *id = (uint16_t)i;
            return OK;
        }
    return ir_add_access(k, (ir_access){.space = space, .bytes = bytes}, id, m);
}

/* The table's entry that equals x. */
static status inst_id(recording *r, const ir_inst *x, uint32_t *id, message *m) {
    char key[sizeof *x];
    memcpy(key, x, sizeof key);
    interned *known = intern(&r->known, key, sizeof key);
    if (!known)
        return no_memory(m);
    if (!known->value) {
        if (r->k.code_count == CODE_MAX)
            return fail(m, ERR_INPUT, "kernel %s has more than %d different instructions: this is no program",
                        r->k.name, CODE_MAX);
        TRY(ir_add_inst(&r->k, *x, m));
        known->value = (void *)(uintptr_t)r->k.code_count; /* + 1: not NULL */
    }
    *id = (uint32_t)(uintptr_t)known->value - 1;
    return OK;
}

static bool in_window(uint64_t base, int64_t address) {
    return base && (uint64_t)address - base < WINDOW_BYTES;
}

static int64_t first_address(const warp_access *a) {
    if (!a->mask)
        return -1;
    const int lane = __builtin_ctzll(a->mask);
    return a->affine ? a->base + lane * a->stride : a->lane[lane];
}

static ir_space space_of(const warp_kernel *k, const warp_inst *x) {
    const int64_t at = first_address(&x->access);
    switch (x->info.memory) {
    case MEMORY_SHARED:
        return SPACE_SHARED;
    case MEMORY_LOCAL:
        return SPACE_LOCAL;
    case MEMORY_GENERIC:
        return in_window(k->shared_base, at) ? SPACE_SHARED : in_window(k->local_base, at) ? SPACE_LOCAL : SPACE_GLOBAL;
    default:
        return SPACE_GLOBAL;
    }
}

static op_class class_of(const warp_inst *x, ir_space space, bool memory) {
    if (!memory) {
        const bool off = !x->access.mask && x->info.op == OP_BARRIER;
        return off || x->info.op == OP_EXIT ? OP_BRANCH : x->info.op;
    }
    const bool store =
        x->info.memory == MEMORY_NONE ? !x->dst_count : x->info.op == OP_STORE || x->info.op == OP_SHARED_STORE;
    if (space == SPACE_SHARED)
        return store ? OP_SHARED_STORE : OP_SHARED_LOAD;
    return store ? OP_STORE : OP_LOAD;
}

static int64_t rebased(const warp_kernel *k, ir_space space, int64_t address) {
    if (space == SPACE_LOCAL)
        return in_window(k->local_base, address) ? address - (int64_t)k->local_base : address % WINDOW_BYTES;
    return address;
}

/* An access: its mask, then base and stride, or an address for each active lane. The index is doubled, odd: affine. */
static status add_access(recorded_block *b, const warp_kernel *k, ir_space space, const warp_inst *x, uint32_t *id,
                         message *m) {
    const warp_access *a = &x->access;
    const uint64_t mask = x->width ? a->mask : 0;
    const bool affine = a->affine && space != SPACE_LOCAL;
    const size_t need = affine || !mask ? 3 : 1 + (size_t)__builtin_popcountll(mask);
    if (b->word_count + need > UINT32_MAX / 2)
        return fail(m, ERR_INPUT, "a thread block of the trace has more accesses than fit into memory");
    if (!mem_reserve((void **)&b->word, &b->word_capacity, b->word_count + need, sizeof *b->word))
        return no_memory(m);
    int64_t *w = b->word + b->word_count;
    *id = (uint32_t)b->word_count * 2 + (affine || !mask);
    b->word_count += need;
    *w++ = (int64_t)mask;
    if (affine || !mask) {
        *w++ = mask ? a->base : 0;
        *w = mask ? a->stride : 0;
        return OK;
    }
    for (uint64_t left = mask; left; left &= left - 1) {
        const int lane = __builtin_ctzll(left);
        *w++ = rebased(k, space, a->affine ? a->base + lane * a->stride : a->lane[lane]);
    }
    return OK;
}

void recorded_access(const recorded_block *b, uint32_t access, warp_access *out) {
    const int64_t *w = b->word + access / 2;
    out->mask = (uint64_t)*w++;
    out->affine = access & 1;
    if (out->affine) {
        out->base = w[0];
        out->stride = w[1];
        return;
    }
    for (uint64_t left = out->mask; left; left &= left - 1)
        out->lane[__builtin_ctzll(left)] = *w++;
}

static status add_step(recorded_block *b, recorded_step step, message *m) {
    if (!mem_reserve((void **)&b->step, &b->step_capacity, b->step_count + 1, sizeof *b->step))
        return no_memory(m);
    b->step[b->step_count++] = step;
    return OK;
}

static status add_inst(recording *r, recorded_block *b, names *n, message *m) {
    const warp_inst *x = &r->event.inst;
    const warp_kernel *k = &r->event.kernel;
    ir_inst inst = {.access = IR_NONE, .loop = IR_NONE};
    recorded_step step = {0, 0};
    const bool memory = x->width || x->info.memory != MEMORY_NONE;
    const ir_space space = space_of(k, x);
    inst.op = (uint8_t)class_of(x, space, memory);
    set_registers(k, n, x, &inst);
    if (memory) {
        TRY(access_id(&r->k, space, x->info.memory == MEMORY_NONE ? 4 : x->info.bytes, &inst.access, m));
        TRY(add_access(b, k, space, x, &step.access, m));
    }
    if (!x->info.known && r->unknown++ == 0)
        snprintf(r->unknown_opcode, sizeof r->unknown_opcode, "%s", x->opcode);
    r->instructions++;
    TRY(inst_id(r, &inst, &step.inst, m));
    return add_step(b, step, m);
}

/* ---- warps and blocks -------------------------------------------------------------------------------------------- */

/* The last instruction becomes the warp's end; where it is no EXIT one is added. */
static status end_warp(recording *r, recorded_block *b, uint32_t warp, bool exits, message *m) {
    recorded_warp *w = &b->warp[warp];
    w->steps = b->step_count - w->first;
    if (!w->steps)
        return OK;
    recorded_step last = {0, 0};
    const ir_inst leave = {.op = OP_EXIT, .access = IR_NONE, .loop = IR_NONE};
    TRY(inst_id(r, &leave, &last.inst, m));
    if (exits) {
        b->step[b->step_count - 1] = last;
        return OK;
    }
    r->exits_added++;
    w->steps++;
    return add_step(b, last, m);
}

/* Reads on to the next event that is none of a warp under way. */
static status read_warp(recording *r, recorded_block *b, message *m) {
    const uint32_t warp = r->event.warp;
    if (warp >= r->warps)
        return fail(m, ERR_INPUT, "the trace has warp %u in thread blocks of %u warps", warp, r->warps);
    names n;
    names_init(&n);
    b->warp[warp].first = b->step_count;
    bool exits = false;
    for (;;) {
        TRY(r->stream->next(r->stream, &r->event, m));
        if (r->event.kind != WARP_INST)
            break;
        exits = r->event.inst.info.op == OP_EXIT && r->event.inst.info.memory == MEMORY_NONE;
        TRY(add_inst(r, b, &n, m));
    }
    return end_warp(r, b, warp, exits, m);
}

void recorded_block_free(recorded_block *b) {
    if (!b)
        return;
    mem_free(b->warp);
    mem_free(b->step);
    mem_free(b->word);
    mem_free(b);
}

static status read_block(recording *r, recorded_block *b, message *m) {
    b->warp = mem_zero(r->warps, sizeof *b->warp);
    if (!b->warp)
        return no_memory(m);
    TRY(r->stream->next(r->stream, &r->event, m));
    while (r->event.kind == WARP_WARP)
        TRY(read_warp(r, b, m));
    return OK;
}

status recording_next_block(recording *r, recorded_block **block, message *m) {
    *block = NULL;
    while (r->in_kernel && r->event.kind != WARP_BLOCK) {
        TRY(r->stream->next(r->stream, &r->event, m));
        r->in_kernel = r->event.kind != WARP_KERNEL_END && r->event.kind != WARP_END;
    }
    if (!r->in_kernel)
        return OK;
    recorded_block *b = mem_zero(1, sizeof *b);
    if (!b)
        return no_memory(m);
    const status s = read_block(r, b, m);
    if (s == OK)
        *block = b;
    else
        recorded_block_free(b);
    return s;
}

void recording_init(recording *r, warp_stream *stream) {
    *r = (recording){.stream = stream};
}

static void forget_kernel(recording *r) {
    kernel_free(&r->k);
    intern_free(&r->known);
    memset(&r->k, 0, sizeof r->k);
    memset(&r->known, 0, sizeof r->known);
}

void recording_free(recording *r) {
    forget_kernel(r);
}

status recording_next_kernel(recording *r, bool *any, message *m) {
    forget_kernel(r);
    r->instructions = r->exits_added = r->unknown = 0;
    r->unknown_opcode[0] = '\0';
    do {
        TRY(r->stream->next(r->stream, &r->event, m));
    } while (r->event.kind != WARP_KERNEL && r->event.kind != WARP_END);
    *any = r->in_kernel = r->event.kind == WARP_KERNEL;
    if (!*any)
        return OK;
    const warp_kernel *k = &r->event.kernel;
    kernel *to = &r->k;
    snprintf(to->name, sizeof to->name, "%.*s", (int)sizeof to->name - 1, k->name[0] ? k->name : "unnamed");
    to->blocks = (uint64_t)k->grid[0] * k->grid[1] * k->grid[2];
    to->block_threads = k->block[0] * k->block[1] * k->block[2];
    to->registers = k->registers;
    to->shared_bytes = k->shared_bytes;
    r->warps = (to->block_threads + k->lanes - 1) / k->lanes;
    return OK;
}

#include "kernel/interpret.h"

#include "base/num.h"
#include "kernel/address.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum { SLOT_BYTES = IR_ACCESS_MAX }; /* a register holds the widest access */

typedef struct block_state {
    const kernel *k;
    const memory_region *regions;
    uint32_t region_count, warp_width;
    message *m;
    uint64_t block;
    uint64_t loop[IR_LOOPS_MAX];
    uint8_t *registers; /* [register][thread][SLOT_BYTES] */
    uint8_t *width;     /* [register][thread]: bytes of data that the register holds, 0 = none */
    uint8_t *shared;
    bool *gone; /* [thread] its warp has left by an exit test */
} block_state;

static status violation(const block_state *s, uint32_t thread, const char *what, int64_t address, uint32_t bytes) {
    return fail(s->m, ERR_INTERNAL,
                "Kernel %s, block %" PRIu64 ", thread %" PRIu32 ": %s (%" PRIu32 " bytes at %" PRId64 ").", s->k->name,
                s->block, thread, what, bytes, address);
}

static size_t slot(const block_state *s, uint8_t reg, uint32_t thread) {
    return (size_t)reg * s->k->block_threads + thread;
}

/* Where the bytes live; *stores is their store counter or NULL. NULL when they lie outside. */
static uint8_t *find(const block_state *s, const ir_access *a, int64_t address, uint8_t **stores) {
    *stores = NULL;
    if (a->space == SPACE_SHARED) {
        bool within =
            address >= 0 && a->bytes <= s->k->shared_bytes && (uint64_t)address <= s->k->shared_bytes - a->bytes;
        return within ? s->shared + address : NULL;
    }
    for (uint32_t i = 0; i < s->region_count; i++) {
        const memory_region *r = &s->regions[i];
        uint64_t at = (uint64_t)address - (uint64_t)r->base;
        if (address < r->base || a->bytes > r->size || at > r->size - a->bytes)
            continue;
        *stores = r->stores ? r->stores + at : NULL;
        return r->data + at;
    }
    return NULL;
}

static status move(block_state *s, const ir_inst *x, uint32_t thread, int64_t address) {
    const ir_access *a = &s->k->accesses[x->access];
    uint8_t *stores = NULL, *data = find(s, a, address, &stores);
    if (!data)
        return violation(s, thread, a->space == SPACE_SHARED ? "outside shared memory" : "outside memory", address,
                         a->bytes);
    if (x->op == OP_LOAD || x->op == OP_SHARED_LOAD) {
        memcpy(s->registers + slot(s, x->dst, thread) * SLOT_BYTES, data, a->bytes);
        s->width[slot(s, x->dst, thread)] = (uint8_t)a->bytes;
        return OK;
    }
    if (s->width[slot(s, x->src[0], thread)] != a->bytes && a->space != SPACE_LOCAL)
        return violation(s, thread, "stores a register that holds no such data", address, a->bytes);
    memcpy(data, s->registers + slot(s, x->src[0], thread) * SLOT_BYTES, a->bytes);
    for (uint32_t i = 0; stores && i < a->bytes; i++)
        stores[i] = (uint8_t)(stores[i] < UINT8_MAX ? stores[i] + 1 : UINT8_MAX);
    return OK;
}

static status memory_inst(block_state *s, const ir_inst *x) {
    for (uint32_t thread = 0; thread < s->k->block_threads; thread++) {
        int64_t address = 0;
        if (!s->gone[thread] && address_thread(s->k, &s->k->accesses[x->access], s->block, thread, s->loop, &address))
            TRY(move(s, x, thread, address));
    }
    return OK;
}

static void exit_test(block_state *s, const ir_inst *x) {
    for (uint32_t first = 0; first < s->k->block_threads; first += s->warp_width) {
        uint32_t end = s->k->block_threads - first > s->warp_width ? first + s->warp_width : s->k->block_threads;
        bool stays = false;
        int64_t address = 0;
        for (uint32_t t = first; t < end && !stays; t++)
            stays = address_thread(s->k, &s->k->accesses[x->access], s->block, t, s->loop, &address);
        for (uint32_t t = first; t < end && !stays; t++)
            s->gone[t] = true;
    }
}

static void forget(block_state *s, uint8_t reg) {
    memset(s->width + slot(s, reg, 0), 0, s->k->block_threads);
}

static status run_block(block_state *s, uint64_t block) {
    const kernel *k = s->k;
    s->block = block;
    memset(s->loop, 0, sizeof s->loop);
    memset(s->width, 0, (size_t)IR_REGISTERS_MAX * k->block_threads);
    memset(s->gone, 0, k->block_threads * sizeof *s->gone);
    memset(s->shared, 0xa5, k->shared_bytes); /* unlike any data that a test would choose */
    for (uint32_t at = 0; at < k->code_count; at++) {
        const ir_inst *x = &k->code[at];
        bool load = x->op == OP_LOAD || x->op == OP_SHARED_LOAD;
        if (load || x->op == OP_STORE || x->op == OP_SHARED_STORE) {
            TRY(memory_inst(s, x));
        } else if (x->op == OP_BRANCH && x->access != IR_NONE) {
            exit_test(s, x);
        } else if (x->op == OP_BRANCH && x->loop != IR_NONE) {
            const ir_loop *loop = &k->loops[x->loop];
            uint64_t *turn = &s->loop[loop->depth];
            *turn = *turn + 1 < loop->trips ? *turn + 1 : 0;
            if (*turn)
                at = loop->first - 1; /* wraps to the first instruction when that is 0 */
        } else if (x->dst) {
            forget(s, x->dst);
        }
    }
    return OK;
}

static status run(block_state *s) {
    const kernel *k = s->k;
    size_t slots = (size_t)IR_REGISTERS_MAX * k->block_threads;
    s->registers = mem_zero(slots, SLOT_BYTES);
    s->width = mem_zero(slots, 1);
    s->shared = mem_zero(k->shared_bytes, 1);
    s->gone = mem_zero(k->block_threads, sizeof *s->gone);
    if (!s->registers || !s->width || !s->shared || !s->gone)
        return fail(s->m, ERR_MEMORY, "Not enough memory to execute kernel %s.", k->name);
    for (uint64_t block = 0; block < k->blocks; block++)
        TRY(run_block(s, block));
    return OK;
}

status interpret(const kernel *k, uint32_t warp_width, const memory_region *regions, uint32_t region_count,
                 message *m) {
    TRY(ir_check(k, m));
    if (warp_width < 1 || warp_width > WARP_WIDTH_MAX)
        return fail(m, ERR_INTERNAL, "Kernel %s cannot run in warps of %" PRIu32 " lanes.", k->name, warp_width);
    block_state s = {.k = k, .regions = regions, .region_count = region_count, .warp_width = warp_width, .m = m};
    status result = run(&s);
    mem_free(s.registers);
    mem_free(s.width);
    mem_free(s.shared);
    mem_free(s.gone);
    return result;
}

#include "sim/tlb.h"

#include "kernel/ir.h"

#include <stdio.h>
#include <string.h>

enum {
    ENTRY_BYTES = 8,
    NODE_BITS = 9, /* 512 entries */
    SMALL_SHIFT = 12,
    ADDRESS_BITS = 46, /* that the permutation of frames covers */
};

/* Tables lie above all data, each level for itself. */
static const uint64_t table_base = UINT64_C(1) << 60;
static const uint64_t frame_seed = UINT64_C(0x6672616d65);

static status init_array(cache *c, cache_level *shape, const char *name, uint32_t entries, uint32_t ways, message *m) {
    *shape = (cache_level){.size_bytes = entries, .ways = ways, .line_bytes = 1, .slices = 1};
    snprintf(shape->name, sizeof shape->name, "%s", name);
    return cache_init(c, shape, 1, m);
}

status tlb_init(tlb *t, const tlb_desc *desc, message *m) {
    const page_desc *p = &desc->pages[desc->page];
    *t = (tlb){.desc = desc, .page_shift = (uint32_t)__builtin_ctzll(p->bytes), .last_page = UINT64_MAX};
    TRY(init_array(&t->first, &t->shape[0], "TLB 1", p->first_entries, p->first_ways, m));
    t->has_second = p->second_entries > 0;
    if (t->has_second)
        TRY(init_array(&t->second, &t->shape[1], "TLB 2", p->second_entries, p->second_ways, m));
    for (int i = 0; i < MACHINE_WALK_LEVELS - 1; i++)
        if (desc->walk_cache[i])
            TRY(init_array(&t->walk[i], &t->shape[2 + i], "walk cache", desc->walk_cache[i], desc->walk_cache[i], m));
    return OK;
}

void tlb_free(tlb *t) {
    cache_free(&t->first);
    cache_free(&t->second);
    for (int i = 0; i < MACHINE_WALK_LEVELS - 1; i++)
        cache_free(&t->walk[i]);
}

static void enter(cache *c, uint64_t number) {
    const int64_t line = (int64_t)number;
    if (cache_find(c, line) == CACHE_NONE)
        cache_replace(c, cache_victim(c, line), line);
}

tlb_place tlb_look(tlb *t, uint64_t page) {
    if (cache_find(&t->first, (int64_t)page) != CACHE_NONE)
        return TLB_FIRST;
    if (!t->has_second || cache_find(&t->second, (int64_t)page) == CACHE_NONE)
        return TLB_ABSENT;
    enter(&t->first, page);
    return TLB_SECOND;
}

void tlb_fill(tlb *t, uint64_t page) {
    enter(&t->first, page);
    if (t->has_second)
        enter(&t->second, page);
}

uint32_t tlb_walk(tlb *t, uint64_t page, uint64_t read[TLB_READS_MAX]) {
    const uint64_t address = page << t->page_shift;
    const uint32_t leaf = (t->page_shift - SMALL_SHIFT) / NODE_BITS;
    const uint32_t above = MACHINE_WALK_LEVELS - 1 - (leaf < MACHINE_WALK_LEVELS - 1 ? leaf : MACHINE_WALK_LEVELS - 1);
    uint32_t depth = 0; /* levels above the leaf that have to be read */
    for (; depth < above; depth++) {
        cache *known = &t->walk[depth];
        if (!known->desc)
            continue;
        /* Keeps what one entry of that level covers: everything below it. */
        const uint64_t covered = address >> (t->page_shift + NODE_BITS * (depth + 1));
        if (cache_find(known, (int64_t)covered) != CACHE_NONE)
            break;
    }
    for (uint32_t i = 0; i < depth; i++)
        if (t->walk[i].desc)
            enter(&t->walk[i], address >> (t->page_shift + NODE_BITS * (i + 1)));
    uint32_t n = 0;
    for (uint32_t i = depth + 1; i-- > 0;) {
        const uint64_t covered = address >> (t->page_shift + NODE_BITS * i);
        read[n++] = table_base + ((uint64_t)i << 56) + covered * ENTRY_BYTES;
        if (t->desc->reads_per_level == 2) {
            /* The host's entry of the frame that this one points to: frames of scattered pages lie anywhere. */
            const uint64_t frame = i ? covered : tlb_physical(t, address) >> t->page_shift;
            read[n++] = table_base + (UINT64_C(1) << 59) + ((uint64_t)i << 56) + frame * ENTRY_BYTES;
        }
    }
    return n;
}

uint64_t tlb_physical(tlb *t, uint64_t address) {
    if (!t->desc->scattered || t->page_shift >= ADDRESS_BITS)
        return address;
    const uint64_t page = tlb_page(t, address);
    if (page != t->last_page) {
        const uint64_t pages = UINT64_C(1) << (ADDRESS_BITS - t->page_shift);
        t->last_page = page;
        t->last_frame = (page & ~(pages - 1)) | ir_permuted(frame_seed, (int64_t)(page & (pages - 1)), pages);
    }
    return t->last_frame << t->page_shift | (address & ((UINT64_C(1) << t->page_shift) - 1));
}

/* tlb.h - one core's translation of addresses: two TLBs, the caches of a page walk, and where pages lie.
 *
 * The page table is x86-64's tree of 512 entries of 8 B a node. A page of 4 KiB is four reads away from the root, one
 * of 2 MiB three. The walk caches keep the nodes of the levels above the leaf (Intel SDM volume 3, 4.10.3,
 * paging-structure caches), so that most walks read the leaf entry only; where tables lie in a host's virtual memory
 * (nested paging) each entry read is followed by one of the host's. State only: the owner does the reads and keeps the
 * time.
 *
 * Pages are contiguous (physical = virtual) or scattered: then a frame is a pseudo-random permutation of the page
 * number, in closed form, as on a machine that has been up for a while.
 */
#ifndef COALIGN_SIM_TLB_H
#define COALIGN_SIM_TLB_H

#include "sim/cache.h"

enum { TLB_READS_MAX = 2 * MACHINE_WALK_LEVELS };

typedef enum tlb_place { TLB_FIRST, TLB_SECOND, TLB_ABSENT } tlb_place;

typedef struct tlb {
    const tlb_desc *desc;
    uint32_t page_shift;
    bool has_second;
    cache_level shape[2 + MACHINE_WALK_LEVELS - 1]; /* what cache_init wants to know */
    cache first, second, walk[MACHINE_WALK_LEVELS - 1];
    uint64_t last_page, last_frame; /* the translation done last */
} tlb;

status tlb_init(tlb *t, const tlb_desc *desc, message *m);
void tlb_free(tlb *t);

static inline uint64_t tlb_page(const tlb *t, uint64_t address) {
    return address >> t->page_shift;
}

/* Where the page's translation is. One that was in the second TLB is in the first from now on. */
tlb_place tlb_look(tlb *t, uint64_t page);
/* A walk has ended: both TLBs have the page. */
void tlb_fill(tlb *t, uint64_t page);
/* The physical addresses of the entries that a walk reads, one after the other; the walk caches learn them. */
uint32_t tlb_walk(tlb *t, uint64_t page, uint64_t read[TLB_READS_MAX]);
uint64_t tlb_physical(tlb *t, uint64_t address);

#endif

/* occupancy.h - how many blocks of a kernel a core holds at once, and what keeps it from holding more. */
#ifndef COALIGN_KERNEL_OCCUPANCY_H
#define COALIGN_KERNEL_OCCUPANCY_H

#include "kernel/ir.h"
#include "machine/machine.h"

/* X(enumerator, name in reports), in the order in which a tie is named */
#define RESOURCE_LIST(X)                                                                                               \
    X(RESOURCE_WARPS, "warps")                                                                                         \
    X(RESOURCE_BLOCKS, "blocks")                                                                                       \
    X(RESOURCE_REGISTERS, "registers")                                                                                 \
    X(RESOURCE_SHARED, "shared memory")

typedef enum resource {
#define X(id, name) id,
    RESOURCE_LIST(X)
#undef X
        RESOURCE_COUNT
} resource;

typedef struct occupancy_result {
    uint32_t blocks; /* resident blocks of a core */
    uint32_t warps;  /* and their warps */
    uint32_t warps_per_block;
    uint32_t registers_per_thread;      /* as allocated: rounded up to the granule */
    uint32_t shared_bytes_per_block;    /* as allocated */
    uint32_t blocks_by[RESOURCE_COUNT]; /* blocks that this resource alone would allow; UINT32_MAX = no limit */
    resource limit;                     /* the scarcest */
} occupancy_result;

const char *resource_name(resource r);

/* Each scheduler has its share of the registers, and holds as many whole warps as fit there (NVIDIA's calculator rounds
 * the warps down to a multiple of the schedulers, which is the same); a block's warps may be spread over them in any
 * way. ERR_INPUT naming the resource when not even one block fits. */
status occupancy(const machine *mach, const kernel *k, occupancy_result *result, message *m);

#endif

#include "kernel/occupancy.h"

#include "base/num.h"

const char *resource_name(resource r) {
    static const char *const names[] = {
#define X(id, name) name,
        RESOURCE_LIST(X)
#undef X
    };
    return names[r];
}

static uint64_t round_up(uint64_t value, uint32_t granule) {
    return granule > 1 ? ceil_div(value, granule) * granule : value;
}

static status too_much(const machine *mach, const kernel *k, const char *what, uint64_t need, uint64_t have,
                       message *m) {
    return fail(m, ERR_INPUT, "Kernel %s does not fit %s: a block needs %llu %s, a core has %llu.", k->name, mach->name,
                (unsigned long long)need, what, (unsigned long long)have);
}

status occupancy(const machine *mach, const kernel *k, occupancy_result *result, message *m) {
    const core_desc *core = &mach->core;
    occupancy_result r = {.limit = RESOURCE_WARPS};
    if (k->block_threads < 1 || k->block_threads > core->max_block_threads)
        return too_much(mach, k, "threads", k->block_threads, core->max_block_threads, m);
    if (k->registers > core->max_thread_registers)
        return fail(m, ERR_INPUT, "Kernel %s does not fit %s: a thread needs %u registers and can have %u.", k->name,
                    mach->name, k->registers, core->max_thread_registers);
    r.warps_per_block = (uint32_t)ceil_div(k->block_threads, core->warp_width);
    uint64_t per_thread = round_up(k->registers, core->register_granule);
    uint64_t per_warp = per_thread * core->warp_width;
    uint64_t warps_by_registers =
        per_warp ? core->registers / core->schedulers / per_warp * core->schedulers : core->max_warps;
    uint64_t shared = round_up(k->shared_bytes, core->shared_granule_bytes);
    r.registers_per_thread = (uint32_t)per_thread;
    r.shared_bytes_per_block = (uint32_t)shared;
    r.blocks_by[RESOURCE_WARPS] = core->max_warps / r.warps_per_block;
    r.blocks_by[RESOURCE_BLOCKS] = core->max_blocks;
    r.blocks_by[RESOURCE_REGISTERS] = per_warp ? (uint32_t)(warps_by_registers / r.warps_per_block) : UINT32_MAX;
    r.blocks_by[RESOURCE_SHARED] = shared ? (uint32_t)(core->shared_bytes / shared) : UINT32_MAX;
    for (int i = 1; i < RESOURCE_COUNT; i++)
        if (r.blocks_by[i] < r.blocks_by[r.limit])
            r.limit = (resource)i;
    r.blocks = r.blocks_by[r.limit];
    r.warps = r.blocks * r.warps_per_block;
    *result = r;
    if (r.blocks > 0)
        return OK;
    switch (r.limit) {
    case RESOURCE_REGISTERS:
        return too_much(mach, k, "registers", per_warp * r.warps_per_block, core->registers, m);
    case RESOURCE_SHARED:
        return too_much(mach, k, "bytes of shared memory", shared, core->shared_bytes, m);
    case RESOURCE_BLOCKS:
        return too_much(mach, k, "block slots", 1, core->max_blocks, m);
    default:
        return too_much(mach, k, "warps", r.warps_per_block, core->max_warps, m);
    }
}

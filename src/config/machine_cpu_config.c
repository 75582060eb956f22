/* machine_cpu_config.c - the groups of a CPU's description, and that they do not contradict each other. */
#include "base/num.h"
#include "config/machine_read.h"

#include <inttypes.h>
#include <string.h>

static const char *const scope_names[] = {"core", "device", NULL};
static const cache_scope scopes[] = {SCOPE_CORE, SCOPE_DEVICE};
static const char *const holds_names[] = {"free", "inclusive", "exclusive", "mostly_exclusive", NULL};

static status read_ports(const loader *l, const config_setting_t *group) {
    field fields[PIPE_COUNT];
    for (int p = 0; p < PIPE_COUNT; p++)
        fields[p] = (field){.key = pipe_name((pipe_id)p),
                            .kind = FIELD_COUNT,
                            .optional = true,
                            .offset = (size_t)p * sizeof(uint32_t),
                            .min = 1,
                            .max = 64};
    return read_fields(l->c, group, fields, PIPE_COUNT, l->mach->cpu.ports, l->m);
}

static status read_core(const loader *l, const config_setting_t *group) {
    typedef struct raw_core {
        uint32_t count, issue_width;
        cpu_desc cpu;
    } raw_core;
#define CPU(member, low, high)                                                                                         \
    { .key = #member, .kind = FIELD_COUNT, .offset = offsetof(raw_core, cpu.member), .min = low, .max = high }
    static const field fields[] = {
        COUNT(raw_core, count, 1, MACHINE_CPU_CORES_MAX),
        COUNT(raw_core, issue_width, 1, 64),
        CPU(window, 1, 16384),
        CPU(load_queue, 1, 16384),
        CPU(store_buffer, 1, 16384),
        CPU(fill_buffers, 1, 64),
        {.key = "simd_bytes", .kind = FIELD_BYTES, .offset = offsetof(raw_core, cpu.simd_bytes), .min = 1, .max = 64},
        CPU(load_ports, 1, 64),
        CPU(store_ports, 1, 64),
        CPU(mispredict_cycles, 0, 1000),
        CPU(predicted_trips, 1, 1 << 20),
        GROUP("ports"),
    };
#undef CPU
    raw_core raw = {.count = 0};
    TRY(read_fields(l->c, group, fields, LENGTH(fields), &raw, l->m));
    l->mach->cpu = raw.cpu;
    l->mach->core = (core_desc){.count = raw.count,
                                .per_cluster = 1,
                                .warp_width = 1,
                                .schedulers = 1,
                                .issue_width = raw.issue_width,
                                .max_warps = 1,
                                .max_blocks = 1,
                                .max_block_threads = 1};
    return read_ports(l, config_member(group, "ports"));
}

/* Classes that kernels for CPUs do not use. */
static bool gpu_class(op_class c) {
    return c == OP_SCALAR || c == OP_CONST_LOAD || c == OP_BARRIER || c == OP_SHARED_LOAD || c == OP_SHARED_STORE ||
           c == OP_EXIT;
}

static status read_page(const loader *l, const config_setting_t *group, page_desc *page) {
    static const field fields[] = {
        {.key = "size", .kind = FIELD_SIZE, .offset = offsetof(page_desc, bytes), .min = 4096, .max = 0x1p40},
        COUNT(page_desc, first_entries, 1, 1 << 20),
        COUNT(page_desc, first_ways, 1, 1024),
        COUNT(page_desc, second_entries, 0, 1 << 20),
        COUNT(page_desc, second_ways, 1, 1024),
    };
    return read_fields(l->c, group, fields, LENGTH(fields), page, l->m);
}

static status read_pages(const loader *l, const config_setting_t *list, uint64_t wanted) {
    tlb_desc *t = &l->mach->cpu.tlb;
    const int n = config_setting_length(list);
    if (n < 1 || n > MACHINE_PAGES_MAX)
        return config_fail(l->c, list, l->m, "'pages' has %d entries; 1 .. %d page sizes are possible", n,
                           MACHINE_PAGES_MAX);
    t->page_count = (uint32_t)n;
    t->page = t->page_count;
    for (int i = 0; i < n; i++) {
        TRY(read_page(l, config_setting_get_elem(list, (unsigned)i), &t->pages[i]));
        if (t->pages[i].bytes == wanted)
            t->page = (uint32_t)i;
    }
    char size[32];
    if (t->page == t->page_count)
        return config_fail(l->c, config_member(config_member(config_root(l->c), "tlb"), "page"), l->m,
                           "'pages' describes no pages of %s", format_bytes(size, sizeof size, wanted));
    return OK;
}

static status read_walk_cache(const loader *l, const config_setting_t *list) {
    static const field entries = {.kind = FIELD_COUNT, .min = 0, .max = 65536};
    const int n = config_setting_length(list);
    if (n != MACHINE_WALK_LEVELS - 1)
        return config_fail(l->c, list, l->m, "'walk_cache' has %d entries; it needs %d, of the levels above the last",
                           n, MACHINE_WALK_LEVELS - 1);
    for (int i = 0; i < n; i++)
        TRY(read_value(l->c, config_setting_get_elem(list, (unsigned)i), &entries, &l->mach->cpu.tlb.walk_cache[i],
                       l->m));
    return OK;
}

static status read_tlb(const loader *l, const config_setting_t *group) {
    typedef struct raw_tlb {
        tlb_desc t;
        uint64_t page;
    } raw_tlb;
    static const field fields[] = {
        {.key = "second_cycles",
         .kind = FIELD_COUNT,
         .offset = offsetof(raw_tlb, t.second_cycles),
         .min = 0,
         .max = 1000},
        {.key = "walkers", .kind = FIELD_COUNT, .offset = offsetof(raw_tlb, t.walkers), .min = 1, .max = 64},
        {.key = "reads_per_level",
         .kind = FIELD_COUNT,
         .offset = offsetof(raw_tlb, t.reads_per_level),
         .min = 1,
         .max = 2},
        {.key = "scattered", .kind = FIELD_FLAG, .offset = offsetof(raw_tlb, t.scattered)},
        {.key = "page", .kind = FIELD_SIZE, .offset = offsetof(raw_tlb, page), .min = 4096, .max = 0x1p40},
        LIST("walk_cache"),
        LIST("pages"),
    };
    raw_tlb raw = {.page = 0};
    TRY(read_fields(l->c, group, fields, LENGTH(fields), &raw, l->m));
    l->mach->cpu.tlb = raw.t;
    TRY(read_walk_cache(l, config_member(group, "walk_cache")));
    return read_pages(l, config_member(group, "pages"), raw.page);
}

static status read_prefetch(const loader *l, const config_setting_t *group) {
    static const field fields[] = {
        BYTES(prefetch_desc, boundary_bytes, 64, 1 << 30),
        FLAG(prefetch_desc, next_line),
        COUNT(prefetch_desc, stride_entries, 0, 4096),
        COUNT(prefetch_desc, stride_distance, 0, 64),
        FLAG(prefetch_desc, adjacent_line),
        COUNT(prefetch_desc, streams, 0, 4096),
        COUNT(prefetch_desc, stream_distance, 0, 64),
        COUNT(prefetch_desc, stream_degree, 0, 8),
    };
    return read_fields(l->c, group, fields, LENGTH(fields), &l->mach->cpu.prefetch, l->m);
}

static status read_level(const loader *l, const config_setting_t *group, cache_level *level) {
    typedef struct raw_level {
        char name[16];
        int scope, replace, holds;
        uint64_t size;
        uint32_t ways, line_bytes, slices, request_cycles, mshrs;
        alternatives alt;
    } raw_level;
    static const field fields[] = {
        TEXT(raw_level, name),
        CHOICE(raw_level, scope, scope_names),
        {.key = "size", .kind = FIELD_SIZE, .offset = offsetof(raw_level, size), .min = 1, .max = 0x1p40},
        COUNT(raw_level, ways, 1, 1024),
        BYTES(raw_level, line_bytes, 1, MACHINE_LINE_MAX),
        COUNT(raw_level, slices, 1, 1024),
        CHOICE(raw_level, replace, machine_replacement_names),
        CHOICE(raw_level, holds, holds_names),
        LIST("set_hash"),
        {.key = "bytes_per_cycle",
         .kind = FIELD_NUMBER,
         .offset = offsetof(raw_level, alt.bytes_per_cycle),
         .min = 0.001,
         .max = 1e6},
        COUNT(raw_level, request_cycles, 1, 1000),
        {.key = "latency_cycles",
         .kind = FIELD_NUMBER,
         .optional = true,
         .offset = offsetof(raw_level, alt.latency_cycles),
         .min = 1,
         .max = 1e6},
        {.key = "latency_ns",
         .kind = FIELD_NUMBER,
         .optional = true,
         .offset = offsetof(raw_level, alt.latency_ns),
         .min = 0.001,
         .max = 1e6},
        COUNT(raw_level, mshrs, 1, 65536),
    };
    raw_level raw = {.alt = machine_no_alternatives};
    TRY(read_fields(l->c, group, fields, LENGTH(fields), &raw, l->m));
    *level = (cache_level){.scope = scopes[raw.scope],
                           .size_bytes = raw.size,
                           .ways = raw.ways,
                           .line_bytes = raw.line_bytes,
                           .sector_bytes = raw.line_bytes,
                           .slices = raw.slices,
                           .replace = (replacement)raw.replace,
                           .write = WRITE_BACK,
                           .partial = PARTIAL_FILL,
                           .bytes_per_cycle = raw.alt.bytes_per_cycle,
                           .request_cycles = raw.request_cycles,
                           .mshrs = raw.mshrs,
                           .holds = (inclusion)raw.holds};
    memcpy(level->name, raw.name, sizeof level->name);
    TRY(machine_read_hash(l, group, "set_hash", &level->set_hash));
    return machine_read_latency(l, group, &raw.alt, &level->latency_cycles);
}

static status read_levels(const loader *l, const config_setting_t *list) {
    const int n = config_setting_length(list);
    if (n < 1 || n > MACHINE_PRIVATE_MAX + 1)
        return config_fail(l->c, list, l->m, "'levels' has %d entries; a CPU has 1 .. %d cache levels", n,
                           MACHINE_PRIVATE_MAX + 1);
    for (int i = 0; i < n; i++)
        TRY(read_level(l, config_setting_get_elem(list, (unsigned)i), &l->mach->level[i]));
    l->mach->level_count = (uint32_t)n;
    return OK;
}

static status read_fabric(const loader *l, const config_setting_t *group) {
    static const field fields[] = {
        NUMBER(fabric_desc, request_bytes_per_cycle, 0.001, 1e6),
        NUMBER(fabric_desc, response_bytes_per_cycle, 0.001, 1e6),
    };
    return read_fields(l->c, group, fields, LENGTH(fields), &l->mach->fabric, l->m);
}

status machine_read_cpu(const loader *l) {
    const config_setting_t *root = config_root(l->c);
    TRY(read_core(l, config_member(root, "core")));
    TRY(machine_read_ops(l, config_member(root, "ops"), gpu_class));
    TRY(read_tlb(l, config_member(root, "tlb")));
    TRY(read_prefetch(l, config_member(root, "prefetch")));
    TRY(read_levels(l, config_member(root, "levels")));
    TRY(read_fabric(l, config_member(root, "fabric")));
    TRY(machine_read_memory(l, config_member(root, "memory")));
    return machine_read_dram(l, config_member(root, "dram"));
}

/* ---- checks --------------------------------------------------------------------------------------------------------
 */

static bool power_of_two(uint64_t n) {
    return n != 0 && (n & (n - 1)) == 0;
}

static status check_core(const machine *mach, message *m) {
    const cpu_desc *cpu = &mach->cpu;
    if (!power_of_two(cpu->simd_bytes))
        return fail(m, ERR_INPUT, "accesses of up to %" PRIu32 " B: the width must be a power of two", cpu->simd_bytes);
    if (mach->level_count && cpu->simd_bytes > mach->level[0].line_bytes)
        return fail(m, ERR_INPUT, "accesses of %" PRIu32 " B do not fit a line of %" PRIu32 " B", cpu->simd_bytes,
                    mach->level[0].line_bytes);
    if (cpu->load_queue > cpu->window || cpu->store_buffer > cpu->window * 4)
        return fail(m, ERR_INPUT,
                    "a window of %" PRIu32 " instructions cannot use %" PRIu32 " loads and %" PRIu32 " stores",
                    cpu->window, cpu->load_queue, cpu->store_buffer);
    for (int i = 0; i < OP_CLASS_COUNT; i++) {
        const op_timing *t = &mach->core.op[i];
        if (t->latency_cycles && t->pipe != PIPE_MEMORY && !cpu->ports[t->pipe])
            return fail(m, ERR_INPUT, "class '%s' uses pipe '%s', for which 'ports' gives no number",
                        op_class_name((op_class)i), pipe_name(t->pipe));
    }
    return OK;
}

static status check_tlb(const machine *mach, message *m) {
    const tlb_desc *t = &mach->cpu.tlb;
    for (uint32_t i = 0; i < t->page_count; i++) {
        const page_desc *p = &t->pages[i];
        char size[32];
        format_bytes(size, sizeof size, p->bytes);
        if (!power_of_two(p->bytes) || p->first_entries % p->first_ways || p->second_entries % p->second_ways)
            return fail(m, ERR_INPUT,
                        "pages of %s: the size must be a power of two, and entries a whole number of sets of ways",
                        size);
    }
    return OK;
}

static status check_level(const machine *mach, uint32_t i, message *m) {
    const cache_level *level = &mach->level[i], *first = &mach->level[0];
    if (!power_of_two(level->line_bytes) || level->line_bytes < 32 || level->line_bytes > MACHINE_LINE_MAX)
        return fail(m, ERR_INPUT, "level '%s': a line of %" PRIu32 " B; it must be a power of two from 32 to %d",
                    level->name, level->line_bytes, MACHINE_LINE_MAX);
    if (level->line_bytes != first->line_bytes)
        return fail(m, ERR_INPUT,
                    "level '%s' has lines of %" PRIu32 " B, level '%s' of %" PRIu32
                    " B: all levels of a CPU have the same",
                    level->name, level->line_bytes, first->name, first->line_bytes);
    if (level->scope == SCOPE_DEVICE ? level->slices % mach->channels != 0 : level->slices != 1)
        return fail(m, ERR_INPUT,
                    level->scope == SCOPE_DEVICE
                        ? "level '%s' has %" PRIu32 " slices; it needs a multiple of the %" PRIu32 " memory channels"
                        : "level '%s' has %" PRIu32 " slices; a cache of a core has 1 (a shared one is spread over "
                          "the %" PRIu32 " channels)",
                    level->name, level->slices, mach->channels);
    TRY(machine_check_level_size(level, m));
    const bool last = i + 1 == mach->level_count;
    if (level->scope == SCOPE_DEVICE && (!last || i == 0))
        return fail(m, ERR_INPUT, "level '%s' is shared: only the last of several levels can be", level->name);
    if (level->scope == SCOPE_CORE && i >= MACHINE_PRIVATE_MAX)
        return fail(m, ERR_INPUT, "level '%s' is the third of a core's own; the engine follows %d", level->name,
                    MACHINE_PRIVATE_MAX);
    if (level->scope == SCOPE_CORE && level->mshrs > 64)
        return fail(m, ERR_INPUT, "level '%s' follows %" PRIu32 " lines at once; the engine follows 64", level->name,
                    level->mshrs);
    if (i == 0 && level->holds != INCLUSION_FREE)
        return fail(m, ERR_INPUT, "level '%s' is the nearest to the core: holds = \"free\"", level->name);
    if (level->scope == SCOPE_CORE && level->holds == INCLUSION_MOSTLY)
        return fail(m, ERR_INPUT, "level '%s' belongs to one core: it cannot be 'mostly_exclusive'", level->name);
    if (i > 0 && level->latency_cycles <= mach->level[i - 1].latency_cycles)
        return fail(m, ERR_INPUT,
                    "level '%s' answers in %" PRIu32 " cycles, level '%s', which is nearer to the core, in %" PRIu32
                    ": latencies are load-to-use and must grow outwards",
                    level->name, level->latency_cycles, mach->level[i - 1].name, mach->level[i - 1].latency_cycles);
    return OK;
}

status machine_check_cpu(const machine *mach, machine_part *part, message *m) {
    *part = (machine_part){"core", 0};
    TRY(check_core(mach, m));
    *part = (machine_part){"tlb", 0};
    TRY(check_tlb(mach, m));
    *part = (machine_part){"prefetch", 0};
    if (!power_of_two(mach->cpu.prefetch.boundary_bytes) ||
        mach->cpu.prefetch.boundary_bytes < mach->level[0].line_bytes)
        return fail(m, ERR_INPUT, "prefetches stay within %" PRIu32 " B: it must be a power of two, at least a line",
                    mach->cpu.prefetch.boundary_bytes);
    for (uint32_t i = 0; i < mach->level_count; i++) {
        *part = (machine_part){"levels", i};
        TRY(check_level(mach, i, m));
    }
    *part = (machine_part){"memory", 0};
    TRY(machine_check_memory(mach, m));
    *part = (machine_part){"dram", 0};
    return machine_check_dram(mach, m);
}

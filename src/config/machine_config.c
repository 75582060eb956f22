#include "config/machine_config.h"

#include "base/mem.h"
#include "base/num.h"
#include "config/machine_read.h"
#include "config/machine_search.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(coalesce_rule) == sizeof(int) && sizeof(cache_scope) == sizeof(int),
               "FIELD_CHOICE writes an int");

#define X(id, name) name,
static const char *const rule_names[] = {COALESCE_LIST(X) NULL};
static const char *const pipe_names[] = {PIPE_LIST(X) NULL};
#undef X
static const char *const kind_names[] = {"gpu", "cpu", NULL};
static const char *const policy_names[] = {"gto", "lrr", NULL};
static const char *const scope_names[] = {"core", "cluster", "device", NULL};
const char *const machine_replacement_names[] = {"lru", "fifo", "random", NULL};
static const char *const write_names[] = {"through", "back", NULL};
static const char *const partial_names[] = {"mask", "merge", "fill", NULL};

/* Exactly one of two keys. */
status machine_read_one_of(const loader *l, const config_setting_t *group, const char *key_a, double a,
                           const char *key_b, double b) {
    char label[128];
    config_label(label, sizeof label, group);
    if (isnan(a) && isnan(b))
        return config_fail(l->c, group, l->m, "%s lacks '%s' or '%s'", label, key_a, key_b);
    if (!isnan(a) && !isnan(b))
        return config_fail(l->c, config_member(group, key_b), l->m, "%s has both '%s' and '%s': give one", label, key_a,
                           key_b);
    return OK;
}

status machine_read_latency(const loader *l, const config_setting_t *group, const alternatives *a, uint32_t *cycles) {
    TRY(machine_read_one_of(l, group, "latency_cycles", a->latency_cycles, "latency_ns", a->latency_ns));
    double value = isnan(a->latency_ns) ? a->latency_cycles : a->latency_ns * l->mach->clock_hz * 1e-9;
    if (value != value || value < 1 || value > 1e6)
        return config_fail(l->c, group, l->m, "a latency of %.12g cycles is outside 1 .. 1000000", value);
    *cycles = (uint32_t)lround(value);
    return OK;
}

/* A list of bit shifts, []: none. */
status machine_read_hash(const loader *l, const config_setting_t *group, const char *key, address_hash *hash) {
    const config_setting_t *list = config_member(group, key);
    static const field shift = {.kind = FIELD_COUNT, .min = 1, .max = 63};
    int n = config_setting_length(list);
    if (n > MACHINE_SHIFTS_MAX)
        return config_fail(l->c, list, l->m, "'%s' has %d shifts; at most %d are possible", key, n, MACHINE_SHIFTS_MAX);
    hash->count = (uint32_t)n;
    for (int i = 0; i < n; i++) {
        uint32_t value = 0;
        TRY(read_value(l->c, config_setting_get_elem(list, (unsigned)i), &shift, &value, l->m));
        hash->shift[i] = (uint8_t)value;
    }
    return OK;
}

static status read_core(const loader *l, const config_setting_t *group) {
    static const field fields[] = {
        COUNT(core_desc, count, 1, MACHINE_CORES_MAX),
        COUNT(core_desc, per_cluster, 1, MACHINE_CORES_MAX),
        COUNT(core_desc, warp_width, 1, 64),
        COUNT(core_desc, schedulers, 1, MACHINE_SCHEDULERS_MAX),
        COUNT(core_desc, issue_width, 1, PIPE_COUNT),
        CHOICE(core_desc, policy, policy_names),
        COUNT(core_desc, max_warps, 1, MACHINE_WARPS_MAX),
        COUNT(core_desc, max_blocks, 1, MACHINE_WARPS_MAX),
        COUNT(core_desc, max_block_threads, 1, 65536),
        COUNT(core_desc, registers, 1, 1 << 24),
        COUNT(core_desc, register_granule, 1, 256),
        COUNT(core_desc, max_thread_registers, 1, 4096),
        BYTES(core_desc, shared_bytes, 0, 1 << 30),
        BYTES(core_desc, shared_granule_bytes, 1, 1 << 20),
        COUNT(core_desc, shared_banks, 1, 128),
        BYTES(core_desc, shared_bank_bytes, 1, 16),
        COUNT(core_desc, shared_latency_cycles, 1, 100000),
        COUNT(core_desc, block_launch_cycles, 0, 1000000),
        COUNT(core_desc, dispatch_blocks_per_kilocycle, 1, 1000000),
    };
    return read_fields(l->c, group, fields, LENGTH(fields), &l->mach->core, l->m);
}

status machine_read_ops(const loader *l, const config_setting_t *group, bool (*optional)(op_class c)) {
    static const field fields[] = {
        CHOICE(op_timing, pipe, pipe_names),
        COUNT(op_timing, latency_cycles, 1, 100000),
        COUNT(op_timing, interval_cycles, 1, 100000),
    };
    field classes[OP_CLASS_COUNT];
    for (int i = 0; i < OP_CLASS_COUNT; i++) {
        classes[i] = (field)GROUP(op_class_name((op_class)i));
        classes[i].optional = optional && optional((op_class)i);
    }
    TRY(read_fields(l->c, group, classes, OP_CLASS_COUNT, l->mach, l->m));
    for (int i = 0; i < OP_CLASS_COUNT; i++) {
        const config_setting_t *one = config_member(group, classes[i].key);
        if (one)
            TRY(read_fields(l->c, one, fields, LENGTH(fields), &l->mach->core.op[i], l->m));
    }
    return OK;
}

static status read_lsu(const loader *l, const config_setting_t *group) {
    static const field fields[] = {
        CHOICE(lsu_desc, rule, rule_names),         COUNT(lsu_desc, queue, 1, 65536),
        COUNT(lsu_desc, tag_lines_per_pass, 1, 64), COUNT(lsu_desc, tag_banks, 1, 64),
        COUNT(lsu_desc, data_banks, 1, 128),        BYTES(lsu_desc, data_bank_bytes, 1, 64),
        COUNT(lsu_desc, bytes_per_cycle, 1, 4096),  COUNT(lsu_desc, store_credits, 1, 65536),
    };
    return read_fields(l->c, group, fields, LENGTH(fields), &l->mach->lsu, l->m);
}

/* How many caches there are of this level, for bandwidths of the whole device. */
static uint32_t level_instances(const machine *mach, const cache_level *level) {
    if (level->scope == SCOPE_CORE)
        return mach->core.count;
    if (level->scope == SCOPE_CLUSTER)
        return (uint32_t)ceil_div(mach->core.count, mach->core.per_cluster);
    return level->slices;
}

static status read_level(const loader *l, const config_setting_t *group, cache_level *level) {
    typedef struct raw_level {
        cache_level level;
        alternatives alt;
    } raw_level;
    static const field fields[] = {
        TEXT(raw_level, level.name),
        CHOICE(raw_level, level.scope, scope_names),
        {.key = "size", .kind = FIELD_SIZE, .offset = offsetof(raw_level, level.size_bytes), .min = 1, .max = 0x1p40},
        COUNT(raw_level, level.ways, 1, 1024),
        BYTES(raw_level, level.line_bytes, 1, MACHINE_LINE_MAX),
        BYTES(raw_level, level.sector_bytes, 1, MACHINE_LINE_MAX),
        COUNT(raw_level, level.slices, 1, 1024),
        CHOICE(raw_level, level.replace, machine_replacement_names),
        CHOICE(raw_level, level.write, write_names),
        CHOICE(raw_level, level.partial, partial_names),
        LIST("set_hash"),
        OPTIONAL_NUMBER(raw_level, alt.bytes_per_cycle, 0.001, 1e6),
        OPTIONAL_NUMBER(raw_level, alt.bandwidth_GBps, 0.001, 1e9),
        COUNT(raw_level, level.request_cycles, 1, 1000),
        OPTIONAL_NUMBER(raw_level, alt.latency_cycles, 1, 1e6),
        OPTIONAL_NUMBER(raw_level, alt.latency_ns, 0.001, 1e6),
        COUNT(raw_level, level.mshrs, 1, 65536),
        COUNT(raw_level, level.mshr_merges, 0, 65536),
    };
    field named[LENGTH(fields)];
    for (size_t i = 0; i < LENGTH(fields); i++) { /* "level.ways" -> "ways" */
        const char *dot = strchr(fields[i].key, '.');
        named[i] = fields[i];
        named[i].key = dot ? dot + 1 : fields[i].key;
    }
    raw_level raw = {.alt = machine_no_alternatives};
    TRY(read_fields(l->c, group, named, LENGTH(named), &raw, l->m));
    TRY(machine_read_hash(l, group, "set_hash", &raw.level.set_hash));
    TRY(machine_read_latency(l, group, &raw.alt, &raw.level.latency_cycles));
    TRY(machine_read_one_of(l, group, "bytes_per_cycle", raw.alt.bytes_per_cycle, "bandwidth_GBps",
                            raw.alt.bandwidth_GBps));
    raw.level.bytes_per_cycle = isnan(raw.alt.bandwidth_GBps) ? raw.alt.bytes_per_cycle
                                                              : raw.alt.bandwidth_GBps * 1e9 / l->mach->clock_hz /
                                                                    level_instances(l->mach, &raw.level);
    *level = raw.level;
    return OK;
}

static status read_levels(const loader *l, const config_setting_t *list) {
    int n = config_setting_length(list);
    if (n > MACHINE_LEVELS_MAX)
        return config_fail(l->c, list, l->m, "'levels' has %d entries; a machine has 0 .. %d cache levels", n,
                           MACHINE_LEVELS_MAX);
    for (int i = 0; i < n; i++)
        TRY(read_level(l, config_setting_get_elem(list, (unsigned)i), &l->mach->level[i]));
    l->mach->level_count = (uint32_t)n;
    return OK;
}

static status read_fabric(const loader *l, const config_setting_t *group) {
    static const field fields[] = {
        NUMBER(fabric_desc, request_bytes_per_cycle, 0.001, 1e6),
        NUMBER(fabric_desc, response_bytes_per_cycle, 0.001, 1e6),
        COUNT(fabric_desc, slice_queue, 0, 1 << 20),
    };
    return read_fields(l->c, group, fields, LENGTH(fields), &l->mach->fabric, l->m);
}

status machine_read_memory(const loader *l, const config_setting_t *group) {
    static const field fields[] = {
        COUNT(machine, channels, 1, MACHINE_CHANNELS_MAX),
        BYTES(machine, interleave_bytes, 1, 1 << 20),
        LIST("channel_hash"),
    };
    TRY(read_fields(l->c, group, fields, LENGTH(fields), l->mach, l->m));
    return machine_read_hash(l, group, "channel_hash", &l->mach->channel_hash);
}

status machine_read_dram(const loader *l, const config_setting_t *group) {
    typedef struct raw_dram {
        dram_desc d;
        alternatives alt;
    } raw_dram;
#define TIME(member, low)                                                                                              \
    { .key = #member, .kind = FIELD_NUMBER, .offset = offsetof(raw_dram, d.member), .min = low, .max = 1e6 }
    static const field fields[] = {
        {.key = "bandwidth_GBps",
         .kind = FIELD_NUMBER,
         .offset = offsetof(raw_dram, alt.bandwidth_GBps),
         .min = 0.001,
         .max = 1e9},
        {.key = "latency_cycles",
         .kind = FIELD_NUMBER,
         .optional = true,
         .offset = offsetof(raw_dram, alt.latency_cycles),
         .min = 1,
         .max = 1e6},
        {.key = "latency_ns",
         .kind = FIELD_NUMBER,
         .optional = true,
         .offset = offsetof(raw_dram, alt.latency_ns),
         .min = 0.001,
         .max = 1e6},
        {.key = "burst_bytes", .kind = FIELD_BYTES, .offset = offsetof(raw_dram, d.burst_bytes), .min = 1, .max = 4096},
        {.key = "banks", .kind = FIELD_COUNT, .offset = offsetof(raw_dram, d.banks), .min = 1, .max = 4096},
        {.key = "row_bytes", .kind = FIELD_BYTES, .offset = offsetof(raw_dram, d.row_bytes), .min = 1, .max = 1 << 20},
        LIST("bank_hash"),
        TIME(t_rcd_ns, 0),
        TIME(t_rp_ns, 0),
        TIME(t_ras_ns, 0),
        TIME(t_rrd_ns, 0),
        TIME(t_faw_ns, 0),
        TIME(t_wr_ns, 0),
        TIME(t_wtr_ns, 0),
        TIME(t_rtw_ns, 0),
        TIME(t_refi_ns, 1),
        TIME(t_rfc_ns, 0),
        {.key = "read_queue", .kind = FIELD_COUNT, .offset = offsetof(raw_dram, d.read_queue), .min = 1, .max = 4096},
        {.key = "write_queue_high",
         .kind = FIELD_COUNT,
         .offset = offsetof(raw_dram, d.write_queue_high),
         .min = 1,
         .max = 4096},
        {.key = "write_queue_low",
         .kind = FIELD_COUNT,
         .offset = offsetof(raw_dram, d.write_queue_low),
         .min = 0,
         .max = 4096},
        {.key = "masked_writes", .kind = FIELD_FLAG, .offset = offsetof(raw_dram, d.masked_writes)},
    };
#undef TIME
    raw_dram raw = {.alt = machine_no_alternatives};
    TRY(read_fields(l->c, group, fields, LENGTH(fields), &raw, l->m));
    TRY(machine_read_hash(l, group, "bank_hash", &raw.d.bank_hash));
    TRY(machine_read_latency(l, group, &raw.alt, &raw.d.latency_cycles));
    raw.d.bandwidth_bytes_per_s = raw.alt.bandwidth_GBps * 1e9;
    l->mach->dram = raw.d;
    return OK;
}

/* The classes whose instructions the kernel builder places itself. */
static bool builder_adds(op_class c) {
    return c == OP_BARRIER || c == OP_LOAD || c == OP_STORE || c == OP_SHARED_LOAD || c == OP_SHARED_STORE ||
           c == OP_EXIT;
}

static status read_mix(const loader *l, const config_setting_t *group, isa_mix *mix) {
    field fields[OP_CLASS_COUNT + 1];
    uint32_t raw[OP_CLASS_COUNT + 1] = {0}; /* the last one is ilp */
    size_t n = 0;
    for (size_t i = 0; i < OP_CLASS_COUNT; i++)
        if (!builder_adds((op_class)i))
            fields[n++] = (field){.key = op_class_name((op_class)i),
                                  .kind = FIELD_COUNT,
                                  .optional = true,
                                  .offset = i * sizeof *raw,
                                  .min = 0,
                                  .max = 4096};
    fields[n++] =
        (field){.key = "ilp", .kind = FIELD_COUNT, .offset = OP_CLASS_COUNT * sizeof *raw, .min = 1, .max = 64};
    TRY(read_fields(l->c, group, fields, n, raw, l->m));
    for (size_t i = 0; i < OP_CLASS_COUNT; i++)
        mix->count[i] = (uint16_t)raw[i];
    mix->ilp = (uint16_t)raw[OP_CLASS_COUNT];
    return OK;
}

static status read_isa(const loader *l, const config_setting_t *group) {
    field fields[ISA_PIECE_COUNT + 1];
    for (int i = 0; i < ISA_PIECE_COUNT; i++) {
        fields[i] = (field)GROUP(isa_piece_name((isa_piece)i));
        fields[i].optional = i >= ISA_DIV_F32;
    }
    fields[ISA_PIECE_COUNT] = (field){
        .key = "name", .kind = FIELD_TEXT, .offset = offsetof(machine, isa_name), .max = sizeof l->mach->isa_name};
    TRY(read_fields(l->c, group, fields, LENGTH(fields), l->mach, l->m));
    for (int i = 0; i < ISA_PIECE_COUNT; i++) {
        const config_setting_t *piece = config_member(group, fields[i].key);
        if (piece)
            TRY(read_mix(l, piece, &l->mach->isa[i]));
    }
    return OK;
}

/* What both kinds begin with, and then the groups of its kind. */
static status read_machine(const loader *l) {
    typedef struct raw_machine {
        int kind;
        char name[MACHINE_NAME_MAX];
        char vendor[16];
        char summary[MACHINE_SUMMARY_MAX];
        double clock_MHz, launch_overhead_us;
    } raw_machine;
    static const field fields[] = {
        TEXT(raw_machine, name),
        TEXT(raw_machine, vendor),
        TEXT(raw_machine, summary),
        NUMBER(raw_machine, clock_MHz, 1, 100000),
        NUMBER(raw_machine, launch_overhead_us, 0, 1e6),
        {.key = "kind",
         .kind = FIELD_CHOICE,
         .optional = true,
         .offset = offsetof(raw_machine, kind),
         .choices = kind_names},
        GROUP("core"),
        GROUP("ops"),
        LIST("levels"),
        GROUP("fabric"),
        GROUP("memory"),
        GROUP("dram"),
        /* GPUs */
        GROUP("lsu"),
        GROUP("isa"),
        /* CPUs */
        GROUP("tlb"),
        GROUP("prefetch"),
    };
    const config_setting_t *root = config_root(l->c);
    const config_setting_t *kind = config_member(root, "kind");
    raw_machine raw = {.kind = MACHINE_GPU};
    if (kind)
        TRY(read_value(l->c, kind, &fields[5], &raw.kind, l->m));
    field own[LENGTH(fields)];
    size_t count = 0;
    for (size_t i = 0; i < LENGTH(fields); i++) {
        const bool gpu = strcmp(fields[i].key, "lsu") == 0 || strcmp(fields[i].key, "isa") == 0;
        const bool cpu = strcmp(fields[i].key, "tlb") == 0 || strcmp(fields[i].key, "prefetch") == 0;
        if (raw.kind == MACHINE_CPU ? !gpu : !cpu)
            own[count++] = fields[i];
    }
    TRY(read_fields(l->c, root, own, count, &raw, l->m));
    l->mach->kind = (machine_kind)raw.kind;
    memcpy(l->mach->name, raw.name, sizeof raw.name);
    memcpy(l->mach->vendor, raw.vendor, sizeof raw.vendor);
    l->mach->clock_hz = raw.clock_MHz * 1e6;
    l->mach->launch_overhead_s = raw.launch_overhead_us * 1e-6;
    if (l->mach->kind == MACHINE_CPU)
        return machine_read_cpu(l);
    TRY(read_core(l, config_member(root, "core")));
    TRY(machine_read_ops(l, config_member(root, "ops"), NULL));
    TRY(read_lsu(l, config_member(root, "lsu")));
    TRY(read_levels(l, config_member(root, "levels")));
    TRY(read_fabric(l, config_member(root, "fabric")));
    TRY(machine_read_memory(l, config_member(root, "memory")));
    TRY(machine_read_dram(l, config_member(root, "dram")));
    return read_isa(l, config_member(root, "isa"));
}

/* A contradiction is reported at the group in which it was found. */
static status check_loaded(const config *c, const machine *mach, message *m) {
    machine_part part;
    message why = {{0}};
    if (machine_check(mach, &part, &why) == OK)
        return OK;
    const config_setting_t *at = config_member(config_root(c), part.group);
    if (config_setting_is_list(at))
        at = config_setting_get_elem(at, part.level);
    return config_fail(c, at, m, "%s", why.text);
}

static status load_file(const char *path, const machine_override *overrides, size_t count, machine *out, message *m) {
    config *c = NULL;
    TRY(config_open(path, &c, m));
    status st = OK;
    for (size_t i = 0; i < count && st == OK; i++) {
        const char *assignment = overrides[i].assignment;
        static const char prefix[] = "machine.";
        bool prefixed = strncmp(assignment, prefix, sizeof prefix - 1) == 0;
        char origin[MESSAGE_MAX / 2];
        snprintf(origin, sizeof origin, "-D %s", assignment);
        st = config_override(c, assignment + (prefixed ? sizeof prefix - 1 : 0),
                             overrides[i].origin ? overrides[i].origin : origin, m);
    }
    *out = (machine){0};
    machine_stem(path, out->id);
    out->text_hash = config_hash(c);
    if (st == OK)
        st = read_machine(&(loader){.c = c, .mach = out, .m = m});
    if (st == OK)
        st = check_loaded(c, out, m);
    config_close(c);
    return st;
}

status machine_load_overridden(const char *name_or_path, const machine_override *overrides, size_t count, machine *out,
                               message *m) {
    char path[MACHINE_PATH_MAX];
    TRY(machine_find(name_or_path, path, m));
    return load_file(path, overrides, count, out, m);
}

status machine_load_with(const char *name_or_path, const config_overrides *overrides, machine *out, message *m) {
    char path[MACHINE_PATH_MAX];
    TRY(machine_find(name_or_path, path, m));
    machine_override *list = mem_zero(overrides->count, sizeof *list);
    if (!list)
        return fail(m, ERR_MEMORY, "not enough memory for the overrides");
    for (size_t i = 0; i < overrides->count; i++)
        list[i].assignment = overrides->text[i];
    status st = load_file(path, list, overrides->count, out, m);
    mem_free(list);
    return st;
}

status machine_load(const char *name_or_path, machine *out, message *m) {
    return machine_load_overridden(name_or_path, NULL, 0, out, m);
}

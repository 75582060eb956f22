/* machine.h - the description of a GPU or a CPU: plain data, no behaviour.
 *
 * One struct, filled from a file in models/ by src/config. Units are in the names; "cycles" are core (SM, CU) clock
 * cycles throughout. Latencies of memory levels are load-to-use, measured from the issue of the load and cumulative
 * (an L2 hit costs `latency_cycles` of L2 in all), because that is what pointer chases publish; the engine takes
 * differences.
 *
 * The memory side of the device is divided into `channels` partitions by an address hash. A partition owns its share of
 * the slices of every device-scope cache and one DRAM channel, and shares nothing with the others.
 */
#ifndef COALIGN_MACHINE_MACHINE_H
#define COALIGN_MACHINE_MACHINE_H

#include "machine/opclass.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    MACHINE_NAME_MAX = 48,
    MACHINE_LEVELS_MAX = 6,   /* cache levels between a core and DRAM */
    MACHINE_SHIFTS_MAX = 8,   /* terms of an address hash */
    MACHINE_LINE_MAX = 128,   /* bytes of a cache line (byte masks are 128 bits wide) */
    MACHINE_BARE_SECTOR = 32, /* granule of accesses that no cache serves (CUDA guide, compute capability 1.x) */
    MACHINE_CORES_MAX = 1024,
    MACHINE_CHANNELS_MAX = 256,
    MACHINE_WARPS_MAX = 128, /* resident warps of a core */
    MACHINE_SCHEDULERS_MAX = 8,
    MACHINE_SCHEDULER_WARPS_MAX = 64, /* resident warps of one scheduler */
    MACHINE_CPU_CORES_MAX = 64,       /* the directory keeps a bit for each */
    MACHINE_PRIVATE_MAX = 2,          /* cache levels of a CPU core's own */
    MACHINE_PAGES_MAX = 4,            /* page sizes of a CPU */
    MACHINE_WALK_LEVELS = 4,          /* table entries of a page walk: x86-64 with 48-bit addresses */
};

typedef enum machine_kind { MACHINE_GPU, MACHINE_CPU } machine_kind;

/* How the lanes of one warp access become transactions. */
#define COALESCE_LIST(X)                                                                                               \
    X(COALESCE_HALF_WARP_STRICT, "half_warp_strict")     /* CC 1.0/1.1: 16 lanes in order and aligned, or 16 apart */  \
    X(COALESCE_HALF_WARP_SEGMENTS, "half_warp_segments") /* CC 1.2/1.3: 32/64/128 B segments per half warp */          \
    X(COALESCE_LINE128, "line128")                       /* Fermi cached: whole 128 B lines */                         \
    X(COALESCE_SECTORS, "sectors")                       /* Maxwell and later: 32 B sectors of 128 B lines */          \
    X(COALESCE_AMD_QUAD, "amd_quad")                     /* RDNA, CDNA: four tags a pass, whole lines or half lines */

typedef enum coalesce_rule {
#define X(id, name) id,
    COALESCE_LIST(X)
#undef X
        COALESCE_COUNT
} coalesce_rule;

typedef enum warp_policy { WARP_GTO, WARP_LRR } warp_policy; /* greedy-then-oldest; loose round robin */
typedef enum cache_scope { SCOPE_CORE, SCOPE_CLUSTER, SCOPE_DEVICE } cache_scope;
typedef enum replacement { REPLACE_LRU, REPLACE_FIFO, REPLACE_RANDOM } replacement;
typedef enum write_policy {
    WRITE_THROUGH, /* a store updates the line if present and goes on to the next level; no allocation */
    WRITE_BACK,    /* a store allocates; dirty bytes leave on eviction */
} write_policy;
typedef enum partial_write {
    PARTIAL_MASK,  /* byte enables: a partly written sector costs no more and needs no fill; reading its rest does */
    PARTIAL_MERGE, /* the same, but the array keeps check bits per sector (ECC): it reads and rewrites the sector */
    PARTIAL_FILL,  /* a partly written sector is first fetched from below */
} partial_write;

/* What a cache of a CPU holds of what the level nearer to the core holds. */
typedef enum inclusion {
    INCLUSION_FREE,      /* allocates what passes; keeps and drops lines without regard to the other level */
    INCLUSION_INCLUSIVE, /* the same, but what it drops the nearer levels drop too */
    INCLUSION_EXCLUSIVE, /* takes the victims of the nearer level; a hit moves the line there */
    INCLUSION_MOSTLY,    /* the same, but a line that several cores hold stays (shared level only) */
} inclusion;

/* index' = index xor (index >> shift[0]) xor (index >> shift[1]) ...; no shifts: the plain index. A bijection, because
 * every term only moves bits down. The unit or set is index' modulo the count, which need not be a power of two. */
typedef struct address_hash {
    uint32_t count;                        /* of shifts */
    uint8_t shift[MACHINE_SHIFTS_MAX + 1]; /* a 0 ends them */
} address_hash;

/* One latency class: dependent instructions issue `latency` cycles later; the pipe takes the next warp instruction
 * `interval` cycles later. */
typedef struct op_timing {
    pipe_id pipe;
    uint32_t latency_cycles;
    uint32_t interval_cycles;
} op_timing;

/* Where instructions come from: how many of each class the compiler emits for one piece of a copy kernel, from
 * disassembly. Instruction i of a piece depends on instruction i - ilp of it. */
#define ISA_PIECE_LIST(X)                                                                                              \
    X(ISA_FLAT, "flat")                     /* flat copy, all but its load and store */                                \
    X(ISA_GENERAL64, "general64")           /* general kernel, 64-bit run-time indices: entry, bounds test, exit */    \
    X(ISA_GENERAL64_DIM, "general64_dim")   /* per dimension, operands of the division fit 32 bits */                  \
    X(ISA_GENERAL64_SLOW, "general64_slow") /* per dimension, they do not */                                           \
    X(ISA_GENERAL32, "general32")           /* 32-bit indices: the fixed part */                                       \
    X(ISA_GENERAL32_DIM, "general32_dim")                                                                              \
    X(ISA_INVARIANT, "invariant") /* 32-bit indices, division by multiplication: the fixed part */                     \
    X(ISA_INVARIANT_DIM, "invariant_dim")                                                                              \
    X(ISA_TILE32, "tile32") /* tiled transposition, a thread's 8 elements, all but memory and barrier */               \
    X(ISA_TILE64, "tile64") /* the same with 64-bit indices */                                                         \
    X(ISA_LOOP, "loop")     /* one turn of a counted loop: add, compare; its branch comes on top */                    \
    /* What follows may be left out: then bodies that need it cannot be simulated. ISA_DIV_F32 is the first. */        \
    X(ISA_DIV_F32, "div_f32") /* a correctly rounded division, operands in the normal range */                         \
    X(ISA_SQRT_F32, "sqrt_f32")                                                                                        \
    X(ISA_RSQRT_F32, "rsqrt_f32")                                                                                      \
    X(ISA_EXP_F32, "exp_f32")                                                                                          \
    X(ISA_LOG_F32, "log_f32")                                                                                          \
    X(ISA_DIV_F64, "div_f64")                                                                                          \
    X(ISA_SQRT_F64, "sqrt_f64")                                                                                        \
    X(ISA_RSQRT_F64, "rsqrt_f64")                                                                                      \
    X(ISA_EXP_F64, "exp_f64")                                                                                          \
    X(ISA_LOG_F64, "log_f64")                                                                                          \
    X(ISA_DIV_I32, "div_i32") /* quotient or remainder by a divisor that the compiler does not know */                 \
    X(ISA_DIV_I64, "div_i64") /* the same, operands that fit 32 bits */

typedef enum isa_piece {
#define X(id, name) id,
    ISA_PIECE_LIST(X)
#undef X
        ISA_PIECE_COUNT
} isa_piece;

typedef struct isa_mix {
    uint16_t count[OP_CLASS_COUNT];
    uint16_t ilp; /* >= 1; 0: the machine says nothing of this piece */
} isa_mix;

typedef struct core_desc {
    uint32_t count;       /* cores (SM, CU) of the device */
    uint32_t per_cluster; /* cores that share a cluster-scope cache; 1 when there is none */
    uint32_t warp_width;  /* lanes */
    uint32_t schedulers;  /* per core */
    uint32_t issue_width; /* instructions a scheduler issues in a cycle, at most one per pipe and warp */
    warp_policy policy;
    uint32_t max_warps;  /* resident, per core */
    uint32_t max_blocks; /* resident, per core */
    uint32_t max_block_threads;
    uint32_t registers;        /* 32-bit registers per core */
    uint32_t register_granule; /* a warp's registers are allocated in multiples of this many, times warp_width */
    uint32_t max_thread_registers;
    uint32_t shared_bytes; /* per core, largest carve-out */
    uint32_t shared_granule_bytes;
    uint32_t shared_banks, shared_bank_bytes;
    uint32_t shared_latency_cycles;
    uint32_t block_launch_cycles; /* from the end of a block to the first issue of the block that takes its place */
    uint32_t dispatch_blocks_per_kilocycle; /* the device starts at most this many blocks in 1000 cycles */
    op_timing op[OP_CLASS_COUNT];
} core_desc;

/* The load/store unit in front of the first cache level. */
typedef struct lsu_desc {
    coalesce_rule rule;
    uint32_t queue;              /* warp instructions waiting for it, per core; full = LG throttle */
    uint32_t tag_lines_per_pass; /* distinct lines whose tags one pass looks up, an equal share in each bank */
    uint32_t tag_banks;          /* a power of two; the line number, folded by XOR, names the bank; 1 = any lines */
    uint32_t data_banks, data_bank_bytes; /* one data pass serves each bank once */
    uint32_t bytes_per_cycle;             /* data path to the registers: floor of a pass in cycles */
    uint32_t store_credits;               /* line-sized store transactions in flight, per core */
} lsu_desc;

typedef struct cache_level {
    char name[16];
    cache_scope scope;
    uint64_t size_bytes; /* per core, per cluster, or of the whole device (all slices) */
    uint32_t ways, line_bytes, sector_bytes;
    uint32_t slices; /* device scope: in all, a multiple of `channels`; otherwise 1 */
    replacement replace;
    write_policy write;
    partial_write partial;
    address_hash set_hash;
    double bytes_per_cycle;  /* data port of one instance or slice */
    uint32_t request_cycles; /* an instance or slice takes one request (line) per so many cycles */
    uint32_t latency_cycles; /* load-to-use of a hit here */
    uint32_t mshrs;          /* outstanding line misses per instance or slice */
    uint32_t mshr_merges;    /* requests that may wait for one of them, beside the first */
    inclusion holds;         /* CPUs */
} cache_level;

/* Translation of pages of one size: entries of the first and second TLB that such pages use. */
typedef struct page_desc {
    uint64_t bytes;
    uint32_t first_entries, first_ways, second_entries, second_ways;
} page_desc;

typedef struct tlb_desc {
    uint32_t second_cycles; /* a hit in the second TLB adds these to the access */
    uint32_t walkers;       /* page walks under way at once */
    uint32_t
        walk_cache[MACHINE_WALK_LEVELS - 1]; /* entries kept of the table above the last, the one above that, ... */
    uint32_t reads_per_level; /* 1; 2 where the table itself lies in virtual memory of a host (nested paging) */
    bool scattered;           /* page frames lie anywhere; false: physical = virtual */
    uint32_t page;            /* which of `pages` the run uses */
    uint32_t page_count;
    page_desc pages[MACHINE_PAGES_MAX];
} tlb_desc;

/* 0 entries, streams or lines: there is none. No prefetch leaves its block of `boundary_bytes`. */
typedef struct prefetch_desc {
    uint32_t boundary_bytes;
    bool next_line;           /* first level: the line after one that is loaded right after its neighbour */
    uint32_t stride_entries;  /* first level: load instructions whose stride is followed ... */
    uint32_t stride_distance; /* ... so many strides ahead */
    bool adjacent_line;       /* last private level: the other line of a pair */
    uint32_t streams;         /* last private level: blocks whose direction is followed ... */
    uint32_t stream_distance; /* ... at most so many lines ahead ... */
    uint32_t stream_degree;   /* ... by so many lines for each access */
} prefetch_desc;

/* A core that issues out of order. Instructions enter the window in order, execute when their operands are there, and
 * leave it in order; stores are written to the first level after that, in order. */
typedef struct cpu_desc {
    uint32_t window;                  /* instructions between entering and leaving */
    uint32_t load_queue;              /* loads among them */
    uint32_t store_buffer;            /* stores from entering until they are written */
    uint32_t fill_buffers;            /* lines on their way to the first level, and lines of non-temporal stores */
    uint32_t simd_bytes;              /* widest access */
    uint32_t load_ports, store_ports; /* loads begun in a cycle; stores executed, and written to one line, likewise */
    uint32_t ports[PIPE_COUNT];       /* instructions begun in a cycle, by pipe */
    uint32_t mispredict_cycles;       /* from the execution of a mispredicted branch to the next instruction */
    uint32_t predicted_trips;         /* the exit from a loop of more turns is mispredicted */
    tlb_desc tlb;
    prefetch_desc prefetch;
} cpu_desc;

/* Links between the cores and the memory side, per core and direction, and the queues behind them. */
typedef struct fabric_desc {
    double request_bytes_per_cycle;  /* core -> memory: store data; a request without data costs one cycle */
    double response_bytes_per_cycle; /* memory -> core: load data */
    uint32_t
        slice_queue; /* requests of a cluster on the way to a partition or waiting there (sim/crossbar.h); 0: any */
} fabric_desc;

typedef struct dram_desc {
    double bandwidth_bytes_per_s; /* peak, all channels */
    uint32_t latency_cycles;      /* load-to-use of a row-buffer hit on an idle device */
    uint32_t burst_bytes;         /* smallest transfer */
    uint32_t banks;               /* per channel */
    uint32_t row_bytes;           /* row buffer of one bank */
    address_hash bank_hash;
    /* nanoseconds, JEDEC names */
    double t_rcd_ns, t_rp_ns, t_ras_ns, t_rrd_ns, t_faw_ns, t_wr_ns, t_wtr_ns, t_rtw_ns, t_refi_ns, t_rfc_ns;
    uint32_t read_queue;                        /* reads among which a channel picks row hits first */
    uint32_t write_queue_high, write_queue_low; /* a channel drains writes from high down to low */
    bool masked_writes;                         /* false: a partly written burst is first read (ECC) */
} dram_desc;

typedef struct machine {
    char name[MACHINE_NAME_MAX]; /* as people write it: "RX 7900 XT" */
    char id[MACHINE_NAME_MAX];   /* file stem: "rx7900xt" */
    char vendor[16];
    uint64_t text_hash; /* of the description's text, before overrides */
    machine_kind kind;
    double clock_hz;          /* of the cores */
    double launch_overhead_s; /* host-visible time of an empty kernel */
    core_desc core;           /* of a CPU: count, issue_width, op */
    cpu_desc cpu;             /* CPUs only */
    lsu_desc lsu;
    uint32_t level_count;
    cache_level level[MACHINE_LEVELS_MAX]; /* nearest to the core first; scopes never narrow again */
    fabric_desc fabric;
    uint32_t channels;         /* memory partitions */
    uint32_t interleave_bytes; /* consecutive bytes of one channel */
    address_hash channel_hash; /* over addr / interleave_bytes */
    dram_desc dram;
    char isa_name[16];
    isa_mix isa[ISA_PIECE_COUNT];
} machine;

const char *coalesce_rule_name(coalesce_rule r);
const char *isa_piece_name(isa_piece p);

#endif

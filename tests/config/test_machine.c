#include "base/mem.h"
#include "config/machine_config.h"
#include "config_test.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cache_level *level_named(const machine *mach, const char *name) {
    for (uint32_t i = 0; i < mach->level_count; i++)
        if (strcmp(mach->level[i].name, name) == 0)
            return &mach->level[i];
    cr_assert_fail("%s has no level %s", mach->name, name);
    return NULL;
}

/* Published figures of the four machines, and the two conversions. */
Test(machine, shipped_figures) {
    static const struct {
        const char *id;
        uint32_t cores, warps, registers;
        double clock_hz, dram;
        const char *level;
        uint64_t size;
        uint32_t slices, latency;
    } cases[] = {
        {"v100", 80, 64, 65536, 1.38e9, 898e9, "L1", 117760, 1, 28},
        {"v100", 80, 64, 65536, 1.38e9, 898e9, "L2", 6 << 20, 64, 212},
        {"a100-40", 108, 64, 65536, 1.41e9, 1555e9, "L1", 176128, 1, 36},
        {"a100-40", 108, 64, 65536, 1.41e9, 1555e9, "L2", 40 << 20, 80, 213},
        {"a100-80", 108, 64, 65536, 1.41e9, 2039e9, "L2", 40 << 20, 80, 206},
        {"rx7900xt", 84, 32, 98304, 2.4e9, 800e9, "L0", 32 << 10, 1, 73},
        {"rx7900xt", 84, 32, 98304, 2.4e9, 800e9, "IC", 80 << 20, 20, 361}, /* 150.3 ns at 2.4 GHz = 360.7 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        machine mach;
        message m = {{0}};
        cr_assert_eq(machine_load(cases[i].id, &mach, &m), OK, "%s", m.text);
        cr_expect_str_eq(mach.id, cases[i].id);
        cr_expect_eq(mach.core.count, cases[i].cores);
        cr_expect_eq(mach.core.max_warps, cases[i].warps);
        cr_expect_eq(mach.core.registers, cases[i].registers);
        cr_expect_float_eq(mach.clock_hz, cases[i].clock_hz, 1);
        cr_expect_float_eq(mach.dram.bandwidth_bytes_per_s, cases[i].dram, 1);
        const cache_level *level = level_named(&mach, cases[i].level);
        cr_expect_eq(level->size_bytes, cases[i].size);
        cr_expect_eq(level->slices, cases[i].slices);
        cr_expect_eq(level->latency_cycles, cases[i].latency);
    }
    machine mach;
    message m;
    cr_assert_eq(machine_load("g80", &mach, &m), OK, "%s", m.text);
    cr_expect_eq(mach.level_count, 0); /* nothing caches a load */
    cr_expect_eq(mach.core.count, 16);
    cr_expect_eq(mach.core.max_warps, 24);
    cr_expect_float_eq(mach.dram.bandwidth_bytes_per_s, 103.68e9, 1);
    cr_assert_eq(machine_load("gt200", &mach, &m), OK, "%s", m.text);
    cr_expect_eq(mach.core.count, 30);
    cr_assert_eq(machine_load("rx7900xt", &mach, &m), OK);
    /* 2417 GB/s over 20 slices of 2.4 GHz. */
    cr_expect_float_eq(level_named(&mach, "IC")->bytes_per_cycle, 2417.0 / 2.4 / 20, 1e-9);
    cr_expect_eq(mach.dram.latency_cycles, 492); /* 204.9 ns */
    cr_expect_eq(mach.channels, 20);
}

static uint32_t instructions(const machine *mach, isa_piece piece) {
    uint32_t sum = 0;
    for (size_t i = 0; i < OP_CLASS_COUNT; i++)
        sum += mach->isa[piece].count[i];
    return sum;
}

static uint32_t pipe_cycles(const machine *mach, isa_piece piece, pipe_id pipe) {
    uint32_t sum = 0;
    for (size_t i = 0; i < OP_CLASS_COUNT; i++)
        if (mach->core.op[i].pipe == pipe)
            sum += mach->isa[piece].count[i] * mach->core.op[i].interval_cycles;
    return sum;
}

/* Totals of disassembled kernels, less what the kernel builder adds: exit test, load, store, EXIT (4), or 8 loads, 8
 * stores, 16 shared accesses, barrier, EXIT (34) in a tile. */
Test(machine, instruction_mixes_sum_to_the_disassembly) {
    static const struct {
        const char *isa;
        uint32_t general64, dim64, slow, general32, dim32, invariant, dim_invariant, flat, tile32, tile64;
    } cases[] = {
        {"sm_80", 43 - 4, 40, 116, 12 - 4, 28, 10 - 4, 7, 13 - 4, 139 - 34, 281 - 34},
        {"sm_90", 48 - 4, 42, 122, 15 - 4, 28, 13 - 4, 9, 16 - 4, 151 - 34, 314 - 34},
    };
    test_directory d;
    make_directory(&d);
    char text[TEST_TEXT_MAX], other[TEST_TEXT_MAX];
    v100_text(text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        replace_first(text, "sm_70.cfg", i == 0 ? "sm_80.cfg" : "sm_90.cfg", other);
        machine mach;
        message m = {{0}};
        cr_assert_eq(machine_load(write_file(&d, "a.cfg", other), &mach, &m), OK, "%s", m.text);
        cr_expect_str_eq(mach.isa_name, cases[i].isa);
        cr_expect_eq(instructions(&mach, ISA_GENERAL64), cases[i].general64);
        cr_expect_eq(instructions(&mach, ISA_GENERAL64_DIM), cases[i].dim64);
        cr_expect_eq(instructions(&mach, ISA_GENERAL64_SLOW), cases[i].slow);
        cr_expect_eq(instructions(&mach, ISA_GENERAL32), cases[i].general32);
        cr_expect_eq(instructions(&mach, ISA_GENERAL32_DIM), cases[i].dim32);
        cr_expect_eq(instructions(&mach, ISA_INVARIANT), cases[i].invariant);
        cr_expect_eq(instructions(&mach, ISA_INVARIANT_DIM), cases[i].dim_invariant);
        cr_expect_eq(instructions(&mach, ISA_FLAT), cases[i].flat);
        cr_expect_eq(instructions(&mach, ISA_TILE32), cases[i].tile32);
        cr_expect_eq(instructions(&mach, ISA_TILE64), cases[i].tile64);
    }
    machine mach;
    message m;
    cr_assert_eq(machine_load("rx7900xt", &mach, &m), OK);
    cr_expect_eq(pipe_cycles(&mach, ISA_GENERAL64, PIPE_ALU), 10);
    cr_expect_eq(pipe_cycles(&mach, ISA_GENERAL64_DIM, PIPE_ALU), 79);
    cr_expect_eq(pipe_cycles(&mach, ISA_GENERAL64_SLOW, PIPE_ALU), 242);
    remove_directory(&d);
}

/* A fault in a machine file: one change to models/v100.cfg. at: a text on the line that the message must name. */
Test(machine, faults_in_the_file) {
    static const struct {
        const char *find, *replacement, *at, *message;
    } cases[] = {
        {"latency_cycles = 28;", "latncy_cycles = 28;", "latncy",
         "unknown key 'latncy_cycles' in level 'L1'; did you mean "
         "'latency_cycles'?"},
        {"ways = 24;", "wyas = 24;", "wyas", "unknown key 'wyas' in level 'L2'; did you mean 'ways'?"},
        {"clock_MHz", "clock_Mhz", "clock_Mhz", "unknown key 'clock_Mhz' in the file; did you mean 'clock_MHz'?"},
        {"t_rcd_ns", "tRCD_ns", "tRCD_ns", "unknown key 'tRCD_ns' in 'dram'; did you mean 't_rcd_ns'?"},
        {"sfu          =", "sfx          =", "sfx ", "unknown key 'sfx' in 'ops'; did you mean 'sfu'?"},
        {"pipe = \"sfu\"", "pipe = \"sfx\"", "\"sfx\"", "'pipe' does not know \"sfx\"; did you mean 'sfu'?"},
        {"rule = \"sectors\"", "rule = \"sector\"", "rule", "'rule' does not know \"sector\"; did you mean 'sectors'?"},
        {"scope = \"core\"", "scope = \"sm\"", "\"sm\"", "'scope' does not know \"sm\"; known: core, cluster, device"},
        {"schedulers = 4;", "", "core = {", "'core' lacks the key 'schedulers'"},
        {"max_warps = 64;", "max_warps = 129;", "max_warps", "'max_warps' must be 1 .. 128; it is 129"},
        {"count = 80;", "count = 1025;", "count = 1025", "'count' must be 1 .. 1024; it is 1025"},
        {"registers = 65536;", "registers = -65536;", "-65536", "'registers' must be 1 .. 16777216; it is -65536"},
        {"ways = 20;", "ways = 0;", "ways = 0", "'ways' must be 1 .. 1024; it is 0"},
        {"size = \"6 MiB\"", "size = \"6 MB\"", "name = \"L2\"-1",
         "level 'L2': 6000000 B is not a whole number of sets of 24 ways of 128 B in each of 64 slices; the nearest "
         "sizes "
         "that are: 5760 KiB and 5952 KiB"},
        {"latency_cycles = 212;", "latency_ns = 153.6; latency_cycles = 212;", "latency_ns",
         "level 'L2' has both 'latency_cycles' and 'latency_ns': give one"},
        {"latency_cycles = 212;", "", "name = \"L2\"-1", "level 'L2' lacks 'latency_cycles' or 'latency_ns'"},
        {"bytes_per_cycle = 32.0;", "", "name = \"L2\"-1", "level 'L2' lacks 'bytes_per_cycle' or 'bandwidth_GBps'"},
        {"set_hash = [3, 6];", "set_hash = [3, 64];", "[3, 64]", "entry 1 of 'set_hash' must be 1 .. 63; it is 64"},
        {"set_hash = [3, 6];", "set_hash = [1,2,3,4,5,6,7,8,9];", "[1,2",
         "'set_hash' has 9 shifts; at most 8 are possible"},
        {"masked_writes = false", "masked_writes = 0", "masked_writes",
         "'masked_writes' must be true or false, not a whole "
         "number"},
    };
    test_directory d;
    make_directory(&d);
    char text[TEST_TEXT_MAX], changed[TEST_TEXT_MAX], unused[TEST_TEXT_MAX], wanted[1024];
    v100_text(text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        replace_first(text, cases[i].find, cases[i].replacement, changed);
        char at[64];
        snprintf(at, sizeof at, "%s", cases[i].at);
        size_t n = strlen(at);
        bool line_before = n > 2 && strcmp(at + n - 2, "-1") == 0; /* the { above the name of a level */
        if (line_before)
            at[n - 2] = '\0';
        int line = replace_first(changed, at, "", unused) - line_before;
        const char *path = write_file(&d, "a.cfg", changed);
        machine mach;
        message m = {{0}};
        cr_expect_eq(machine_load(path, &mach, &m), ERR_INPUT, "%s", cases[i].replacement);
        snprintf(wanted, sizeof wanted, "%s:%d: %s", path, line, cases[i].message);
        cr_expect_str_eq(m.text, wanted);
    }
    remove_directory(&d);
}

/* Machines that contradict themselves, made by overrides; the message without its place. */
Test(machine, contradictions) {
    static const struct {
        const char *machine, *overrides[4], *message;
    } cases[] = {
        {"v100", {"levels.L1.line_bytes=96"}, "level 'L1': a line of 96 B; it must be a power of two from 32 to 128"},
        {"v100",
         {"levels.L2.line_bytes=64"},
         "level 'L2' has lines of 64 B, level 'L1', which is nearer to the core, of 128 B: lines must not shrink "
         "outwards"},
        {"v100", {"lsu.tag_banks=8"}, "8 tag banks: a power of two is needed that divides the 4 lines of a pass"},
        {"v100",
         {"dram.burst_bytes=256"},
         "bursts of 256 B in rows of 1024 B: a burst has at most 128 B, a row at least the 128 B of a request"},
        {"v100", {"levels.L1.sector_bytes=48"}, "level 'L1': sectors of 48 B do not divide a line of 128 B"},
        {"v100",
         {"levels.L1.line_bytes=32", "levels.L1.sector_bytes=64"},
         "level 'L1': sectors of 64 B do not divide a line of 32 B"},
        {"v100",
         {"levels.L1.size=116 KiB"},
         "level 'L1': 116 KiB is not a whole number of sets of 20 ways of 128 B in each of 1 slices; the nearest sizes "
         "that "
         "are: 115 KiB and 120320 B"},
        {"v100",
         {"levels.L1.size=1 KiB"},
         "level 'L1': 1 KiB is less than one set of 20 ways of 128 B in each of 1 slices; the smallest size is 2560 B"},
        {"v100", {"levels.L2.slices=48"}, "level 'L2' has 48 slices; it needs a multiple of the 32 memory channels"},
        {"v100",
         {"levels.L1.slices=4"},
         "level 'L1' has 4 slices; a cache of a core or cluster has 1 (only one with device "
         "scope is spread over the 32 channels)"},
        {"v100",
         {"levels.L1.write=back"},
         "level 'L1': a write-back cache of a core would need a coherence protocol, which "
         "is not modelled; write = \"through\""},
        {"v100",
         {"levels.L2.latency_cycles=28"},
         "level 'L2' answers in 28 cycles, level 'L1', which is nearer to the core, in 28: latencies are load-to-use "
         "and "
         "must grow outwards"},
        {"v100",
         {"dram.latency_cycles=200"},
         "DRAM answers in 200 cycles, level 'L2' in 212: latencies are load-to-use and must grow outwards"},
        {"rx7900xt",
         {"levels.L1.scope=core", "levels.L0.scope=cluster"},
         "level 'L1' serves fewer cores than level 'L0', which is nearer to the core"},
        {"v100",
         {"levels.L2.scope=core", "levels.L2.slices=1", "levels.L2.size=129 KiB", "levels.L2.write=through"},
         "levels 'L1' and 'L2' both have core scope: one is modelled"},
        {"v100", {"core.max_warps=63"}, "63 warps cannot be shared evenly by 4 schedulers"},
        {"v100", {"core.per_cluster=81"}, "a cluster of 81 cores is larger than the device, which has 80"},
        {"v100", {"core.warp_width=24"}, "a warp of 24 lanes: the width must be a power of two"},
        {"v100",
         {"core.max_block_threads=4096"},
         "a block of 4096 threads does not fit a core of 64 warps of 32 lanes"},
        {"v100",
         {"core.registers=4096"},
         "4096 registers cannot hold one warp of 32 lanes with 255 registers a thread in steps of 8"},
        {"v100", {"memory.interleave_bytes=64"}, "an interleave of 64 B splits the 128 B lines of level 'L1'"},
        {"v100", {"memory.interleave_bytes=384"}, "an interleave of 384 B: it must be a power of two"},
        {"v100", {"dram.burst_bytes=48"}, "bursts of 48 B: a power of two that divides the row of 1024 B is needed"},
        {"v100",
         {"dram.write_queue_low=32"},
         "writes drain from write_queue_high = 32 down to write_queue_low = 32: low must be less"},
        {"v100", {"dram.t_rfc_ns=3900"}, "a refresh of 3900 ns every 3900 ns leaves no time for data"},
        {"v100",
         {"dram.t_ras_ns=10"},
         "t_ras_ns = 10 is less than t_rcd_ns = 14: a row would close before its first access"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        config_overrides overrides = {cases[i].overrides, 0};
        while (overrides.count < 4 && cases[i].overrides[overrides.count])
            overrides.count++;
        machine mach;
        message m = {{0}};
        cr_expect_eq(machine_load_with(cases[i].machine, &overrides, &mach, &m), ERR_INPUT, "%s",
                     cases[i].overrides[0]);
        char file[64];
        snprintf(file, sizeof file, "models/%s.cfg:", cases[i].machine);
        cr_expect_eq(strncmp(m.text, file, strlen(file)), 0, "%s", m.text);
        const char *space = strchr(m.text, ' ');
        cr_assert(space);
        cr_expect_str_eq(space + 1, cases[i].message);
    }
}

/* What is unusual and yet legal. */
Test(machine, legal_oddities) {
    static const char *const cases[][4] = {
        {"levels.L2.ways=3"},
        {"core.per_cluster=7"},
        {"core.schedulers=1"},
        {"levels.L1.set_hash=[]"},
        {"machine.clock_MHz=1500"},
        {"levels.L2.size=48 MiB"},
        {"name=A machine with a long name, but not too long"},
        /* no cache of the device: private ones only */
        {"levels.L2.scope=cluster", "levels.L2.slices=1", "levels.L2.size=129 KiB", "levels.L2.write=through"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        machine mach;
        message m = {{0}};
        config_overrides overrides = {cases[i], 0};
        while (overrides.count < 4 && cases[i][overrides.count])
            overrides.count++;
        cr_expect_eq(machine_load_with("v100", &overrides, &mach, &m), OK, "%s: %s", cases[i][0], m.text);
    }
}

Test(machine, finding) {
    test_directory d;
    make_directory(&d);
    machine mach;
    message m = {{0}};
    cr_expect_eq(machine_load("v1000", &mach, &m), ERR_INPUT);
    cr_expect_str_eq(m.text, "unknown machine 'v1000'; did you mean 'v100'?");
    cr_expect_eq(machine_load("H100", &mach, &m), ERR_INPUT);
    cr_expect_str_eq(m.text, "unknown machine 'H100'; did you mean 'v100'?");
    cr_expect_eq(machine_load("nonesuch", &mach, &m), ERR_INPUT);
    cr_expect_eq(strstr(m.text, "unknown machine 'nonesuch'; known: a100-40, a100-80, "), m.text, "%s", m.text);
    cr_expect_eq(machine_load("", &mach, &m), ERR_INPUT);
    cr_expect_eq(machine_load("models/v10.cfg", &mach, &m), ERR_INPUT);
    cr_expect_str_eq(m.text, "models/v10.cfg: cannot be opened: No such file or directory");
    cr_expect_eq(machine_load("models/v100.cfg", &mach, &m), OK, "%s", m.text);
    char long_name[1000];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    cr_expect_eq(machine_load(long_name, &mach, &m), ERR_INPUT);

    /* $COALIGN_MODELS comes first, and a faulty file is listed with what is wrong with it. */
    char text[TEST_TEXT_MAX], changed[TEST_TEXT_MAX];
    v100_text(text);
    replace_first(text, "name = \"V100\"", "name = \"My V100\"", changed);
    write_file(&d, "v100.cfg", changed);
    const char *broken = write_file(&d, "broken.cfg", "name = 5;");
    cr_assert_eq(setenv("COALIGN_MODELS", d.path, 1), 0);
    cr_expect_eq(machine_load("v100", &mach, &m), OK, "%s", m.text);
    cr_expect_str_eq(mach.name, "My V100");
    machine_entry *entries = NULL;
    size_t count = 0;
    cr_assert_eq(machines_list(&entries, &count, &m), OK, "%s", m.text);
    size_t seen = 0;
    for (size_t i = 0; i < count; i++) {
        cr_expect(i == 0 || strcmp(entries[i - 1].id, entries[i].id) < 0);
        if (strcmp(entries[i].id, "v100") == 0) {
            cr_expect_str_eq(entries[i].name, "My V100");
            cr_expect(entries[i].loads);
            seen++;
        }
        if (strcmp(entries[i].id, "broken") == 0) {
            cr_expect(!entries[i].loads);
            cr_expect_eq(strncmp(entries[i].summary, broken, strlen(broken)), 0, "%s", entries[i].summary);
            seen++;
        }
    }
    cr_expect_eq(seen, 2);
    mem_free(entries);
    remove_directory(&d);
}

/* A file cut off anywhere is an error with a place, never a machine and never a crash. */
Test(machine, truncation) {
    test_directory d;
    make_directory(&d);
    char text[TEST_TEXT_MAX];
    v100_text(text);
    size_t whole = strlen(text);
    for (size_t n = 0; n + 32 < whole; n += 89) {
        const char *path = write_bytes(&d, "a.cfg", text, n);
        machine mach;
        message m = {{0}};
        cr_assert_eq(machine_load(path, &mach, &m), ERR_INPUT, "%zu bytes", n);
        cr_assert_eq(strncmp(m.text, path, strlen(path)), 0, "%s", m.text);
    }
    remove_directory(&d);
}

/* Whichever allocation fails, loading says so and leaves nothing behind (the sanitizer looks). */
Test(machine, out_of_memory) {
    static const char *const assignment = "levels.L2.ways=12";
    const config_overrides overrides = {&assignment, 1};
    status st = ERR_MEMORY;
    for (size_t n = 1; st == ERR_MEMORY; n++) {
        machine mach;
        message m = {{0}};
        cr_assert_lt(n, 1000);
        mem_fail_after(n);
        st = machine_load_with("v100", &overrides, &mach, &m);
        mem_fail_after(0);
        cr_expect(st == OK || (st == ERR_MEMORY && m.text[0]), "allocation %zu: %s", n, m.text);
    }
    cr_expect_eq(st, OK);
}

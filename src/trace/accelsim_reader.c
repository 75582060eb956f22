#include "trace/accelsim_reader.h"

#include "base/intern.h"
#include "base/mem.h"
#include "trace/line_reader.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { VERSION_MAX = 6, BLOCK_WARPS_MAX = 64, PATH_BYTES = 4096, BLOCK_THREADS_MAX = 2048 };

typedef enum place {
    IN_LIST,   /* between kernels */
    IN_HEADER, /* lines that start with - */
    IN_KERNEL, /* between thread blocks */
    IN_BLOCK,  /* between warps */
    IN_WARP,   /* its instructions */
    AT_END,
} place;

typedef struct accelsim {
    warp_stream stream;
    char *list_path, kernel_path[PATH_BYTES];
    line_reader *list;  /* NULL: the file was a kernel itself */
    line_reader *lines; /* of the kernel */
    intern_table opcodes;
    place where;
    uint32_t version;
    bool fresh; /* no line of the kernel was read */
    bool line_numbers;
    uint32_t seen; /* header keys that are needed */
    bool block_named, warp_named;
    uint64_t warps_seen; /* of the block: a mask */
    uint32_t warps;      /* of a block */
    uint32_t warp;
    uint64_t insts, insts_left;
    uint64_t blocks, grid_blocks;
} accelsim;

/* ---- words ------------------------------------------------------------------------------------------------------- */

typedef struct words {
    const char *at, *end;
} words;

static bool word(words *w, const char **text, size_t *length) {
    line_skip_blanks(&w->at, w->end);
    *text = w->at;
    while (w->at < w->end && *w->at != ' ' && *w->at != '\t')
        w->at++;
    *length = (size_t)(w->at - *text);
    return *length > 0;
}

static bool number_word(words *w, int base, uint64_t *value) {
    line_skip_blanks(&w->at, w->end);
    const bool ok = base == 16 ? line_hexadecimal(&w->at, w->end, value) : line_number(&w->at, w->end, base, value);
    return ok && (w->at == w->end || *w->at == ' ' || *w->at == '\t');
}

static bool signed_word(words *w, int64_t *value) {
    uint64_t v = 0;
    line_skip_blanks(&w->at, w->end);
    const bool negative = w->at < w->end && *w->at == '-';
    w->at += negative;
    if (!number_word(w, 10, &v) || v > (uint64_t)INT64_MAX)
        return false;
    *value = negative ? -(int64_t)v : (int64_t)v;
    return true;
}

static bool at_end(words *w) {
    line_skip_blanks(&w->at, w->end);
    return w->at == w->end;
}

static bool starts(const char *text, const char *end, const char *with) {
    const size_t n = strlen(with);
    return (size_t)(end - text) >= n && memcmp(text, with, n) == 0;
}

/* ---- header ------------------------------------------------------------------------------------------------------ */

enum { KEY_NAME = 1, KEY_GRID = 2, KEY_BLOCK = 4, KEYS_NEEDED = KEY_GRID | KEY_BLOCK };

/* "(x,y,z)" or "x,y,z" */
static bool triple(const char *text, const char *end, uint32_t out[3]) {
    const bool bracket = text < end && *text == '(';
    text += bracket;
    for (int i = 0; i < 3; i++) {
        uint64_t v = 0;
        line_skip_blanks(&text, end);
        if (!line_number(&text, end, 10, &v) || v > UINT32_MAX)
            return false;
        out[i] = (uint32_t)v;
        line_skip_blanks(&text, end);
        if (i < 2 && (text == end || *text++ != ','))
            return false;
    }
    if (bracket && (text == end || *text++ != ')'))
        return false;
    line_skip_blanks(&text, end);
    return text == end;
}

static bool product(const uint32_t d[3], uint64_t *out) {
    uint64_t xy = (uint64_t)d[0] * d[1];
    return !__builtin_mul_overflow(xy, (uint64_t)d[2], out) && *out > 0;
}

static status header_dims(accelsim *a, warp_event *e, bool grid, const char *value, const char *text, const char *end,
                          message *m) {
    uint64_t n = 0;
    uint32_t *d = grid ? e->kernel.grid : e->kernel.block;
    if (!triple(value, end, d) || !product(d, &n))
        return line_reader_bad(a->lines, text, end, "three sizes from 1 on are needed: (x,y,z)", m);
    if (!grid && n > BLOCK_THREADS_MAX)
        return line_reader_bad(a->lines, text, end, "a thread block has at most 2048 threads", m);
    if (grid)
        a->grid_blocks = n;
    else
        a->warps = (uint32_t)((n + 31) / 32);
    a->seen |= grid ? KEY_GRID : KEY_BLOCK;
    return OK;
}

static status header_version(accelsim *a, const char *value, const char *text, const char *end, message *m) {
    uint64_t v = 0;
    if (!line_number(&value, end, 10, &v) || (value < end && *value != '.') || v < 1 || v > VERSION_MAX)
        return line_reader_bad(a->lines, text, end, "this reader knows the tracer's versions 1 to 6", m);
    a->version = (uint32_t)v;
    return OK;
}

static status header_number(accelsim *a, const char *value, int base, uint64_t limit, uint64_t *out, const char *text,
                            const char *end, message *m) {
    words w = {value, end};
    char need[64];
    snprintf(need, sizeof need, base == 16 ? "a hexadecimal number is needed" : "a number of at most %llu is needed",
             (unsigned long long)limit);
    if (!number_word(&w, base, out) || !at_end(&w) || *out > limit)
        return line_reader_bad(a->lines, text, end, need, m);
    return OK;
}

/* The keys whose value is a number: where it goes, its base and its limit. */
static const struct {
    const char *key;
    size_t offset; /* of a uint32_t or a uint64_t in warp_kernel */
    bool wide, hex;
    uint64_t limit;
} number_keys[] = {
    {"kernel id", offsetof(warp_kernel, id), true, false, UINT64_MAX},
    {"cuda stream id", offsetof(warp_kernel, stream), true, false, UINT64_MAX},
    {"shmem", offsetof(warp_kernel, shared_bytes), false, false, UINT32_MAX},
    {"nregs", offsetof(warp_kernel, registers), false, false, 255},
    {"binary version", offsetof(warp_kernel, binary_version), false, false, UINT32_MAX},
    {"shmem base_addr", offsetof(warp_kernel, shared_base), true, true, UINT64_MAX},
    {"local mem base_addr", offsetof(warp_kernel, local_base), true, true, UINT64_MAX},
};

static bool same(const char *text, const char *end, const char *with) {
    return strlen(with) == (size_t)(end - text) && starts(text, end, with);
}

static status header_line(accelsim *a, warp_event *e, const char *text, const char *end, message *m) {
    const char *equals = memchr(text, '=', (size_t)(end - text));
    if (*text != '-' || !equals)
        return line_reader_bad(a->lines, text, end, "a line '-key = value' or '#traces format' is needed here", m);
    const char *key = text + 1, *key_end = equals, *value = equals + 1;
    line_skip_blanks(&value, end);
    while (key_end > key && key_end[-1] == ' ')
        key_end--;
    if (same(key, key_end, "kernel name")) {
        snprintf(e->kernel.name, sizeof e->kernel.name, "%.*s", (int)(end - value), value);
        return OK;
    }
    if (same(key, key_end, "grid dim") || same(key, key_end, "block dim"))
        return header_dims(a, e, *key == 'g', value, text, end, m);
    if (same(key, key_end, "accelsim tracer version"))
        return header_version(a, value, text, end, m);
    uint64_t n = 0;
    if (same(key, key_end, "enable lineinfo")) {
        TRY(header_number(a, value, 10, 1, &n, text, end, m));
        a->line_numbers = n;
        return OK;
    }
    for (size_t i = 0; i < sizeof number_keys / sizeof *number_keys; i++)
        if (same(key, key_end, number_keys[i].key)) {
            TRY(header_number(a, value, number_keys[i].hex ? 16 : 10, number_keys[i].limit, &n, text, end, m));
            char *to = (char *)&e->kernel + number_keys[i].offset;
            if (number_keys[i].wide)
                memcpy(to, &n, sizeof n);
            else
                memcpy(to, &(uint32_t){(uint32_t)n}, sizeof(uint32_t));
            return OK;
        }
    return OK; /* such as nvbit version */
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

/* R7, UR3; false: no such name. Zero registers are left out. */
static bool register_word(words *w, uint16_t *list, uint8_t *count) {
    uint64_t n = 0;
    line_skip_blanks(&w->at, w->end);
    const bool uniform = w->at < w->end && *w->at == 'U';
    w->at += uniform;
    if (w->at == w->end || *w->at != 'R')
        return false;
    w->at++;
    if (!number_word(w, 10, &n) || n > (uniform ? 63 : 255))
        return false;
    if (n != (uniform ? 63 : 255))
        list[(*count)++] = (uint16_t)(uniform ? WARP_UNIFORM + n : n);
    return true;
}

static bool registers(words *w, uint64_t limit, uint16_t *list, uint8_t *count) {
    uint64_t n = 0;
    if (!number_word(w, 10, &n) || n > limit)
        return false;
    *count = 0;
    while (n-- > 0)
        if (!register_word(w, list, count))
            return false;
    return true;
}

static bool address_fits(int64_t base, int64_t offset, int64_t *out) {
    return !__builtin_add_overflow(base, offset, out) && *out >= 0;
}

/* The addresses behind their mode; NULL, or what is wrong with them. */
static const char *addresses(words *w, warp_access *x) {
    static const char *const too_large = "addresses are from 0 to 2^63 - 1";
    uint64_t mode = 0, base = 0;
    if (!number_word(w, 10, &mode) || mode > 2)
        return "address mode 0, 1 or 2 is needed after a width";
    x->affine = mode == 1;
    if (mode == 0) {
        for (uint64_t left = x->mask; left; left &= left - 1) {
            if (!number_word(w, 16, &base))
                return "a hexadecimal address for each active lane is needed";
            if (base > (uint64_t)INT64_MAX)
                return too_large;
            x->lane[__builtin_ctzll(left)] = (int64_t)base;
        }
        return NULL;
    }
    if (!number_word(w, 16, &base))
        return "a hexadecimal base address is needed";
    if (base > (uint64_t)INT64_MAX)
        return too_large;
    if (mode == 1) {
        if (!signed_word(w, &x->stride))
            return "a decimal stride is needed after the base";
        if (!x->mask) {
            x->base = x->stride = 0;
            return NULL;
        }
        const int first = __builtin_ctzll(x->mask), last = 63 - __builtin_clzll(x->mask);
        int64_t reach = 0, end = 0;
        if ((x->mask >> first) & ((x->mask >> first) + 1))
            return "base and stride (mode 1) say nothing when the active lanes are not consecutive";
        if (__builtin_mul_overflow(x->stride, (int64_t)(last - first), &reach) ||
            !address_fits((int64_t)base, reach, &end) || __builtin_mul_overflow(x->stride, (int64_t)first, &reach) ||
            __builtin_sub_overflow((int64_t)base, reach, &x->base))
            return too_large;
        return NULL;
    }
    int64_t at = (int64_t)base, delta = 0;
    uint64_t left = x->mask;
    if (left)
        x->lane[__builtin_ctzll(left)] = at;
    for (left &= left - 1; left; left &= left - 1) {
        if (!signed_word(w, &delta))
            return "a decimal difference for each active lane but the first is needed";
        if (!address_fits(at, delta, &at))
            return too_large;
        x->lane[__builtin_ctzll(left)] = at;
    }
    return NULL;
}

static const char *opcode_of(accelsim *a, const char *text, size_t length, warp_inst *x) {
    interned *known = intern(&a->opcodes, text, length);
    opcode_info *info = known ? known->value : NULL;
    if (known && !info) {
        info = arena_alloc(&a->opcodes.memory, 2 * sizeof *info);
        known->value = info;
        for (int has_dst = 0; info && has_dst < 2; has_dst++)
            info[has_dst] = opcode_parse(text, length, has_dst);
    }
    if (!info)
        return "not enough memory";
    x->opcode = known->text;
    x->info = info[x->dst_count > 0];
    return NULL;
}

/* What follows the addresses: immediates, and in version 6 values. */
static bool tail(words *w, uint32_t version, warp_inst *x) {
    x->imm_count = version < 5 ? 0 : version == 5 ? 1 : 2;
    for (int i = 0; i < x->imm_count; i++)
        if (!signed_word(w, &x->imm[i]))
            return false;
    if (version < 6)
        return at_end(w);
    const char *text;
    size_t length;
    if (!word(w, &text, &length))
        return false;
    return same(text, text + length, "Val") || (same(text, text + length, "NoVal") && at_end(w));
}

static const char *parse_inst(accelsim *a, const char *text, const char *end, warp_event *e) {
    warp_inst *x = &e->inst;
    words w = {text, end};
    uint64_t n = 0;
    if (a->version < 3)
        for (int i = 0; i < 4; i++)
            if (!number_word(&w, 10, &n) || n != (i < 3 ? e->block[i] : a->warp))
                return "the line belongs to another thread block or warp, or has no bx by bz warp in front";
    x->line = 0;
    if (a->line_numbers) {
        if (!number_word(&w, 10, &n) || n > UINT32_MAX)
            return "the line of the source is needed in front";
        x->line = (uint32_t)n;
    }
    if (!number_word(&w, 16, &x->pc))
        return "a hexadecimal PC is needed";
    if (!number_word(&w, 16, &x->access.mask) || x->access.mask > UINT32_MAX)
        return "a mask of at most 32 bits, hexadecimal, is needed after the PC";
    if (!registers(&w, WARP_DST_MAX, x->dst, &x->dst_count))
        return "at most 2 destinations are needed after the mask: their number, then R0 to R255";
    const char *name;
    size_t length;
    if (!word(&w, &name, &length) || *name < 'A' || *name > 'Z')
        return "an opcode is needed after the destinations";
    const char *fault = opcode_of(a, name, length, x);
    if (fault)
        return fault;
    if (!registers(&w, WARP_SRC_MAX, x->src, &x->src_count))
        return "at most 5 sources are needed after the opcode: their number, then R0 to R255";
    if (!number_word(&w, 10, &n) || n > 1024)
        return "the width of the access in bytes is needed after the sources, 0 for none";
    x->width = (uint32_t)n;
    x->access.affine = true;
    x->access.base = x->access.stride = 0;
    if (x->width && (fault = addresses(&w, &x->access)))
        return fault;
    return tail(&w, a->version, x) ? NULL : "more or fewer fields than lines of this tracer version have";
}

/* ---- body -------------------------------------------------------------------------------------------------------- */

static status wrong(const accelsim *a, const char *text, const char *end, const char *what, message *m) {
    return line_reader_bad(a->lines, text, end, what, m);
}

/* An ERR_INPUT that a lenient reader passes over, and counts. */
static status excuse(accelsim *a, status s, const message *m) {
    if (s != ERR_INPUT || !a->stream.lenient)
        return s;
    if (a->stream.faults.count++ == 0)
        a->stream.faults.first = *m;
    return OK;
}

static bool value_of(const char *text, const char *end, const char *key, const char **value) {
    if (!starts(text, end, key))
        return false;
    text += strlen(key);
    line_skip_blanks(&text, end);
    if (text == end || *text != '=')
        return false;
    text++;
    line_skip_blanks(&text, end);
    *value = text;
    return true;
}

static status begin_kernel(accelsim *a, warp_event *e, message *m) {
    if ((a->seen & KEYS_NEEDED) != KEYS_NEEDED)
        return fail_at(m, line_reader_name(a->lines), line_reader_line(a->lines),
                       "the header has no 'grid dim' or no 'block dim'");
    a->where = IN_KERNEL;
    a->blocks = 0;
    e->kind = WARP_KERNEL;
    return OK;
}

/* Ends what is open when the block or the file ends before its time. */
static status cut_short(accelsim *a, const char *what, message *m) {
    if (a->where != IN_WARP)
        return OK;
    const unsigned long long have = a->insts - a->insts_left, all = a->insts;
    a->where = IN_BLOCK;
    return excuse(a,
                  fail_at(m, line_reader_name(a->lines), line_reader_line(a->lines),
                          "%s after %llu of the %llu instructions that 'insts' announces for warp %u", what, have, all,
                          a->warp),
                  m);
}

static status block_line(accelsim *a, warp_event *e, const char *text, const char *end, bool *ready, message *m) {
    const char *value;
    if (value_of(text, end, "thread block", &value)) {
        if (a->block_named)
            return wrong(a, text, end, "the thread block has its number already; '#END_TB' is missing", m);
        if (!triple(value, end, e->block) || e->block[0] >= e->kernel.grid[0] || e->block[1] >= e->kernel.grid[1] ||
            e->block[2] >= e->kernel.grid[2])
            return wrong(a, text, end, "a thread block x,y,z within the grid is needed", m);
        if (a->blocks++ == a->grid_blocks)
            return wrong(a, text, end, "there are more thread blocks than the grid has", m);
        a->block_named = true;
        e->kind = WARP_BLOCK;
        *ready = true;
        return OK;
    }
    if (starts(text, end, "cluster "))
        return OK;
    if (!a->block_named)
        return wrong(a, text, end, "'thread block = x,y,z' is needed here", m);
    words w = {text, end};
    uint64_t n = 0;
    if (value_of(text, end, "warp", &value)) {
        w.at = value;
        a->warp_named = false;
        if (!number_word(&w, 10, &n) || !at_end(&w) || n >= a->warps)
            return wrong(a, text, end, "no such warp: the thread block has not so many threads", m);
        if (a->warps_seen >> n & 1)
            return wrong(a, text, end, "this warp of the thread block was there before", m);
        a->warps_seen |= UINT64_C(1) << n;
        a->warp = (uint32_t)n;
        a->warp_named = true;
        return OK;
    }
    if (value_of(text, end, "insts", &value)) {
        w.at = value;
        if (!a->warp_named)
            return wrong(a, text, end, "'warp = n' is needed before", m);
        if (!number_word(&w, 10, &n) || !at_end(&w))
            return wrong(a, text, end, "a number of instructions is needed", m);
        a->warp_named = false;
        a->insts = a->insts_left = n;
        a->where = IN_WARP;
        e->kind = WARP_WARP;
        e->warp = a->warp;
        e->insts = n;
        *ready = true;
        return OK;
    }
    return wrong(a, text, end,
                 "'warp = n', 'insts = n' or '#END_TB' is needed here: are there more instructions than "
                 "'insts' says?",
                 m);
}

static status end_block(accelsim *a, warp_event *e, const char *what, message *m) {
    TRY(cut_short(a, what, m));
    a->where = IN_KERNEL;
    e->kind = WARP_BLOCK_END;
    return OK;
}

/* The next line that is not blank; *text NULL at the end, also at the end of what can be read. */
static status next_text(accelsim *a, line_reader *from, const char **text, const char **end, message *m) {
    const status s = line_reader_next_text(from, text, end, m);
    if (s != OK)
        *text = NULL;
    return excuse(a, s, m);
}

static status end_of_file(accelsim *a, warp_event *e, message *m) {
    if (a->where == IN_HEADER)
        return fail_at(m, line_reader_name(a->lines), line_reader_line(a->lines), "the file ends within its header");
    if (a->where == IN_KERNEL) {
        line_reader_close(a->lines);
        a->lines = NULL;
        a->where = a->list ? IN_LIST : AT_END;
        e->kind = WARP_KERNEL_END;
        return OK;
    }
    TRY(cut_short(a, "the file ends", m));
    TRY(excuse(a,
               fail_at(m, line_reader_name(a->lines), line_reader_line(a->lines),
                       "the file ends within a thread block: '#END_TB' is missing"),
               m));
    a->where = IN_KERNEL;
    e->kind = a->block_named ? WARP_BLOCK_END : WARP_KERNEL_END;
    return a->block_named ? OK : end_of_file(a, e, m);
}

/* A line that starts with #. */
static status mark_line(accelsim *a, warp_event *e, const char *text, const char *end, bool *ready, message *m) {
    if (a->where == IN_HEADER) {
        *ready = true;
        return begin_kernel(a, e, m);
    }
    if (starts(text, end, "#BEGIN_TB")) {
        const bool open = a->where != IN_KERNEL, named = a->block_named;
        if (open) {
            TRY(cut_short(a, "a thread block begins", m));
            TRY(excuse(a, wrong(a, text, end, "'#END_TB' of the thread block before is missing", m), m));
        }
        *ready = open && named;
        e->kind = WARP_BLOCK_END;
        a->where = IN_BLOCK;
        a->block_named = a->warp_named = false;
        a->warps_seen = 0;
        return OK;
    }
    if (starts(text, end, "#END_TB")) {
        if (a->where == IN_KERNEL)
            return wrong(a, text, end, "no thread block has begun", m);
        *ready = a->block_named;
        return end_block(a, e, "the thread block ends", m);
    }
    return OK; /* a comment */
}

static status kernel_line(accelsim *a, warp_event *e, const char *text, const char *end, bool *ready, message *m) {
    if (a->fresh) {
        a->fresh = false;
        e->kernel = (warp_kernel){.lanes = 32};
    }
    if (*text == '#')
        return mark_line(a, e, text, end, ready, m);
    if (a->where == IN_HEADER)
        return header_line(a, e, text, end, m);
    if (a->where == IN_KERNEL)
        return wrong(a, text, end, "'#BEGIN_TB' is needed here", m);
    if (a->where == IN_BLOCK)
        return block_line(a, e, text, end, ready, m);
    if (starts(text, end, "warp ") || starts(text, end, "insts ") || starts(text, end, "thread block ")) {
        TRY(cut_short(a, "the warp ends", m));
        return block_line(a, e, text, end, ready, m);
    }
    if (--a->insts_left == 0)
        a->where = IN_BLOCK;
    const char *fault = parse_inst(a, text, end, e);
    if (fault)
        return wrong(a, text, end, fault, m);
    e->kind = WARP_INST;
    *ready = true;
    return OK;
}

static void begin_file(accelsim *a, line_reader *lines) {
    a->lines = lines;
    a->where = IN_HEADER;
    a->version = 1;
    a->fresh = true;
    a->line_numbers = false;
    a->seen = 0;
    a->block_named = a->warp_named = false;
}

static status list_line(accelsim *a, warp_event *e, const char *text, const char *end, bool *ready, message *m) {
    if (starts(text, end, "MemcpyHtoD,")) {
        const char *p = text + strlen("MemcpyHtoD,");
        if (!line_hexadecimal(&p, end, &e->address) || p == end || *p++ != ',' || !line_number(&p, end, 10, &e->bytes))
            return line_reader_bad(a->list, text, end, "MemcpyHtoD,0xADDRESS,BYTES is needed", m);
        e->kind = WARP_COPY;
        e->to_device = true;
        *ready = true;
        return OK;
    }
    if (!starts(text, end, "kernel"))
        return OK;
    const char *slash = strrchr(a->list_path, '/');
    const int folder = slash ? (int)(slash - a->list_path) + 1 : 0;
    while (end[-1] == ' ' || end[-1] == '\t')
        end--;
    const int n =
        snprintf(a->kernel_path, sizeof a->kernel_path, "%.*s%.*s", folder, a->list_path, (int)(end - text), text);
    if (n < 0 || (size_t)n >= sizeof a->kernel_path)
        return line_reader_bad(a->list, text, end, "the path of this kernel is too long", m);
    message inner;
    line_reader *lines = NULL;
    if (line_reader_open(a->kernel_path, &lines, &inner) != OK)
        return fail_at(m, line_reader_name(a->list), line_reader_line(a->list), "%.800s", inner.text);
    begin_file(a, lines);
    return OK;
}

static status accelsim_next(warp_stream *s, warp_event *e, message *m) {
    accelsim *a = (accelsim *)s;
    bool ready = false;
    while (!ready) {
        if (a->where == AT_END) {
            e->kind = WARP_END;
            return OK;
        }
        const char *text, *end;
        const bool list = a->where == IN_LIST;
        TRY(next_text(a, list ? a->list : a->lines, &text, &end, m));
        if (!text && !list)
            return end_of_file(a, e, m);
        if (!text)
            a->where = AT_END;
        else
            TRY(excuse(a, list ? list_line(a, e, text, end, &ready, m) : kernel_line(a, e, text, end, &ready, m), m));
    }
    return OK;
}

static void accelsim_close(warp_stream *s) {
    accelsim *a = (accelsim *)s;
    line_reader_close(a->lines);
    line_reader_close(a->list);
    intern_free(&a->opcodes);
    mem_free(a->list_path);
    mem_free(a);
}

bool accelsim_is(const char *text, const char *end) {
    return *text == '-' ? memchr(text, '=', (size_t)(end - text)) != NULL
                        : starts(text, end, "Memcpy") || starts(text, end, "kernel") || starts(text, end, "cuda");
}

status accelsim_open(const char *path, line_reader *lines, bool lenient, warp_stream **out, message *m) {
    const char *text = NULL, *end = NULL;
    *out = NULL;
    accelsim *a = mem_zero(1, sizeof *a);
    char *name = mem_zero(strlen(path) + 1, 1);
    status s = a && name ? line_reader_next_text(lines, &text, &end, m) : fail(m, ERR_MEMORY, "not enough memory");
    if (s == OK && !text)
        s = fail_at(m, path, 0, "there is nothing in this trace");
    if (s != OK) {
        line_reader_close(lines);
        mem_free(name);
        mem_free(a);
        return s;
    }
    line_reader_again(lines);
    a->stream = (warp_stream){.next = accelsim_next, .close = accelsim_close, .lenient = lenient};
    a->list_path = name;
    strcpy(name, path);
    if (*text == '-')
        begin_file(a, lines);
    else
        a->list = lines;
    *out = &a->stream;
    return OK;
}

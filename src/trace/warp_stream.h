/* warp_stream.h - recorded GPU kernels, whatever their format, as one event after the other.
 *
 * A stream is WARP_COPY and kernels in any order, then WARP_END for ever. A kernel is WARP_KERNEL, its thread blocks,
 * WARP_KERNEL_END. A block is WARP_BLOCK, its warps, WARP_BLOCK_END; a warp is WARP_WARP, then its WARP_INST. Warps and
 * blocks may be left out, which means that they did nothing. Memory does not depend on the length of the trace.
 *
 * Registers are named as in SASS: 0 .. 254 are R0 .. R254, WARP_UNIFORM + n is URn; R255 and UR63, which read as zero,
 * are left out.
 */
#ifndef COALIGN_TRACE_WARP_STREAM_H
#define COALIGN_TRACE_WARP_STREAM_H

#include "base/status.h"
#include "kernel/address.h"
#include "trace/opcode.h"

enum {
    WARP_UNIFORM = 256,
    WARP_REGISTER_NAMES = WARP_UNIFORM + 64,
    WARP_DST_MAX = 2,
    WARP_SRC_MAX = 5,
    WARP_IMM_MAX = 2,
    WARP_NAME_MAX = 256, /* bytes of a kernel's name; longer ones are cut */
};

typedef enum warp_event_kind {
    WARP_END,
    WARP_COPY, /* from or to the host */
    WARP_KERNEL,
    WARP_BLOCK,
    WARP_WARP,
    WARP_INST,
    WARP_BLOCK_END,
    WARP_KERNEL_END,
} warp_event_kind;

typedef struct warp_kernel {
    char name[WARP_NAME_MAX];
    uint64_t id, stream;
    uint32_t grid[3], block[3];
    uint32_t lanes;                   /* of a warp: 32 or 64 */
    uint32_t shared_bytes, registers; /* registers: per thread; 0: not known */
    uint32_t binary_version;          /* 61: sm_61; 0: not known */
    uint64_t shared_base, local_base; /* of the windows in generic addresses; 0: not known */
    bool whole_registers; /* a register name stands for a whole value, however wide, not for 32 bits of it */
} warp_kernel;

typedef struct warp_inst {
    uint64_t pc;        /* bytes from the kernel's begin */
    uint32_t line;      /* of the source; 0: not known */
    const char *opcode; /* as long as the stream */
    opcode_info info;
    uint32_t width; /* bytes a lane, as recorded; 0: no access */
    uint8_t dst_count, src_count, imm_count;
    uint16_t dst[WARP_DST_MAX], src[WARP_SRC_MAX];
    int64_t imm[WARP_IMM_MAX];
    warp_access access; /* mask: also without an access; addresses: below 2^63, of active lanes, if width */
} warp_inst;

typedef struct warp_event {
    warp_event_kind kind;
    uint64_t address, bytes; /* WARP_COPY */
    bool to_device;          /* WARP_COPY */
    uint32_t block[3];       /* WARP_BLOCK */
    uint32_t warp;           /* WARP_WARP: number in its block */
    uint64_t insts;          /* WARP_WARP: how many the trace announces; of a lenient stream fewer may follow */
    warp_kernel kernel;      /* from WARP_KERNEL to WARP_KERNEL_END */
    warp_inst inst;          /* WARP_INST */
} warp_event;

/* What was wrong in a trace that is read leniently. */
typedef struct warp_faults {
    uint64_t count;
    message first;
} warp_faults;

typedef struct warp_stream warp_stream;
struct warp_stream {
    /* Fills what the kind of *e needs; the rest of *e, which is the caller's and the same in every call, stays.
     * ERR_INPUT with file:line, ERR_IO, ERR_MEMORY. */
    status (*next)(warp_stream *s, warp_event *e, message *m);
    void (*close)(warp_stream *s);
    bool lenient; /* what is wrong is left out and counted */
    warp_faults faults;
};

/* Opens a trace of any format: an Accel-Sim kernelslist.g or one of its kernels. ERR_IO, ERR_INPUT, ERR_MEMORY. */
status warp_stream_open(const char *path, bool lenient, warp_stream **out, message *m);
void warp_stream_close(warp_stream *s);

#endif

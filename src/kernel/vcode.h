/* vcode.h - code with as many registers as it likes, on its way from a loop body to a kernel (internal). */
#ifndef COALIGN_KERNEL_VCODE_H
#define COALIGN_KERNEL_VCODE_H

#include "kernel/lower.h"

enum {
    VCODE_LOOP_BEGIN = OP_CLASS_COUNT, /* marks where the loop `loop` begins; no instruction */
    VCODE_KEEP,                        /* its sources live until here; no instruction */
};

typedef struct vinst {
    uint8_t op; /* op_class, or one of the above */
    uint16_t access, loop;
    uint32_t dst, src[3]; /* 0: none */
    lower_note note;
} vinst;

typedef struct vlist {
    vinst *inst;
    size_t count, capacity;
} vlist;

typedef struct vcode {
    vlist code;
    uint8_t *width;     /* by register, in 32-bit registers; 0: a predicate */
    bool *temporary;    /* by register: must not be spilled */
    uint32_t registers; /* names used, with the unused 0 */
    size_t width_capacity, temporary_capacity;
} vcode;

/* Local memory: word w of a block's threads lies together, thread by thread, as GPUs interleave it, so that a warp's
 * access to one of its variables is contiguous:  base + block * size + (w * threads + thread) * 4. */
typedef struct local_frame {
    int64_t base;
    uint32_t threads; /* of a block, in whole warps */
    uint32_t words;   /* used so far, per thread */
    uint32_t *term;   /* those that need the final size */
    size_t terms, capacity;
} local_frame;

/* 0: not enough memory. */
uint32_t vcode_register(vcode *v, uint32_t width, bool temporary);
bool vlist_add(vlist *l, const vinst *x);
bool vlist_append(vlist *to, const vlist *from);
void vcode_free(vcode *v);

/* Adds the term that tells the local memories of the blocks apart; its factor, the size of one, comes with
 * local_frame_close. */
status local_frame_term(kernel *k, local_frame *f, message *m);
void local_frame_close(kernel *k, const local_frame *f);
void local_frame_free(local_frame *f);

/* Reorders the instructions between loop ends and branches. */
status vcode_schedule(vcode *v, const machine *mach, const kernel *k, uint32_t window, bool no_alias, message *m);

/* Gives registers below `limit`, spilling into the frame what does not fit, and fills k->code, k->loops, k->registers
 * and out's counts and notes. */
status vcode_allocate(vcode *v, uint32_t limit, local_frame *f, lowered *out, message *m);

#endif

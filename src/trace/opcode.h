/* opcode.h - what an opcode of NVIDIA's SASS means for time and memory: its class, the memory that it accesses, how
 * wide.
 *
 * Sources: CUDA Binary Utilities, "Instruction Set Reference"; widths as in the traces' own rule, from the suffix. */
#ifndef COALIGN_TRACE_OPCODE_H
#define COALIGN_TRACE_OPCODE_H

#include "kernel/ir.h"

#include <stddef.h>

typedef enum opcode_memory {
    MEMORY_NONE,
    MEMORY_GLOBAL,
    MEMORY_LOCAL,
    MEMORY_SHARED,
    MEMORY_GENERIC, /* shared, local or global: the address decides */
} opcode_memory;

typedef struct opcode_info {
    op_class op;           /* of a generic access: OP_LOAD or OP_STORE */
    opcode_memory memory;  /* NONE: its accesses, if any, are not simulated */
    uint8_t bytes;         /* per lane */
    uint8_t dst_words;     /* 32-bit registers that it writes from its first on */
    uint8_t address_words; /* of the register that holds the address, the first that it reads */
    uint8_t data_words;    /* of every other register that it reads */
    bool atomic;           /* counted as the load (with a result) or store (without) that it is a part of */
    bool known;            /* false: an opcode that the table lacks, charged as integer arithmetic */
} opcode_info;

/* text[0 .. length): "LDG.E.128.SYS". has_dst: the instruction writes a register. */
opcode_info opcode_parse(const char *text, size_t length, bool has_dst);

/* An opcode that opcode_parse gives back the class, the memory and the width of; for instructions that were generated.
 * bytes: of memory instructions. Returns buffer. */
char *opcode_print(char *buffer, size_t size, op_class op, ir_space space, uint32_t bytes);

#endif

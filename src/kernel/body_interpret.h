/* body_interpret.h - executes a loop body on the host, to see what it computes. */
#ifndef COALIGN_KERNEL_BODY_INTERPRET_H
#define COALIGN_KERNEL_BODY_INTERPRET_H

#include "kernel/body.h"

/* memory[id] of every global array: array->elements elements of its type (int32_t, int64_t, float, double; uint16_t
 * with the bits of an f16); the other entries are not looked at. Blocks run one after the other, and the threads of a
 * block likewise, x fastest; so a body whose threads depend on each other is not executed as a GPU would. ERR_INPUT
 * with the place in the text: a subscript outside its extent, an integer division by zero. ERR_MEMORY. */
status body_interpret(const body *b, void *const *memory, message *m);

#endif

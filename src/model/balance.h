/* balance.h - a machine's balance between compute and memory: the quantities of arithmetic.h for its own figures. */
#ifndef COALIGN_MODEL_BALANCE_H
#define COALIGN_MODEL_BALANCE_H

#include "machine/machine.h"

#include <stdint.h>

enum { BALANCE_ROWS_MAX = 64, BALANCE_NAME_MAX = 72 };

typedef struct balance_row {
    const char *group;
    char quantity[BALANCE_NAME_MAX];
    const char *unit;
    double value;
} balance_row;

typedef struct balance {
    uint32_t count;
    balance_row row[BALANCE_ROWS_MAX];
} balance;

/* Floats are of 4 bytes, warps as wide as the machine's, arithmetic is fp32. */
void balance_of(const machine *mach, balance *b);

#endif

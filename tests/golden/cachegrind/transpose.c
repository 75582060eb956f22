/* Naive and blocked transposition of a matrix whose rows are a power of two apart. */
#include "start.h"

enum { N = 96, PITCH = 128, BLOCK = 8 };
static double a[N][PITCH], b[N][PITCH];

void work(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            b[j][i] = a[i][j];
    for (int ii = 0; ii < N; ii += BLOCK)
        for (int jj = 0; jj < N; jj += BLOCK)
            for (int i = ii; i < ii + BLOCK; i++)
                for (int j = jj; j < jj + BLOCK; j++)
                    a[j][i] = b[i][j];
}

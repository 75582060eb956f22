/* Recursion: return addresses and saved registers on the stack, partitions in an array. */
#include "start.h"

enum { N = 2200 };
static int32_t a[N];

static void sort(int32_t *first, int32_t *last) {
    while (first < last) {
        const int32_t pivot = first[(last - first) / 2];
        int32_t *i = first, *j = last;
        while (i <= j) {
            while (*i < pivot)
                i++;
            while (*j > pivot)
                j--;
            if (i <= j) {
                const int32_t t = *i;
                *i++ = *j;
                *j-- = t;
            }
        }
        sort(first, j);
        first = i;
    }
}

void work(void) {
    uint32_t x = 1;
    for (int i = 0; i < N; i++)
        a[i] = (int32_t)((x = x * 1664525 + 1013904223) >> 1);
    sort(a, a + N - 1);
}

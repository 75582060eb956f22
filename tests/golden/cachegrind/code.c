/* More code than a small instruction cache holds: 64 functions of some 150 bytes, called in turn. */
#include "start.h"

static volatile uint32_t x[16];

#define MIX(i) x[(i) & 15] = x[(i + 3) & 15] * (2654435761u + (i)) + (x[(i + 7) & 15] >> 3);
#define F(n) __attribute__((noinline)) static void f##n(void) { MIX(n) MIX(n + 1) MIX(n + 2) MIX(n + 5) }
#define EIGHT(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7)
#define CALL(n) f##n##0(); f##n##1(); f##n##2(); f##n##3(); f##n##4(); f##n##5(); f##n##6(); f##n##7();
EIGHT(1) EIGHT(2) EIGHT(3) EIGHT(4) EIGHT(5) EIGHT(6) EIGHT(7) EIGHT(8)

void work(void) {
    for (int i = 0; i < 60; i++) {
        CALL(1) CALL(2) CALL(3) CALL(4)
        if (i % 3 == 0) {
            CALL(5) CALL(6) CALL(7) CALL(8)
        }
    }
}

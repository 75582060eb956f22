/* Records of 13 bytes, whose 8-byte fields often lie across two lines, and 16-byte vectors at odd places. */
#include "start.h"

struct __attribute__((packed)) record {
    uint8_t tag;
    uint64_t value;
    uint32_t count;
};
static struct record record[2500];
static char text[1 << 14];
typedef char vector __attribute__((vector_size(16), aligned(1)));

void work(void) {
    uint64_t sum = 0;
    for (int i = 0; i < 2500; i++) {
        record[i].value = sum + (uint64_t)i;
        record[i].tag = (uint8_t)i;
    }
    for (int i = 0; i < 2500; i += 3)
        sum += record[i].value + record[i].count;
    for (int i = 1; i + 33 < (int)sizeof text; i += 23)
        *(vector *)(text + i) = *(vector *)(text + i + 17);
    text[0] = (char)sum;
}

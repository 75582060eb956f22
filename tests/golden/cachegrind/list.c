/* A list in an order that jumps about: each address comes from the load before. */
#include "start.h"

enum { NODES = 4096 };
static struct node {
    struct node *next;
    uint64_t payload[5];
} node[NODES];

void work(void) {
    /* An odd multiplier and increment modulo 2^12 walk through all nodes (Hull and Dobell 1962). */
    for (uint32_t i = 0, at = 0; i < NODES; i++) {
        uint32_t next = (at * 1229 + 351) % NODES;
        node[at].next = &node[next];
        at = next;
    }
    struct node *p = node;
    for (int i = 0; i < 2 * NODES; i++) {
        p->payload[i & 3]++;
        p = p->next;
    }
}

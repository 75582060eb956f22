/* machine_read.h - what the readers of GPU and CPU descriptions share (internal to src/config). */
#ifndef COALIGN_CONFIG_MACHINE_READ_H
#define COALIGN_CONFIG_MACHINE_READ_H

#include "config/machine_config.h"

#include <math.h>

#define LENGTH(a) (sizeof(a) / sizeof *(a))

#define COUNT(s, member, low, high)                                                                                    \
    { .key = #member, .kind = FIELD_COUNT, .offset = offsetof(s, member), .min = low, .max = high }
#define BYTES(s, member, low, high)                                                                                    \
    { .key = #member, .kind = FIELD_BYTES, .offset = offsetof(s, member), .min = low, .max = high }
#define NUMBER(s, member, low, high)                                                                                   \
    { .key = #member, .kind = FIELD_NUMBER, .offset = offsetof(s, member), .min = low, .max = high }
#define CHOICE(s, member, names)                                                                                       \
    { .key = #member, .kind = FIELD_CHOICE, .offset = offsetof(s, member), .choices = names }
#define TEXT(s, member)                                                                                                \
    { .key = #member, .kind = FIELD_TEXT, .offset = offsetof(s, member), .max = sizeof(((s *)0)->member) }
#define FLAG(s, member)                                                                                                \
    { .key = #member, .kind = FIELD_FLAG, .offset = offsetof(s, member) }
#define GROUP(name)                                                                                                    \
    { .key = name, .kind = FIELD_GROUP }
#define LIST(name)                                                                                                     \
    { .key = name, .kind = FIELD_LIST }
#define OPTIONAL_NUMBER(s, member, low, high)                                                                          \
    { .key = #member, .kind = FIELD_NUMBER, .optional = true, .offset = offsetof(s, member), .min = low, .max = high }

/* A latency or a rate may be written in either of two units; NAN marks the one that is absent. */
typedef struct alternatives {
    double latency_cycles, latency_ns;
    double bytes_per_cycle, bandwidth_GBps;
} alternatives;

static const alternatives machine_no_alternatives = {NAN, NAN, NAN, NAN};

typedef struct loader {
    const config *c;
    machine *mach;
    message *m;
} loader;

extern const char *const machine_replacement_names[];

/* Exactly one of two keys. */
status machine_read_one_of(const loader *l, const config_setting_t *group, const char *key_a, double a,
                           const char *key_b, double b);
status machine_read_latency(const loader *l, const config_setting_t *group, const alternatives *a, uint32_t *cycles);
/* A list of bit shifts, []: none. */
status machine_read_hash(const loader *l, const config_setting_t *group, const char *key, address_hash *hash);
/* `optional`: which classes may be left out; NULL: none. */
status machine_read_ops(const loader *l, const config_setting_t *group, bool (*optional)(op_class c));
status machine_read_memory(const loader *l, const config_setting_t *group);
status machine_read_dram(const loader *l, const config_setting_t *group);

/* The groups of a CPU, from "core" on. */
status machine_read_cpu(const loader *l);

/* machine_check for CPUs. */
status machine_check_cpu(const machine *mach, machine_part *part, message *m);
/* Checks that both kinds share: whole sets, and the DRAM's timings. */
status machine_check_level_size(const cache_level *level, message *m);
status machine_check_memory(const machine *mach, message *m);
status machine_check_dram(const machine *mach, message *m);

#endif

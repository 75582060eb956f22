/* ecm.h - cycles per cache line of work on a CPU: the execution-cache-memory model.
 *
 * Source: G. Hager, J. Treibig, J. Habich, G. Wellein, "Exploring performance and power properties of modern multi-core
 * chips via simple machine models", 2016; H. Stengel et al., ICS 2015. While the core executes arithmetic and other
 * instructions that do not touch the first level (overlapping), lines move; but a cycle in which the core loads or
 * stores (not overlapping) moves no line, and one level moves after the other:
 *     T = max(overlapping, not_overlapping + sum of the transfers up to where the data is)
 * Transfers of one line between two levels take line / (bytes per cycle) for each stream that crosses: loads, evictions
 * of stored lines, and the read of a line before it is stored to (write-allocate).
 */
#ifndef COALIGN_MODEL_ECM_H
#define COALIGN_MODEL_ECM_H

#include <stdbool.h>
#include <stdint.h>

enum { ECM_LEVELS_MAX = 6 };

typedef struct ecm_machine {
    uint32_t line_bytes;
    uint32_t boundaries; /* L1-L2, L2-L3, ..., last level-memory */
    double bytes_per_cycle[ECM_LEVELS_MAX];
    bool write_allocate; /* a line is read before it is stored to */
} ecm_machine;

/* Work on one line of each stream. */
typedef struct ecm_work {
    double overlapping_cycles, not_overlapping_cycles;
    uint32_t load_streams, store_streams, nontemporal_streams; /* nontemporal: stored past the caches, no allocate */
} ecm_work;

/* Lines that cross boundary b. Nontemporal stores leave the core by its line buffers and cross only the last one. */
double ecm_lines(const ecm_machine *m, const ecm_work *w, uint32_t boundary);

/* Cycles of the transfers over boundary b. */
double ecm_transfer_cycles(const ecm_machine *m, const ecm_work *w, uint32_t boundary);

/* Cycles for the work when the data is in level `level`: 0 the first cache, `boundaries` memory. */
double ecm_cycles(const ecm_machine *m, const ecm_work *w, uint32_t level);

/* Cores at which the shared last boundary is saturated: ceil(T_memory / T_last boundary). */
uint32_t ecm_saturation_cores(const ecm_machine *m, const ecm_work *w);

#endif

#include "model/ecm.h"

#include <math.h>

double ecm_lines(const ecm_machine *m, const ecm_work *w, uint32_t boundary) {
    const double allocates = m->write_allocate ? w->store_streams : 0;
    const double bypass = boundary + 1 == m->boundaries ? w->nontemporal_streams : 0;
    return w->load_streams + w->store_streams + allocates + bypass;
}

double ecm_transfer_cycles(const ecm_machine *m, const ecm_work *w, uint32_t boundary) {
    return ecm_lines(m, w, boundary) * m->line_bytes / m->bytes_per_cycle[boundary];
}

double ecm_cycles(const ecm_machine *m, const ecm_work *w, uint32_t level) {
    double data = w->not_overlapping_cycles;
    for (uint32_t b = 0; b < level && b < m->boundaries; b++)
        data += ecm_transfer_cycles(m, w, b);
    return fmax(w->overlapping_cycles, data);
}

uint32_t ecm_saturation_cores(const ecm_machine *m, const ecm_work *w) {
    if (m->boundaries == 0)
        return 1;
    const double last = ecm_transfer_cycles(m, w, m->boundaries - 1);
    return last > 0 ? (uint32_t)ceil(ecm_cycles(m, w, m->boundaries) / last) : 1;
}

#include "kernel/vcode.h"

#include "base/mem.h"

const char *lower_origin_name(lower_origin o) {
    static const char *const names[] = {
#define X(id, words) [id] = words,
        LOWER_ORIGIN_LIST(X)
#undef X
    };
    return names[o];
}

uint32_t vcode_register(vcode *v, uint32_t width, bool temporary) {
    if (!v->registers)
        v->registers = 1;
    if (!mem_reserve((void **)&v->width, &v->width_capacity, (size_t)v->registers + 1, sizeof *v->width) ||
        !mem_reserve((void **)&v->temporary, &v->temporary_capacity, (size_t)v->registers + 1, sizeof *v->temporary))
        return 0;
    v->width[v->registers] = (uint8_t)width;
    v->temporary[v->registers] = temporary;
    return v->registers++;
}

bool vlist_add(vlist *l, const vinst *x) {
    if (!mem_reserve((void **)&l->inst, &l->capacity, l->count + 1, sizeof *l->inst))
        return false;
    l->inst[l->count++] = *x;
    return true;
}

bool vlist_append(vlist *to, const vlist *from) {
    for (size_t i = 0; i < from->count; i++)
        if (!vlist_add(to, &from->inst[i]))
            return false;
    return true;
}

void vcode_free(vcode *v) {
    mem_free(v->code.inst);
    mem_free(v->width);
    mem_free(v->temporary);
    *v = (vcode){.registers = 0};
}

status local_frame_term(kernel *k, local_frame *f, message *m) {
    uint32_t index = 0;
    if (!mem_reserve((void **)&f->term, &f->capacity, f->terms + 1, sizeof *f->term))
        return fail(m, ERR_MEMORY, "not enough memory for the local memory of kernel %s", k->name);
    TRY(ir_add_index(k, (ir_index){.per_block = 1}, &index, m));
    f->term[f->terms++] = k->term_count;
    return ir_add_term(k, (ir_term){.index = index, .div = 1, .mul = 1}, m);
}

void local_frame_close(kernel *k, const local_frame *f) {
    for (size_t i = 0; i < f->terms; i++)
        k->terms[f->term[i]].mul = (int64_t)f->words * 4 * f->threads;
}

void local_frame_free(local_frame *f) {
    mem_free(f->term);
    *f = (local_frame){.base = 0};
}

void lowered_free(lowered *l) {
    kernel_free(&l->k);
    mem_free(l->note);
    *l = (lowered){.note = NULL};
}

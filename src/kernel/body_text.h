/* body_text.h - what the printers of loop bodies share (internal). */
#ifndef COALIGN_KERNEL_BODY_TEXT_H
#define COALIGN_KERNEL_BODY_TEXT_H

#include "kernel/body.h"

enum { REAL_TEXT_MAX = 40, TIGHTEST = 9 /* precedence of what needs no parentheses */ };

/* The shortest digits that read back as the same f64, or as the same f32; always with a point or an exponent. */
char *body_real_text(char text[REAL_TEXT_MAX], double value, bool f32);
/* As in BODY_OPERATOR_LIST, but TIGHTEST for names, literals and functions. */
int body_precedence(const body_expr *e);
void body_indent(textbuf *out, int depth);

#endif

/* document.h - the command table as a manual page and as completions of shells. */
#ifndef COALIGN_CMD_DOCUMENT_H
#define COALIGN_CMD_DOCUMENT_H

#include <stdio.h>

void document_man(FILE *out);  /* coalign(1), man(7) */
void document_bash(FILE *out); /* sourced by bash */
void document_zsh(FILE *out);  /* _coalign of zsh's completion system */

#endif

/* body_text.h - the text of a loop body (kernel/body.h) in a config: a string, or an array of its lines. */
#ifndef COALIGN_CONFIG_BODY_TEXT_H
#define COALIGN_CONFIG_BODY_TEXT_H

#include "base/textbuf.h"
#include "config/reader.h"

/* Appends it to *text. ERR_INPUT with file and line, ERR_MEMORY. */
status config_body_text(const config *c, const config_setting_t *at, textbuf *text, message *m);

#endif

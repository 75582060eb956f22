#include "config/body_text.h"

status config_body_text(const config *c, const config_setting_t *at, textbuf *text, message *m) {
    const int type = config_setting_type(at);
    if (type == CONFIG_TYPE_STRING) {
        textbuf_put(text, config_setting_get_string(at));
    } else if (type == CONFIG_TYPE_ARRAY || type == CONFIG_TYPE_LIST) {
        textbuf_put(text, "");
        for (int i = 0; i < config_setting_length(at); i++) {
            const config_setting_t *line = config_setting_get_elem(at, (unsigned)i);
            if (config_setting_type(line) != CONFIG_TYPE_STRING)
                return config_fail(c, line, m, "line %d of 'body' must be a text", i + 1);
            textbuf_put(text, config_setting_get_string(line));
            textbuf_put(text, "\n");
        }
    } else {
        return config_fail(c, at, m, "'body' must be a text, or an array of its lines");
    }
    return text->failed ? fail(m, ERR_MEMORY, "not enough memory for a loop body") : OK;
}

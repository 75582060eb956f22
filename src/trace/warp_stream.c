#include "trace/warp_stream.h"

#include "trace/accelsim_reader.h"
#include "trace/line_reader.h"

status warp_stream_open(const char *path, bool lenient, warp_stream **out, message *m) {
    line_reader *lines = NULL;
    const char *text = NULL, *end = NULL;
    *out = NULL;
    TRY(line_reader_open(path, &lines, m));
    status s = line_reader_next_text(lines, &text, &end, m);
    if (s == OK && !text)
        s = fail_at(m, line_reader_name(lines), 0, "there is nothing in this trace");
    else if (s == OK && !accelsim_is(text, end))
        s = line_reader_bad(lines, text, end, "this begins neither a kernel list nor a kernel of Accel-Sim", m);
    if (s != OK) {
        line_reader_close(lines);
        return s;
    }
    line_reader_again(lines);
    return accelsim_open(path, lines, lenient, out, m);
}

void warp_stream_close(warp_stream *s) {
    if (s)
        s->close(s);
}

#include "trace/warp_stream.h"

#include "trace/accelsim_reader.h"

status warp_stream_open(const char *path, bool lenient, warp_stream **out, message *m) {
    return accelsim_open(path, lenient, out, m);
}

void warp_stream_close(warp_stream *s) {
    if (s)
        s->close(s);
}

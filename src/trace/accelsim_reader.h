/* accelsim_reader.h - the SASS traces of Accel-Sim (NVBit tracer, versions 1 to 6): kernelslist.g and kernel-N.traceg.
 *
 * In a list, MemcpyHtoD lines and the kernels' file names count, relative to the list; other lines are ignored. Address
 * modes 0 (all addresses), 1 (base and stride) and 2 (base and differences). Width of an access: from its opcode. */
#ifndef COALIGN_TRACE_ACCELSIM_READER_H
#define COALIGN_TRACE_ACCELSIM_READER_H

#include "trace/line_reader.h"
#include "trace/warp_stream.h"

/* path: a list or a kernel, whose lines these are from the first; the stream takes them over, also when this fails. */
status accelsim_open(const char *path, line_reader *lines, bool lenient, warp_stream **out, message *m);

/* Whether this is the first line that is not blank of such a file. */
bool accelsim_is(const char *text, const char *end);

#endif

/* access_reader.h - the accesses of a CPU trace, in batches: Valgrind Lackey or Dinero text, plain or compressed.
 *
 * The format is told from the first line that is no message of Valgrind and not empty; any compression that libarchive
 * knows is undone. Memory does not depend on the length of the trace. CR LF and a missing last line end are accepted.
 *
 * Lackey (--trace-mem=yes): "I  addr,size", " L addr,size", " S ...", " M ..."; hexadecimal address, decimal size;
 * lines that start with "==" are skipped. Dinero: "label addr [size]" with label 0, 1, 2 or r, w, i, hexadecimal
 * address and size (4 when absent); labels 3 (miscellaneous) and 4 (flush) are refused: they are no accesses.
 */
#ifndef COALIGN_TRACE_ACCESS_READER_H
#define COALIGN_TRACE_ACCESS_READER_H

#include "base/status.h"
#include "trace/access.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct access_reader access_reader;

/* path "-": standard input. ERR_IO, ERR_MEMORY; *out is NULL then. */
status access_reader_open(const char *path, access_reader **out, message *m);

/* The next accesses, at most `capacity`; *count 0 at the end. ERR_INPUT with file:line, ERR_IO. A trace without any
 * access is an error. */
status access_reader_next(access_reader *r, trace_access *out, size_t capacity, size_t *count, message *m);

void access_reader_close(access_reader *r);

#endif

/* factoring_config.h - the section `factoring` of a config: arrays and the order in which they are used.
 *
 *     factoring = {
 *         arrays = ( { name = "a"; shape = "[1024][1024]f32"; }, ... );
 *         passes = (
 *             { repeat = 1; touches = ( { array = "a"; layout = "[(1024,1),(1024,1024)]"; }, ... ); }, ...
 *         );
 *     };
 *
 * Without a layout a touch walks its array as it lies. What a pass does: model/factor.h.
 */
#ifndef COALIGN_CONFIG_FACTORING_CONFIG_H
#define COALIGN_CONFIG_FACTORING_CONFIG_H

#include "base/status.h"
#include "config/reader.h"
#include "model/factor.h"

/* Reads and checks it; ERR_INPUT with file and line. */
status factoring_read(const config *c, const config_setting_t *group, factoring *f, message *m);

#endif

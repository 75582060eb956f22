/* merge.c - the parts of a sharded sweep as the one result that a sweep without shards writes. */
#include "cmd/output.h"
#include "cmd/point_file.h"

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

enum { LIST_MAX = 200 };

/* All parts are open at a time. */
static void allow_many_files(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static status all_there(const point_set *s, message *m) {
    char list[LIST_MAX] = "";
    size_t used = 0;
    uint64_t shown = 0;
    const uint64_t missing = s->points - s->have;
    for (uint64_t i = 0; i < s->points && used + 24 < sizeof list; i++)
        if (!s->place[i].file) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%" PRIu64, shown ? ", " : "", i);
            shown++;
        }
    if (missing)
        return fail(m, ERR_INPUT, "%" PRIu64 " of %" PRIu64 " points are missing: %s%s", missing, s->points, list,
                    shown < missing ? ", ..." : "");
    return OK;
}

static status merge(const arguments *args, point_set *s, outputs *o, message *m) {
    allow_many_files();
    for (size_t i = 0; i < args->operand_count; i++)
        TRY(point_set_add(s, args->operands[i], NULL, m));
    TRY(all_there(s, m));
    TRY(outputs_open(o, args, m));
    for (size_t i = 0; i < o->count; i++)
        TRY(output_written(&o->list[i], point_set_write(s, o->list[i].stream, m)));
    return outputs_commit(o, m);
}

status merge_command(const arguments *args, message *m) {
    point_set s = {.header = NULL};
    outputs o = {0};
    const status st = merge(args, &s, &o, m);
    outputs_close(&o);
    point_set_free(&s);
    return st;
}

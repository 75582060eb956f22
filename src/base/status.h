/* status.h - how a function that can fail says so.
 *
 * A function that can fail returns a `status` and takes a `message *` as its last argument. On failure it fills the
 * message once, at the place that knows most (file:line of the user's text, or the value at fault), and every caller
 * passes the status up untouched. Nothing below src/cmd prints or exits.
 */
#ifndef COALIGN_BASE_STATUS_H
#define COALIGN_BASE_STATUS_H

/* X(name, exit status of the program) */
#define STATUS_LIST(X)                                                                                                 \
    X(OK, 0)                /* done */                                                                                 \
    X(ERR_CHECK, 1)         /* the work was done and a check on its result failed */                                   \
    X(ERR_INPUT, 2)         /* the user's input or command line is at fault */                                         \
    X(ERR_IO, 2)            /* a file could not be read or written */                                                  \
    X(ERR_MEMORY, 2)        /* not enough memory */                                                                    \
    X(ERR_INTERNAL, 70)     /* a conservation law did not hold: our fault; sysexits.h EX_SOFTWARE */                   \
    X(ERR_INTERRUPTED, 130) /* SIGINT */

typedef enum status {
#define X(name, code) name,
    STATUS_LIST(X)
#undef X
} status;

enum { MESSAGE_MAX = 1024 };

/* One finished sentence for the user; when the fault has a place it begins with "file:line: ". */
typedef struct message {
    char text[MESSAGE_MAX];
} message;

/* Fills m (if m is not NULL) and returns code, so that `return fail(m, ERR_INPUT, "...")` reads well. */
status fail(message *m, status code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same with a place in a text file. line 0: the place is the whole file. file NULL: no place. */
status fail_at(message *m, const char *file, int line, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The process exit status that a status maps to. */
int status_exit_code(status code);

/* Leaves the enclosing function when an expression that returns a status fails. */
#define TRY(expression)                                                                                                \
    do {                                                                                                               \
        status try_status = (expression);                                                                              \
        if (try_status != OK)                                                                                          \
            return try_status;                                                                                         \
    } while (0)

#endif

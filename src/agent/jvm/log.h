/*
 * log.h - what the agent has to say to people when no command listens.
 *
 * One line at a time on stderr, or to the file that `log` names. Errors are said unless `quiet`
 * (loglevel=none), what is merely worth knowing only with `verbose` (trace, debug).
 *
 * A line that does not go within 50 ms, as to a pipe that is full, is dropped; the next one that goes tells how many
 * were.
 */
#ifndef JSTROBE_JVM_LOG_H
#define JSTROBE_JVM_LOG_H

#include "common/base/base.h"
#include "common/options/options.h"

/* From now on as O says. Normal code, front locked or before anything runs; so are the others. */
void log_as(const struct options *o);
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The JVM ends: from now on no line waits at all. Any thread. */
void log_at_end(void);
/* LENGTH bytes of TEXT: lines, each with its newline. */
void log_notes(const char *text, size_t length);

#endif

/*
 * tracing.h - a tracing session: methods counted and timed by probes in their byte code.
 *
 * It takes the place of a sampling session, or goes beside one whose recording gets the calls, too
 * (agent/session/session.c calls this file, under its lock, when the options name methods). Attached threads, normal
 * code.
 */
#ifndef JSTROBE_TRACING_TRACING_H
#define JSTROBE_TRACING_TRACING_H

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/options/options.h"
#include "profile/writers/format.h"

/*
 * Put probes in and begin to count. While the JVM starts: as soon as it is up. NEXT_ROUND: of a loop; the result says
 * how long no calls were counted since the one before. NOTES as in session_start.
 */
int trace_start(const struct options *o, bool next_round, struct buffer *notes, struct error *err);
/* whether trace_stop keeps threads APART in the result; trace_start does as its options say. */
void trace_by_thread(bool apart);
/* Take all probes out. The result stays for trace_dump until the next start. */
void trace_stop(void);
/* Write the result, so far or of the last session, in F as O says; TOLD as in session_dump. -ENOENT: there is none. */
int trace_dump(const struct format *f, const struct options *o, struct buffer *out, struct format_told *told,
	       struct error *err);
/* The same as a recording in FD, behind one that has the keys up to *KEY; afterwards the last key of both. */
int trace_record(uint32_t *key, int fd, struct error *err);
/*
 * Who takes a sample of each call where O's methods say so, on the calling thread, with OWN frames of the probes above
 * the method.
 */
void trace_on_call(void (*sample)(uint32_t own));
/* Beside samples: add to TOLD the line of calls, of a session that has ended. */
void trace_tell(struct format_told *told);
/* Methods that got probes, so far or in the last session; patterns that none matched go to UNMATCHED, apart by ", ". */
uint32_t trace_matched(struct buffer *unmatched);
/* Calls counted so far. */
uint64_t trace_calls(void);
/* Give back what the result needs. */
void trace_forget(void);
/* The JVM is up: a session that was started before begins. */
void trace_vm_init(void);
/* The JVM ends: classes stay as they are, and no call of this file waits any more. Before trace_stop. */
void trace_vm_death(void);

#endif

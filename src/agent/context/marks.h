/*
 * marks.h - what the program itself tells while it is profiled: spans, which are times with a tag, and events of types
 * that it has registered. Recordings hold them.
 *
 * It is told by whatever copy of this library the program calls, and reaches the recordings of all copies.
 *
 *   a thread of the program ─▶ ring of bytes ─▶ each drain of the collector ─▶ sinks that want them
 */
#ifndef JSTROBE_CONTEXT_MARKS_H
#define JSTROBE_CONTEXT_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MARKS_LONGEST 2048 /* bytes of an event, as in asprof.h; of a span's tag as well */
#define MARKS_TYPES 1024   /* that a program may register */
#define MARK_SPAN 0        /* as a type; those of the program begin at 1 */

/* One as it is put by the thread TID, and as it is read. */
struct mark {
	uint64_t time, duration; /* os_monotonic, ns; events have no duration */
	uint64_t vthread;        /* virtual thread (its java tid) that was mounted, 0 = none: as it is read */
	pid_t tid;
	uint32_t type;
	uint32_t length;
	const char *data;        /* of LENGTH bytes; a span's tag is UTF-8 */
};

/*
 * The number of the type NAME, from 1 on: the same for the same name. -EINVAL: no name, or one of more than
 * MARKS_LONGEST bytes; -ENOSPC: there are MARKS_TYPES; -ENOMEM. Any thread in normal code.
 */
int marks_type(const char *name);
/* The name of TYPE, which stays; NULL: there is none. */
const char *marks_type_name(uint32_t type);

/* Whether a recording of any copy listens. That the program asked shows that it marks. Any thread in normal code. */
bool marks_are_heard(void);
/* Whether the program marks, as far as it has shown it to any copy. Any thread in normal code. */
bool marks_are_used(void);
/*
 * M is told by the running thread; its data is copied. True: a recording will have it, if it is not late. Without a
 * recording this costs two loads. Any thread in normal code.
 */
bool marks_put(const struct mark *m);

/* A recording listens from now on, until marks_leave(). Normal code. */
void marks_join(void);
void marks_leave(void);
/* Call FN for each mark since the last call. Returns how many were written over before. The collector. */
uint64_t marks_each(void (*fn)(const struct mark *m, void *arg), void *arg);

#endif

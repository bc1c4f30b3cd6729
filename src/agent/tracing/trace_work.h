/*
 * trace_work.h - the thread "jstrobe trace", which has the JVM change classes, and change them back.
 *
 *      begin ─▶ hook on ─▶ few classes match: all of them now ─────────────────────▶ strays as they come ─▶ end
 *                     └─▶ many: which run? 2 s ─▶ those now, others as they are seen ─┘                     │
 *      free ◀─ read ◀─ trees end ◀─ released by the session ◀─ changed back, in batches ◀─ hook off ◀───────┘
 *
 * A session begins and ends it, on a thread of its own choice, and waits only for what is short; everything that takes
 * long is done here, one batch of classes at a time (trace_pace.h), and is called off between two batches. The thread
 * holds no lock of anybody while it calls the JVM, and ends when there is nothing left to do.
 */
#ifndef JSTROBE_TRACING_TRACE_WORK_H
#define JSTROBE_TRACING_TRACE_WORK_H

#include <jvmti.h>

#include "agent/tracing/trace_classes.h"
#include "agent/tracing/trace_running.h"
#include "common/base/error.h"

#define TRACE_WORK_MANY 500u /* classes: a pattern that means more has probes put into what runs only */

/* What a session hands over. CLASSES and ENTERED are the work's until it has called `over`. */
struct trace_job {
	jvmtiEnv *ti;
	struct trace_classes *classes;
	struct trace_entered *entered;
	bool all;      /* also what does not run */
	bool at_start; /* the program has not begun: nothing runs, nothing is compiled */
	void (*over)(const struct trace_job *job); /* all is as it was before; on the work's thread */
};

enum trace_phase {
	TRACE_IDLE,     /* nothing is left of any session */
	TRACE_LISTING,  /* what matches? */
	TRACE_LOOKING,  /* what runs? */
	TRACE_CHANGING, /* probes come */
	TRACE_CHANGED,  /* all have them */
	TRACE_RESTORING, /* probes go */
};

struct trace_progress {
	enum trace_phase phase;
	bool some;        /* of what matches only what runs gets probes */
	uint32_t matched; /* classes */
	uint32_t done;    /* of them changed, or refused */
	uint32_t left;    /* to be changed, or changed back, now */
	uint64_t left_ns; /* about how long that takes; 0 = not known */
};

/* What is left of the session before is waited for. -EBUSY: that takes too long, or the JVM ends. */
int trace_work_settle(struct error *err);
/*
 * Begin, with trace_work_settle. Returns when every class that matches has its probes, or, where these are many, when
 * it is known how many.
 * -EBUSY as above; -EAGAIN: no thread. What the job holds is the caller's again where it fails.
 */
int trace_work_begin(const struct trace_job *job, struct error *err);
/*
 * No class gets probes any more, and those that have lose them; waits for that where they are few. The trees stay until
 * trace_work_release.
 */
void trace_work_end(void);
/* The session has its result; the trees are not read any more. Waits as trace_work_end does. */
void trace_work_release(void);
/* The JVM ends: classes stay as they are. From here on nothing waits. */
void trace_work_vm_death(void);
void trace_work_progress(struct trace_progress *p);

#endif

/*
 * patience.h - how long it makes sense to wait for the control thread: for as long as it gets on.
 *
 * It does while it runs or its CPU clock moves, and while a thread does that it waits for: the collector's and the
 * writers' at a session's end. The JVM's own threads may work for it, in a safepoint, or for the program: while they
 * run the patience is PATIENCE_JVM times as long. What is counted is how often a wait of known length saw none of that:
 * a machine that runs nothing for a while uses up no patience.
 */
#ifndef JSTROBE_COMMAND_PATIENCE_H
#define JSTROBE_COMMAND_PATIENCE_H

#include <sys/types.h>

#include "common/base/base.h"

#define PATIENCE_JVM 3
#define PATIENCE_THREADS 32 /* of the JVM that are looked at */

/* How long a wait may last, ns. */
struct patience_limits {
	uint64_t stalled; /* while nothing advances */
	uint64_t total;
};

struct patience {
	struct patience_limits limits;
	pid_t (*thread)(void);   /* the control thread, 0 = it is not there */
	uint64_t looked;         /* monotonic ns */
	uint64_t waited;         /* ns, */
	uint64_t stalled;        /* of it in which nothing of ours got on, */
	uint64_t all_stalled;    /* and no thread of the JVM's either */
	uint64_t cpu, jvm_cpu;   /* ns */
	bool knows_jvm;
	unsigned jvm_count;
	pid_t jvm[PATIENCE_THREADS];
};

void patience_begin(struct patience *p, const struct patience_limits *limits, pid_t (*thread)(void));
/* To be asked every few ms: false, it is at its end. Any thread, nothing locked. */
bool patience_lasts(struct patience *p);

#endif

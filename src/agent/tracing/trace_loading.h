/*
 * trace_loading.h - classes between two moments: the hook sees their bytes, later the JVM has them.
 *
 * In between the JVM loads their super classes, with class loaders of the program that may take as long as they
 * like. A session that ends meanwhile leaves probes in a class that cannot be found yet; one that begins meanwhile
 * finds neither bytes nor class. Both are known by the event ClassLoad, on the thread that the hook ran on: a class
 * that was hooked has an entry here, under thread and name.
 */
#ifndef JSTROBE_TRACING_TRACE_LOADING_H
#define JSTROBE_TRACING_TRACE_LOADING_H

#include <sys/types.h>

#include "common/base/base.h"
#include "common/base/vector.h"

/* Guarded by the lock of trace_classes.h. */
struct trace_loading {
	VECTOR(struct trace_hooked) list; /* of one thread the later ones are inside of the earlier ones */
};

struct trace_hooked {
	uint64_t name; /* its hash */
	pid_t tid;
	uint32_t session; /* whose hook it passed */
	bool changed;     /* it got probes there */
	uint64_t at;      /* monotonic ns */
};

/* A class has passed the hook as H says. False: no memory. */
bool trace_loading_hooked(struct trace_loading *l, const struct trace_hooked *h);
/* TID has its class NAME now: true with *H, if it passed the hook. */
bool trace_loading_defined(struct trace_loading *l, pid_t tid, uint64_t name, struct trace_hooked *h);
/* Threads that have ended load nothing any more. */
void trace_loading_forget_dead(struct trace_loading *l);
/* How many have probes and are not there yet, of those hooked after SINCE. */
uint32_t trace_loading_count(const struct trace_loading *l, uint64_t since);
void trace_loading_free(struct trace_loading *l);

#endif

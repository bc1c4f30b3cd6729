/*
 * calls.h - what a trace of instrumented methods counted, and its writers.
 *
 * A read-only view; texts and arrays belong to whoever made it. Times are ns; `self` is time with the method on
 * top, `total` with all that it called, counted once where it called itself. Normal code.
 */
#ifndef JSTROBE_FORMAT_CALLS_H
#define JSTROBE_FORMAT_CALLS_H

#include "base/buffer.h"

#define CALLS_ROOT UINT32_MAX /* the method of a tree's root */

struct calls_times {
	uint64_t wall, cpu;
};

struct calls_method {
	const char *class_name; /* "com.acme.Order" */
	const char *name;
	const char *type;       /* "(I)J" */
	uint64_t count;
	uint64_t stamps;        /* sampled timing: times that `self` was charged; its error is about 1/√stamps */
	struct calls_times self, total;
};

/* Parents come before their children; the first node is the root, which is no method. */
struct calls_node {
	uint32_t method, parent, depth;
	uint64_t count, stamps;
	struct calls_times self, total;
};

struct calls_thread {
	const char *name;
	uint64_t id;        /* of java.lang.Thread; 0 = several */
	uint32_t threads;
	uint64_t count;
	struct calls_times self;
};

struct calls_skip {
	const char *name, *reason;
};

struct calls {
	const char *timing;      /* "sampled", "exact", "none" */
	bool timed;
	uint64_t period, duration, started_at;
	const char *main_class, *jdk;
	int pid;
	struct calls_method *methods;
	uint32_t method_count;
	struct calls_node *nodes;
	uint32_t node_count;
	struct calls_thread *threads;
	uint32_t thread_count;
	struct calls_skip *skipped;
	uint32_t skipped_count, skipped_more;
	uint64_t count;          /* invocations */
	uint64_t uncounted;      /* calls of threads that were being attached, or without memory for their tree */
	uint32_t class_count;    /* with probes */
	uint64_t bytes;          /* of trees */
	double cost;             /* ns of an entry and exit, measured here; 0 = unknown */
};

/* Writers. HOT: methods to show at most, 0 = a default. */
void calls_text(const struct calls *c, unsigned hot, struct buffer *out);
void calls_json(const struct calls *c, struct buffer *out);
/* One line a node: the methods from the root, then invocations, or with TIME its own wall-clock ns. */
void calls_collapsed(const struct calls *c, bool time, struct buffer *out);
/* The sentence on cost that every result carries. */
void calls_overhead(const struct calls *c, struct buffer *out);

#endif

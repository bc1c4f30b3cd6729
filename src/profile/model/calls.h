/*
 * calls.h - what a trace of instrumented methods counted: a profile whose `calls` this is.
 *
 * The profile has the head: its engine is the timing, its interval the period of ticks, its samples are the calls. A
 * read-only view; texts and arrays belong to its maker. Times are ns; `self` is time with the method on
 * top and not waiting, `total` with all that it called and waited for, counted once where it called itself.
 * Normal code.
 */
#ifndef JSTROBE_MODEL_CALLS_H
#define JSTROBE_MODEL_CALLS_H

#include "common/base/base.h"

#define CALLS_ROOT UINT32_MAX         /* the method of a tree's root */
#define CALLS_THREAD (UINT32_MAX - 1) /* of a thread's root, where threads are apart */

/* What a method on top can wait for. */
enum calls_wait {
	CALLS_SLEEP,
	CALLS_WAIT,    /* Object.wait */
	CALLS_PARK,
	CALLS_MONITOR, /* to enter a synchronized block or method */
	CALLS_IO,
	CALLS_WAITS,
};
extern const char *const calls_wait_words[CALLS_WAITS]; /* "sleep", "wait", "park", "monitor", "io" */

struct calls_times {
	uint64_t wall, cpu;
	uint64_t waits[CALLS_WAITS]; /* in `total` part of wall; in `self` beside it */
};

static inline void calls_times_add(struct calls_times *to, const struct calls_times *more)
{
	unsigned i;

	to->wall += more->wall;
	to->cpu += more->cpu;
	for (i = 0; i < CALLS_WAITS; i++)
		to->waits[i] += more->waits[i];
}

/* Wall-clock time of T was a wait of that KIND, except where the thread ran. */
static inline void calls_times_wait(struct calls_times *t, unsigned kind)
{
	uint64_t ran = t->cpu < t->wall ? t->cpu : t->wall;

	t->waits[kind] += t->wall - ran;
	t->wall = ran;
}

/* Time spent waiting. */
static inline uint64_t calls_waited(const struct calls_times *t)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < CALLS_WAITS; i++)
		sum += t->waits[i];
	return sum;
}

/* How long single calls took, with all they called; of those that were timed. Unknown in sampled timing. */
struct calls_spread {
	uint64_t timed;              /* calls that it stands for; 0 = nothing is known */
	uint64_t min, p50, p99, max; /* p50 and p99 from buckets of a quarter octave */
};

struct calls_method {
	const char *class_name; /* "com.acme.Order" */
	const char *name;
	const char *type;       /* "(I)J" */
	uint64_t count;
	uint64_t stamps;        /* sampled timing: times that `self` was charged; its error is about 1/√stamps */
	struct calls_times self, total;
	struct calls_spread spread;
	uint64_t error;         /* adaptive timing: standard error of total.wall */
	uint64_t since;         /* ns after the trace's begin: calls before are not counted */
};

/* Parents come before their children; the first node is the root, which is no method. */
struct calls_node {
	uint32_t method, parent, depth;
	uint32_t thread;        /* of a thread's root: place in `threads` */
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

/* A stack as it was when a slow call ended; innermost first. */
struct calls_frame {
	const char *class_name, *name, *type;
	int line;                /* 0 = unknown */
};

struct calls_stack {
	const uint32_t *frames;  /* places in calls.frames */
	uint32_t count;
	bool truncated;
};

/* A call that took at least `latency`. */
struct calls_event {
	uint32_t method, stack;
	uint64_t started_at;     /* ns since 1970 */
	uint64_t duration;
	uint64_t thread_id;      /* of java.lang.Thread */
	const char *thread;      /* its name */
};

/* A method that was running already when its probes came: that invocation is not counted. */
struct calls_entered {
	uint32_t method, threads; /* in so many threads */
};

struct calls {
	bool timed;
	bool cpu_exact;          /* CPU time by a clock read at each entry and exit; else by ticks: ≈ */
	uint32_t budget;         /* adaptive timing: percent */
	uint64_t latency;        /* ns from which on a call is an event; UINT64_MAX = none is */
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
	uint64_t since;          /* the latest of the methods that were called */
	uint32_t not_run;        /* classes that match and have none, as they were not seen running */
	uint64_t bytes;          /* of trees */
	uint64_t held;           /* ns that threads stood in probes for that read clocks: charged to no method */
	double cost;             /* ns of an entry and exit, measured here; 0 = unknown */
	double stamped_cost;     /* adaptive timing: of one that takes the time; then `cost` is of one that does not */
	uint64_t stamped;        /* adaptive timing: calls that took the time */
	struct calls_frame *frames;
	uint32_t frame_count;
	struct calls_stack *stacks;
	uint32_t stack_count;
	struct calls_event *events; /* in the order in which they ended */
	uint32_t event_count;
	uint64_t events_lost;    /* beyond the memory for them */
	struct calls_entered *entered;
	uint32_t entered_count;
	char *texts, *slow_texts; /* what the names point to, if its maker keeps them here */
};

#endif

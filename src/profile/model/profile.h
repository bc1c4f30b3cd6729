/*
 * profile.h - a finished profile, as the writers see it.
 *
 * Read-only and self-contained: no pointer leads into the JVM, the stack store
 * or a queue. The collector builds it, a writer turns it into bytes. Writers
 * know nothing of where samples come from.
 *
 * Units: times in nanoseconds; weights and intervals as `weight_kind` says; `started_at` is real time.
 */
#ifndef JSTROBE_MODEL_PROFILE_H
#define JSTROBE_MODEL_PROFILE_H

#include "common/base/base.h"
#include "common/words/enum_names.h"
#include "common/words/events.h"

/* One distinct frame: a method or symbol in one kind (and line, if lines were asked for). */
struct profile_frame {
	const char *class_name; /* "java/util/HashMap" (slashes, as in the JVM); NULL if not Java */
	const char *name;       /* method "put", symbol "__libc_write", or a marker "[truncated]" */
	/* "(Ljava/lang/Object;)V"; native: the name with its arguments, NULL if it has none */
	const char *signature;
	const char *library;    /* "libc.so.6"; NULL if Java, kernel, or made by the JVM */
	int32_t line;           /* source line, 0 = not known or not asked for; below 0: the place in the bytecode */
	uint8_t kind;           /* enum frame_kind */
	uint16_t lock;          /* a class alone, of waits: 1 + index into profile.locks; 0: which one is not known */
};

/* One distinct stack; with `per_thread`, one for each thread that had it. */
struct profile_stack {
	const uint32_t *frames; /* indices into profile.frames, root first */
	uint32_t depth;
	uint32_t thread;        /* index into profile.threads, or PROFILE_NO_THREAD */
	uint64_t samples;
	uint64_t weight;
	uint8_t state;          /* enum thread_state; THREAD_NONE where states are not kept apart */
	uint32_t trace_context;       /* index into profile.trace_contexts + 1; 0 = none, or they are not kept apart */
	uint64_t objects;       /* that the samples stand for; 0: not known, or they are not of objects */
	uint64_t outside;       /* of the weight: of objects outside a thread's allocation buffer (TLAB); of `io`,
				   estimated from samples of short calls */
};
#define PROFILE_NO_THREAD UINT32_MAX
#define PROFILE_BLOCKS 32 /* equal parts of a recording's time */

/* Of a stack's objects that are there: bytes by when they were allocated, and how far chance may put them off. */
struct profile_growth {
	uint64_t halves[2]; /* in the first and in the second half of growth_span */
	double variance[2]; /* bytes² */
	uint64_t example, since; /* the object of them that is there for longest, and when it came; 0: not known */
};

#define PROFILE_NO_STACK UINT32_MAX
/* Samples of one stack and thread that were taken together, or in a row: see moments.h. */
struct profile_moment {
	uint32_t at, span; /* steps of moment_step since started_at, and how many it lasted */
	uint32_t stack;    /* index into profile.stacks, or PROFILE_NO_STACK */
	uint32_t thread;   /* index into profile.threads, or PROFILE_NO_THREAD */
	uint32_t samples;
	uint64_t weight;
};

/* By which references what one place keeps more and more of is held. */
struct profile_chain {
	const char *class, *place, *caller; /* as leaks_find spells them */
	const char *text;                   /* NULL: it was not found */
};

/* What threads worked for (docs/use/slow-request.md). */
struct profile_trace_context {
	uint64_t trace_high, trace_low, span; /* 0 = none */
	const char *labels; /* "key\nvalue\nkey\nvalue\n", "" = none */
	bool others;        /* it stands for all that were too many to be kept apart */
};

struct profile_thread {
	uint32_t tid;
	const char *name; /* never NULL */
	uint64_t samples; /* stored samples of this thread */
	uint64_t weight;
};

/* Waits that were recorded for one lock, or because of one owner. */
struct profile_waits {
	const char *name;  /* class of the lock (slashes), or name of the owner; "" = not known, or too many of them */
	uint64_t identity; /* identity hash code of the lock, or its address; 0 = not known, or several locks */
	uint8_t kind;      /* enum lock_kind; of a lock only */
	uint64_t waits;    /* recorded ones */
	uint64_t time;     /* what they weigh, ns */
	uint64_t longest;  /* ns */
	uint64_t open;     /* waits that had not ended */
	/* of an owner by its stack: indices into profile.frames, root first */
	const uint32_t *frames;
	uint32_t depth;
	/* … and 1 + index into profile.locks: they had locks of that class, or that of `identity`; 0: not known */
	uint32_t lock;
};

/* Calls of one operation about one file, peer or other thing. */
struct profile_io {
	const char *target;
	uint8_t operation; /* enum io_operation */
	uint8_t kind;      /* enum io_kind */
	uint64_t calls, bytes; /* that the samples stand for; calls: that have ended */
	uint64_t time;     /* ns */
	uint64_t idle;     /* ns that it waited beside `time`, until a client wanted something */
	uint64_t longest;  /* ns, of a sample */
	uint64_t calls_error, bytes_error, time_error, idle_error; /* standard errors; 0: it is exact */
};

/* All calls of an operation, each of which was counted. */
struct profile_io_counted {
	uint64_t calls, bytes; /* of those that have ended */
	uint64_t time;         /* ns, with idle time, also of those that go on */
};

/* A distribution in ns. All 0 when nothing was measured. */
struct profile_timing {
	uint64_t count;
	uint64_t mean, p99, p999, max;
};

/* The window of the options begin and end; all 0 and NULL without them. */
struct profile_window {
	const char *begin, *end; /* the functions; "" = none. NULL: there is no window */
	bool watched;            /* samples outside were kept, too */
	bool open;               /* the last one had not ended */
	uint64_t count, total, longest; /* ns */
	uint32_t pauses;         /* calls came so often on a thread that they were not watched for some time */
};

/* What was told apart at first and is one by now, so that a long session needs no more memory. */
struct profile_merged {
	uint64_t threads;        /* that ended, under the pattern of their names */
	uint64_t classes;        /* hidden ones, under the name they have in common */
	uint64_t samples;        /* of the rarest stacks, as [earlier_stacks] */
};

/* Unit and event of numbers in a file that does not say what they count, as collapsed stacks. */
#define FORMAT_UNKNOWN_UNIT "units"

/* The threads' queues: their memory, how often one grew, and of all the largest and the fullest, in samples. */
struct profile_queues {
	uint64_t bytes, increments;
	uint32_t max_capacity, max_fill;
};

struct calls;
struct profile_marks;

struct profile {
	/* where it comes from */
	const char *event;      /* "cpu": what the user asked for */
	const char *engine;     /* "perf", "ctimer", "itimer", or "perf+ctimer": what was in force */
	const char *main_class; /* main class or jar with its arguments cut off; "" if unknown */
	const char *jdk;        /* "17.0.15+6-Debian", "" if unknown */
	const char *title;      /* page title; NULL = "CPU profile" or the like */
	const char *unit;       /* of weights that are no ns, where it is not weight_kind's; NULL: it is */
	/* read from a file that does not say what became of all samples: the sentence that stands for the loss line */
	const char *told;
	bool kinds_unknown;      /* a file does not say how its Java methods were compiled: FRAME_C2 is any of them */
	bool recorded;           /* read from a file: walks that ended early, queues, timings and arms are not known */
	int pid;
	uint64_t started_at;    /* ns since 1970 */
	uint64_t duration;      /* ns */
	uint64_t gap;           /* ns before it, since the round of a loop before, that are in no result; 0: none */
	enum weight_kind weight_kind; /* WAIT: that threads waited for locks, see `locks` and `owners` */
	uint64_t interval;      /* asked for */
	uint64_t interval_most;  /* it varied, and was at most that; 0: it did not */
	uint64_t effective_interval; /* stored weight / stored samples, 0 if none */

	/* what happened to the samples: taken = stored + sum of lost */
	uint64_t taken, stored;
	uint64_t lost[LOSS_REASONS];
	uint64_t lost_weight[LOSS_REASONS];
	uint64_t weight_stored;
	uint64_t gone;           /* samples of what is not there any more: taken = stored + gone + lost */
	bool survivors;          /* samples are of objects that are there; `counted`: bytes of the heap in use */
	bool young;              /* … also of those that have come since the heap was counted */
	bool unfreed;            /* samples are of blocks of native memory that were not freed */
	uint64_t reserved;       /* nativemap: bytes of addresses that are only reserved */
	uint64_t peak_after;     /* … yet, so many ns after the start, when most was there; 0: at the end */
	uint64_t objects;        /* that the stored samples stand for; 0: as in struct profile_stack */
	uint64_t outside;        /* the same of all stacks */
	uint64_t unsampled;      /* CPU time of the process, or events counted, in no sample, stored or lost */
	bool filter_none;        /* the option `filter` let no thread in */
	bool partial;            /* … because only a part of it was to be: of some threads or CPUs, in user mode */
	uint64_t counted;        /* events by the kernel's own count; 0 for CPU time */
	uint64_t heap_most;      /* bytes that the heap may have; 0: not known, or they are not of what is in it */
	uint32_t threads_refused; /* threads alive at the end that could not be armed */
	struct profile_merged merged;
	uint32_t raised;         /* times a thread's interval was doubled in a storm of events */
	uint32_t stretched;      /* a thread was asked by a signal every so many intervals, at most; 0 = every one */
	struct profile_window window;
	uint64_t cpu_time;       /* ns of CPU time the process used during the session */
	uint64_t own_cpu;        /* ns of it used by jstrobe's own threads */
	uint64_t children_cpu;   /* ns beside it, used by child processes that ended meanwhile; not sampled */
	uint64_t ended_early[WALK_ENDS];
	bool ends_unknown;       /* … is not known: a file does not say what became of each walk */
	uint64_t complete;       /* stored samples whose walk reached the root */
	uint64_t ambiguous;      /* stored samples between places at which the compiler has inlined different methods */

	/* queues and own cost */
	struct profile_queues queues;
	struct profile_timing handler; /* in the handler, kernel delivery excluded */
	struct profile_timing drain;   /* one pass of the collector */
	struct profile_timing walk;    /* the walk alone; count 0 unless it was measured (features=stats) */
	uint32_t threads_perf, threads_timer; /* armed at the end, by means */

	const struct profile_frame *frames;
	uint32_t frame_count;
	const struct profile_stack *stacks;
	uint32_t stack_count;
	/* the time block that each stack is of, 0 … PROFILE_BLOCKS - 1, as long as `stacks` is blocks_of; or NULL */
	const uint8_t *blocks;
	const struct profile_stack *blocks_of;
	const struct profile_moment *moments; /* by time, as long as `stacks` is moments_of; NULL: not known */
	const struct profile_stack *moments_of;
	uint64_t moment_count, moment_step; /* step: ns */
	/* samples of each FINE_STEP (fine_counts.h), where that is shorter; valid as moments are; NULL: not known */
	const uint32_t *fine_counts;
	uint64_t fine_count, fine_step;
	/* the same, as it travels from an agent to the command (times.h); NULL: not known */
	const uint8_t *times;
	const uint32_t *time_stacks, *time_threads; /* of its numbers: indices into stacks, threads, + 1 */
	uint32_t time_bytes, time_stack_count, time_thread_count;
	uint64_t time_step, time_quantum, time_usual;
	const struct profile_growth *growth; /* of each stack, as long as `stacks` is growth_of; NULL: not known */
	const struct profile_stack *growth_of;
	uint64_t growth_span;    /* ns, from the start to the moment up to which it is known what is still there */
	const struct profile_chain *chains; /* of the fastest of what grows, if that was asked for */
	uint32_t chain_count;
	const char *chains_told; /* what it took to find them; NULL: nothing was asked for */
	const struct profile_waits *locks, *owners, *holders; /* the longest first; holders: owners by their stacks */
	uint32_t lock_count, owner_count, holder_count;
	const struct profile_io *io; /* of the event io; the longest first */
	struct profile_io_counted io_counted[IO_OPERATIONS]; /* all 0: not known */
	uint32_t io_count;
	const struct profile_thread *threads;
	uint32_t thread_count;
	bool virtual_as_one; /* one of them is all virtual threads, or those that are not kept apart */
	bool per_thread; /* stacks are split by thread */
	bool per_trace_context; /* … and by what the thread worked for */
	const struct profile_trace_context *trace_contexts;
	uint32_t trace_context_count;
	uint32_t outer;  /* so many frames of each stack (CPU, policy) stand outside its thread's */
	/* what include and exclude left out of `stacks` (the counts above know nothing of it) */
	bool filtered;
	uint64_t left_out, left_out_weight;
	const struct profile_marks *marks; /* of all profiles of a file, in its first one (profile_marks.h) */
	const struct profile *const *session; /* in the command: all profiles of its session, this one as well */
	uint32_t session_count;               /* 0: not known */
	const struct calls *calls; /* not NULL: a trace of methods, which has trees in the place of stacks (calls.h) */
};

/* Whether P says which locks were waited for; a recording does not. */
static inline bool profile_has_waits(const struct profile *p)
{
	return p->weight_kind == WEIGHT_WAIT && (!p->recorded || p->lock_count);
}

/* Whether P says when its samples were taken. */
static inline bool profile_has_times(const struct profile *p)
{
	return p->moments && p->moments_of == p->stacks && p->moment_count;
}

#endif

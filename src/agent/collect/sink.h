/*
 * sink.h - the seam between the aggregate and what goes out sample by sample: recordings, the ring
 * of the last minutes, a live stream.
 *
 * The aggregate sums up; a sink gets each stored sample on its own, in the order in which the queues
 * are emptied (of one thread in order of time, of different threads not). Exactly what the aggregate
 * counts as stored reaches each sink, once: the sum of `samples` over a sink's events is the growth of
 * the aggregate's `stored` while it was there, and so with weights.
 *
 * A sink is called with the collector's lock held, on whichever thread drains: it must be short, may
 * not wait and may not call the collector's door. What takes time (names, files) belongs on a thread of
 * its own.
 */
#ifndef JSTROBE_COLLECT_SINK_H
#define JSTROBE_COLLECT_SINK_H

#include "agent/zone/trace_context.h"
#include "common/base/base.h"
#include "common/words/events.h"

struct collector;

/*
 * What an event that is a wait says besides; its stack, thread and weight are those of the one who waited. Plain
 * data: a sink that keeps it copies it.
 */
struct sink_lock {
	uint8_t kind;           /* enum lock_kind */
	uint32_t class_name;    /* of the lock or the synchroniser, with slashes: number in collector.frames.strings */
	uint64_t identity;      /* the same for one lock for as long as it lives, wherever it is moved; 0 = none */
	uint64_t duration;      /* ns of this wait; the event's weight stands for shorter ones as well */
	uint64_t told;          /* ns of it that events before this one had; this one begins behind them */
	bool open;              /* it has not ended */
	bool again;             /* an event of this session has told of it before */
	int32_t owner_tid;      /* OS thread that held it when the wait began; 0 = none, or not known */
	uint64_t owner_context; /* the virtual thread that did; 0 = none */
	uint32_t owner_thread;  /* 1 + index into collector.threads, 0 = none */
	uint32_t owner_name;    /* number in collector.frames.strings, 0 = none */
	uint32_t owner_node;    /* its stack then, index into collector.nodes; 0 = not taken */
};

/* What an event says besides whose row of events.def has fields. Plain data: a sink that keeps it copies it. */
struct sink_fields {
	uint32_t class_name;    /* its CLASS, with slashes: number in collector.frames.strings; 0 = not known */
	uint64_t values[EVENT_FIELDS_MAX]; /* of the others, each in its place */
};

/* One sample, or several in a row of one thread that are equal but for their time. */
struct sink_event {
	uint64_t time;     /* of the first, CLOCK_MONOTONIC ns */
	uint64_t span;     /* ns from the first to the last, 0 = a single one */
	uint64_t samples;  /* at least 1 */
	uint64_t weight;   /* of all of them together, in the event's unit */
	uint64_t vthread;  /* virtual thread (its java tid) that was mounted, 0 = none */
	uint32_t node;     /* its stack: index into collector.nodes */
	uint32_t thread;   /* index into collector.threads */
	uint32_t event;    /* which of the session's */
	uint32_t name;     /* the OS thread's at that time, number in collector.frames.strings; 0 = as it is now */
	uint8_t state;     /* enum thread_state */
	struct trace_context trace_context; /* what the thread worked for; all 0 = nothing that is known */
	const struct sink_lock *lock; /* valid during the call; NULL: it is no wait */
	const struct sink_fields *fields; /* valid during the call; NULL: it has none */
};

/* A thread, sampled or not, that has another name than before. */
struct sink_name {
	int32_t tid;
	uint64_t java_id;  /* 0 = none of Java's */
	uint32_t name;     /* number in collector.frames.strings */
	uint64_t time;     /* when it was noticed */
};

struct sink;
struct generation;
struct mark;

/* Any of them may be NULL. */
struct sink_ops {
	void (*event)(struct sink *, const struct sink_event *);
	/* All queues have been emptied once; NOW is os_monotonic. */
	void (*drained)(struct sink *, uint64_t now);
	/* Thread number THREAD is known from now on; it has ended (thread_end). */
	void (*thread_begin)(struct sink *, uint32_t thread);
	/* A thread, sampled or not, has another name, while names are watched (agent/threads/thread_names.h). */
	void (*named)(struct sink *, const struct sink_name *);
	void (*thread_end)(struct sink *, uint32_t thread, uint64_t now);
	/*
	 * A sampled block of native memory at ADDRESS was freed, or SIZE bytes from there on were unmapped;
	 * THREAD + 1, 0: of no thread that is known. ADDRESS 0: one that could not be noted.
	 */
	void (*freed)(struct sink *, uint64_t time, uint32_t thread, uint64_t address, uint64_t size);
	/*
	 * The program has marked M, valid during the call, on THREAD + 1, 0: not known; NULL: LOST of them are
	 * missing.
	 */
	void (*marked)(struct sink *, const struct mark *m, uint32_t thread, uint64_t lost);
	/* All numbers are void: those that are kept get their new ones from carry_node, _thread and _text. */
	void (*renewed)(struct sink *, struct generation *);
	/* Nothing more will come: the sink has been taken off its collector. */
	void (*close)(struct sink *);
};

/* What a kind of sink has as its first member. */
struct sink {
	const struct sink_ops *ops;
	bool renews;                 /* it begins new aggregates itself, at its own times */
	struct collector *collector; /* NULL: of none */
	struct sink *next;
};

/* S gets what is stored from now on; S stays its owner's. Lock not held, any thread in normal code. */
void sink_add(struct collector *c, struct sink *s);
/* Empty the queues if sampling goes on, then take S off its collector and close it. The same. */
void sink_remove(struct sink *s);

/* For those who store samples: tell all sinks. Lock held. */
void sink_event(struct collector *c, const struct sink_event *e);
void sink_drained(struct collector *c);
void sink_thread_begin(struct collector *c, uint32_t thread);
void sink_named(struct collector *c, const struct sink_name *n);
void sink_thread_end(struct collector *c, uint32_t thread);
/* What had been freed before the queues were emptied. */
void sink_freed(struct collector *c);
void sink_renewed(struct collector *c, struct generation *g);
/* What the program has marked since the last time, while its threads are still known. */
void sink_marked(struct collector *c);

#endif

/*
 * collector_state.h - what the collector keeps, and which lock guards it. Inner header of the collect room, and of the
 * sinks, which get numbers of what is kept here.
 */
#ifndef JSTROBE_COLLECT_COLLECTOR_STATE_H
#define JSTROBE_COLLECT_COLLECTOR_STATE_H

#include <pthread.h>

#include "agent/collect/aggregate_sums.h"
#include "agent/collect/collector_options.h"
#include "agent/collect/durations.h"
#include "agent/collect/names/named_frames.h"
#include "agent/collect/sources.h"
#include "agent/collect/timeline.h"
#include "common/base/map.h"
#include "common/base/pages.h"
#include "common/base/vector.h"
#include "profile/model/profile.h"
#include "profile/writers/metrics.h"

struct sink;

/* A stack: a trace and the names its words had. */
struct node {
	uint32_t first;        /* of its named frames in collector.frame_list, leaf first */
	uint32_t depth;
	uint64_t versions;     /* sum of its methods' versions; UINT64_MAX: name it again */
	uint64_t checked;      /* drain */
	uint64_t epoch;          /* of the sample it was last used for */
	uint8_t end;           /* 0 = complete, else enum walk_end + 1 */
};

#define OBJECT_PARTS 1024

/* Memory for when samples were taken, of all events: bytes, and at most a part of memlimit. */
#define TIMELINES_BYTES (4u << 20)
#define TIMELINES_PART 8

/* Samples of one node and event (on one thread, if kept apart; by wall clock, in one state). */
struct stack_count {
	uint32_t node, thread, event;
	uint8_t state;         /* enum thread_state; NONE: not kept apart */
	uint32_t trace_context;      /* index into collector.trace_contexts + 1; 0 = none, or not kept apart */
	uint64_t samples, weight;
	uint64_t objects;      /* that they stand for, in parts of 1/OBJECT_PARTS; 0: the event is not of objects */
	uint64_t outside;      /* of the weight: of objects outside a TLAB; of calls that stand for others */
};

/* A sample that counts while its object is there (survivors.h). */
struct survivor {
	uint64_t id;           /* of the object, 0 = none */
	uint64_t time;         /* of its allocation, CLOCK_MONOTONIC ns */
	uint64_t weight, size;
	uint64_t vthread;
	uint64_t stands_for;   /* once sampling has ended: as the source said then */
	uint32_t age;          /* the same: collections that it has survived */
	uint32_t node, thread;
	uint32_t class_name;   /* number in frames.strings */
	uint32_t trace_context; /* as in struct stack_count */
	uint32_t event;
};

/* Where samples belong; node 0 = nowhere, memory was short. */
struct place {
	uint32_t node;         /* as its names were */
	uint32_t shown;        /* with CPU and policy, where they are asked for */
	uint32_t thread;       /* entry + 1 */
	uint8_t state;         /* enum thread_state */
	uint64_t vthread;
	struct trace_context trace_context;
};

/* What threads worked for, where stacks are kept apart by it. */
struct trace_context_entry {
	struct trace_context trace_context;
	uint32_t labels;       /* text, number in frames.strings */
	bool others;           /* it stands for all that were too many */
};

#define ALL_VIRTUAL UINT64_MAX /* a vthread: virtual threads that are not kept apart */

struct thread_entry {
	int32_t tid;
	uint64_t vthread;      /* virtual thread, 0 = none */
	uint64_t java_id;      /* Thread.getId, 0 = not known (yet) */
	uint32_t name;         /* number in frames.strings */
	uint32_t former;       /* the name until `renamed`, 0 = none is known */
	uint64_t renamed;
	bool given;            /* `name` came from the JVM, or from the kernel while it was watched */
	uint64_t first;        /* time of its first sample */
	uint64_t since;        /* when it was found, os_monotonic; 0 = not known */
	uint64_t ended;        /* it stands for so many that have ended; 0 = it is one thread */
};

struct thread_sum {
	uint64_t samples, weight;
};

/* A thread's name on its way into the aggregate. */
struct given_name {
	int tid;
	uint64_t java_id;
	uint64_t time;         /* since when it is known to have it, os_monotonic */
	size_t name;           /* it begins there in collector.given_text */
};

struct loss_totals {
	uint64_t taken;
	uint64_t count[LOSS_REASONS], weight[LOSS_REASONS];
};

/* Threads that have ended (ended_threads.h). */
struct ended_thread {
	int32_t tid;
	uint32_t java_id;      /* lower bits of Thread.getId, 0 = none of Java's */
	uint64_t since, until; /* os_monotonic */
	uint32_t name;         /* number in frames.strings */
	uint32_t thread;       /* entry + 1 of the aggregate, 0 = it has none (yet) */
	uint32_t before;       /* index + 1 of the one that had its tid before */
};

struct ended_threads {
	PAGED(struct ended_thread) list; /* in the order of their ends */
	struct map by_tid, by_java;      /* → index + 1, the newest */
	bool forgot;                     /* some are not in it any more */
};

/* The aggregate of one event. */
struct event_aggregate {
	uint64_t stored, weight_stored, complete;
	uint64_t kept;         /* samples that count while their object is there, ever */
	uint64_t ambiguous;    /* of the stored ones, see struct sample's unsure */
	uint64_t ended[WALK_ENDS];
	struct loss_totals losses_of_dead;
	struct map by_node;    /* node << 32 | aggregate_trace_context_on << 4 | state → count + 1 */
	bool timed;            /* it is kept when its samples were taken (timeline.h) */
	bool ticks;            /* by wall clock or in turns: see enum ticks; states are kept apart */
};

/* The thread that looks names up (late_names.h). */
struct namer {
	pthread_t thread;
	bool started;          /* and not joined yet */
	atomic_bool done;
	_Atomic pid_t tid;
	uint64_t began, pause; /* the last look-up; how long none is begun from then on */
};

struct collector {
	const struct collect_sources *sources;
	struct collector_options options;
	pthread_t thread;
	_Atomic pid_t tid;     /* of it; 0: it has not begun */
	bool open, joined;     /* joined: there is no thread, or it has ended, the last drain is still to come */
	_Atomic uint32_t stopping; /* cuts the rest between two drains short */
	pthread_mutex_t images; /* held while names are looked up: no image may go away; taken before `lock` */
	struct kernel_table *kernel; /* kept for a while where names are asked for all the time; with `images` */
	pthread_mutex_t lock;  /* everything below */

	struct frames frames;
	uint64_t epoch_floor;    /* no sample that is still queued is older */
	uint64_t epoch_of_drain; /* as the present drain began */
	PAGED(struct node) nodes;
	PAGED(uint32_t) frame_list;
	PAGED(uint16_t) bcis; /* beside frame_list: FRAME_NO_BCI = none */
	PAGED(struct stack_count) stack_counts;
	struct map places;     /* CPU and policy → their number */
	struct map by_place;   /* node and that number → the node with their frames */
	PAGED(struct thread_entry) threads;
	PAGED(struct thread_sum) sums; /* of each thread, one for each event */
	struct map by_vthread; /* virtual thread → thread entry + 1 */
	PAGED(struct trace_context_entry) trace_contexts;
	struct map by_trace_context; /* hash → trace context entry + 1 */
	struct map trace_context_pairs; /* trace context entry + 1 << 32 | thread → a number */
	uint32_t other_trace_contexts; /* the entry of all that are not kept apart + 1, 0 = there are none */
	struct map names;      /* tid → name number, 0 = none (any more) */
	struct map by_tid;     /* tid → its newest thread entry + 1 */
	struct map java_ids;   /* tid → Thread.getId, 0 = none (any more); its lower 32 bits */
	struct ended_threads ended;
	struct map virtual_names[2]; /* virtual thread → name number; the newer ones first */

	pthread_mutex_t given_lock; /* the list below; never held for long: threads of the program take it */
	PAGED(struct given_name) given;
	PAGED(char) given_text;
	struct collector_totals totals; /* as last told, as what follows; with given_lock */
	struct collector_event_totals event_totals[RECORD_EVENTS];
	struct metrics_held held[COLLECTOR_HELD];

	struct event_aggregate events[RECORD_EVENTS];
	PAGED(struct profile_growth) growth; /* beside stack_counts, as far as it is known; made for each profile */
	uint64_t growth_span[RECORD_EVENTS];
	struct peak {
		struct stack_count *sums; /* as aggregate_live() has them; NULL: nothing was there */
		size_t count;
		uint64_t total, time, looked; /* bytes then, and when; the last look: os_monotonic */
	} peaks[RECORD_EVENTS];
	PAGED(struct survivor) survivors; /* by place of the object */
	PAGED(struct place) runs; /* by index of the record: the run that is open on it */
	uint64_t done_due;     /* of waits that are over: not before */
	bool with_waits;       /* one of the events is of waits */
	uint64_t opened;       /* when the present run began, os_monotonic */
	uint64_t began;        /* when the first one did, as the session says */
	size_t timeline_most;  /* bytes for each of them */
	struct timeline timelines[RECORD_EVENTS];
	struct waits_aggregate waits;
	struct io_sums io;     /* of the event io, which a session has once */
	struct sink *sinks;    /* who gets each sample besides */
	_Atomic uint32_t hurried; /* so many of them want each sample at once */
	struct profile_queues queues;
	struct timing handler, drain, walk;

	uint64_t last_look, last_scan, scan_took; /* for threads, at how many there are and at which */
	uint64_t last_full;
	bool images_retired;   /* a former set is on its way out: one at a time */
	uint32_t generation;      /* which one it is since the session began: numbers of nodes are of one of them */
	bool renew_stacks;     /* a new generation of the stack store is due */
	struct stack_chunk kept; /* where traces are copied to that are kept beyond a generation */
	size_t bytes_kept;     /* of them in the present one */
	uint32_t pinned;       /* so many keep the aggregate's numbers beyond the lock: no new one meanwhile */
	size_t renew_at;       /* bytes held from which on a new aggregate is worth it; 0 = the first */
	bool merges_hidden;    /* hidden classes of one name are one by now */
	struct profile_merged merged; /* what is coarser for lack of memory */
	struct namer namer;
};

#endif

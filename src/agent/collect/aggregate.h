/*
 * aggregate.h - what the collector keeps. Inner header of the collect room.
 */
#ifndef JSTROBE_COLLECT_AGGREGATE_H
#define JSTROBE_COLLECT_AGGREGATE_H

#include <pthread.h>

#include "agent/collect/aggregate_io.h"
#include "agent/collect/aggregate_waits.h"
#include "agent/collect/collector.h"
#include "agent/collect/durations.h"
#include "agent/collect/ended_threads.h"
#include "agent/collect/names/named_frames.h"
#include "agent/collect/sink.h"
#include "common/base/map.h"
#include "common/base/pages.h"
#include "common/base/vector.h"

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

/* Samples of one node and event (on one thread, if kept apart; by wall clock, in one state). */
struct stack_count {
	uint32_t node, thread, event;
	uint8_t state;         /* enum thread_state; NONE: not kept apart */
	uint32_t trace_context;      /* index into collector.trace_contexts + 1; 0 = none, or not kept apart */
	uint64_t samples, weight;
	uint64_t objects;      /* that they stand for, in parts of 1/OBJECT_PARTS; 0: the event is not of objects */
	uint64_t outside;      /* of the weight: of objects outside a TLAB */
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

/* Of a stack count of what is there, as in struct profile_growth. */
struct growth {
	uint64_t halves[2];
	double variance[2];
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

/* The aggregate of one event. */
struct event_aggregate {
	uint64_t stored, weight_stored, complete;
	uint64_t kept;         /* samples that count while their object is there, ever */
	uint64_t ambiguous;    /* of the stored ones, see struct sample's unsure */
	uint64_t ended[WALK_ENDS];
	struct loss_totals losses_of_dead;
	struct map by_node;    /* node << 32 | aggregate_trace_context_on << 3 | state → count + 1 */
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
	PAGED(struct growth) growth; /* beside stack_counts, as far as it is known; made for each profile */
	uint64_t growth_span[RECORD_EVENTS];
	struct {
		struct stack_count *sums; /* as aggregate_live() has them; NULL: nothing was there */
		size_t count;
		uint64_t total, time, looked; /* bytes then, and when; the last look: os_monotonic */
	} peak;
	PAGED(struct survivor) survivors; /* by place of the object */
	PAGED(struct place) runs; /* by index of the record: the run that is open on it */
	uint64_t done_due;     /* of waits that are over: not before */
	bool with_waits;       /* one of the events is of waits */
	uint64_t opened;       /* when the present run began, os_monotonic */
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

/* Store one sample in the aggregate; its thread worked for TRACE_CONTEXT, NULL = not known. Lock held. */
void aggregate_sample(struct collector *c, const struct sample *s, const struct trace_context *trace_context,
		    struct thread_record *r);
/* The same for a sample with fields (aggregate_fields.c). */
void aggregate_fields(struct collector *c, const struct sample *s, const struct field_note *n,
		      const struct trace_context *trace_context, struct thread_record *r);
/* The longest interval that samples of E had, whose interval follows a rate; 0: it did not vary. */
uint64_t aggregate_fields_interval_most(const struct collector *c, uint32_t e);
/* T gets what E, with fields, says of objects, if its event is of some. */
void aggregate_fields_objects(const struct collector *c, const struct sink_event *e, struct stack_count *t);
/* Whether event E is of calls that read, write and the like: fields as in common/words/io_fields.h. */
bool aggregate_is_io(const struct collector *c, uint32_t e);
/* The innermost frame of E in results: a class, or what a call was about. FRAMES_NO_MEMORY: none. */
uint32_t aggregate_leaf_frame(struct collector *c, const struct sink_event *e);
/* The node of E, with fields, that ends in it; 0 = out of memory. Lock held. */
uint32_t aggregate_fields_shown(struct collector *c, const struct sink_event *e);
/* The node that results show for E: with what it was about on top; 0 = out of memory. Lock held. */
uint32_t aggregate_shown(struct collector *c, const struct sink_event *e);
/*
 * Where S, a sample of R with notes, counts: its stack, thread and name go into E, which has all that the notes say.
 * NULL: out of memory, S is lost. Lock held.
 */
struct stack_count *aggregate_noted(struct collector *c, const struct sample *s, struct thread_record *r,
				    struct sink_event *e);
/* The same for one that no handler took. False: it is none, or lost. Lock held. */
bool aggregate_reported(struct collector *c, const struct sample *s, const struct trace_context *trace_context,
		  struct thread_record *r);
/* The number of R (index + 1), 0 = none, or they are not kept apart; and together with a thread. Lock held. */
uint32_t aggregate_trace_context(struct collector *c, const struct trace_context *r);
uint32_t aggregate_trace_context_on(struct collector *c, uint32_t thread, uint32_t trace_context);
/* What the engine read from outside. Lock held. */
struct run_note;
void aggregate_run(struct collector *c, const struct run_note *n);
/* The node of S's trace as its names were when S was taken; 0 = out of memory. Lock held. */
uint32_t aggregate_stack(struct collector *c, const struct sample *s);
/* A new node: NODE with FRAME innermost; 0 = out of memory. Lock held. */
uint32_t aggregate_stack_under(struct collector *c, uint32_t node, uint32_t frame);
/* NODE with the frames of CPU and policy that S has of R, where asked for; 0 = out of memory. Lock held. */
uint32_t aggregate_stack_placed(struct collector *c, uint32_t node, const struct sample *s, struct thread_record *r);
/*
 * Entry + 1 of the thread that S belongs to: the virtual thread that was mounted, or R; 0 = out of memory. Lock
 * held.
 */
uint32_t aggregate_thread(struct collector *c, const struct sample *s, struct thread_record *r);
/*
 * The count of NODE for EVENT, on thread number THREAD - 1, in STATE and of trace context number TRACE_CONTEXT as far
 * as these are kept apart; NULL when out of memory. Lock held.
 */
struct stack_count *aggregate_stack_count(struct collector *c, uint32_t event, uint32_t node, uint32_t thread,
					uint8_t state, uint32_t trace_context);
/* R will take no sample any more: the weight it carries for the next one is lost. */
void aggregate_carried(struct thread_record *r);
/* R ends: its losses of all events go to those of the dead. Lock held. */
void aggregate_end(struct collector *c, struct thread_record *r);
/* Losses of event E so far: records alive and dead, and signals without a record. Lock held. */
void aggregate_all_losses(struct collector *c, uint32_t e, struct loss_totals *t);
/* The name that THREAD had at TIME, as far as it was noticed. Lock held. */
uint32_t aggregate_name_at(const struct collector *c, uint32_t thread, uint64_t time);
/* TID's thread has ended: another one may have the number next. Lock held. */
void aggregate_forget_number(struct collector *c, uint64_t tid);
/* A new entry + 1 for TID, which has ended and was called NAME (a number); 0 = out of memory. Lock held. */
uint32_t aggregate_thread_ended(struct collector *c, int tid, uint32_t name);
/* Take the names given since the last call into the aggregate. Lock held. */
void aggregate_names(struct collector *c);
/* Begin counting signals without a record anew; take what was counted into the aggregate. Lock held. */
void aggregate_open(struct collector *c);
void aggregate_close(struct collector *c);
/* Empty all queues once, or only those of records that were stirred since the last time. Lock held. */
void drain_all(struct collector *c);
void drain_stirred(struct collector *c);
/* A node of DEPTH named frames (leaf first), that no trace has. 0 = out of memory. Lock held. */
uint32_t aggregate_stack_of(struct collector *c, const uint32_t *frames, uint32_t depth, uint8_t end);
/* FRAME at position BCI as the outermost one of NODE, the last one; false without memory: NODE is gone. Lock held. */
bool aggregate_stack_push(struct collector *c, uint32_t node, uint32_t frame, uint32_t bci);
/* The last node is not needed. Lock held. */
void aggregate_stack_forget(struct collector *c);
/*
 * A new aggregate (generation.c), if the present one is worth it: all numbers of nodes are void, the sinks are told so.
 * Lock held.
 */
bool generation_begin(struct collector *c);
/* Whether a new one should begin soon: memory for traces runs out; or much of what is kept is not wanted any more. */
bool generation_is_full(const struct collector *c);
bool generation_is_due(const struct collector *c);
/*
 * The new numbers of NODE, of THREAD (not + 1) and of the text NAME of the aggregate that is given up: what is not
 * asked for is forgotten. During sink_ops.renewed.
 */
uint32_t generation_node(struct generation *g, uint32_t node);
uint32_t generation_thread(struct generation *g, uint32_t thread);
uint32_t generation_text(struct generation *g, uint32_t name);
/* The new number + 1 of THREAD (not + 1) if it was asked for, 0 = so far it is forgotten. */
uint32_t generation_lives(const struct generation *g, uint32_t thread);
/* A new generation of the stack store, which has what is kept from the one before. False: not now. Lock held. */
bool generation_renew_stacks(struct collector *c);
/* No handler is at work any more that is in the one before: what they have kept since is moved, too. Lock held. */
void generation_move_kept(struct collector *c);
/*
 * Before a drain: read the images that were opened since the last reading, so that what ran in them has names. Where
 * some were closed as well the drain comes first, for the set there is still knows those. Where the JVM has just begun
 * to run Java, find its counts of classes: they say of what was sampled meanwhile that none was unloaded. Lock held.
 */
void upkeep_opened(struct collector *c);
/* Whether the counts of classes are missing: not before the JVM runs Java, for they would tell nothing. */
bool upkeep_counts_missing(void);
/* Keep what handlers read in shape: stack store, images, decode cache, layout. Lock held. */
void upkeep(struct collector *c);
/* Everything sampled so far is in the aggregate, with names as far as they are found; the lock is held afterwards. */
void collect_all_and_lock(struct collector *c);
/* Add E to the sums of its event and thread and to T; END is that of its stack. Lock held. */
void aggregate_add(struct collector *c, const struct sink_event *e, uint8_t end, struct stack_count *t);
/* The counts of CUT as of one moment, now, into FACTS[CUT->count]. Lock held. */
void collect_counts_now(const struct collector *c, const struct collector_cut *cut, struct collector_counts *counts);
/* What the aggregate holds of event E as a profile, NULL when out of memory. Lock held. */
struct profile *collect_fill_view(struct collector *c, uint32_t e, const struct collector_counts *counts);
/* What handlers read must exist before the first of them runs. */
int upkeep_open(size_t store_bytes, struct error *err);
/* Free it all, when no handler can run any more. */
void upkeep_close(struct collector *c);

/* Sums in the order of C's (to be freed), all of them 0; NULL without memory. Lock held. */
struct stack_count *aggregate_empty_sums(const struct collector *c);
/* Such sums of what is still there of event E; with how it has grown, if that is wanted: see aggregate_grow. */
struct stack_count *aggregate_live(struct collector *c, uint32_t e, bool growing);
/* Look whether more is there than ever; after the LAST drain, too. Lock held. */
void aggregate_peak_look(struct collector *c, bool last);
/* The same of when most was there. */
struct stack_count *aggregate_peak(struct collector *c, uint32_t e);
void aggregate_peak_moved(struct collector *c, const uint32_t *now, size_t count);
void aggregate_peak_forget(struct collector *c);

/*
 * Something of SIZE bytes that is there and stands for WEIGHT was allocated in half HALF of its event's growth_span:
 * stack count number PLACE grows by it. False: out of memory. Lock held.
 */
bool aggregate_grow(struct collector *c, size_t place, uint64_t weight, uint64_t size, bool half);
/* The sums of C have new numbers: NOW, of COUNT, each + 1, 0 = it is gone. Lock held. */
void aggregate_live_moved(struct collector *c, const uint32_t *now, size_t count);

#endif

/*
 * event_handlers.h - the events of one chunk that matter, each compiled into a layout and a rule.
 */
#ifndef JSTROBE_READERS_JFR_EVENT_HANDLERS_H
#define JSTROBE_READERS_JFR_EVENT_HANDLERS_H

#include "profile/readers/context_filter.h"
#include "profile/readers/io_lines.h"
#include "profile/readers/jfr/chunk_marks.h"
#include "profile/readers/jfr/chunk_names.h"
#include "profile/readers/jfr/event_sources.h"
#include "profile/readers/jfr/first_allocs.h"
#include "profile/readers/jfr/left_blocks.h"
#include "profile/readers/jfr/recording_info.h"
#include "profile/readers/jfr/spans.h"
#include "profile/readers/jfr/stack_counts.h"

/* Which samples count; the same for all chunks, but for the clock. */
struct selection {
	const char *families; /* "cpu,alloc"; "" = the main ones */
	const char *states;   /* "runnable,sleeping"; "" = any */
	const char *threads;  /* "120-127;132"; "" = all */
	struct context_filter context_filter;
	bool by_thread;
	bool bci;             /* frames have their places in the bytecode */
	bool norm, simple;    /* how classes of objects are spelled; those of methods get that when they are written */
	bool by_context;      /* stacks are apart by what their threads worked for, for which `apart` is a pair */
	bool by_block;        /* stacks are apart by the block of BLOCKS_FROM … BLOCKS_TO that they are of */
	int64_t blocks_from, blocks_to; /* ns since 1970 */
	bool moments;         /* it is kept when each sample was taken: ns since MOMENTS_FROM, ns since 1970 */
	int64_t moments_from;
	int64_t start;        /* of the recording, ns since 1970; INT64_MIN: not known */
	bool in_range;        /* FROM and TO are set */
	int64_t from, to;     /* ns since 1970 */
	struct spans *spans;  /* samples of these times alone; NULL = all */
	struct first_allocs *allocs; /* what first samples of the JDK weigh too much; NULL = nothing */
	struct left_blocks *left; /* native memory: only what was not freed; NULL = all */
};

enum handler_kind {
	HANDLE_SAMPLE,    /* one event, one sample */
	HANDLE_EXECUTION, /* jdk.ExecutionSample: of CPU or of wall time, as its state says */
	HANDLE_WALL,      /* one event, several samples */
	HANDLE_CPU_TIME,
	HANDLE_EVENT,     /* jstrobe.EventSample: the event is said by name */
	HANDLE_WEIGHTS,   /* jstrobe.SampleWeights: of the execution samples of CPU time before */
	HANDLE_WALL_WEIGHTS, /* jstrobe.WallWeights: of the wall-clock samples before */
	HANDLE_SPAN,      /* while spans are noted: profiler.Span, jdk.MethodTrace */
	HANDLE_ALLOCATED, /* while allocations are noted: a sample, what a thread allocated, or that one began */
	HANDLE_TIMING,    /* jdk.MethodTiming: a sum */
	HANDLE_COUNTS, HANDLE_REASON, /* jstrobe.Counters, jstrobe.SamplesLost */
	HANDLE_SETTING, HANDLE_JVM, HANDLE_JDK_LOST,
	HANDLE_CONTEXT,   /* jstrobe.SampleContext: of the sample behind it */
	HANDLE_OBJECT_WEIGHT, /* jstrobe.ObjectWeight, jstrobe.LiveWeight: the same */
	HANDLE_FREED,     /* a block, or a part of a mapping, is gone */
	HANDLE_IO_WEIGHT, /* jstrobe.IOWeight: the same */
	HANDLE_AROUND,    /* jstrobe.Surrounding: a number of struct surroundings */
	HANDLE_LIVE_HEAP, /* jstrobe.LiveHeap: of all live objects behind it */
	HANDLE_MARK,      /* no sample: chunk_marks.h */
};

enum handler_slot {
	SLOT_TIME, SLOT_STACK, SLOT_THREAD, SLOT_STATE, SLOT_SAMPLES, SLOT_SPAN, SLOT_WEIGHT, SLOT_OBJECT,
	SLOT_FAILED, SLOT_SIZE,
	SLOT_A, SLOT_B, SLOT_C, SLOT_D, SLOT_E, SLOT_F, SLOT_G, SLOT_H, SLOT_I, SLOT_J, SLOT_K, SLOTS
};

struct event_handler {
	enum handler_kind kind;
	const char *event;
	uint64_t type_id;
	uint32_t layout;
	uint32_t counts, wall_counts; /* of chunk_handlers.event_counts; HANDLE_MARK: of its others */
	bool has_stack, has_thread, has_state, has_object, has_time;
	bool has_size;      /* its weight is of objects of that size */
	bool lasts;         /* its weight is how long it took */
	bool is_live;       /* it is an object that is there */
	bool of_thread;     /* it weighs what its thread has allocated since the sample before */
	bool outside;       /* its weight is the size of an object outside TLABs */
	enum left_role { LEFT_NONE, LEFT_BLOCK, LEFT_MAPPING } left; /* native memory that is freed some time */
	bool of_call;       /* what it stands for, and its object, are in the jstrobe.IOWeight before it */
	uint8_t operation, io_kind; /* of the call; IO_OPERATIONS: the event says both */
	uint32_t object_type;
	enum metadata_unit unit; /* HANDLE_TIMING: of the average; HANDLE_SPAN, or if it lasts: of the duration */
	uint64_t slots[SLOTS];
};

/* When an item of the counts below was seen. */
struct chunk_moment {
	uint64_t time, span; /* ticks */
	uint32_t item, thread; /* thread: its place, or STACK_COUNT_NONE */
	uint64_t samples, weight;
};

/* The samples of one event of the chunk. */
struct event_counts {
	const char *event;  /* "jdk.ExecutionSample" */
	const char *family; /* NULL: by the table; else the family, kept by the aggregate's strings or static */
	uint32_t name;      /* HANDLE_EVENT: the event's, in the aggregate's strings */
	enum metadata_unit unit; /* of its weights */
	bool has_weight;
	bool weighed;            /* their weights came later, in ns */
	bool is_live;            /* of objects that are there */
	bool begun;              /* its counts are ready for this chunk: it has had a sample */
	bool of_calls;           /* parts of its counts are of weights, those that are estimates */
	struct stack_counts t;
	VECTOR(struct chunk_moment) moments; /* of its items, where these are kept */
	uint64_t failed;
};

/*
 * An event whose weight is still to come: the counts of its event, the one in them (STACK_COUNT_NONE: it does not
 * count), its moment + 1 (0: none is kept), its thread, and how many of its samples count.
 */
struct unweighed {
	uint32_t counts, item, moment, thread;
	uint32_t counted, samples;
};

/* What one jdk.MethodTiming says. */
struct method_timing {
	uint64_t method, calls, average; /* method: a key */
	enum metadata_unit unit;
};

struct chunk_handlers {
	const struct selection *selection;
	struct read_aggregate *aggregate;
	struct recording_info *info;
	struct names names;

	/* of the metadata: chunks after one another mostly have the same */
	struct metadata metadata;
	bool learnt; /* what follows is there */
	struct field_layouts layouts;
	struct pools pools;
	VECTOR(struct event_handler) handlers;
	size_t sample_handlers; /* the others are of marks */
	/* of small type numbers that are neither samples nor marks: handler + 1; when one is read, and the last */
	uint16_t by_other_type[2048];
	struct {
		uint32_t until_read, at; /* after how many; in the chunk */
	} counted[2048];
	uint32_t others_read; /* OTHERS_READ, or all of them */
	VECTOR(struct chunk_others) others;
	uint16_t by_type[2048]; /* type number → handler + 1 */
	struct map by_any_type; /* the same for larger numbers */
	size_t event_count; /* counts that the handlers have from the beginning; others are events' by name */
	const struct pool *stack_pool, *thread_pool, *state_pool; /* NULL: there is none */
	bool ours;              /* written by jstrobe */

	/* of the chunk */
	const struct chunk *chunk;
	VECTOR(struct event_counts) event_counts;
	uint64_t cells;         /* of their counts */
	int64_t from, to;       /* ticks */
	uint8_t *states;        /* by place: enum state_mark, and the enum thread_state above it */
	uint8_t *threads;       /* by place: whether it is wanted; NULL = all are */
	uint32_t stack_count, thread_count, state_count;
	/* Where samples are wanted or apart by their trace contexts: the last one, of whom and when. */
	struct {
		bool wanted;
		uint32_t thread, number; /* number: read_contexts.h */
		uint64_t time;
	} trace_context;
	struct {
		uint64_t time, weight;
	} object; /* what the last jstrobe.ObjectWeight said; weight 0: none */
	struct read_aggregate_live live; /* what the last jstrobe.LiveHeap said; not known: none */
	uint64_t middle, live_end; /* of the time that it speaks of, ticks */
	struct {
		bool there;
		uint64_t time, target; /* target: a key */
		struct io_call is;     /* but for its bytes and duration */
	} call; /* what the last jstrobe.IOWeight said */
	struct io_lines calls; /* of all: their targets are places in the pool of call_targets */
	uint32_t call_targets; /* type */
	struct {
		uint32_t version, arguments;
		int64_t pid;
	} jvm; /* what the last jdk.JVMInformation said, strings of the aggregate */
	uint32_t setting_of; /* the event of which the settings speak, a string of the aggregate */
	struct map context_labels; /* string of the aggregate → that of the labels as read_contexts.h has them */
	struct map labels; /* string of the aggregate → 1: has not, 2: has the label that is wanted */
	bool knows_cpu_state;   /* STATE_DEFAULT stands for CPU samples */
	VECTOR(struct unweighed) unweighed, unweighed_wall;
	VECTOR(struct method_timing) timings;
};


/* Kinds of samples of a chunk: no recorder has more than thirty. */
#define EVENT_COUNTS_MAX LIMIT_COUNT(256)
#define HANDLE_TOO_MANY "over 256 kinds of samples"

enum state_mark { STATE_CPU = 1, STATE_UNWANTED = 2, STATE_SHIFT = 2 };

/*
 * Watches for one reader of chunks, into FOLD and FACTS, with line numbers or without. 0 or -ENOMEM; free in
 * both cases.
 */
int event_handlers_init(struct chunk_handlers *w, const struct selection *selection, struct read_aggregate *aggregate,
		 struct recording_info *info, bool lines);
void event_handlers_free(struct chunk_handlers *w);
/* Read the types of C, which must stay, and its constants. 0, -EBADMSG (nothing can be read), -ENOMEM. */
int event_handlers_begin(struct chunk_handlers *w, const struct chunk *c);
/* SOURCE's event is a wait that the event `lock` of our own recordings has, too. */
bool event_is_lock_of_ours(const struct chunk_handlers *w, const struct source *source);
/* Mark the chunk's states and threads by what the selection says of them. 0 or -ENOMEM. */
int event_handlers_mark_states(struct chunk_handlers *w);
int event_handlers_mark_threads(struct chunk_handlers *w);
/* The events of TYPE get a handler, which is to be filled in. NULL: no memory. */
struct event_handler *event_handlers_add(struct chunk_handlers *w, uint32_t type, enum handler_kind kind);
/* Take one event of the chunk. */
void handler_take(struct chunk_handlers *w, struct event_handler *handler, const struct chunk_event *e);
/* The inline text at slot AT, valid until the next one is read into TO. */
const char *handler_inline_text(struct chunk_handlers *w, uint64_t at, struct buffer *to);
/* Note that the event at POSITION is of native memory, or of what THREAD (as in first_allocs.h) allocated. */
void handler_note_left(struct chunk_handlers *w, const struct event_handler *handler, uint64_t position);
void handler_note_allocated(struct chunk_handlers *w, const struct event_handler *handler, uint64_t position,
			    uint64_t thread);
/* What of an event is in the part of the time that is asked for. */
struct event_part {
	int64_t at;         /* ticks */
	uint64_t span;      /* ticks that it lasts, or from its first to its last sample */
	uint64_t samples;   /* 0: nothing is */
	uint64_t of, whole; /* and how much of its weight: of a wait the time inside */
};

/* PART: that of the event that HANDLER has read, which has SAMPLES. */
void handler_part(const struct chunk_handlers *w, const struct event_handler *handler, uint64_t samples,
		  struct event_part *part);
/* WEIGHT, as far as it is in P. */
uint64_t part_of(const struct event_part *p, uint64_t weight);
/* Take one jstrobe.SampleContext. */
void handler_context(struct chunk_handlers *w, const struct event_handler *handler);
/* Whether the sample of THREAD at TIME is wanted by what it worked for, which the event before it says. */
bool handler_is_of_context(const struct chunk_handlers *w, uint32_t thread, uint64_t time);
/* By what that sample is kept apart: a pair of the aggregate. */
uint32_t handler_in_context(struct chunk_handlers *w, uint32_t thread, uint64_t time, bool by_thread);
/* Take one jdk.MethodTiming, and at the end of the chunk add them all to the aggregate. */
void handler_timing(struct chunk_handlers *w, const struct event_handler *handler);
void event_handlers_aggregate_timings(struct chunk_handlers *w);
/* All events were taken: add the counts to the aggregate. */
void event_handlers_aggregate(struct chunk_handlers *w);

/* What becomes of events of type number TYPE, or NULL. */
static inline struct event_handler *event_handlers_find(struct chunk_handlers *w, uint64_t type)
{
	const uint32_t *slot;
	uint32_t at;

	if (likely(type < ARRAY_LEN(w->by_type))) {
		at = w->by_type[type];
	} else {
		slot = map_get(&w->by_any_type, type);
		at = slot ? *slot : 0;
	}
	return at ? &w->handlers.items[at - 1] : NULL;
}

/* E has no handler of its own: it is counted. */
static inline void event_handlers_count(struct chunk_handlers *w, const struct chunk_event *e)
{
	if (unlikely(e->type >= ARRAY_LEN(w->counted)))
		return;
	w->counted[e->type].at = (uint32_t)(e->at - w->chunk->start);
	if (unlikely(--w->counted[e->type].until_read == 0))
		chunk_marks_read(w, e);
}

#endif

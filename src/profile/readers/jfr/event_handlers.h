/*
 * event_handlers.h - the events of one chunk that matter, each compiled into a shape and a rule.
 */
#ifndef JSTROBE_READERS_JFR_EVENT_HANDLERS_H
#define JSTROBE_READERS_JFR_EVENT_HANDLERS_H

#include "profile/readers/context_filter.h"
#include "profile/readers/jfr/chunk_names.h"
#include "profile/readers/jfr/event_sources.h"
#include "profile/readers/jfr/recording_info.h"
#include "profile/readers/jfr/stack_counts.h"

/* Which samples count; the same for all chunks, but for the clock. */
struct selection {
	const char *families; /* "cpu,alloc"; "" = the main ones */
	const char *states;   /* "runnable,sleeping"; "" = any */
	const char *threads;  /* "120-127;132"; "" = all */
	struct request_wanted request;
	bool by_thread;
	bool in_range;        /* FROM and TO are set */
	int64_t from, to;     /* ns since 1970 */
};

enum watch_kind {
	WATCH_SAMPLE,    /* one event, one sample */
	WATCH_EXECUTION, /* jdk.ExecutionSample: of CPU or of wall time, as its state says */
	WATCH_WALL,      /* one event, several samples */
	WATCH_CPU_TIME,
	WATCH_EVENT,     /* jstrobe.EventSample: the event is said by name */
	WATCH_WEIGHTS,   /* jstrobe.SampleWeights: of the execution samples of CPU time before */
	WATCH_WALL_WEIGHTS, /* jstrobe.WallWeights: of the wall-clock samples before */
	WATCH_TIMING,    /* jdk.MethodTiming: a sum */
	WATCH_COUNTS, WATCH_REASON, /* jstrobe.Counters, jstrobe.SamplesLost */
	WATCH_SETTING, WATCH_JVM, WATCH_JDK_LOST,
	WATCH_REQUEST,   /* jstrobe.SampleContext: of the sample behind it */
};

enum watch_slot {
	SLOT_TIME, SLOT_STACK, SLOT_THREAD, SLOT_STATE, SLOT_SAMPLES, SLOT_SPAN, SLOT_WEIGHT, SLOT_OBJECT,
	SLOT_FAILED, SLOT_A, SLOT_B, SLOT_C, SLOT_D, SLOT_E, SLOT_F, SLOT_G, SLOT_H, SLOT_I, SLOT_J, SLOT_K, SLOTS
};

struct watch {
	enum watch_kind kind;
	const char *event;
	uint64_t type_id;
	uint32_t shape;
	uint32_t account, wall_account; /* of chunk_watches.accounts */
	bool has_stack, has_thread, has_state, has_object, has_time;
	uint32_t object_type;
	enum metadata_unit unit; /* WATCH_TIMING: of the average */
	uint64_t slots[SLOTS];
};

/* The samples of one event of the chunk. */
struct account {
	const char *event;  /* "jdk.ExecutionSample" */
	const char *family; /* NULL: by the table; else the family, kept by the fold's strings or static */
	uint32_t name;      /* WATCH_EVENT: the event's, in the fold's strings */
	enum metadata_unit unit; /* of its weights */
	bool has_weight;
	bool weighed;            /* their weights came later, in ns */
	bool begun;              /* its tallies are ready for this chunk: it has had a sample */
	struct tallies t;
	uint64_t failed;
};

/*
 * An event whose weight is still to come: its account, the tally in it (TALLY_NONE: it does not count), its
 * thread, and how many of its samples count.
 */
struct unweighed {
	uint32_t account, item, thread;
	uint32_t counted, samples;
};

/* What one jdk.MethodTiming says. */
struct method_timing {
	uint64_t method, calls, average; /* method: a key */
	enum metadata_unit unit;
};

struct chunk_watches {
	const struct selection *selection;
	struct fold *fold;
	struct facts *facts;
	struct names names;

	/* of the metadata: chunks after one another mostly have the same */
	struct metadata metadata;
	bool learnt; /* what follows is there */
	struct shapes shapes;
	struct pools pools;
	VECTOR(struct watch) watches;
	uint16_t by_type[2048]; /* type number → watch + 1 */
	struct map by_any_type; /* the same for larger numbers */
	size_t account_count; /* accounts that the watches have from the beginning; others are events' by name */
	const struct pool *stack_pool, *thread_pool, *state_pool; /* NULL: there is none */
	bool ours;              /* written by jstrobe */

	/* of the chunk */
	const struct chunk *chunk;
	VECTOR(struct account) accounts;
	uint64_t cells;         /* of their tallies */
	int64_t from, to;       /* ticks */
	uint8_t *states;        /* by place: enum state_mark, and the enum thread_state above it */
	uint8_t *threads;       /* by place: whether it is wanted; NULL = all are */
	uint32_t stack_count, thread_count, state_count;
	/* Where samples are wanted by their requests: the last one, which is wanted, of whom and when. */
	struct {
		bool wanted;
		uint32_t thread;
		uint64_t time;
	} request;
	struct {
		uint32_t version, arguments;
		int64_t pid;
	} jvm; /* what the last jdk.JVMInformation said, strings of the fold */
	struct map labels; /* string of the fold → 1: has not, 2: has the label that is wanted */
	bool knows_cpu_state;   /* STATE_DEFAULT stands for CPU samples */
	VECTOR(struct unweighed) unweighed, unweighed_wall;
	VECTOR(struct method_timing) timings;
};


/* Kinds of samples of a chunk: no recorder has more than thirty. */
#define ACCOUNTS_MAX LIMIT_COUNT(256)
#define WATCH_TOO_MANY "over 256 kinds of samples"

enum state_mark { STATE_CPU = 1, STATE_UNWANTED = 2, STATE_SHIFT = 2 };

/*
 * Watches for one reader of chunks, into FOLD and FACTS, with line numbers or without. 0 or -ENOMEM; free in
 * both cases.
 */
int watches_init(struct chunk_watches *w, const struct selection *selection, struct fold *fold,
		 struct facts *facts, bool lines);
void watches_free(struct chunk_watches *w);
/* Read the types of C, which must stay, and its constants. 0, -EBADMSG (nothing can be read), -ENOMEM. */
int watches_begin(struct chunk_watches *w, const struct chunk *c);
/* Mark the chunk's states and threads by what the selection says of them. 0 or -ENOMEM. */
int watches_mark_states(struct chunk_watches *w);
int watches_mark_threads(struct chunk_watches *w);
/* Take one event of the chunk. */
void watch_take(struct chunk_watches *w, struct watch *watch, const struct chunk_event *e);
/* Take one jdk.MethodTiming, and at the end of the chunk add them all to the fold. */
void watch_timing(struct chunk_watches *w, const struct watch *watch);
void watches_fold_timings(struct chunk_watches *w);
/* All events were taken: add the accounts to the fold. */
void watches_fold(struct chunk_watches *w);

/* What becomes of events of type number TYPE, or NULL. */
static inline struct watch *watches_find(struct chunk_watches *w, uint64_t type)
{
	const uint32_t *slot;
	uint32_t at;

	if (likely(type < ARRAY_LEN(w->by_type))) {
		at = w->by_type[type];
	} else {
		slot = map_get(&w->by_any_type, type);
		at = slot ? *slot : 0;
	}
	return at ? &w->watches.items[at - 1] : NULL;
}

#endif

/*
 * read_aggregate.h - what a conversion gathers: names, frames, stacks and threads once each, and for each
 * family of events how often each stack was seen. Its size is that of what is distinct in the input.
 */
#ifndef JSTROBE_READERS_READ_AGGREGATE_H
#define JSTROBE_READERS_READ_AGGREGATE_H

#include "common/base/strings.h"
#include "common/base/vector.h"
#include "profile/model/time/moments.h"
#include "profile/model/profile.h"
#include "profile/readers/input/input.h"
#include "profile/readers/io_lines.h"
#include "profile/readers/kept_marks.h"
#include "profile/readers/lists.h"

#define READ_NO_THREAD UINT32_MAX
#define READ_MOMENTS_MOST LIMIT_COUNT(2u << 20) /* of a family */

/* A frame as a list of numbers. */
enum read_aggregate_frame {
	READ_FRAME_CLASS,
	READ_FRAME_NAME,
	READ_FRAME_SIGNATURE,
	READ_FRAME_LIBRARY,
	READ_FRAME_LINE,
	READ_FRAME_KIND,
	READ_FRAME_LOCK, /* as in struct profile_frame */
	READ_FRAME_WORDS
};
/* A thread. Two of one system id are two if their names are not the same. */
enum read_aggregate_thread { READ_THREAD_TID, READ_THREAD_NAME, READ_THREAD_JAVA_ID, READ_THREAD_WORDS };

#define READ_OBJECT_PARTS 1024

struct read_aggregate_count {
	/* thread: READ_NO_THREAD if stacks are not apart by thread; by_block: the block; by_context: the pair */
	uint32_t stack, thread;
	uint8_t state;          /* enum thread_state */
	uint64_t samples, weight;
	uint64_t parts;         /* of objects that they stand for, READ_OBJECT_PARTS each */
	uint64_t outside;       /* as in struct profile_stack */
};
struct read_aggregate_thread_count {
	uint32_t thread;
	uint64_t samples, weight;
};

/* Of a family of objects or blocks that are there, as a file has it. */
struct read_aggregate_live {
	bool known;      /* this is */
	bool objects;    /* of the Java heap, with their classes as innermost frames; else blocks of native memory */
	uint64_t since;  /* ns since 1970; a second time in a file: of another session */
	uint64_t span;   /* as growth_span of struct profile */
	uint64_t used, most; /* bytes of the heap at its last collection, and that it may have; 0: not known */
};

/* A lock or owner, as struct profile_waits: its name is a string, its stack a list of the aggregate. */
struct read_wait {
	uint32_t name, lock, stack; /* stack: READ_NO_STACK: it has none */
	uint64_t identity, waits, time, longest, open;
	uint8_t kind;
};
#define READ_NO_STACK UINT32_MAX
struct read_wait_list {
	struct read_wait *items;
	size_t count, capacity;
};
struct read_waits {
	struct read_wait_list locks, owners, holders;
};
void read_waits_free(struct read_waits *w);

/* Tables of the event io, of results in JSON; target: a string, which takes the place of is.target. */
struct read_io {
	uint32_t target;
	struct profile_io is;
};
struct read_ios {
	VECTOR(struct read_io) lines;
	struct profile_io_counted counted[IO_OPERATIONS];
};
void read_ios_free(struct read_ios *io);

/* One event of the result. */
struct read_aggregate_family {
	char *name; /* "cpu" */
	enum weight_kind weight_kind;
	bool sums;  /* its counts are put in by read_aggregate_raise */
	const char *unit; /* as in struct profile */
	VECTOR(struct read_aggregate_count) stack_counts;
	VECTOR(uint32_t) direct; /* stack without thread and state → count + 1 */
	struct map index[THREAD_STATES]; /* of others, by state: stack and thread → count + 1 */
	VECTOR(struct read_aggregate_thread_count) threads;
	struct map thread_index;
	struct io_lines calls; /* of the family io; targets: texts of the aggregate */
	struct read_waits waits; /* of results in JSON */
	struct read_ios io;      /* … instead of calls */
	bool said;               /* … which have it, also without samples */
	struct moments moments; /* of the stack counts; threads as in the aggregate */
	VECTOR(struct profile_growth) growth; /* of the stack counts, as far as there is any */
	struct read_aggregate_live live;
	bool is_live, lives_twice; /* of objects that are there; of several sessions, or not of all it is known */
	uint64_t samples, weight, parts, outside;
	uint64_t truncated; /* samples whose stack says that it is not whole */
	uint64_t no_stack;  /* samples without a stack, or with one that the file does not have */
	uint64_t failed;    /* samples that say that their stack could not be taken */
	uint64_t lost;      /* samples that the recorder says it lost */
};

struct read_aggregate {
	struct strings strings;
	struct lists frames, stacks, threads;
	struct lists contexts, pairs; /* read_contexts.h */
	VECTOR(struct read_aggregate_family) families;
	struct kept_marks marks; /* threads and texts are those of the aggregate */
	bool per_thread;
	bool by_block;        /* blocks of time take the place of threads */
	bool by_context;      /* pairs of a thread and a context do */
	bool kinds_unknown;   /* as in struct profile */
	bool no_memory;       /* or `too_much`: all threads that work for it stop */
	const char *too_much; /* of what; NULL = of nothing */
	uint64_t most_words;  /* of stacks that get a frame on top; 0 = any number */
	uint64_t most_walked, walked; /* frames that stacks may be put together of, each time anew, and were */
	uint64_t most_text, text; /* bytes of names that frames and threads may be made of, each time anew, and were */
};

#define READ_AGGREGATE_FAMILIES_MAX LIMIT_COUNT(200)
#define READ_AGGREGATE_SUMS "numbers whose sums 64 bits do not hold"

/* The input asks for more than its size can mean: stop, and say so. WHAT is static. */
void read_aggregate_refuse(struct read_aggregate *f, const char *what);
/* N bytes of names are gone through once more; false: those are too many. */
bool read_aggregate_text(struct read_aggregate *f, size_t n);
/* N frames are put into a stack once more, which has DEPTH then; false: those are too many. */
bool read_aggregate_walk(struct read_aggregate *f, size_t n, size_t depth);
/* Limits for an input of SIZE bytes that is read by WORKERS. */
void read_aggregate_limit(struct read_aggregate *f, uint64_t size, unsigned workers);


/* The number of a frame; strings by their numbers in f->strings. LISTS_FAILED: out of memory. */
uint32_t read_aggregate_frame(struct read_aggregate *f, const uint32_t words[READ_FRAME_WORDS]);
/* Whose time a family's ns are. Of waits a file has no more than that. */
enum weight_kind read_aggregate_time(const char *family);
/* The number of the family called NAME, made if need be; UNIT: see struct profile. UINT32_MAX: no memory. */
uint32_t read_aggregate_family(struct read_aggregate *f, const char *name, enum weight_kind kind, const char *unit);
/*
 * Add to a stack of a family, and to one of its threads. THREAD of a stack is READ_NO_THREAD unless f->per_thread, or
 * the family is of wall time or waits. The number of the count that has them now; out of memory sets f->no_memory.
 */
uint32_t read_aggregate_add(struct read_aggregate *f, uint32_t family, uint32_t stack, uint32_t thread, uint8_t state,
	      uint64_t samples, uint64_t weight);
void read_aggregate_add_thread(struct read_aggregate *f, uint32_t family, uint32_t thread, uint64_t samples,
		     uint64_t weight);
/* What samples that were added say of objects: PARTS of so many, and OUTSIDE of their weight outside TLABs. */
void read_aggregate_add_objects(struct read_aggregate *f, uint32_t family, uint32_t stack, uint32_t thread,
				uint8_t state, uint64_t parts, uint64_t outside);
/* When what is there of them was allocated. */
void read_aggregate_add_growth(struct read_aggregate *f, uint32_t family, uint32_t stack, uint32_t thread,
			       uint8_t state, const struct profile_growth *growth);
/* FAMILY, or a part of it, is of objects that are there, of which a file says LIVE. */
void read_aggregate_live(struct read_aggregate *f, uint32_t family, const struct read_aggregate_live *live);
/* A stack's sum so far, which only grows: of several the largest stays. */
void read_aggregate_raise(struct read_aggregate *f, uint32_t family, uint32_t stack, uint64_t samples, uint64_t weight);
/* STACK with FRAME as its innermost one. LISTS_FAILED: out of memory. */
uint32_t read_aggregate_leaf(struct read_aggregate *f, uint32_t stack, uint32_t frame);
/* Nothing more will be added: what is there only to find things in is given back. */
void read_aggregate_close(struct read_aggregate *f);
void read_aggregate_free(struct read_aggregate *f);

/*
 * Family FAMILY as P, which was zeroed and has its other fields from the caller. What P points to is
 * F's, or allocated: read_aggregate_profile_free. 0 or -ENOMEM.
 */
int read_aggregate_profile(const struct read_aggregate *f, uint32_t family, struct profile *p);
void read_aggregate_profile_free(struct profile *p);

#endif

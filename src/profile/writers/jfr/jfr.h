/*
 * jfr.h - writes a recording in the JDK's Flight Recorder format, while it happens.
 *
 * What comes in is named by keys that jfr_method, jfr_stack and jfr_thread give out; keys hold until the
 * next jfr_rotate. jfr_flush makes everything so far readable in the file. Memory is bounded by what comes
 * between two flushes and by the distinct constants of a chunk.
 *
 * Normal code, one thread at a time. Times are CLOCK_MONOTONIC ns unless said otherwise. docs/reference/jfr.md tells
 * users what is in a recording.
 */
#ifndef JSTROBE_WRITERS_JFR_JFR_H
#define JSTROBE_WRITERS_JFR_JFR_H

#include "common/base/error.h"
#include "common/words/enum_names.h"
#include "common/words/events.h"
#include "profile/writers/jfr/jfr_types.h"

struct jfr;

/* How a sample of CPU time is written. */
enum { JFR_CPU_EXECUTION = 1, JFR_CPU_TIME = 2 };

struct jfr_options {
	unsigned cpu_events;   /* of the above */
	uint64_t start;        /* where in the file to begin: behind whole chunks */
	uint64_t cpu_interval, wall_interval; /* ns, of samples; 0 = not known */
	uint64_t max_size;     /* of the file, bytes; 0 = any */
	uint32_t first_key;    /* keys are above it: those up to it are in the file already */
	bool apart;            /* chunks of a JVM's own will come behind: see jfr_types.h */
	bool no_spans;         /* wall-clock samples without timeSpan: converters that do not know it read on in it */
	uint64_t began;        /* of the first chunk in the file; 0 = now */
	uint64_t tick;         /* ns of a tick; 0 = a coarse one, which suits samples */
};

#define JFR_NO_BCI UINT32_MAX

struct jfr_frame {
	uint32_t method;       /* key */
	int32_t line;          /* 0 = not known */
	uint32_t bci;          /* or JFR_NO_BCI */
	uint8_t kind;          /* enum frame_kind */
};

struct jfr_thread {
	uint32_t tid;          /* of the system; 0 for a virtual thread */
	uint64_t java_id;      /* of Java, 0 = no Java thread, or not known */
	bool is_java, is_virtual;
	const char *name;
};

/* A value of an event's field, in the order of jfr_types.def behind startTime. */
struct jfr_value {
	uint64_t number;       /* also booleans, and keys */
	double share;          /* floats */
	const char *text;      /* strings, NULL allowed */
	const char *bytes;     /* strings: NUMBER characters of Latin-1 instead; NULL: TEXT */
};
#define JFR_N(x) {.number = (uint64_t)(x)}
#define JFR_F(x) {.share = (x)}
#define JFR_S(x) {.text = (x)}
#define JFR_B(x, n) {.bytes = (x), .number = (n)}

/* A recording into FD, which stays the caller's. NULL when out of memory. */
struct jfr *jfr_new(int fd, const struct jfr_options *o, uint64_t real, uint64_t now);
void jfr_free(struct jfr *j);
/* Whether its descriptor still is that of its file, and not one of the program's that has closed it. */
bool jfr_has_file(const struct jfr *j);

/*
 * Keys; 0 when out of memory: nothing is to be written with it. Empty names become "?".
 * NATIVE: a Java method without byte code.
 */
uint32_t jfr_method(struct jfr *j, const char *class_name, const char *name, const char *descriptor,
		    bool native);
/* FRAMES leaf first; TRUNCATED: its root is missing. */
uint32_t jfr_stack(struct jfr *j, const struct jfr_frame *frames, uint32_t count, bool truncated);
uint32_t jfr_class(struct jfr *j, const char *name);
/* Of a text that many events share. */
uint32_t jfr_symbol(struct jfr *j, const char *text);
/* Of a text that events have as a string in the pool; it may be another one each time. */
uint32_t jfr_string(struct jfr *j, const char *text);
uint32_t jfr_thread(struct jfr *j, const struct jfr_thread *t);

/* Samples. WEIGHTs are in ns, but for those of events. */
void jfr_cpu_sample(struct jfr *j, uint64_t time, uint32_t thread, uint32_t stack, uint64_t weight);
void jfr_wall_sample(struct jfr *j, uint64_t time, uint32_t thread, uint32_t stack,
		     enum thread_state state, uint64_t weight);
void jfr_wall_run(struct jfr *j, uint64_t time, uint32_t thread, uint32_t stack, enum thread_state state,
		  uint64_t samples, uint64_t span, uint64_t weight);
void jfr_event_sample(struct jfr *j, uint64_t time, uint32_t thread, uint32_t stack, enum thread_state state,
		      const char *event, uint64_t weight);
/* A window between two functions that was open for TOOK ns, shut by THREAD (its key; 0 = not known). */
void jfr_window(struct jfr *j, uint64_t since, uint64_t took, uint32_t thread);
#define JFR_TICK_EXACT 1 /* ns: events that have lengths of their own are told as they were measured */
/* The ticks of NS. */
uint64_t jfr_ticks_of(const struct jfr *j, uint64_t ns);
/* A wait for a lock. */
struct jfr_wait {
	uint64_t time, duration;       /* ns */
	uint32_t thread, stack, owner; /* keys; owner 0 = none */
	uint32_t owner_stack;          /* key, 0 = not known */
	uint32_t class;                /* key, 0 = not known */
	uint64_t identity;             /* not the address, which a collection changes; of a native lock that */
	enum lock_kind kind;
};
void jfr_wait(struct jfr *j, const struct jfr_wait *w);
/* The type that samples of EVENT have (events.def); JFR_EVENT_SAMPLE: none of their own. */
unsigned jfr_type_of_event(const char *event);
/* A sample of an event with fields. */
struct jfr_field_sample {
	uint64_t time, weight;
	uint32_t thread, stack, class; /* keys; class 0 = not known */
	struct event_fields fields;
	const uint64_t *values;        /* of the fields, in their order */
	bool bare;                     /* of an allocated object: jdk.ObjectAllocationSample, which has no size */
};
/* A call of the event `io`. */
struct jfr_io {
	uint64_t time;
	uint32_t thread, stack; /* keys */
	const char *target;
	const uint64_t *values; /* see common/words/io_fields.h */
	uint64_t weight;        /* ns that it stands for */
};
void jfr_io(struct jfr *j, const struct jfr_io *io);
/* TIME, CLOCK_MONOTONIC ns, in the recording's ticks. */
uint64_t jfr_ticks(const struct jfr *j, uint64_t time);
void jfr_field_sample(struct jfr *j, unsigned type, const struct jfr_field_sample *s);
/* Any other event of TYPE at TIME, with COUNT values. */
void jfr_event(struct jfr *j, unsigned type, uint64_t time, const struct jfr_value *values, unsigned count);

/*
 * Write what came since the last flush. 0, or a negative errno with the reason: then it was dropped, the
 * file is as it was. After an error that will not go away (the file was cut or has grown by another
 * hand, max_size was reached) every further call fails with the same.
 */
int jfr_flush(struct jfr *j, uint64_t now, struct error *err);
/* End the chunk and begin the next one: all keys are void. */
int jfr_rotate(struct jfr *j, uint64_t real, uint64_t now, struct error *err);
/* The last flush of all. */
int jfr_finish(struct jfr *j, uint64_t now, struct error *err);

/* Of the present chunk: bytes in the file, time of its begin; bytes of the file; bytes not flushed yet. */
uint64_t jfr_chunk_size(const struct jfr *j);
uint64_t jfr_chunk_began(const struct jfr *j);
/* Bytes of memory that its constants take until its end. */
size_t jfr_chunk_held(const struct jfr *j);
uint64_t jfr_size(const struct jfr *j);
size_t jfr_pending(const struct jfr *j);
/* The highest key used so far. */
uint32_t jfr_last_key(const struct jfr *j);

struct profile;
/*
 * Write the calls of P, a trace, into FD as a recording of its own. *KEY: keys are above it, those up to it are in the
 * file before this one; afterwards the last one that is used. -ENOMEM, or the disk's error.
 */
int calls_jfr_write(const struct profile *p, uint32_t *key, int fd, struct error *err);

#endif

/*
 * made_jfr.h - recordings made by hand, byte by byte, for the tests of the convert room.
 *
 * A recording is a run of chunks; each is begun, gets constants and events in any order, and is ended,
 * or left open as a JVM that was killed leaves it.
 */
#ifndef MADE_JFR_H
#define MADE_JFR_H

#include "common/base/buffer.h"

/* Numbers of types. */
enum {
	MADE_LONG = 20, MADE_INT, MADE_BOOLEAN, MADE_STRING, MADE_FLOAT, MADE_TIMESPAN, MADE_TIMESTAMP,
	MADE_THREAD = 40, MADE_CLASS, MADE_SYMBOL, MADE_METHOD, MADE_STACK, MADE_FRAME, MADE_FRAME_TYPE,
	MADE_STATE, MADE_SPACE,
	MADE_EXECUTION = 100, MADE_CPU_TIME, MADE_WALL, MADE_ALLOC, MADE_TLAB, MADE_MONITOR, MADE_SETTING,
	MADE_HEAP, MADE_NATIVE, MADE_RECORDING, MADE_FAR = 300000,
	MADE_COUNTERS = 200, MADE_WEIGHTS, MADE_EVENT, MADE_LOST, MADE_WALL_WEIGHTS,
};

struct made {
	struct buffer bytes;
	bool wide;        /* integers are not compressed */
	bool ours;        /* with the types that only jstrobe writes */
	size_t chunk;     /* where the present one begins */
	size_t metadata, constants; /* in it, 0 = none */
	size_t event;     /* where the present event begins */
	int64_t start_ns; /* of the chunk */
	uint64_t ticks, ticks_per_second;
};

/* Begin a chunk whose clock shows TICKS at START_NS, and describe its types. */
void made_begin(struct made *m, int64_t start_ns, uint64_t ticks, uint64_t ticks_per_second);
/* End it as finished after DURATION ns. */
void made_end(struct made *m, int64_t duration);

/* An event: begin, fields, end. */
void made_event(struct made *m, uint64_t type);
void made_event_end(struct made *m);
/* Fields. */
void made_long(struct made *m, uint64_t value);
void made_int(struct made *m, uint64_t value);
void made_byte(struct made *m, unsigned value);
void made_text(struct made *m, const char *utf8);

/* A checkpoint: begin, pools with their constants, end. */
void made_constants(struct made *m, unsigned pools);
void made_pool(struct made *m, uint64_t type, uint64_t count);
void made_constants_end(struct made *m);

/*
 * Constants and events that most tests want: two threads (keys 1 "main", 2 "worker", system ids 101 and
 * 102), states 1 DEFAULT, 2 RUNNABLE, 3 SLEEPING, stacks BASE + 1 "demo/Main.main;demo/Main.run" and BASE
 * + 2 "…;demo/Main.run;write" (libc.so.6), of which the second is truncated.
 */
void made_usual_constants(struct made *m, uint64_t base);
void made_execution(struct made *m, uint64_t time, uint64_t thread, uint64_t stack, uint64_t state);
/* The same of another type with its fields. */
void made_sample(struct made *m, uint64_t type, uint64_t time, uint64_t thread, uint64_t stack, uint64_t state);
void made_cpu_time(struct made *m, uint64_t time, uint64_t thread, uint64_t stack, uint64_t ns);
void made_wall(struct made *m, uint64_t time, uint64_t thread, uint64_t stack, uint64_t state,
	       uint64_t samples, uint64_t span);

/* The whole as a file; its name is valid until the next call. */
const char *made_file(const struct made *m);
const char *made_file_of(const void *bytes, size_t size);
void made_free(struct made *m);

#endif

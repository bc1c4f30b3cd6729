/*
 * top.h - what `jstrobe top` knows of a JVM: sums over the records of a live stream since the last screen.
 */
#ifndef JSTROBE_CLI_LIVE_TOP_H
#define JSTROBE_CLI_LIVE_TOP_H

#include "common/base/buffer.h"
#include "common/base/map.h"
#include "common/base/strings.h"
#include "common/base/vector.h"
#include "common/words/enum_names.h"

struct top_method {
	uint32_t name;             /* number in model.strings */
	uint64_t self, total;      /* CPU time, ns */
};

struct top_thread {
	uint32_t name;
	uint64_t java_id;
	int32_t tid;               /* 0: virtual */
	uint64_t cpu;              /* ns */
	uint64_t wall[THREAD_STATES]; /* ns by state */
};

struct top_wait {
	uint32_t name;             /* what was waited for */
	uint32_t owner;            /* who held it at last, 0 = not known */
	uint64_t count, time;
};

/* A stack, as the methods in it: each once, the innermost first. */
struct top_stack {
	uint32_t *methods, count;
};

struct top_model {
	struct strings strings;
	VECTOR(struct top_method) methods;
	VECTOR(struct top_thread) threads;
	VECTOR(struct top_wait) waits;
	VECTOR(struct top_stack) stacks; /* by id */
	size_t methods_bytes;            /* of what they point to */
	struct map by_method, by_thread, by_wait;
	struct map of_cpu, of_wall;      /* names of events → 1 */
	uint32_t pid, cpus, main_class, jdk;
	uint64_t began, now;             /* times of the first and of the last record since the last screen */
	uint64_t samples, cpu;           /* of CPU time */
	struct top_books {
		uint64_t time, process_cpu, own_cpu, dropped; /* as stats say: of the session so far */
		uint64_t lost, others_lost;  /* of CPU time, whose samples are counted here; of other events */
	} books, before;                 /* before: at the last screen */
};

/* Take in one record, N bytes without line end. False: it is none (the reader goes on with the next one). */
bool top_take(struct top_model *m, const char *line, size_t n);
/* Forget the sums; stacks, names and books stay. */
void top_next(struct top_model *m);
/* Memory that it takes, about. */
size_t top_bytes(const struct top_model *m);
void top_free(struct top_model *m);

/* A screen of `jstrobe top` as text. */

struct top_view {
	unsigned rows, columns;
	bool by_total;     /* methods by what they and their callees took, else by themselves */
	bool paused;
	const char *keys;  /* last line; NULL = none */
	const char *filter; /* methods and threads with this in their name; "" = all */
};

/* Append the screen of M: at most V->rows lines of at most V->columns columns. M's lists are sorted meanwhile. */
void top_show(struct top_model *m, const struct top_view *v, struct buffer *out);

#endif

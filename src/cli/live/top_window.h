/*
 * top_window.h - what the samples of a stretch of time add up to. A window's size is bounded: what would make it larger
 * is counted without its thread and stack.
 */
#ifndef JSTROBE_CLI_LIVE_TOP_WINDOW_H
#define JSTROBE_CLI_LIVE_TOP_WINDOW_H

#include "common/base/map.h"
#include "common/base/vector.h"
#include "common/words/enum_names.h"

#define TOP_MOST 65536u     /* cells and threads of a window */
#define TOP_MOST_LOCKS 1024u /* locks of a window, and holders: each lock is held against each holder */
#define TOP_EVENTS 32   /* of one session; others are not looked at */
#define TOP_NO_THREAD UINT32_MAX

/* What one sample says. */
struct top_sample {
	uint64_t time, tid, java_id, value, samples, stack, duration, id, owner_stack;
	uint32_t thread, class, owner; /* texts */
	uint8_t event, state, lock;    /* number in the list of events; enum thread_state; enum lock_kind */
	bool wall, cpu, wait;          /* what the event is of */
	bool open;
};

/* Equal samples. */
struct top_cell {
	uint32_t stack, thread, class; /* id, 0 = not known; number in threads, TOP_NO_THREAD; text, 0 = none */
	uint8_t event, state;
	uint64_t samples, weight;
};

struct top_thread {
	uint32_t name;
	uint64_t java_id;
	int32_t tid;               /* 0: virtual */
	uint64_t cpu;              /* ns */
	uint64_t wall[THREAD_STATES]; /* ns by state */
};

/* Waits for one lock. */
struct top_lock {
	uint32_t class, owner;     /* owner: the last one that is known, 0 = none */
	uint8_t kind, event;
	uint64_t id, waits, time, longest, open;
};

/* Waits for a lock because of what one owner did. */
struct top_holder {
	uint32_t owner, stack, lock; /* text; id; number in locks */
	uint64_t waits, time;
};

/* The counters of the session so far, as `stats` records say them. */
struct top_books {
	uint64_t time, process_cpu, own_cpu, dropped;
	uint64_t lost, others_lost; /* of the main event, whose samples are counted; of others */
};

struct top_window {
	VECTOR(struct top_cell) cells;
	VECTOR(struct top_thread) threads;
	VECTOR(struct top_lock) locks;
	VECTOR(struct top_holder) holders;
	struct map by_cell, by_thread, by_lock, by_holder;
	uint64_t began, now;          /* times of the first and of the last sample */
	uint64_t span;                /* ns that it is of, once it is shown */
	uint64_t samples[TOP_EVENTS], weight[TOP_EVENTS];
	struct top_books from, to;
};

/* The thread called NAME. NULL: no memory, or there are too many. */
struct top_thread *top_window_thread(struct top_window *w, uint64_t tid, uint64_t java_id, uint32_t name);
void top_window_add(struct top_window *w, const struct top_sample *s);
/* Nothing is in it; the room for what will be stays. */
void top_window_clear(struct top_window *w);
size_t top_window_bytes(const struct top_window *w);
void top_window_free(struct top_window *w);

#endif

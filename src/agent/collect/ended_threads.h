/*
 * ended_threads.h - threads that ended, as far as waits that are told of later may name them as owners; and the own
 * names of virtual threads. Inner header of the collect room.
 *
 * A lock's holder is often gone when its waiter has come to tell: a task of a moment, a thread of a pool that shrinks.
 * A number of the system is another thread's by then, so what is asked for is who had it at a moment.
 */
#ifndef JSTROBE_COLLECT_ENDED_THREADS_H
#define JSTROBE_COLLECT_ENDED_THREADS_H

#include "common/base/base.h"
#include "common/base/map.h"
#include "common/base/pages.h"

#define ENDED_LIMIT 16384          /* threads; then the older half is forgotten */
#define VIRTUAL_NAMES (512u * 1024) /* of each of two generations; the older one is forgotten */
#define NAMES_CARRIED 65536u       /* that the next round of a loop begins with, of the newest ones */
#define VIRTUAL_NAME 48            /* bytes of a name that is made */

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

struct collector;
struct thread_record;
struct generation;

/* R ends, as far as it is known what it is called. Collector's lock held, as for all of these. */
void ended_note(struct collector *c, struct thread_record *r);
/* Who had TID at TIME, or Thread.getId JAVA_ID, and has ended; NULL = none that is known. */
struct ended_thread *ended_by_tid(struct collector *c, int tid, uint64_t time);
struct ended_thread *ended_by_java(struct collector *c, uint64_t java_id);
/* A new aggregate begins: false when out of memory. */
bool carry_ended(struct generation *g);

/* Virtual thread CONTEXT is called NAME, a number in frames.strings. */
void virtual_name_note(struct collector *c, uint64_t vthread, uint32_t name);
/* Its name, else one by its number, made in ROOM. */
const char *virtual_name(const struct collector *c, uint64_t vthread, char room[VIRTUAL_NAME]);

#endif

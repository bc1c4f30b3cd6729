/*
 * ended_threads.h - threads that ended, as far as waits that are told of later may name them as owners; and the own
 * names of virtual threads. Inner header of the collect room.
 *
 * A lock's holder is often gone when its waiter has come to tell: a task of a moment, a thread of a pool that shrinks.
 * A number of the system is another thread's by then, so what is asked for is who had it at a moment.
 */
#ifndef JSTROBE_COLLECT_ENDED_THREADS_H
#define JSTROBE_COLLECT_ENDED_THREADS_H

#include "agent/collect/collector_state.h"

#define ENDED_LIMIT 16384          /* threads; then the older half is forgotten */
#define VIRTUAL_NAMES (512u * 1024) /* of each of two generations; the older one is forgotten */
#define NAMES_CARRIED 65536u       /* that the next round of a loop begins with, of the newest ones */
#define VIRTUAL_NAME 48            /* bytes of a name that is made */

struct thread_record;

/* E gets a copy of T as its newest. False, and it has forgotten one: out of memory. */
bool ended_add(struct ended_threads *e, const struct ended_thread *t);
/* R ends, as far as it is known what it is called. Collector's lock held, as for all of these. */
void ended_note(struct collector *c, struct thread_record *r);
/* Who had TID at TIME, or Thread.getId JAVA_ID, and has ended; NULL = none that is known. */
struct ended_thread *ended_by_tid(struct collector *c, int tid, uint64_t time);
struct ended_thread *ended_by_java(struct collector *c, uint64_t java_id);

/* Virtual thread CONTEXT is called NAME, a number in frames.strings. */
void virtual_name_note(struct collector *c, uint64_t vthread, uint32_t name);
/* Its name, else one by its number, made in ROOM. */
const char *virtual_name(const struct collector *c, uint64_t vthread, char room[VIRTUAL_NAME]);

#endif

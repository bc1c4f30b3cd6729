/*
 * records.h - the life of thread records.
 *
 * Records are found by the pthread_create hook (new threads, on themselves), by JVMTI events (Java threads) and by
 * /proc/self/task (at start and each second, as the net). Functions lock by themselves; normal code only.
 */
#ifndef JSTROBE_THREADS_RECORDS_H
#define JSTROBE_THREADS_RECORDS_H

#include "agent/zone/zone.h"
#include "common/base/error.h"

/* What the sources of samples, a later room, do for records. With the records' lock held. */
struct records_sources {
	uint32_t (*queue_start)(void); /* entries of a new queue; 0: as it comes */
	void (*arm)(struct thread_record *r);    /* for what it is not armed for yet, if a session runs */
	void (*disarm)(struct thread_record *r); /* its handler is not running, or it is the caller's */
	void (*retire)(struct thread_record *r); /* while its handler may be at work */
	void (*wait)(const struct thread_record *r);       /* until no thread looks at its thread from outside */
	void (*java_ends)(struct thread_record *r);        /* its JavaThread is about to go away */
	void (*trimmed)(uint32_t from, uint32_t end);      /* these have given back their memory */
	void (*release)(void); /* the session's records go; what goes on in the next one still asks for them */
};
/* Reserve address space; once more is harmless. SOURCES is kept. -ENOMEM. */
int records_open(const struct records_sources *sources, struct error *err);
/* A thread was found: record and arm it, unless known. TCB 0 = not known. Returns its record or NULL. */
struct thread_record *records_found(pid_t tid, uintptr_t tcb);
/* The same for a thread that began after AFTER (os_monotonic): an earlier record of its tid is another's. */
struct thread_record *records_begun(pid_t tid, uintptr_t tcb, uint64_t after);
/* The record of thread TID, or NULL. */
struct thread_record *records_by_tid(pid_t tid);
/* Arm thread TID for what it is not armed for yet, if it is known. */
void records_arm(pid_t tid);
/* TID is (OWN) or is no longer a thread of jstrobe: such are never sampled. At most RECORDS_OWN at a time. */
#define RECORDS_OWN 16
void records_own(pid_t tid, bool own);
/* jstrobe's own threads: their number; TIDS has room for RECORDS_OWN. Any thread, no lock. */
unsigned records_own_list(pid_t *tids);
/* CPU time of jstrobe's own threads in this process so far, ns. */
uint64_t records_own_cpu(void);
/* The running thread ends: disarm it, hand its record to the collector. */
void records_ending(struct thread_record *r);
/* Look at /proc/self/task: find new threads, close records of ended ones. Collector, now and then. */
void records_scan(void);
/* Whether as many threads are known as this process has. Collector. */
bool records_are_all(void);
/* What a known thread was refused it may get now; breakpoints that rest begin again. Collector, each second. */
void records_arm_again(void);
/* The Java thread of TID: THREAD is its JavaThread*, ID its Thread.getId (0 = not known); both 0 = it has ended. */
void records_java(pid_t tid, uintptr_t thread, uint64_t id);
/* Whether thread TID is sampled, said by one who knows more than engine_options.wanted could. */
void records_judge(pid_t tid, bool wanted);
/* R (CLOSING) was drained: make it FREE. Collector. */
void records_free(struct thread_record *r);
/*
 * What was used by many more threads than there have been for a while goes back. The collector, each second; NOW:
 * os_monotonic.
 */
void records_shrink(uint64_t now);
/* Free all records and their queues, after engine_stop and the last drain. */
void records_release(void);

/* For sources. Call FN for each live record; or for R with ARG. With the records' lock. */
void records_each(void (*fn)(struct thread_record *));
void records_with_lock(void (*fn)(struct thread_record *r, uintptr_t arg), struct thread_record *r, uintptr_t arg);

#endif

/*
 * records.c - the life of thread records: found, armed, closed, freed. Their memory: record_table.c.
 *
 * One mutex guards the life of records (not what is inside them). Handlers never
 * take it: they find records by hints and by the table of thread pointers.
 */
#include "agent/threads/records.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sample/handler.h"
#include "agent/threads/deferred.h"
#include "agent/threads/record_table.h"
#include "agent/threads/run_queue.h"
#include "agent/zone/load.h"
#include "agent/zone/zone.h"
#include "common/os/os.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t scan; /* of records_scan */
static uint32_t live; /* records that are RECORD_LIVE */
static pid_t own_tids[RECORDS_OWN];
static uint64_t own_cpu_of_ended; /* ns */

/* Lock held. */
static struct thread_record *by_tid(pid_t tid)
{
	return record_find_tid(&zone.records, tid);
}

/* Lock held. */
static bool is_own(pid_t tid)
{
	int i;

	for (i = 0; i < RECORDS_OWN; i++)
		if (own_tids[i] == tid)
			return true;
	return false;
}

/* Lock held. */
static struct thread_record *create(pid_t tid, uintptr_t tcb)
{
	uint32_t start = record_sources->queue_start();
	struct thread_record *r = record_table_unused();
	struct stack_chunk chunk;
	uint32_t index, e;
	struct queue *q;

	if (!r)
		return NULL;
	start = start ? start : QUEUE_START; /* no engine yet */
	q = queues_first(r->index, start);
	if (!q) {
		record_table_freed(r->index);
		return NULL;
	}
	index = r->index;
	chunk = record_table_chunk(r); /* many short threads would use up the store, a piece each */
	/* Not `inside`: a handler that takes it for its own may look in, and goes again. */
	memset(r, 0, offsetof(struct thread_record, inside));
	memset(&r->index, 0, sizeof(*r) - offsetof(struct thread_record, index));
	r->index = index;
	r->chunk = chunk;
	for (e = 0; e < RECORD_EVENTS; e++)
		r->sources[e].fd = r->sources[e].timer = -1;
	r->seen = scan;
	r->since = os_monotonic();
	r->own = is_own(tid);
	r->draining = q;
	atomic_store(&r->current, q);
	atomic_store(&r->tid, tid);
	atomic_store(&r->state, RECORD_LIVE);
	live++;
	record_enter(&zone.records, true, r);
	if (tcb)
		record_publish(&zone.records, r, tcb);
	return r;
}

/* Lock held. */
static void close_record(struct thread_record *r)
{
	record_sources->disarm(r);
	atomic_store(&r->java_thread, 0);
	atomic_store(&r->java_id, 0);
	atomic_store(&r->tcb, 0);
	atomic_store(&r->state, RECORD_CLOSING);
	live--;
	record_stir(&zone.records, r->index);
}

/*
 * Lock held: the record of TID, made unless there is one. That of an earlier owner of the tid,
 * whose end was not seen, is closed: its thread pointer differs, or it was found before BORN.
 */
static struct thread_record *found(pid_t tid, uintptr_t tcb, uint64_t born)
{
	struct thread_record *r = by_tid(tid);
	uintptr_t its = r ? atomic_load(&r->tcb) : 0;

	if (r && ((tcb && its && its != tcb) || r->since < born)) {
		close_record(r);
		r = NULL;
	}
	if (!r) {
		r = create(tid, tcb);
		if (r)
			record_sources->arm(r);
		return r;
	}
	r->seen = scan;
	if (tcb && !its)
		record_publish(&zone.records, r, tcb);
	return r;
}

struct thread_record *records_found(pid_t tid, uintptr_t tcb)
{
	struct thread_record *r;

	pthread_mutex_lock(&lock);
	r = found(tid, tcb, 0);
	pthread_mutex_unlock(&lock);
	return r;
}

struct thread_record *records_begun(pid_t tid, uintptr_t tcb, uint64_t after)
{
	struct thread_record *r;

	pthread_mutex_lock(&lock);
	r = found(tid, tcb, after);
	pthread_mutex_unlock(&lock);
	return r;
}

struct thread_record *records_by_tid(pid_t tid)
{
	struct thread_record *r;

	pthread_mutex_lock(&lock);
	r = by_tid(tid);
	pthread_mutex_unlock(&lock);
	return r;
}

void records_arm(pid_t tid)
{
	struct thread_record *r;

	pthread_mutex_lock(&lock);
	r = by_tid(tid);
	if (r && atomic_load(&r->state) == RECORD_LIVE)
		record_sources->arm(r);
	pthread_mutex_unlock(&lock);
}

void records_own(pid_t tid, bool own)
{
	struct thread_record *r;
	int i, at = -1;

	pthread_mutex_lock(&lock);
	for (i = 0; i < RECORDS_OWN; i++)
		if (own_tids[i] == tid || (own && at < 0 && own_tids[i] == 0))
			at = i;
	if (at >= 0 && !own && own_tids[at] == tid)
		own_cpu_of_ended += os_thread_cpu(tid);
	if (at >= 0)
		own_tids[at] = own ? tid : 0;
	r = zone.records.records ? by_tid(tid) : NULL;
	if (r) {
		r->own = own;
		if (own)
			record_sources->retire(r);
	}
	pthread_mutex_unlock(&lock);
}

void records_ending(struct thread_record *r)
{
	/* No sample of ours while the source goes away under it. */
	handler_enter(r);
	pthread_mutex_lock(&lock);
	if (atomic_load(&r->state) == RECORD_LIVE && atomic_load(&r->tid) == os_gettid())
		close_record(r);
	pthread_mutex_unlock(&lock);
	handler_leave(r);
}

/* Another mark than the last time: the thread may be another one, and then began after R was found. */
static void note_thread(pid_t tid, uint64_t mark, void *arg)
{
	struct thread_record *r;
	uint64_t born = 0;

	(void)arg;
	pthread_mutex_lock(&lock);
	r = by_tid(tid);
	if (r && r->mark && r->mark != mark)
		born = os_thread_start(tid);
	r = found(tid, 0, born);
	/* What was refused a source at an earlier look may get one now. */
	if (r && r->mark)
		record_sources->arm(r);
	if (r)
		r->mark = mark;
	pthread_mutex_unlock(&lock);
}

void records_scan(void)
{
	uint32_t i, count;

	pthread_mutex_lock(&lock);
	scan++;
	pthread_mutex_unlock(&lock);
	if (os_each_thread(note_thread, NULL))
		return;
	pthread_mutex_lock(&lock);
	count = atomic_load(&zone.records.count);
	for (i = 0; i < count; i++) {
		struct thread_record *r = &zone.records.records[i];

		if (atomic_load(&r->state) == RECORD_LIVE && r->seen != scan &&
		    !os_thread_exists(atomic_load(&r->tid)))
			close_record(r);
	}
	pthread_mutex_unlock(&lock);
}

bool records_are_all(void)
{
	bool all;

	pthread_mutex_lock(&lock);
	all = live == os_thread_count();
	pthread_mutex_unlock(&lock);
	return all;
}

/* One at a time: who begins or ends meanwhile need not wait for all of them. */
void records_arm_again(void)
{
	uint32_t i, count = atomic_load(&zone.records.count);

	for (i = 0; i < count; i++) {
		pthread_mutex_lock(&lock);
		if (atomic_load(&zone.records.records[i].state) == RECORD_LIVE)
			record_sources->arm(&zone.records.records[i]);
		pthread_mutex_unlock(&lock);
	}
}

/* A Java thread's OSThread has its pthread_t, which is its thread pointer, whose first word points to itself. */
static void learn_tcb(struct thread_record *r, uintptr_t thread)
{
	uintptr_t os_thread, tcb, self;

	if (atomic_load(&r->tcb) || zone.layout.osthread_pthread < 0 ||
	    !load_word(thread + (uintptr_t)zone.layout.thread_osthread, &os_thread) || !os_thread ||
	    !load_word(os_thread + (uintptr_t)zone.layout.osthread_pthread, &tcb) || !tcb || (tcb & 7) ||
	    !load_word(tcb, &self) || self != tcb)
		return;
	record_publish(&zone.records, r, tcb);
}

void records_java(pid_t tid, uintptr_t thread, uint64_t id)
{
	struct thread_record *r;
	uintptr_t high;

	pthread_mutex_lock(&lock);
	r = by_tid(tid);
	if (r && thread && zone.has_jvm && zone.layout.thread_stack_base >= 0 &&
	    load_word(thread + (uintptr_t)zone.layout.thread_stack_base, &high) && !(high & 7))
		r->stack_high = high;
	if (r && thread && zone.has_jvm)
		learn_tcb(r, thread);
	if (r && !thread)
		record_sources->java_ends(r);
	if (r) {
		atomic_store(&r->java_id, id);
		atomic_store(&r->java_thread, thread);
	}
	if (r && !thread)
		record_sources->wait(r);
	pthread_mutex_unlock(&lock);
}

void records_judge(pid_t tid, bool wanted)
{
	struct thread_record *r;

	pthread_mutex_lock(&lock);
	r = by_tid(tid);
	if (r && r->judged != (wanted ? JUDGED_IN : JUDGED_OUT)) {
		r->judged = wanted ? JUDGED_IN : JUDGED_OUT;
		if (!wanted)
			record_sources->retire(r);
		record_sources->arm(r);
	}
	pthread_mutex_unlock(&lock);
}

static void drop_queues(struct thread_record *r)
{
	struct queue *next = atomic_exchange(&r->next, NULL);
	struct queue *current = atomic_exchange(&r->current, NULL);

	if (next != current && next != r->draining)
		queues_free(r->index, next);
	if (current != r->draining)
		queues_free(r->index, current);
	queues_free(r->index, r->draining);
	r->draining = NULL;
}

void records_free(struct thread_record *r)
{
	pthread_mutex_lock(&lock);
	drop_queues(r);
	atomic_store(&r->state, RECORD_FREE);
	record_table_freed(r->index);
	pthread_mutex_unlock(&lock);
}

void records_release(void)
{
	uint32_t i, count;

	pthread_mutex_lock(&lock);
	count = atomic_load(&zone.records.count);
	for (i = 0; i < count; i++)
		drop_queues(&zone.records.records[i]);
	/* what goes on in the next session asks for its threads' records */
	record_sources->release();
	record_table_release();
	live = 0;
	runs_release();
	pthread_mutex_unlock(&lock);
}

static bool trim(void *from, void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	record_table_trim((uint32_t)(uintptr_t)from);
	pthread_mutex_unlock(&lock);
	return true;
}

void records_shrink(uint64_t now)
{
	uint32_t from;

	pthread_mutex_lock(&lock);
	from = record_table_shrink(now);
	pthread_mutex_unlock(&lock);
	/* Who took one of them for its own may be inside. */
	if (from && !deferred_free(trim, (void *)(uintptr_t)from, NULL))
		trim((void *)(uintptr_t)UINT32_MAX, NULL);
}

unsigned records_own_list(pid_t *tids)
{
	unsigned i, count = 0;

	for (i = 0; i < RECORDS_OWN; i++) {
		tids[count] = __atomic_load_n(&own_tids[i], __ATOMIC_RELAXED);
		count += tids[count] != 0;
	}
	return count;
}

uint64_t records_own_cpu(void)
{
	uint64_t sum;
	int i;

	pthread_mutex_lock(&lock);
	sum = own_cpu_of_ended;
	for (i = 0; i < RECORDS_OWN; i++)
		if (own_tids[i])
			sum += os_thread_cpu(own_tids[i]);
	pthread_mutex_unlock(&lock);
	return sum;
}

void records_with_lock(void (*fn)(struct thread_record *r, uintptr_t arg), struct thread_record *r, uintptr_t arg)
{
	pthread_mutex_lock(&lock);
	fn(r, arg);
	pthread_mutex_unlock(&lock);
}

void records_each(void (*fn)(struct thread_record *))
{
	uint32_t i, count;

	pthread_mutex_lock(&lock);
	count = atomic_load(&zone.records.count);
	for (i = 0; i < count; i++)
		if (atomic_load(&zone.records.records[i].state) == RECORD_LIVE)
			fn(&zone.records.records[i]);
	pthread_mutex_unlock(&lock);
}

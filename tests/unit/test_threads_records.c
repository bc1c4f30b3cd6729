/* Thread records: found, known by tid and thread pointer, closed, used again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "agent/sample/handler.h"
#include "agent/sources/engine.h"
#include "agent/threads/deferred.h"
#include "agent/threads/record_table.h"
#include "agent/threads/records.h"
#include "agent/zone/zone.h"
#include "common/base/error.h"
#include "common/os/os.h"

#define NO_THREAD 90000000 /* tids from here on are no threads of this process */

static int set_up(void **state)
{
	struct error err;

	return records_open(&engine_records, &err);
}

static int tear_down(void **state)
{
	records_release();
	return 0;
}

static uintptr_t tcb_of(uint32_t n)
{
	return 0x7f0000000000 + (uintptr_t)n * 0x801000 + 0x6c0;
}

static void close_by_hand(struct thread_record *r)
{
	atomic_store(&r->tcb, 0);
	atomic_store(&r->state, RECORD_CLOSING);
}

static void found_once(void **state)
{
	struct thread_record *r = records_found(NO_THREAD, 0), *s;

	assert_non_null(r);
	assert_ptr_equal(records_found(NO_THREAD, 0), r);
	assert_ptr_equal(records_by_tid(NO_THREAD), r);
	assert_null(records_by_tid(NO_THREAD + 1));
	assert_null(record_find(&zone.records, 0x1000));
	assert_int_equal(atomic_load(&r->tcb), 0);
	/* Its thread pointer becomes known later. */
	assert_ptr_equal(records_found(NO_THREAD, 0x1000), r);
	assert_ptr_equal(record_find(&zone.records, 0x1000), r);
	s = records_found(NO_THREAD + 1, 0x2000);
	assert_ptr_not_equal(s, r);
	assert_ptr_equal(record_find(&zone.records, 0x2000), s);
	assert_ptr_equal(record_find(&zone.records, 0x1000), r);
	assert_int_equal(r->sources[0].fd, -1);
	assert_int_equal(r->sources[0].timer, -1);
	assert_int_equal(atomic_load(&r->current)->capacity, QUEUE_START);
	assert_int_equal(atomic_load(&zone.records.count), 2);
}

/* The same tid with another thread pointer is another thread: the first one's end was not seen. */
static void tid_came_round(void **state)
{
	struct thread_record *r = records_found(NO_THREAD, 0x1000), *s = records_found(NO_THREAD, 0x3000);

	assert_ptr_not_equal(r, s);
	assert_int_equal(atomic_load(&r->state), RECORD_CLOSING);
	assert_ptr_equal(records_by_tid(NO_THREAD), s);
	assert_ptr_equal(record_find(&zone.records, 0x3000), s);
	assert_null(record_find(&zone.records, 0x1000));
	records_free(r);
	assert_ptr_equal(records_by_tid(NO_THREAD), s);
}

/*
 * The tid comes round again, the new thread begins with the hook: also where the first one's
 * thread pointer was never learned, or is the same (libc gives a stack to the next thread).
 */
static void begun_after(void **state)
{
	struct thread_record *r = records_found(NO_THREAD, 0), *s, *t;
	uint64_t later;

	/* Found by a look at /proc between its creation and its first instruction: the same. */
	assert_ptr_equal(records_begun(NO_THREAD, 0x1000, r->since - 1), r);
	assert_ptr_equal(record_find(&zone.records, 0x1000), r);
	later = os_monotonic() + 1;
	s = records_begun(NO_THREAD, 0x1000, later);
	assert_ptr_not_equal(s, r);
	assert_int_equal(atomic_load(&r->state), RECORD_CLOSING);
	assert_ptr_equal(records_by_tid(NO_THREAD), s);
	assert_ptr_equal(record_find(&zone.records, 0x1000), s);
	t = records_found(NO_THREAD + 1, 0);
	assert_ptr_not_equal(records_begun(NO_THREAD + 1, 0x2000, os_monotonic() + 1), t);
	assert_int_equal(atomic_load(&t->state), RECORD_CLOSING);
}

/* The same seen by the scan: another mark and a later start. Another mark alone is the same thread. */
static void began_since_the_scan(void **state)
{
	struct thread_record *r, *s;

	records_scan();
	r = records_by_tid(os_gettid());
	assert_true(r->mark != 0);
	r->mark++;
	records_scan();
	assert_ptr_equal(records_by_tid(os_gettid()), r);
	r->mark++;
	r->since = 1; /* long before this thread began */
	records_scan();
	s = records_by_tid(os_gettid());
	assert_ptr_not_equal(s, r);
	assert_int_equal(atomic_load(&r->state), RECORD_CLOSING);
	records_scan();
	assert_ptr_equal(records_by_tid(os_gettid()), s);
}

static void *start_of(void *arg)
{
	*(uint64_t *)arg = os_thread_start(os_gettid());
	return NULL;
}

/* A thread's start by the kernel lies between the moments around its creation, to a tick. */
static void start_times(void **state)
{
	uint64_t before = os_monotonic(), start = 0;
	pthread_t thread;

	pthread_create(&thread, NULL, start_of, &start);
	pthread_join(thread, NULL);
	assert_true(start + 11 * NS_PER_MS > before);
	assert_true(start <= os_monotonic());
	assert_int_equal(os_thread_start(NO_THREAD), 0);
}

/* The tables of 256 K records cost little writable memory before there are that many. */
static void little_memory(void **state)
{
	struct record_table old = zone.records;
	_Atomic uint32_t *old_fds = zone.record_of_fd;
	struct rlimit all, few;
	struct error err;
	char line[256];
	size_t kb = 0;
	FILE *f = fopen("/proc/self/status", "r");
	int rc;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmData: %zu", &kb) == 1)
			break;
	fclose(f);
	getrlimit(RLIMIT_DATA, &all);
	few = all;
	few.rlim_cur = kb * 1024 + (16u << 20);
	zone.records = (struct record_table){0};
	zone.record_of_fd = NULL;
	setrlimit(RLIMIT_DATA, &few);
	rc = records_open(&engine_records, &err);
	setrlimit(RLIMIT_DATA, &all);
	assert_int_equal(rc, 0);
	munmap(zone.records.records, RECORD_LIMIT * sizeof(struct thread_record));
	munmap(zone.records.by_tcb, RECORD_SLOTS * sizeof(*zone.records.by_tcb));
	munmap(zone.records.by_tid, RECORD_SLOTS * sizeof(*zone.records.by_tid));
	munmap(zone.record_of_fd, ZONE_FDS * sizeof(*zone.record_of_fd));
	zone.records = old;
	zone.record_of_fd = old_fds;
}

/* A new thread gets the thread pointer of one that ended unseen (stacks are used again). */
static void tcb_came_round(void **state)
{
	struct thread_record *r = records_found(NO_THREAD, 0x1000), *s = records_found(NO_THREAD + 1, 0x1000);

	assert_ptr_not_equal(r, s);
	assert_ptr_equal(record_find(&zone.records, 0x1000), s);
	assert_ptr_equal(records_by_tid(NO_THREAD), r);
	assert_ptr_equal(records_by_tid(NO_THREAD + 1), s);
}

static void used_again(void **state)
{
	struct thread_record *r = records_found(NO_THREAD, 0x1000), *s;
	struct stack_chunk chunk = {(uint64_t *)0x10, (uint64_t *)0x20, 3, 0};

	r->chunk = chunk;
	atomic_store(&r->lost[0].taken, 77);
	atomic_store(&r->java_thread, 5);
	close_by_hand(r);
	assert_null(records_by_tid(NO_THREAD));
	assert_null(record_find(&zone.records, 0x1000));
	s = records_found(NO_THREAD + 1, 0x1000);
	assert_ptr_not_equal(s, r); /* not drained yet */
	records_free(r);
	assert_ptr_equal(records_found(NO_THREAD + 2, 0), r);
	assert_int_equal(atomic_load(&r->lost[0].taken), 0);
	assert_int_equal(atomic_load(&r->java_thread), 0);
	/* What is left of its piece of the stack store is used up. */
	assert_true(r->chunk.pos == chunk.pos && r->chunk.end == chunk.end && r->chunk.taken == 3);
	assert_null(records_by_tid(NO_THREAD));
	assert_ptr_equal(record_find(&zone.records, 0x1000), s);
	assert_int_equal(atomic_load(&zone.records.count), 2);
}

/* So many that the tables get as wide as they can be: from a quarter of a quarter of the slots on. */
static void many(void **state)
{
	uint32_t i, lost = 0, most = getenv("JSTROBE_SOAK") ? RECORD_LIMIT : RECORD_SLOTS / 8 + 1000;

	for (i = 0; i < most; i++) {
		assert_non_null(records_found(NO_THREAD + (pid_t)i, tcb_of(i)));
		assert_true(atomic_load(&zone.records.mask) < RECORD_SLOTS);
	}
	assert_int_equal(atomic_load(&zone.records.mask), RECORD_SLOTS - 1);
	assert_int_equal(atomic_load(&zone.records.count), most);
	if (most == RECORD_LIMIT)
		assert_null(records_found(NO_THREAD + (pid_t)most, tcb_of(most)));
	for (i = 0; i < most; i++) {
		struct thread_record *r = record_find(&zone.records, tcb_of(i));

		lost += !r || atomic_load(&r->tid) != NO_THREAD + (pid_t)i;
		lost += records_by_tid(NO_THREAD + (pid_t)i) != r;
	}
	assert_int_equal(lost, 0);
}

static _Atomic uint32_t entered, missed; /* records that are there; times that one of them was not found */
static _Atomic bool enough;

static void *look_all_the_time(void *arg)
{
	uint32_t i = 0, count;

	while (!atomic_load(&enough)) {
		count = atomic_load(&entered);
		i = i + 1 < count ? i + 1 : 0;
		if (count && (!record_find(&zone.records, tcb_of(i)) || !record_find_tid(&zone.records, NO_THREAD + (pid_t)i)))
			atomic_fetch_add(&missed, 1);
	}
	return arg;
}

/* While the tables are made wider, those who look without a lock find whatever is there. */
static void found_all_the_time(void **state)
{
	pthread_t thread;
	uint32_t i;

	atomic_store(&entered, 0);
	atomic_store(&missed, 0);
	atomic_store(&enough, false);
	assert_int_equal(pthread_create(&thread, NULL, look_all_the_time, NULL), 0);
	for (i = 0; i < 20000; i++) {
		assert_non_null(records_found(NO_THREAD + (pid_t)i, tcb_of(i)));
		atomic_store(&entered, i + 1);
	}
	atomic_store(&enough, true);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&missed), 0);
}

/* 300,000 short lives in a table of few: stale entries give way. */
static void churn(void **state)
{
	struct thread_record *live[50] = {0};
	uint32_t i, lost = 0;

	for (i = 0; i < 300000; i++) {
		uint32_t at = i * 7 % ARRAY_LEN(live);

		if (live[at]) {
			lost += record_find(&zone.records, tcb_of(i - 50)) != live[at] && i * 7 / 50 == 0;
			close_by_hand(live[at]);
			records_free(live[at]);
		}
		live[at] = records_found(NO_THREAD + (pid_t)(i % 200000), tcb_of(i % 4000 + i / 1000));
		lost += records_by_tid(NO_THREAD + (pid_t)(i % 200000)) != live[at];
		lost += record_find(&zone.records, atomic_load(&live[at]->tcb)) != live[at];
	}
	assert_int_equal(lost, 0);
	assert_int_equal(atomic_load(&zone.records.count), 50);
}

/* ---- real threads ---- */

static void scan(void **state)
{
	struct thread_record *gone = records_found(NO_THREAD, 0x1000), *me;

	records_scan();
	me = records_by_tid(os_gettid());
	assert_non_null(me);
	assert_int_equal(atomic_load(&me->state), RECORD_LIVE);
	assert_int_equal(atomic_load(&gone->state), RECORD_CLOSING);
	assert_null(record_find(&zone.records, 0x1000));
	records_scan();
	assert_ptr_equal(records_by_tid(os_gettid()), me);
	assert_int_equal(atomic_load(&me->state), RECORD_LIVE);
}

static void *wait_for_word(void *arg)
{
	os_wait_while(arg, 0, UINT64_MAX);
	return NULL;
}

/* A thread without events shows in how many there are, its end as well. */
static void counted(void **state)
{
	uint32_t count = os_thread_count();
	_Atomic uint32_t word = 0;
	pthread_t thread;
	uint64_t start;

	records_scan();
	assert_true(records_are_all());
	assert_true(count > 0);
	pthread_create(&thread, NULL, wait_for_word, &word);
	assert_int_equal(os_thread_count(), count + 1);
	assert_false(records_are_all());
	records_scan();
	assert_true(records_are_all());
	/* No thread wakes us, and the word stays: the time ends it. */
	start = os_monotonic();
	os_wait_while(&word, 0, 3 * NS_PER_MS);
	assert_true(os_monotonic() - start >= 3 * NS_PER_MS);
	atomic_store(&word, 1);
	os_wake(&word);
	pthread_join(thread, NULL);
	/* The kernel lets it go a moment later than it tells us. */
	while (os_thread_count() > count)
		os_sleep(NS_PER_MS);
	assert_false(records_are_all());
	records_scan();
	assert_true(records_are_all());
	/* Who tells of his end is not counted any more, though he is still there. */
	records_ending(records_by_tid(os_gettid()));
	assert_false(records_are_all());
}

static void *end_of_another(void *arg)
{
	struct thread_record *mine = records_found(os_gettid(), (uintptr_t)pthread_self());

	records_ending(arg); /* not ours: nothing happens */
	if (atomic_load(&((struct thread_record *)arg)->state) != RECORD_LIVE)
		return NULL;
	records_ending(mine);
	return mine;
}

static void ending(void **state)
{
	struct thread_record *me = records_found(os_gettid(), (uintptr_t)pthread_self());
	pthread_t thread;
	void *its;

	pthread_create(&thread, NULL, end_of_another, me);
	pthread_join(thread, &its);
	assert_non_null(its);
	assert_int_equal(atomic_load(&((struct thread_record *)its)->state), RECORD_CLOSING);
	assert_int_equal(atomic_load(&((struct thread_record *)its)->inside), 0);
	assert_int_equal(atomic_load(&me->state), RECORD_LIVE);
	records_ending(me);
	assert_int_equal(atomic_load(&me->state), RECORD_CLOSING);
	assert_null(records_by_tid(os_gettid()));
}

static void burn(uint64_t ns)
{
	uint64_t end = os_thread_cpu(os_gettid()) + ns;

	while (os_thread_cpu(os_gettid()) < end)
		;
}

static void *own_thread(void *arg)
{
	records_own(os_gettid(), true);
	*(bool *)arg = records_found(os_gettid(), 0)->own;
	burn(20 * NS_PER_MS);
	records_own(os_gettid(), false);
	burn(20 * NS_PER_MS);
	return NULL;
}

/* CPU time of own threads is theirs as long as they are own, and stays when they have ended. */
static void own(void **state)
{
	uint64_t before = records_own_cpu(), used;
	pthread_t thread;
	bool was_own = false;

	pthread_create(&thread, NULL, own_thread, &was_own);
	pthread_join(thread, NULL);
	used = records_own_cpu() - before;
	assert_true(was_own);
	assert_true(used >= 20 * NS_PER_MS && used < 35 * NS_PER_MS);
	assert_true(records_own_cpu() - before == used);
}

static void outside(void **state)
{
	struct thread_record *r = records_found(NO_THREAD, 0), *s = records_found(NO_THREAD + 1, 0);
	uint32_t before = quiesce_begin(), now;

	assert_true(quiesced(before));
	handler_enter(r);
	assert_true(quiesced(before)); /* entered in this epoch */
	now = quiesce_begin();
	assert_false(quiesced(now));
	handler_enter(s);
	assert_false(quiesced(now));
	handler_leave(r);
	assert_true(quiesced(now));
	handler_leave(s);
	assert_true(quiesced(now + 10));
	/* Epochs begin anew after 2^32 of them; 0 is none. */
	atomic_store(&zone.epoch, UINT32_MAX);
	handler_enter(r);
	now = quiesce_begin();
	assert_int_equal(now, 1);
	assert_false(quiesced(now));
	handler_leave(r);
	assert_true(quiesced(now));
}

/* Who is in a record is alone in it, and who came to the wrong one takes no other's mark away. */
static void alone(void **state)
{
	struct thread_record *r = records_found(NO_THREAD, 0);
	uint32_t epoch = quiesce_begin();

	assert_true(handler_try(r, epoch));
	assert_false(handler_try(r, epoch));
	handler_leave(r);
	assert_true(handler_try(r, epoch + 1));
	handler_back_out(r, epoch);
	assert_int_equal(atomic_load(&r->inside), epoch + 1);
	handler_back_out(r, epoch + 1);
	assert_int_equal(atomic_load(&r->inside), 0);
	/* A record that is used again is not touched where another may be looking in just now. */
	assert_true(handler_try(r, epoch));
	close_by_hand(r);
	records_free(r);
	assert_ptr_equal(records_found(NO_THREAD + 1, 0), r);
	assert_int_equal(atomic_load(&r->inside), epoch);
	handler_leave(r);
}

static void java_threads(void **state)
{
	struct thread_record *r = records_found(NO_THREAD, 0);

	records_java(NO_THREAD, 0x4000, 7);
	assert_int_equal(atomic_load(&r->java_thread), 0x4000);
	records_java(NO_THREAD, 0, 0);
	assert_int_equal(atomic_load(&r->java_thread), 0);
	records_java(NO_THREAD + 1, 0x4000, 8); /* no thread */
	assert_int_equal(atomic_load(&zone.records.count), 1);
}

#define CROWD 20000

/* Whether thread I of a crowd is found, by both of its names, and has an empty queue. */
static bool is_there(uint32_t i)
{
	struct thread_record *r = records_by_tid(NO_THREAD + (pid_t)i);
	const struct queue *q = r ? atomic_load(&r->current) : NULL;

	return r && r->index < CROWD && record_find(&zone.records, 0x10000 + i * 0x1000ull) == r && q &&
	       q->capacity == QUEUE_START && !atomic_load(&q->head);
}

static struct thread_record *come(uint32_t i)
{
	return records_found(NO_THREAD + (pid_t)i, 0x10000 + i * 0x1000ull);
}

/* Few threads use few slots; many are all found, those of before as well. */
static void tables_grow(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < 100; i++)
		assert_non_null(come(i));
	assert_true(atomic_load(&zone.records.mask) < 2048);
	for (; i < CROWD; i++)
		assert_non_null(come(i));
	for (i = 0; i < CROWD; i++)
		assert_true(is_there(i));
}

static size_t resident(const void *at, size_t bytes)
{
	uintptr_t from = (uintptr_t)at & ~(uintptr_t)4095;
	size_t pages = ((uintptr_t)at + bytes - from + 4095) / 4096, i, count = 0;
	unsigned char *map = calloc(pages, 1);

	assert_int_equal(mincore((void *)from, pages * 4096, map), 0);
	for (i = 0; i < pages; i++)
		count += map[i] & 1;
	free(map);
	return count * 4096;
}

static size_t resident_records(void)
{
	return resident(zone.records.records, CROWD * sizeof(struct thread_record));
}

/* A crowd's records give back their memory some time after it, but for those that live; then others may come. */
static void a_crowd_goes(void **state)
{
	uint64_t now = os_monotonic(), minute = 60 * NS_PER_S;
	size_t most, left;
	uint32_t i;

	(void)state;
	for (i = 0; i < CROWD; i++)
		come(i)->chunk.pos = (uint64_t *)8;
	most = resident_records();
	for (i = 0; i < CROWD; i++) {
		struct thread_record *r = records_by_tid(NO_THREAD + (pid_t)i);

		if (i % 1000 || i > 5000) { /* some stay */
			close_by_hand(r);
			records_free(r);
		}
	}
	for (i = 1; i <= 2; i++) {
		records_shrink(now + i * minute); /* there were as many a moment ago, and in the period before */
		deferred_drain();
		assert_true(resident_records() >= most / 2);
	}
	records_shrink(now + 3 * minute);
	come(CROWD); /* it takes a free one of those that stay */
	deferred_drain();
	left = resident_records();
	assert_true(left > 0 && left < most / 2);
	assert_true(atomic_load(&zone.records.count) <= 5100);
	for (i = 0; i <= 5000; i += 1000)
		assert_true(is_there(i));
	for (i = CROWD + 1; i < CROWD + 10000; i++) { /* with pieces of the stack store that others had */
		struct thread_record *r = come(i);

		assert_non_null(r->chunk.pos);
		assert_ptr_equal(record_find(&zone.records, 0x10000 + i * 0x1000ull), r);
	}
}

/* Write a trace of R's own, of N frames from FIRST on. */
static const struct stack_trace *trace_of(struct thread_record *r, uint64_t first, uint32_t n)
{
	struct stack_trace_writer w;
	uint32_t i;

	assert_true(stack_trace_begin(&w, &zone.store, &r->chunk, 100));
	for (i = 0; i < n; i++)
		assert_true(stack_trace_put(&w, first + i));
	return stack_trace_end(&w);
}

/* Records that are given back end anywhere in a page: none of them keeps what is another's from then on. */
static void pieces_are_of_one_each(void **state)
{
	static const uint32_t crowds[] = {1000, 1001, 1013, 700, 4095};
	struct error err;
	uint32_t n, i, at;

	for (at = 0; at < ARRAY_LEN(crowds); at++) {
		const struct stack_trace **traces = calloc(crowds[at], sizeof(*traces));

		n = crowds[at];
		assert_int_equal(records_open(&engine_records, &err), 0);
		assert_int_equal(stack_store_open(&zone.store, 64u << 20, &err), 0);
		for (i = 0; i < n; i++)
			trace_of(come(i), i + 1, 1);
		for (i = 10; i < n; i++) {
			struct thread_record *r = records_by_tid(NO_THREAD + (pid_t)i);

			close_by_hand(r);
			records_free(r);
		}
		for (i = 1; i < 8; i++) {
			records_shrink(os_monotonic() + i * 60 * NS_PER_S);
			deferred_drain();
		}
		assert_true(atomic_load(&zone.records.count) < 100);
		for (i = 10; i < n; i++)
			come(i);
		/* All write in turn, and all is as it was written. */
		for (i = 0; i < n; i++)
			traces[i] = trace_of(&zone.records.records[i], 0x10000 + i * 16, 5);
		for (i = 0; i < n; i++)
			assert_true(traces[i]->length == 5 && traces[i]->frame[0] == 0x10000 + i * 16);
		free(traces);
		records_release();
		stack_store_close(&zone.store);
	}
}

/* Records that are taken while they are being given back stay. */
static void a_crowd_comes_again(void **state)
{
	uint64_t now = os_monotonic(), minute = 60 * NS_PER_S;
	uint32_t i;

	(void)state;
	for (i = 0; i < CROWD; i++)
		come(i);
	for (i = 0; i < CROWD; i++) {
		struct thread_record *r = records_by_tid(NO_THREAD + (pid_t)i);

		close_by_hand(r);
		records_free(r);
	}
	come(0);
	for (i = 1; i <= 3; i++)
		records_shrink(now + i * minute);
	assert_true(atomic_load(&zone.records.count) <= 64);
	for (i = 1; i < CROWD / 2; i++)
		come(i);
	deferred_drain();
	for (i = 0; i < CROWD / 2; i++)
		assert_true(is_there(i));
	for (; i < CROWD; i++)
		come(i);
	for (i = 0; i < CROWD; i++)
		assert_true(is_there(i));
}

/* Queues in every state of being handed over are freed, each once (sanitizers tell). */
static void queues_are_freed(void **state)
{
	struct thread_record *r[4];
	struct queue *q;
	int i;

	for (i = 0; i < 4; i++) {
		r[i] = records_found(NO_THREAD + i, 0);
		q = queues_bigger(40);
		assert_non_null(q);
		if (i == 0) {
			queues_free(r[i]->index, q);
			continue;
		}
		atomic_store(&r[i]->next, q); /* 1: offered */
		if (i >= 2)
			atomic_store(&r[i]->current, q); /* 2: being taken */
		if (i >= 3)
			atomic_store(&r[i]->next, NULL); /* 3: taken, the old one not drained yet */
	}
	for (i = 0; i < 2; i++) {
		close_by_hand(r[i]);
		records_free(r[i]);
		assert_null(atomic_load(&r[i]->current));
	}
	/* The others by the release. */
}

#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(found_once), T(tid_came_round), T(begun_after), T(began_since_the_scan), T(start_times), T(little_memory),
		T(tcb_came_round), T(used_again), T(many), T(found_all_the_time), T(churn),
		T(scan), T(counted), T(ending), T(own), T(outside), T(alone), T(java_threads), T(queues_are_freed),
		T(tables_grow), T(a_crowd_goes), T(pieces_are_of_one_each), T(a_crowd_comes_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Wall clock without a JVM: rounds keep their time, runs add up, threads that wait are seen and not touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/hooks/faults.h"
#include "agent/sources/engine.h"
#include "agent/sources/wall/marker.h"
#include "agent/sources/wall/wall.h"
#include "agent/threads/records.h"
#include "agent/threads/run_queue.h"
#include "agent/walk/fault.h"
#include "common/os/os.h"
#include "harness.h"
#include "lib_threads.h"

#define INTERVAL NS_PER_MS
#define LONG_ENOUGH (400 * NS_PER_MS) /* for hints, where the machine is not very busy */
#define OLD_THREADS 12

/* ---- rounds ---- */

static struct {
	uint64_t opened, first, last, ticks, late, flushed;
	bool left;
} seen;

static void opened(uint64_t now)
{
	seen.opened = now;
}

static void tick(uint32_t late)
{
	seen.last = os_monotonic();
	if (!seen.ticks)
		seen.first = seen.last;
	seen.ticks++;
	seen.late += late;
	if (seen.ticks == 5)
		os_sleep(12 * NS_PER_MS); /* several intervals pass without a turn */
}

static void flushed(void)
{
	seen.flushed++;
}

static void left(void)
{
	seen.left = true;
}

static void ticker_keep_time(void **state)
{
	struct ticker r = {.name = "test rounds", .open = opened, .tick = tick, .flush = flushed, .leave = left};
	struct error err;
	int i;

	for (i = 0; i < 2; i++) {
		memset(&seen, 0, sizeof(seen));
		r.scattered = i;
		zone.events[0].interval = 2 * NS_PER_MS;
		assert_int_equal(records_open(&engine_records, &err), 0);
		assert_int_equal(ticker_begin(&r, 0, &err), 0);
		os_sleep(10 * NS_PER_MS);
		assert_int_equal(seen.ticks, 0); /* threads are not known yet */
		ticker_known();
		for (int n = 0; n < 6000 && seen.ticks < 20; n++)
			os_sleep(10 * NS_PER_MS); /* a busy machine takes its time */
		ticker_flush();
		assert_int_equal(seen.flushed, 1);
		ticker_end(&r);
		assert_true(seen.left);
		assert_true(seen.late >= 4); /* of the 12 ms */
		/* One turn in each interval, or it is counted as late: at most one is open at either end. */
		assert_in_range((seen.ticks + seen.late) * 2 * NS_PER_MS, seen.last - seen.opened - 2 * NS_PER_MS,
				seen.last - seen.opened + 2 * NS_PER_MS);
		ticker_end(&r);
		records_release();
	}
}

/* ---- runs ---- */

static void open_tables(void)
{
	struct error err;

	assert_int_equal(runs_open(&err), 0);
	memset(&wall, 0, sizeof(wall));
	wall.threads = calloc(4, sizeof(*wall.threads));
	wall.stacks = calloc(4, sizeof(*wall.stacks));
	wall.expected = calloc(4, sizeof(*wall.expected));
	wall.fields = calloc(4, sizeof(*wall.fields));
	wall.rotation = 4;
	zone.events[0].interval = INTERVAL;
}

static void close_tables(void)
{
	free(wall.threads);
	free(wall.stacks);
	free(wall.expected);
	free(wall.fields);
	memset(&wall, 0, sizeof(wall));
	runs_release();
}

/* The next turn, at NS. */
static void next_tick(uint64_t ns)
{
	wall.tick++;
	wall.times[wall.tick % WALL_TIMES] = ns;
}

/* All notes of thread 1: how many samples; what they weigh is added to *WEIGHT, the longest counts to *MOST. */
static uint64_t take_notes(uint64_t *weight, uint64_t *most, uint32_t *begun)
{
	struct run_note n;
	uint64_t sum = 0;

	while (runs_pop(&n)) {
		assert_int_equal(n.thread, 1);
		if (n.trace) {
			++*begun;
			continue;
		}
		sum += n.samples;
		*weight += n.weight;
		*most = MAX(*most, n.samples);
		assert_true(n.time && n.span <= n.weight);
		assert_in_range(n.span, (n.samples - 1) * INTERVAL, n.samples * INTERVAL);
	}
	return sum;
}

static void runs_add_up(void **state)
{
	static const struct stack_trace *const trace = (void *)0x1000, *const other = (void *)0x2000;
	struct wall_sight s = {.stack = {.trace = trace}, .state = THREAD_PARKED, .proof = WALL_MARKER};
	uint64_t weight = 0, most = 0, start = NS_PER_S, samples;
	uint32_t begun = 0;
	int i;

	open_tables();
	wall.threads[1].begun = wall.threads[1].last = start;
	for (i = 1; i <= 5000; i++) {
		next_tick(start + (uint64_t)i * INTERVAL);
		if (i == 1)
			assert_true(wall_stands(1, &s, start + INTERVAL));
		if (i == 1)
			wall.threads[1].tick = 1;
		else if (i % 4 == 0 || i == 5000)
			wall_unmoved(1, wall.tick);
	}
	assert_true(wall_count_out(1));
	samples = take_notes(&weight, &most, &begun);
	assert_int_equal(samples, 5000);
	assert_int_equal(weight, 5000 * INTERVAL);
	assert_int_equal(begun, 1);
	assert_in_range(most, 900, 1000);
	/* The same stack goes on; another one begins a run of its own. */
	next_tick(start + 5001 * INTERVAL);
	assert_true(wall_stands(1, &s, start + 5001 * INTERVAL));
	s.stack.trace = other;
	next_tick(start + 5002 * INTERVAL);
	assert_true(wall_stands(1, &s, start + 5002 * INTERVAL));
	assert_true(wall_count_out(1));
	assert_int_equal(take_notes(&weight, &most, &begun), 2);
	assert_int_equal(weight, 5002 * INTERVAL);
	assert_int_equal(begun, 2);
	close_tables();
}

static void no_room_for_a_run(void **state)
{
	struct wall_sight s = {.stack = {.trace = (void *)0x1000}, .proof = WALL_MARKER};
	struct run_note n = {.thread = 1, .samples = 1, .time = 1};
	uint64_t weight = 0, most = 0, lost;
	uint32_t begun = 0;

	open_tables();
	wall.threads[1].begun = wall.threads[1].last = NS_PER_S;
	for (lost = 0; runs_push(&n); lost++)
		;
	assert_int_equal(lost, RUNS_LIMIT);
	next_tick(NS_PER_S + INTERVAL);
	assert_false(wall_stands(1, &s, NS_PER_S + INTERVAL));
	assert_int_equal(wall.threads[1].samples, 0);
	while (runs_pop(&n))
		;
	/* The next sample has the time of the one that was lost. */
	assert_true(wall_stands(1, &s, NS_PER_S + 2 * INTERVAL));
	assert_true(wall_count_out(1));
	while (runs_pop(&n))
		weight += n.weight;
	assert_int_equal(weight, 2 * INTERVAL);
	assert_int_equal(take_notes(&weight, &most, &begun), 0);
	close_tables();
}

/* ---- threads that wait ---- */

struct sleeper {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t condition;
	sem_t semaphore;
	int pipe[2], way;
	_Atomic pid_t tid;
	_Atomic uintptr_t tcb;
	bool stop;
};

static threads_start_fn *start_thread;

enum { BY_CONDITION, BY_SEMAPHORE, BY_PIPE, WAYS };

static void *wait_somehow(void *arg)
{
	struct sleeper *s = arg;
	char byte;

	atomic_store(&s->tcb, (uintptr_t)pthread_self());
	atomic_store(&s->tid, os_gettid());
	switch (s->way) {
	case BY_CONDITION:
		pthread_mutex_lock(&s->lock);
		while (!s->stop)
			pthread_cond_wait(&s->condition, &s->lock);
		pthread_mutex_unlock(&s->lock);
		break;
	case BY_SEMAPHORE:
		sem_wait(&s->semaphore);
		break;
	case BY_PIPE:
		assert_int_equal(read(s->pipe[0], &byte, 1), 1);
		break;
	}
	return NULL;
}

static void begin(struct sleeper *s, int way)
{
	uintptr_t sp, pc;

	memset(s, 0, sizeof(*s));
	s->way = way;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->condition, NULL);
	sem_init(&s->semaphore, 0, 0);
	assert_int_equal(pipe(s->pipe), 0);
	assert_int_equal(start_thread(&s->thread, wait_somehow, s), 0);
	while (!atomic_load(&s->tid) || !os_thread_waits(atomic_load(&s->tid), &sp, &pc))
		os_sleep(NS_PER_MS / 10);
}

static void wake(struct sleeper *s)
{
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_broadcast(&s->condition);
	pthread_mutex_unlock(&s->lock);
	sem_post(&s->semaphore);
	assert_int_equal(write(s->pipe[1], "x", 1), 1);
}

static void end(struct sleeper *s)
{
	wake(s);
	pthread_join(s->thread, NULL);
	close(s->pipe[0]);
	close(s->pipe[1]);
}

/* Times that thread TID was switched to. */
static uint64_t switches(pid_t tid)
{
	uint64_t sum = 0;
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "ctxt_switches"))
			sum += strtoull(strchr(line, ':') + 1, NULL, 10);
	if (f)
		fclose(f);
	return sum;
}

static uint64_t samples_of(const struct profile *p, pid_t tid)
{
	uint32_t i;

	for (i = 0; i < p->thread_count; i++)
		if ((pid_t)p->threads[i].tid == tid)
			return p->threads[i].samples;
	return 0;
}

static uint64_t weight_of(const struct profile *p, pid_t tid)
{
	uint32_t i;

	for (i = 0; i < p->thread_count; i++)
		if ((pid_t)p->threads[i].tid == tid)
			return p->threads[i].weight;
	return 0;
}

/* Sleep for NS, whatever signals come. */
static void pass(uint64_t ns)
{
	uint64_t end = os_monotonic() + ns, now;

	while ((now = os_monotonic()) < end)
		os_sleep(end - now);
}

static void adds_up(const struct profile *p)
{
	uint64_t lost = 0;
	int i;

	for (i = 0; i < LOSS_REASONS; i++)
		lost += p->lost[i];
	assert_int_equal(p->taken, p->stored + lost);
}

/* A session; its result. FAIL: as in harness_start. */
static struct profile *session(const char *fail, const char *way, uint64_t ns)
{
	struct profile *p;
	struct error err;

	if (harness_start(&engine_wall, INTERVAL, 256, fail, &err))
		fail_msg("%s", err.text);
	pass(ns);
	p = harness_stop();
	assert_string_equal(p->engine, way);
	adds_up(p);
	return p;
}

/* Markers are written where a write may fault. Behind us is cmocka's handler, which changes nothing. */
static void let_writes_fault(void)
{
	struct error err;

	assert_int_equal(faults_install(&err), 0);
	atomic_store(&fault_front, fault_in_force(SIGSEGV));
	fault_trust();
}

static bool can_mark(void)
{
	bool can;

	let_writes_fault();
	can = marker_works(MARKER_SOUND);
	faults_remove();
	return can;
}

/* The session runs first, so that the ends of these threads are told. */
static void seen_and_not_touched(void **state)
{
	static struct sleeper s[OLD_THREADS]; /* if the test fails they wait on, not in the next one's stack */
	uint64_t before[OLD_THREADS], begun[OLD_THREADS], time = 0, stored = 0, lost = 0, stop;
	struct profile *p;
	struct error err;
	int i;

	if (!can_mark()) {
		print_message("skipped: threads cannot be marked here\n");
		skip();
	}
	assert_int_equal(harness_start(&engine_wall, INTERVAL, 256, NULL, &err), 0);
	for (i = 0; i < OLD_THREADS; i++) {
		begun[i] = os_monotonic();
		begin(&s[i], i % WAYS);
	}
	/* Marked is who sleeps: on a busy machine that takes its time. */
	stop = os_monotonic() + 20 * NS_PER_S;
	for (i = 0; i < OLD_THREADS && os_monotonic() < stop; i += marker_is_set(marker_of(s[i].tcb)))
		os_sleep(NS_PER_MS);
	for (i = 0; i < OLD_THREADS; i++)
		before[i] = switches(s[i].tid);
	pass(LONG_ENOUGH);
	for (i = 0; i < OLD_THREADS; i++) {
		assert_int_equal(switches(s[i].tid), before[i]);
		assert_true(marker_is_set(marker_of(s[i].tcb)));
	}
	stop = os_monotonic();
	p = harness_stop();
	assert_string_equal(p->engine, "wall-marker");
	for (i = 0; i < OLD_THREADS; i++) {
		assert_false(marker_is_set(marker_of(s[i].tcb))); /* nothing stays behind */
		time += stop - begun[i];
		stored += weight_of(p, s[i].tid);
		assert_true(samples_of(p, s[i].tid) > 1);
	}
	for (i = 0; i < LOSS_REASONS; i++)
		lost += p->lost_weight[i];
	/* The time since they began, but for some of their beginnings; what a busy machine's turns miss is counted. */
	if (stored + lost < time * 9 / 10)
		fail_msg("%.3f s stored, %.3f s lost of %.3f", (double)stored / 1e9, (double)lost / 1e9, (double)time / 1e9);
	harness_end();
	for (i = 0; i < OLD_THREADS; i++)
		end(&s[i]);
}

/* A stack that could not be named is read once more, though the thread stands; nothing is lost, and no thread is woken. */
static void looked_at_again(void **state)
{
	struct wall_thread *t;
	struct profile *p;
	struct sleeper s;
	struct error err;
	uint64_t stop, moved, before;

	if (!can_mark()) {
		print_message("skipped: threads cannot be marked here\n");
		skip();
	}
	assert_int_equal(harness_start(&engine_wall, INTERVAL, 256, NULL, &err), 0);
	begin(&s, BY_CONDITION);
	while (!records_by_tid(s.tid))
		os_sleep(NS_PER_MS);
	t = &wall.threads[records_by_tid(s.tid)->index];
	stop = os_monotonic() + 20 * NS_PER_S;
	/* From then on it is known by its marker alone, and stands. */
	while (os_monotonic() < stop && t->proof != WALL_MARKER)
		os_sleep(NS_PER_MS);
	moved = t->moved;
	before = switches(s.tid);
	engine_look_again(records_by_tid(s.tid)->index);
	while (os_monotonic() < stop && t->moved == moved)
		os_sleep(NS_PER_MS);
	assert_true(t->moved > moved);
	assert_false(atomic_load(&t->again));
	assert_int_equal(switches(s.tid), before);
	p = harness_stop();
	adds_up(p);
	assert_true(samples_of(p, s.tid) > 10);
	harness_end();
	end(&s);
}

/* A section of another library stays in the field of a thread that sleeps, as librseq leaves it; it is never marked. */
static void foreign_section(void **state)
{
	static const struct {
		uint32_t version, flags;
		uint64_t start, length, abort;
	} theirs __attribute__((aligned(32)));
	struct sleeper s;
	struct profile *p;
	struct error err;
	_Atomic uintptr_t *field;

	if (!can_mark()) {
		print_message("skipped: threads cannot be marked here\n");
		skip();
	}
	assert_int_equal(harness_start(&engine_wall, 5 * INTERVAL, 256, NULL, &err), 0);
	begin(&s, BY_CONDITION);
	field = (_Atomic uintptr_t *)marker_of(s.tcb);
	assert_non_null(field);
	atomic_store(field, (uintptr_t)&theirs);
	assert_false(marker_set((uintptr_t)field));
	pass(NS_PER_S);
	assert_int_equal(atomic_load(field), (uintptr_t)&theirs);
	p = harness_stop();
	assert_int_equal(atomic_load(field), (uintptr_t)&theirs);
	assert_string_equal(p->engine, "wall-marker");
	assert_true(samples_of(p, s.tid) >= 2);
	harness_end();
	atomic_store(field, 0); /* it is no real one */
	end(&s);
}

/*
 * Where a thread that ran keeps its marker there is none: slots and clocks take its place. Also where only those keep
 * it that woke on their CPU, and no thread does so by itself (since Linux 6.19).
 */
static void self_test_fails(void **state)
{
	static const struct {
		enum marker_kernel kernel;
		const char *fail;
	} kernels[] = {{MARKER_KEPT, "marker"}, {MARKER_KEPT_ON_CPU, "marker-on-cpu"}};
	struct profile *p;
	struct sleeper s;
	size_t k;
	int i;

	for (k = 0; k < ARRAY_LEN(kernels); k++) {
		let_writes_fault();
		for (i = 0; i < 20; i++)
			assert_false(marker_works(kernels[k].kernel));
		faults_remove();
		begin(&s, BY_CONDITION);
		p = session(kernels[k].fail, "wall-slots", NS_PER_S);
		assert_false(marker_is_set(marker_of(s.tcb)));
		assert_true(samples_of(p, s.tid) >= 2);
		harness_end();
		end(&s);
	}
}

/* Without a descriptor nothing can be tried out: it does not work, and the caller is told so. */
static void self_test_without_descriptors(void **state)
{
	struct rlimit limit, none;

	getrlimit(RLIMIT_NOFILE, &limit);
	none = limit;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	alarm(60);
	assert_false(marker_works(MARKER_SOUND));
	alarm(0);
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Files stay open where descriptors are plenty, and are given back when the program has used them up. */
static void few_descriptors(void **state)
{
	struct rlimit limit, few;
	uintptr_t sp, pc;
	unsigned before;

	getrlimit(RLIMIT_NOFILE, &limit);
	few = limit;
	wall_waits(os_gettid(), &sp, &pc);
	before = os_descriptors_open();
	few.rlim_cur = before + 3;
	setrlimit(RLIMIT_NOFILE, &few);
	wall_waits_open();
	wall_waits(os_gettid(), &sp, &pc);
	assert_int_equal(os_descriptors_open(), before);
	setrlimit(RLIMIT_NOFILE, &limit);
	wall_waits_open();
	wall_waits(os_gettid(), &sp, &pc);
	assert_int_equal(os_descriptors_open(), before + 1);
	few.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &few);
	wall_waits(1, &sp, &pc);
	setrlimit(RLIMIT_NOFILE, &limit);
	assert_int_equal(os_descriptors_open(), before);
}

/* The condition variable is found, and tells a second wait from the first one. */
static void hints(void **state)
{
	struct sleeper s;
	uint64_t first, second;
	uintptr_t place;
	struct error err;
	int i;

	assert_int_equal(faults_install(&err), 0);
	wall_hint_open(true);
	begin(&s, BY_PIPE);
	assert_int_equal(wall_condition(s.tid), 0);
	end(&s);
	begin(&s, BY_CONDITION);
	place = wall_condition(s.tid);
	assert_int_equal(place, (uintptr_t)&s.condition);
	first = wall_wait(place);
	assert_true(first);
	os_sleep(5 * NS_PER_MS);
	assert_int_equal(wall_wait(place), first);
	for (i = 0; i < 10; i++) {
		/* It wakes, sees that it shall not stop, and waits again. */
		pthread_mutex_lock(&s.lock);
		pthread_cond_signal(&s.condition);
		pthread_mutex_unlock(&s.lock);
		while ((second = wall_wait(place)) == first)
			os_sleep(NS_PER_MS / 10);
		while (!wall_condition(s.tid))
			os_sleep(NS_PER_MS / 10);
		second = wall_wait(place);
		assert_int_not_equal(second, first);
		first = second;
	}
	end(&s);
	assert_int_equal(wall_wait((uintptr_t)getpid() % 8 + 8), 0);
	faults_remove();
}

static void *spin(void *arg)
{
	struct sleeper *s = arg;

	atomic_store(&s->tid, os_gettid());
	while (atomic_load(&s->tid))
		;
	return NULL;
}

/* A thread is asked twice by one descriptor; one that runs is not said to be gone, one that is gone is forgotten. */
static void files_stay_open(void **state)
{
	unsigned before = os_descriptors_open();
	struct sleeper s, runner = {0};
	uintptr_t sp, pc, sp2, pc2;
	int fd;

	begin(&s, BY_SEMAPHORE);
	assert_true(wall_waits(atomic_load(&s.tid), &sp, &pc));
	assert_int_equal(os_descriptors_open(), before + 2); /* the pipe's; nothing may stay open yet */
	wall_waits_open();
	assert_true(wall_waits(atomic_load(&s.tid), &sp, &pc));
	assert_int_equal(os_descriptors_open(), before + 3);
	assert_true(wall_waits(atomic_load(&s.tid), &sp2, &pc2));
	assert_int_equal(os_descriptors_open(), before + 3);
	assert_true(sp == sp2 && pc == pc2 && sp && pc);
	assert_int_equal(start_thread(&runner.thread, spin, &runner), 0);
	while (!atomic_load(&runner.tid))
		os_sleep(NS_PER_MS / 10);
	fd = os_thread_waits_open(atomic_load(&runner.tid));
	assert_int_equal(os_thread_waits_at(fd, &sp, &pc), OS_RUNS);
	close(fd);
	atomic_store(&runner.tid, 0);
	pthread_join(runner.thread, NULL);
	fd = os_thread_waits_open(atomic_load(&s.tid));
	assert_int_equal(os_thread_waits_at(fd, &sp, &pc), OS_WAITS);
	end(&s);
	while (os_thread_exists(atomic_load(&s.tid)))
		os_sleep(NS_PER_MS / 10);
	assert_int_equal(os_thread_waits_at(fd, &sp, &pc), OS_GONE);
	close(fd);
	assert_false(wall_waits(atomic_load(&s.tid), &sp, &pc));
	wall_waits_close();
	assert_int_equal(os_descriptors_open(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticker_keep_time),
		cmocka_unit_test(runs_add_up),
		cmocka_unit_test(no_room_for_a_run),
		cmocka_unit_test(seen_and_not_touched),
		cmocka_unit_test(looked_at_again),
		cmocka_unit_test(foreign_section),
		cmocka_unit_test(self_test_fails),
		cmocka_unit_test(self_test_without_descriptors),
		cmocka_unit_test(few_descriptors),
		cmocka_unit_test(hints),
		cmocka_unit_test(files_stay_open),
	};

	void *library = harness_library("lib_threads.so");

	start_thread = library ? (threads_start_fn *)dlsym(library, "threads_start") : NULL;
	return start_thread ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}

/*
 * The engines at work on this very process, which has no JVM: what they count agrees with the
 * kernel's clocks, what they say adds up, and they leave nothing behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/sources/engine.h"
#include "agent/threads/records.h"
#include "common/os/os.h"
#include "harness.h"
#include "lib_threads.h"

#define BUSY 4

static struct holdings before;

static uint64_t lost(const struct profile *p)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < LOSS_REASONS; i++)
		sum += p->lost[i];
	return sum;
}

/* What every result must fulfil. */
static void check_sums(const struct profile *p)
{
	uint64_t samples = 0, weight = 0, early = 0;
	uint32_t i;

	assert_int_equal(p->taken, p->stored + lost(p));
	for (i = 0; i < p->stack_count; i++) {
		samples += p->stacks[i].samples;
		weight += p->stacks[i].weight;
	}
	assert_int_equal(samples, p->stored);
	assert_int_equal(weight, p->weight_stored);
	for (i = samples = weight = 0; i < p->thread_count; i++) {
		samples += p->threads[i].samples;
		weight += p->threads[i].weight;
	}
	assert_int_equal(samples, p->stored);
	assert_int_equal(weight, p->weight_stored);
	for (i = 0; i < WALK_ENDS; i++)
		early += p->ended_early[i];
	assert_int_equal(p->complete + early, p->stored);
	assert_int_equal(p->handler.count, p->stored);
}

/* Threads that neither begin nor end lose nothing. */
static void check_nothing_lost(const struct profile *p)
{
	assert_int_equal(p->lost[LOSS_no_record], 0);
	assert_true(p->lost[LOSS_disabled] <= HARNESS_AT_THE_END);
	/* Records made while a handler runs: it has lost its CPU, or takes as long as the interval. */
	assert_true(p->lost[LOSS_recursion] * 100 <= p->taken * (p->interval < NS_PER_MS ? 5 : 1));
	assert_int_equal(p->lost[LOSS_thread_exiting] + p->lost[LOSS_store_full], 0);
}

/*
 * Time that the machine's host took away and time of interrupts, ns: a perf event counts it, the
 * thread's CPU clock does not.
 */
static uint64_t taken_away(void)
{
	unsigned long long v[8] = {0};
	FILE *f = fopen("/proc/stat", "r");
	int n = f ? fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", v, v + 1, v + 2, v + 3, v + 4,
			   v + 5, v + 6, v + 7) : 0;

	if (f)
		fclose(f);
	return n == 8 ? (v[5] + v[6] + v[7]) * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK)) : 0;
}

static uint64_t taken_before;
/* CPU timers expire at the scheduler's tick, if the thread runs just then: what is left at the end, ns. */
static uint64_t tick_rest;

/* Weights against the process's CPU clock: PERCENT, and half an interval for each of THREADS. */
static void check_weight(const struct profile *p, unsigned percent, unsigned threads)
{
	uint64_t truth = p->cpu_time - p->own_cpu, all = p->weight_stored + harness_lost_weight(p);
	uint64_t off = truth > all ? truth - all : all - truth;

	if (off * 100 > truth * percent + 50 * threads * p->interval + 100 * threads * tick_rest +
			    100 * (taken_away() - taken_before))
		fail_msg("%s: weights %llu ns, CPU clock %llu ns", p->engine, (unsigned long long)all,
			 (unsigned long long)truth);
}

static void start(const struct engine_ops *ops, uint64_t interval, uint32_t queue, const char *fail)
{
	struct error err;
	int rc;

	taken_before = taken_away();
	tick_rest = ops == &engine_perf && (!*fail || strcmp(fail, "ring") == 0) ? 0 : 10 * NS_PER_MS;
	rc = harness_start(ops, interval, queue, fail, &err);
	if (rc)
		fail_msg("%s", err.text);
}

/* ---- four busy threads ---- */

#define ERRNO 12345

struct busy {
	pthread_t thread;
	_Atomic pid_t tid;
	uint64_t used;         /* CPU time from first to last */
	uint64_t wrong_errno;
	bool blocked;
};
static atomic_bool go, enough;

static void *burn(void *arg)
{
	struct busy *b = arg;
	sigset_t all;

	if (b->blocked) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, NULL);
	}
	atomic_store(&b->tid, os_gettid());
	while (!atomic_load(&go))
		os_sleep(NS_PER_MS);
	b->used = os_thread_cpu(os_gettid());
	while (!atomic_load(&enough)) {
		volatile unsigned x = 0;
		int i;

		errno = ERRNO;
		for (i = 0; i < 50000; i++)
			x = x * 3 + 1;
		b->wrong_errno += errno != ERRNO;
	}
	b->used = os_thread_cpu(os_gettid()) - b->used;
	return NULL;
}

static struct busy busy[BUSY];

static void begin_busy(unsigned blocked)
{
	unsigned i;

	memset(busy, 0, sizeof(busy));
	atomic_store(&go, false);
	atomic_store(&enough, false);
	for (i = 0; i < BUSY; i++) {
		busy[i].blocked = i < blocked;
		assert_int_equal(pthread_create(&busy[i].thread, NULL, burn, &busy[i]), 0);
	}
	for (i = 0; i < BUSY; i++)
		while (!atomic_load(&busy[i].tid))
			os_sleep(NS_PER_MS);
}

/* Until each of them has used NS of CPU time: other programs may want the machine too. */
static void end_busy(uint64_t ns)
{
	uint64_t first[BUSY];
	unsigned i;

	for (i = 0; i < BUSY; i++)
		first[i] = os_thread_cpu(atomic_load(&busy[i].tid));
	atomic_store(&go, true);
	for (i = 0; i < BUSY; i++)
		while (os_thread_cpu(atomic_load(&busy[i].tid)) < first[i] + ns)
			os_sleep(5 * NS_PER_MS);
	atomic_store(&enough, true);
	for (i = 0; i < BUSY; i++)
		pthread_join(busy[i].thread, NULL);
}

static const struct profile_thread *thread_of(const struct profile *p, pid_t tid)
{
	uint32_t i;

	for (i = 0; i < p->thread_count; i++)
		if (p->threads[i].tid == (uint32_t)tid)
			return &p->threads[i];
	return NULL;
}

static void check_busy(const struct profile *p, unsigned percent, bool each)
{
	unsigned i;

	for (i = 0; i < BUSY; i++) {
		const struct profile_thread *t = thread_of(p, atomic_load(&busy[i].tid));
		uint64_t off;

		assert_int_equal(busy[i].wrong_errno, 0);
		if (busy[i].blocked)
			continue;
		assert_non_null(t);
		off = t->weight > busy[i].used ? t->weight - busy[i].used : busy[i].used - t->weight;
		if (each && off * 100 > busy[i].used * percent + 100 * (p->interval + tick_rest) +
					100 * (taken_away() - taken_before))
			fail_msg("thread %u: weight %llu ns, CPU clock %llu ns", i,
				 (unsigned long long)t->weight, (unsigned long long)busy[i].used);
	}
}

/* The function that burned the time stands in nearly all stacks, and under it the root. */
static void check_stacks(const struct profile *p)
{
	uint64_t in_burn = 0, complete = 0;
	uint32_t i, j;

	for (i = 0; i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];

		for (j = 0; j < s->depth; j++)
			if (strcmp(p->frames[s->frames[j]].name, "burn") == 0)
				break;
		in_burn += j < s->depth ? s->samples : 0;
	}
	complete = p->complete;
	if (in_burn * 100 < p->stored * 95 || complete * 1000 < p->stored * 995)
		fail_msg("%llu samples, %llu in burn, %llu complete", (unsigned long long)p->stored,
			 (unsigned long long)in_burn, (unsigned long long)complete);
}

static void busy_threads(const struct engine_ops *ops, uint64_t interval, const char *fail, bool each)
{
	const struct profile *p;

	holdings_take(&before);
	begin_busy(0);
	start(ops, interval, 100, fail);
	end_busy(NS_PER_S / 4);
	p = harness_stop();
	check_sums(p);
	check_nothing_lost(p);
	check_weight(p, 3, BUSY + 2);
	check_busy(p, 5, each); /* a thread on a busy machine: 3 were not enough */
	assert_true(p->stored > 20);
	check_stacks(p);
	harness_end();
	holdings_compare(&before);
}

static void perf(void **state)
{
	if (!os_perf_kernel_allowed()) {
		print_message("skipped: perf events are not permitted here\n");
		skip();
	}
	busy_threads(&engine_perf, NS_PER_MS, "", true);
}

/* Descriptors for some threads only, no rings, no permission: timers and counts take their place. */
static void perf_in_need(void **state)
{
	busy_threads(&engine_perf, NS_PER_MS, "fd", true);
	busy_threads(&engine_perf, NS_PER_MS, "ring", true);
	busy_threads(&engine_perf, 10 * NS_PER_MS, "perf", true);
}

static void ctimer(void **state)
{
	busy_threads(&engine_ctimer, 10 * NS_PER_MS, "", true);
	busy_threads(&engine_ctimer, NS_PER_MS, "", true);
}

/* Which thread's turn it is when the process's timer expires is up to the kernel. */
static void itimer(void **state)
{
	busy_threads(&engine_itimer, 10 * NS_PER_MS, "", false);
}

/* ---- losses are named ---- */

static void small_queues(void **state)
{
	const struct profile *p;

	holdings_take(&before);
	begin_busy(0);
	start(&engine_perf, 100 * NS_PER_US, 1, "");
	end_busy(NS_PER_S / 5);
	p = harness_stop();
	check_sums(p);
	if (strcmp(p->engine, "perf") == 0) {
		assert_true(p->lost[LOSS_queue_full] > 0);
		assert_true(p->queues.increments > 0 && p->queues.max_capacity > 1);
		check_weight(p, 3, BUSY + 2);
	}
	check_nothing_lost(p);
	harness_end();
	holdings_compare(&before);
}

/* Two threads that have blocked every signal: no sample, and nothing pending kills them afterwards. */
static void blocked_signals(void **state)
{
	const struct engine_ops *const all[] = {&engine_perf, &engine_ctimer};
	const struct profile *p;
	size_t i;

	for (i = 0; i < ARRAY_LEN(all); i++) {
		holdings_take(&before);
		begin_busy(2);
		start(all[i], NS_PER_MS, 100, "");
		end_busy(NS_PER_S / 20);
		begin_busy(2);
		atomic_store(&go, true);
		os_sleep(NS_PER_S / 10);
		records_scan();
		os_sleep(NS_PER_S / 10);
		p = harness_stop(); /* while they run */
		check_sums(p);
		assert_true(p->stored > 0);
		end_busy(NS_PER_S / 20);
		assert_int_equal(busy[0].wrong_errno + busy[2].wrong_errno, 0);
		harness_end();
		holdings_compare(&before);
	}
}

/* ---- threads come and go ---- */

static void *short_life(void *arg)
{
	harness_burn(2 * NS_PER_MS);
	atomic_fetch_add((_Atomic unsigned *)arg, 1);
	return NULL;
}

static void *life_by_exit(void *arg)
{
	harness_burn(2 * NS_PER_MS);
	atomic_fetch_add((_Atomic unsigned *)arg, 1);
	pthread_exit(NULL);
}

static unsigned records_in_use(void)
{
	uint32_t i, n = 0;

	for (i = 0; i < atomic_load(&zone.records.count); i++)
		n += atomic_load(&zone.records.records[i].state) != RECORD_FREE;
	return n;
}

static void churn(const struct engine_ops *ops)
{
	void *library = harness_library("lib_threads.so");
	threads_start_fn *spawn = library ? (threads_start_fn *)dlsym(library, "threads_start") : NULL;
	_Atomic unsigned lived = 0;
	const struct profile *p;
	pthread_t threads[8];
	unsigned i, j;

	assert_non_null(spawn);
	holdings_take(&before);
	start(ops, NS_PER_MS, 20, "");
	for (i = 0; i < 25; i++) {
		for (j = 0; j < ARRAY_LEN(threads); j++)
			assert_int_equal(spawn(&threads[j], j % 2 ? short_life : life_by_exit, &lived), 0);
		for (j = 0; j < ARRAY_LEN(threads); j++)
			pthread_join(threads[j], NULL);
	}
	/* Ended threads give their records back without waiting for the next look at /proc. */
	for (i = 0; i < 100 && records_in_use() > 10; i++)
		os_sleep(NS_PER_MS);
	assert_true(records_in_use() <= 10);
	p = harness_stop();
	check_sums(p);
	assert_int_equal(atomic_load(&lived), 200);
	if (ops == &engine_perf && strcmp(p->engine, "perf") == 0)
		assert_true(p->thread_count > 190); /* they were met at their beginning */
	if (ops == &engine_perf) /* timers wait for the tick, which such a thread may never see */
		check_weight(p, 10, 200);
	harness_end();
	dlclose(library);
	holdings_compare(&before);
}

static void thread_churn(void **state)
{
	churn(&engine_perf);
	churn(&engine_ctimer);
	churn(&engine_itimer);
}

/* Stopping while threads are born and die: the signal's default would kill the process. */
static atomic_bool churning;
static threads_start_fn *spawn_fn;

#define EVENT_STOPS (getenv("JSTROBE_SOAK") ? 500u : 15u)

static void *tiny(void *arg)
{
	harness_burn(NS_PER_MS / 5);
	return NULL;
}

static void *spawner(void *arg)
{
	pthread_t thread;

	while (atomic_load(&churning))
		if (spawn_fn(&thread, tiny, NULL) == 0)
			pthread_join(thread, NULL);
	return NULL;
}

static void stops_in_the_middle(void **state)
{
	void *library = harness_library("lib_threads.so");
	pthread_t threads[3];
	unsigned i;

	spawn_fn = library ? (threads_start_fn *)dlsym(library, "threads_start") : NULL;
	assert_non_null(spawn_fn);
	holdings_take(&before);
	atomic_store(&churning, true);
	for (i = 0; i < ARRAY_LEN(threads); i++)
		pthread_create(&threads[i], NULL, spawner, NULL);
	for (i = 0; i < 40; i++) {
		const struct profile *p;

		start(i % 2 ? &engine_perf : &engine_ctimer, 200 * NS_PER_US, 20, "");
		os_sleep((i % 7) * 3 * NS_PER_MS);
		p = harness_stop();
		assert_int_equal(p->taken, p->stored + lost(p));
		harness_end();
	}
	atomic_store(&churning, false);
	for (i = 0; i < ARRAY_LEN(threads); i++)
		pthread_join(threads[i], NULL);
	dlclose(library);
	holdings_compare(&before);
}

/* A handler that silenced its thread's events meanwhile does not wake them after the stop has. */
static void *faulter(void *arg)
{
	size_t size = 64 * 4096, i;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	while (atomic_load(&churning)) {
		for (i = 0; i < size; i += 4096)
			p[i] = 1;
		madvise(p, size, MADV_DONTNEED);
	}
	munmap(p, size);
	return NULL;
}

static void stops_amid_events(void **state)
{
	pthread_t threads[3];
	struct error err;
	unsigned i;

	if (!os_perf_kernel_allowed()) {
		print_message("skipped: perf events are not permitted here\n");
		skip();
	}
	holdings_take(&before);
	atomic_store(&churning, true);
	for (i = 0; i < ARRAY_LEN(threads); i++)
		pthread_create(&threads[i], NULL, faulter, NULL);
	for (i = 0; i < EVENT_STOPS; i++) {
		if (harness_start_events("page-faults", 1, 100, "", &err))
			fail_msg("%s", err.text);
		os_sleep(2 * NS_PER_MS);
		harness_stop();
		harness_end();
	}
	atomic_store(&churning, false);
	for (i = 0; i < ARRAY_LEN(threads); i++)
		pthread_join(threads[i], NULL);
	holdings_compare(&before);
}

/* ---- strangers ---- */

/* SIGPROF taken: itimer refuses; every other candidate taken: ctimer does. Nothing is changed. */
static void handler(int signo)
{
}

static void taken_signals(void **state)
{
	static const int candidates[] = {SIGSTKFLT, SIGPWR, SIGVTALRM, SIGUSR1};
	struct sigaction old[4], old_prof;
	struct error err;
	size_t i;

	old_prof.sa_handler = signal(SIGPROF, handler);
	for (i = 0; i < 4; i++)
		old[i].sa_handler = signal(candidates[i], handler);
	holdings_take(&before);
	assert_int_equal(harness_start(&engine_itimer, NS_PER_MS, 20, "", &err), -EBUSY);
	assert_non_null(strstr(err.text, "SIGPROF"));
	assert_int_equal(harness_start(&engine_ctimer, NS_PER_MS, 20, "", &err), -EBUSY);
	assert_non_null(strstr(err.text, "SIGVTALRM"));
	holdings_compare(&before);
	signal(SIGPROF, old_prof.sa_handler);
	/* One is free: that one is taken. */
	signal(SIGVTALRM, SIG_DFL);
	start(&engine_ctimer, NS_PER_MS, 20, "");
	assert_int_equal(zone.signo, SIGVTALRM);
	assert_int_equal(harness_stop()->lost[LOSS_no_record], 0);
	harness_end();
	for (i = 0; i < 4; i++)
		signal(candidates[i], old[i].sa_handler);
}

/* Our signal sent by another process is no sample: ignored stays ignored. */
static void foreign_signal(void **state)
{
	const struct profile *p;
	int i;

	signal(SIGSTKFLT, SIG_IGN);
	holdings_take(&before);
	start(&engine_ctimer, 10 * NS_PER_MS, 20, "");
	assert_int_equal(zone.signo, SIGSTKFLT);
	for (i = 0; i < 100; i++) {
		raise(SIGSTKFLT);
		kill(getpid(), SIGSTKFLT);
	}
	p = harness_stop();
	check_sums(p);
	check_nothing_lost(p);
	assert_true(p->taken < 20);
	harness_end();
	holdings_compare(&before);
	signal(SIGSTKFLT, SIG_DFL);
}

/* A child inherits no descriptor, no timer, and is not killed by our signal. */
static void children(void **state)
{
	int status;
	pid_t child;

	start(&engine_perf, NS_PER_MS, 100, "");
	harness_burn(20 * NS_PER_MS);
	child = fork();
	if (child == 0) {
		execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; "
		      "for f in /proc/$$/fd/*; do readlink $f; done | grep -q perf_event && exit 3; exit 7",
		      NULL);
		_exit(1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	harness_stop();
	harness_end();
}

/* A test that failed leaves no engine to the next one. */
static int tear_down(void **state)
{
	atomic_store(&enough, true);
	atomic_store(&churning, false);
	harness_abort();
	return 0;
}

#define T(test) cmocka_unit_test_teardown(test, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(perf),            T(perf_in_need),
		T(ctimer),          T(itimer),
		T(small_queues),    T(blocked_signals),
		T(thread_churn),    T(stops_in_the_middle),
		T(stops_amid_events), T(taken_signals),
		T(foreign_signal),  T(children),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

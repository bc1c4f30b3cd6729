/*
 * What is due to a thread comes, with the right stack and weight: however short the thread, however long it stays in
 * the kernel, whatever signal comes first, and however large the kernel's pages are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/threads/records.h"
#include "common/os/os.h"
#include "harness.h"
#include "lib_threads.h"

#define NOINLINE __attribute__((noinline))

/* ---- a kernel with larger pages ---- */

static size_t kernel_page, told_page; /* 0 = the machine's own */

/* Instead of libc's, for all code of this program. */
int getpagesize(void)
{
	return told_page ? (int)told_page : (int)sysconf(_SC_PAGESIZE);
}

#include "../large_pages.h"

static size_t large_page(void)
{
	return kernel_page;
}

/* ---- stacks ---- */

static bool has_frame(const struct profile *p, const struct profile_stack *s, const char *name)
{
	uint32_t i;

	for (i = 0; i < s->depth; i++)
		if (strcmp(p->frames[s->frames[i]].name, name) == 0)
			return true;
	return false;
}

static bool is_in_kernel(const struct profile *p, const struct profile_stack *s)
{
	uint32_t i;

	for (i = 0; i < s->depth; i++)
		if (p->frames[s->frames[i]].kind == FRAME_KERNEL)
			return true;
	return false;
}

/* Weight of the stacks with function NAME, and of those with NAME and kernel frames of a system call. */
static uint64_t weight_of(const struct profile *p, const char *name)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < p->stack_count; i++)
		sum += has_frame(p, &p->stacks[i], name) ? p->stacks[i].weight : 0;
	return sum;
}

static bool perf_is_here(void)
{
	if (os_perf_kernel_allowed())
		return true;
	print_message("skipped: perf events are not permitted here\n");
	return false;
}

static void start(const char *events, uint64_t interval, uint32_t queue, const char *fail)
{
	struct error err;

	if (harness_start_events(events, interval, queue, fail, &err))
		fail_msg("%s", err.text);
}

/* Wait until the process has used NS of CPU time: on a busy machine that takes longer. */
static void work(uint64_t ns)
{
	uint64_t until = os_process_cpu() + ns;

	while (os_process_cpu() < until)
		os_sleep(5 * NS_PER_MS);
}

static uint64_t lost_samples(const struct profile *p)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < LOSS_REASONS; i++)
		sum += p->lost[i];
	return sum;
}

/* ---- threads shorter than the interval ---- */

struct life {
	pthread_t thread;
	unsigned ms;
	uint64_t used;
};

NOINLINE static void *live(void *arg)
{
	struct life *l = arg;

	harness_burn(l->ms * NS_PER_MS);
	l->used = os_thread_cpu(os_gettid());
	return NULL;
}

#define LIVES 700 /* of 2 to 6 ms: 280 samples at 10 ms */

/* Newton's, three digits and more. */
static double root(double x)
{
	double y = x > 1 ? x : 1;
	int i;

	for (i = 0; i < 40; i++)
		y = (y + x / y) / 2;
	return y;
}

static void short_threads_of(const char *event, const char *fail, double most)
{
	void *library = harness_library("lib_threads.so");
	threads_start_fn *spawn = library ? (threads_start_fn *)dlsym(library, "threads_start") : NULL;
	const struct profile *p;
	uint64_t truth = 0, weight;
	struct life l[2];
	double off, chance;
	unsigned i, j;

	assert_non_null(spawn);
	start(event, 10 * NS_PER_MS, 0, fail);
	for (i = 0; i < LIVES; i += 2) {
		for (j = 0; j < 2; j++) {
			l[j].ms = 2 + (i / 2 * 2 + j) % 5;
			assert_int_equal(spawn(&l[j].thread, live, &l[j]), 0);
		}
		for (j = 0; j < 2; j++) {
			pthread_join(l[j].thread, NULL);
			truth += l[j].used;
		}
	}
	p = harness_stop();
	weight = weight_of(p, "live") + harness_lost_weight(p);
	assert_int_equal(p->taken, p->stored + lost_samples(p));
	off = fabs((double)weight / (double)truth - 1);
	chance = 1 / root((double)truth / (10 * NS_PER_MS));
	print_message("%s %s: %d threads of 2 to 6 ms: %.0f ms of %.0f, %llu samples\n", event, fail, LIVES,
		      (double)weight / 1e6, (double)truth / 1e6, (unsigned long long)p->stored);
	if (off > most + 5 * chance)
		fail_msg("%s: weight %llu, CPU time %llu", event, (unsigned long long)weight,
			 (unsigned long long)truth);
	harness_end();
	dlclose(library);
}

static void short_threads(void **state)
{
	if (perf_is_here()) {
		short_threads_of("cpu", "", 0);
		short_threads_of("cpu", "ring", 0);
	}
	short_threads_of("ctimer", "", 0.2);
	short_threads_of("itimer", "", 0.1);
}

/* ---- threads that end before their first sample, while each page fault sends a signal ---- */

#define FAULTS 20u /* that a thread makes afterwards: the event is there */

static void *nothing(void *arg)
{
	return arg;
}

/* The same fault in a program's own code, with a ring of its own: see calm() in agent/sample/perf_samples.c. */
static void *own_ring(void *arg)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_DUMMY, .disabled = 1,
	};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	struct perf_event_mmap_page *ring = fd < 0 ? MAP_FAILED :
					    mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (ring == MAP_FAILED)
		return NULL;
	*(volatile __u64 *)&ring->data_tail = 0;
	munmap(ring, 2 * page);
	close(fd);
	return arg;
}

/* See touch() in common/os/perf_event.c: such a thread never got out of its last look into its ring. */
static void page_faults_at_the_end(void **state)
{
	void *library = harness_library("lib_threads.so");
	threads_start_fn *spawn = library ? (threads_start_fn *)dlsym(library, "threads_start") : NULL;
	static const char *const events[] = {"cpu,page-faults@1", "page-faults,cpu"};
	struct timespec limit;
	volatile char *pages;
	pthread_t thread;
	unsigned i, j;
	void *result;

	assert_non_null(spawn);
	for (i = 0; perf_is_here() && i < ARRAY_LEN(events); i++) {
		start(events[i], i ? 1 : NS_PER_S, 0, ""); /* of the first, as what is taken */
		for (j = 0; j < 300; j++) {
			assert_int_equal(spawn(&thread, j < 290 ? nothing : own_ring, state), 0);
			clock_gettime(CLOCK_REALTIME, &limit);
			limit.tv_sec += 20;
			if (pthread_timedjoin_np(thread, &result, &limit))
				fail_msg("%s: thread %u does not end", events[i], j);
			assert_ptr_equal(result, state);
		}
		pages = mmap(NULL, FAULTS * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_ptr_not_equal((void *)pages, MAP_FAILED);
		madvise((void *)pages, FAULTS * 4096, MADV_NOHUGEPAGE);
		for (j = 0; j < FAULTS; j++)
			pages[j * 4096] = 1;
		assert_true(harness_stop()->taken >= (i == 0 ? 0 : FAULTS));
		munmap((void *)pages, FAULTS * 4096);
		harness_end();
	}
	dlclose(library);
}

/* ---- system calls longer than many intervals ---- */

#define FILE_BYTES (48u << 20)

static atomic_bool enough;
static char *room;
static int file;

NOINLINE static void in_kernel(void)
{
	ssize_t n = pread(file, room, FILE_BYTES, 0);

	if (n != (ssize_t)FILE_BYTES)
		print_message("pread: %zd\n", n);
	__asm__ volatile("" ::: "memory");
}

NOINLINE static void in_user(uint64_t ns)
{
	harness_burn(ns);
	__asm__ volatile("" ::: "memory");
}

static uint64_t kernel_time, user_time;

static void *long_calls(void *arg)
{
	uint64_t user_ns = *(uint64_t *)arg;

	while (!atomic_load(&enough)) {
		uint64_t begin = os_thread_cpu(os_gettid()), middle;

		in_kernel();
		middle = os_thread_cpu(os_gettid());
		in_user(user_ns);
		kernel_time += middle - begin;
		user_time += os_thread_cpu(os_gettid()) - middle;
	}
	return NULL;
}

static void make_file(void)
{
	file = memfd_create("long", MFD_CLOEXEC);
	assert_true(file >= 0);
	room = malloc(FILE_BYTES);
	memset(room, 1, FILE_BYTES);
	assert_int_equal(write(file, room, FILE_BYTES), FILE_BYTES);
}

/* With user phases so short, and so long, that the call's time would go to them, were it lost. */
static void long_calls_of(uint64_t interval, uint64_t user_ns, uint32_t queue, bool overflows)
{
	const struct profile *p;
	uint64_t in_call, all;
	pthread_t thread;
	double known, seen;

	atomic_store(&enough, false);
	kernel_time = user_time = 0;
	start("cpu", interval, queue, "");
	assert_int_equal(pthread_create(&thread, NULL, long_calls, &user_ns), 0);
	records_scan();
	work(3 * NS_PER_S / 2);
	atomic_store(&enough, true);
	pthread_join(thread, NULL);
	p = harness_stop();
	in_call = weight_of(p, "in_kernel");
	all = in_call + weight_of(p, "in_user");
	known = (double)kernel_time / (double)(kernel_time + user_time);
	seen = (double)in_call / (double)all;
	print_message("interval %llu us: in the call %.1f %% of %.1f, %llu taken, %llu stored, ring_full %llu, "
		      "queue_full %llu\n", (unsigned long long)(interval / 1000), 100 * seen, 100 * known,
		      (unsigned long long)p->taken, (unsigned long long)p->stored,
		      (unsigned long long)p->lost[LOSS_ring_full], (unsigned long long)p->lost[LOSS_queue_full]);
	assert_int_equal(p->taken, p->stored + lost_samples(p));
	assert_true(fabs(seen - known) < 0.05);
	assert_true(harness_lost_weight(p) * 20 < all);
	if (overflows)
		assert_true(p->lost[LOSS_ring_full] > 0);
	harness_end();
}

static void long_system_calls(void **state)
{
	if (!perf_is_here())
		skip();
	make_file();
	long_calls_of(100 * NS_PER_US, 8 * NS_PER_MS, 2000, true);
	long_calls_of(200 * NS_PER_US, NS_PER_MS, 200, false);
	long_calls_of(500 * NS_PER_US, 8 * NS_PER_MS, 200, false);
	close(file);
	free(room);
}

/* ---- two sources, one signal ---- */

NOINLINE static void reading(void)
{
	ssize_t n = read(file, room, 8 << 20);

	if (n < 0)
		print_message("read: %s\n", strerror(errno));
	__asm__ volatile("" ::: "memory");
}

NOINLINE static void computing(void)
{
	volatile uint64_t x = 1;
	int i;

	for (i = 0; i < 700000; i++)
		x = x * 3 + 1;
}

static void *both(void *arg)
{
	while (!atomic_load(&enough)) {
		reading();
		computing();
	}
	return NULL;
}

/* A thread that blocks its signals for some time, and takes them in another place. */
static void *at_times(void *arg)
{
	sigset_t all;

	sigfillset(&all);
	while (!atomic_load(&enough)) {
		pthread_sigmask(SIG_BLOCK, &all, NULL);
		reading();
		computing();
		pthread_sigmask(SIG_UNBLOCK, &all, NULL);
		computing();
	}
	return NULL;
}

static void no_mixture_of(const char *events, uint64_t interval, void *(*body)(void *), unsigned threads)
{
	const struct profile *p;
	uint64_t mixed = 0, kernel = 0;
	pthread_t thread[8];
	uint32_t i;

	atomic_store(&enough, false);
	file = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	room = calloc(1, 8 << 20);
	for (i = 0; i < threads; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, body, NULL), 0);
	start(events, interval, 200, "");
	work(3 * NS_PER_S);
	p = harness_stop();
	atomic_store(&enough, true);
	for (i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];

		if (!is_in_kernel(p, s))
			continue;
		kernel += s->samples;
		/* what a computing thread does in the kernel it was interrupted for, it did not ask for */
		mixed += has_frame(p, s, "computing") && (has_frame(p, s, "read_zero") || has_frame(p, s, "vfs_read") ||
							  has_frame(p, s, "read_iter_zero"))
				 ? s->samples : 0;
	}
	print_message("%s, %u threads: %llu samples, %llu with kernel frames, %llu impossible, signal_late %llu\n",
		      events, threads, (unsigned long long)p->stored, (unsigned long long)kernel,
		      (unsigned long long)mixed, (unsigned long long)p->lost[LOSS_signal_late]);
	assert_int_equal(p->taken, p->stored + lost_samples(p));
	assert_true(p->stored > 1000);
	assert_int_equal(mixed, 0);
	harness_end();
	close(file);
	free(room);
}

static void no_mixtures(void **state)
{
	if (!perf_is_here())
		skip();
	no_mixture_of("cpu,wall@1000000", 100 * NS_PER_US, both, 1);
	no_mixture_of("cpu,wall@1000000", 1000 * NS_PER_US, both, 4);
	no_mixture_of("cpu", 500 * NS_PER_US, at_times, 2);
}

/* ---- pages ---- */

static void *spin(void *arg)
{
	while (!atomic_load(&enough))
		computing();
	return NULL;
}

static void large_pages(void **state)
{
	/* what the kernel has, and what we are told: last, as if all pages had 4 KB; then there is no room for data */
	static const size_t sizes[][2] = {{16384, 16384}, {65536, 65536}, {65536, 4096}};
	const struct profile *p;
	pthread_t thread;
	size_t i;

	if (!perf_is_here())
		skip();
	for (i = 0; i < ARRAY_LEN(sizes); i++) {
		kernel_page = sizes[i][0];
		told_page = sizes[i][1];
		atomic_store(&enough, false);
		assert_int_equal(pthread_create(&thread, NULL, spin, NULL), 0);
		start("cpu", NS_PER_MS, 100, "");
		work(NS_PER_S / 2);
		p = harness_stop();
		atomic_store(&enough, true);
		pthread_join(thread, NULL);
		kernel_page = told_page = 0;
		print_message("pages of %zu, told %zu: %llu samples\n", sizes[i][0], sizes[i][1],
			      (unsigned long long)p->stored);
		assert_true(p->stored > 300);
		/* without room for data, 22 % of the time were in no sample on a busy machine */
		assert_true(weight_of(p, "computing") * 100 >
			    p->cpu_time * (sizes[i][1] == sizes[i][0] ? 80 : 60));
		harness_end();
	}
}

static int tear_down(void **state)
{
	atomic_store(&enough, true);
	kernel_page = told_page = 0;
	harness_abort();
	return 0;
}

#define T(test) cmocka_unit_test_teardown(test, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(short_threads), T(page_faults_at_the_end), T(long_system_calls), T(no_mixtures), T(large_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

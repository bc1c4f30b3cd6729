/*
 * What is due to a thread comes, with the right stack and weight, however large the kernel's pages are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness.h"
#include "os/os.h"

#define NOINLINE __attribute__((noinline))

/* ---- a kernel with larger pages ---- */

static size_t kernel_page, told_page; /* 0 = the machine's own */

/* Instead of libc's, for all code of this program. */
int getpagesize(void)
{
	return told_page ? (int)told_page : (int)sysconf(_SC_PAGESIZE);
}

static bool is_perf(int fd)
{
	char link[64], name[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, name, sizeof(name));
	return n > 0 && memmem(name, (size_t)n, "perf_event", 10);
}

/* The ring of a kernel with such pages: what is asked for is rounded up to whole ones, the first one holds no data. */
void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	size_t real = (size_t)sysconf(_SC_PAGESIZE);

	if (kernel_page && fd >= 0 && is_perf(fd)) {
		/* all of it is this mapping's, also what munmap() is told that is not there here */
		bytes = (bytes + kernel_page - 1) / kernel_page * kernel_page;
		address = (void *)syscall(SYS_mmap, NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		bytes += real - kernel_page;
		flags |= MAP_FIXED;
	}
	return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
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

/* Weight of the stacks with function NAME. */
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

/* ---- pages ---- */

static atomic_bool enough;

NOINLINE static void computing(void)
{
	volatile uint64_t x = 1;
	int i;

	for (i = 0; i < 700000; i++)
		x = x * 3 + 1;
}

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
		assert_true(weight_of(p, "computing") * 10 > p->cpu_time * 9);
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
		T(large_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

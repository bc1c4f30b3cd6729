/* What a target wrote is made safe to show: as much as there was when it was measured, and until a signal comes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/result.h"

#define SIZE (32 << 20)
#define LONGER (256ll << 20)
#define BEGUN (10 * NS_PER_MS) /* of CPU time: it has measured by then, and has not ended */

static struct error err;

static uint64_t cpu_time(clockid_t clock)
{
	struct timespec ts;

	assert_int_equal(clock_gettime(clock, &ts), 0);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* A result of SIZE bytes, to be shown in the file SHOWN. */
static struct result written(int shown)
{
	struct result r = RESULT_INIT;
	char *bytes = malloc(SIZE);
	size_t at;

	assert_non_null(bytes);
	for (at = 0; at < SIZE; at += 64) {
		memset(bytes + at, 'x', 63);
		bytes[at + 63] = '\n';
	}
	r.fd = memfd_create("test", MFD_CLOEXEC);
	assert_int_equal(write(r.fd, bytes, SIZE), SIZE);
	free(bytes);
	r.copy = r.shown = true;
	r.place = (struct output){.kind = OUTPUT_OPEN, .fd = dup(shown), .folder = -1, .type = S_IFREG};
	return r;
}

static off_t size_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_size;
}

static uint64_t keep(struct result *r, int wake, int expected)
{
	uint64_t begun = cpu_time(CLOCK_THREAD_CPUTIME_ID);

	assert_int_equal(result_keep(r, wake, &err), expected);
	return cpu_time(CLOCK_THREAD_CPUTIME_ID) - begun;
}

static void called_off(void **state)
{
	int shown = memfd_create("shown", MFD_CLOEXEC), signals = signals_open(&err), ends = signals_interrupts();
	struct result r = written(shown);
	uint64_t whole;
	bool from_terminal;

	/* a program that record started has ended, and no one has read that yet: the result is written all the same */
	assert_int_equal(kill(getpid(), SIGCHLD), 0);
	whole = keep(&r, ends, 0);
	assert_int_equal(size_of(shown), SIZE);
	assert_int_equal(signals_next(signals, &from_terminal), SIGCHLD);
	assert_int_equal(ftruncate(shown, 0), 0);
	assert_int_equal(kill(getpid(), SIGTERM), 0); /* held back, to be read */
	r = written(shown);
	/* it does not even make all of it safe */
	assert_true(keep(&r, ends, -EINTR) < whole / 4);
	assert_int_equal(size_of(shown), 0);
	assert_int_equal(signals_next(signals, &from_terminal), SIGTERM);
	signals_restore();
	close(signals);
	close(shown);
}

struct target {
	clockid_t command;
	uint64_t begun;
	int fd;
};

static void *make_it_longer(void *arg)
{
	struct target *t = arg;

	while (cpu_time(t->command) < t->begun + BEGUN)
		usleep(100);
	if (ftruncate(t->fd, LONGER))
		abort();
	return NULL;
}

static void grows_meanwhile(void **state)
{
	int shown = memfd_create("shown", MFD_CLOEXEC);
	struct result r = written(shown);
	struct target t = {.fd = dup(r.fd)};
	pthread_t thread;

	assert_int_equal(pthread_getcpuclockid(pthread_self(), &t.command), 0);
	t.begun = cpu_time(t.command);
	assert_int_equal(pthread_create(&thread, NULL, make_it_longer, &t), 0);
	keep(&r, -1, 0);
	/* the thread ends also if it was quicker */
	while (cpu_time(t.command) < t.begun + BEGUN)
		;
	pthread_join(thread, NULL);
	assert_int_equal(size_of(shown), SIZE);
	close(t.fd);
	close(shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(called_off), cmocka_unit_test(grows_meanwhile)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

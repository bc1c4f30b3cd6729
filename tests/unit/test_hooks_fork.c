/* Children of fork() without exec are left alone: not sampled, never held up, and they keep nothing of ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/hooks/child.h"
#include "agent/command/trigger.h"
#include "agent/sources/active.h"
#include "agent/threads/records.h"
#include "common/os/os.h"
#include "harness.h"
#include "lib_threads.h"

#define STORM 2

enum { QUIET, SAMPLED, HAS_EVENTS, HAS_TIMERS, NOT_PASSED, OTHER_ACTION, SOCKET_OPEN, NO_THREAD, GRANDCHILD };

static threads_start_fn *spawn;
static int sockets[2] = {-1, -1}; /* the first one is jstrobe's */

/* ---- in the child ---- */

static unsigned events_held(void)
{
	char path[300], target[64];
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	unsigned n = 0;

	while (dir && (entry = readdir(dir)) != NULL) {
		ssize_t length;

		snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
		length = readlink(path, target, sizeof(target) - 1);
		target[length > 0 ? length : 0] = '\0';
		n += strstr(target, "perf_event") != NULL;
	}
	closedir(dir);
	return n;
}

static bool has_timers(void)
{
	int fd = open("/proc/self/timers", O_RDONLY);
	char byte;
	bool some = fd >= 0 && read(fd, &byte, 1) == 1;

	close(fd);
	return some;
}

/* All that the handler ever noted, in this process's memory. */
static uint64_t noted(void)
{
	uint32_t i, e, count = atomic_load(&zone.records.count);
	uint64_t sum = 0;

	for (e = 0; e < RECORD_EVENTS; e++) {
		for (i = 0; i < count; i++)
			sum += atomic_load(&zone.records.records[i].lost[e].taken);
		for (i = 0; i < LOSS_REASONS; i++)
			sum += atomic_load(&zone.lost_count[e][i]);
	}
	return sum;
}

static void *burns(void *arg)
{
	harness_burn(30 * NS_PER_MS);
	return arg;
}

static void *nothing(void *arg)
{
	return arg;
}

static bool run_thread(void *(*routine)(void *))
{
	pthread_t thread;
	void *result = NULL;

	return spawn(&thread, routine, &sockets) == 0 && pthread_join(thread, &result) == 0 && result == &sockets;
}

/* A child that does what programs do; its exit status tells what was wrong. WHOLE: look at what it holds, too. */
static int live(bool whole)
{
	uint32_t records = atomic_load(&zone.records.count);
	uint64_t before = noted();
	struct sigaction action;

	harness_burn(30 * NS_PER_MS);
	if (!run_thread(burns) || !run_thread(burns))
		return NO_THREAD;
	if (noted() != before || atomic_load(&zone.records.count) != records)
		return SAMPLED;
	if (!whole)
		return QUIET;
	if (events_held())
		return HAS_EVENTS;
	if (has_timers())
		return HAS_TIMERS;
	if (sigaction(zone.signo, NULL, &action) || action.sa_handler != SIG_DFL)
		return OTHER_ACTION;
	if (sockets[1] >= 0 && (fcntl(sockets[0], F_GETFD) >= 0 || fcntl(sockets[1], F_GETFD) < 0))
		return SOCKET_OPEN;
	return QUIET;
}

/* ---- in the parent ---- */

/* Its exit status; a child that is still there after a minute hangs. */
static int end_of(pid_t child)
{
	int status = -1, i;

	assert_true(child > 0);
	for (i = 0; i < 12000; i++) {
		if (waitpid(child, &status, WNOHANG) == child) {
			assert_true(WIFEXITED(status));
			return WEXITSTATUS(status);
		}
		os_sleep(5 * NS_PER_MS);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	fail_msg("a child hangs");
	return -1;
}

static pid_t fork_past_libc(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

/* A thread of ours may be just opening or closing an event when a child is made: not each time. */
static int end_of_one(void)
{
	int i, end = HAS_EVENTS;
	pid_t child;

	for (i = 0; i < 10 && end == HAS_EVENTS; i++) {
		child = fork();
		if (!child)
			_exit(live(true));
		end = end_of(child);
	}
	return end;
}

static void children_of(const char *events)
{
	struct error err;
	pid_t child, grandchild;

	if (harness_start_events(events, NS_PER_MS, 0, NULL, &err))
		fail_msg("%s: %s", events, err.text);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
	child_closes(sockets[0]);
	assert_int_equal(end_of_one(), QUIET);
	child = fork();
	if (!child) {
		grandchild = fork();
		if (!grandchild)
			_exit(live(false));
		_exit(end_of(grandchild) == QUIET ? QUIET : GRANDCHILD);
	}
	assert_int_equal(end_of(child), QUIET);
	/* libc knows nothing of this one: that nothing happens in it is all that can be had */
	child = fork_past_libc();
	if (!child)
		_exit(live(false));
	assert_int_equal(end_of(child), QUIET);
	/* and we are still sampled */
	harness_burn(50 * NS_PER_MS);
	close(sockets[0]);
	close(sockets[1]);
	sockets[0] = sockets[1] = -1;
	assert_true(harness_stop()->stored > 0);
	harness_end();
}

static void left_alone(void **state)
{
	children_of("cpu");
	children_of("ctimer");
	children_of("wall");
	children_of("itimer");
	children_of("itimer,wall");
}

/* The signal of a result (onsignal) is another's in a child: its default ends it, as it does without us. */
static void signal_of_results(void **state)
{
	const struct options o = {.on_signal = SIGUSR2};
	struct sigaction action;
	struct error err;
	int status = 0, i;
	pid_t child;

	for (i = 0; i < 2; i++) {
		assert_int_equal(trigger_begin(&o, true, &err), 0);
		assert_int_equal(sigaction(SIGUSR2, NULL, &action), 0);
		assert_true(action.sa_flags & SA_SIGINFO);
		child = fork();
		if (!child) {
			kill(getpid(), SIGUSR2);
			_exit(OTHER_ACTION);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR2);
		/* past libc's fork() it is silent */
		child = fork_past_libc();
		if (!child) {
			kill(getpid(), SIGUSR2);
			_exit(trigger_fired() ? OTHER_ACTION : QUIET);
		}
		assert_int_equal(end_of(child), QUIET);
		assert_false(trigger_fired());
		trigger_end();
		assert_int_equal(sigaction(SIGUSR2, NULL, &action), 0);
		assert_true(action.sa_handler == SIG_DFL);
	}
	/* what is given back here is no business of children's: this one has the program's own action */
	signal(SIGUSR2, SIG_IGN);
	child = fork();
	if (!child) {
		kill(getpid(), SIGUSR2);
		_exit(QUIET);
	}
	assert_int_equal(end_of(child), QUIET);
	signal(SIGUSR2, SIG_DFL);
}

/* ---- while our locks are held ---- */

static pid_t forked;

static void fork_here(struct thread_record *r)
{
	(void)r;
	if (!forked)
		forked = fork();
	if (!forked)
		_exit(run_thread(nothing) ? QUIET : NO_THREAD);
}

static void records_locked(void **state)
{
	struct error err;

	assert_int_equal(harness_start_events("ctimer", 10 * NS_PER_MS, 0, NULL, &err), 0);
	forked = 0;
	records_each(fork_here);
	assert_int_equal(end_of(forked), QUIET);
	harness_stop();
	harness_end();
}

static atomic_bool enough;

static void *churns(void *arg)
{
	while (!atomic_load(&enough))
		run_thread(nothing);
	return NULL;
}

static void in_a_storm(void **state)
{
	int i, rounds = getenv("JSTROBE_SOAK") ? 2000 : 100;
	pthread_t storm[STORM];
	struct error err;

	assert_int_equal(harness_start_events("cpu,wall", 5 * NS_PER_MS, 0, NULL, &err), 0);
	atomic_store(&enough, false);
	for (i = 0; i < STORM; i++)
		pthread_create(&storm[i], NULL, churns, NULL);
	for (i = 0; i < rounds; i++) {
		pid_t child = fork();

		if (!child)
			_exit(run_thread(nothing) ? QUIET : NO_THREAD);
		assert_int_equal(end_of(child), QUIET);
	}
	atomic_store(&enough, true);
	for (i = 0; i < STORM; i++)
		pthread_join(storm[i], NULL);
	harness_stop();
	harness_end();
}

/* ---- one that outlives the session ---- */

/* Its descriptors must not keep the parent's events alive: the signal would kill it by then. */
static void outlives_the_session(void **state)
{
	struct error err;
	int door[2];
	pid_t child;
	char byte;

	assert_int_equal(pipe(door), 0);
	assert_int_equal(harness_start_events("cpu", NS_PER_MS, 0, NULL, &err), 0);
	child = fork();
	if (!child) {
		close(door[1]);
		_exit(read(door[0], &byte, 1) == 0 ? live(false) : OTHER_ACTION);
	}
	harness_stop();
	harness_end();
	harness_burn(50 * NS_PER_MS);
	close(door[0]);
	close(door[1]);
	assert_int_equal(end_of(child), QUIET);
}

static int load(void **state)
{
	spawn = (threads_start_fn *)dlsym(harness_library("lib_threads.so"), "threads_start");
	return spawn ? 0 : -1;
}

/* AddressSanitizer's allocator takes locks that no child ever gets if another thread has them at that moment. */
#ifdef __SANITIZE_ADDRESS__
static void not_here(void **state)
{
	skip();
}
#define T(test) {#test, not_here, NULL, NULL, (void *)test}
#else
#define T(test) cmocka_unit_test(test)
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(left_alone), T(signal_of_results),
		T(records_locked),
		T(in_a_storm),
		T(outlives_the_session),
	};

	return cmocka_run_group_tests(tests, load, NULL);
}

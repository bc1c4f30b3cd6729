/* Several copies of the library in one process: none stands in another's way, and nothing of them stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/os/os.h"
#include "copy/copy.h"
#include "harness.h"
#include "int1.h"
#include "lib_threads.h"
#include "slots.h"

#define COPIES 4
#define STORM 2 /* threads that start others */

static struct copy_api {
	int (*start)(const char *events, char *reason, size_t size);
	void (*stop)(void);
	bool (*knows)(void);
	void (*listen)(bool on);
	bool (*mark)(const char *type, const char *text);
	unsigned long (*read)(char *out, size_t size);
} copies[COPIES];

static threads_start_fn *spawn;
static struct holdings *before;
static char *slots_before;

/* FILE of the folder of this program, copied to TO. */
static void copy_file(const char *file, const char *to)
{
	char command[9000], path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(n > 0);
	path[n] = '\0';
	*strrchr(path, '/') = '\0';
	snprintf(command, sizeof(command), "cp '%s/%s' '%s'", path, file, to);
	assert_int_equal(system(command), 0);
}

static void load_copy(struct copy_api *c, const char *folder, int number)
{
	char path[4200];
	void *library;

	snprintf(path, sizeof(path), "%s/copy-%d.so", folder, number);
	copy_file("libcopy.so", path);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		fail_msg("%s", dlerror());
	unlink(path);
	c->start = (int (*)(const char *, char *, size_t))dlsym(library, "copy_start");
	c->stop = (void (*)(void))dlsym(library, "copy_stop");
	c->knows = (bool (*)(void))dlsym(library, "copy_knows");
	c->listen = (void (*)(bool))dlsym(library, "copy_listen");
	c->mark = (bool (*)(const char *, const char *))dlsym(library, "copy_mark");
	c->read = (unsigned long (*)(char *, size_t))dlsym(library, "copy_read");
	assert_true(c->start && c->stop && c->knows && c->listen && c->mark && c->read);
}

static void start(int i, const char *events)
{
	char reason[300];

	if (copies[i].start(events, reason, sizeof(reason)))
		fail_msg("copy %d: %s", i, reason);
}

static int load_all(void **state)
{
	char folder[] = "/tmp/jstrobe-copies-XXXXXX";
	int i;

	assert_non_null(mkdtemp(folder));
	spawn = (threads_start_fn *)dlsym(harness_library("lib_threads.so"), "threads_start");
	assert_non_null(spawn);
	for (i = 0; i < COPIES; i++)
		load_copy(&copies[i], folder, i);
	rmdir(folder);
	/* what a first session leaves for good: keys, tables, the like */
	for (i = 0; i < COPIES; i++) {
		start(i, "wall");
		copies[i].stop();
	}
	before = malloc(sizeof(*before));
	holdings_take(before);
	slots_before = slots_of("pthread_create");
	return 0;
}

static void as_before(void)
{
	char *now = slots_of("pthread_create");

	assert_string_equal(now, slots_before);
	free(now);
	holdings_compare(before);
}

/* ---- who knows a new thread ---- */

static unsigned known; /* bit I: copy I */

static void *ask(void *arg)
{
	int i;

	for (i = 0, known = 0; i < COPIES; i++)
		known |= (unsigned)copies[i].knows() << i;
	return NULL;
}

static unsigned known_at_birth(void)
{
	pthread_t thread;

	assert_int_equal(spawn(&thread, ask, NULL), 0);
	pthread_join(thread, NULL);
	return known;
}

/* Started in the order of FIRST, stopped in that of LAST: each knows all threads from their first instruction on. */
static void in_order(const int *first, const int *last)
{
	unsigned running = 0;
	int i;

	for (i = 0; i < COPIES; i++) {
		start(first[i], i % 2 ? "wall" : "ctimer");
		running |= 1u << first[i];
		assert_int_equal(known_at_birth(), running);
	}
	for (i = 0; i < COPIES; i++) {
		copies[last[i]].stop();
		running &= ~(1u << last[i]);
		assert_int_equal(known_at_birth(), running);
	}
	as_before();
}

static void any_order(void **state)
{
	static const int orders[][COPIES] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}};
	size_t i, j;

	for (i = 0; i < ARRAY_LEN(orders); i++)
		for (j = 0; j < ARRAY_LEN(orders); j++)
			in_order(orders[i], orders[j]);
}

/* One goes and comes again while others stay. */
static void again(void **state)
{
	int i;

	for (i = 0; i < COPIES; i++)
		start(i, "ctimer");
	for (i = 0; i < 3 * COPIES; i++) {
		copies[i % COPIES].stop();
		start(i % COPIES, "wall");
		assert_int_equal(known_at_birth(), (1u << COPIES) - 1);
	}
	for (i = 0; i < COPIES; i++)
		copies[i].stop();
	as_before();
}

static void *nothing(void *arg)
{
	return arg;
}

/* ---- breakpoints ---- */

static bool has_default(int signo)
{
	struct sigaction now;

	assert_int_equal(sigaction(signo, NULL, &now), 0);
	return !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL;
}

/* Each has a handler of SIGTRAP while it has breakpoints; the last one to go takes along those that stayed behind it. */
static void breakpoints(void **state)
{
	static const int last[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}};
	char event[64], reason[300];
	bool without_cause = false;
	size_t order;
	int i;

	snprintf(event, sizeof(event), "mem:0x%lx:x", (unsigned long)(uintptr_t)nothing);
	if (copies[0].start(event, reason, sizeof(reason))) {
		print_message("SKIP: no breakpoints here: %s\n", reason);
		skip();
	}
	copies[0].stop();
#if defined(__x86_64__)
	without_cause = int1_ends();
#endif
	for (order = 0; order < ARRAY_LEN(last); order++) {
		for (i = 0; i < 3; i++)
			start(i, event);
		for (i = 0; i < 3; i++) {
			assert_false(has_default(SIGTRAP));
#if defined(__x86_64__)
			if (without_cause)
				__asm__ volatile(".byte 0xf1"); /* as an exception whose cause is lost */
#endif
			assert_int_equal(known_at_birth(), i == 0 ? 7 : 7 & ~((1u << last[order][0]) |
					 (i == 2 ? 1u << last[order][1] : 0)));
			copies[last[order][i]].stop();
		}
		assert_true(has_default(SIGTRAP));
		as_before();
	}
}

/* ---- what the program marks ---- */

static int rounds(void)
{
	return getenv("JSTROBE_SOAK") ? 500 : 20;
}

static void reads(int i, const char *marks)
{
	char text[4096];

	assert_int_equal(copies[i].read(text, sizeof(text)), 0);
	assert_string_equal(text, marks);
}

/* By whatever copy it marks, and in whatever order they came: all that listen have it, by the type's name. */
static void marks_reach_each_copy(void **state)
{
	int i, round, status;
	pid_t child;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < COPIES; i++)
			assert_false(copies[i].mark(NULL, "none listens"));
		copies[2].listen(true);
		for (i = 0; i < COPIES; i++)
			assert_true(copies[i].mark(i == 3 ? "type of 3" : i == 1 ? "of 1" : NULL, "one"));
		copies[0].listen(true);
		copies[0].listen(true); /* two recordings of one copy */
		assert_true(copies[3].mark("of 1", "two"));
		assert_true(copies[0].mark("of 1", "three"));
		copies[2].listen(false);
		copies[0].listen(false);
		assert_true(copies[1].mark(NULL, "four"));
		reads(0, "of 1=two of 1=three span=four ");
		reads(1, "");
		reads(2, "");
		copies[2].listen(true);
		assert_true(copies[2].mark(NULL, "five"));
		reads(2, "span=five ");
		reads(0, "span=five ");
		assert_true(copies[1].mark("of 1", "six"));
		reads(2, "of 1=six ");
		copies[2].listen(false);
		copies[0].listen(false);
		reads(0, "");
	}
	/* a child of a process that had sessions is left alone, whatever copy it marks by */
	copies[1].listen(true);
	assert_true(copies[3].mark(NULL, "parent"));
	child = fork();
	if (child == 0)
		_exit(copies[3].mark(NULL, "child") || copies[1].mark(NULL, "child"));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	reads(1, "span=parent ");
	copies[1].listen(false);
	as_before();
}

static atomic_bool marking;
static _Atomic unsigned taken[COPIES]; /* marks by each that a copy listened to */

static void *marks_without_end(void *arg)
{
	int own = (int)(intptr_t)arg;

	while (atomic_load(&marking))
		atomic_fetch_add(&taken[own], copies[own].mark(own % 2 ? "type" : NULL, "while others come and go"));
	return NULL;
}

static void *listens_and_goes(void *arg)
{
	struct copy_api *c = arg;
	char text[4096];
	int i;

	for (i = 0; i < 100 * rounds(); i++) {
		c->listen(true);
		if (i % 8 == 0)
			c->read(text, sizeof(text));
		c->listen(false);
	}
	return NULL;
}

static void listeners_come_and_go(void **state)
{
	uint64_t limit = os_monotonic() + 60 * NS_PER_S;
	pthread_t marker[COPIES], listener[COPIES];
	int i;

	atomic_store(&marking, true);
	for (i = 0; i < COPIES; i++) {
		pthread_create(&marker[i], NULL, marks_without_end, (void *)(intptr_t)i);
		pthread_create(&listener[i], NULL, listens_and_goes, &copies[i]);
	}
	for (i = 0; i < COPIES; i++)
		pthread_join(listener[i], NULL);
	for (i = 0; i < COPIES; i++)
		assert_int_equal(copies[i].mark(NULL, "none"), 0);
	for (i = 0; i < COPIES; i++)
		atomic_store(&taken[i], 0);
	copies[3].listen(true);
	for (i = 0; i < COPIES && os_monotonic() < limit; i += atomic_load(&taken[i]) != 0)
		os_sleep(NS_PER_MS);
	atomic_store(&marking, false);
	for (i = 0; i < COPIES; i++) {
		pthread_join(marker[i], NULL);
		assert_int_not_equal(taken[i], 0);
	}
	copies[3].listen(false);
	as_before();
}

/* ---- all at the same moment ---- */

static atomic_bool enough;
static pthread_barrier_t together;
static _Atomic int ran;

static void *starts_threads(void *arg)
{
	pthread_t thread;

	while (!atomic_load(&enough))
		if (spawn(&thread, nothing, NULL) == 0)
			pthread_join(thread, NULL);
	return NULL;
}

static void *loads_libraries(void *arg)
{
	while (!atomic_load(&enough)) {
		void *library = harness_library("lib_threads_lazy.so");
		threads_start_fn *its = (threads_start_fn *)dlsym(library, "threads_start");
		pthread_t thread;

		if (its(&thread, nothing, NULL) == 0)
			pthread_join(thread, NULL);
		dlclose(library);
	}
	return NULL;
}

/* Refusals are in order: signals may run out where the machine runs other things on them. */
static void *starts_and_stops(void *arg)
{
	static const char *const events[] = {"cpu", "wall", "ctimer", "cpu,wall"};
	int own = (int)(intptr_t)arg, i;
	char reason[300];

	for (i = 0; i < rounds(); i++) {
		pthread_barrier_wait(&together);
		if (copies[own].start(events[(own + i) % 4], reason, sizeof(reason)))
			continue;
		atomic_fetch_add(&ran, 1);
		harness_burn(2 * NS_PER_MS);
		if (i % 2)
			os_sleep(3 * NS_PER_MS);
		copies[own].stop();
	}
	return NULL;
}

static void at_the_same_moment(void **state)
{
	pthread_t storm[STORM + 1], drivers[COPIES];
	int i;

	atomic_store(&enough, false);
	pthread_barrier_init(&together, NULL, COPIES);
	for (i = 0; i < STORM; i++)
		pthread_create(&storm[i], NULL, starts_threads, NULL);
	pthread_create(&storm[STORM], NULL, loads_libraries, NULL);
	for (i = 0; i < COPIES; i++)
		pthread_create(&drivers[i], NULL, starts_and_stops, (void *)(intptr_t)i);
	for (i = 0; i < COPIES; i++)
		pthread_join(drivers[i], NULL);
	atomic_store(&enough, true);
	for (i = 0; i <= STORM; i++)
		pthread_join(storm[i], NULL);
	pthread_barrier_destroy(&together);
	assert_true(atomic_load(&ran) >= rounds());
	as_before();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order),
		cmocka_unit_test(again),
		cmocka_unit_test(breakpoints),
		cmocka_unit_test(marks_reach_each_copy),
		cmocka_unit_test(listeners_come_and_go),
		cmocka_unit_test(at_the_same_moment),
	};

	return cmocka_run_group_tests(tests, load_all, NULL);
}

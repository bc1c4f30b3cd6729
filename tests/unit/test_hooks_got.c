/* A library's call of pthread_create is hooked and put back; new threads tell begin and end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/hooks/got.h"
#include "agent/sources/engine.h"
#include "agent/threads/records.h"
#include "agent/threads/thread_hook.h"
#include "agent/zone/zone.h"
#include "common/base/error.h"
#include "common/os/os.h"
#include "harness.h"
#include "lib_threads.h"

/* Under AddressSanitizer threads start in a function of its own, and it cannot follow a cancellation. */
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED true
#else
#define SANITIZED false
#endif

static void *library;
static threads_start_fn *spawn;
static void *(*undefined)(void);

static void load(const char *name)
{
	library = harness_library(name);
	assert_non_null(library);
	spawn = (threads_start_fn *)dlsym(library, "threads_start");
	undefined = (void *(*)(void))dlsym(library, "threads_undefined");
	assert_true(spawn && undefined);
}

/* The address space's files with their protection, as /proc/self/maps has them; the heap left out. */
static char *protections(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4096], *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_true(f && out);
	while (fgets(line, sizeof(line), f))
		if (strstr(line, ".so") || strstr(line, "/test_"))
			fputs(line, out);
	fclose(f);
	fclose(out);
	return text;
}

static void patch(const char *symbol, void *old, void *new)
{
	assert_true(got_patch(symbol, &old, 1, new));
}

static _Atomic int calls;

static int counting(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *), void *arg)
{
	calls++;
	return pthread_create(thread, attr, routine, arg);
}

static void *nothing(void *arg)
{
	return arg;
}

static void spawn_one(void)
{
	pthread_t thread;

	assert_int_equal(spawn(&thread, nothing, NULL), 0);
	pthread_join(thread, NULL);
}

static void patched_and_restored(const char *name)
{
	char *before, *during, *after;

	load(name);
	before = protections();
	patch("pthread_create", (void *)pthread_create, (void *)counting);
	during = protections();
	calls = 0;
	spawn_one();
	assert_int_equal(calls, 1);
	patch("pthread_create", (void *)pthread_create, (void *)counting); /* twice is once */
	spawn_one();
	assert_int_equal(calls, 2);
	got_restore("pthread_create", (void *)counting, (void *)pthread_create);
	after = protections();
	spawn_one();
	assert_int_equal(calls, 2);
	assert_string_equal(before, during); /* nothing stays writable that was not */
	assert_string_equal(before, after);
	/* A second round, now that a lazy slot has been bound. */
	patch("pthread_create", (void *)pthread_create, (void *)counting);
	spawn_one();
	assert_int_equal(calls, 3);
	got_restore("pthread_create", (void *)counting, (void *)pthread_create);
	free(before);
	free(during);
	free(after);
	dlclose(library);
}

static void bound_at_once(void **state)
{
	patched_and_restored("lib_threads.so");
}

static void bound_lazily(void **state)
{
	patched_and_restored("lib_threads_lazy.so");
}

/* Another tool hooks after us: its hook stays when ours goes, and slots it did not take are put back. */
static int theirs(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *), void *arg)
{
	calls += 100;
	return pthread_create(thread, attr, routine, arg);
}

static void hooked_by_another_since(void **state)
{
	load("lib_threads.so");
	patch("pthread_create", (void *)pthread_create, (void *)counting);
	patch("pthread_create", (void *)counting, (void *)theirs);
	got_restore("pthread_create", (void *)counting, (void *)pthread_create);
	calls = 0;
	spawn_one();
	assert_int_equal(calls, 100);
	got_restore("pthread_create", (void *)theirs, (void *)pthread_create);
	spawn_one();
	assert_int_equal(calls, 100);
	dlclose(library);
}

/* A weak reference to nothing says "there is none" and goes on saying so. */
static void empty_slots(void **state)
{
	load("lib_threads.so");
	assert_null(undefined());
	patch("jstrobe_test_undefined", (void *)pthread_create, (void *)counting);
	assert_null(undefined());
	dlclose(library);
}

/* ---- the hook ---- */

static struct {
	pid_t tid;
	void *caller; /* of the start routine */
	bool recorded, has_tcb;
	struct thread_record *record;
	_Atomic int ends;
} seen;

static void look(void *caller)
{
	struct thread_record *r = records_by_tid(os_gettid());

	seen.tid = os_gettid();
	seen.caller = caller;
	seen.recorded = r != NULL;
	seen.record = r;
	seen.has_tcb = r && atomic_load(&r->tcb) == (uintptr_t)pthread_self();
}

static void *returns(void *arg)
{
	look(__builtin_return_address(0));
	return arg;
}

static void *exits(void *arg)
{
	look(__builtin_return_address(0));
	pthread_exit(arg);
}

static void *is_cancelled(void *arg)
{
	look(__builtin_return_address(0));
	while (seen.tid) {
		os_sleep(NS_PER_MS);
		pthread_testcancel();
	}
	return arg;
}

static void run(void *(*routine)(void *))
{
	pthread_t thread;
	void *result;

	memset(&seen, 0, sizeof(seen));
	assert_int_equal(spawn(&thread, routine, &seen), 0);
	if (routine == is_cancelled)
		pthread_cancel(thread);
	pthread_join(thread, &result);
	assert_ptr_equal(result, routine == is_cancelled ? PTHREAD_CANCELED : (void *)&seen);
}

static bool is_libc(void *address)
{
	Dl_info info;

	return dladdr(address, &info) && strstr(info.dli_fname, "libc.so");
}

static int open_records(void **state)
{
	struct error err;

	load("lib_threads.so");
	return records_open(&engine_records, &err);
}

static int close_records(void **state)
{
	thread_hook_remove();
	records_release();
	dlclose(library);
	return 0;
}

static void begin_and_end(void **state)
{
	void *(*const all[])(void *) = {returns, exits, is_cancelled};
	size_t i;

	run(returns);
	assert_false(seen.recorded);
	thread_hook_install();
	for (i = 0; i < ARRAY_LEN(all); i++) {
		if (SANITIZED && all[i] == is_cancelled)
			continue;
		run(all[i]);
		if (!seen.tid) {
			/* Cancelled before its first instruction. */
			assert_ptr_equal(all[i], is_cancelled);
			continue;
		}
		assert_true(seen.recorded && seen.has_tcb);
		assert_true(SANITIZED || is_libc(seen.caller));
		assert_int_equal(atomic_load(&seen.record->state), RECORD_CLOSING);
		assert_null(records_by_tid(seen.tid));
	}
	thread_hook_remove();
	run(returns);
	assert_false(seen.recorded);
}

/* Threads that outlive the hook, or an earlier session's, end in peace. */
static atomic_bool may_end;

static void *waits(void *arg)
{
	look(NULL);
	while (!atomic_load(&may_end))
		os_sleep(NS_PER_MS);
	return NULL;
}

static void outlives(bool again)
{
	struct thread_record *other = NULL;
	pthread_t thread;

	memset(&seen, 0, sizeof(seen));
	atomic_store(&may_end, false);
	thread_hook_install();
	assert_int_equal(spawn(&thread, waits, NULL), 0);
	while (!seen.tid)
		os_sleep(NS_PER_MS);
	thread_hook_remove();
	records_release();
	if (again) {
		/* The next session: the record at its place is another thread's. */
		thread_hook_install();
		other = records_found(90000000, 0x5000);
		assert_ptr_equal(other, seen.record);
	}
	atomic_store(&may_end, true);
	pthread_join(thread, NULL);
	if (again) {
		assert_int_equal(atomic_load(&other->state), RECORD_LIVE);
		assert_int_equal(atomic_load(&other->inside), 0);
	}
}

static void outlives_the_hook(void **state)
{
	outlives(false);
}

static void outlives_the_session(void **state)
{
	outlives(true);
}

/* A library loaded later is found by the refresh, and only while the hook is in place. */
static void loaded_later(void **state)
{
	void *first = library;

	thread_hook_install();
	load("lib_threads_lazy.so");
	run(returns);
	assert_false(seen.recorded);
	thread_hook_refresh();
	run(returns);
	assert_true(seen.recorded);
	thread_hook_remove();
	thread_hook_refresh();
	run(returns);
	assert_false(seen.recorded);
	dlclose(library);
	library = first;
}

/* Hooked again and again, the program's keys are not used up. */
static void keys(void **state)
{
	pthread_key_t first, last;
	int i;

	thread_hook_install();
	thread_hook_remove();
	assert_int_equal(pthread_key_create(&first, NULL), 0);
	pthread_key_delete(first);
	for (i = 0; i < 3000; i++) {
		thread_hook_install();
		thread_hook_remove();
	}
	assert_int_equal(pthread_key_create(&last, NULL), 0);
	assert_int_equal(first, last);
	pthread_key_delete(last);
}

#define T(test) cmocka_unit_test_setup_teardown(test, open_records, close_records)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bound_at_once), cmocka_unit_test(bound_lazily),
		cmocka_unit_test(hooked_by_another_since),
		cmocka_unit_test(empty_slots),   T(begin_and_end),
		T(outlives_the_hook),            T(outlives_the_session),
		T(loaded_later),                 T(keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The handler of our own faults: it stays while others put theirs before it or take them away, and goes
 * when we go.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/hooks/faults.h"
#include "agent/walk/fault.h"
#include "agent/zone/load.h"
#include "common/base/error.h"

static void install(int signo, void (*handler)(int, siginfo_t *, void *), struct sigaction *old)
{
	struct sigaction a = {.sa_flags = SA_SIGINFO};

	a.sa_sigaction = handler;
	assert_int_equal(sigaction(signo, handler ? &a : NULL, old), 0);
}

static bool is_ours(int signo)
{
	struct sigaction now;

	install(signo, NULL, &now);
	return now.sa_sigaction == fault_handler;
}

/* No handler from here on, in place of the framework's: to us that is as good as the JVM's. */
static void plain(void)
{
	signal(SIGSEGV, SIG_DFL);
	signal(SIGBUS, SIG_DFL);
}

static void begin(void)
{
	struct error err;

	assert_int_equal(faults_install(&err), 0);
}

/* Drains, until loads may fault. */
static void until_trusted(void)
{
	int i;

	for (i = 0; i < 600 && load_asks(); i++) {
		faults_keep();
		usleep(100000);
	}
	assert_false(load_asks());
}

/* ---- a page, and libraries whose handlers repair it or pass on ---- */

static char *page;
static struct sigaction before_theirs;
static volatile int repaired, passed;
static volatile uintptr_t nowhere = 8;

static void allow(bool yes)
{
	mprotect(page, 4096, yes ? PROT_READ | PROT_WRITE : PROT_NONE);
}

static void theirs(int signo, siginfo_t *info, void *context)
{
	(void)context;
	if ((char *)info->si_addr >= page && (char *)info->si_addr < page + 4096) {
		repaired++;
		allow(true);
	} else {
		signal(signo, SIG_DFL);
	}
}

static void passes_on(int signo, siginfo_t *info, void *context)
{
	passed++;
	before_theirs.sa_sigaction(signo, info, context);
}

static void their_fault(void)
{
	int before = repaired;

	allow(false);
	*(volatile char *)page = 1;
	assert_int_equal(repaired, before + 1);
}

static void no_load(void)
{
	uintptr_t word;

	assert_false(load_word(nowhere, &word));
}

/* What is true while ours is there. */
static void works(void)
{
	no_load();
	their_fault();
}

static void former_put_back(void **state)
{
	struct sigaction before, now;
	struct error err;

	(void)state;
	plain();
	install(SIGBUS, NULL, &before);
	assert_int_equal(faults_install(&err), 0);
	assert_true(is_ours(SIGBUS));
	/* as a library does that had read the action before our session began */
	assert_int_equal(sigaction(SIGBUS, &before, NULL), 0);
	assert_false(is_ours(SIGBUS));
	faults_keep();
	assert_true(is_ours(SIGBUS));
	assert_true(is_ours(SIGSEGV));
	faults_remove();
	install(SIGBUS, NULL, &now);
	assert_ptr_equal(now.sa_sigaction, before.sa_sigaction);
	faults_keep();
	assert_false(is_ours(SIGBUS));
}

/* What all this is for. */
static void load_of_nothing(void **state)
{
	struct error err;
	void *gone = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t word;

	(void)state;
	plain();
	assert_true(gone != MAP_FAILED);
	assert_int_equal(faults_install(&err), 0);
	assert_true(load_word((uintptr_t)gone, &word));
	munmap(gone, 4096);
	assert_false(load_word((uintptr_t)gone, &word));
	faults_remove();
}

/* A third one's stays in front: it may pass on to ours. Ours is there again when it goes. */
static void third_one_stays(void **state)
{
	struct sigaction before, ours, now;
	int i;

	(void)state;
	plain();
	install(SIGBUS, NULL, &before);
	begin();
	install(SIGBUS, theirs, &ours);
	for (i = 0; i < 3; i++)
		faults_keep();
	install(SIGBUS, NULL, &now);
	assert_ptr_equal(now.sa_sigaction, theirs);
	assert_int_equal(sigaction(SIGBUS, &ours, NULL), 0);
	faults_remove();
	install(SIGBUS, NULL, &now);
	assert_ptr_equal(now.sa_sigaction, before.sa_sigaction);
}

/* ---- handlers of libraries ---- */

/*
 * Put in place before us, they put back what was there then, and take us away. What comes next drain stands before
 * what has no handler; loads that faulted in between were a crash.
 */
static void popped_from_behind(void **state)
{
	struct sigaction root, none;

	(void)state;
	plain();
	install(SIGSEGV, NULL, &root);
	install(SIGSEGV, theirs, &none);
	begin();
	works();
	until_trusted();
	works();
	assert_int_equal(sigaction(SIGSEGV, &none, NULL), 0);
	fault_look();
	assert_true(load_asks());
	no_load();
	faults_keep();
	assert_true(is_ours(SIGSEGV));
	no_load();
	/* what has changed once changes again: not at once */
	faults_keep();
	assert_true(load_asks());
	until_trusted();
	no_load();
	faults_remove();
	assert_true(load_asks());
	assert_false(is_ours(SIGSEGV));
	sigaction(SIGSEGV, &root, NULL);
}

/* One that comes later is trusted when a fault of others has come to us by it, and not before. */
static void in_front_of_us(void **state)
{
	struct sigaction root;
	int i;

	(void)state;
	plain();
	passed = 0;
	install(SIGSEGV, theirs, &root);
	begin();
	install(SIGSEGV, passes_on, &before_theirs);
	fault_look();
	assert_true(load_asks());
	for (i = 0; i < 12; i++) {
		faults_keep();
		no_load();
		assert_true(load_asks());
		usleep(100000);
	}
	assert_int_equal(passed, 0);
	their_fault();
	assert_int_equal(passed, 1);
	until_trusted();
	works();
	assert_int_equal(passed, 3);
	/* it goes, with us still there behind it */
	assert_int_equal(sigaction(SIGSEGV, &before_theirs, NULL), 0);
	fault_look();
	assert_false(load_asks());
	works();
	faults_remove();
	sigaction(SIGSEGV, &root, NULL);
}

/* One that is there when a session ends keeps ours behind it: nothing may fault in the next, nor go in a circle. */
static void next_session(void **state)
{
	struct sigaction root, ours;

	(void)state;
	plain();
	install(SIGSEGV, theirs, &root);
	begin();
	install(SIGSEGV, passes_on, &ours);
	before_theirs = ours;
	faults_remove();
	begin();
	assert_true(load_asks());
	works();
	faults_keep();
	assert_false(is_ours(SIGSEGV));
	works();
	faults_remove();
	their_fault();
	sigaction(SIGSEGV, &ours, NULL);
	begin();
	until_trusted();
	works();
	faults_remove();
	assert_false(is_ours(SIGSEGV));
	sigaction(SIGSEGV, &root, NULL);
}

/* A library that was behind us at one session's end, and has taken us away since. */
static void gone_between_sessions(void **state)
{
	struct sigaction root;

	(void)state;
	plain();
	install(SIGSEGV, NULL, &root);
	begin();
	signal(SIGSEGV, SIG_DFL);
	faults_remove();
	begin();
	assert_true(is_ours(SIGSEGV));
	assert_false(load_asks());
	no_load();
	faults_remove();
	assert_false(is_ours(SIGSEGV));
	sigaction(SIGSEGV, &root, NULL);
}

/* More libraries than ours can stand before: the kernel makes the loads then. */
static void too_many(void **state)
{
	struct sigaction a = {.sa_flags = SA_SIGINFO}, root;
	int i, found = 0;

	(void)state;
	plain();
	install(SIGSEGV, NULL, &root);
	for (i = 0; i < 20; i++) {
		a.sa_sigaction = theirs;
		sigemptyset(&a.sa_mask);
		sigaddset(&a.sa_mask, SIGRTMIN + i);
		sigaction(SIGSEGV, &a, NULL);
		begin();
		found += is_ours(SIGSEGV);
		works();
		faults_keep();
		works();
		faults_remove();
		their_fault();
	}
	assert_in_range(found, 1, 8);
	sigaction(SIGSEGV, &root, NULL);
}

/* A sample that comes while SIGSEGV is blocked: in a handler of it, say. The kernel ends a process that faults then. */
static volatile bool sampled;

static void takes_sample(int signo, siginfo_t *info, void *context)
{
	uint32_t entered = fault_enter(context);

	(void)signo;
	(void)info;
	no_load();
	fault_leave(entered);
	sampled = true;
}

static void while_blocked(void **state)
{
	int blocked[] = {SIGSEGV, SIGBUS};
	sigset_t set, old;
	size_t i;

	(void)state;
	plain();
	begin();
	fault_trust();
	install(SIGUSR1, takes_sample, NULL);
	for (i = 0; i < ARRAY_LEN(blocked); i++) {
		sigemptyset(&set);
		sigaddset(&set, blocked[i]);
		pthread_sigmask(SIG_BLOCK, &set, &old);
		sampled = false;
		raise(SIGUSR1);
		assert_true(sampled);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
		assert_false(load_asks());
	}
	signal(SIGUSR1, SIG_DFL);
	faults_remove();
}

/* ---- all at once ---- */

static atomic_bool enough;

/* As libraries do that look whether something can be read: in front, a fault of their own, and away. */
static void *pushes_and_pops(void *arg)
{
	struct sigaction mine = {.sa_flags = SA_SIGINFO | SA_NODEFER};
	int i;

	mine.sa_sigaction = passes_on;
	for (i = 0; !atomic_load(&enough); i++) {
		sigaction(SIGSEGV, &mine, &before_theirs);
		if (i % 3)
			usleep(100);
		sigaction(SIGSEGV, &before_theirs, NULL);
	}
	return arg;
}

static void storm(void **state)
{
	struct sigaction root, now;
	pthread_t thread;
	int i;

	(void)state;
	plain();
	install(SIGSEGV, theirs, &root);
	before_theirs.sa_sigaction = theirs;
	atomic_store(&enough, false);
	pthread_create(&thread, NULL, pushes_and_pops, NULL);
	for (i = 0; i < 200; i++) {
		int k;

		begin();
		for (k = 0; k < 20; k++) {
			fault_look();
			works();
			if (k % 4 == 0)
				faults_keep();
		}
		faults_remove();
		their_fault();
	}
	atomic_store(&enough, true);
	pthread_join(thread, NULL);
	their_fault();
	faults_remove();
	install(SIGSEGV, NULL, &now);
	their_fault();
	sigaction(SIGSEGV, &root, NULL);
}

static int set_up(void **state)
{
	(void)state;
	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return page == MAP_FAILED;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(former_put_back),
		cmocka_unit_test(load_of_nothing),
		cmocka_unit_test(third_one_stays),
		cmocka_unit_test(popped_from_behind),
		cmocka_unit_test(in_front_of_us),
		cmocka_unit_test(next_session),
		cmocka_unit_test(gone_between_sessions),
		cmocka_unit_test(while_blocked),
		cmocka_unit_test(too_many), /* it takes all places */
		cmocka_unit_test(storm), /* it may leave a library's handler where ours was, with ours noted as behind it */
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}

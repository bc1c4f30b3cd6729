/*
 * The handler of our own faults: it stays while others put theirs before it or take them away, and goes
 * when we go.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/mman.h>

#include "engine/engine.h"
#include "signal/fault.h"
#include "signal/load.h"

static void theirs(int signo, siginfo_t *info, void *context)
{
	(void)signo;
	(void)info;
	(void)context;
}

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

static void former_put_back(void **state)
{
	struct sigaction before, now;
	struct error err;

	(void)state;
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
	assert_true(gone != MAP_FAILED);
	assert_int_equal(faults_install(&err), 0);
	assert_true(load_word((uintptr_t)gone, &word));
	munmap(gone, 4096);
	assert_false(load_word((uintptr_t)gone, &word));
	faults_remove();
}

static void third_one_stays(void **state)
{
	struct sigaction ours, now;
	struct error err;

	(void)state;
	assert_int_equal(faults_install(&err), 0);
	install(SIGBUS, theirs, &ours);
	faults_keep();
	install(SIGBUS, NULL, &now);
	assert_ptr_equal(now.sa_sigaction, theirs);
	assert_int_equal(sigaction(SIGBUS, &ours, NULL), 0);
	faults_remove();
	assert_false(is_ours(SIGBUS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(former_put_back),
		cmocka_unit_test(load_of_nothing),
		cmocka_unit_test(third_one_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

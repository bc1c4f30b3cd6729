/*
 * The handler of SIGTRAP while breakpoints are armed. INT1 (0xF1) comes to a handler just as a debug exception does
 * whose cause a hypervisor has lost; INT3 is what a debugger or a library puts into code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/hooks/traps.h"
#include "agent/zone/trap.h"
#include "common/base/error.h"
#include "common/os/os.h"
#include "int1.h"

#if defined(__x86_64__)
static void without_cause(void)
{
	__asm__ volatile(".byte 0xf1");
}

static void with_cause(void)
{
	__asm__ volatile("int3");
}

static void *handler_now(void)
{
	struct sigaction now;

	assert_int_equal(sigaction(SIGTRAP, NULL, &now), 0);
	return now.sa_flags & SA_SIGINFO ? (void *)now.sa_sigaction : (void *)now.sa_handler;
}

static void take(void)
{
	struct error err;

	if (traps_take(&err))
		fail_msg("%s", err.text);
}

/* The signal that ends a child that does WHAT; 0: it ends by itself. */
static int ends_by(void (*what)(void))
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		what();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

static void is_survived_while_armed(void **state)
{
	int i;

	if (!int1_ends())
		skip();
	assert_int_equal(ends_by(without_cause), SIGTRAP);
	for (i = 0; i < 20; i++) { /* more often than there is room for former actions */
		take();
		take();
		assert_ptr_equal(handler_now(), (void *)trap_handler);
		without_cause();
		without_cause();
		assert_int_equal(traps_met(), 2);
		traps_give_back();
		traps_give_back();
		assert_ptr_equal(handler_now(), (void *)SIG_DFL);
	}
	assert_int_equal(ends_by(without_cause), SIGTRAP);
}

static void raises(void)
{
	raise(SIGTRAP);
}

static void others_end_the_process_as_ever(void **state)
{
	if (!int1_ends())
		skip();
	take();
	assert_int_equal(ends_by(with_cause), SIGTRAP);
	assert_int_equal(ends_by(raises), SIGTRAP);
	assert_int_equal(ends_by(without_cause), 0);
	traps_give_back();
}

/* ---- a handler of the program's ---- */

static volatile sig_atomic_t came, code, simple;

static void theirs(int signo, siginfo_t *info, void *context)
{
	(void)context;
	came++;
	code = info->si_code;
	assert_int_equal(signo, SIGTRAP);
}

static void theirs_simple(int signo)
{
	simple += signo == SIGTRAP;
}

static void install(void (*handler)(int, siginfo_t *, void *), struct sigaction *was)
{
	struct sigaction a = {.sa_flags = SA_SIGINFO | SA_NODEFER};

	a.sa_sigaction = handler;
	sigaddset(&a.sa_mask, SIGUSR1);
	assert_int_equal(sigaction(SIGTRAP, &a, was), 0);
}

static void a_former_handler_gets_what_is_its_own(void **state)
{
	struct sigaction now;

	if (!int1_ends())
		skip();
	came = simple = 0;
	install(theirs, NULL);
	take();
	without_cause();
	assert_int_equal(came, 0);
	with_cause();
	assert_int_equal(came, 1);
	assert_int_equal(code, SI_KERNEL);
	raise(SIGTRAP);
	assert_int_equal(came, 2);
	traps_give_back();
	assert_int_equal(sigaction(SIGTRAP, NULL, &now), 0);
	assert_ptr_equal((void *)now.sa_sigaction, (void *)theirs);
	assert_int_equal(now.sa_flags & (SA_SIGINFO | SA_NODEFER | SA_ONSTACK), SA_SIGINFO | SA_NODEFER);
	assert_true(sigismember(&now.sa_mask, SIGUSR1));

	signal(SIGTRAP, theirs_simple);
	take();
	with_cause();
	assert_int_equal(simple, 1);
	traps_give_back();
	signal(SIGTRAP, SIG_DFL);
}

static struct sigaction passes_to;

static void passes_on(int signo, siginfo_t *info, void *context)
{
	passes_to.sa_sigaction(signo, info, context);
}

/* One that comes after us and stays: ours remains behind it, and is put before none a second time. */
static void one_that_comes_between(void **state)
{
	struct error err;

	if (!int1_ends())
		skip();
	take();
	install(passes_on, &passes_to);
	without_cause();
	assert_int_equal(traps_met(), 1);
	traps_give_back();
	assert_ptr_equal(handler_now(), (void *)passes_on);
	assert_int_equal(ends_by(without_cause), SIGTRAP); /* the program's own, now: ours passes it on */
	assert_int_equal(traps_take(&err), -EBUSY);
	assert_non_null(strstr(err.text, "SIGTRAP"));

	assert_int_equal(sigaction(SIGTRAP, &passes_to, NULL), 0); /* it goes */
	take();
	without_cause();
	traps_give_back();
	assert_ptr_equal(handler_now(), (void *)SIG_DFL);
}
#endif

/* ---- threads that block it ---- */

static _Atomic pid_t blocker;
static atomic_bool go;

static void *blocks(void *arg)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	atomic_store(&blocker, os_gettid());
	while (!atomic_load(&go))
		usleep(1000);
	return arg;
}

static void who_blocks_it_is_known(void **state)
{
	pthread_t thread;
	pid_t tid;

	assert_false(os_thread_blocks(os_gettid(), SIGTRAP));
	pthread_create(&thread, NULL, blocks, NULL);
	while ((tid = atomic_load(&blocker)) == 0)
		usleep(1000);
	assert_true(os_thread_blocks(tid, SIGTRAP));
	assert_false(os_thread_blocks(tid, SIGUSR1));
	atomic_store(&go, true);
	pthread_join(thread, NULL);
	assert_false(os_thread_blocks(tid, SIGTRAP));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
		cmocka_unit_test(is_survived_while_armed),
		cmocka_unit_test(others_end_the_process_as_ever),
		cmocka_unit_test(a_former_handler_gets_what_is_its_own),
		cmocka_unit_test(one_that_comes_between),
#endif
		cmocka_unit_test(who_blocks_it_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * own_timers.c - a program with a timer of its own, whose signal gets its default action back at the program's end:
 *
 *      own_timers TIMER MS END
 *
 * TIMER: prof, virtual, real (setitimer) or created (timer_create, which sends SIGALRM). It burns CPU time for MS ms on
 * two threads, and says how often the handler ran, and how often on others than those. END: handled (the handler
 * stays), dies (default action, and the timer begins anew, each 24 ms), alarm (the same, once after a second, which a
 * handler of exit() waits for). Its exit status is 7.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t handled, foreign;
static pid_t own[2];
static int signo, which, ends;
static timer_t created;
static int is_created;

static void on_timer(int unused)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);

	handled++;
	foreign += tid != own[0] && tid != own[1];
}

/* Expires after US, and each US if AGAIN. */
static void set_timer(const char *name, long us, int again)
{
	if (strcmp(name, "created") == 0) {
		struct itimerspec t = {.it_value.tv_nsec = us % 1000000 * 1000, .it_value.tv_sec = us / 1000000};

		t.it_interval = again ? t.it_value : t.it_interval;
		if (!is_created++ && timer_create(CLOCK_MONOTONIC, NULL, &created))
			exit(3);
		timer_settime(created, 0, &t, NULL);
	} else {
		struct itimerval t = {.it_value.tv_usec = us % 1000000, .it_value.tv_sec = us / 1000000};

		t.it_interval = again ? t.it_value : t.it_interval;
		setitimer((__typeof__(ITIMER_PROF))which, &t, NULL);
	}
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Many stacks: that makes a result that takes a while to write. */
static __attribute__((noinline)) double deep(int bits, int depth)
{
	volatile double x = 0;
	int i;

	for (i = 0; i < 300; i++)
		x += i;
	if (depth)
		x += bits & 1 ? deep(bits >> 1, depth - 1) : -deep(bits >> 1, depth - 1);
	return x;
}

static void burn(long ms)
{
	long until = now_ms() + ms;
	int bits = 0;

	while (now_ms() < until)
		deep(bits++, 40);
}

static void *beside(void *ms)
{
	sigset_t set;

	own[1] = (pid_t)syscall(SYS_gettid);
	sigemptyset(&set);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
	burn((long)ms);
	return NULL;
}

static void *stays(void *unused)
{
	volatile unsigned x = 0;

	for (;;)
		x++;
	return NULL;
}

static void wait_for_alarm(void)
{
	if (ends == 'a')
		sleep(5);
}

/* Before the profiler's own: it runs after that. */
static void __attribute__((constructor)) begin(void)
{
	atexit(wait_for_alarm);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int signo, which;
	} timers[] = {{"prof", SIGPROF, ITIMER_PROF}, {"virtual", SIGVTALRM, ITIMER_VIRTUAL},
		      {"real", SIGALRM, ITIMER_REAL}, {"created", SIGALRM, 0}};
	struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
	sigset_t all, none;
	pthread_t other;
	size_t i;

	if (argc != 4)
		return 2;
	for (i = 0; i < sizeof(timers) / sizeof(timers[0]); i++)
		if (strcmp(timers[i].name, argv[1]) == 0) {
			signo = timers[i].signo;
			which = timers[i].which;
		}
	ends = argv[3][0];
	own[0] = getpid();
	sigaction(signo, &action, NULL);
	set_timer(argv[1], 2000, 1);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &none);
	pthread_create(&other, NULL, beside, (void *)atol(argv[2]));
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	burn(atol(argv[2]));
	pthread_join(other, NULL);
	printf("handled %d foreign %d\n", (int)handled, (int)foreign);
	fflush(stdout);
	if (ends == 'h')
		return 7;
	set_timer(argv[1], 0, 0);
	if (ends == 'd')
		pthread_create(&other, NULL, stays, NULL);
	signal(signo, SIG_DFL);
	set_timer(argv[1], ends == 'a' ? 1000000 : 24000, ends == 'd');
	return 7;
}

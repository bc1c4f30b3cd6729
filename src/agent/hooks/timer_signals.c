#include "agent/hooks/timer_signals.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>

#include "common/base/base.h"

static const struct {
	int signo;
	__typeof__(ITIMER_PROF) timer;
} timers[] = {{SIGALRM, ITIMER_REAL}, {SIGVTALRM, ITIMER_VIRTUAL}, {SIGPROF, ITIMER_PROF}};

static struct {
	bool held;
	struct sigaction action;
	struct itimerval left;
} before[ARRAY_LEN(timers)];

static bool has_handler(const struct sigaction *a, void (*handler)(int))
{
	return !(a->sa_flags & SA_SIGINFO) && a->sa_handler == handler;
}

/* Not SIG_IGN: since Linux 6.13 the signal of a periodic timer waits until it is ignored no more, and kills then. */
static void nothing(int signo)
{
}

/* The timer first: nothing of it can be pending where its signal still kills. timer_create's have the signal alone. */
void timer_signals_hold(void)
{
	static const struct itimerval none;
	struct sigaction harmless;
	size_t i;

	for (i = 0; i < ARRAY_LEN(timers); i++) {
		if (before[i].held)
			continue;
		before[i].held = sigaction(timers[i].signo, NULL, &before[i].action) == 0 &&
				 has_handler(&before[i].action, SIG_DFL);
		if (!before[i].held)
			continue;
		setitimer(timers[i].timer, &none, &before[i].left);
		harmless = before[i].action;
		harmless.sa_handler = nothing;
		harmless.sa_flags |= SA_RESTART | SA_ONSTACK;
		sigaction(timers[i].signo, &harmless, NULL);
	}
}

/* What the program has changed meanwhile stays. */
void timer_signals_go_on(void)
{
	struct sigaction now;
	struct itimerval set;
	size_t i;

	for (i = 0; i < ARRAY_LEN(timers); i++) {
		if (!before[i].held)
			continue;
		before[i].held = false;
		if (sigaction(timers[i].signo, NULL, &now) == 0 && has_handler(&now, nothing))
			sigaction(timers[i].signo, &before[i].action, NULL);
		if (getitimer(timers[i].timer, &set) == 0 && !timerisset(&set.it_value))
			setitimer(timers[i].timer, &before[i].left, NULL);
	}
}

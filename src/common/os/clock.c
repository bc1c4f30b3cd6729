/*
 * clock.c - clocks by name.
 */
#include <pthread.h>

#include "common/base/clock_ns.h"
#include "common/os/os.h"

uint64_t os_monotonic(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t os_realtime(void)
{
	return clock_ns(CLOCK_REALTIME);
}

uint64_t os_process_cpu(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t os_thread_cpu(pid_t tid)
{
	return clock_ns(os_thread_clock(tid, false));
}

uint64_t os_thread_user(pid_t tid)
{
	return clock_ns(os_thread_clock(tid, true));
}

void os_sleep(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};

	nanosleep(&t, NULL);
}

void os_condition_init(pthread_cond_t *condition)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attr);
	pthread_condattr_destroy(&attr);
}

/*
 * clock.c - the kernel's clocks, as plain numbers of ns.
 */
#include <pthread.h>
#include <time.h>

#include "common/os/os.h"

static uint64_t read_clock(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t os_monotonic(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t os_realtime(void)
{
	return read_clock(CLOCK_REALTIME);
}

uint64_t os_process_cpu(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t os_thread_cpu(pid_t tid)
{
	return read_clock(os_thread_clock(tid, false));
}

uint64_t os_thread_user(pid_t tid)
{
	return read_clock(os_thread_clock(tid, true));
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

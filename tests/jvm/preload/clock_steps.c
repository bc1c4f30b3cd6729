/*
 * clock_steps.c - preloaded: the clock is set, an hour forward and back again, each 700 ms.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

#define STEP 3600
#define EVERY_MS 700

static int (*real)(clockid_t, struct timespec *);

static time_t stepped(void)
{
	struct timespec t;

	if (!real)
		real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	real(CLOCK_MONOTONIC, &t);
	return (t.tv_sec * 1000 + t.tv_nsec / 1000000) / EVERY_MS % 2 ? STEP : 0;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
	time_t step = stepped();
	int rc = real(clock, t);

	if (rc == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		t->tv_sec += step;
	return rc;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	t->tv_sec = now.tv_sec;
	t->tv_usec = now.tv_nsec / 1000;
	return 0;
}

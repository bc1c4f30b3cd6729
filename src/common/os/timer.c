/*
 * timer.c - POSIX timers by system call: glibc's wrappers lie in librt before 2.34.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/os/os.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

int os_timer_create(pid_t tid, bool user, int signo, void *value, int32_t *timer)
{
	clockid_t clock = os_thread_clock(tid, user);
	struct sigevent event;

	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = signo;
	event.sigev_value.sival_ptr = value;
	event.sigev_notify_thread_id = tid;
	return syscall(SYS_timer_create, clock, &event, timer) ? -errno : 0;
}

static struct timespec moment(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
}

int os_timer_start(int32_t timer, uint64_t due, uint64_t interval)
{
	struct itimerspec spec = {.it_interval = moment(interval), .it_value = moment(due)};

	return syscall(SYS_timer_settime, timer, TIMER_ABSTIME, &spec, NULL) ? -errno : 0;
}

uint64_t os_tick(void)
{
	struct timespec t;

	return clock_getres(CLOCK_MONOTONIC_COARSE, &t) ? 4 * NS_PER_MS : (uint64_t)t.tv_nsec;
}

void os_timer_delete(int32_t timer)
{
	syscall(SYS_timer_delete, timer);
}

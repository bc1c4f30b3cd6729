/*
 * timer.c - POSIX timers by system call: glibc's wrappers lie in librt before 2.34.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "os/os.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

int os_timer_create(pid_t tid, int signo, void *value, int32_t *timer)
{
	clockid_t clock = (clockid_t)(~(unsigned)tid << 3 | 6);
	struct sigevent event;

	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = signo;
	event.sigev_value.sival_ptr = value;
	event.sigev_notify_thread_id = tid;
	return syscall(SYS_timer_create, clock, &event, timer) ? -errno : 0;
}

int os_timer_start(int32_t timer, uint64_t interval)
{
	struct itimerspec spec;

	spec.it_interval.tv_sec = (time_t)(interval / NS_PER_S);
	spec.it_interval.tv_nsec = (long)(interval % NS_PER_S);
	spec.it_value = spec.it_interval;
	return syscall(SYS_timer_settime, timer, 0, &spec, NULL) ? -errno : 0;
}

void os_timer_delete(int32_t timer)
{
	syscall(SYS_timer_delete, timer);
}

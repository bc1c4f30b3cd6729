/*
 * os.h - the door of the os room: clocks, threads of this process, perf events,
 * timers, limits and signal dispositions of Linux. Knows nothing of Java.
 *
 * Functions return 0 or a negative errno unless said otherwise. Normal code only.
 */
#ifndef JSTROBE_OS_OS_H
#define JSTROBE_OS_OS_H

#include <sys/types.h>

#include "base/error.h"

/* Clocks, ns. */
uint64_t os_monotonic(void);
uint64_t os_realtime(void);
/* CPU time of this process: user and system, ended threads included. */
uint64_t os_process_cpu(void);
/* CPU time of thread TID of this process; 0 when it is gone. */
uint64_t os_thread_cpu(pid_t tid);
/* Wait NS (or less, when a signal comes). */
void os_sleep(uint64_t ns);

pid_t os_gettid(void);
/* Call FN for each thread of this process, from /proc/self/task. */
int os_each_thread(void (*fn)(pid_t tid, void *arg), void *arg);
/* The kernel's name of thread TID (15 characters at most); "" when it is gone. */
void os_thread_name(pid_t tid, char *name, size_t size);
bool os_thread_exists(pid_t tid);

/* Soft limit of descriptors, and how many are open now. */
unsigned os_descriptor_limit(void);
unsigned os_descriptors_open(void);

/*
 * A disabled perf event "cpu-clock" for thread TID, with one record each INTERVAL ns of
 * its CPU time: the event's count and, if KERNEL, the kernel stack. Returns the
 * descriptor (close-on-exec).
 */
int os_perf_open(pid_t tid, uint64_t interval, bool kernel);
/* One data page behind the control page; NULL when refused (perf_event_mlock_kb). */
void *os_perf_map(int fd);
void os_perf_unmap(void *ring);
/* Let FD send SIGNO to thread TID at each record, and switch it on. */
int os_perf_signal(int fd, pid_t tid, int signo);
int os_perf_disable(int fd);

/* A POSIX timer on thread TID's CPU clock that sends SIGNO with VALUE to that thread. */
int os_timer_create(pid_t tid, int signo, void *value, int32_t *timer);
int os_timer_start(int32_t timer, uint64_t interval);
void os_timer_delete(int32_t timer);

/* A standard signal whose disposition is default or ignored, never SIGPROF or SIGUSR2; 0 = none. */
int os_free_signal(void);
/* Whether somebody handles SIGNO. */
bool os_signal_taken(int signo);

#endif

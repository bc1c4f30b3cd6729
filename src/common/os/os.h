/*
 * os.h - the door of the os room: clocks, threads of this process, perf events,
 * timers, limits and signal dispositions of Linux. Knows nothing of Java.
 *
 * Functions return 0 or a negative errno unless said otherwise. Normal code only.
 */
#ifndef JSTROBE_OS_OS_H
#define JSTROBE_OS_OS_H

#include <pthread.h>
#include <sys/types.h>

#include "common/base/error.h"

/* Clocks, ns. */
uint64_t os_monotonic(void);
uint64_t os_realtime(void);
/* CPU time of this process: user and system, ended threads included. */
uint64_t os_process_cpu(void);
/* CPU time of its children that have ended and were waited for, and of theirs. */
uint64_t os_children_cpu(void);
/* CPU time of thread TID of this process, 0 being the one that asks; 0 when it is gone. */
uint64_t os_thread_cpu(pid_t tid);
/* The same of user mode only, counted in ticks of the kernel. */
uint64_t os_thread_user(pid_t tid);
/* The kernel's number of such a clock: ~tid << 3 | CPUCLOCK_PERTHREAD | (USER ? CPUCLOCK_VIRT : CPUCLOCK_SCHED). */
static inline clockid_t os_thread_clock(pid_t tid, bool user)
{
	return (clockid_t)(~(unsigned)tid << 3 | (user ? 5 : 6));
}
/* What the kernel counts of thread TID of this process: ns on a CPU and ready without one, and how often it got one. */
struct os_schedule {
	uint64_t on, ready;
	uint32_t turns;
};
/* False: it does not say. */
bool os_thread_schedule(pid_t tid, struct os_schedule *s);
/* How often TID's thread has been given a CPU; 0: not known. */
uint32_t os_thread_turns(pid_t tid);
/* Wait NS (or less, when a signal comes). */
void os_sleep(uint64_t ns);
/*
 * Sleep while *WORD is VALUE, for NS at most; any thread, no lock. Who changes it calls os_wake, which ends the sleep
 * of all that wait on it.
 */
void os_wait_while(_Atomic uint32_t *word, uint32_t value, uint64_t ns);
void os_wake(_Atomic uint32_t *word);
/* Lock MUTEX, for NS at most; false: it was not to be had. */
bool os_lock_within(pthread_mutex_t *mutex, uint64_t ns);
/* A condition whose timed waits end by CLOCK_MONOTONIC, as os_monotonic counts. Any thread, once for each. */
void os_condition_init(pthread_cond_t *condition);

pid_t os_gettid(void);
/*
 * Call FN for each thread of this process, from /proc/self/task. MARK of a tid is the same from
 * call to call for one thread, though it may change (then os_thread_start tells); it differs
 * for two threads that had one tid after each other.
 */
int os_each_thread(void (*fn)(pid_t tid, uint64_t mark, void *arg), void *arg);
/* How many threads this process has; 0: the kernel does not tell. Costs the same however many they are. */
uint32_t os_thread_count(void);
/*
 * When thread TID of this process began, as os_monotonic, rounded down to the kernel's ticks
 * (10 ms); 0 when it is gone.
 */
uint64_t os_thread_start(pid_t tid);
/* A number that is the same as long as thread TID lives, and another for one that has its tid later; 0: it is gone. */
uint64_t os_thread_born(pid_t tid);
/* The kernel's name of thread TID (15 characters at most); "" when it is gone. */
void os_thread_name(pid_t tid, char *name, size_t size);
bool os_thread_exists(pid_t tid);
/* The calling thread is given the CPU before others, as far as permitted. */
void os_thread_first(void);
/*
 * The calling thread does little and is to do it in time: it is given the CPU before others, as far as permitted, and
 * for little at a time, for which Linux 6.12 and newer let it interrupt who runs. Its sleeps end when they are to,
 * not up to 50 us later together with other timers.
 */
void os_thread_hurry(void);
/* The state of thread TID as proc(5) has it: 'R' runs or wants to, 'S' sleeps, 'D' …; 0 when it is gone. */
char os_thread_state(pid_t tid);
/* Whether thread TID of this process runs, wants to, or waits for a disk; false too when it is gone. */
bool os_thread_runs(pid_t tid);
/*
 * Where thread TID of this process waits in the kernel: true, and its stack pointer and program counter
 * in user mode. False: it runs or is ready to, it is gone, or the kernel does not tell.
 */
bool os_thread_waits(pid_t tid, uintptr_t *sp, uintptr_t *pc);
/* The same in two steps, to ask often: a descriptor, the caller's (negative: TID is gone), and what it tells now. */
int os_thread_waits_open(pid_t tid);
enum os_waits { OS_WAITS, OS_RUNS, OS_GONE };
enum os_waits os_thread_waits_at(int fd, uintptr_t *sp, uintptr_t *pc);
/* The word on which thread TID waits by FUTEX_WAIT_BITSET, as pthread_cond_wait does; 0 = on none. */
uintptr_t os_thread_futex(pid_t tid);
/* The word that TID waits for in a call of futex, 0: it is in none. False: the system does not say. */
bool os_thread_futex_word(pid_t tid, uintptr_t *word);
/* The word of the lock (glibc's pthread_mutex_t) that thread TID of this process waits for; 0: none, or not told. */
uintptr_t os_thread_lock(pid_t tid);
/* Send SIGNO with VALUE to thread TID of this process, as sigqueue() does to a process. */
int os_signal_thread(pid_t tid, int signo, uintptr_t value);
/*
 * Block signals on the calling thread, one of jstrobe's, but for faults, and for OPEN (0: no other).
 */
void os_block_signals(int open);

/*
 * BYTES of address space that read as zero everywhere and may be written nowhere yet; NULL: none
 * left. os_unreserve() it. And: the BYTES at START (whole pages) may be written from now on.
 */
void *os_reserve(size_t bytes);
void os_unreserve(void *start, size_t bytes);
int os_make_writable(void *start, size_t bytes);

/* Soft limit of descriptors, and how many are open now; as many as that where not even /proc can be opened. */
unsigned os_descriptor_limit(void);
unsigned os_descriptors_open(void);
/*
 * How many signals of this user may wait (RLIMIT_SIGPENDING: a POSIX timer takes one for as long
 * as it exists), and how many do now, in all of the user's processes.
 */
unsigned os_pending_limit(void);
unsigned os_pending_used(void);

/* What a perf event counts; types and configs are those of linux/perf_event.h. */
struct os_perf {
	uint32_t type;
	uint64_t config, config1, config2;
	uint32_t bp_type;    /* breakpoints: HW_BREAKPOINT_R … */
	uint64_t period;     /* a record each so many */
	bool kernel;         /* events in the kernel, and kernel stacks, too */
	uint32_t only_cpu;   /* the number of a CPU + 1; 0 = all of them */
	bool scaled;         /* counts come with the times to scale them by */
	bool until_exec;     /* it ends with the program that the thread runs (Linux 5.13; before, at setuid's alone) */
	const char *path;    /* a file (uprobe) or function (kprobe) that config1 shall point to; NULL = none */
	const char *filter;  /* of a tracepoint; NULL = none */
};
struct perf_event_attr;
/* What the kernel is asked for SPEC. */
void os_perf_attr(const struct os_perf *spec, struct perf_event_attr *attr);
/*
 * A disabled perf event for thread TID, with one record each PERIOD: the event's count and,
 * if KERNEL, the kernel stack. Returns the descriptor (close-on-exec).
 */
int os_perf_open(pid_t tid, const struct os_perf *spec);
/* Whether one of CPU time may be had with kernel stacks: 0, or why not; and that in words. */
int os_perf_probe(void);
const char *os_perf_refusal(int rc);
/* The event's count so far; 0 when it cannot be read. SCALED as in struct os_perf: three WORDS. */
bool os_perf_read(int fd, bool scaled, uint64_t words[3]);
/* Whether a perf event may count what happens in the kernel (perf_event_paranoid, capabilities). */
bool os_perf_kernel_allowed(void);
/* kernel.perf_event_paranoid; -2 = not known. */
int os_perf_paranoid(void);
/* The number of perf's dynamic source NAME ("uprobe"), -ENOENT = this kernel has none. */
int os_perf_source(const char *name);
/* Id of tracepoint NAME ("sched:sched_switch"); -ENOENT: no such, -ENODEV: tracefs is not mounted, -EACCES. */
int os_tracepoint(const char *name);
/*
 * Turn FIELD=VALUE of a source's event (as in /sys/bus/event_source/devices/SOURCE/format) into bits of
 * SPEC's configs; -ENOENT: no such field.
 */
int os_perf_field(const char *source, const char *field, uint64_t value, struct os_perf *spec);
/* The words behind a named event of a source ("event=0x3c,umask=1"), into OUT. */
int os_perf_alias(const char *source, const char *event, char *out, size_t size);
/* A ring of DATA bytes (0: as few as there can be) behind its control page; NULL when refused (perf_event_mlock_kb). */
void *os_perf_map(int fd, size_t data);
/* RING may be NULL. How many bytes of data it had. */
size_t os_perf_unmap(void *ring);
/* How many bytes of data a ring has that was asked for with DATA. */
size_t os_perf_data_bytes(size_t data);
/* How much memory the kernel lets this user and this process lock for rings, bytes, those that are there included. */
uint64_t os_perf_memory(void);
/* Let FD send SIGNO to thread TID at each record, and switch it on. */
int os_perf_signal(int fd, pid_t tid, int signo);
int os_perf_disable(int fd);
int os_perf_enable(int fd);

/* Name of thread TID's scheduling policy, "SCHED_OTHER"; NULL when it is gone. */
const char *os_thread_policy(pid_t tid);
/* The CPU that the calling thread is on; it may be on another one by now. -1: the kernel does not tell. */
int os_cpu(void);
/* Let the calling thread run on CPU alone from now on. -EPERM, -EINVAL. */
int os_stay_on(int cpu);
/* How many CPUs this machine may have; and has now. */
unsigned os_cpus(void);
unsigned os_cpus_online(void);

/* CPU time in user and in system mode of this process, and of a thread of it, ns (a thread's in ticks of 10 ms). */
int os_process_times(uint64_t *user, uint64_t *system);
int os_thread_times(pid_t tid, uint64_t *user, uint64_t *system);
/* Ticks that the CPUs of the machine were busy, and were there; of busy, STEAL: the hypervisor had given to others. */
int os_machine_times(uint64_t *busy, uint64_t *all, uint64_t *steal);
/* Memory of the machine, bytes. */
uint64_t os_memory_total(void);
uint64_t os_memory_free(void);

/* Close a descriptor. */
void os_close(int fd);
/* The file that ADDRESS is mapped from, and its place there. -ENOENT, -ENAMETOOLONG. */
int os_mapped_file(uintptr_t address, char *path, size_t size, uint64_t *offset);
/* FN of each mapping of this process, in order. 0, or -errno: they cannot be read. */
typedef void os_mapping_fn(uint64_t start, uint64_t end, void *arg);
int os_each_mapping(os_mapping_fn *fn, void *arg);

/* A POSIX timer on thread TID's CPU clock, or that of its USER mode, that sends SIGNO with VALUE to that thread. */
int os_timer_create(pid_t tid, bool user, int signo, void *value, int32_t *timer);
/* First when that clock is DUE, then each INTERVAL, ns. */
int os_timer_start(int32_t timer, uint64_t due, uint64_t interval);
/* The period of the kernel's tick, at which such timers are looked at, ns. */
uint64_t os_tick(void);
void os_timer_delete(int32_t timer);

/* A standard signal whose disposition is default or ignored, never SIGPROF or SIGUSR2; 0 = none. */
int os_free_signal(void);
/* Whether thread TID of this process has SIGNO blocked now; false: not, or it is gone. Reads a file of /proc. */
bool os_thread_blocks(pid_t tid, int signo);
/* Whether SIGNO has a handler. */
bool os_signal_taken(int signo);
/*
 * Wait until every CPU has been out of what the kernel does with interrupts off (taking a signal from a list, for
 * example) once since the call: 10 to 30 ms.
 */
void os_wait_for_cpus(void);
/*
 * Each thread of this process that runs has passed a full memory barrier since the call: some microseconds. False: the
 * system refuses. OPEN first, once; false: it cannot be had.
 */
bool os_barrier_open(void);
bool os_barrier(void);

#endif

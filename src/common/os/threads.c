/*
 * threads.c - the threads of this process, from /proc/self/task.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock_ns.h"
#include "common/os/os.h"

#define CPU_NUMBERS 8192 /* NR_CPUS at most */

pid_t os_gettid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

int os_cpu(void)
{
	unsigned cpu;

	return syscall(SYS_getcpu, &cpu, NULL, NULL) ? -1 : (int)cpu;
}

/* glibc's cpu_set_t ends at 1,024. */
int os_stay_on(int cpu)
{
	unsigned long set[CPU_NUMBERS / (8 * sizeof(unsigned long))] = {0};

	if (cpu < 0 || cpu >= CPU_NUMBERS)
		return -EINVAL;
	set[(size_t)cpu / (8 * sizeof(*set))] = 1ul << ((size_t)cpu % (8 * sizeof(*set)));
	return syscall(SYS_sched_setaffinity, 0, sizeof(set), set) ? -errno : 0;
}

void os_thread_first(void)
{
	setpriority(PRIO_PROCESS, (id_t)os_gettid(), -10);
}

void os_thread_hurry(void)
{
	os_thread_first();
	/* else its sleeps may end 50 us late, with a timer of the program's that is due by then */
	prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
#ifdef SYS_sched_setattr
	/* struct sched_attr of the kernel, as it was at first */
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} a = {.size = sizeof(a)};

	if (syscall(SYS_sched_getattr, 0, &a, sizeof(a), 0) || a.policy != SCHED_OTHER)
		return;
	a.size = sizeof(a);
	a.runtime = 100 * NS_PER_US;
	syscall(SYS_sched_setattr, 0, &a, 0);
#endif
}

/* A mark is the number of the thread's folder, which the kernel gives anew to each (but also after it forgot one). */
int os_each_thread(void (*fn)(pid_t tid, uint64_t mark, void *arg), void *arg)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			fn((pid_t)atoi(entry->d_name), entry->d_ino, arg);
	closedir(dir);
	return 0;
}

/* The folder's links: two, and one for each thread (proc_task_getattr, since Linux 2.6). */
uint32_t os_thread_count(void)
{
	struct stat st;

	return stat("/proc/self/task", &st) == 0 && st.st_nlink > 2 ? (uint32_t)st.st_nlink - 2 : 0;
}

static int open_file(pid_t tid, const char *file)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, file);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* What FD tells now, from its beginning; "" when the thread is gone. */
static void read_open(int fd, char *text, size_t size)
{
	ssize_t n = fd < 0 ? -1 : pread(fd, text, size - 1, 0);

	text[n > 0 ? n : 0] = '\0';
}

/* The beginning of /proc/self/task/TID/FILE to TEXT; "" when the thread is gone. */
static void read_file(pid_t tid, const char *file, char *text, size_t size)
{
	int fd = open_file(tid, file);

	read_open(fd, text, size);
	if (fd >= 0)
		close(fd);
}

void os_thread_name(pid_t tid, char *name, size_t size)
{
	read_file(tid, "comm", name, size);
	name[strcspn(name, "\n")] = '\0';
}

/* Field 22 of stat(5), in ticks of the clock that also runs while the machine sleeps. */
uint64_t os_thread_born(pid_t tid)
{
	char text[1024];
	unsigned long long ticks;
	const char *at;
	int field;

	read_file(tid, "stat", text, sizeof(text));
	at = strrchr(text, ')'); /* the name before it may hold anything */
	for (field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, "%llu", &ticks) == 1 ? ticks + 1 : 0;
}

uint64_t os_thread_start(pid_t tid)
{
	uint64_t born = os_thread_born(tid), now = os_monotonic(), boot = clock_ns(CLOCK_BOOTTIME), start, slept;

	if (!born || !boot)
		return 0;
	slept = boot - now;
	start = (born - 1) * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
	return start > slept ? start - slept : 1;
}

/* "running", "7 0x3 … 0x7f…sp 0x7f…pc", or "-1 sp pc" where it waits outside a system call (proc(5)). */
enum os_waits os_thread_waits_at(int fd, uintptr_t *sp, uintptr_t *pc)
{
	char text[256], *last, *one;

	read_open(fd, text, sizeof(text));
	last = strrchr(text, ' ');
	if (!last)
		return text[0] ? OS_RUNS : OS_GONE;
	*pc = strtoull(last, NULL, 16);
	*last = '\0';
	one = strrchr(text, ' ');
	*sp = one ? strtoull(one, NULL, 16) : 0;
	return *sp && *pc ? OS_WAITS : OS_RUNS;
}

int os_thread_waits_open(pid_t tid)
{
	return open_file(tid, "syscall");
}

bool os_thread_waits(pid_t tid, uintptr_t *sp, uintptr_t *pc)
{
	int fd = os_thread_waits_open(tid);
	bool waits = os_thread_waits_at(fd, sp, pc) == OS_WAITS;

	if (fd >= 0)
		close(fd);
	return waits;
}

/* "12345 678 9": ns on a CPU, ns that it waited for one, how often it got one. */
bool os_thread_schedule(pid_t tid, struct os_schedule *s)
{
	unsigned long long on, ready, turns;
	char text[128];

	read_file(tid, "schedstat", text, sizeof(text));
	if (sscanf(text, "%llu %llu %llu", &on, &ready, &turns) != 3)
		return false;
	*s = (struct os_schedule){on, ready, (uint32_t)turns};
	return true;
}

uint32_t os_thread_turns(pid_t tid)
{
	struct os_schedule s;

	return os_thread_schedule(tid, &s) ? s.turns : 0;
}

bool os_thread_futex_word(pid_t tid, uintptr_t *word)
{
	unsigned long long at;
	char text[256];
	int call;

	*word = 0;
	read_file(tid, "syscall", text, sizeof(text));
	if (sscanf(text, "%d %llx", &call, &at) == 2 && call == SYS_futex)
		*word = (uintptr_t)at;
	return text[0];
}

/* "202 0x7f…word 0x189 …": the operation's low bits are what is asked, see futex(2). */
static uintptr_t futex_of(pid_t tid, unsigned wanted)
{
	unsigned long long word, operation;
	char text[256];
	int call;

	read_file(tid, "syscall", text, sizeof(text));
	if (sscanf(text, "%d %llx %llx", &call, &word, &operation) != 3 || call != SYS_futex ||
	    (operation & FUTEX_CMD_MASK) != wanted)
		return 0;
	return (uintptr_t)word;
}

uintptr_t os_thread_futex(pid_t tid)
{
	return futex_of(tid, FUTEX_WAIT_BITSET);
}

uintptr_t os_thread_lock(pid_t tid)
{
	return futex_of(tid, FUTEX_WAIT);
}

/* "123 (a name) S …": the state stands behind the last parenthesis. */
char os_thread_state(pid_t tid)
{
	char text[256], *name;

	read_file(tid, "stat", text, sizeof(text));
	name = strrchr(text, ')');
	return name && name[1] == ' ' ? name[2] : '\0';
}

/*
 * The number behind LABEL ("\nSigBlk:\t") in status, in base 16; 0: there is none. A line of it (Groups) may be of any
 * length, and the caller's stack small: letter by letter.
 */
static uint64_t status_hex(pid_t tid, const char *label)
{
	int fd = open_file(tid, "status");
	size_t matched = 0, length = strlen(label);
	uint64_t value = 0;
	bool ended = false;
	char piece[512];
	ssize_t n, i;

	while (fd >= 0 && !ended && (n = read(fd, piece, sizeof(piece))) > 0) {
		for (i = 0; i < n && !ended; i++) {
			if (matched == length && !(ended = piece[i] == '\n'))
				value = value << 4 | (piece[i] <= '9' ? piece[i] - '0' : piece[i] - 'a' + 10);
			else if (matched < length)
				matched = piece[i] == label[matched] ? matched + 1 : piece[i] == label[0];
		}
	}
	if (fd >= 0)
		close(fd);
	return value;
}

bool os_thread_blocks(pid_t tid, int signo)
{
	return status_hex(tid, "\nSigBlk:\t") >> (signo - 1) & 1;
}

bool os_thread_runs(pid_t tid)
{
	char state = os_thread_state(tid);

	return state == 'R' || state == 'D';
}

bool os_thread_exists(pid_t tid)
{
	return syscall(SYS_tgkill, getpid(), tid, 0) == 0 || errno != ESRCH;
}

const char *os_thread_policy(pid_t tid)
{
	switch (sched_getscheduler(tid)) {
	case SCHED_OTHER:
		return "SCHED_OTHER";
	case SCHED_BATCH:
		return "SCHED_BATCH";
	case SCHED_IDLE:
		return "SCHED_IDLE";
	case SCHED_FIFO:
		return "SCHED_FIFO";
	case SCHED_RR:
		return "SCHED_RR";
	case -1:
		return NULL;
	default:
		return "SCHED_DEADLINE";
	}
}

unsigned os_cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);

	return n > 0 ? (unsigned)n : 1;
}

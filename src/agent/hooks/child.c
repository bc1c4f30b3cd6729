#include "agent/hooks/child.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/hooks/libc_calls.h"
#include "agent/hooks/signal_action.h"
#include "agent/walk/fault.h"
#include "agent/zone/zone.h"
#include "common/base/base.h"

#define SOCKETS 256 /* conversations and streams at a time; of more, children keep the oldest */

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t *word;
static struct {
	_Atomic int fd; /* + 1; 0: unused */
	ino_t socket;
} sockets[SOCKETS];
static uint32_t next;
static struct {
	_Atomic int signo; /* 0: none */
	void (*ours)(int, siginfo_t *, void *);
	struct sigaction former;
} given;

/* ---- in the child: nothing but what may run in a signal handler ---- */

static bool is_socket(int fd, ino_t socket)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_ino == socket;
}

/* The number is another file's by now, if the parent's threads were just at it. */
static bool is_event(int fd)
{
	char path[32], target[32];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, target, sizeof(target) - 1);
	target[MAX(n, (ssize_t)0)] = '\0';
	return strcmp(target, "anon_inode:[perf_event]") == 0;
}

static void close_events(void)
{
	uint32_t i, e, count = atomic_load(&zone.records.count);

	for (i = 0; zone.records.records && i < count; i++)
		for (e = 0; e < zone.event_count; e++) {
			int fd = zone.records.records[i].sources[e].fd;

			if (fd > 0 && is_event(fd))
				close(fd);
		}
}

static void give_back(void)
{
	int signo = atomic_load(&given.signo);
	struct sigaction now;

	if (signo && sigaction(signo, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
	    now.sa_sigaction == given.ours)
		sigaction(signo, &given.former, NULL);
}

static void in_child(void)
{
	size_t i;
	int fd;

	atomic_store(word, 0);
	fault_of_child();
	signals_of_child();
	give_back();
	for (i = 0; i < SOCKETS; i++) {
		fd = atomic_load(&sockets[i].fd) - 1;
		if (fd >= 0 && is_socket(fd, sockets[i].socket))
			close(fd);
	}
	close_events();
}

/* ---- in the parent ---- */

static void watch(void)
{
	size_t page = (size_t)getpagesize();
	void *fresh = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static _Atomic uint32_t plain;

	/* An old kernel does not wipe it: then the atfork handler's word counts alone. */
	word = fresh != MAP_FAILED ? fresh : &plain;
	if (fresh != MAP_FAILED)
		madvise(fresh, page, MADV_WIPEONFORK);
	atomic_store(word, 1);
	zone.parent = word;
	libc_at_fork_in_child(in_child);
}

bool child_is_here(void)
{
	return zone.parent && zone_in_child();
}

void child_watch(void)
{
	pthread_mutex_lock(&lock);
	if (!word)
		watch();
	pthread_mutex_unlock(&lock);
}

void child_closes(int fd)
{
	struct stat st;
	uint32_t i;

	child_watch();
	if (fstat(fd, &st))
		return;
	pthread_mutex_lock(&lock);
	for (i = 0; i < SOCKETS; i++)
		if (atomic_load(&sockets[i].fd) == fd + 1)
			break;
	if (i == SOCKETS)
		i = next++ % SOCKETS;
	atomic_store(&sockets[i].fd, 0);
	sockets[i].socket = st.st_ino;
	atomic_store(&sockets[i].fd, fd + 1);
	pthread_mutex_unlock(&lock);
}

void child_gives_back(int signo, void (*ours)(int, siginfo_t *, void *), const struct sigaction *former)
{
	child_watch();
	atomic_store(&given.signo, 0);
	given.ours = ours;
	given.former = *former;
	atomic_store(&given.signo, signo);
}

void child_keeps_signal(void)
{
	atomic_store(&given.signo, 0);
}

/*
 * io_hooks.h - the functions of libc that read, write, connect and the like, replaced in the images of the process
 * while a session has the event (hooked_calls.h). Any thread in normal code.
 *
 * Not among them are poll, select and epoll_wait, which wait until there is something to do, and close.
 */
#ifndef AGENT_SOURCES_IO_IO_HOOKS_H
#define AGENT_SOURCES_IO_IO_HOOKS_H

#include <sys/socket.h>

#include "agent/sources/timed_calls.h"
#include "common/words/enum_names.h"

/* A call as the program made it, and what came of it. */
struct io_call {
	enum io_operation operation;
	int fd;             /* what it was about; of open and accept: what was opened, below 0: nothing */
	int64_t result;     /* bytes, or below 0 */
	uint64_t wanted;    /* bytes that there was room for */
	const char *path;   /* of open */
	const struct sockaddr *peer; /* whose address the call had, or brought; NULL: none */
	socklen_t peer_length;
};

/* CALL of io_calls has ended, FROM there, and is a sample. errno is kept by who calls this. */
typedef void io_sampled_fn(const struct timed_call *call, const struct io_call *what, const struct walk_caller *from);

extern struct timed_calls io_calls;

/* Calls that go on and were not told of for a while are now, for who sees each sample. The collector, no lock held. */
void io_tell_lately(void);

/* What a call that goes on is about, in the word that timed_tell_open has. */
static inline uint64_t io_word(enum io_operation operation, int fd)
{
	return (uint64_t)operation << 32 | (uint32_t)fd;
}

/* Replace them; samples go to FN. False: another copy of this library does not let us. */
bool io_hooks_install(io_sampled_fn *fn);
/* Images may have come since. */
void io_hooks_refresh(void);
/* Put back what was there. Calls that go on meanwhile pass on. */
void io_hooks_remove(void);

#endif

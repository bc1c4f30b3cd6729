/*
 * signal_chain.h - a handler of ours before those that a signal has, and back. Inner header of the hooks room; normal
 * code, and unless it says otherwise with the lock of copies held (copies.h).
 *
 * Copies of this library put theirs before each other's, and lead to each other. One that goes while another stands
 * before it stays in the chain and passes on; the last to go takes it out.
 */
#ifndef JSTROBE_HOOKS_SIGNAL_CHAIN_H
#define JSTROBE_HOOKS_SIGNAL_CHAIN_H

#include <signal.h>

#include "agent/hooks/copies.h"

#define SIGNAL_FORMERS 8

struct signal_chain {
	int signo;
	int flags;                                /* of ours, beside those of who comes behind it */
	void (*handler)(int, siginfo_t *, void *); /* ours */
	const struct sigaction *_Atomic *former;  /* whom the handler passes on to */
	size_t link;                              /* offset in struct copy of what copies know of each other's */

	/* signal_chain.c's own: whom ours has ever passed on to; handlers read them at any time */
	struct sigaction formers[SIGNAL_FORMERS];
	uint32_t bound;
};

static inline bool signal_chain_is_ours(const struct signal_chain *c, const struct sigaction *a)
{
	return a->sa_flags & SA_SIGINFO && a->sa_sigaction == c->handler;
}

/* Who is reached by A, behind all copies before it; one of them if they go in a circle. Without the lock, too. */
const struct sigaction *signal_chain_behind(const struct signal_chain *c, const struct sigaction *a);
/* Ours before NOW, with its mask and flags; before who came between, too. -ENOSPC: it has stood before too many. */
int signal_chain_put_before(struct signal_chain *c, const struct sigaction *now);
/* Ours stands first: put back who came before us, and is still wanted. */
void signal_chain_put_back(struct signal_chain *c);

#endif

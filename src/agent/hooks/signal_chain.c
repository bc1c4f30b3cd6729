#include "agent/hooks/signal_chain.h"

#include <errno.h>
#include <string.h>

#include "agent/walk/fault.h"
#include "common/base/base.h"

/* NULL: C is of a build that has none. */
static struct copy_link *link_of(const struct signal_chain *chain, struct copy *c)
{
	return c->size >= chain->link + sizeof(struct copy_link) ? (struct copy_link *)((char *)c + chain->link) : NULL;
}

/* What other copies see of ours. */
static struct copy_link *own_link(const struct signal_chain *c)
{
	return link_of(c, &jstrobe_copy);
}

/* The other copy whose handler A installs, or NULL. */
static struct copy_link *copy_of(const struct signal_chain *chain, const struct sigaction *a)
{
	struct copy_link *link;
	struct copy *c;
	uint32_t n;

	for (n = 0; a->sa_flags & SA_SIGINFO && (c = copies_other(n)) != NULL; n++) {
		link = link_of(chain, c);
		if (link && (void *)a->sa_sigaction == atomic_load(&link->handler))
			return link;
	}
	return NULL;
}

const struct sigaction *signal_chain_behind(const struct signal_chain *chain, const struct sigaction *a)
{
	const struct copy_link *copy;
	const struct sigaction *former;
	int steps;

	for (steps = 0; steps <= COPIES_MAX && (copy = copy_of(chain, a)) != NULL; steps++, a = former)
		if (!(former = atomic_load(&copy->former)))
			break;
	return a;
}

static bool is_same(const struct sigaction *a, const struct sigaction *b)
{
	return a->sa_handler == b->sa_handler && a->sa_flags == b->sa_flags &&
	       memcmp(&a->sa_mask, &b->sa_mask, FAULT_MASK_BYTES) == 0;
}

/* Ours passes on to A from here on; false: to too many already. */
static bool pass_on_to(struct signal_chain *c, const struct sigaction *a)
{
	uint32_t n = 0;

	while (n < c->bound && !is_same(&c->formers[n], a))
		n++;
	if (n == SIGNAL_FORMERS)
		return false;
	if (n == c->bound)
		c->formers[c->bound++] = *a;
	atomic_store(c->former, &c->formers[n]);
	atomic_store(&own_link(c)->former, &c->formers[n]);
	return true;
}

int signal_chain_put_before(struct signal_chain *c, const struct sigaction *now)
{
	struct sigaction ours = *now, was;

	if (!pass_on_to(c, now))
		return -ENOSPC;
	ours.sa_flags |= SA_SIGINFO | c->flags;
	ours.sa_flags &= ~SA_RESETHAND;
	ours.sa_sigaction = c->handler;
	if (sigaction(c->signo, &ours, &was))
		return -errno;
	atomic_store(&own_link(c)->handler, (void *)c->handler);
	if (!signal_chain_is_ours(c, &was) && !is_same(&was, now) && !pass_on_to(c, &was))
		return -ENOSPC;
	return 0;
}

void signal_chain_put_back(struct signal_chain *c)
{
	const struct sigaction *former = atomic_load(c->former);
	struct copy_link *gone[COPIES_MAX], *link;
	struct sigaction was;
	size_t n = 0;

	while (n < ARRAY_LEN(gone) && (link = copy_of(c, former)) != NULL && !atomic_load(&link->wanted)) {
		gone[n++] = link;
		former = atomic_load(&link->former);
	}
	if (sigaction(c->signo, former, &was))
		return;
	/* Who came between has ours to pass on to. */
	if (!signal_chain_is_ours(c, &was)) {
		sigaction(c->signo, &was, NULL);
		return;
	}
	atomic_store(&own_link(c)->handler, NULL);
	while (n)
		atomic_store(&gone[--n]->handler, NULL);
}

#include "agent/hooks/traps.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "agent/hooks/copies.h"
#include "agent/zone/trap.h"
#include "common/os/os.h"

#define LIMIT_MS 5000 /* as for the engine's signal */
#define FORMERS 8

/* Whom ours has ever passed on to. The handler reads them at any time. */
static struct sigaction formers[FORMERS];
static uint32_t bound;
static uint64_t met_before;

static bool is_ours(const struct sigaction *a)
{
	return a->sa_flags & SA_SIGINFO && a->sa_sigaction == trap_handler;
}

static bool is_same(const struct sigaction *a, const struct sigaction *b)
{
	return a->sa_handler == b->sa_handler && a->sa_flags == b->sa_flags &&
	       memcmp(&a->sa_mask, &b->sa_mask, sizeof(a->sa_mask)) == 0;
}

/* The other copy whose handler A installs, or NULL. */
static struct copy_link *copy_of(const struct sigaction *a)
{
	struct copy *c;
	uint32_t n;

	for (n = 0; a->sa_flags & SA_SIGINFO && (c = copies_other(n)) != NULL; n++)
		if (COPY_HAS(c, trap) && (void *)a->sa_sigaction == atomic_load(&c->trap.handler))
			return &c->trap;
	return NULL;
}

/* Whether A leads to ours by copies alone. */
static bool leads(const struct sigaction *a)
{
	const struct copy_link *copy;
	int steps;

	for (steps = 0; a && !is_ours(a) && steps <= COPIES_MAX; steps++) {
		copy = copy_of(a);
		a = copy ? atomic_load(&copy->former) : NULL;
	}
	return a && is_ours(a);
}

static int pass_on_to(const struct sigaction *a)
{
	uint32_t n = 0;

	while (n < bound && !is_same(&formers[n], a))
		n++;
	if (n == FORMERS)
		return -ENOSPC;
	if (n == bound)
		formers[bound++] = *a;
	atomic_store(&trap_former, &formers[n]);
	atomic_store(&jstrobe_copy.trap.former, &formers[n]);
	return 0;
}

/* The lock of copies is held. */
static int put_before(struct error *err)
{
	struct sigaction now, ours;

	if (sigaction(SIGTRAP, NULL, &now))
		return error_set(err, errno, "cannot look at the handler of SIGTRAP: %s", error_text(errno));
	if (atomic_load(&jstrobe_copy.trap.handler)) /* it has stayed in the chain */
		return leads(&now) ? 0 : error_set(err, EBUSY, "breakpoints: another library has put its handler of "
						   "SIGTRAP before that of jstrobe and may not pass on to it; without "
						   "it some hypervisors end the process at a breakpoint");
	if (pass_on_to(&now))
		return error_set(err, ENOSPC, "breakpoints: the handler of SIGTRAP has changed too often in this "
				 "process (%d times); restart it", FORMERS);
	ours = now;
	ours.sa_flags |= SA_SIGINFO | SA_ONSTACK;
	ours.sa_flags &= ~SA_RESETHAND;
	ours.sa_sigaction = trap_handler;
	if (sigaction(SIGTRAP, &ours, NULL))
		return error_set(err, errno, "cannot install a handler of SIGTRAP: %s", error_text(errno));
	atomic_store(&jstrobe_copy.trap.handler, (void *)trap_handler);
	return 0;
}

int traps_take(struct error *err)
{
	int rc;

	if (atomic_load(&trap_armed))
		return 0;
	copies_look();
	if (!copies_lock(LIMIT_MS))
		return error_set(err, EBUSY, "another copy of libjstrobe.so in this process is just starting or ending "
				 "a session; try again");
	rc = put_before(err);
	atomic_store(&jstrobe_copy.trap.wanted, rc == 0);
	copies_unlock();
	if (rc)
		return rc;
	met_before = atomic_load(&trap_unnamed);
	atomic_store(&trap_armed, true);
	return 0;
}

/* Ours stands first: put back who came before us and is still wanted. */
static void put_back(void)
{
	const struct sigaction *former = atomic_load(&trap_former);
	struct copy_link *gone[COPIES_MAX];
	size_t n = 0;

	while (n < ARRAY_LEN(gone) && (gone[n] = copy_of(former)) != NULL && !atomic_load(&gone[n]->wanted))
		former = atomic_load(&gone[n++]->former);
	if (sigaction(SIGTRAP, former, NULL))
		return;
	atomic_store(&jstrobe_copy.trap.handler, NULL);
	while (n)
		atomic_store(&gone[--n]->handler, NULL);
}

/* A thread may have met a breakpoint and not yet had its signal: see signals_give_back(). */
void traps_give_back(void)
{
	struct sigaction now;
	bool locked;

	if (!atomic_load(&trap_armed))
		return;
	os_wait_for_cpus();
	locked = copies_lock(LIMIT_MS);
	atomic_store(&jstrobe_copy.trap.wanted, 0);
	if (locked && sigaction(SIGTRAP, NULL, &now) == 0 && is_ours(&now))
		put_back();
	if (locked)
		copies_unlock();
	atomic_store(&trap_armed, false);
}

uint64_t traps_met(void)
{
	return atomic_load(&trap_unnamed) - met_before;
}

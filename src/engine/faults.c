/*
 * faults.c - SIGSEGV and SIGBUS: put our handler before the JVM's, and back.
 *
 * Copies of this library put theirs before each other's. One that goes while another stands before it stays in the
 * chain and passes on; the last to go takes it out. So whatever the order, the JVM's own is there in the end.
 */
#include <errno.h>
#include <string.h>

#include "engine/copies.h"
#include "engine/engine.h"
#include "signal/fault.h"

#define LIMIT_MS 1000 /* another copy changes actions for microseconds */

static const int signals[2] = {SIGSEGV, SIGBUS};

/* Ours before FORMER, with its mask and flags: what is passed on runs as it always did. */
static int put(int signo, const struct sigaction *former)
{
	struct sigaction ours = *former;

	ours.sa_flags |= SA_SIGINFO;
	ours.sa_flags &= ~SA_RESETHAND;
	ours.sa_sigaction = fault_handler;
	return sigaction(signo, &ours, NULL);
}

static int install(size_t i, struct error *err)
{
	struct copy_link *own = &jstrobe_copy.faults[i];

	atomic_store(&own->wanted, 1);
	if (atomic_load(&own->handler))
		return 0;
	if (sigaction(signals[i], NULL, &fault_former[i]))
		return error_set(err, errno, "cannot read the handler of signal %d: %s", signals[i], strerror(errno));
	if (put(signals[i], &fault_former[i]))
		return error_set(err, errno, "cannot install a handler for signal %d: %s", signals[i],
				 strerror(errno));
	atomic_store(&own->former, &fault_former[i]);
	atomic_store(&own->handler, (void *)fault_handler);
	return 0;
}

int faults_install(struct error *err)
{
	bool locked = copies_lock(LIMIT_MS);
	size_t i;
	int rc = 0;

	for (i = 0; i < ARRAY_LEN(signals) && !rc; i++)
		rc = install(i, err);
	if (locked)
		copies_unlock();
	return rc;
}

void faults_keep(void)
{
	struct sigaction now;
	size_t i;

	for (i = 0; i < ARRAY_LEN(signals); i++)
		if (atomic_load(&jstrobe_copy.faults[i].handler) && sigaction(signals[i], NULL, &now) == 0 &&
		    now.sa_handler == fault_former[i].sa_handler && copies_lock(0)) {
			put(signals[i], &fault_former[i]);
			copies_unlock();
		}
}

/* The copy whose handler for signal I is installed by ACTION, and not wanted any more; or NULL. */
static struct copy_link *unwanted(size_t i, const struct sigaction *action)
{
	struct copy *c;
	uint32_t n;

	for (n = 0; (c = copies_other(n)) != NULL; n++)
		if (action->sa_flags & SA_SIGINFO && !atomic_load(&c->faults[i].wanted) &&
		    (void *)action->sa_sigaction == atomic_load(&c->faults[i].handler))
			return &c->faults[i];
	return NULL;
}

/* Ours stands first: put back who came before us, and is still wanted. */
static void put_back(size_t i)
{
	const struct sigaction *former = &fault_former[i];
	struct copy_link *gone[COPIES_MAX];
	size_t n = 0;

	while (n < ARRAY_LEN(gone) && (gone[n] = unwanted(i, former)) != NULL)
		former = atomic_load(&gone[n++]->former);
	if (sigaction(signals[i], former, NULL))
		return;
	atomic_store(&jstrobe_copy.faults[i].handler, NULL);
	while (n)
		atomic_store(&gone[--n]->handler, NULL);
}

void faults_remove(void)
{
	bool locked = copies_lock(LIMIT_MS);
	struct sigaction now;
	size_t i;

	for (i = 0; i < ARRAY_LEN(signals); i++) {
		atomic_store(&jstrobe_copy.faults[i].wanted, 0);
		if (!locked || !atomic_load(&jstrobe_copy.faults[i].handler) || sigaction(signals[i], NULL, &now))
			continue;
		/* What came after us may call us: then ours stays in the chain. */
		if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == fault_handler)
			put_back(i);
	}
	if (locked)
		copies_unlock();
}

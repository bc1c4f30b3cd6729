#include "agent/hooks/traps.h"

#include <errno.h>
#include <stddef.h>

#include "agent/hooks/copies.h"
#include "agent/hooks/signal_chain.h"
#include "agent/zone/trap.h"
#include "common/os/os.h"

#define LIMIT_MS 5000 /* as for the engine's signal */

static struct signal_chain chain = {
	.signo = SIGTRAP, .flags = SA_ONSTACK, .handler = trap_handler, .former = &trap_former,
	.link = offsetof(struct copy, trap),
};
static uint64_t met_before;

/* The lock of copies is held. */
static int put_before(struct error *err)
{
	struct sigaction now;
	int rc;

	if (sigaction(SIGTRAP, NULL, &now))
		return error_set(err, errno, "cannot look at the handler of SIGTRAP: %s", error_text(errno));
	if (atomic_load(&jstrobe_copy.trap.handler)) /* it has stayed in the chain */
		return signal_chain_is_ours(&chain, signal_chain_behind(&chain, &now)) ? 0 :
		       error_set(err, EBUSY, "breakpoints: another library has put its handler of SIGTRAP before that "
				 "of jstrobe and may not pass on to it; without it some hypervisors end the process at "
				 "a breakpoint");
	rc = signal_chain_put_before(&chain, &now);
	if (rc == -ENOSPC)
		return error_set(err, ENOSPC, "breakpoints: the handler of SIGTRAP has changed too often in this "
				 "process (%d times); restart it", SIGNAL_FORMERS);
	return rc ? error_set(err, -rc, "cannot install a handler of SIGTRAP: %s", error_text(-rc)) : 0;
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
	if (locked && sigaction(SIGTRAP, NULL, &now) == 0 && signal_chain_is_ours(&chain, &now))
		signal_chain_put_back(&chain);
	if (locked)
		copies_unlock();
	atomic_store(&trap_armed, false);
}

uint64_t traps_met(void)
{
	return atomic_load(&trap_unnamed) - met_before;
}

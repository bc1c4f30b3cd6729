#include "agent/trace_ticks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "agent/thread.h"
#include "instrument/tree.h"
#include "os/os.h"

#define PATIENCE (60 * NS_PER_S) /* for the turn that it is at: some 100 µs; the trees are freed behind it */

static struct {
	atomic_bool on, ended;
	uint64_t period;
} ticker;

static void *tick(void *data)
{
	uint64_t next = os_monotonic();

	pthread_setname_np(pthread_self(), "jstrobe tick");
	/* late ticks are fewer ticks, and the times less sure; where it is not permitted they are taken as they come */
	setpriority(PRIO_PROCESS, (id_t)os_gettid(), -10);
	while (atomic_load(&ticker.on)) {
		uint64_t now = os_monotonic();

		tree_tick();
		/* turns that were missed are not made up for: one stamp charges all of the time */
		next = MAX(next + ticker.period, now + ticker.period / 2);
		os_sleep(next > now ? next - now : 0);
	}
	atomic_store(&ticker.ended, true);
	return NULL;
}

int trace_ticks_start(uint64_t period, struct error *err)
{
	int rc;

	ticker.period = period;
	atomic_store(&ticker.on, true);
	atomic_store(&ticker.ended, false);
	rc = thread_start("jstrobe tick", tick, NULL, err);
	atomic_store(&ticker.on, rc == 0);
	return rc;
}

void trace_ticks_stop(void)
{
	uint64_t until = os_monotonic() + PATIENCE;

	if (!atomic_exchange(&ticker.on, false))
		return;
	while (!atomic_load(&ticker.ended) && os_monotonic() < until)
		os_sleep(100 * NS_PER_US);
}

#include "profile/readers/input/progress.h"

#include <pthread.h>
#include <stdatomic.h>

#include "profile/readers/readers.h"

static struct {
	readers_step *step;
	pthread_t thread;              /* that reads, others beside it */
	_Atomic uint64_t stopped;      /* at this byte; 0: not */
} progress;

void readers_watch(readers_step *step)
{
	progress.step = step;
}

void progress_begin(void)
{
	progress.thread = pthread_self();
	atomic_store(&progress.stopped, 0);
}

bool progress_goes_on(uint64_t done, uint64_t of)
{
	if (atomic_load(&progress.stopped))
		return false;
	if (!progress.step || !pthread_equal(pthread_self(), progress.thread) || progress.step(done, of))
		return true;
	atomic_store(&progress.stopped, MAX(done, 1));
	return false;
}

void progress_note(const char *name, uint64_t size, struct buffer *notes)
{
	uint64_t at = atomic_load(&progress.stopped);

	if (at)
		buffer_printf(notes, "%s: stopped at %llu MB of %llu MB; the result is of what was read until there\n",
			      name, (unsigned long long)(at >> 20), (unsigned long long)(size >> 20));
}

bool readers_were_stopped(void)
{
	return atomic_load(&progress.stopped) != 0;
}

#include "agent/threads/run_queue.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "common/os/os.h"

static struct run_note *notes; /* RUNS_LIMIT of them */
static _Atomic uint64_t head, tail;
/*
 * The note that lies first in the memory. Where all notes have been taken the next one begins there again: what is
 * touched is as much as waited at a time, and not all of it in the long run. Written before `head` that makes it known.
 */
static _Atomic uint64_t first;

int runs_open(struct error *err)
{
	size_t bytes = RUNS_LIMIT * sizeof(*notes);

	if (notes)
		return 0;
	notes = os_reserve(bytes);
	if (notes && os_make_writable(notes, bytes) == 0)
		return 0;
	notes = NULL;
	return error_set(err, ENOMEM, "cannot reserve address space for samples: %s; raise the limit of virtual memory "
			 "(ulimit -v)", error_text(errno));
}

void runs_release(void)
{
	if (notes)
		madvise(notes, RUNS_LIMIT * sizeof(*notes), MADV_DONTNEED);
	atomic_store(&head, 0);
	atomic_store(&tail, 0);
	atomic_store(&first, 0);
}

static struct run_note *place(uint64_t at)
{
	return &notes[(at - atomic_load_explicit(&first, memory_order_relaxed)) % RUNS_LIMIT];
}

bool runs_push(const struct run_note *n)
{
	uint64_t at = atomic_load_explicit(&head, memory_order_relaxed);
	uint64_t taken = atomic_load_explicit(&tail, memory_order_acquire);

	if (at - taken >= RUNS_LIMIT)
		return false;
	if (at == taken)
		atomic_store_explicit(&first, at, memory_order_relaxed);
	*place(at) = *n;
	atomic_store_explicit(&head, at + 1, memory_order_release);
	return true;
}

bool runs_pop(struct run_note *n)
{
	uint64_t at = atomic_load_explicit(&tail, memory_order_relaxed);

	if (at == atomic_load_explicit(&head, memory_order_acquire))
		return false;
	*n = *place(at);
	atomic_store_explicit(&tail, at + 1, memory_order_release);
	return true;
}

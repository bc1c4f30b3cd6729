/*
 * record_table.c - the memory of thread records and of the tables that find them.
 *
 * It is reserved once and never moves; what is used of it becomes writable in steps, and goes back after a session.
 */
#include "engine/record_table.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/child.h"
#include "engine/deferred.h"
#include "engine/engine.h"
#include "os/os.h"

#define RECORDS_AT_ONCE 4096 /* made writable in one step */

static uint32_t first_free;
static size_t writable; /* records whose memory may be written */

/* A table that is written at any place. */
static void *reserve_table(size_t bytes)
{
	void *p = os_reserve(bytes);

	if (!p || os_make_writable(p, bytes) == 0)
		return p;
	munmap(p, bytes);
	return NULL;
}

int records_open(struct error *err)
{
	struct record_table *t = &zone.records;

	child_watch();
	quiesce_open();
	if (!t->records)
		t->records = os_reserve(RECORD_LIMIT * sizeof(struct thread_record));
	if (!t->by_tcb)
		t->by_tcb = reserve_table(RECORD_SLOTS * sizeof(*t->by_tcb));
	if (!t->by_tid)
		t->by_tid = reserve_table(RECORD_SLOTS * sizeof(*t->by_tid));
	if (!zone.record_of_fd)
		zone.record_of_fd = reserve_table(ZONE_FDS * sizeof(*zone.record_of_fd));
	if (!t->records || !t->by_tcb || !t->by_tid || !zone.record_of_fd)
		return error_set(err, ENOMEM, "cannot reserve address space for thread records: %s; raise "
				 "the limit of virtual memory (ulimit -v)", strerror(errno));
	return 0;
}

/* Let record INDEX be written. Handlers look at all of them, but write no others. */
static bool make_writable(uint32_t index)
{
	size_t wanted = MIN(writable + RECORDS_AT_ONCE, (size_t)RECORD_LIMIT);

	if (index < writable)
		return true;
	if (os_make_writable(zone.records.records, wanted * sizeof(struct thread_record)))
		return false;
	writable = wanted;
	return true;
}

struct thread_record *record_table_unused(void)
{
	uint32_t i, count = atomic_load(&zone.records.count);

	for (i = first_free; i < count; i++)
		if (atomic_load(&zone.records.records[i].state) == RECORD_FREE) {
			first_free = i + 1;
			return &zone.records.records[i];
		}
	first_free = count;
	if (count == RECORD_LIMIT || !make_writable(count))
		return NULL;
	first_free = count + 1;
	zone.records.records[count].index = count;
	atomic_store(&zone.records.count, count + 1);
	return &zone.records.records[count];
}

void record_table_freed(uint32_t index)
{
	first_free = MIN(first_free, index);
}

void record_table_release(void)
{
	struct record_table *t = &zone.records;

	/* The address space stays (a stale hint must be readable), the memory goes back. */
	madvise(t->records, RECORD_LIMIT * sizeof(struct thread_record), MADV_DONTNEED);
	madvise(t->by_tcb, RECORD_SLOTS * sizeof(*t->by_tcb), MADV_DONTNEED);
	madvise(t->by_tid, RECORD_SLOTS * sizeof(*t->by_tid), MADV_DONTNEED);
	madvise(zone.record_of_fd, ZONE_FDS * sizeof(*zone.record_of_fd), MADV_DONTNEED);
	atomic_store(&t->count, 0);
	first_free = 0;
}

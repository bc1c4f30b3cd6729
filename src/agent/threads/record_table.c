/*
 * record_table.c - the memory of thread records and of the tables that find them.
 *
 * It is reserved once and never moves; what is used of it becomes writable in steps, and goes back after a session, or
 * when there have been fewer threads for a while: a crowd that came once must not cost its memory for ever, and where
 * thousands of threads a second come and go, there is a crowd whenever the collector comes late.
 */
#include "agent/threads/record_table.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/hooks/child.h"
#include "agent/threads/deferred.h"
#include "agent/threads/records.h"
#include "agent/zone/zone.h"
#include "common/base/error.h"
#include "common/base/pages.h"
#include "common/os/os.h"

#define RECORDS_AT_ONCE 4096     /* made writable in one step */
#define SHARE_OF_SLOTS 4         /* of the slots one in so many is in use, at most */
#define SHRINK_AFTER (20 * NS_PER_S) /* and not before twice this time in which there were fewer */
#define SHRINK_BY 64u            /* for fewer it is not worth it */
#define SPARE_CHUNKS 16384u

_Static_assert((RECORD_SLOTS & (RECORD_SLOTS - 1)) == 0 && RECORD_SLOTS_FIRST <= RECORD_SLOTS &&
	       (RECORD_SLOTS_FIRST & (RECORD_SLOTS_FIRST - 1)) == 0, "a mask takes a key to its slot");
_Static_assert(RECORD_LIMIT % 64 == 0 && RECORD_LIMIT % QUEUES_GROUP == 0, "whole words and groups of records");

static uint32_t first_free;
static size_t writable; /* records whose memory may be written */

static struct {
	uint64_t since;   /* the present period began */
	uint32_t most;    /* records in use at a time in it, up to the last one of them */
	uint32_t before;  /* in the one before */
	bool under_way;   /* those from `from` to `end` are being given back */
	uint32_t from, end;
} shrink;

static PAGED(struct stack_chunk) spare; /* that trimmed records had */

/* A table that is written at any place. */
static void *reserve_table(size_t bytes)
{
	void *p = os_reserve(bytes);

	if (!p || os_make_writable(p, bytes) == 0)
		return p;
	os_unreserve(p, bytes);
	return NULL;
}

const struct records_sources *record_sources;

int records_open(const struct records_sources *sources, struct error *err)
{
	struct record_table *t = &zone.records;

	record_sources = sources;
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
	if (!atomic_load(&t->mask))
		atomic_store(&t->mask, RECORD_SLOTS_FIRST - 1);
	if (!t->records || !t->by_tcb || !t->by_tid || !zone.record_of_fd)
		return error_set(err, ENOMEM, "cannot reserve address space for thread records: %s; raise "
				 "the limit of virtual memory (ulimit -v)", error_text(errno));
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

/*
 * Enter R where it will be found under MASK, beside all entries there are: those who look under the former mask still
 * find what they look for. Without effect if it is found already, or if no slot near its home is empty.
 */
static void enter_beside(_Atomic(struct thread_record *) *table, bool tid, struct thread_record *r, uint32_t mask)
{
	uintptr_t key = record_key(r, tid);
	uint32_t i, at = record_hash(key);

	for (i = 0; i < RECORD_PROBES; i++) {
		struct thread_record *there = NULL;

		if (atomic_compare_exchange_strong(&table[(at + i) & mask], &there, r) || there == r)
			return;
	}
}

/*
 * More slots, before there are too many records for those there are: entries for them first, then the wider mask, then
 * what found no empty slot takes a stale one. What a handler enters meanwhile under the former mask it enters again, or
 * the second round does.
 */
static void widen(uint32_t count)
{
	struct record_table *t = &zone.records;
	uint32_t mask = atomic_load(&t->mask), round, i;

	if (count < (mask + 1) / SHARE_OF_SLOTS || mask == RECORD_SLOTS - 1)
		return;
	mask = MIN(mask * 4 + 3, RECORD_SLOTS - 1); /* the last step may be a smaller one */
	for (round = 0; round < 2; round++) {
		for (i = 0; i < count; i++) {
			struct thread_record *r = &t->records[i];

			if (atomic_load(&r->state) != RECORD_LIVE)
				continue;
			(round ? record_enter_under : enter_beside)(t->by_tid, true, r, mask);
			if (atomic_load(&r->tcb))
				(round ? record_enter_under : enter_beside)(t->by_tcb, false, r, mask);
		}
		atomic_store(&t->mask, mask);
	}
}

/* Record INDEX, at the end of those that have been in use. NULL: there are no more. */
static struct thread_record *one_more(uint32_t index)
{
	struct thread_record *r = &zone.records.records[index];

	if (index == RECORD_LIMIT || !make_writable(index))
		return NULL;
	widen(index);
	shrink.from = MAX(shrink.from, index + 1);
	r->index = index;
	atomic_store(&zone.records.count, index + 1);
	return r;
}

struct thread_record *record_table_unused(void)
{
	uint32_t i, count = atomic_load(&zone.records.count);
	struct thread_record *r;

	for (i = first_free; i < count; i++)
		if (atomic_load(&zone.records.records[i].state) == RECORD_FREE)
			break;
	r = i < count ? &zone.records.records[i] : one_more(i);
	first_free = r ? i + 1 : i;
	shrink.most = MAX(shrink.most, first_free);
	return r;
}

void record_table_freed(uint32_t index)
{
	first_free = MIN(first_free, index);
}

/* ---- fewer again ---- */

/* The number of records up to the last one that is in use. */
static uint32_t in_use(void)
{
	uint32_t count = atomic_load(&zone.records.count);

	while (count && atomic_load(&zone.records.records[count - 1].state) == RECORD_FREE)
		count--;
	return count;
}

uint32_t record_table_shrink(uint64_t now)
{
	uint32_t count = atomic_load(&zone.records.count), wanted;

	if (now - shrink.since < SHRINK_AFTER || shrink.under_way)
		return 0;
	wanted = MAX(shrink.most, shrink.before);
	shrink.since = now;
	shrink.before = shrink.most;
	shrink.most = in_use();
	wanted = (MAX(wanted, shrink.most) + QUEUES_GROUP - 1) & ~(QUEUES_GROUP - 1);
	if (count < wanted + SHRINK_BY || !wanted)
		return 0;
	shrink.under_way = true;
	shrink.from = wanted;
	shrink.end = count;
	first_free = MIN(first_free, wanted);
	atomic_store(&zone.records.count, wanted);
	return wanted;
}

/*
 * R's piece of the stack store is another's from now on. R must not have it as well: the pages at both ends of what
 * goes back are covered in part only and stay as they are. All other fields are made anew when a record is taken.
 */
static void keep_chunk(struct thread_record *r)
{
	struct stack_chunk *place = r->chunk.pos && spare.count < SPARE_CHUNKS ? PAGED_PUSH(&spare) : NULL;

	if (place)
		*place = r->chunk;
	r->chunk = (struct stack_chunk){0};
}

struct stack_chunk record_table_chunk(const struct thread_record *r)
{
	uint32_t generation = atomic_load(&zone.store.generation);
	const struct stack_chunk *own = &r->chunk;

	if (own->pos && own->generation == generation)
		return *own;
	while (spare.count) {
		const struct stack_chunk *c = &spare.items[--spare.count];

		if (c->generation == generation)
			return *c;
	}
	return *own;
}

void record_table_trim(uint32_t from)
{
	uint32_t first = MAX(shrink.from, from), i;
	uintptr_t begin, end;

	shrink.under_way = false;
	if (first >= shrink.end)
		return;
	first = (first + QUEUES_GROUP - 1) & ~(QUEUES_GROUP - 1);
	for (i = first; i < shrink.end; i++)
		keep_chunk(&zone.records.records[i]);
	queues_release(first, (shrink.end + QUEUES_GROUP - 1) & ~(QUEUES_GROUP - 1));
	begin = ((uintptr_t)&zone.records.records[first] + 4095) & ~(uintptr_t)4095;
	end = (uintptr_t)&zone.records.records[shrink.end] & ~(uintptr_t)4095;
	if (begin < end)
		madvise((void *)begin, end - begin, MADV_DONTNEED);
	record_sources->trimmed(first, shrink.end);
}

void record_table_release(void)
{
	struct record_table *t = &zone.records;

	/* The address space stays (a stale hint must be readable), the memory goes back. */
	madvise(t->records, RECORD_LIMIT * sizeof(struct thread_record), MADV_DONTNEED);
	madvise(t->by_tcb, RECORD_SLOTS * sizeof(*t->by_tcb), MADV_DONTNEED);
	madvise(t->by_tid, RECORD_SLOTS * sizeof(*t->by_tid), MADV_DONTNEED);
	madvise(zone.record_of_fd, ZONE_FDS * sizeof(*zone.record_of_fd), MADV_DONTNEED);
	queues_release(0, RECORD_LIMIT);
	PAGED_FREE(&spare);
	memset(&shrink, 0, sizeof(shrink));
	atomic_store(&t->count, 0);
	atomic_store(&t->mask, RECORD_SLOTS_FIRST - 1);
	first_free = 0;
}

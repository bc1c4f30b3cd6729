#include "agent/sources/nativemap/map_changes.h"

#include <stdatomic.h>

#include "common/base/clock_ns.h"
#include "common/os/os.h"

#define CHANGES 8192u
#define LONGEST NS_PER_S

/* A place's word is the ticket it is of, and how far that is. */
enum phase { WRITING, GOES_ON, HAPPENED, FAILED, PHASES };
#define STATE(ticket, phase) ((ticket) * PHASES + (phase))

struct entry {
	_Atomic uint64_t word;
	struct map_change change;
	_Atomic uint32_t owner; /* 0: its sample has not come yet */
};

static struct {
	struct entry *entries;
	_Atomic uint64_t begun, read; /* tickets; the first one is 1 */
	uint64_t gathered;            /* up to here they are read next; the reader's */
	uint64_t stands, since;       /* the ticket that the reader waits for, since when */
	_Atomic uint64_t missed;
} ring;

static struct entry *entry_of(uint64_t ticket)
{
	return &ring.entries[ticket % CHANGES];
}

bool map_changes_open(void)
{
	size_t bytes = CHANGES * sizeof(*ring.entries);
	void *room = ring.entries ? NULL : os_reserve(bytes);

	/* the address space stays reserved; the next try may find memory */
	if (room && os_make_writable(room, bytes) == 0)
		ring.entries = room;
	return ring.entries;
}

void map_changes_clear(void)
{
	uint64_t begun = atomic_load(&ring.begun);

	atomic_store(&ring.read, begun);
	ring.gathered = begun;
	atomic_store(&ring.missed, 0);
}

uint64_t map_change_begin(const struct map_change *c)
{
	uint64_t ticket = atomic_load(&ring.begun);
	struct entry *e;

	do {
		if (ticket - atomic_load(&ring.read) >= CHANGES) {
			atomic_fetch_add(&ring.missed, 1);
			return 0;
		}
	} while (!atomic_compare_exchange_weak(&ring.begun, &ticket, ticket + 1));
	ticket++;
	e = entry_of(ticket);
	atomic_store(&e->word, STATE(ticket, WRITING));
	e->change = *c;
	atomic_store_explicit(&e->owner, 0, memory_order_relaxed);
	atomic_store(&e->word, STATE(ticket, GOES_ON));
	return ticket;
}

void map_change_end(uint64_t ticket, bool happened)
{
	uint64_t on = STATE(ticket, GOES_ON);

	/* else the reader did not wait any longer */
	atomic_compare_exchange_strong(&entry_of(ticket)->word, &on, STATE(ticket, happened ? HAPPENED : FAILED));
}

void map_change_own(uint64_t ticket, uint32_t owner)
{
	uint64_t word = atomic_load(&entry_of(ticket)->word);

	if (word == STATE(ticket, GOES_ON) || word == STATE(ticket, HAPPENED))
		atomic_store(&entry_of(ticket)->owner, owner);
}

/* Whether the reader has waited for TICKET long enough. */
static bool waited(uint64_t ticket)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (ring.stands != ticket) {
		ring.stands = ticket;
		ring.since = now;
	}
	return now - ring.since > LONGEST;
}

/* What there is to say of TICKET, which has begun; false: not yet. */
static bool is_over(uint64_t ticket, bool *happened)
{
	struct entry *e = entry_of(ticket);
	uint64_t word = atomic_load(&e->word);

	*happened = word == STATE(ticket, HAPPENED);
	if (*happened || word == STATE(ticket, FAILED))
		return true;
	if (!waited(ticket))
		return false;
	/* its thread is gone, or a very large range takes its time: it was about to happen */
	if (word == STATE(ticket, GOES_ON) && atomic_compare_exchange_strong(&e->word, &word, STATE(ticket, HAPPENED)))
		*happened = true;
	else
		atomic_fetch_add(&ring.missed, 1);
	return true;
}

void map_changes_gather(void)
{
	uint64_t begun = atomic_load(&ring.begun);
	bool happened;

	while (ring.gathered < begun && is_over(ring.gathered + 1, &happened))
		ring.gathered++;
}

uint64_t map_changes_read(map_change_fn *fn, void *arg)
{
	uint64_t ticket = atomic_load(&ring.read);

	while (ticket < ring.gathered) {
		struct entry *e = entry_of(++ticket);

		if (atomic_load(&e->word) == STATE(ticket, HAPPENED))
			fn(&e->change, atomic_load(&e->owner), arg);
		atomic_store(&ring.read, ticket);
	}
	return atomic_exchange(&ring.missed, 0);
}

void map_changes_move(uint32_t (*fn)(uint32_t owner, void *arg), void *arg)
{
	uint64_t ticket, begun = atomic_load(&ring.begun);

	for (ticket = atomic_load(&ring.read) + 1; ticket <= begun; ticket++) {
		struct entry *e = entry_of(ticket);
		uint32_t owner = atomic_load(&e->word) / PHASES == ticket ? atomic_load(&e->owner) : 0;

		if (owner)
			atomic_store(&e->owner, fn(owner, arg));
	}
}

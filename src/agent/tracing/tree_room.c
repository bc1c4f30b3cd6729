/*
 * tree_room.c - address space for trees, in pieces as they are needed.
 *
 * No address is used twice: a probe that comes too late may still have one of an earlier session, and has to find
 * zeros there. A session goes on in the piece in which the one before has ended, so all of them together take what
 * their trees needed, and a JVM with little address space can be traced as often as it likes.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/tracing/tree_state.h"
#include "common/base/own_memory.h"
#include "common/base/vector.h"

#define PIECE (4ul << 20)

struct range {
	uintptr_t from, to;
};

static struct {
	pthread_mutex_t lock;
	uintptr_t at, end;           /* what is left of the last piece */
	VECTOR(struct range) given;  /* in this session; the last one grows */
} room = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uintptr_t round_up(uintptr_t size, uintptr_t to)
{
	return (size + to - 1) & ~(to - 1);
}

static uintptr_t page(void)
{
	return (uintptr_t)sysconf(_SC_PAGESIZE);
}

/* Address space for SIZE more bytes; lock held. */
static bool reserve(size_t size)
{
	size_t whole = round_up(MAX(size, PIECE), page());
	void *at = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return false;
	own_memory_add(at, whole);
	room.at = (uintptr_t)at;
	room.end = room.at + whole;
	return true;
}

/* The range that ends where the next bytes come from; NULL: no memory for it. Lock held. */
static struct range *range(void)
{
	struct range *last = room.given.count ? &room.given.items[room.given.count - 1] : NULL;

	if (last && last->to == room.at)
		return last;
	last = VECTOR_PUSH(&room.given);
	if (last)
		*last = (struct range){room.at, room.at};
	return last;
}

static uintptr_t take(size_t size)
{
	struct range *r;

	if (room.end - room.at < size && !reserve(size))
		return 0;
	r = range();
	if (!r)
		return 0;
	room.at += size;
	r->to = room.at;
	return room.at - size;
}

bool tree_room_begin(void)
{
	bool done;

	pthread_mutex_lock(&room.lock);
	/* pages are given back whole: no two sessions share one */
	room.at = MIN(round_up(room.at, page()), room.end);
	done = room.at < room.end || reserve(PIECE);
	pthread_mutex_unlock(&room.lock);
	return done;
}

uintptr_t tree_room(size_t size)
{
	uintptr_t at;

	pthread_mutex_lock(&room.lock);
	at = take(size);
	pthread_mutex_unlock(&room.lock);
	return at;
}

void tree_room_end(void)
{
	size_t i;

	pthread_mutex_lock(&room.lock);
	for (i = 0; i < room.given.count; i++)
		madvise((void *)room.given.items[i].from, room.given.items[i].to - room.given.items[i].from,
			MADV_DONTNEED);
	free(room.given.items);
	memset(&room.given, 0, sizeof(room.given));
	pthread_mutex_unlock(&room.lock);
}

/*
 * marks.c - the ring. Old marks are written over by new ones: the collector finds out by the numbers.
 */
#include "agent/context/marks.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/base.h"
#include "common/os/os.h"

#define RING (4u << 20)  /* bytes; a power of two */
#define ALIGN 8

struct header {
	uint64_t number;  /* of the mark, from 0 on */
	uint64_t time, duration;
	pid_t tid;
	uint32_t type;
	uint32_t length;  /* bytes behind the header */
	uint32_t size;    /* to the next header */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* never held for long: threads of the program take it */
static char *ring;         /* twice in a row would be simpler, and need a file: a mark never crosses the end */
static uint64_t begin, end; /* bytes ever: what is there, with gaps at the ring's end */
static _Atomic uint64_t next; /* number of the next mark */
static _Atomic uint64_t due;  /* of the next one to be read */
static _Atomic uint32_t heard;
static atomic_bool used;

static void note_use(void)
{
	if (unlikely(!atomic_load_explicit(&used, memory_order_relaxed)))
		atomic_store(&used, true);
}

static char *types[MARKS_TYPES];
static _Atomic uint32_t type_count;

/* ---- types ---- */

static int type_of(const char *name)
{
	uint32_t i, n = atomic_load(&type_count);

	for (i = 0; i < n; i++)
		if (strcmp(types[i], name) == 0)
			return (int)i + 1;
	if (n == MARKS_TYPES)
		return -ENOSPC;
	types[n] = strdup(name);
	if (!types[n])
		return -ENOMEM;
	atomic_store(&type_count, n + 1);
	return (int)n + 1;
}

int marks_type(const char *name)
{
	int type;

	if (!name || !name[0] || strlen(name) > MARKS_LONGEST)
		return -EINVAL;
	note_use();
	pthread_mutex_lock(&lock);
	type = type_of(name);
	pthread_mutex_unlock(&lock);
	return type;
}

const char *marks_type_name(uint32_t type)
{
	return type && type <= atomic_load(&type_count) ? types[type - 1] : NULL;
}

/* ---- the ring ---- */

static struct header *at(uint64_t position)
{
	return (struct header *)(ring + (position & (RING - 1)));
}

/* Bytes of the ring that are left behind POSITION. */
static uint64_t to_end(uint64_t position)
{
	return RING - (position & (RING - 1));
}

/* Whether the mark behind POSITION is at the ring's start: no room for a header, or H there is one without a size. */
static bool is_gap(uint64_t position, const struct header *h)
{
	return to_end(position) < sizeof(*h) || !h->size;
}

static uint64_t skip_gap(uint64_t position)
{
	return is_gap(position, at(position)) ? position + to_end(position) : position;
}

/* Room for SIZE bytes behind `end`; the oldest marks go. */
static struct header *make_room(uint64_t size)
{
	uint64_t left = to_end(end), need = left < size ? left + size : size;

	while (begin < end && end + need - begin > RING) {
		begin = skip_gap(begin);
		if (begin < end)
			begin += at(begin)->size;
	}
	begin = MIN(begin, end);
	if (left < size) {
		if (left >= sizeof(struct header))
			at(end)->size = 0;
		end += left;
	}
	return at(end);
}

static void put(const struct mark *m)
{
	uint64_t size = (sizeof(struct header) + m->length + ALIGN - 1) / ALIGN * ALIGN;
	struct header *h = make_room(size);

	*h = (struct header){.number = next++, .time = m->time, .duration = m->duration, .tid = m->tid,
			     .type = m->type, .length = m->length, .size = (uint32_t)size};
	if (m->length)
		memcpy(h + 1, m->data, m->length);
	end += size;
}

bool marks_are_heard(void)
{
	note_use();
	return atomic_load_explicit(&heard, memory_order_relaxed);
}

bool marks_are_used(void)
{
	return atomic_load(&used);
}

bool marks_put(const struct mark *m)
{
	bool is_heard;

	if (!marks_are_heard() || m->length > MARKS_LONGEST)
		return false;
	pthread_mutex_lock(&lock);
	is_heard = atomic_load(&heard) && ring;
	if (is_heard)
		put(m);
	pthread_mutex_unlock(&lock);
	return is_heard;
}

/* ---- who reads ---- */

void marks_join(void)
{
	pthread_mutex_lock(&lock);
	if (!ring) {
		ring = os_reserve(RING);
		if (ring && os_make_writable(ring, RING)) {
			os_unreserve(ring, RING);
			ring = NULL;
		}
		due = next;
	}
	atomic_fetch_add(&heard, 1);
	pthread_mutex_unlock(&lock);
}

void marks_leave(void)
{
	char *old = NULL;

	pthread_mutex_lock(&lock);
	if (atomic_fetch_sub(&heard, 1) == 1) {
		old = ring;
		ring = NULL;
		begin = end = 0;
	}
	pthread_mutex_unlock(&lock);
	if (old)
		os_unreserve(old, RING);
}

/* Where the first mark that is due is. With the lock. */
static uint64_t find(void)
{
	uint64_t position = begin;

	while (position < end) {
		position = skip_gap(position);
		if (position < end && at(position)->number >= due)
			break;
		if (position < end)
			position += at(position)->size;
	}
	return position;
}

/* A copy of all from POSITION on, to be freed, as a ring's end may be in it; NULL: nothing is there, or no memory. */
static char *copy(uint64_t position, uint64_t *bytes)
{
	uint64_t first = MIN(to_end(position), end - position);
	char *to = position < end ? malloc(end - position) : NULL;

	if (!to)
		return NULL;
	*bytes = end - position;
	memcpy(to, at(position), first);
	memcpy(to + first, ring, *bytes - first);
	return to;
}

uint64_t marks_each(void (*fn)(const struct mark *m, void *arg), void *arg)
{
	uint64_t first, position, number, bytes = 0, lost = 0;
	char *all;

	if (likely(atomic_load(&next) == atomic_load(&due)))
		return 0;
	pthread_mutex_lock(&lock);
	first = ring ? find() : end;
	all = copy(first, &bytes);
	number = due;
	if (all || !ring)
		due = next;
	pthread_mutex_unlock(&lock);
	for (position = first; position < first + bytes;) {
		const struct header *h = (const struct header *)(all + (position - first));

		if (is_gap(position, h)) {
			position += to_end(position);
			continue;
		}
		lost += h->number - number;
		fn(&(struct mark){.time = h->time, .duration = h->duration, .tid = h->tid, .type = h->type,
				  .length = h->length, .data = (const char *)(h + 1)}, arg);
		number = h->number + 1;
		position += h->size;
	}
	free(all);
	return lost;
}

/*
 * marks.c - the ring. Old marks are written over by new ones: the collector finds out by the numbers.
 *
 * Class loaders and the command each bring a copy of this library, and the program marks by any of them. The copies
 * meet in an object of the first one (copies_for_marks): a copy with a recording says there that it listens, and gives
 * the function that takes marks. A mark goes to all that listen. Code and objects of copies are never unmapped, and a
 * function that is called too late finds that its copy listens no more.
 */
#include "agent/context/marks.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "agent/hooks/child.h"
#include "agent/hooks/copies.h"
#include "agent/zone/zone.h"
#include "common/base/base.h"
#include "common/os/os.h"

#define RING (4u << 20)  /* bytes; a power of two */
#define ALIGN 8

struct header {
	uint64_t number;  /* of the mark, from 0 on */
	uint64_t time, duration, vthread;
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
static _Atomic uint32_t heard; /* recordings of this copy */
static struct copy *_Atomic meeting; /* where copies meet, once the program has marked by this copy */

/* Where copies meet; it is noted there that the program marks. */
static struct copy *note_use(void)
{
	struct copy *at = atomic_load_explicit(&meeting, memory_order_acquire);

	if (unlikely(!at)) {
		at = copies_for_marks();
		atomic_store(&at->marks_used, 1);
		atomic_store(&meeting, at);
	}
	return at;
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

static int locked_type(const char *name)
{
	int type;

	pthread_mutex_lock(&lock);
	type = type_of(name);
	pthread_mutex_unlock(&lock);
	return type;
}

int marks_type(const char *name)
{
	if (!name || !name[0] || strlen(name) > MARKS_LONGEST)
		return -EINVAL;
	note_use();
	return locked_type(name);
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

/* The virtual thread that TID carries, which is the caller: its record stays. 0: none, or it is not known. */
static uint64_t mounted(pid_t tid)
{
	const struct thread_record *r = zone.records.by_tid ? record_find_tid(&zone.records, tid) : NULL;

	return r ? zone_mounted(r) : 0;
}

static void put(const struct mark *m, uint64_t vthread)
{
	uint64_t size = (sizeof(struct header) + m->length + ALIGN - 1) / ALIGN * ALIGN;
	struct header *h = make_room(size);

	*h = (struct header){.number = next++, .time = m->time, .duration = m->duration,
			     .vthread = vthread, .tid = m->tid, .type = m->type, .length = m->length,
			     .size = (uint32_t)size};
	if (m->length)
		memcpy(h + 1, m->data, m->length);
	end += size;
}

/* M into our ring, if a recording of this copy listens; NULL: it is lost. */
static bool keep(const struct mark *m)
{
	uint64_t vthread;
	bool is_heard;

	if (!atomic_load_explicit(&heard, memory_order_relaxed) || child_is_here())
		return false;
	vthread = m ? mounted(m->tid) : 0;
	pthread_mutex_lock(&lock);
	is_heard = atomic_load(&heard) && ring;
	if (is_heard && m)
		put(m, vthread);
	else if (is_heard)
		next++;
	pthread_mutex_unlock(&lock);
	return is_heard && m;
}

/* ---- other copies ---- */

/* Another copy tells of M. */
static bool take(const struct copy_mark *m)
{
	int type = MARK_SPAN;

	if (m->size < sizeof(*m) || m->length > MARKS_LONGEST || !atomic_load(&heard) || child_is_here())
		return false;
	if (m->type)
		type = locked_type(m->type);
	if (type < 0)
		return keep(NULL);
	return keep(&(struct mark){.time = m->time, .duration = m->duration, .tid = m->tid, .type = (uint32_t)type,
				   .length = m->length, .data = m->data});
}

static bool tell_others(struct copy *at, const struct mark *m)
{
	const struct copy_mark told = {.size = sizeof(told), .length = m->length, .time = m->time,
				       .duration = m->duration, .tid = m->tid, .type = marks_type_name(m->type),
				       .data = m->data};
	bool taken = false;
	int i;

	for (i = 0; i < COPY_TAKERS; i++) {
		copy_take_fn *fn = atomic_load_explicit(&at->takers[i], memory_order_acquire);

		if (fn && fn != take)
			taken |= fn(&told);
	}
	return taken;
}

/* Say in AT that this copy listens. Where too many do, it has the marks of its own users only. */
static void listen(struct copy *at)
{
	copy_take_fn *none = NULL;
	int i;

	for (i = 0; i < COPY_TAKERS && !atomic_compare_exchange_strong(&at->takers[i], &none, take); i++)
		none = NULL;
	atomic_fetch_add(&at->marks_heard, 1);
}

static void do_not_listen(struct copy *at)
{
	copy_take_fn *own = take;
	int i;

	atomic_fetch_sub(&at->marks_heard, 1);
	for (i = 0; i < COPY_TAKERS && !atomic_compare_exchange_strong(&at->takers[i], &own, NULL); i++)
		own = take;
}

bool marks_are_heard(void)
{
	return atomic_load_explicit(&note_use()->marks_heard, memory_order_relaxed);
}

bool marks_are_used(void)
{
	return atomic_load(&copies_for_marks()->marks_used);
}

bool marks_put(const struct mark *m)
{
	struct copy *at = note_use();
	bool taken;

	if (!atomic_load_explicit(&at->marks_heard, memory_order_relaxed) || m->length > MARKS_LONGEST)
		return false;
	taken = keep(m);
	return tell_others(at, m) || taken;
}

/* ---- who reads ---- */

void marks_join(void)
{
	struct copy *at = copies_for_marks();

	pthread_mutex_lock(&lock);
	if (!ring) {
		ring = os_reserve(RING);
		if (ring && os_make_writable(ring, RING)) {
			os_unreserve(ring, RING);
			ring = NULL;
		}
		due = next;
	}
	if (atomic_fetch_add(&heard, 1) == 0)
		listen(at);
	pthread_mutex_unlock(&lock);
}

void marks_leave(void)
{
	struct copy *at = copies_for_marks();
	char *old = NULL;

	pthread_mutex_lock(&lock);
	if (atomic_fetch_sub(&heard, 1) == 1) {
		do_not_listen(at);
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
		fn(&(struct mark){.time = h->time, .duration = h->duration, .vthread = h->vthread, .tid = h->tid,
				  .type = h->type, .length = h->length, .data = (const char *)(h + 1)}, arg);
		number = h->number + 1;
		position += h->size;
	}
	free(all);
	return lost;
}

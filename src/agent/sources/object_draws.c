/*
 * object_draws.c - pending distances of threads that were there before a session: drawn in an earlier session, or when
 * the thread began; and what is known of each beyond the session, which ends with its records.
 */
#include "agent/sources/object_draws.h"

#include "agent/sources/alloc_weight.h"
#include "agent/threads/records.h"
#include "agent/zone/load.h"
#include "common/os/os.h"

/* What a thread has drawn in earlier sessions. Sorted by nothing: a session looks each of its threads up once. */
struct draw {
	pid_t tid;
	uintptr_t java_thread; /* another one: another thread, which drew when it began */
	uint64_t interval;
	uint64_t allocated;    /* the thread had this, and was not at the drawn point yet */
};

/* Open addressing by tid, with room for twice as many; with the records' lock. */
static struct {
	struct draw *draws;
	uint32_t size; /* 2^n; 0: none */
} kept, filling;

/* ---- what the JVM counts ---- */

static bool tlab_word(const struct thread_record *r, int32_t field, uintptr_t *out)
{
	uintptr_t thread = atomic_load(&((struct thread_record *)r)->java_thread);
	const struct layout *l = &zone.layout;

	return thread && l->thread_tlab >= 0 && field >= 0 &&
	       load_word(thread + (uintptr_t)l->thread_tlab + (uintptr_t)field, out);
}

uint64_t object_draws_allocated(const struct thread_record *r)
{
	uintptr_t thread = atomic_load(&((struct thread_record *)r)->java_thread), start, top;
	const struct layout *l = &zone.layout;
	uint64_t bytes;

	if (!thread || l->thread_allocated < 0 || !load_u64(thread + (uintptr_t)l->thread_allocated, &bytes))
		return 0;
	if (tlab_word(r, l->tlab_start, &start) && tlab_word(r, l->tlab_top, &top) && top > start)
		bytes += top - start;
	return bytes;
}

/* Bytes that still fit into R's TLAB, while no one samples: else its end may be that of a distance. */
static uint64_t room(const struct thread_record *r)
{
	uintptr_t top, end;

	return tlab_word(r, zone.layout.tlab_top, &top) && tlab_word(r, zone.layout.tlab_end, &end) && end > top ?
	       end - top : 0;
}

/* ---- from one session to the next ---- */

static struct draw *place(struct draw *draws, uint32_t size, pid_t tid)
{
	uint32_t at = (uint32_t)tid * 2654435761u;

	while (draws[at & (size - 1)].tid && draws[at & (size - 1)].tid != tid)
		at++;
	return &draws[at & (size - 1)];
}

static uint32_t keeping, seen;

static bool is_known(const struct thread_record *r)
{
	return atomic_load(&r->sources[keeping].arm) == ARM_CALLS &&
	       atomic_load(&((struct thread_record *)r)->java_thread);
}

/* Whether R, that has allocated ALL by now, would have had its first sample, of an object of SIZE, before. */
static bool is_beyond_first(const struct record_source *s, uint64_t all, uint64_t size)
{
	uint64_t most = s->room + size;

	return all > s->charged && all - s->charged > most + most / 64 + 1024;
}

static void count(struct thread_record *r)
{
	seen += is_known(r);
}

static void fill(struct thread_record *r)
{
	const struct record_source *s = &r->sources[keeping];
	uint64_t all = object_draws_allocated(r);

	if (!is_known(r) || seen >= filling.size / 2)
		return;
	if (s->before && !is_beyond_first(s, all, 0)) /* it may have passed it before the session */
		all = s->charged - s->before;
	*place(filling.draws, filling.size, r->tid) = (struct draw){
		.tid = r->tid, .java_thread = atomic_load(&r->java_thread), .interval = s->period, .allocated = all,
	};
	seen++;
}

static void exchange(struct thread_record *r, uintptr_t arg)
{
	struct draw *old = kept.draws;
	uint32_t size = kept.size;

	kept = filling;
	filling.draws = old;
	filling.size = size;
}

void object_draws_keep(uint32_t e)
{
	uint32_t size = 16;

	keeping = e;
	seen = 0;
	records_each(count);
	while (size < 2 * seen + 16) /* threads that begin meanwhile */
		size *= 2;
	filling.draws = os_reserve(size * sizeof(struct draw));
	filling.size = size;
	if (!filling.draws || os_make_writable(filling.draws, size * sizeof(struct draw)))
		filling.size = 0; /* no memory: they are taken for threads that drew when they began */
	seen = 0;
	records_each(fill);
	records_with_lock(exchange, NULL, 0);
	if (filling.draws)
		os_unreserve(filling.draws, filling.size * sizeof(struct draw));
	filling.draws = NULL;
	filling.size = 0;
}

/* ---- a thread's first sample ---- */

/* Whether threads use up their distance while no one samples (25), or begin at its end (11). */
static bool passes_unseen(void)
{
	return zone.layout.jdk >= 25 || zone.layout.jdk == 11;
}

void object_draws_anew(struct thread_record *r, uint32_t e, uint64_t interval)
{
	struct record_source *s = &r->sources[e];

	s->period = interval;
	s->before = 0;
}

void object_draws_pending(struct thread_record *r, uint32_t e, uint64_t interval)
{
	struct record_source *s = &r->sources[e];
	uintptr_t thread = atomic_load(&r->java_thread);
	const struct draw *d = kept.size ? place(kept.draws, kept.size, r->tid) : NULL;
	uint64_t now = object_draws_allocated(r);

	if (!thread) { /* it draws when it becomes a Java thread */
		object_draws_anew(r, e, interval);
		return;
	}
	if (d && d->java_thread != thread)
		d = NULL;
	object_draws_anew(r, e, d ? d->interval : OBJECT_DRAWS_INTERVAL);
	if (d && now < d->allocated)
		now = d->allocated;
	s->charged = now;
	s->before = passes_unseen() ? d ? now - d->allocated : now : 0;
	s->room = room(r);
}

/*
 * What an object stands for that may be a sample because its thread had passed the drawn point before: with the
 * chance of that for all that the thread has allocated in the session so far, which ends with the object; else for what
 * its size says. Each of both is right on average, so is their mean by their chances (Bayes).
 */
static uint64_t weight_of_first(const struct thread_record *r, const struct record_source *s, uint64_t size)
{
	uint64_t all = object_draws_allocated(r), usual = alloc_weight(size, s->period);
	uint64_t since = all > s->charged ? all - s->charged : 0, most = s->room + size;
	double passed, reached;

	if (!s->period || is_beyond_first(s, all, size))
		return usual;
	passed = alloc_chance((double)s->before / (double)s->period);
	reached = (1 - passed) * alloc_chance((double)most / (double)s->period);
	passed /= passed + reached;
	return (uint64_t)(passed * (double)(since > size ? since : size) + (1 - passed) * (double)usual + 0.5);
}

uint64_t object_draws_weight(struct thread_record *r, uint32_t e, uint64_t size, uint64_t interval)
{
	struct record_source *s = &r->sources[e];
	uint64_t weight = s->before ? weight_of_first(r, s, size) : alloc_weight(size, s->period);

	object_draws_anew(r, e, interval);
	return weight;
}

/*
 * live_table.c - each place is taken, looked at and given back under a mark of its own, which nothing ever waits for: a
 * thread that finds it passes by. What is dead is found by those who look for a place, a few at each sample, and by
 * each look at all.
 */
#include "agent/sources/live/live_table.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "agent/sources/live/collections.h"
#include "common/base/base.h"
#include "common/base/hash.h"
#include "common/os/os.h"

#define BUSY UINT64_MAX
#define PROBES 64 /* places in a row in which a sample wants a free one: it finds none when some 85 of 100 are taken */
#define LOOKS 16  /* the first of them, whose objects are asked after */
#define LEVELS 31
#define SINK_BELOW (LIVE_SLOTS / 8) /* twice as many that come leave most of it free */

struct place {
	_Atomic uint64_t id;  /* 0 = free */
	jweak object;         /* NULL: given back */
	uint16_t level;       /* when it came */
	_Atomic uint16_t tested; /* the highest one since, before the present one */
	_Atomic uint32_t rank; /* random: it stays while its lowest `level` bits are 0 */
	uint32_t born;        /* collections until then */
	_Atomic uint32_t seen; /* at the last look: 0 = not there, else 1 + collections that it had survived */
};

static struct {
	struct place *places;
	_Atomic uint64_t serial; /* objects so far; the lower part of a number is its place */
	_Atomic uint32_t level;
} table;

int live_table_open(void)
{
	size_t bytes = LIVE_SLOTS * sizeof(*table.places);

	if (!table.places)
		table.places = os_reserve(bytes);
	if (!table.places || os_make_writable(table.places, bytes))
		return -ENOMEM;
	atomic_store(&table.level, 0);
	return 0;
}

static bool stays_at(uint32_t rank, uint32_t level)
{
	return !(rank & ((1u << level) - 1));
}

static bool stays(uint32_t rank)
{
	return stays_at(rank, atomic_load_explicit(&table.level, memory_order_relaxed));
}

/* P, taken, has been found to stay at LEVEL: it stands for as many from now on, also when the level sinks. */
static void note_test(struct place *p, uint32_t level)
{
	if (level > atomic_load_explicit(&p->tested, memory_order_relaxed))
		atomic_store_explicit(&p->tested, (uint16_t)level, memory_order_relaxed);
}

/* Take P from who else wants it. *ID: what it was; false: it is being looked at. */
static bool take(struct place *p, uint64_t *id)
{
	*id = atomic_load_explicit(&p->id, memory_order_relaxed);
	return *id != BUSY && atomic_compare_exchange_strong(&p->id, id, BUSY);
}

/* P is taken: whether its object is there. */
static bool is_there(JNIEnv *env, const struct place *p)
{
	return p->object && !(*env)->IsSameObject(env, p->object, NULL);
}

static void drop(JNIEnv *env, struct place *p)
{
	if (p->object)
		(*env)->DeleteWeakGlobalRef(env, p->object);
	p->object = NULL;
	atomic_store_explicit(&p->seen, 0, memory_order_relaxed);
}

/* P becomes free if its object is not there, or one of those that go. It stays taken then. */
static bool clear(JNIEnv *env, struct place *p)
{
	uint32_t level;
	uint64_t id;

	if (!take(p, &id))
		return false;
	if (!id)
		return true;
	level = atomic_load(&table.level);
	if (!stays_at(p->rank, level) || !is_there(env, p)) {
		drop(env, p);
		return true;
	}
	note_test(p, level);
	atomic_store(&p->id, id);
	return false;
}

/* A place, taken, that nothing is at any more; NULL: none of those that were looked at. */
static struct place *find(JNIEnv *env, uint64_t random)
{
	uint32_t i;

	for (i = 0; i < PROBES; i++) {
		struct place *p = &table.places[(random + i) % LIVE_SLOTS];
		bool goes = !atomic_load_explicit(&p->id, memory_order_relaxed) || !stays(p->rank); /* at a glance */

		if ((goes || i < LOOKS) && clear(env, p))
			return p;
	}
	return NULL;
}

uint64_t live_table_add(JNIEnv *env, jobject object, uint64_t *stands_for)
{
	uint64_t serial = atomic_fetch_add(&table.serial, 1) + 1, random = hash_mix(serial * 0x9e3779b97f4a7c15ull);
	uint32_t rank = (uint32_t)(random >> 32), level = atomic_load(&table.level);
	struct place *p;
	uint64_t id;
	jweak weak;

	*stands_for = 1ull << level;
	if (!stays(rank))
		return LIVE_PASSED;
	p = find(env, random);
	if (!p && level < LEVELS) {
		atomic_compare_exchange_strong(&table.level, &level, level + 1);
		level = atomic_load(&table.level);
		*stands_for = 1ull << level;
		if (!stays(rank))
			return LIVE_PASSED;
		p = find(env, random);
	}
	if (!p)
		return LIVE_REFUSED;
	weak = (*env)->NewWeakGlobalRef(env, object);
	if (!weak) {
		(*env)->ExceptionClear(env);
		atomic_store(&p->id, 0);
		return LIVE_REFUSED;
	}
	id = serial * LIVE_SLOTS + (uint64_t)(p - table.places);
	p->object = weak;
	p->level = (uint16_t)level;
	atomic_store_explicit(&p->tested, (uint16_t)level, memory_order_relaxed);
	p->rank = rank;
	p->born = collections_now();
	atomic_store(&p->id, id);
	return id;
}

/*
 * Half as many again come from now on, where so few are there that the table would take them: what was found to stay
 * stands for as many as before. Not where the level rose meanwhile: not all have been tested then.
 */
static void sink(uint32_t level, uint32_t there)
{
	if (level && there < SINK_BELOW)
		atomic_compare_exchange_strong(&table.level, &level, level - 1);
}

void live_table_look(JNIEnv *env)
{
	uint32_t i, now = collections_now(), level = atomic_load(&table.level), there = 0;

	for (i = 0; table.places && i < LIVE_SLOTS; i++) {
		struct place *p = &table.places[i];
		uint64_t id;

		if (!atomic_load_explicit(&p->id, memory_order_relaxed) || !take(p, &id))
			continue;
		if (id && stays_at(p->rank, level) && is_there(env, p)) {
			atomic_store_explicit(&p->seen, 1 + (now - p->born), memory_order_relaxed);
			note_test(p, level);
			there++;
		} else if (id) {
			drop(env, p);
			id = 0;
		}
		atomic_store(&p->id, id);
	}
	sink(level, there);
}

uint64_t live_table_stands_for(uint64_t id, uint32_t *age)
{
	const struct place *p = &table.places[id % LIVE_SLOTS];
	uint32_t seen, level = atomic_load(&table.level);

	if (!table.places || atomic_load(&p->id) != id || !stays_at(p->rank, level))
		return 0;
	seen = atomic_load_explicit(&p->seen, memory_order_relaxed);
	*age = seen - 1;
	level = MAX(level, atomic_load_explicit(&p->tested, memory_order_relaxed));
	return seen ? 1ull << (level - p->level) : 0;
}

jobject live_table_object(JNIEnv *env, uint64_t id)
{
	struct place *p = &table.places[id % LIVE_SLOTS];
	jobject object = NULL;
	uint64_t held;

	if (!table.places || !take(p, &held))
		return NULL;
	if (held == id && p->object)
		object = (*env)->NewLocalRef(env, p->object);
	atomic_store(&p->id, held);
	return object;
}

void live_table_let_go(JNIEnv *env)
{
	uint32_t i;

	for (i = 0; table.places && i < LIVE_SLOTS; i++) {
		struct place *p = &table.places[i];
		uint64_t id;

		if (!atomic_load_explicit(&p->id, memory_order_relaxed) || !take(p, &id))
			continue;
		if (env && p->object)
			(*env)->DeleteWeakGlobalRef(env, p->object);
		p->object = NULL;
		atomic_store(&p->id, id);
	}
}

void live_table_release(void)
{
	if (table.places)
		madvise(table.places, LIVE_SLOTS * sizeof(*table.places), MADV_DONTNEED);
}

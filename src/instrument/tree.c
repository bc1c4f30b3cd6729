#include "instrument/tree.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/map.h"
#include "os/os.h"

#define TICK_TIME (TREE_TICK + 8)
#define BASE_SIZE (TREE_SLOTS + TREE_SLOT_COUNT * sizeof(uint64_t))
#define LINE 128u          /* two threads' data are never closer than that */
#define CHUNK_FIRST 1024u
#define CHUNK_LAST 65536u
#define KEPT_ENDED 256u    /* contexts of ended threads that stay theirs */
#define FOLD_DEPTH 512u    /* from here on a recursion leads back to its nearest node */
#define DEPTH_MAX 8192u
#define KIDS_PER_SLOT 64u  /* a table is at most that much larger than what is in it */

_Static_assert(offsetof(struct tree_node, count) == 24 && offsetof(struct tree_node, id) == 32 &&
	       offsetof(struct tree_node, wall) == 40 && offsetof(struct tree_node, entered) == 48,
	       "JstrobeProbe.java knows these places");
_Static_assert(offsetof(struct tree_context, current) == 8 && offsetof(struct tree_context, seen) == 16 &&
	       offsetof(struct tree_context, last) == 24, "JstrobeProbe.java knows these places");
_Static_assert(sizeof(struct tree_context) <= LINE, "a context has a place of its own");

uintptr_t tree_base;

/* Guards what follows; probes hold it for reading while they follow offsets, so that no memory goes meanwhile. */
static pthread_rwlock_t life = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* threads and contexts */
static bool running, exact;
static uint64_t period;
static uintptr_t region;
static size_t limit;
static _Atomic size_t used;
static _Atomic uint64_t blind_calls;
static struct map by_thread;   /* id → context's number + 1 */
static struct tree_thread *threads;
static uint32_t thread_count, thread_room;
static uint64_t free_virtual, free_ended; /* contexts without owner, chained */
static uint32_t ended;

static struct tree_node *node(uint64_t offset)
{
	return (struct tree_node *)(tree_base + offset);
}

static struct tree_context *context(uint64_t offset)
{
	return (struct tree_context *)(tree_base + offset);
}

/* CPU time of the calling thread, ns. */
static uint64_t own_cpu(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* ---- life ------------------------------------------------------------------------------- */

static void *reserve(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

int tree_begin(size_t bytes, bool exact_timing, uint64_t period_ns, struct error *err)
{
	void *base = tree_base ? (void *)tree_base : reserve(BASE_SIZE), *memory;

	if (!base)
		return error_set(err, ENOMEM, "no address space for the threads' call trees: %s", strerror(errno));
	memory = reserve(bytes);
	if (!memory) {
		if (!tree_base)
			munmap(base, BASE_SIZE);
		return error_set(err, ENOMEM, "no address space for %zu MB of call trees: %s", bytes >> 20,
				 strerror(errno));
	}
	pthread_rwlock_wrlock(&life);
	tree_base = (uintptr_t)base;
	node(0)->id = TREE_NO_ID;
	exact = exact_timing;
	period = period_ns;
	region = (uintptr_t)memory;
	limit = bytes;
	atomic_store(&used, 0);
	atomic_store(&blind_calls, 0);
	tree_tick();
	running = true;
	pthread_rwlock_unlock(&life);
	return 0;
}

void tree_tick(void)
{
	_Atomic uint32_t *tick = (_Atomic uint32_t *)(tree_base + TREE_TICK);
	uint32_t value = atomic_load_explicit(tick, memory_order_relaxed) + 1;

	__atomic_store_n((uint64_t *)(tree_base + TICK_TIME), os_monotonic(), __ATOMIC_RELAXED);
	/* never 0, which is what the blind has seen */
	atomic_store_explicit(tick, value ? value : 1, memory_order_release);
}

static uint64_t tick_time(void)
{
	return __atomic_load_n((uint64_t *)(tree_base + TICK_TIME), __ATOMIC_RELAXED);
}

static uint32_t ticks(void)
{
	return atomic_load_explicit((_Atomic uint32_t *)(tree_base + TREE_TICK), memory_order_acquire);
}

void tree_end(void)
{
	uint32_t i;

	pthread_rwlock_wrlock(&life);
	if (running) {
		running = false;
		for (i = 0; i < thread_count; i++)
			context(threads[i].context)->key = 0;
		madvise((void *)(tree_base + TREE_SLOTS), BASE_SIZE - TREE_SLOTS, MADV_DONTNEED);
		madvise((void *)region, limit, MADV_DONTNEED);
		map_free(&by_thread);
		free(threads);
		threads = NULL;
		thread_count = thread_room = ended = 0;
		free_virtual = free_ended = 0;
	}
	pthread_rwlock_unlock(&life);
}

/* ---- memory ----------------------------------------------------------------------------- */

/* SIZE bytes of the region, as an offset; 0 when the limit is reached. */
static uint64_t take(size_t size)
{
	size_t at;

	size = (size + LINE - 1) & ~(size_t)(LINE - 1);
	at = atomic_fetch_add(&used, size);
	if (at + size > limit) {
		atomic_fetch_sub(&used, size);
		return 0;
	}
	return (uint64_t)(region + at) - tree_base;
}

/* SIZE bytes from the context's own chunk. */
static uint64_t take_own(struct tree_context *c, size_t size)
{
	uint64_t at;

	if (size > CHUNK_LAST / 4)
		return take(size);
	if (c->chunk + size > c->chunk_end || !c->chunk) {
		size_t chunk = c->chunk_size ? c->chunk_size : CHUNK_FIRST;

		while (chunk < size)
			chunk *= 2;
		c->chunk = take(chunk);
		c->chunk_end = c->chunk ? c->chunk + chunk : 0;
		c->chunk_size = MIN(chunk * 2, (size_t)CHUNK_LAST);
		if (!c->chunk)
			return 0;
	}
	at = c->chunk;
	c->chunk += size;
	return at;
}

/* ---- contexts --------------------------------------------------------------------------- */

static uint64_t new_node(struct tree_context *c, uint64_t c_at, uint64_t parent, uint32_t id)
{
	uint64_t at = take_own(c, sizeof(struct tree_node));
	struct tree_node *n = node(at);

	if (!at)
		return 0;
	memset(n, 0, sizeof(*n)); /* a table may have been tried here */
	n->context = c_at;
	n->id = id;
	n->parent = parent;
	n->depth = parent ? node(parent)->depth + 1 : 0;
	return at;
}

/* A new child; 0 without memory. */
static uint64_t make(struct tree_node *p, uint64_t parent, uint64_t c_at, uint32_t id)
{
	uint64_t at = p->depth < DEPTH_MAX ? new_node(context(c_at), c_at, parent, id) : 0;

	if (!at)
		return 0;
	node(at)->next = p->first;
	p->kid_count++;
	__atomic_store_n(&p->first, at, __ATOMIC_RELEASE);
	return at;
}

/* A fresh context with its root; lock held. */
static uint64_t new_context(bool is_virtual)
{
	struct tree_thread *bigger;
	struct tree_context *c;
	uint64_t at;

	if (thread_count == thread_room) {
		uint32_t room = thread_room ? thread_room * 2 : 64;

		bigger = realloc(threads, room * sizeof(*threads));
		if (!bigger)
			return 0;
		threads = bigger;
		thread_room = room;
	}
	at = take(sizeof(*c));
	if (!at)
		return 0;
	c = context(at);
	c->root = new_node(c, at, 0, TREE_ROOT);
	if (!c->root)
		return 0;
	if (is_virtual) {
		/* its last exit has to come by here, to give the context to the next one */
		node(c->root)->context = 0;
		node(c->root)->home = at;
	}
	/* what no memory is left for is counted here */
	make(node(c->root), c->root, at, TREE_OTHER);
	c->is_virtual = is_virtual;
	c->current = c->root;
	c->thread = thread_count;
	threads[thread_count] = (struct tree_thread){.is_virtual = is_virtual, .context = at};
	thread_count++;
	return at;
}

static uint64_t pop_free(uint64_t *list)
{
	uint64_t at = *list;

	if (at)
		*list = context(at)->next_free;
	return at;
}

/* Lock held. */
static uint64_t assign(uint64_t id, bool is_virtual, const char *name)
{
	uint64_t at = is_virtual ? pop_free(&free_virtual) : ended > KEPT_ENDED ? pop_free(&free_ended) : 0;
	struct tree_context *c;
	struct tree_thread *t;
	uint32_t *number;

	if (at && !is_virtual)
		ended--;
	if (!at)
		at = new_context(is_virtual);
	if (!at)
		return 0;
	c = context(at);
	t = &threads[c->thread];
	number = is_virtual ? NULL : map_put(&by_thread, id, NULL);
	if (number)
		*number = (uint32_t)c->thread + 1;
	t->id = t->threads++ == 0 && !is_virtual ? id : 0;
	name = is_virtual ? "virtual threads" : t->threads > 1 ? "several threads" : name;
	strncpy(t->name, name, sizeof(t->name) - 1);
	c->current = c->root;
	c->seen = ticks();
	c->last = c->stamped = os_monotonic();
	/* a tick stands for a whole period, also for who came within it; but not for more, should ticks be late */
	c->ticked = MAX(tick_time(), c->last - period);
	c->last_cpu = own_cpu();
	c->tid = (uint64_t)os_gettid();
	c->key = id + 1;
	return at;
}

uint64_t tree_context(uint64_t id, bool is_virtual, const char *name)
{
	uint64_t *slot = (uint64_t *)(tree_base + TREE_SLOTS) + (id & (TREE_SLOT_COUNT - 1)), at = 0;
	const uint32_t *number;

	pthread_rwlock_rdlock(&life);
	/* A thread that is just being attached has no number yet. */
	if (running && id) {
		pthread_mutex_lock(&lock);
		number = map_get(&by_thread, id);
		at = number && *number ? threads[*number - 1].context : assign(id, is_virtual, name);
		pthread_mutex_unlock(&lock);
		if (at)
			__atomic_store_n(slot, at, __ATOMIC_RELAXED);
	}
	pthread_rwlock_unlock(&life);
	return at;
}

void tree_thread_end(uint64_t id)
{
	uint32_t *number;

	pthread_rwlock_rdlock(&life);
	pthread_mutex_lock(&lock);
	number = running ? map_get(&by_thread, id) : NULL;
	if (number && *number) {
		struct tree_context *c = context(threads[*number - 1].context);

		*number = 0;
		c->key = 0;
		c->next_free = free_ended;
		free_ended = threads[c->thread].context;
		ended++;
	}
	pthread_mutex_unlock(&lock);
	pthread_rwlock_unlock(&life);
}

/* ---- nodes ------------------------------------------------------------------------------ */

/* Fill NEW, a table of SIZE, from PARENT's and with CHILD; false if two want the same place. */
static bool spread(uint64_t *new, uint64_t size, const struct tree_node *parent, uint64_t child, uint32_t id)
{
	const uint64_t *old = (const uint64_t *)(tree_base + parent->kids);
	uint64_t i;

	memset(new, 0, size * sizeof(*new));
	new[id & (size - 1)] = child;
	for (i = 0; parent->kids && i <= parent->mask; i++) {
		uint64_t *place;

		if (!old[i])
			continue;
		place = &new[node(old[i])->id & (size - 1)];
		if (*place)
			return false;
		*place = old[i];
	}
	return true;
}

/* Put CHILD, of id ID, into PARENT's table, making it larger until it has a place; it may do without one. */
static void put_kid(struct tree_context *c, struct tree_node *parent, uint64_t child, uint32_t id)
{
	uint64_t *table = (uint64_t *)(tree_base + parent->kids), size = parent->kids ? parent->mask + 1 : 0, at;

	if (size && !table[id & parent->mask]) {
		table[id & parent->mask] = child;
		return;
	}
	for (size = size ? size * 2 : 1; size <= (uint64_t)KIDS_PER_SLOT * (parent->kid_count + 1); size *= 2) {
		at = take_own(c, size * sizeof(*table));
		if (!at)
			return;
		if (spread((uint64_t *)(tree_base + at), size, parent, child, id)) {
			parent->kids = at;
			parent->mask = size - 1;
			return;
		}
		if (c->chunk == at + size * sizeof(*table))
			c->chunk = at;
	}
}

/* Where a call of ID under PARENT belongs that is too deep for a node of its own; 0: nowhere yet. */
static uint64_t fold(uint64_t parent, uint32_t id)
{
	uint64_t at = parent;
	unsigned i;

	if (node(parent)->depth < FOLD_DEPTH)
		return 0;
	for (i = 0; at && i < FOLD_DEPTH; i++, at = node(at)->parent)
		if (node(at)->id == id)
			return at;
	return 0;
}

static uint64_t find_kid(const struct tree_node *parent, uint32_t id)
{
	uint64_t at = parent->first;

	while (at && node(at)->id != id)
		at = node(at)->next;
	return at;
}

uint64_t tree_child(uint64_t parent, uint32_t id)
{
	struct tree_node *p = node(parent);
	uint64_t at = 0, c_at;

	pthread_rwlock_rdlock(&life);
	c_at = running && parent ? (p->home ? p->home : p->context) : 0;
	if (!c_at) {
		atomic_fetch_add(&blind_calls, 1);
	} else if (p->id == TREE_OTHER) {
		at = parent;
	} else {
		at = find_kid(p, id);
		if (!at) {
			at = fold(parent, id);
			if (!at)
				at = make(p, parent, c_at, id);
			if (at)
				put_kid(context(c_at), p, at, id);
		}
		if (!at) /* this subtree is counted in one node; the root's is made beforehand */
			at = find_kid(node(context(c_at)->root), TREE_OTHER);
	}
	pthread_rwlock_unlock(&life);
	return at;
}

/* ---- stamps ----------------------------------------------------------------------------- */

/* Charge to TOP what is due in C. */
static uint64_t charge(struct tree_context *c, struct tree_node *top)
{
	uint32_t seen = ticks();
	uint64_t now = os_monotonic(), cpu = own_cpu(), tick = tick_time(), tid = c->tid;
	uint64_t due = tick > c->ticked ? tick - c->ticked : 0;
	double ran = 0; /* the share of the time in which the thread did */

	/* a virtual thread may have changed its carrier; its CPU time is not known then */
	if (c->is_virtual)
		c->tid = (uint64_t)os_gettid();
	if (c->tid == tid && cpu > c->last_cpu && now > c->stamped)
		ran = (double)(cpu - c->last_cpu) / (double)(now - c->stamped);
	top->cpu += (uint64_t)((double)due * MIN(ran, 1.0));
	top->wall += exact ? now - c->last : due;
	top->stamps += due > 0;
	c->ticked = MAX(c->ticked, tick);
	c->last = c->stamped = now;
	c->last_cpu = cpu;
	c->seen = seen;
	return now;
}

uint64_t tree_stamp(uint64_t top)
{
	uint64_t c_at, wall = 0;

	pthread_rwlock_rdlock(&life);
	c_at = running && top ? (node(top)->home ? node(top)->home : node(top)->context) : 0;
	if (c_at)
		wall = charge(context(c_at), node(top));
	pthread_rwlock_unlock(&life);
	return c_at ? wall : os_monotonic();
}

void tree_leave(uint64_t parent)
{
	struct tree_context *c;
	uint64_t c_at;

	pthread_rwlock_rdlock(&life);
	c_at = running && parent ? (node(parent)->home ? node(parent)->home : node(parent)->context) : 0;
	if (c_at) {
		c = context(c_at);
		charge(c, node(c->current));
		c->current = parent;
		if (node(parent)->home && c->key) {
			c->key = 0;
			pthread_mutex_lock(&lock);
			c->next_free = free_virtual;
			free_virtual = c_at;
			pthread_mutex_unlock(&lock);
		}
	}
	pthread_rwlock_unlock(&life);
}

/* ---- reading ---------------------------------------------------------------------------- */

uint32_t tree_threads(void)
{
	uint32_t count;

	pthread_mutex_lock(&lock);
	count = thread_count;
	pthread_mutex_unlock(&lock);
	return count;
}

void tree_thread(uint32_t number, struct tree_thread *t)
{
	pthread_mutex_lock(&lock);
	*t = threads[number];
	pthread_mutex_unlock(&lock);
}

size_t tree_bytes(void)
{
	return atomic_load(&used);
}

uint64_t tree_blind_calls(void)
{
	return atomic_load(&blind_calls);
}

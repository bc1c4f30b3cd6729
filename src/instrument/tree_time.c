/*
 * tree_time.c - clocks, and lengths of calls: what JstrobeProbe.java does on its short ways, and what it leaves to us:
 * an entry or exit that sees a new tick, one after a missed exit, the CPU's clock, and waits that the JVM tells of.
 */
#include "instrument/tree_inner.h"
#include "os/os.h"

#define TIMED 1u /* bit of what enter gave */

static pthread_key_t stamp_key; /* what its CPU clock said at the last stamp on a thread of the system, whoever's */
static pthread_once_t stamp_once = PTHREAD_ONCE_INIT;
static bool has_stamp_key;

static void make_stamp_key(void)
{
	/* where a pointer is too short for a clock, all threads are the system's */
	has_stamp_key = sizeof(void *) >= sizeof(uint64_t) && !pthread_key_create(&stamp_key, NULL);
}

uint64_t tree_stamp_cpu(uint64_t cpu)
{
	uint64_t last;

	pthread_once(&stamp_once, make_stamp_key);
	if (!has_stamp_key)
		return 0;
	last = (uint64_t)(uintptr_t)pthread_getspecific(stamp_key);
	pthread_setspecific(stamp_key, (void *)(uintptr_t)cpu);
	return last;
}

/* CPU ns of the time DUE that are TOP's, NOW that the thread's clock says CPU. */
static uint64_t cpu_due(struct tree_context *c, const struct tree_node *top, uint64_t due, uint64_t now, uint64_t cpu)
{
	uint64_t tid = c->tid, other = tree_stamp_cpu(cpu), from = MAX(c->last_cpu, other), used;

	if (c->is_virtual) {
		/* it may have changed its carrier; its CPU time is not known then */
		c->tid = (uint64_t)os_gettid();
		/* and others had the carrier where it waited, though it has come back to the same one */
		if (top->id - TREE_WAITING < TREE_WAITS)
			return 0;
	}
	if (c->tid != tid || cpu <= from)
		return 0;
	used = cpu - from;
	if (tree_state.setup.timing == TREE_EXACT_CPU)
		return used;
	return now > c->stamped ? (uint64_t)((double)due * MIN((double)used / (double)(now - c->stamped), 1.0)) : 0;
}

/* Charge to TOP what is due in C; now. */
static uint64_t charge(struct tree_context *c, struct tree_node *top)
{
	enum tree_timing timing = tree_state.setup.timing;
	uint64_t now, cpu, tick, due;
	uint32_t seen;

	tree_tick_seen(c); /* first: a tick that comes now is another one */
	seen = tree_ticks();
	now = os_monotonic();
	cpu = os_thread_cpu(0);
	tick = __atomic_load_n(&tree_board()->tick_time, __ATOMIC_RELAXED);
	due = tick > c->ticked ? tick - c->ticked : 0;
	top->cpu += cpu_due(c, top, due, now, cpu);
	if (timing == TREE_EXACT || timing == TREE_EXACT_CPU)
		top->wall += now - c->last;
	else if (timing == TREE_ADAPTIVE)
		top->ticked += due;
	else
		top->wall += due;
	top->stamps += due > 0;
	if (seen != c->seen) {
		if (c->timed < tree_board()->quota / 2)
			top->every >>= 1;
		c->timed = 0;
	}
	c->ticked = MAX(c->ticked, tick);
	c->last = c->stamped = now;
	c->last_cpu = cpu;
	c->seen = seen;
	return now;
}

uint64_t tree_stamp(uint64_t top)
{
	uint64_t context, now = 0;

	pthread_rwlock_rdlock(&tree_state.life);
	context = tree_home(top);
	if (context)
		now = charge(tree_at(context), tree_node(top));
	pthread_rwlock_unlock(&tree_state.life);
	return context ? now : os_monotonic();
}

/* ---- lengths ------------------------------------------------------------------------------- */

uint64_t tree_bucket_from(unsigned i)
{
	return (4ull + i % 4) << (i / 4 + TREE_BUCKET_LOW - 2);
}

static unsigned bucket_of(uint64_t took)
{
	unsigned high;

	if (took < 1ull << TREE_BUCKET_LOW)
		return 0;
	if (took >= 1ull << TREE_BUCKET_HIGH)
		return TREE_BUCKETS - 1;
	high = 63 - (unsigned)__builtin_clzll(took);
	return (high - TREE_BUCKET_LOW) * 4 + (took >> (high - 2) & 3);
}

/* A call that took TOOK ns, for COUNT calls. */
static void note(const struct tree_node *n, int64_t took, uint64_t count)
{
	struct tree_stats *s = tree_place(n->stats);

	if (!n->stats)
		return;
	s->min = MIN(s->min, took);
	s->max = MAX(s->max, took);
	s->buckets[bucket_of((uint64_t)took)] += count;
}

/* The clock's last digits are chance enough. */
static uint64_t random_bits(uint64_t now)
{
	return now * 0x9e3779b97f4a7c15ull >> 33;
}

/* A timed call of N ends NOW; how long it took. */
static int64_t finish(struct tree_context *c, struct tree_node *n, uint64_t now)
{
	int64_t took = (int64_t)(now - n->entered);
	uint64_t count = 1;

	if (tree_state.setup.timing == TREE_ADAPTIVE) {
		took -= tree_board()->clock;
		count = n->count - n->since;
		n->since = n->count;
		n->entered = 0;
		c->timed_all++;
		if (++c->timed > tree_board()->quota) {
			n->every = (n->every << 1 | 1) & tree_board()->rarest;
			n->hot = 1;
		}
		n->due = n->count + 1 + (n->every ? random_bits(now) & (n->every << 1 | 1) : 0);
	}
	took = MAX(took, 0);
	if (tree_state.setup.timing == TREE_ADAPTIVE)
		n->wall += (uint64_t)took;
	note(n, took, count);
	return took;
}

/* The node of the call that was entered from PARENT: the one on top, or further out if exits were missed; 0: folded. */
static uint64_t left(const struct tree_context *c, uint64_t parent)
{
	uint64_t at = c->current;

	while (at && tree_node(at)->parent != parent)
		at = tree_node(at)->parent;
	return at;
}

bool tree_leave(uint64_t saved, struct tree_exit *e)
{
	uint64_t parent = saved & ~(uint64_t)TIMED, context, now, at;
	struct tree_context *c;
	bool timed = false;

	pthread_rwlock_rdlock(&tree_state.life);
	context = tree_home(parent);
	if (context) {
		c = tree_at(context);
		now = charge(c, tree_node(c->current));
		at = tree_times_calls() ? left(c, parent) : 0;
		if (at && (tree_state.setup.timing != TREE_ADAPTIVE || saved & TIMED)) {
			*e = (struct tree_exit){tree_node(at)->id, (uint64_t)finish(c, tree_node(at), now), now};
			timed = true;
		}
		c->current = parent;
		if (tree_node(parent)->home)
			tree_release_virtual(context);
	}
	pthread_rwlock_unlock(&tree_state.life);
	return timed;
}

enum tree_fate tree_fate(const struct tree_exit *e)
{
	if (e->took < (uint64_t)tree_board()->latency)
		return TREE_CALL_QUICK;
	if (tree_is_method(e->id))
		return TREE_CALL_SLOW;
	return e->id == TREE_OTHER ? TREE_CALL_UNNAMED : TREE_CALL_WAITED;
}

/* ---- waits that the JVM tells of ---------------------------------------------------------------- */

void tree_wait_begin(uint64_t id, enum tree_wait kind)
{
	struct tree_context *c;
	struct tree_node *n;
	uint64_t context, at;

	pthread_rwlock_rdlock(&tree_state.life);
	context = tree_state.running && id ? tree_owned(id) : 0;
	c = tree_at(context);
	if (context && !(tree_node(c->current)->closed & TREE_GATE_WAIT)) {
		at = tree_find_child(context, c->current, TREE_WAITING + kind);
		n = tree_node(at);
		n->count++;
		n->entered = charge(c, tree_node(c->current));
		c->current = at;
	}
	pthread_rwlock_unlock(&tree_state.life);
}

void tree_wait_end(uint64_t id, enum tree_wait kind)
{
	struct tree_context *c;
	struct tree_node *n;
	uint64_t context;

	pthread_rwlock_rdlock(&tree_state.life);
	context = tree_state.running && id ? tree_owned(id) : 0;
	c = tree_at(context);
	n = tree_node(c->current);
	if (context && n->id == TREE_WAITING + kind) {
		uint64_t now = charge(c, n);

		if (tree_state.setup.timing == TREE_ADAPTIVE)
			finish(c, n, now);
		c->current = n->parent;
	}
	pthread_rwlock_unlock(&tree_state.life);
}

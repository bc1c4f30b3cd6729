/*
 * tree_time.c - clocks, and lengths of calls: what JstrobeProbe.java does on its short ways, and what it leaves to us:
 * an entry or exit that sees a new tick, one after a missed exit, the CPU's clock, and waits that the JVM tells of.
 */
#include "agent/tracing/tree_state.h"
#include "common/os/os.h"
#include "cpu.h"

#define TIMED 1u /* bit of what enter gave */
#define IDLE_LONG (25 * NS_PER_US) /* a tick, or an interrupt, takes less */
#define FOLLOW_LEAST 3u /* entries and exits that stamp behind a tick's: 0.3 % of a thread with a tick each ms */
#define FOLLOW_EACH (250 * NS_PER_US) /* and one more in so much time: of calls as long as that, most */
#define CYCLES_SHORT 10000u /* sure to be less than that, but more than a clock takes */

/* what its CPU clock said at the last stamp on a thread of the system, of any context */
static pthread_key_t stamp_key;
static pthread_once_t stamp_once = PTHREAD_ONCE_INIT;
static bool has_stamp_key;
static atomic_bool carriers_shared; /* by virtual threads: without any, a thread's clock is its own */

static void make_stamp_key(void)
{
	/* where a pointer is too short for a clock, all threads are the system's */
	has_stamp_key = sizeof(void *) >= sizeof(uint64_t) && !pthread_key_create(&stamp_key, NULL);
}

void tree_share_carriers(void)
{
	pthread_once(&stamp_once, make_stamp_key);
	atomic_store_explicit(&carriers_shared, has_stamp_key, memory_order_release);
}

uint64_t tree_stamp_cpu(uint64_t cpu)
{
	uint64_t last;

	if (!atomic_load_explicit(&carriers_shared, memory_order_acquire))
		return 0;
	last = (uint64_t)(uintptr_t)pthread_getspecific(stamp_key);
	pthread_setspecific(stamp_key, (void *)(uintptr_t)cpu);
	return last;
}

/* When a stamp was: what the probe made the thread wait for lies between, and is no method's time. */
struct stamp {
	uint64_t before, after;
};

static bool is_wait(const struct tree_node *n)
{
	return n->id - TREE_WAITING < CALLS_WAITS;
}

/* CPU ns that C's thread has used since the last stamp, now that its clock says CPU; 0 if not known. */
static uint64_t used_cpu(struct tree_context *c, const struct tree_node *top, uint64_t cpu)
{
	uint64_t tid = c->tid, other = tree_stamp_cpu(cpu), from = MAX(c->last_cpu, other);

	if (c->is_virtual) {
		/* it may have changed its carrier; its CPU time is not known then */
		c->tid = (uint64_t)os_gettid();
		/* and others had the carrier where it waited, though it has come back to the same one */
		if (is_wait(top))
			return 0;
	}
	return c->tid == tid && cpu > from ? cpu - from : 0;
}

/* A thread's two clocks at one moment; of a tick, until when it charges. */
struct moment {
	uint64_t wall, cpu, until;
};

/* What the first tick since C's last stamp noted. Before tree_tick_seen: from then on the next tick may write there. */
static struct moment tick_of(const struct tree_context *c)
{
	return (struct moment){__atomic_load_n(&c->tick_at, __ATOMIC_RELAXED),
			       __atomic_load_n(&c->tick_cpu, __ATOMIC_RELAXED),
			       __atomic_load_n(&c->tick_until, __ATOMIC_RELAXED)};
}

static uint64_t idle_between(struct moment a, struct moment b)
{
	uint64_t took = b.wall - a.wall, ran = b.cpu - a.cpu;

	return took > ran ? took - ran : 0;
}

/* The part of the time from A to B in which the thread did not run. */
static double part_idle(struct moment a, struct moment b)
{
	return b.wall > a.wall ? (double)idle_between(a, b) / (double)(b.wall - a.wall) : 0;
}

/*
 * What of the time DUE by ticks C's thread did not run, which has USED so much CPU time since the last stamp, to NOW.
 *
 * The method on top at the first TICK was so until now, while others may have waited and run before. So what that tick
 * charges was idle if the thread was at it: before it, and still behind it. (The tick itself takes the CPU from a
 * thread, and perhaps gives it to another one: who is idle behind it alone was not idle at it. A tick that is late may
 * have waited for the CPU together with the thread, and says nothing.) Of what later ticks charge the clocks say which
 * part was.
 */
static uint64_t idle_of(const struct tree_context *c, uint64_t due, uint64_t used, struct moment tick,
			struct moment now)
{
	struct moment stamp = {c->stamped, c->last_cpu, 0};
	uint64_t first = tick.until > c->ticked ? MIN(due, tick.until - c->ticked) : 0;
	double at_first;

	if (c->is_virtual || tick.wall <= stamp.wall || tick.wall >= now.wall || tick.cpu < stamp.cpu ||
	    tick.cpu > now.cpu) {
		/* not noted; a virtual thread's carrier ran others, too */
		stamp.cpu = now.cpu - used;
		return (uint64_t)((double)due * part_idle(stamp, now));
	}
	if (first > 2 * tree_state.setup.period)
		at_first = part_idle(stamp, now);
	else
		at_first = idle_between(stamp, tick) > IDLE_LONG && idle_between(tick, now) > IDLE_LONG;
	return (uint64_t)((double)first * at_first + (double)(due - first) * part_idle(tick, now));
}

/* What this comes to in all is held against the clock when it is read. */
static void charge_cpu(struct tree_context *c, struct tree_node *top, uint64_t due, uint64_t used, struct moment tick,
		       struct moment now)
{
	used = MIN(used, now.wall - c->stamped);
	c->used_cpu += used;
	if (c->follow)
		top->known += used;
	else
		top->cpu += due - idle_of(c, due, used, tick, now);
}

/* Whether C's thread stamps at its next entry or exit, behind a stamp NOW that was a TICK's or followed one. */
static void follow(struct tree_context *c, bool tick, uint64_t now)
{
	if (c->is_virtual || tree_state.setup.timing == TREE_EXACT_CPU || tree_state.setup.timing == TREE_COUNTS)
		return;
	if (tick) {
		c->follows = 0;
		c->followed = now;
	} else if (c->follow) {
		c->follows++;
	} else {
		return; /* a wait begins or ends: calls have gone by since the last stamp */
	}
	/* a late probe's context may have no thread any more */
	c->follow = c->key && c->follows < FOLLOW_LEAST + (now - c->followed) / FOLLOW_EACH;
	/* a tick that finds the mark needs to note nothing: what it charges is one node's */
	if (c->follow)
		__atomic_fetch_or(&c->key, TREE_DUE, __ATOMIC_SEQ_CST);
}

static void charge_wall(struct tree_context *c, struct tree_node *top, uint64_t due, uint64_t now)
{
	switch (tree_state.setup.timing) {
	case TREE_EXACT:
	case TREE_EXACT_CPU:
		top->wall += now - c->last;
		break;
	case TREE_ADAPTIVE:
		top->ticked += due;
		break;
	default:
		top->wall += due;
	}
	top->stamps += due > 0;
}

/* C's thread was held up for HELD ns until NOW: no tick of that time, and no call under way, has it. */
static void hold(struct tree_context *c, uint64_t held, uint64_t now)
{
	uint64_t tick = __atomic_load_n(&tree_board()->tick_time, __ATOMIC_RELAXED), at;

	c->held += held;
	c->ticked = MAX(c->ticked, tick);
	c->last = c->stamped = now;
	for (at = held ? c->current : 0; at; at = tree_node(at)->parent)
		if (tree_node(at)->entered)
			tree_node(at)->entered += held;
}

/* Now, and the thread's CPU clock. */
static struct stamp read_clocks(uint64_t *cpu)
{
	struct stamp s = {.before = os_monotonic()};
	uint64_t cycles = CPU_CYCLES;

	*cpu = os_thread_cpu(0);
	/* the clock is read twice only where it matters: with --cpu-clock each entry and exit comes here */
	s.after = cycles && CPU_CYCLES - cycles < CYCLES_SHORT ? s.before : os_monotonic();
	if (s.after - s.before < TREE_HELD_LONG)
		s.before = s.after;
	return s;
}

/* Charge to TOP what is due in C. */
static struct stamp charge(struct tree_context *c, struct tree_node *top)
{
	uint64_t cpu, tick, due, used;
	struct moment noted;
	struct stamp s;
	uint32_t seen;

	noted = tick_of(c);
	tree_tick_seen(c); /* before all else: a tick that comes now is another one */
	seen = tree_ticks();
	tick = __atomic_load_n(&tree_board()->tick_time, __ATOMIC_RELAXED);
	s = read_clocks(&cpu);
	due = tick > c->ticked ? tick - c->ticked : 0;
	used = used_cpu(c, top, cpu);
	if (tree_state.setup.timing == TREE_EXACT_CPU)
		top->cpu += MIN(used, s.before - c->last);
	else
		charge_cpu(c, top, due, used, noted, (struct moment){s.before, cpu, 0});
	charge_wall(c, top, due, s.before);
	if (seen != c->seen) {
		if (c->timed < tree_board()->quota / 2)
			top->every >>= 1;
		c->timed = 0;
	}
	follow(c, due > 0, s.after);
	c->last_cpu = cpu;
	c->seen = seen;
	return s;
}

uint64_t tree_stamp(uint64_t top)
{
	struct tree_context *c;
	struct stamp s = {.after = 0};
	uint64_t context;

	pthread_rwlock_rdlock(&tree_state.life);
	context = tree_home(top);
	if (context) {
		c = tree_at(context);
		s = charge(c, tree_node(top));
		hold(c, s.after - s.before, s.after);
	}
	pthread_rwlock_unlock(&tree_state.life);
	return context ? s.after : os_monotonic();
}

void tree_go_back(uint64_t gone, uint64_t top)
{
	uint64_t context;

	pthread_rwlock_rdlock(&tree_state.life);
	context = tree_home(gone);
	if (context && context == tree_home(top) && tree_at(context)->current == gone) {
		struct tree_context *c = tree_at(context);
		struct stamp s = charge(c, tree_node(top));

		c->current = top;
		hold(c, s.after - s.before, s.after);
		/* its next exit takes the slow way */
		__atomic_fetch_or(&c->key, TREE_DUE, __ATOMIC_SEQ_CST);
	}
	pthread_rwlock_unlock(&tree_state.life);
}

void tree_hold(uint64_t id, uint64_t since, uint64_t cpu)
{
	uint64_t context, now;

	pthread_rwlock_rdlock(&tree_state.life);
	context = tree_state.running && id ? tree_owned(id) : 0;
	now = os_monotonic();
	if (context && now > since) {
		struct tree_context *c = tree_at(context);
		uint64_t last = c->last, stamped = c->stamped;

		hold(c, now - since, now);
		/* the time before is still to be charged */
		c->last = last + (now - since);
		c->stamped = stamped + (now - since);
		c->last_cpu += cpu;
	}
	pthread_rwlock_unlock(&tree_state.life);
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

/*
 * The node of the call that was entered from PARENT: that on top, or one further out if exits were missed. Where PARENT
 * was gone already (tree_go_back) it is the outermost one not on the way to it. 0: folded, or without a node.
 */
static uint64_t left(const struct tree_context *c, uint64_t parent)
{
	uint64_t at = c->current, out = parent, last = 0;

	while (at && at != out) {
		bool deeper = tree_node(at)->depth >= tree_node(out)->depth;

		if (tree_node(at)->depth <= tree_node(out)->depth)
			out = tree_node(out)->parent;
		if (deeper) {
			last = at;
			at = tree_node(at)->parent;
		}
	}
	return tree_node(last)->id != TREE_OTHER ? last : 0;
}

bool tree_leave(uint64_t saved, struct tree_exit *e)
{
	uint64_t parent = saved & ~(uint64_t)TIMED, context, at;
	struct tree_context *c;
	struct stamp s;
	bool timed = false;

	pthread_rwlock_rdlock(&tree_state.life);
	context = tree_home(parent);
	if (context) {
		c = tree_at(context);
		at = left(c, parent);
		s = charge(c, tree_node(at ? at : c->current));
		if (at && tree_times_calls() && (tree_state.setup.timing != TREE_ADAPTIVE || saved & TIMED)) {
			*e = (struct tree_exit){.id = tree_node(at)->id, .ended = s.before,
						.took = (uint64_t)finish(c, tree_node(at), s.before)};
			timed = true;
		}
		c->current = at ? tree_node(at)->parent : parent;
		hold(c, s.after - s.before, s.after);
		if (tree_node(c->current)->home)
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

void tree_wait_begin(uint64_t id, enum calls_wait kind)
{
	struct tree_context *c;
	struct tree_node *n;
	uint64_t context, at;
	struct stamp s;

	pthread_rwlock_rdlock(&tree_state.life);
	context = tree_state.running && id ? tree_owned(id) : 0;
	c = tree_at(context);
	if (context && !(tree_node(c->current)->closed & TREE_GATE_WAIT)) {
		at = tree_find_child(context, c->current, TREE_WAITING + kind);
		n = tree_node(at);
		n->count++;
		s = charge(c, tree_node(c->current));
		hold(c, s.after - s.before, s.after);
		n->entered = s.after;
		c->current = at;
	}
	pthread_rwlock_unlock(&tree_state.life);
}

void tree_wait_end(uint64_t id, enum calls_wait kind)
{
	struct tree_context *c;
	struct tree_node *n;
	uint64_t context;

	pthread_rwlock_rdlock(&tree_state.life);
	context = tree_state.running && id ? tree_owned(id) : 0;
	c = tree_at(context);
	n = tree_node(c->current);
	if (context && n->id == TREE_WAITING + kind) {
		struct stamp s = charge(c, n);

		if (tree_state.setup.timing == TREE_ADAPTIVE)
			finish(c, n, s.before);
		c->current = n->parent;
		hold(c, s.after - s.before, s.after);
	}
	pthread_rwlock_unlock(&tree_state.life);
}

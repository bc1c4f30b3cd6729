/* Call trees: what the probes do, done here in C by the same steps. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/tracing/tree.h"
#include "common/os/os.h"

static struct tree_node *node(uint64_t at)
{
	return (struct tree_node *)(tree_base + at);
}

/* JstrobeProbe.here, enter, leave */
static struct tree_context *here(uint64_t thread, bool is_virtual)
{
	uint64_t *slots = (uint64_t *)(tree_base + TREE_SLOTS);
	uint64_t at = __atomic_load_n(&slots[thread & (TREE_SLOT_COUNT - 1)], __ATOMIC_ACQUIRE);
	struct tree_context *c = (void *)(tree_base + at);
	uint64_t key = __atomic_load_n(&c->key, __ATOMIC_ACQUIRE);

	if (key == ((thread + 1) | TREE_DUE))
		tree_stamp(c->current);
	else if (key != thread + 1)
		c = (void *)(tree_base + tree_context(thread, is_virtual, "t"));
	return c;
}

static uint64_t enter_as(uint64_t thread, bool is_virtual, uint32_t id)
{
	struct tree_context *c = here(thread, is_virtual);
	uint64_t parent = c->current, child = 0, kids = __atomic_load_n(&node(parent)->kids, __ATOMIC_RELAXED);

	if (kids)
		child = *(uint64_t *)(tree_base + kids + ((id & node(parent)->mask) << 3));
	if (node(child)->id != id)
		child = tree_child(parent, id);
	node(child)->count++;
	c->current = child;
	return parent;
}

static uint64_t enter(uint32_t id)
{
	return enter_as(1, false, id);
}

static void leave(uint64_t parent)
{
	struct tree_context *c = (void *)(tree_base + node(parent)->context);
	struct tree_exit e;

	if ((int64_t)__atomic_load_n(&c->key, __ATOMIC_ACQUIRE) > 0)
		c->current = parent;
	else
		tree_leave(parent, &e);
}

static uint64_t current(void)
{
	return here(1, false)->current;
}

static void begin_as(const struct tree_setup *s)
{
	struct error err;

	assert_int_equal(tree_begin(s, &err), 0);
}

static void begin(size_t limit)
{
	begin_as(&(struct tree_setup){.limit = limit, .period = NS_PER_S, .latency = UINT64_MAX, .depth = UINT32_MAX});
}

/* The child ID of the node at PARENT; 0 if it has none. */
static uint64_t child(uint64_t parent, uint32_t id)
{
	uint64_t at = node(parent)->first;

	while (at && node(at)->id != id)
		at = node(at)->next;
	return at;
}

static void calls_make_a_tree(void **state)
{
	uint64_t root, a, b, saved_a, saved_b;
	int i;

	begin(1 << 20);
	root = here(1, false)->root;
	for (i = 0; i < 10; i++) {
		saved_a = enter(1);
		saved_b = enter(2);
		leave(saved_b);
		saved_b = enter(2);
		leave(saved_b);
		leave(saved_a);
	}
	assert_true(current() == root);
	a = child(root, 1);
	b = child(a, 2);
	assert_true(node(a)->count == 10 && node(b)->count == 20);
	assert_true(node(b)->parent == a && node(b)->depth == 2);
	tree_end();
}

static void a_missed_exit_is_made_good_by_the_next(void **state)
{
	uint64_t saved;

	begin(1 << 20);
	saved = enter(1);
	enter(2);
	enter(3);
	leave(saved);
	assert_true(current() == here(1, false)->root);
	tree_end();
}

static void time_goes_to_who_is_on_top(void **state)
{
	uint64_t saved_a, saved_b, a, b;

	begin(1 << 20);
	saved_a = enter(1);
	a = current();
	tree_tick(os_monotonic());
	saved_b = enter(2); /* stamps: it was a's time */
	b = current();
	assert_int_equal(node(a)->stamps, 1);
	tree_tick(os_monotonic());
	leave(saved_b); /* b's */
	leave(saved_a); /* not charged: no tick since */
	assert_int_equal(node(b)->stamps, 1);
	assert_int_equal(node(a)->stamps, 1);
	assert_true(node(a)->wall > 0 && node(b)->wall > 0 && node(b)->cpu <= node(b)->wall);
	tree_end();
}

/* A tick is charged to who was on top, from the tick before; time since is not charged yet. */
static void ticks_are_charged_not_stamps(void **state)
{
	volatile uint64_t *when = (uint64_t *)(tree_base + TREE_BOARD + 8);
	uint64_t saved, root, first, second;

	begin(1 << 20);
	root = here(1, false)->root;
	first = *when;
	saved = enter(1);
	tree_tick(os_monotonic());
	tree_tick(os_monotonic());
	second = *when;
	leave(saved); /* later than the tick */
	assert_true(node(child(root, 1))->wall == second - first);
	saved = enter(2);
	tree_tick(os_monotonic());
	leave(saved);
	assert_true(node(child(root, 2))->wall == *when - second);
	leave(enter(3));
	assert_true(node(child(root, 3))->wall == 0);
	tree_end();
}

static bool is_due(const struct tree_context *c)
{
	return c->key & TREE_DUE;
}

/* A thread is told of a tick once, sees it in its next entry or exit, and is told of the one after that. */
static void ticks_reach_each_thread_that_calls(void **state)
{
	struct tree_context *busy, *idle;
	uint64_t saved;

	/* a timing in which no stamp follows a tick's */
	begin_as(&(struct tree_setup){.limit = 1 << 20, .timing = TREE_EXACT_CPU, .period = NS_PER_S, .latency = UINT64_MAX,
				      .depth = UINT32_MAX});
	busy = here(1, false);
	idle = here(2, false);
	assert_true(!is_due(busy) && !is_due(idle));
	tree_tick(os_monotonic());
	assert_true(is_due(busy) && is_due(idle));
	saved = enter(1);
	assert_true(!is_due(busy) && is_due(idle));
	tree_tick(os_monotonic());
	assert_true(is_due(busy));
	leave(saved);
	assert_true(!is_due(busy));
	/* a thread that ends is not told, nor is the next owner missed */
	tree_thread_end(1);
	tree_tick(os_monotonic());
	assert_true(busy->key == 0);
	busy = here(3, false);
	tree_tick(os_monotonic());
	assert_true(is_due(busy));
	tree_end();
}

static void any_number_of_children(void **state)
{
	uint64_t root, saved;
	uint32_t id, step;

	begin(16 << 20);
	root = here(1, false)->root;
	/* in a row, and all alike in their low bits */
	for (step = 1; step <= 4096; step *= 4096)
		for (id = 1; id < 1000; id++) {
			saved = enter(id * step);
			leave(saved);
			saved = enter(id * step);
			leave(saved);
		}
	for (step = 1; step <= 4096; step *= 4096)
		for (id = 1; id < 1000; id++)
			if (id * step != 4096 || step == 4096)
				assert_true(node(child(root, id * step))->count == 2);
	tree_end();
}

static void deep_recursion_folds(void **state)
{
	uint64_t total = 0, at, saved[20000];
	int i;

	begin(64 << 20);
	for (i = 0; i < 20000; i++)
		saved[i] = enter(1 + (uint32_t)i % 3);
	for (at = current(); at; at = node(at)->parent)
		assert_true(node(at)->depth < 1000);
	for (i = 19999; i >= 0; i--)
		leave(saved[i]);
	assert_true(current() == here(1, false)->root);
	for (at = node(current())->first; at; at = node(at)->first)
		total += node(at)->count * (node(at)->id != TREE_OTHER);
	tree_end();
	assert_true(total == 20000);
}

static void calls_without_memory_are_counted_in_one_node(void **state)
{
	uint64_t saved, other;
	uint32_t id;

	begin(16 << 10);
	for (id = 1; id <= 1000; id++) {
		saved = enter(id);
		leave(enter(id + 1));
		leave(saved);
	}
	assert_true(tree_bytes() <= 16 << 10);
	other = child(here(1, false)->root, TREE_OTHER);
	assert_true(node(other)->count > 1000);
	/* another thread finds no room at all, and is counted as such */
	leave(enter_as(2, false, 1));
	assert_int_equal(tree_blind_calls(), 1);
	tree_end();
}

static void late_probes_do_no_harm(void **state)
{
	uint64_t saved;
	struct tree_context *c;

	begin(1 << 20);
	saved = enter(1);
	enter(2);
	c = here(1, false);
	tree_end();
	leave(saved);
	leave(enter(1));
	assert_true(c->key == 0);
	/* nor in the next session */
	begin(1 << 20);
	leave(saved);
	assert_true(node(here(1, false)->root)->first == child(here(1, false)->root, TREE_OTHER));
	leave(enter(5));
	assert_true(node(child(here(1, false)->root, 5))->count == 1);
	tree_end();
	assert_int_equal(node(0)->id, TREE_NO_ID);
}

static size_t address_space(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lu", &pages), 1);
	fclose(f);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Each session takes what its trees need, a large one more at once, and none finds what another has left. */
static void sessions_take_little_address_space(void **state)
{
	size_t before = 0;
	uint64_t saved;
	uint32_t id;
	int i;

	for (i = 0; i < 100; i++) {
		begin(256 << 20);
		saved = enter(1);
		for (id = 1; id <= 300; id++)
			leave(enter(id + (uint32_t)i));
		leave(saved);
		assert_true(node(child(here(1, false)->root, 1))->kid_count == 300);
		tree_end();
		before = before ? before : address_space();
	}
	assert_true(address_space() < before + (64 << 20));
	begin(256 << 20);
	for (id = 1; id <= 100000; id++) {
		if (id % 1000 == 1)
			saved = enter(id);
		leave(enter(id));
		if (id % 1000 == 0)
			leave(saved);
	}
	assert_true(tree_bytes() > 8 << 20 && !node(child(here(1, false)->root, TREE_OTHER))->count);
	tree_end();
	begin(1 << 20);
	assert_true(node(here(1, false)->root)->kid_count == 1);
	tree_end();
}

static void virtual_threads_share_contexts(void **state)
{
	uint64_t saved;
	uint32_t i;

	begin(4 << 20);
	for (i = 100; i < 10100; i++) {
		saved = enter_as(i, true, 1);
		leave(enter_as(i, true, 2));
		leave(saved);
	}
	assert_int_equal(tree_threads(), 1);
	/* two at a time need two */
	saved = enter_as(20000, true, 1);
	leave(enter_as(20001, true, 1));
	leave(saved);
	assert_int_equal(tree_threads(), 2);
	tree_end();
}

/* Threads whose numbers have the same low bits: each stays where it is in its own tree. */
static void no_two_numbers_are_alike(void **state)
{
	enum { THREADS = 5 };
	uint64_t saved[THREADS], context[THREADS], i, k;

	begin(4 << 20);
	for (i = 0; i < THREADS; i++) {
		saved[i] = enter_as(7 + i * TREE_SLOT_COUNT, i & 1, 1);
		context[i] = tree_find(7 + i * TREE_SLOT_COUNT);
	}
	assert_int_equal(tree_threads(), THREADS);
	for (k = 0; k < 10; k++) {
		tree_tick(os_monotonic());
		for (i = 0; i < THREADS; i++)
			leave(enter_as(7 + i * TREE_SLOT_COUNT, i & 1, 2));
	}
	assert_int_equal(tree_threads(), THREADS);
	for (i = 0; i < THREADS; i++) {
		assert_true(tree_find(7 + i * TREE_SLOT_COUNT) == context[i]);
		assert_true(node(child(child(tree_context_at(context[i])->root, 1), 2))->count == 10);
	}
	/* in any order they go, and the others are found */
	for (i = 0; i < THREADS; i++) {
		k = i * 3 % THREADS;
		leave(saved[k]);
		tree_thread_end(7 + k * TREE_SLOT_COUNT);
		assert_true(tree_find(7 + k * TREE_SLOT_COUNT) == 0);
		k = (i + 1) * 3 % THREADS;
		assert_true(i == THREADS - 1 || tree_find(7 + k * TREE_SLOT_COUNT) == context[k]);
	}
	tree_end();
}

/* Looking for a thread's context makes none, nor does a wait outside of all methods. */
static void who_counts_nothing_has_no_context(void **state)
{
	uint64_t id;
	size_t before;

	begin(1 << 20);
	before = tree_bytes();
	for (id = 1; id < 300000; id++) {
		assert_true(tree_find(id) == 0);
		tree_wait_begin(id, CALLS_PARK);
		tree_wait_end(id, CALLS_PARK);
	}
	assert_true(tree_threads() == 0 && tree_bytes() == before);
	tree_end();
}

/* What is kept does not grow with the threads that there ever were. */
static void a_million_threads_take_the_memory_of_few(void **state)
{
	size_t after = 0;
	uint64_t i;

	begin(16 << 20);
	for (i = 1; i <= 1000000; i++) {
		leave(enter_as(i, i & 1, 1));
		tree_thread_end(i);
		if (i == 1000)
			after = tree_bytes();
	}
	assert_true(tree_bytes() == after && tree_blind_calls() == 0);
	tree_end();
}

static void ended_threads_give_their_contexts_to_others(void **state)
{
	struct tree_thread t;
	uint64_t total = 0;
	uint32_t i;

	begin(16 << 20);
	for (i = 1; i <= 10000; i++) {
		leave(enter_as(i, false, 1));
		tree_thread_end(i);
	}
	assert_true(tree_threads() < 1000);
	for (i = 0; i < tree_threads(); i++) {
		tree_thread(i, &t);
		total += node(child(tree_context_at(t.context)->root, 1))->count;
	}
	assert_true(total == 10000);
	tree_end();
}

/* Threads with large trees, one after the other: they have not each one of their own until no memory is left. */
static void trees_of_ended_threads_leave_room(void **state)
{
	enum { THREADS = 1000, METHODS = 300 };
	uint64_t total = 0;
	struct tree_thread t;
	uint32_t i, id;

	begin(16 << 20);
	for (i = 1; i <= THREADS; i++) {
		for (id = 1; id <= METHODS; id++)
			leave(enter_as(i, false, id));
		tree_thread_end(i);
	}
	assert_true(tree_bytes() < 6 << 20 && tree_threads() > 10);
	for (i = 0; i < tree_threads(); i++) {
		tree_thread(i, &t);
		for (id = 1; id <= METHODS; id++)
			total += node(child(tree_context_at(t.context)->root, id))->count;
	}
	assert_true(total == THREADS * METHODS);
	tree_end();
}

/* ---- lengths of calls: the slow ways, which do all that the short ones do ---- */

/* Enter as timings do that stamp each time; the child. */
static uint64_t enter_stamped(uint32_t id, uint64_t *saved)
{
	struct tree_context *c = here(1, false);
	uint64_t at;

	*saved = c->current;
	at = tree_child(c->current, id);
	node(at)->count++;
	node(at)->entered = tree_stamp(c->current);
	c->current = at;
	return at;
}

static const struct tree_stats *stats_of(uint32_t id)
{
	const struct tree_context *c = here(1, false);
	uint64_t i;

	for (i = 0; i <= c->stats_mask; i++)
		if (tree_stats_at(c, i) && tree_stats_at(c, i)->id == id)
			return tree_stats_at(c, i);
	return NULL;
}

static void lengths_of_calls_are_kept(void **state)
{
	uint64_t saved_a, saved_b, a, b, sum = 0, before = os_monotonic();
	struct tree_exit e;
	uint32_t id;
	int i;

	begin_as(&(struct tree_setup){.limit = 16 << 20, .timing = TREE_EXACT, .period = NS_PER_S, .latency = 1000 * NS_PER_S,
				      .depth = UINT32_MAX});
	a = enter_stamped(1, &saved_a);
	for (i = 0; i < 100; i++) {
		b = enter_stamped(2, &saved_b);
		node(b)->entered -= (uint64_t)i * 1000; /* as if it had begun earlier */
		assert_true(tree_leave(saved_b, &e));
		assert_true(e.id == 2 && e.took >= (uint64_t)i * 1000 && tree_fate(&e) == TREE_CALL_QUICK);
	}
	node(a)->entered -= 2000 * NS_PER_S;
	assert_true(tree_leave(saved_a, &e));
	assert_true(e.id == 1 && e.took >= 2000 * NS_PER_S && tree_fate(&e) == TREE_CALL_SLOW);
	assert_true(e.ended >= before && e.ended <= os_monotonic());
	for (i = 0; i < TREE_BUCKETS; i++)
		sum += stats_of(2)->buckets[i];
	assert_true(sum == 100 && stats_of(2)->min >= 0 && stats_of(2)->max >= 99000 && !stats_of(3));
	assert_int_equal(stats_of(1)->buckets[TREE_BUCKETS - 1], 1);
	/* many methods: the table grows */
	for (id = 10; id < 500; id++) {
		enter_stamped(id, &saved_b);
		tree_leave(saved_b, &e);
	}
	for (id = 10; id < 500; id++)
		assert_true(stats_of(id)->min <= stats_of(id)->max);
	tree_end();
}

/* Waits and what has no name are no methods, however long they took and whichever way they came. */
static void only_methods_are_slow_calls(void **state)
{
	struct tree_exit e = {.took = 5000};
	unsigned kind;

	begin_as(&(struct tree_setup){.limit = 1 << 20, .timing = TREE_EXACT, .period = NS_PER_S, .latency = 5000,
				      .depth = UINT32_MAX});
	for (kind = 0; kind < CALLS_WAITS; kind++) {
		e.id = TREE_WAITING + kind;
		assert_int_equal(tree_fate(&e), TREE_CALL_WAITED);
	}
	e.id = TREE_OTHER;
	assert_int_equal(tree_fate(&e), TREE_CALL_UNNAMED);
	e.id = 0; /* of a node whose memory was given back meanwhile */
	assert_int_equal(tree_fate(&e), TREE_CALL_WAITED);
	e.id = TREE_ID_MAX - 1;
	assert_int_equal(tree_fate(&e), TREE_CALL_SLOW);
	e.took--;
	assert_int_equal(tree_fate(&e), TREE_CALL_QUICK);
	tree_end();
}

static void buckets_are_quarter_octaves(void **state)
{
	unsigned i;

	assert_int_equal(tree_bucket_from(0), 16);
	assert_int_equal(tree_bucket_from(1), 20);
	assert_int_equal(tree_bucket_from(4), 32);
	assert_true(tree_bucket_from(TREE_BUCKETS - 1) == 1ull << TREE_BUCKET_HIGH);
	for (i = 1; i < TREE_BUCKETS; i++)
		assert_true(tree_bucket_from(i) * 4 <= tree_bucket_from(i - 1) * 5);
}

/* An exit that was missed: the length is that of the call that ends, not of the one on top. */
static void a_missed_exit_has_no_length(void **state)
{
	uint64_t saved_a, saved_b;
	struct tree_exit e;

	begin_as(&(struct tree_setup){.limit = 1 << 20, .timing = TREE_EXACT, .period = NS_PER_S, .latency = 0,
				      .depth = UINT32_MAX});
	enter_stamped(1, &saved_a);
	enter_stamped(2, &saved_b);
	assert_true(tree_leave(saved_a, &e));
	assert_int_equal(e.id, 1);
	assert_true(stats_of(2)->max == 0 && stats_of(1)->max > 0);
	tree_end();
}

static void a_timed_call_stands_for_those_since_the_last(void **state)
{
	uint64_t saved, at;
	struct tree_exit e;

	begin_as(&(struct tree_setup){.limit = 1 << 20, .timing = TREE_ADAPTIVE, .period = NS_PER_S, .latency = UINT64_MAX,
				      .depth = UINT32_MAX});
	at = enter_stamped(1, &saved);
	node(at)->count += 9; /* nine more that were not timed */
	node(at)->entered -= 1000 * NS_PER_S;
	tree_leave(saved | 1, &e);
	assert_true(node(at)->wall >= 1000 * NS_PER_S && node(at)->wall < 1001 * NS_PER_S);
	assert_true(node(at)->since == 10 && node(at)->every == 0 && node(at)->due == 11 && !node(at)->hot);
	assert_int_equal(stats_of(1)->buckets[TREE_BUCKETS - 1], 10);
	/* one that is not timed counts for nothing; beyond the quota a node is timed more rarely, at a quiet tick less so */
	enter_stamped(1, &saved);
	tree_leave(saved, &e);
	assert_int_equal(node(at)->since, 10);
	tree_tune(0, 0, TREE_RAREST);
	enter_stamped(1, &saved);
	tree_leave(saved | 1, &e);
	enter_stamped(1, &saved);
	tree_leave(saved | 1, &e);
	assert_true(node(at)->every == 3 && node(at)->hot && node(at)->due > node(at)->count &&
		    node(at)->due <= node(at)->count + 8);
	tree_tune(100, 0, TREE_RAREST);
	tree_tick(os_monotonic());
	tree_stamp(at);
	assert_true(node(at)->every == 1 && node(at)->ticked > 0);
	tree_end();
}

/* ---- whose time it is ---- */

static void spin(uint64_t ns)
{
	uint64_t until = os_thread_cpu(0) + ns;

	while (os_thread_cpu(0) < until)
		;
}

static void *ticks(void *on)
{
	os_thread_hurry();
	while (__atomic_load_n((bool *)on, __ATOMIC_RELAXED)) {
		tree_tick(os_monotonic());
		os_sleep(NS_PER_MS);
	}
	return NULL;
}

/* A node runs for 1.5 ms, another sleeps for 1 ms: often from one tick to the next, and a stamp has of both. */
static void who_sleeps_does_not_run(void **state)
{
	uint64_t saved, before, used, root, runs, sleeps;
	pthread_t ticker;
	bool on = true;
	int i;

	begin_as(&(struct tree_setup){.limit = 1 << 20, .period = NS_PER_MS, .latency = UINT64_MAX, .depth = UINT32_MAX});
	root = here(1, false)->root;
	before = os_thread_cpu(0);
	assert_int_equal(pthread_create(&ticker, NULL, ticks, &on), 0);
	for (i = 0; i < 400; i++) {
		saved = enter(1);
		spin(1500 * NS_PER_US);
		leave(saved);
		saved = enter(2);
		os_sleep(NS_PER_MS);
		leave(saved);
	}
	__atomic_store_n(&on, false, __ATOMIC_RELAXED);
	pthread_join(ticker, NULL);
	used = os_thread_cpu(0) - before;
	runs = child(root, 1);
	sleeps = child(root, 2);
	assert_true(here(1, false)->used_cpu <= used + NS_PER_MS && here(1, false)->used_cpu + 10 * NS_PER_MS > used);
	runs = node(runs)->cpu + node(runs)->known;
	sleeps = node(sleeps)->cpu + node(sleeps)->known;
	assert_true(runs > 3 * used / 4 && runs < 5 * used / 4 && sleeps < used / 4);
	tree_end();
}

/* What a thread uses from a tick's stamp to the next entry or exit, and on, is known without another tick. */
static void what_follows_a_tick_is_known(void **state)
{
	uint64_t saved, a, b, since, stamps = 0;
	struct tree_context *c;
	int i;

	begin(1 << 20);
	saved = enter(1);
	c = here(1, false);
	a = current();
	spin(NS_PER_MS);
	tree_tick(os_monotonic());
	since = os_monotonic();
	saved = enter(2); /* the tick's: whose the time before was is not known */
	b = current();
	assert_true(is_due(c) && node(a)->known == 0);
	spin(3 * NS_PER_MS);
	leave(saved);
	assert_true(node(b)->known >= 3 * NS_PER_MS && node(b)->cpu == 0 && node(a)->known == 0);
	/* a few, and then no more: calls would have one each */
	for (i = 0; i < 100000; i++) {
		saved = enter(2);
		stamps += is_due(c);
		leave(saved);
	}
	assert_true(!is_due(c) && stamps <= 10 + (os_monotonic() - since) / (100 * NS_PER_US));
	assert_true(node(a)->known + node(b)->known <= c->used_cpu);
	tree_end();
}

/* What the probe makes a thread wait for is in no node's time, and in no call's. */
static void held_time_is_nobodys(void **state)
{
	uint64_t saved_a, saved_b, a, b;
	struct tree_exit e;

	begin_as(&(struct tree_setup){.limit = 1 << 20, .timing = TREE_EXACT, .period = NS_PER_S, .latency = UINT64_MAX,
				      .depth = UINT32_MAX});
	a = enter_stamped(1, &saved_a);
	b = enter_stamped(2, &saved_b);
	/* as if they had begun 5 s ago */
	node(a)->entered -= 5 * NS_PER_S;
	node(b)->entered -= 5 * NS_PER_S;
	here(1, false)->last -= 5 * NS_PER_S;
	tree_hold(1, os_monotonic() - 3 * NS_PER_S, 0);
	assert_true(here(1, false)->held >= 3 * NS_PER_S && here(1, false)->held < 4 * NS_PER_S);
	assert_true(tree_leave(saved_b, &e) && e.took >= 19 * NS_PER_S / 10 && e.took < 3 * NS_PER_S);
	assert_true(node(b)->wall >= 19 * NS_PER_S / 10 && node(b)->wall < 3 * NS_PER_S);
	assert_true(tree_leave(saved_a, &e) && e.took >= 19 * NS_PER_S / 10 && e.took < 3 * NS_PER_S);
	assert_true(node(a)->wall < NS_PER_S);
	tree_hold(2, os_monotonic() - NS_PER_S, 0); /* a thread without a context waits for none */
	tree_end();
}

/* A call that was entered from a node that had gone, and what it calls, leads back to where the thread really is. */
static void who_has_gone_has_no_calls(void **state)
{
	struct tree_context *c;
	uint64_t outer, gone, at, i;

	begin(1 << 20);
	outer = enter(1);
	c = here(1, false);
	at = c->current;
	enter(2);
	enter(3);
	gone = c->current;
	tree_go_back(gone, at);
	assert_true(c->current == at && is_due(c));
	for (i = 0; i < 2; i++) {
		/* JstrobeProbe.enter has read the gone node before */
		uint64_t child = tree_child(at, 4);

		node(child)->count++;
		c->current = child;
		if (i)
			enter(5); /* which misses its exit */
		__atomic_fetch_or(&c->key, TREE_DUE, __ATOMIC_SEQ_CST);
		leave(gone);
		assert_true(c->current == at);
	}
	leave(outer);
	assert_true(c->current == c->root);
	tree_end();
}

/* ---- gates ---- */

static void nodes_are_closed_outside_roots_and_in_the_deep(void **state)
{
	uint64_t root, a, b;

	begin_as(&(struct tree_setup){.limit = 1 << 20, .period = NS_PER_S, .latency = UINT64_MAX, .depth = 2, .rooted = true});
	root = here(1, false)->root;
	enter(1);
	a = current();
	enter(2);
	b = current();
	assert_int_equal(node(root)->closed, TREE_GATE_OUTSIDE | TREE_GATE_WAIT);
	assert_int_equal(node(a)->closed, 0);
	assert_int_equal(node(b)->closed, TREE_GATE_DEEP);
	tree_end();
}

static void waits_are_nodes(void **state)
{
	uint64_t saved, a, wait;

	begin(1 << 20);
	tree_wait_begin(1, CALLS_MONITOR); /* a thread that called nothing */
	saved = enter(1);
	a = current();
	tree_wait_begin(1, CALLS_MONITOR);
	wait = current();
	assert_true(node(wait)->id == TREE_WAITING + CALLS_MONITOR && node(wait)->parent == a && node(wait)->count == 1);
	tree_wait_begin(1, CALLS_PARK); /* it waits already */
	tree_wait_end(1, CALLS_PARK);
	assert_true(current() == wait);
	tree_tick(os_monotonic());
	tree_wait_end(1, CALLS_MONITOR);
	assert_true(current() == a && node(wait)->wall > 0 && node(a)->wall == 0);
	leave(saved);
	tree_wait_begin(1, CALLS_WAIT); /* in no instrumented method */
	assert_true(current() == here(1, false)->root);
	tree_wait_end(1, CALLS_WAIT);
	tree_end();
}

static void *call_a_lot(void *data)
{
	uint64_t thread = (uint64_t)(uintptr_t)data, saved;
	uint32_t i;

	for (i = 0; i < 200000; i++) {
		saved = enter_as(thread, false, 1 + i % 50);
		leave(enter_as(thread, false, 1 + i % 7));
		leave(saved);
	}
	return NULL;
}

/* Threads count, a ticker ticks, a reader reads, and in the middle all ends. */
static void ends_while_threads_call(void **state)
{
	pthread_t threads[4];
	uint64_t i, seen = 0;
	int round;

	for (round = 0; round < 5; round++) {
		begin(4 << 20);
		for (i = 0; i < 4; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, call_a_lot, (void *)(uintptr_t)(i + 1)), 0);
		for (i = 0; i < 200; i++) {
			struct tree_thread t;
			uint64_t at;

			tree_tick(os_monotonic());
			if (i < tree_threads()) {
				tree_thread((uint32_t)i, &t);
				for (at = node(tree_context_at(t.context)->root)->first; at; at = node(at)->next)
					seen += node(at)->count;
			}
		}
		tree_end();
		for (i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
	assert_true(seen < UINT64_MAX);
	assert_int_equal(node(0)->id, TREE_NO_ID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_make_a_tree),
		cmocka_unit_test(a_missed_exit_is_made_good_by_the_next),
		cmocka_unit_test(time_goes_to_who_is_on_top),
		cmocka_unit_test(ticks_are_charged_not_stamps),
		cmocka_unit_test(ticks_reach_each_thread_that_calls),
		cmocka_unit_test(any_number_of_children),
		cmocka_unit_test(deep_recursion_folds),
		cmocka_unit_test(calls_without_memory_are_counted_in_one_node),
		cmocka_unit_test(late_probes_do_no_harm),
		cmocka_unit_test(sessions_take_little_address_space),
		cmocka_unit_test(virtual_threads_share_contexts),
		cmocka_unit_test(no_two_numbers_are_alike),
		cmocka_unit_test(who_counts_nothing_has_no_context),
		cmocka_unit_test(a_million_threads_take_the_memory_of_few),
		cmocka_unit_test(ended_threads_give_their_contexts_to_others),
		cmocka_unit_test(trees_of_ended_threads_leave_room),
		cmocka_unit_test(lengths_of_calls_are_kept),
		cmocka_unit_test(only_methods_are_slow_calls),
		cmocka_unit_test(buckets_are_quarter_octaves),
		cmocka_unit_test(a_missed_exit_has_no_length),
		cmocka_unit_test(a_timed_call_stands_for_those_since_the_last),
		cmocka_unit_test(who_sleeps_does_not_run), cmocka_unit_test(what_follows_a_tick_is_known),
		cmocka_unit_test(held_time_is_nobodys),
		cmocka_unit_test(who_has_gone_has_no_calls),
		cmocka_unit_test(nodes_are_closed_outside_roots_and_in_the_deep),
		cmocka_unit_test(waits_are_nodes),
		cmocka_unit_test(ends_while_threads_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

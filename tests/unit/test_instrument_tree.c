/* Call trees: what the probes do, done here in C by the same steps. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "instrument/tree.h"

static struct tree_node *node(uint64_t at)
{
	return (struct tree_node *)(tree_base + at);
}

/* JstrobeProbe.here, enter, leave */
static struct tree_context *here(uint64_t thread, bool is_virtual)
{
	uint64_t *slots = (uint64_t *)(tree_base + TREE_SLOTS);
	struct tree_context *c = (void *)(tree_base + slots[thread & (TREE_SLOT_COUNT - 1)]);

	return c->key == thread + 1 ? c : (void *)(tree_base + tree_context(thread, is_virtual, "t"));
}

static uint32_t tick(void)
{
	return *(volatile uint32_t *)(tree_base + TREE_TICK);
}

static uint64_t enter_as(uint64_t thread, bool is_virtual, uint32_t id)
{
	struct tree_context *c = here(thread, is_virtual);
	uint64_t parent = c->current, child;

	child = *(uint64_t *)(tree_base + node(parent)->kids + ((id & node(parent)->mask) << 3));
	if (node(child)->id != id)
		child = tree_child(parent, id);
	node(child)->count++;
	if (tick() != c->seen)
		tree_stamp(parent);
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

	if (tick() != c->seen)
		tree_leave(parent);
	else
		c->current = parent;
}

static uint64_t current(void)
{
	return here(1, false)->current;
}

static void begin(size_t limit)
{
	struct error err;

	assert_int_equal(tree_begin(limit, false, NS_PER_S, &err), 0);
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
	tree_tick();
	saved_b = enter(2); /* stamps: it was a's time */
	b = current();
	assert_int_equal(node(a)->stamps, 1);
	tree_tick();
	leave(saved_b); /* b's */
	leave(saved_a); /* nobody's: no tick since */
	assert_int_equal(node(b)->stamps, 1);
	assert_int_equal(node(a)->stamps, 1);
	assert_true(node(a)->wall > 0 && node(b)->wall > 0 && node(b)->cpu <= node(b)->wall);
	tree_end();
}

/* A tick is charged to who was on top, from the tick before; time since is nobody's yet. */
static void ticks_are_charged_not_stamps(void **state)
{
	volatile uint64_t *when = (uint64_t *)(tree_base + TREE_TICK + 8);
	uint64_t saved, root, first, second;

	begin(1 << 20);
	root = here(1, false)->root;
	first = *when;
	saved = enter(1);
	tree_tick();
	tree_tick();
	second = *when;
	leave(saved); /* later than the tick */
	assert_true(node(child(root, 1))->wall == second - first);
	saved = enter(2);
	tree_tick();
	leave(saved);
	assert_true(node(child(root, 2))->wall == *when - second);
	leave(enter(3));
	assert_true(node(child(root, 3))->wall == 0);
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

			tree_tick();
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
		cmocka_unit_test(any_number_of_children),
		cmocka_unit_test(deep_recursion_folds),
		cmocka_unit_test(calls_without_memory_are_counted_in_one_node),
		cmocka_unit_test(late_probes_do_no_harm),
		cmocka_unit_test(virtual_threads_share_contexts),
		cmocka_unit_test(ended_threads_give_their_contexts_to_others),
		cmocka_unit_test(ends_while_threads_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

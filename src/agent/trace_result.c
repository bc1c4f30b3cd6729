#include "agent/trace_result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/tree.h"
#include "os/os.h"

/* Trees being merged. */
struct merge {
	struct calls *c;
	const struct trace_classes *classes;
	VECTOR(struct calls_node) nodes;
	struct map places; /* merged parent and method → place */
	VECTOR(struct todo {
		uint64_t node;
		uint32_t parent;
	}) todo;
	bool by_thread;
	uint32_t top;      /* where the roots of a thread's tree go */
	uint32_t other;    /* the method that stands for what no memory was left for */
	bool failed;
};

/* `self` is without waiting, `total` with it. */
static struct calls_times with_waits(struct calls_times self)
{
	self.wall += calls_waited(&self);
	return self;
}

static uint32_t method_of(const struct merge *m, uint32_t id)
{
	return id - m->classes->first < m->classes->methods.count ? id - m->classes->first : m->other;
}

/* The merged node for METHOD under PARENT. */
static uint32_t place(struct merge *m, uint32_t parent, uint32_t method)
{
	bool fresh;
	uint32_t *at = map_put(&m->places, (uint64_t)parent << 32 | method, &fresh);
	struct calls_node *n = at && fresh ? VECTOR_PUSH(&m->nodes) : NULL;

	if (!at || (fresh && !n)) {
		m->failed = true;
		return 0;
	}
	if (fresh) {
		*at = (uint32_t)m->nodes.count - 1;
		n->method = method;
		n->parent = parent;
		n->depth = method == CALLS_ROOT ? 0 : m->nodes.items[parent].depth + 1;
	}
	return *at;
}

static void push(struct merge *m, uint64_t node, uint32_t parent)
{
	struct todo *t = VECTOR_PUSH(&m->todo);

	if (!t)
		m->failed = true;
	else
		*t = (struct todo){node, parent};
}

/* Time that nobody has charged yet, since the last stamp or tick: it is the current node's. */
static struct calls_times pending(const struct tree_context *k, bool exact)
{
	/* the thread may stamp at any moment: each is read once, the older time first */
	uint64_t since = __atomic_load_n(exact ? &k->last : &k->ticked, __ATOMIC_ACQUIRE);
	uint64_t last_cpu = __atomic_load_n(&k->last_cpu, __ATOMIC_ACQUIRE);
	uint64_t stamped = __atomic_load_n(&k->stamped, __ATOMIC_ACQUIRE);
	uint64_t cpu = k->is_virtual ? 0 : os_thread_cpu((pid_t)k->tid), now = os_monotonic();

	cpu = cpu > last_cpu && now > stamped ? MIN(cpu - last_cpu, now - stamped) : 0;
	return (struct calls_times){.wall = now > since ? now - since : 0, .cpu = cpu};
}

static void add_node(struct merge *m, const struct todo *t, uint64_t current, struct calls_times more,
		     struct calls_thread *thread)
{
	const struct tree_node *n = tree_node_at(t->node);
	uint64_t child = __atomic_load_n(&n->first, __ATOMIC_ACQUIRE);
	struct calls_node *merged;
	uint32_t at = 0;

	if (n->id == m->classes->first - 1) /* the calibration's */
		return;
	if (n->id != TREE_ROOT)
		at = place(m, t->parent, method_of(m, n->id));
	else
		at = m->top;
	if (m->failed)
		return;
	merged = &m->nodes.items[at];
	if (n->id != TREE_ROOT) {
		struct calls_times self = {.wall = n->wall, .cpu = n->cpu};

		if (!m->c->timed) /* virtual threads stamp when they are done, all the same */
			self = (struct calls_times){.wall = 0};
		if (t->node == current)
			calls_times_add(&self, &more);
		merged->count += n->count;
		merged->stamps += n->stamps;
		calls_times_add(&merged->self, &self);
		thread->count += n->count;
		calls_times_add(&thread->self, &self);
	}
	for (; child; child = tree_node_at(child)->next)
		if (tree_node_at(child)->id != TREE_OTHER || tree_node_at(child)->count)
			push(m, child, at);
}

static void add_thread(struct merge *m, const struct tree_thread *t, struct calls_thread *thread)
{
	const struct tree_context *k = tree_context_at(t->context);
	uint64_t current = k->current;
	struct calls_times more = {.wall = 0};

	/* an owner is inside an instrumented method */
	if (m->c->timed && k->key && current != k->root)
		more = pending(k, m->classes->exact);
	*thread = (struct calls_thread){.name = strdup(t->name), .id = t->id, .threads = t->threads};
	push(m, k->root, 0);
	while (m->todo.count && !m->failed) {
		struct todo next = m->todo.items[--m->todo.count];

		add_node(m, &next, current, more, thread);
	}
}

/* The node that stands for the thread with number I in the result. */
static uint32_t thread_place(struct merge *m, uint32_t i)
{
	uint32_t at = place(m, 0, CALLS_THREAD - 1 - i);

	if (at) {
		m->nodes.items[at].method = CALLS_THREAD;
		m->nodes.items[at].thread = i;
	}
	return at;
}

/* Sums: of each node with all below it, and of each method, once where it called itself. */
static void sum_up(struct merge *m)
{
	struct calls_node *nodes = m->nodes.items;
	uint32_t i, at;

	for (i = 0; i < m->nodes.count; i++)
		nodes[i].total = with_waits(nodes[i].self);
	for (i = (uint32_t)m->nodes.count - 1; i > 0; i--)
		calls_times_add(&nodes[nodes[i].parent].total, &nodes[i].total);
	for (i = 1; i < m->nodes.count; i++) {
		struct calls_method *method;

		if (nodes[i].method == CALLS_THREAD)
			continue;
		method = &m->c->methods[nodes[i].method];
		method->count += nodes[i].count;
		method->stamps += nodes[i].stamps;
		calls_times_add(&method->self, &nodes[i].self);
		m->c->count += nodes[i].count;
		for (at = nodes[i].parent; at && nodes[at].method != nodes[i].method; at = nodes[at].parent)
			;
		if (!at)
			calls_times_add(&method->total, &nodes[i].total);
	}
}

static int name_all(struct merge *m)
{
	const struct trace_classes *k = m->classes;
	struct calls *c = m->c;
	size_t i;

	c->method_count = (uint32_t)k->methods.count + 1;
	c->methods = calloc(c->method_count, sizeof(*c->methods));
	c->skipped = calloc(k->skipped.count + 1, sizeof(*c->skipped));
	if (!c->methods || !c->skipped)
		return -ENOMEM;
	for (i = 0; i < k->methods.count; i++) {
		c->methods[i].class_name = strings_get(&k->texts, k->methods.items[i].class_name);
		c->methods[i].name = strings_get(&k->texts, k->methods.items[i].name);
		c->methods[i].type = strings_get(&k->texts, k->methods.items[i].type);
	}
	m->other = (uint32_t)k->methods.count;
	c->methods[m->other] = (struct calls_method){.class_name = "(other)", .name = "calls", .type = ""};
	for (i = 0; i < k->skipped.count; i++) {
		c->skipped[i].name = strings_get(&k->texts, k->skipped.items[i].name);
		c->skipped[i].reason = k->skipped.items[i].reason;
	}
	c->skipped_count = (uint32_t)k->skipped.count;
	c->skipped_more = k->skipped_more;
	return 0;
}

int trace_result_read(struct calls *c, const struct trace_classes *classes, bool by_thread)
{
	struct merge m = {.c = c, .classes = classes, .by_thread = by_thread};
	uint32_t i, count = tree_threads();
	int rc = name_all(&m);

	c->threads = calloc(count + 1u, sizeof(*c->threads));
	place(&m, 0, CALLS_ROOT);
	for (i = 0; rc == 0 && c->threads && !m.failed && i < count; i++) {
		struct tree_thread t;

		tree_thread(i, &t);
		if (by_thread)
			m.top = thread_place(&m, c->thread_count);
		add_thread(&m, &t, &c->threads[c->thread_count]);
		if (c->threads[c->thread_count].count)
			c->thread_count++;
		else
			free((char *)(uintptr_t)c->threads[c->thread_count].name);
	}
	/* made for a thread that turned out to have called nothing */
	if (m.top && m.nodes.items[m.top].thread == c->thread_count)
		m.nodes.count--;
	if (!c->threads || m.failed)
		rc = -ENOMEM;
	if (rc == 0) {
		sum_up(&m);
		/* "other" is a method only if it was needed */
		c->method_count -= c->methods[m.other].count == 0;
	}
	c->nodes = m.nodes.items;
	c->node_count = (uint32_t)m.nodes.count;
	c->bytes = tree_bytes();
	c->uncounted = tree_blind_calls();
	c->class_count = classes->class_count;
	free(m.todo.items);
	map_free(&m.places);
	return rc;
}

void trace_result_free(struct calls *c)
{
	uint32_t i;

	for (i = 0; i < c->thread_count; i++)
		free((char *)(uintptr_t)c->threads[i].name);
	free(c->threads);
	free(c->methods);
	free(c->nodes);
	free(c->skipped);
	memset(c, 0, sizeof(*c));
}

#include "agent/tracing/trace_result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/tracing/trace_constructors.h"
#include "agent/tracing/trace_slow.h"
#include "agent/tracing/tree.h"
#include "common/os/os.h"
#include "profile/model/calls_tree.h"

/* A node of a thread's own tree. */
struct own {
	uint64_t node;
	uint32_t parent;   /* in merge.own; the root is 0 */
	uint32_t place;    /* in merge.tree */
	uint64_t self, total; /* ns of wall-clock time */
	uint64_t cpu;      /* of self */
	uint64_t known;    /* of that, from stamp to stamp */
	double variance;   /* of total */
};

/* Trees being merged. */
struct merge {
	struct calls *c;
	const struct trace_classes *classes;
	struct calls_merge tree;
	VECTOR(double) variances; /* of its nodes' totals, ns² */
	VECTOR(struct own) own; /* of the thread that is being read, parents before children */
	struct trace_lengths lengths;
	uint64_t period;   /* ns between ticks */
	uint32_t top;      /* where the roots of a thread's tree go */
	uint32_t other;    /* the method that stands for what no memory was left for */
	bool failed;
};

/* The thread whose tree is being read. */
struct reading {
	struct calls_thread *thread;
	uint64_t current;         /* its node; 0 = it is in no instrumented method */
	struct calls_times more;  /* what that one is due */
	uint64_t now;
	double period;
	bool knows_used;
	uint64_t used;            /* CPU ns of the thread in all, if that is known */
};

static uint32_t method_of(const struct merge *m, uint32_t id)
{
	return id - m->classes->first < m->classes->methods.count ? id - m->classes->first : m->other;
}

/* A variance for a node that is new; FOUND: it is there. */
static void keep_pace(struct merge *m, bool found)
{
	bool fresh = m->variances.count < m->tree.nodes.count;
	const double *variance = fresh ? VECTOR_PUSH(&m->variances) : m->variances.items;

	m->failed |= !found || !variance;
}

/* The merged node for METHOD, or THREAD, under PARENT. */
static uint32_t place(struct merge *m, uint32_t parent, uint32_t method, uint32_t thread)
{
	uint32_t at = calls_merge_place(&m->tree, parent, method, thread);

	keep_pace(m, at);
	return at;
}

static bool is_wait(uint32_t id)
{
	return id - TREE_WAITING < CALLS_WAITS;
}

/* Time that was not charged yet, since the last stamp or tick: it is the current node's. */
static struct calls_times pending(const struct tree_context *k, bool exact)
{
	/* the thread may stamp at any moment: each is read once, the older time first */
	uint64_t since = __atomic_load_n(exact ? &k->last : &k->ticked, __ATOMIC_ACQUIRE);
	uint64_t last_cpu = __atomic_load_n(&k->last_cpu, __ATOMIC_ACQUIRE);
	uint64_t cpu = k->is_virtual ? 0 : os_thread_cpu((pid_t)k->tid), now = os_monotonic();

	since = now > since ? now - since : 0;
	return (struct calls_times){.wall = since, .cpu = cpu > last_cpu ? MIN(cpu - last_cpu, since) : 0};
}

/* What R's thread has used, as far as its time is in the tree. */
static uint64_t used_cpu(const struct tree_context *k, const struct reading *r)
{
	uint64_t used = __atomic_load_n(&k->used_cpu, __ATOMIC_ACQUIRE);

	if (r->current)
		return used + r->more.cpu;
	return k->key ? used + tree_unstamped_cpu(k, os_thread_cpu((pid_t)k->tid)) : used;
}

/* Adaptive timing: whether N's last call is timed and still running. */
static bool is_running(uint64_t node, const struct reading *r)
{
	uint64_t at = r->current;

	if (!tree_node_at(node)->entered)
		return false;
	while (at && at != node)
		at = tree_node_at(at)->parent;
	return at;
}

/* Append NODE, a child of own PARENT, and give it its place. */
static void append(struct merge *m, uint64_t node, uint32_t parent)
{
	const struct tree_node *n = tree_node_at(node);
	bool wait = is_wait(n->id), top = n->id == TREE_ROOT;
	struct own *o;
	uint32_t at;

	/* the calibration's, and what stands ready in case of need */
	if (n->id == m->classes->first - 1 || (!top && !wait && !n->count && method_of(m, n->id) == m->other))
		return;
	at = top ? m->top : m->own.items[parent].place;
	if (!top && !wait)
		at = place(m, at, method_of(m, n->id), 0);
	o = VECTOR_PUSH(&m->own);
	if (!o)
		m->failed = true;
	else
		*o = (struct own){.node = node, .parent = parent, .place = at};
}

static void gather(struct merge *m, uint64_t root)
{
	uint64_t child;
	uint32_t i;

	m->own.count = 0;
	append(m, root, 0);
	for (i = 0; i < m->own.count && !m->failed; i++) {
		child = __atomic_load_n(&tree_node_at(m->own.items[i].node)->first, __ATOMIC_ACQUIRE);
		for (; child; child = tree_node_at(child)->next)
			append(m, child, i);
	}
}

/*
 * Adaptive timing: where all calls were timed their sum is the total; elsewhere ticks are the time of the node itself,
 * each with an error of about a period.
 */
static void time_adaptive(struct own *o, const struct reading *r)
{
	const struct tree_node *n = tree_node_at(o->node);
	uint64_t parts = o->total;

	if (n->hot || n->id == TREE_ROOT) {
		o->self = n->ticked + (o->node == r->current ? r->more.wall : 0);
		o->total += o->self;
		o->variance += (double)n->stamps * r->period * r->period;
		return;
	}
	o->total = n->wall + (is_running(o->node, r) && r->now > n->entered ? r->now - n->entered : 0);
	o->total = MAX(o->total, parts);
	o->self = o->total - parts;
	o->variance = 0;
}

/* What of the own time of O ran, as far as its node knows: for sure, and by ticks. */
static void read_cpu(struct own *o, const struct reading *r)
{
	const struct tree_node *n = tree_node_at(o->node);

	o->known = o->cpu = 0;
	/* who sleeps does not run; who reads may */
	if (is_wait(n->id) && n->id != TREE_WAITING + CALLS_IO)
		return;
	o->known = MIN(n->known, o->self);
	o->cpu = MIN(n->cpu + (o->node == r->current ? r->more.cpu : 0), o->self - o->known);
}

/* Multiply CPU times by FACTOR, as far as there is room; their sum. */
static double scale_cpu(struct merge *m, double factor)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < m->own.count; i++) {
		struct own *o = &m->own.items[i];

		o->cpu = (uint64_t)MIN((double)o->cpu * factor, (double)(o->self - o->known));
		sum += (double)o->cpu;
	}
	return sum;
}

/* Give MISSING to all that do not wait, by the room that they have. */
static void give_cpu(struct merge *m, double missing)
{
	double room = 0, part;
	size_t i;

	for (i = 0; i < m->own.count; i++)
		if (!is_wait(tree_node_at(m->own.items[i].node)->id))
			room += (double)(m->own.items[i].self - m->own.items[i].known - m->own.items[i].cpu);
	part = room > 0 ? MIN(missing / room, 1.0) : 0;
	for (i = 0; i < m->own.count; i++) {
		struct own *o = &m->own.items[i];

		if (!is_wait(tree_node_at(o->node)->id))
			o->cpu += (uint64_t)(part * (double)(o->self - o->known - o->cpu));
	}
}

/* All together have what the thread's clock says, less what is KNOWN, and none more than it took; SUM: by ticks. */
static void fit_ticks(struct merge *m, double whole, double sum, double known)
{
	size_t i;

	/* the thread has gone on while its nodes were read */
	for (i = 0; i < m->own.count && known > whole; i++)
		m->own.items[i].known = (uint64_t)((double)m->own.items[i].known * whole / known);
	whole = MAX(whole - known, 0.0);
	if (sum > 0)
		sum = scale_cpu(m, whole / sum);
	if (whole > sum)
		give_cpu(m, whole - sum);
}

/* Ticks say who ran, but with an error of chance; what stamps say of one node alone is so. */
static void fit_cpu(struct merge *m, const struct reading *r)
{
	double sum = 0, known = 0;
	size_t i;

	for (i = 0; i < m->own.count; i++) {
		read_cpu(&m->own.items[i], r);
		sum += (double)m->own.items[i].cpu;
		known += (double)m->own.items[i].known;
	}
	if (r->knows_used)
		fit_ticks(m, (double)r->used, sum, known);
	for (i = 0; i < m->own.count; i++)
		m->own.items[i].cpu += m->own.items[i].known;
}

/* Each node's own time, from below: children come behind their parents. */
static void time_all(struct merge *m, const struct reading *r)
{
	bool adaptive = m->classes->timing == TREE_ADAPTIVE;
	uint32_t i;

	for (i = (uint32_t)m->own.count; i-- > 0;) {
		struct own *o = &m->own.items[i], *parent = &m->own.items[o->parent];

		if (adaptive)
			time_adaptive(o, r);
		else
			o->self = tree_node_at(o->node)->wall + (o->node == r->current ? r->more.wall : 0);
		if (i && adaptive) {
			parent->total += o->total;
			parent->variance += o->variance;
		}
	}
	fit_cpu(m, r);
}

/* What was counted in O, to the merged node it belongs to. */
static void add(struct merge *m, const struct own *o, const struct reading *r)
{
	const struct tree_node *n = tree_node_at(o->node);
	struct calls_node *to = &m->tree.nodes.items[o->place];
	struct calls_times t = {.wall = o->self, .cpu = o->cpu};
	uint32_t kind = n->id - TREE_WAITING;

	if (!m->c->timed) /* virtual threads stamp when they are done, all the same */
		t = (struct calls_times){.wall = 0};
	if (kind < CALLS_WAITS) {
		calls_times_wait(&t, kind);
	} else {
		to->count += n->count;
		to->stamps += n->stamps;
		m->variances.items[o->place] += o->variance;
		r->thread->count += n->count;
	}
	calls_times_add(&to->self, &t);
	calls_times_add(&r->thread->self, &t);
}

static void add_lengths(struct merge *m, const struct tree_context *k)
{
	uint64_t i, mask = __atomic_load_n(&k->stats_mask, __ATOMIC_ACQUIRE);

	for (i = 0; i <= mask; i++) {
		const struct tree_stats *s = tree_stats_at(k, i);

		if (s && s->id >= m->classes->first &&
		    trace_lengths_add(&m->lengths, method_of(m, (uint32_t)s->id), s))
			m->failed = true;
	}
}

static void add_thread(struct merge *m, const struct tree_thread *t, struct calls_thread *thread)
{
	const struct tree_context *k = tree_context_at(t->context);
	struct reading r = {.thread = thread, .current = k->current, .now = os_monotonic(),
			    .period = (double)m->period};
	uint32_t i;

	/* an owner is inside an instrumented method */
	if (!k->key || r.current == k->root)
		r.current = 0;
	if (m->c->timed && r.current)
		r.more = pending(k, m->classes->timing == TREE_EXACT || m->classes->timing == TREE_EXACT_CPU);
	if (r.current && is_wait(tree_node_at(r.current)->id))
		r.more.cpu = 0;
	/* an exception may have ended it long ago */
	if (r.current && trace_constructors_has(tree_node_at(r.current)->id))
		r.more = (struct calls_times){.wall = 0};
	if (m->c->timed && !k->is_virtual && m->classes->timing != TREE_EXACT_CPU) {
		r.knows_used = true;
		r.used = used_cpu(k, &r);
	}
	*thread = (struct calls_thread){.name = strdup(t->name), .id = t->id, .threads = t->threads};
	gather(m, k->root);
	if (!m->failed)
		time_all(m, &r);
	/* the root's own is time outside */
	for (i = 1; i < m->own.count && !m->failed; i++)
		add(m, &m->own.items[i], &r);
	add_lengths(m, k);
}

/* Names are copied: ours move as classes are loaded. */
static int name_all(struct merge *m)
{
	const struct trace_classes *k = m->classes;
	struct calls *c = m->c;
	size_t i;

	c->method_count = (uint32_t)k->methods.count + 1;
	c->methods = calloc(c->method_count, sizeof(*c->methods));
	c->skipped = calloc(k->skipped.count + 1, sizeof(*c->skipped));
	c->texts = calloc(1, k->texts.length + 1);
	m->lengths = (struct trace_lengths){calloc(k->methods.count + 1, sizeof(void *)), (uint32_t)k->methods.count};
	if (!c->methods || !c->skipped || !c->texts || !m->lengths.by_method)
		return -ENOMEM;
	if (k->texts.length)
		memcpy(c->texts, k->texts.bytes, k->texts.length);
	for (i = 0; i < k->methods.count; i++) {
		c->methods[i].class_name = c->texts + k->methods.items[i].class_name;
		c->methods[i].name = c->texts + k->methods.items[i].name;
		c->methods[i].type = c->texts + k->methods.items[i].type;
	}
	m->other = (uint32_t)k->methods.count;
	c->methods[m->other] = (struct calls_method){.class_name = "(other)", .name = "calls", .type = ""};
	for (i = 0; i < k->skipped.count; i++) {
		c->skipped[i].name = c->texts + k->skipped.items[i].name;
		c->skipped[i].reason = k->skipped.items[i].reason;
	}
	c->skipped_count = (uint32_t)k->skipped.count;
	c->skipped_more = k->skipped_more;
	return 0;
}

static int copy_entered(struct calls *c, const struct trace_entered *e)
{
	c->entered = calloc(e->list.count + 1, sizeof(*c->entered));
	if (!c->entered)
		return -ENOMEM;
	if (e->list.count)
		memcpy(c->entered, e->list.items, e->list.count * sizeof(*c->entered));
	c->entered_count = (uint32_t)e->list.count;
	return 0;
}

static void read_threads(struct merge *m, uint32_t count, bool by_thread)
{
	struct calls *c = m->c;
	struct tree_thread t;
	uint32_t i;

	for (i = 0; !m->failed && i < count; i++) {
		struct calls_thread *thread = &c->threads[c->thread_count];

		tree_thread(i, &t);
		if (by_thread)
			m->top = place(m, 0, CALLS_THREAD, c->thread_count);
		add_thread(m, &t, thread);
		if (thread->count) {
			c->thread_count++;
			c->stamped += tree_context_at(t.context)->timed_all;
			c->held += tree_context_at(t.context)->held;
		} else {
			free((char *)(uintptr_t)thread->name);
		}
	}
	/* made for a thread that turned out to have called nothing */
	if (m->top && m->tree.nodes.items[m->top].thread == c->thread_count)
		m->tree.nodes.count--;
}

int trace_result_read(struct calls *c, const struct trace_classes *classes, const struct trace_entered *entered,
		      uint64_t period, bool by_thread)
{
	struct merge m = {.c = c, .classes = classes, .period = period};
	uint32_t count = tree_threads();
	int rc = name_all(&m);

	c->threads = calloc(count + 1u, sizeof(*c->threads));
	keep_pace(&m, calls_merge_begin(&m.tree));
	if (rc == 0 && c->threads)
		read_threads(&m, count, by_thread);
	c->nodes = m.tree.nodes.items;
	c->node_count = (uint32_t)m.tree.nodes.count;
	if (!c->threads || m.failed)
		rc = -ENOMEM;
	if (rc == 0) {
		trace_sums(c, classes, &m.lengths, m.variances.items);
		/* "other" is a method only if it was needed */
		c->method_count -= c->methods[m.other].count == 0;
		rc = copy_entered(c, entered);
	}
	if (rc == 0)
		rc = trace_slow_read(c);
	c->bytes = tree_bytes();
	c->uncounted = tree_blind_calls();
	c->class_count = classes->class_count;
	trace_lengths_free(&m.lengths);
	free(m.own.items);
	free(m.variances.items);
	map_free(&m.tree.places);
	return rc;
}

void trace_result_since(struct calls *c, const struct trace_classes *classes, uint64_t began)
{
	uint32_t i;

	for (i = 0; i < c->method_count && i < classes->methods.count; i++) {
		uint64_t since = classes->methods.items[i].since;

		c->methods[i].since = since > began ? since - began : 0;
		if (c->methods[i].count)
			c->since = MAX(c->since, c->methods[i].since);
	}
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
	free(c->frames);
	free(c->stacks);
	free(c->events);
	free(c->entered);
	free(c->texts);
	free(c->slow_texts);
	memset(c, 0, sizeof(*c));
}

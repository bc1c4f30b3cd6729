/*
 * aggregate_stacks.c - a trace becomes a named stack, once for each set of names that its words had.
 */
#include <stdio.h>

#include "agent/collect/aggregate.h"
#include "agent/collect/names/method_identity.h"
#include "agent/zone/frame_word.h"
#include "common/os/os.h"

static uint64_t versions_of(struct collector *c, const struct stack_trace *t, uint64_t epoch)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < t->length; i++) {
		uint32_t version = frames_version(&c->frames, &zone, t->frame[i], epoch);

		if (version == FRAMES_GONE)
			return UINT64_MAX;
		sum += version;
	}
	return sum;
}

static uint8_t end_of(const struct stack_trace *t)
{
	uint64_t root = t->length ? t->frame[t->length - 1] : 0;

	if (frame_kind_of(root) != FRAME_OTHER || frame_other_kind(root) != OTHER_END ||
	    (uint32_t)root >= WALK_ENDS)
		return 0;
	return (uint8_t)((uint32_t)root + 1);
}

/* Append FRAME to NODE, the last one; false when out of memory, also if FRAME says so. */
static bool push_frame(struct collector *c, struct node *node, uint32_t frame, uint32_t bci)
{
	uint32_t *slot = frame == FRAMES_NO_MEMORY ? NULL : PAGED_PUSH(&c->frame_list);
	uint16_t *position = slot ? PAGED_PUSH(&c->bcis) : NULL;

	if (!position)
		return false;
	*slot = frame;
	*position = (uint16_t)bci;
	node->depth++;
	return true;
}

/* Frame I of T belongs into the aggregate's stack of it, which has N so far. */
static bool is_kept(const struct collector *c, const struct stack_trace *t, uint32_t i, uint32_t n)
{
	enum frame_kind kind = frame_kind_of(t->frame[i]);

	if (kind == FRAME_OTHER)
		return true;
	if (c->options.java_only && (kind == FRAME_NATIVE || kind == FRAME_KERNEL))
		return false;
	return !c->options.depth_kept || n < c->options.depth_kept ||
	       end_of(t) != END_truncated + 1;
}

/* A stack is kept whole or not at all: the last node goes again. */
static uint32_t forget_node(struct collector *c)
{
	c->frame_list.count = c->bcis.count = c->nodes.items[--c->nodes.count].first;
	return 0;
}

/* A node without frames yet, that ends in END; NULL = out of memory. Node 0 is never used. */
static struct node *add_node(struct collector *c, uint8_t end)
{
	struct node *n = PAGED_PUSH(&c->nodes);

	if (n && c->nodes.count == 1)
		n = PAGED_PUSH(&c->nodes);
	if (!n)
		return NULL;
	n->first = (uint32_t)c->frame_list.count;
	n->end = end;
	return n;
}

/* A new node for T, with the names its words had in ERA. 0 = out of memory. */
static uint32_t new_node(struct collector *c, const struct stack_trace *t, uint64_t versions, uint64_t epoch)
{
	struct node *n = add_node(c, end_of(t));
	uint32_t i;

	if (!n)
		return 0;
	n->versions = versions;
	n->checked = c->frames.drain;
	n->epoch = epoch;
	for (i = 0; i < t->length; i++)
		if (is_kept(c, t, i, n->depth) &&
		    !push_frame(c, n, frames_name(&c->frames, &zone, t->frame[i], epoch),
				frame_is_java(t->frame[i]) ? frame_bci(t->frame[i]) : FRAME_NO_BCI))
			return forget_node(c);
	if (!n->depth && c->options.java_only &&
	    !push_frame(c, n, frames_marker(&c->frames, "[no_Java_frame]"), FRAME_NO_BCI))
		return forget_node(c);
	return (uint32_t)c->nodes.count - 1;
}

uint32_t aggregate_stack_of(struct collector *c, const uint32_t *frames, uint32_t depth, uint8_t end)
{
	struct node *n = add_node(c, end);
	uint32_t i;

	if (!n)
		return 0;
	for (i = 0; i < depth; i++)
		if (!push_frame(c, n, frames[i], FRAME_NO_BCI))
			return forget_node(c);
	return (uint32_t)c->nodes.count - 1;
}

bool aggregate_stack_push(struct collector *c, uint32_t node, uint32_t frame, uint32_t bci)
{
	return push_frame(c, &c->nodes.items[node], frame, bci) || forget_node(c);
}

void aggregate_stack_forget(struct collector *c)
{
	forget_node(c);
}

/*
 * The whole of the era that S carries the lower bits of: one between the last drain and now.
 * 0 = unknown, when so many have passed that the bits do not tell.
 */
static uint64_t method_epoch_of(struct collector *c, const struct sample *s)
{
	uint64_t now = method_epoch_now(&zone.epochs);

	return now - c->epoch_floor > UINT16_MAX ? 0 : now - (uint16_t)((uint16_t)now - s->epoch);
}

uint32_t aggregate_stack(struct collector *c, const struct sample *s)
{
	const struct stack_trace *t = s->trace;
	uint64_t epoch = method_epoch_of(c, s);
	uint32_t id = atomic_load_explicit(&((struct stack_trace *)t)->id, memory_order_relaxed);
	struct node *n = id && t->generation == c->generation ? &c->nodes.items[id] : NULL;
	uint64_t versions;

	if (n && n->checked == c->frames.drain && n->epoch == epoch && method_epoch_is_one(&zone.epochs, epoch))
		return id;
	versions = versions_of(c, t, epoch);
	if (n && n->versions == versions && versions != UINT64_MAX) {
		n->checked = c->frames.drain;
		n->epoch = epoch;
		return id;
	}
	id = new_node(c, t, versions, epoch);
	((struct stack_trace *)t)->generation = c->generation;
	atomic_store_explicit(&((struct stack_trace *)t)->id, id, memory_order_relaxed);
	return id;
}

/* The frames of FROM behind those that TO, the last node, has; false when out of memory. */
static bool push_frames(struct collector *c, struct node *to, const struct node *from)
{
	bool whole = true;
	uint32_t i;

	for (i = 0; i < from->depth && whole; i++)
		whole = push_frame(c, to, c->frame_list.items[from->first + i], c->bcis.items[from->first + i]);
	return whole;
}

uint32_t aggregate_stack_under(struct collector *c, uint32_t node, uint32_t frame)
{
	struct node n = c->nodes.items[node], *to = PAGED_PUSH(&c->nodes);

	if (!to)
		return 0;
	to->end = n.end;
	to->first = (uint32_t)c->frame_list.count;
	if (!push_frame(c, to, frame, FRAME_NO_BCI) || !push_frames(c, to, &n))
		return forget_node(c);
	return (uint32_t)c->nodes.count - 1;
}

/*
 * NODE with the frames of CPU (a number + 1, 0 = not asked for) and POLICY (or NULL) at its root; 0 =
 * out of memory.
 */
static uint32_t node_at(struct collector *c, uint32_t node, uint32_t cpu, const char *policy)
{
	uint32_t name = policy ? frames_marker(&c->frames, policy) + 1 : 0;
	uint32_t *place = map_put(&c->places, (uint64_t)name << 32 | cpu, NULL), *slot;
	struct node n = c->nodes.items[node], *to;
	bool whole;
	char text[32];

	if (place && !*place)
		*place = c->places.count;
	slot = place ? map_put(&c->by_place, (uint64_t)node << 32 | *place, NULL) : NULL;
	if (!slot || *slot)
		return slot ? *slot : 0;
	to = PAGED_PUSH(&c->nodes);
	if (!to)
		return 0;
	to->end = n.end;
	to->first = (uint32_t)c->frame_list.count;
	whole = push_frames(c, to, &n);
	if (policy && whole)
		whole = push_frame(c, to, name - 1, FRAME_NO_BCI);
	snprintf(text, sizeof(text), "[CPU-%u]", cpu - 1);
	if (cpu && whole)
		whole = push_frame(c, to, frames_marker(&c->frames, text), FRAME_NO_BCI);
	if (!whole)
		return forget_node(c);
	return *slot = (uint32_t)c->nodes.count - 1;
}

uint32_t aggregate_stack_placed(struct collector *c, uint32_t node, const struct sample *s, struct thread_record *r)
{
	uint32_t cpu = c->options.record_cpu ? s->payload + 1 : 0;
	const char *policy;
	char text[32];

	if (likely(!c->options.sched && !cpu))
		return node;
	if (!c->options.sched)
		return node_at(c, node, cpu, NULL);
	policy = os_thread_policy(atomic_load(&r->tid));
	snprintf(text, sizeof(text), "[%s]", policy ? policy : "thread_gone");
	return node_at(c, node, cpu, text);
}

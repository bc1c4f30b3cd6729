#include "profile/model/sorted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct profile_stack *stack_of(const struct sorted *s, uint32_t i)
{
	return &s->profile->stacks[s->items[i].stack];
}

/* 1 where the thread's name stands among the frames. */
static uint32_t thread_levels(const struct sorted *s, const struct profile_stack *stack)
{
	return s->by_thread && stack->thread != PROFILE_NO_THREAD;
}

static uint32_t depth_of(const struct sorted *s, const struct profile_stack *stack)
{
	return thread_levels(s, stack) + MAX(stack->depth, 1);
}

/* The place in STACK->frames of what stands at LEVEL; PROFILE_NO_THREAD: the thread's name does. */
static uint32_t frame_at(const struct sorted *s, const struct profile_stack *stack, uint32_t level)
{
	uint32_t outer = MIN(s->profile->outer, stack->depth);

	if (!thread_levels(s, stack) || level < outer)
		return level;
	return level == outer ? PROFILE_NO_THREAD : level - 1;
}

static uint32_t name_of(const struct sorted *s, const struct profile_stack *stack, uint32_t level)
{
	uint32_t at = frame_at(s, stack, level);

	if (at == PROFILE_NO_THREAD)
		return s->names.of_thread[stack->thread];
	return stack->depth ? s->names.of_frame[stack->frames[at]] : s->names.no_frames;
}

uint32_t sorted_depth(const struct sorted *s, uint32_t i)
{
	return depth_of(s, stack_of(s, i));
}

uint32_t sorted_name(const struct sorted *s, uint32_t i, uint32_t level)
{
	return name_of(s, stack_of(s, i), level);
}

uint8_t sorted_kind(const struct sorted *s, uint32_t i, uint32_t level)
{
	const struct profile_stack *stack = stack_of(s, i);
	uint32_t at = frame_at(s, stack, level);

	if (at == PROFILE_NO_THREAD || !stack->depth)
		return FRAME_OTHER;
	return s->profile->frames[stack->frames[at]].kind;
}

/* How many leading names A and B share. */
static uint32_t shared(const struct sorted *s, const struct profile_stack *a,
		       const struct profile_stack *b)
{
	uint32_t most = MIN(depth_of(s, a), depth_of(s, b)), level = 0;

	/* one stack in several states or of several threads; it may be deep */
	if (a->frames == b->frames && a->depth == b->depth && thread_levels(s, a) == thread_levels(s, b) &&
	    (!thread_levels(s, a) || s->names.of_thread[a->thread] == s->names.of_thread[b->thread]))
		return most;
	while (level < most && name_of(s, a, level) == name_of(s, b, level))
		level++;
	return level;
}

static int compare_stacks(const void *left, const void *right, void *arg)
{
	const struct sorted_item *x = left, *y = right;
	const struct sorted *s = arg;
	const struct profile_stack *a = &s->profile->stacks[x->stack];
	const struct profile_stack *b = &s->profile->stacks[y->stack];
	uint32_t level = shared(s, a, b), depth_a = depth_of(s, a), depth_b = depth_of(s, b);

	if (level < depth_a && level < depth_b)
		return s->ranks[name_of(s, a, level)] < s->ranks[name_of(s, b, level)] ? -1 : 1;
	if (depth_a != depth_b)
		return depth_a < depth_b ? -1 : 1;
	return x->stack < y->stack ? -1 : 1;
}

static int compare_names(const void *left, const void *right, void *arg)
{
	const struct name_table *names = arg;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int c = strcmp(name_text(names, a), name_text(names, b));

	return c ? c : a < b ? -1 : a > b;
}

/* Fill s->ranks: comparing two numbers is much cheaper than two texts. */
static int rank(struct sorted *s)
{
	uint32_t *order = calloc((size_t)s->names.count + 1, sizeof(*order)), i;

	s->ranks = calloc((size_t)s->names.count + 1, sizeof(*s->ranks));
	if (!order || !s->ranks) {
		free(order);
		return -ENOMEM;
	}
	for (i = 0; i < s->names.count; i++)
		order[i] = i;
	qsort_r(order, s->names.count, sizeof(*order), compare_names, &s->names);
	for (i = 0; i < s->names.count; i++)
		s->ranks[order[i]] = i;
	free(order);
	return 0;
}

int sorted_build(struct sorted *s, const struct profile *p, unsigned style, bool by_thread)
{
	uint32_t i;

	memset(s, 0, sizeof(*s));
	s->profile = p;
	s->by_thread = by_thread;
	if (name_table_build(&s->names, p, style) || rank(s))
		return -ENOMEM;
	s->items = calloc((size_t)p->stack_count + 1, sizeof(*s->items));
	if (!s->items)
		return -ENOMEM;
	s->count = p->stack_count;
	for (i = 0; i < s->count; i++)
		s->items[i].stack = i;
	qsort_r(s->items, s->count, sizeof(*s->items), compare_stacks, s);
	for (i = 0; i < s->count; i++) {
		s->depth = MAX(s->depth, sorted_depth(s, i));
		if (i > 0)
			s->items[i].shared = shared(s, stack_of(s, i - 1), stack_of(s, i));
	}
	return 0;
}

void sorted_free(struct sorted *s)
{
	name_table_free(&s->names);
	free(s->ranks);
	free(s->items);
	memset(s, 0, sizeof(*s));
}

struct sorted_range sorted_range(const struct sorted *s, uint32_t from, uint32_t depth)
{
	struct sorted_range r = {.from = from, .depth = depth};
	uint32_t i;

	for (i = from; i < s->count && (i == from || s->items[i].shared >= depth); i++) {
		const struct profile_stack *stack = stack_of(s, i);

		r.samples += stack->samples;
		r.weight += stack->weight;
		if (depth_of(s, stack) == depth) {
			r.self_samples += stack->samples;
			r.self_weight += stack->weight;
			r.self_objects += stack->objects;
		}
	}
	r.to = i;
	return r;
}

#include "profile/readers/one_kind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/map.h"
#include "profile/model/sorted.h"

/* What has been seen of the call at one level: the items from FROM on, and their weights by kind. */
struct call {
	uint32_t from;
	uint64_t all, of_kind[8];
};

struct kinds {
	struct profile *profile;
	struct sorted sorted;
	struct call *open; /* by level */
	struct map others; /* frame and kind → frame + 1 */
	struct profile_frame *frames;
	uint32_t frame_count, frame_room;
	uint32_t *lists;
	bool by_weight, no_memory;
};

/* The frame that is FRAME in another KIND. */
static uint32_t in_kind(struct kinds *k, uint32_t frame, uint8_t kind)
{
	uint32_t *known;

	if (k->frames[frame].kind == kind)
		return frame;
	known = map_put(&k->others, (uint64_t)frame << 8 | kind, NULL);
	if (known && !*known) {
		if (k->frame_count == k->frame_room) {
			uint32_t room = k->frame_room * 2;
			struct profile_frame *more = realloc(k->frames, room * sizeof(*more));

			if (!more) {
				k->no_memory = true;
				return frame;
			}
			k->frames = more;
			k->frame_room = room;
		}
		k->frames[k->frame_count] = k->frames[frame];
		k->frames[k->frame_count].kind = kind;
		*known = ++k->frame_count;
	}
	k->no_memory |= !known;
	return known ? *known - 1 : frame;
}

/* A third of them inlined is inlined: their callers have compiled code. Else half of them decide. */
static uint8_t kind_of(const struct call *c)
{
	if (c->of_kind[FRAME_INLINED] * 3 >= c->all)
		return FRAME_INLINED;
	if (c->of_kind[FRAME_C1] * 2 >= c->all)
		return FRAME_C1;
	return c->of_kind[FRAME_INTERPRETED] * 2 >= c->all ? FRAME_INTERPRETED : FRAME_C2;
}

/* The place in the stack of item I of what stands at LEVEL; NULL: it is the thread, or nothing. */
static uint32_t *place(const struct kinds *k, uint32_t i, uint32_t level)
{
	const struct profile_stack *s = &k->profile->stacks[k->sorted.items[i].stack];
	uint32_t thread = k->sorted.by_thread && s->thread != PROFILE_NO_THREAD;

	if (level < thread || level - thread >= s->depth)
		return NULL;
	return k->lists + (s->frames - k->lists) + (level - thread);
}

/* The call at LEVEL is over: items from its first one up to UNTIL have it. */
static void close_call(struct kinds *k, uint32_t level, uint32_t until)
{
	const struct call *c = &k->open[level];
	uint8_t kind = kind_of(c);
	uint32_t i, *at;

	for (i = c->from; i < until; i++) {
		at = place(k, i, level);
		if (at && k->frames[*at].class_name)
			*at = in_kind(k, *at, kind);
	}
}

static void take_item(struct kinds *k, uint32_t i)
{
	const struct profile_stack *s = &k->profile->stacks[k->sorted.items[i].stack];
	uint32_t depth = sorted_depth(&k->sorted, i), before = i ? sorted_depth(&k->sorted, i - 1) : 0, level;
	uint64_t weight = k->by_weight ? s->weight : s->samples;
	uint8_t kind;

	for (level = k->sorted.items[i].shared; level < before; level++)
		close_call(k, level, i);
	for (level = k->sorted.items[i].shared; level < depth; level++)
		k->open[level] = (struct call){.from = i};
	for (level = 0; level < depth; level++) {
		/* items before may have been given another kind already, this one has not */
		kind = sorted_kind(&k->sorted, i, level);
		k->open[level].all += weight;
		k->open[level].of_kind[kind < ARRAY_LEN(k->open->of_kind) ? kind : FRAME_OTHER] += weight;
	}
}

/* The class of an object is told as jfrconv tells it, as an inlined call. */
static void mark_objects(struct kinds *k)
{
	static const char *const events[] = {"alloc", "live", "lock", "monitor", "park"};
	bool objects = false;
	uint32_t i, *last;

	for (i = 0; i < ARRAY_LEN(events); i++)
		objects |= strcmp(k->profile->event, events[i]) == 0;
	for (i = 0; objects && i < k->profile->stack_count; i++) {
		const struct profile_stack *s = &k->profile->stacks[i];

		if (!s->depth)
			continue;
		last = k->lists + (s->frames - k->lists) + (s->depth - 1);
		if (k->frames[*last].kind == FRAME_OTHER && !k->frames[*last].class_name)
			*last = in_kind(k, *last, FRAME_INLINED);
	}
}

int one_kind(struct profile *p, uint32_t *lists, const struct options *o)
{
	struct kinds k = {.profile = p, .lists = lists, .by_weight = o->total, .frame_count = p->frame_count,
			  .frame_room = p->frame_count * 2 + 16};
	unsigned style = STYLE_COLLAPSED | (o->lines || o->bci ? STYLE_LINES : 0) | (o->simple ? STYLE_SIMPLE : 0) |
			 (o->norm ? STYLE_NORM : 0);
	int rc = sorted_build(&k.sorted, p, style, p->per_thread && o->threads);
	uint32_t i, level;

	k.open = calloc((size_t)k.sorted.depth + 1, sizeof(*k.open));
	k.frames = malloc(k.frame_room * sizeof(*k.frames));
	if (rc == 0 && k.open && k.frames) {
		memcpy(k.frames, p->frames, p->frame_count * sizeof(*k.frames));
		for (i = 0; i < k.sorted.count; i++)
			take_item(&k, i);
		for (level = 0; k.sorted.count && level < sorted_depth(&k.sorted, i - 1); level++)
			close_call(&k, level, i);
		if (!o->reverse)
			mark_objects(&k);
	} else {
		k.no_memory = true;
	}
	if (k.frames && !k.no_memory) {
		free((void *)(uintptr_t)p->frames);
		p->frames = k.frames;
		p->frame_count = k.frame_count;
		k.frames = NULL;
	}
	free(k.frames);
	free(k.open);
	map_free(&k.others);
	sorted_free(&k.sorted);
	return k.no_memory ? -ENOMEM : 0;
}

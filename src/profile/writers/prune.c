/*
 * prune.c - stacks are cut where the tree gets too narrow.
 *
 * async-profiler leaves a hole at such places; here the parts that are left out of one parent
 * become one frame, so that nothing is missing from the sums.
 */
#include "profile/writers/writers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/model/sorted.h"

static uint64_t total_of(const struct sorted *s, uint32_t from, uint32_t depth, bool by_weight)
{
	struct sorted_range r = sorted_range(s, from, depth);

	return by_weight ? r.weight : r.samples;
}

/* For each item of S, at which level it is cut; its depth if nowhere. */
static void find_cuts(const struct sorted *s, uint32_t *cut, uint64_t least, bool by_weight)
{
	uint32_t i, level;

	for (i = 0; i < s->count; i++) {
		uint32_t depth = sorted_depth(s, i), shared = s->items[i].shared;

		/* what it shares with the item before was judged there */
		if (i > 0 && cut[i - 1] < shared) {
			cut[i] = cut[i - 1];
			continue;
		}
		for (level = shared; level < depth; level++)
			if (total_of(s, i, level + 1, by_weight) < least)
				break;
		cut[i] = level;
	}
}

/* TO becomes FROM down to LEVEL (threads count as one), with MARKER below it. */
static uint32_t cut_stack(struct profile_stack *to, const struct profile_stack *from,
			  uint32_t level, bool by_thread, uint32_t outer, uint32_t *list,
			  uint32_t marker)
{
	bool has_thread = by_thread && from->thread != PROFILE_NO_THREAD;
	uint32_t keep = level;

	*to = *from;
	if (level >= has_thread + MAX(from->depth, 1u))
		return 0;
	if (has_thread && level <= MIN(outer, from->depth))
		to->thread = PROFILE_NO_THREAD;
	else if (has_thread)
		keep--;
	if (keep)
		memcpy(list, from->frames, keep * sizeof(*list));
	list[keep] = marker;
	to->frames = list;
	to->depth = keep + 1;
	return keep + 1;
}

static int cut_all(struct narrowed *n, const struct profile *p, const struct sorted *s,
		   const uint32_t *cut)
{
	size_t used = 0, most = 0;
	uint32_t i;

	for (i = 0; i < s->count; i++)
		most += cut[i] + 1;
	n->lists = calloc(most + 1, sizeof(*n->lists));
	n->stacks = calloc((size_t)p->stack_count + 1, sizeof(*n->stacks));
	n->frames = calloc((size_t)p->frame_count + 1, sizeof(*n->frames));
	if (!n->lists || !n->stacks || !n->frames)
		return -ENOMEM;
	memcpy(n->frames, p->frames, p->frame_count * sizeof(*n->frames));
	n->frames[p->frame_count] = (struct profile_frame){.name = "[below minwidth]",
							   .kind = FRAME_OTHER};
	for (i = 0; i < s->count; i++)
		used += cut_stack(&n->stacks[i], &p->stacks[s->items[i].stack], cut[i],
				  s->by_thread, p->outer, n->lists + used, p->frame_count);
	n->profile.frames = n->frames;
	n->profile.frame_count++;
	n->profile.stacks = n->stacks;
	return 0;
}

int prune_apply(struct narrowed *n, const struct profile *p, const struct format_options *options,
		 unsigned style)
{
	uint64_t all, least;
	struct sorted s;
	uint32_t *cut;
	int rc;

	memset(n, 0, sizeof(*n));
	n->profile = *p;
	rc = sorted_build(&s, p, style, format_by_thread(p, options));
	cut = calloc((size_t)p->stack_count + 1, sizeof(*cut));
	if (rc == 0 && !cut)
		rc = -ENOMEM;
	if (rc == 0 && s.count) {
		all = total_of(&s, 0, 0, options->total);
		least = (uint64_t)((double)all * options->minwidth / 100);
		find_cuts(&s, cut, least, options->total);
		rc = cut_all(n, p, &s, cut);
	}
	free(cut);
	sorted_free(&s);
	return rc;
}

void prune_free(struct narrowed *n)
{
	free(n->lists);
	free(n->stacks);
	free(n->frames);
	memset(n, 0, sizeof(*n));
}

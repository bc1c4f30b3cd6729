#include "profile/views/turned.h"

#include <errno.h>
#include <stdlib.h>

#include "profile/model/filter.h"

/* Which frames of P are meant; the caller frees it. NULL: out of memory. */
static bool *meant(const struct profile *p, const char *pattern)
{
	const struct format_options options = {.include = pattern};
	struct buffer scratch = BUFFER_INIT;
	bool *is = calloc((size_t)p->frame_count + 1, sizeof(*is));
	uint32_t i;

	for (i = 0; is && i < p->frame_count; i++)
		is[i] = filter_judge_frame(&options, &p->frames[i], &scratch) & FILTER_WANTED;
	if (scratch.failed) {
		free(is);
		is = NULL;
	}
	buffer_free(&scratch);
	return is;
}

/* Where the method stands in S; s->depth: nowhere. */
static uint32_t place_in(const struct profile_stack *s, const bool *is, bool callers)
{
	uint32_t i, at = s->depth;

	for (i = 0; i < s->depth; i++)
		if (is[s->frames[i]]) {
			at = i;
			if (!callers)
				break;
		}
	return at;
}

static void keep(struct turned *t, const struct profile_stack *s, uint32_t at, bool callers, size_t *used)
{
	struct profile_stack *to = &t->stacks[t->profile.stack_count++];
	uint32_t i;

	*to = *s;
	if (callers) {
		to->frames = t->lists + *used;
		to->depth = at + 1;
		for (i = 0; i <= at; i++)
			t->lists[(*used)++] = s->frames[at - i];
	} else {
		to->frames += at;
		to->depth -= at;
	}
	t->profile.stored += s->samples;
	t->profile.weight_stored += s->weight;
}

int turned_make(struct turned *t, const struct profile *p, const char *pattern, bool callers)
{
	bool *is = meant(p, pattern);
	size_t frames = 0, used = 0;
	uint32_t i;

	*t = (struct turned){.profile = *p};
	for (i = 0; i < p->stack_count; i++)
		frames += p->stacks[i].depth;
	t->stacks = calloc((size_t)p->stack_count + 1, sizeof(*t->stacks));
	t->lists = callers ? calloc(frames + 1, sizeof(*t->lists)) : NULL;
	if (!is || !t->stacks || (callers && !t->lists)) {
		free(is);
		return -ENOMEM;
	}
	t->profile.stacks = t->stacks;
	t->profile.stack_count = 0;
	t->profile.stored = t->profile.weight_stored = 0;
	for (i = 0; i < p->stack_count; i++) {
		uint32_t at = place_in(&p->stacks[i], is, callers);

		if (at < p->stacks[i].depth)
			keep(t, &p->stacks[i], at, callers, &used);
	}
	free(is);
	return t->profile.stack_count ? 0 : -ENOENT;
}

void turned_free(struct turned *t)
{
	free(t->stacks);
	free(t->lists);
}

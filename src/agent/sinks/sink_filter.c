#include "agent/sinks/sink_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/collect/aggregate.h"
#include "profile/model/filter.h"

#define JUDGED 0x80 /* beside the verdict */

static bool copy(const char **to, const char *patterns)
{
	*to = patterns && *patterns ? strdup(patterns) : NULL;
	return *to || !patterns || !*patterns;
}

int shown_open(struct shown *s, const struct format_options *o)
{
	bool ok;

	memset(s, 0, sizeof(*s));
	buffer_init(&s->name, -1);
	s->options = *o;
	s->options.include = s->options.exclude = NULL;
	ok = copy(&s->options.include, o->include) && copy(&s->options.exclude, o->exclude);
	return ok ? 0 : -ENOMEM;
}

void shown_close(struct shown *s)
{
	free((char *)(uintptr_t)s->options.include);
	free((char *)(uintptr_t)s->options.exclude);
	free(s->frames.items);
	buffer_free(&s->name);
	memset(s, 0, sizeof(*s));
}

static unsigned judge_frame(struct shown *s, const struct frames *f, uint32_t number)
{
	struct profile_frame frame = frames_spelled(f, number);
	unsigned verdict;

	if (number < s->frames.count && s->frames.items[number])
		return s->frames.items[number];
	verdict = filter_judge_frame(&s->options, &frame, &s->name) | JUDGED;
	while (s->frames.count <= number) {
		uint8_t *fresh = VECTOR_PUSH(&s->frames);

		if (!fresh)
			return verdict;
	}
	if (!f->named.items[number].late)
		s->frames.items[number] = (uint8_t)verdict;
	return verdict;
}

bool shown_event(struct shown *s, struct collector *c, const struct sink_event *e)
{
	const struct node *n = &c->nodes.items[e->node];
	uint32_t name = e->name ? e->name : c->threads.items[e->thread].name, i;
	unsigned verdict = 0;

	if (!filter_is_set(&s->options))
		return true;
	for (i = 0; i < n->depth; i++)
		verdict |= judge_frame(s, &c->frames, c->frame_list.items[n->first + i]);
	i = aggregate_leaf_frame(c, e);
	if (i != FRAMES_NO_MEMORY)
		verdict |= judge_frame(s, &c->frames, i);
	verdict |= filter_judge(&s->options, strings_get(&c->frames.strings, name));
	return filter_shows(&s->options, verdict);
}

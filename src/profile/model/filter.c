/*
 * filter.c - include and exclude, with async-profiler's meaning: a stack is shown if one of its
 * frames matches an `include` pattern (or there is none) and no frame matches an `exclude` pattern.
 *
 * A pattern is the whole name, with '*' at its begin or end for the rest; names are spelled as the
 * output spells them, with their suffixes. Java names may be written with dots or with slashes,
 * whatever the output has. A thread is matched by its bare name, if stacks are apart by thread.
 */
#include "profile/model/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/model/frame_name.h"
#include "profile/model/name_table.h"

bool filter_match(const char *pattern, size_t length, const char *text)
{
	bool open_front = length > 0 && pattern[0] == '*';
	size_t n = strlen(text);
	bool open_end;

	pattern += open_front;
	length -= open_front;
	open_end = length > 0 && pattern[length - 1] == '*';
	length -= open_end;
	if (open_front && open_end)
		return memmem(text, n, pattern, length) != NULL;
	if (n < length || (!open_front && !open_end && n != length))
		return false;
	return memcmp(open_front ? text + n - length : text, pattern, length) == 0;
}

/* Whether one of PATTERNS, a line each, matches TEXT. */
static bool matches(const char *patterns, const char *text)
{
	size_t n;

	for (; *patterns; patterns += n + (patterns[n] != '\0')) {
		n = strcspn(patterns, "\n");
		if (n && filter_match(patterns, n, text))
			return true;
	}
	return false;
}

unsigned filter_judge(const struct format_options *o, const char *text)
{
	return (o->include && matches(o->include, text) ? FILTER_WANTED : 0u) |
	       (o->exclude && matches(o->exclude, text) ? FILTER_UNWANTED : 0u);
}

unsigned filter_judge_frame(const struct format_options *o, const struct profile_frame *frame,
			    struct buffer *scratch)
{
	unsigned style = format_style(STYLE_KERNEL, o), verdict = 0, i;

	for (i = 0; i < 2; i++, style ^= STYLE_DOTS) {
		scratch->length = 0;
		frame_name_put(scratch, frame, style);
		buffer_putc(scratch, '\0');
		if (!scratch->failed)
			verdict |= filter_judge(o, scratch->data);
	}
	return verdict;
}

bool filter_shows(const struct format_options *o, unsigned verdict)
{
	return !(verdict & FILTER_UNWANTED) && (!o->include || !*o->include || (verdict & FILTER_WANTED));
}

/* What each name says about the stacks it is in. */
struct judgement {
	const struct format_options *options;
	unsigned char *frames, *threads;
};

static int judge_all(struct judgement *j, const struct profile *p, const struct format_options *o)
{
	struct buffer scratch = BUFFER_INIT;
	uint32_t i;
	int rc;

	j->frames = calloc((size_t)p->frame_count + 1, 1);
	j->threads = calloc((size_t)p->thread_count + 1, 1);
	if (!j->frames || !j->threads)
		return -ENOMEM;
	for (i = 0; i < p->frame_count; i++)
		j->frames[i] = (unsigned char)filter_judge_frame(o, &p->frames[i], &scratch);
	for (i = 0; format_by_thread(p, o) && i < p->thread_count; i++)
		j->threads[i] = (unsigned char)filter_judge(o, p->threads[i].name);
	rc = scratch.failed ? -ENOMEM : 0;
	buffer_free(&scratch);
	return rc;
}

static bool shown(const struct judgement *j, const struct profile_stack *s)
{
	unsigned verdict = s->thread == PROFILE_NO_THREAD ? 0 : j->threads[s->thread];
	uint32_t i;

	for (i = 0; i < s->depth; i++)
		verdict |= j->frames[s->frames[i]];
	return filter_shows(j->options, verdict);
}

bool filter_is_set(const struct format_options *o)
{
	return (o->include && *o->include) || (o->exclude && *o->exclude);
}

/* VIEW's moments, at TO: those of P whose stacks it has, which NOW leads to, + 1; no stack matches nothing. */
static void take_moments(const struct profile *p, const uint32_t *now, struct profile_moment *to,
			 struct profile *view)
{
	uint64_t i, count = 0;

	for (i = 0; i < p->moment_count; i++) {
		const struct profile_moment *m = &p->moments[i];

		if (m->stack == PROFILE_NO_STACK || !now[m->stack])
			continue;
		to[count] = *m;
		to[count++].stack = now[m->stack] - 1;
	}
	view->moments = to;
	view->moment_count = count;
	view->moments_of = count ? view->stacks : NULL;
	view->fine_counts = NULL;
}

int filter_apply(const struct profile *p, const struct format_options *o, struct profile *view)
{
	uint64_t moments = profile_has_times(p) ? p->moment_count : 0;
	/* stacks and moments are one piece of memory, so that there is one to be freed */
	struct profile_stack *stacks = calloc(1, ((size_t)p->stack_count + 1) * sizeof(*stacks) +
						 moments * sizeof(*p->moments));
	uint32_t *now = moments ? calloc((size_t)p->stack_count + 1, sizeof(*now)) : NULL, i;
	struct judgement j = {.options = o};
	int rc = stacks && (now || !moments) ? judge_all(&j, p, o) : -ENOMEM;

	*view = *p;
	view->filtered = true;
	view->stacks = stacks;
	view->stack_count = 0;
	for (i = 0; rc == 0 && i < p->stack_count; i++) {
		if (shown(&j, &p->stacks[i])) {
			stacks[view->stack_count++] = p->stacks[i];
			if (now)
				now[i] = view->stack_count;
			continue;
		}
		view->left_out += p->stacks[i].samples;
		view->left_out_weight += p->stacks[i].weight;
	}
	if (rc == 0 && now)
		take_moments(p, now, (struct profile_moment *)(stacks + p->stack_count + 1), view);
	free(now);
	free(j.frames);
	free(j.threads);
	if (rc)
		free(stacks);
	return rc;
}

/*
 * filter.c - include and exclude, with async-profiler's meaning: a stack is shown if one of its
 * frames matches an `include` pattern (or there is none) and no frame matches an `exclude` pattern.
 *
 * A pattern is the whole name, with '*' at its begin or end for the rest; names are spelled as the
 * output spells them, with their suffixes. Java names may be written with dots or with slashes,
 * whatever the output has. A thread is matched by its bare name, if stacks are apart by thread.
 */
#include "format/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/name_table.h"
#include "format/writers.h"

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

enum verdict { WANTED = 1, UNWANTED = 2 };

/* What each name says about the stacks it is in. */
struct judgement {
	const struct format_options *options;
	unsigned char *frames, *threads;
};

static unsigned char judge(const struct format_options *o, const char *text)
{
	return (unsigned char)((o->include && matches(o->include, text) ? WANTED : 0) |
			       (o->exclude && matches(o->exclude, text) ? UNWANTED : 0));
}

static bool judge_frame(uint32_t frame, const char *name, void *arg)
{
	struct judgement *j = arg;

	j->frames[frame] |= judge(j->options, name);
	return true;
}

static int judge_all(struct judgement *j, const struct profile *p, const struct format_options *o)
{
	unsigned style = format_style(STYLE_KERNEL, o);
	uint32_t i;

	j->frames = calloc((size_t)p->frame_count + 1, 1);
	j->threads = calloc((size_t)p->thread_count + 1, 1);
	if (!j->frames || !j->threads || frame_name_each(p, style, judge_frame, j) ||
	    frame_name_each(p, style ^ STYLE_DOTS, judge_frame, j))
		return -ENOMEM;
	for (i = 0; format_by_thread(p, o) && i < p->thread_count; i++)
		j->threads[i] = judge(o, p->threads[i].name);
	return 0;
}

static bool shown(const struct judgement *j, const struct profile_stack *s, bool all)
{
	unsigned verdict = s->thread == PROFILE_NO_THREAD ? 0 : j->threads[s->thread];
	uint32_t i;

	for (i = 0; i < s->depth; i++)
		verdict |= j->frames[s->frames[i]];
	return !(verdict & UNWANTED) && (all || (verdict & WANTED));
}

bool filter_is_set(const struct format_options *o)
{
	return (o->include && *o->include) || (o->exclude && *o->exclude);
}

int filter_apply(const struct profile *p, const struct format_options *o, struct profile *view)
{
	struct profile_stack *stacks = calloc((size_t)p->stack_count + 1, sizeof(*stacks));
	struct judgement j = {.options = o};
	bool all = !o->include || !*o->include;
	int rc = stacks ? judge_all(&j, p, o) : -ENOMEM;
	uint32_t i;

	*view = *p;
	view->filtered = true;
	view->stacks = stacks;
	view->stack_count = 0;
	for (i = 0; rc == 0 && i < p->stack_count; i++) {
		if (shown(&j, &p->stacks[i], all)) {
			stacks[view->stack_count++] = p->stacks[i];
			continue;
		}
		view->left_out += p->stacks[i].samples;
		view->left_out_weight += p->stacks[i].weight;
	}
	free(j.frames);
	free(j.threads);
	if (rc)
		free(stacks);
	return rc;
}

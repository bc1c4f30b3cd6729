#include "profile/readers/reshape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/wide.h"
#include "profile/model/frame_name.h"
#include "profile/readers/categories.h"
#include "profile/readers/expressions.h"
#include "profile/readers/one_kind.h"

#define GRAIN 1000 /* --grain is in thousandths */

/* In the page both directions are a matter of the view. */
static bool is_collapsed(const struct options *o)
{
	return strcmp(o->format, "collapsed") == 0 || strcmp(o->format, "folded") == 0;
}

bool reshape_is_wanted(const struct options *o)
{
	return o->grain || o->classify || o->skip || o->jfrconv || (o->reverse && strcmp(o->format, "collapsed") == 0);
}

/* The stacks of P, to be changed. */
static struct profile_stack *stacks_of(struct profile *p)
{
	return (struct profile_stack *)(uintptr_t)p->stacks;
}

/* What grows, and when it was, is told of the stacks as they were. */
static void forget_order(struct profile *p)
{
	free((void *)(uintptr_t)p->blocks);
	p->blocks = NULL;
	p->blocks_of = NULL;
	p->moments_of = NULL;
	free((void *)(uintptr_t)p->growth);
	p->growth = NULL;
	p->growth_of = NULL;
}

/* ---- grain ---- */

/* Samples are counted in grains; what is left over of a stack is carried on to the next. */
static void coarsen(struct profile *p, uint32_t grain)
{
	struct profile_stack *stacks = stacks_of(p);
	uint64_t over = 0, grains;
	uint32_t i, count = 0;

	p->stored = p->weight_stored = 0;
	for (i = 0; i < p->stack_count; i++) {
		struct profile_stack s = stacks[i];

		grains = wide_scale(s.samples, GRAIN, 0, grain);
		over += wide_scale(s.samples, GRAIN, 0, 1) - grains * grain;
		if (over >= grain) {
			over -= grain;
			grains++;
		}
		if (!grains)
			continue;
		s.weight = wide_scale(s.weight, grains, 0, s.samples);
		s.objects = wide_scale(s.objects, grains, 0, s.samples);
		s.outside = wide_scale(s.outside, grains, 0, s.samples);
		s.samples = grains;
		p->stored += s.samples;
		p->weight_stored += s.weight;
		stacks[count++] = s;
	}
	p->stack_count = count;
	p->taken = p->complete = p->stored;
}

/* ---- expressions ---- */

enum verdict { WANTED = 1, UNWANTED = 2 };

struct judges {
	struct expressions include, exclude;
	unsigned char *verdicts; /* of frames, then of threads */
	uint32_t frames;
};

static unsigned char judge(const struct judges *j, const char *name)
{
	return (unsigned char)((expressions_match(&j->include, name) ? WANTED : 0) |
			       (expressions_match(&j->exclude, name) ? UNWANTED : 0));
}

static bool judge_frame(uint32_t frame, const char *name, void *arg)
{
	struct judges *j = arg;

	j->verdicts[frame] = judge(j, name);
	return true;
}

/* Names are without lines and endings, whatever is shown. */
static int judge_names(struct judges *j, const struct profile *p, const struct options *o)
{
	unsigned style = (o->dot ? STYLE_DOTS : 0) | (o->simple ? STYLE_SIMPLE : 0) | (o->norm ? STYLE_NORM : 0);
	struct buffer name = BUFFER_INIT;
	uint32_t i;
	int rc;

	j->frames = p->frame_count;
	j->verdicts = calloc((size_t)p->frame_count + p->thread_count + 1, 1);
	rc = j->verdicts ? frame_name_each(p, style, judge_frame, j) : -ENOMEM;
	for (i = 0; rc == 0 && p->per_thread && i < p->thread_count; i++) {
		name.length = 0;
		frame_name_thread(&name, &p->threads[i], style);
		buffer_putc(&name, '\0');
		rc = name.failed ? -ENOMEM : 0;
		if (rc == 0)
			j->verdicts[p->frame_count + i] = judge(j, name.data);
	}
	buffer_free(&name);
	return rc;
}

static bool is_shown(const struct judges *j, const struct profile *p, const struct profile_stack *s)
{
	unsigned verdict = p->per_thread && s->thread != PROFILE_NO_THREAD ? j->verdicts[j->frames + s->thread] : 0;
	uint32_t i;

	for (i = 0; i < s->depth; i++)
		verdict |= j->verdicts[s->frames[i]];
	return !(verdict & UNWANTED) && (!j->include.items.count || (verdict & WANTED));
}

static void leave_out(struct profile *p, const struct judges *j)
{
	struct profile_stack *stacks = stacks_of(p);
	uint32_t i, count = 0;

	p->filtered = true;
	for (i = 0; i < p->stack_count; i++) {
		if (is_shown(j, p, &stacks[i])) {
			stacks[count++] = stacks[i];
			continue;
		}
		p->left_out += stacks[i].samples;
		p->left_out_weight += stacks[i].weight;
	}
	p->stack_count = count;
}

static int filter(struct profile *p, const struct options *o, struct error *err)
{
	struct judges j = {.frames = 0};
	int rc = expressions_read(&j.include, o->include, "--include", err);

	if (rc == 0)
		rc = expressions_read(&j.exclude, o->exclude, "--exclude", err);
	if (rc == 0 && judge_names(&j, p, o))
		rc = error_set(err, ENOMEM, "out of memory");
	if (rc == 0)
		leave_out(p, &j);
	expressions_free(&j.include);
	expressions_free(&j.exclude);
	free(j.verdicts);
	return rc;
}

/* ---- frames ---- */

/* The frames of P with all categories behind them. */
static int add_categories(struct profile *p)
{
	struct profile_frame *frames = calloc((size_t)p->frame_count + CATEGORIES, sizeof(*frames));
	enum category i;

	if (!frames)
		return -ENOMEM;
	memcpy(frames, p->frames, p->frame_count * sizeof(*frames));
	for (i = 0; i < CATEGORIES; i++)
		frames[p->frame_count + i] = (struct profile_frame){
			.name = category_frames[i].title, .kind = category_frames[i].kind};
	free((void *)(uintptr_t)p->frames);
	p->frames = frames;
	p->frame_count += CATEGORIES;
	return 0;
}

/* S gets the frames at LIST: fewer, more, or turned. Returns how many. */
static uint32_t rebuild(const struct profile *p, struct profile_stack *s, const struct options *o, bool reverse,
			uint32_t *list)
{
	bool by_thread = p->per_thread && s->thread != PROFILE_NO_THREAD;
	uint32_t skip = o->skip, count = 0, i;

	if (skip && by_thread) { /* the thread is the first of what is left out */
		s->thread = PROFILE_NO_THREAD;
		skip--;
	}
	if (o->classify && skip)
		skip--;
	else if (o->classify)
		list[count++] = p->frame_count - CATEGORIES + category_of(p, s);
	for (i = skip; i < s->depth; i++)
		list[count++] = s->frames[i];
	for (i = 0; reverse && i < count / 2; i++)
		VECTOR_SWAP(&list[i], &list[count - 1 - i]);
	s->frames = list;
	s->depth = count;
	return count;
}

static int change_frames(struct profile *p, const struct options *o, bool reverse, uint32_t **lists)
{
	struct profile_stack *stacks = stacks_of(p);
	size_t room = 1, used = 0;
	uint32_t i;

	for (i = 0; i < p->stack_count; i++)
		room += stacks[i].depth + 1u;
	*lists = malloc(room * sizeof(**lists));
	if (!*lists || (o->classify && add_categories(p)))
		return -ENOMEM;
	for (i = 0; i < p->stack_count; i++)
		used += rebuild(p, &stacks[i], o, reverse, *lists + used);
	return 0;
}

int reshape(struct profile *p, const struct options *o, uint32_t **lists, struct error *err)
{
	bool collapsed = is_collapsed(o), reverse = collapsed && o->reverse;
	int rc = 0;

	*lists = NULL;
	forget_order(p);
	if (o->grain)
		coarsen(p, o->grain);
	if (o->jfrconv && (o->include[0] || o->exclude[0]))
		rc = filter(p, o, err);
	if (rc)
		return rc;
	/* the lists are needed by what gives each call one kind, too */
	if (o->classify || o->skip || reverse || o->jfrconv)
		rc = change_frames(p, o, reverse, lists);
	if (rc == 0 && o->jfrconv && collapsed)
		rc = one_kind(p, *lists, o);
	return rc ? error_set(err, ENOMEM, "out of memory") : 0;
}

#include "profile/views/idle_text.h"

#include <stdlib.h>

#include "common/base/clean.h"
#include "profile/model/askers.h"
#include "profile/model/human.h"
#include "profile/model/work/unsure.h"

#define PLACES 3 /* groups that are named with theirs */

struct sum {
	uint64_t threads;
	uint32_t groups;
};

static bool is_idle(const struct thread_group *group)
{
	return thread_group_work(group) == 0;
}

/* Of the groups that were idle all the time, those that are UNSURE or not. */
static struct sum sum_of(const struct thread_groups *g, bool unsure)
{
	struct sum sum = {0};
	uint32_t i;

	for (i = 0; i < g->count; i++) {
		if (!is_idle(&g->groups[i]) || thread_group_is_unsure(&g->groups[i]) != unsure)
			continue;
		sum.threads += g->groups[i].threads;
		sum.groups++;
	}
	return sum;
}

static void put_sum(struct buffer *out, struct sum sum)
{
	buffer_printf(out, "%s thread%s in %s group%s", human_count(sum.threads).text, human_plural(sum.threads),
		      human_count(sum.groups).text, human_plural(sum.groups));
}

/* ---- where ---- */

/* The frame of the program's method that waited most, without work, in GROUP; UINT32_MAX: none, or no memory. */
static uint32_t place_of(const struct profile *p, const struct thread_groups *g, uint32_t group)
{
	uint64_t *weights = calloc((size_t)p->frame_count + 1, sizeof(*weights));
	uint32_t best = UINT32_MAX, i;

	for (i = 0; weights && i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];
		uint32_t frame;

		if (g->of_stack[i] != group || g->activity[i] != ACTIVITY_IDLE || !idle_is_unsure(p, s))
			continue;
		frame = asker_caller(p, s, s->depth, UINT32_MAX);
		if (frame == UINT32_MAX)
			continue;
		weights[frame] += s->weight;
		if (best == UINT32_MAX || weights[frame] > weights[best])
			best = frame;
	}
	free(weights);
	return best;
}

/* ": committer-* in Cond.submit, dns in Dns.query, and 2 more" */
static void put_places(struct buffer *out, const struct profile *p, const struct thread_groups *g)
{
	struct name_table names;
	uint32_t i, frame, said = 0, all = sum_of(g, true).groups;

	if (name_table_build(&names, p, STYLE_TEXT | STYLE_NORM) == 0)
		for (i = 0; i < g->count && said < PLACES; i++) {
			if (!is_idle(&g->groups[i]) || !thread_group_is_unsure(&g->groups[i]))
				continue;
			buffer_puts(out, said++ ? ", " : ": ");
			clean_name(out, thread_group_name(g, &g->groups[i]));
			frame = place_of(p, g, i);
			if (frame == UINT32_MAX)
				continue;
			buffer_puts(out, " in ");
			clean_name(out, name_text(&names, names.of_frame[frame]));
		}
	name_table_free(&names);
	if (said && all > said)
		buffer_printf(out, ", and %u more", all - said);
}

bool idle_sentence(struct buffer *out, const struct profile *p, const struct work *w, bool unsure)
{
	struct sum sum = sum_of(&w->groups, unsure);

	if (!sum.groups)
		return false;
	put_sum(out, sum);
	/* waits that began in the recording are all that is known of event lock, and not how long there were none */
	if (!unsure && p->weight_kind == WEIGHT_WAIT)
		buffer_puts(out, " waited for work alone");
	else if (!unsure)
		buffer_printf(out, " %s idle all the time, as far as stacks tell", sum.threads == 1 ? "was" : "were");
	else
		buffer_printf(out, " waited %s for work or for an answer",
			      p->weight_kind == WEIGHT_WAIT ? "only" : "all the time");
	if (unsure)
		put_places(out, p, &w->groups);
	return true;
}

void idle_unsure_part(struct buffer *out, const struct work *w, uint64_t whole)
{
	uint64_t unsure = w->groups.unsure;

	if (unsure && unsure >= whole / 100)
		buffer_printf(out, " (%s may be waits for an answer)", human_percent(unsure, whole).text);
}

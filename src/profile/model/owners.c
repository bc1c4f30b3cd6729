/*
 * owners.c - what owners are known to have held up, as stacks.
 *
 *   owners    all their waits             ┐ by name: what the first has more than the second is told without a stack
 *   holders   waits whose stack was taken ┘
 *
 * Two threads of one name are one owner here, as in the table.
 */
#include "profile/model/owners.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/strings.h"

#define NO_OWNER "[no_owner]"
#define OTHERS "[others]" /* more owners than the aggregate keeps apart */

struct making {
	struct owners *to;
	const struct profile *from;
	struct strings texts;
	struct map by_name;     /* number of an owner's name in `texts` → its frame */
	uint64_t *waits, *time; /* of the owner's name, in no stack yet */
	uint32_t count, listed;
	size_t named;
};

/* The number of the owner called NAME, made if need be; UINT32_MAX = out of memory. */
static uint32_t number(struct making *m, const char *name)
{
	uint32_t kept = strings_add(&m->texts, name, strlen(name));
	uint32_t *slot = m->texts.failed ? NULL : map_put(&m->by_name, kept, NULL);
	struct profile_frame *frame;
	char *text = m->to->names + m->named;

	if (!slot)
		return UINT32_MAX;
	if (*slot)
		return *slot - 1;
	m->named += (size_t)sprintf(text, "[%s]", *name ? name : "others") + 1;
	frame = &m->to->frames[m->from->frame_count + m->count];
	*frame = (struct profile_frame){.name = text, .kind = FRAME_OTHER};
	*slot = ++m->count;
	return m->count - 1;
}

static bool allocate(struct making *m)
{
	const struct profile *p = m->from;
	size_t owners = (size_t)p->owner_count + p->holder_count + 1, listed = 0, names = sizeof(NO_OWNER), i;
	struct owners *o = m->to;

	for (i = 0; i < p->owner_count; i++)
		names += strlen(p->owners[i].name) + sizeof(OTHERS);
	for (i = 0; i < p->holder_count; i++) {
		names += strlen(p->holders[i].name) + sizeof(OTHERS);
		listed += p->holders[i].depth;
	}
	o->frames = calloc(p->frame_count + owners, sizeof(*o->frames));
	o->stacks = calloc(2 * owners, sizeof(*o->stacks));
	o->lists = calloc(listed + 2 * owners, sizeof(*o->lists));
	o->names = malloc(names);
	m->waits = calloc(owners, sizeof(*m->waits));
	m->time = calloc(owners, sizeof(*m->time));
	return o->frames && o->stacks && o->lists && o->names && m->waits && m->time;
}

/* A stack of owner WHO and FRAMES[DEPTH] below. */
static void put_stack(struct making *m, uint32_t who, const uint32_t *frames, uint32_t depth, uint64_t waits,
		      uint64_t time)
{
	uint32_t *list = m->to->lists + m->listed;

	list[0] = m->from->frame_count + who;
	if (depth)
		memcpy(list + 1, frames, depth * sizeof(*list));
	m->to->stacks[m->to->profile.stack_count++] = (struct profile_stack){
		.frames = list, .depth = depth + 1, .thread = PROFILE_NO_THREAD, .samples = waits, .weight = time,
		.state = THREAD_NONE,
	};
	m->listed += depth + 1;
}

/* The sums of all owners by name. */
static bool put_owners(struct making *m, uint64_t *waits, uint64_t *time)
{
	uint32_t i, who;

	for (i = 0; i < m->from->owner_count; i++) {
		const struct profile_waits *w = &m->from->owners[i];

		who = number(m, w->name);
		if (who == UINT32_MAX)
			return false;
		m->waits[who] += w->waits;
		m->time[who] += w->time;
		*waits += w->waits;
		*time += w->time;
	}
	return true;
}

static bool put_holders(struct making *m)
{
	uint32_t i, who;

	for (i = 0; i < m->from->holder_count; i++) {
		const struct profile_waits *w = &m->from->holders[i];

		who = number(m, w->name);
		if (who == UINT32_MAX)
			return false;
		/* of an owner beyond those kept apart: it is in the sum of the others */
		if (m->waits[who] < w->waits || m->time[who] < w->time)
			continue;
		m->waits[who] -= w->waits;
		m->time[who] -= w->time;
		put_stack(m, who, w->frames, w->depth, w->waits, w->time);
	}
	return true;
}

static bool make(struct making *m)
{
	const struct profile *p = m->from;
	uint64_t waits = 0, time = 0;
	uint32_t who, owners;

	if (!allocate(m))
		return false;
	memcpy(m->to->frames, p->frames, p->frame_count * sizeof(*p->frames));
	if (!put_owners(m, &waits, &time) || !put_holders(m))
		return false;
	owners = m->count;
	for (who = 0; who < owners; who++)
		if (m->waits[who])
			put_stack(m, who, NULL, 0, m->waits[who], m->time[who]);
	if (p->stored <= waits)
		return true;
	strcpy(m->to->names + m->named, NO_OWNER);
	m->to->frames[p->frame_count + m->count] =
		(struct profile_frame){.name = m->to->names + m->named, .kind = FRAME_OTHER};
	put_stack(m, m->count++, NULL, 0, p->stored - waits, p->weight_stored - time);
	return true;
}

int owners_apply(struct owners *o, const struct profile *p)
{
	struct making m = {.to = o, .from = p};
	bool made;

	*o = (struct owners){.profile = *p};
	o->profile.stack_count = 0;
	made = make(&m);
	o->profile.frames = o->frames;
	o->profile.frame_count = p->frame_count + m.count;
	o->profile.stacks = o->stacks;
	o->profile.per_thread = false;
	map_free(&m.by_name);
	strings_free(&m.texts);
	free(m.waits);
	free(m.time);
	return made ? 0 : -ENOMEM;
}

void owners_free(struct owners *o)
{
	free(o->frames);
	free(o->stacks);
	free(o->lists);
	free(o->names);
}

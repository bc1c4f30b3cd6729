/*
 * contention_text.c - locks that held threads up, as sentences.
 */
#include <string.h>

#include "common/base/buffer.h"
#include "profile/model/human.h"
#include "profile/model/work/contention.h"

#define WORTH 3
#define FEW 3 /* owners that are known say nothing of the others */
#define WORTH_OF 100       /* of the work */
#define WORTH_OF_TIME 1000 /* of the recording: less held no one up */

uint32_t contention_worth(const struct contention *c)
{
	const struct profile *work = &c->work->profile;
	uint32_t i;

	for (i = 0; i < MIN(c->count, WORTH) && c->rows[i].weight * WORTH_OF > work->weight_stored &&
	     c->rows[i].weight * WORTH_OF_TIME >= work->duration; i++)
		;
	return i;
}

/* ---- words ---- */

/* "to enter a monitor", "for a class to be initialised", "for a ReentrantLock, or several" */
static void put_kind(struct buffer *out, const struct contended *r)
{
	const char *slash = r->lock ? strrchr(r->lock, '/') : NULL;

	if (!r->lock)
		buffer_puts(out, r->blocked * 2 > r->weight ? " to enter a monitor" :
				 r->ready * 2 > r->weight ? " for a class to be initialised" : " for a lock");
	else
		buffer_printf(out, " for %s %.*s", strchr("AEIOU", slash ? slash[1] : r->lock[0]) ? "an" : "a",
			      (int)strcspn(slash ? slash + 1 : r->lock, "$"),
			      slash ? slash + 1 : r->lock);
	if (r->several)
		buffer_puts(out, ", or several,");
}

static void put_lock(struct buffer *out, const struct contention *c, const struct contended *r)
{
	buffer_printf(out, " for %s", name_text(&c->names, r->place));
	if (r->identity)
		buffer_printf(out, "@%llx", (unsigned long long)r->identity);
	if (r->locks > 1 && !r->identity)
		buffer_printf(out, " (%s, several of %s locks)", lock_kind_names[r->kind].word,
			      human_count(r->locks).text);
	else if (r->locks)
		buffer_printf(out, " (%s)", lock_kind_names[r->kind].word);
}

static void put_owner(struct buffer *out, const struct contention *c, const struct contended *r)
{
	bool of_waits = r->locks > 0;

	buffer_puts(out, "; its owner");
	if (r->owner)
		buffer_printf(out, ", %s,", r->owner);
	if (of_waits && r->known < FEW && r->known_weight < r->weight / 2) {
		buffer_printf(out, " was in %s when they began to wait, as far as it is known (%s of the waits)",
			      name_text(&c->names, r->method), human_percent(r->known_weight, r->weight).text);
		return;
	}
	buffer_printf(out, " was %s in %s", of_waits ? "mostly" : "most likely", name_text(&c->names, r->method));
	if (of_waits)
		buffer_printf(out, " (%s) when they began to wait",
			      human_percent(r->method_weight, r->known_weight).text);
	else
		buffer_printf(out, " (%s)", activity_names[r->activity].head);
}

void contention_put(struct buffer *out, const struct contention *c, const struct contended *r)
{
	const struct thread_groups *g = &c->work->groups;
	const struct thread_group *group = r->group == NO_GROUP ? NULL : &g->groups[r->group];

	buffer_printf(out, "%s%s waited %s", group ? thread_group_name(g, group) : "threads",
		      r->group_weight && r->group_weight < r->weight ? " and others" : "",
		      human_time(r->weight).text);
	if (r->of_class)
		put_lock(out, c, r);
	else
		put_kind(out, r);
	if (r->asked_in != NO_NAME_OF)
		buffer_printf(out, " in %s", name_text(&c->names, r->asked_in));
	buffer_printf(out, ", %s of %s", human_percent(r->weight, c->work->profile.weight_stored).text,
		      c->work->profile.weight_kind == WEIGHT_WAIT ? "all waits that are not idle" : "what is not idle");
	if (r->method != NO_NAME_OF)
		put_owner(out, c, r);
}

/*
 * leaks_text.c - suspects of a leak in plain sentences.
 */
#include "profile/model/leaks.h"

#include "common/base/clean.h"
#include "profile/model/human.h"

#define LONGEST (365.0 * 24) /* hours: beyond, a rate of today says nothing */
#define FEW_DAYS 240.0
#define NS_PER_HOUR 3.6e12

void leaks_put_title(struct buffer *out, const struct profile *p)
{
	buffer_printf(out, "What grew all the time (%s), and how much that is in an hour:",
		      human_time(p->growth_span).text);
}

void leaks_put_row(struct buffer *out, const struct leaks *l, const struct leak *row, const char *on, const char *off)
{
	buffer_colour(out, on);
	buffer_puts(out, human_bytes((uint64_t)row->rate).text);
	buffer_colour(out, off);
	buffer_printf(out, " (%s to %s)  ", human_bytes((uint64_t)row->least).text,
		      human_bytes((uint64_t)row->most).text);
	if (row->class == LEAK_NO_CLASS)
		buffer_puts(out, "asked for");
	else
		buffer_printf(out, "%s allocated", name_text(&l->names, row->class));
	buffer_printf(out, " in %s", name_text(&l->names, row->place));
	if (row->caller != row->place)
		buffer_printf(out, " for %s", name_text(&l->names, row->caller));
	buffer_printf(out, "; %s are there", human_bytes(row->there).text);
}

void leaks_put_chain(struct buffer *out, const struct leaks *l, const struct leak *row, const struct profile *p)
{
	const struct profile_chain *c = leaks_chain(l, row, p);

	if (c)
		buffer_puts(out, "held by ");
	if (c)
		clean_name(out, c->text ? c->text : "nothing that was found");
}

static void put_hours(struct buffer *out, double hours)
{
	if (hours < FEW_DAYS)
		buffer_puts(out, human_time((uint64_t)(hours * NS_PER_HOUR)).text);
	else
		buffer_printf(out, "%s days", human_count((uint64_t)(hours / 24)).text);
}

void leaks_put_full(struct buffer *out, const struct leaks *l, const struct profile *p)
{
	struct leaks_full full;

	if (!leaks_fill(l, p, &full) || full.soonest > LONGEST)
		return;
	if (!full.free) {
		buffer_printf(out, "The heap is full: %s were in use at its last collection",
			      human_bytes(p->counted).text);
		return;
	}
	buffer_puts(out, "At this rate the heap is full in ");
	put_hours(out, full.soonest);
	buffer_puts(out, full.latest > LONGEST ? " at the soonest" : " to ");
	if (full.latest <= LONGEST)
		put_hours(out, full.latest);
	buffer_printf(out, ": %s of %s were free at its last collection", human_bytes(full.free).text,
		      human_bytes(p->heap_most).text);
}

/* allocated.c - findings about what is allocated, and what stays. */
#include <stdio.h>
#include <string.h>

#include "common/base/decimal.h"
#include "profile/findings/evidence.h"
#include "profile/model/human.h"
#include "profile/model/leaks.h"

/* A method that only hands on to a large part of the JDK, which makes objects at many places, says nothing. */
static bool says_something(const struct split *s, const struct site *site)
{
	uint64_t weight;

	return site->self * 50 >= site->weight || (split_top_of(s, site, &weight) != UINT32_MAX &&
						   weight * 4 >= site->weight);
}

void finding_allocation(const struct evidence *e, struct profile_finding *f)
{
	const struct profile *p = e->alloc;
	struct split s;
	struct share share;
	uint64_t all;
	double rate;

	if (!p || p->survivors || p->told || !p->duration)
		return;
	all = p->counted ? p->counted : p->weight_stored;
	rate = (double)all * 1e9 / (double)p->duration;
	if (rate < LIMIT(alloc_rate) || split_build(&s, p))
		return;
	share = s.site_count ? split_share(&s, s.sites[0].weight) : (struct share){0, 0, 0};
	if (share_is_above(share, LIMIT(alloc_site)) && says_something(&s, &s.sites[0])) {
		snprintf(f->look, sizeof(f->look), "%s", name_text(&s.names, s.sites[0].name));
		f->score = 0.2 + share.part * 0.7;
		say(f, "%.200s allocates %s of all: %s of %s a second.", f->look, share_text(share).text,
		    human_bytes((uint64_t)(rate * share.part)).text, human_bytes((uint64_t)rate).text);
		advise(f, "The flame graph (--alloc -f x.html) shows the classes on top; reuse what is made anew "
			  "each time.");
	}
	split_free(&s);
}

void finding_large_objects(const struct evidence *e, struct profile_finding *f)
{
	const struct profile *p = e->alloc;
	double rate;

	if (!p || p->survivors || !p->duration || !p->weight_stored)
		return;
	rate = (double)p->weight_stored * 1e9 / (double)p->duration;
	if (rate < LIMIT(alloc_rate) || (double)p->outside < LIMIT(large_objects) * (double)p->weight_stored)
		return;
	f->score = 0.25 + (double)p->outside / (double)p->weight_stored / 4;
	say(f, "%s %% of what is allocated (%s a second) are objects too large for a thread's buffer: they are slow "
	       "to make, and G1 may put them into regions of their own.", decimal(percent_of(p->outside,
											     p->weight_stored), 0).text,
	    human_bytes((uint64_t)(rate * (double)p->outside / (double)p->weight_stored)).text);
	advise(f, "Reuse large arrays and buffers, or read in smaller pieces.");
}

void finding_leak(const struct evidence *e, struct profile_finding *f)
{
	const struct profile *p = e->live ? e->live : e->native;
	struct leaks l;

	if (!p || !leaks_known(p))
		return;
	if (leaks_find(&l, p) == 0 && l.count) {
		const struct leak *row = &l.rows[0];

		f->score = 0.8;
		snprintf(f->look, sizeof(f->look), "%s", name_text(&l.names, row->caller));
		say(f, "%.150s keeps more and more%s%.100s: %s an hour (%s to %s), %s are there.", f->look,
		    row->class == LEAK_NO_CLASS ? "" : " ", row->class == LEAK_NO_CLASS ? "" : name_text(&l.names,
													 row->class),
		    human_bytes((uint64_t)row->rate).text, human_bytes((uint64_t)row->least).text,
		    human_bytes((uint64_t)row->most).text, human_bytes(row->there).text);
		advise(f, "--roots says by which references it is held; sample for longer to make the interval "
			  "narrower.");
	}
	leaks_free(&l);
}

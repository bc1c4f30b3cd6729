/* hot_code.c - findings about what uses the CPU: a method of the program, or a kind of work that it has done. */
#include <stdio.h>
#include <string.h>

#include "common/base/decimal.h"
#include "profile/findings/evidence.h"
#include "profile/model/human.h"

static const struct {
	const char *words, *advice;
} families[FAMILIES] = {
#define FAMILY(id, words, advice) {words, advice},
#define MATCH(pattern)
#include "profile/findings/families.def"
};

/* The heaviest one by its share above its limit; FAMILIES: none is. */
static unsigned hottest_family(const struct split *s)
{
	unsigned best = FAMILIES, f;

	for (f = 0; f < FAMILIES; f++) {
		double limit = f == FAMILY_exceptions ? LIMIT(exception_cpu) : LIMIT(family);

		if (share_is_above(split_share(s, s->family[f]), limit) && (best == FAMILIES ||
									    s->family[f] > s->family[best]))
			best = f;
	}
	return best;
}

/* Whether hardly a sample may belong to another method, of those that the compiler has put into one. */
static bool is_sure(const struct profile *p)
{
	return p->ambiguous * 20 < p->stored;
}

/* How what is compiled into one can be told apart. */
static void advise_apart(struct profile_finding *f, const struct profile *p)
{
	advise(f, "%s %% of the samples may belong to the method before or behind theirs, where the compiler has put "
		  "one into another: -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints makes this sure.",
	       decimal(percent_of(p->ambiguous, p->stored), 0).text);
}

/* Whether much of FAMILY's time may be of methods of the program that are compiled into it. */
static bool family_is_sure(const struct evidence *e, unsigned family)
{
	return is_sure(e->cpu) || e->split.family_unsure[family] * 4 < e->split.family[family];
}

void finding_hot_family(const struct evidence *e, struct profile_finding *f)
{
	const struct site *site;
	struct share share;
	unsigned family;
	bool sure;

	if (!e->has_split)
		return;
	family = hottest_family(&e->split);
	if (family == FAMILIES)
		return;
	share = split_share(&e->split, e->split.family[family]);
	site = &e->split.sites[e->split.family_site[family]];
	f->score = (0.05 + share.part) * e->relevance;
	snprintf(f->look, sizeof(f->look), "%s", name_text(&e->split.names, site->name));
	sure = family_is_sure(e, family);
	say(f, "%s of the CPU time goes into %s%s, %s %% of that for %.150s.", share_text(share).text,
	    families[family].words, sure ? "" : " or into methods of the program compiled together with it",
	    decimal(percent_of(site->family[family], e->split.family[family]), 0).text, f->look);
	if (!sure && e->cpu->ambiguous * 4 >= e->cpu->stored)
		advise_apart(f, e->cpu);
	else if (families[family].advice[0] >= 'a' && families[family].advice[0] <= 'z')
		advise(f, "%c%s.", families[family].advice[0] - 'a' + 'A', families[family].advice + 1);
	else
		advise(f, "%s.", families[family].advice);
}

/* Whether most of what SITE uses is the family that is told of already. */
static bool is_told(const struct split *s, const struct site *site)
{
	unsigned family = hottest_family(s);

	return (family < FAMILIES && site->family[family] * 2 > site->weight) || site->classes * 3 > site->weight;
}

bool evidence_is_hot(const struct split *s)
{
	return hottest_family(s) < FAMILIES ||
	       (s->site_count && share_is_above(split_share(s, s->sites[0].weight), LIMIT(hot_method)));
}

void finding_hot_method(const struct evidence *e, struct profile_finding *f)
{
	const struct site *site;
	uint64_t weight;
	uint32_t top;
	bool named;
	struct share share;

	if (!e->has_split || !e->split.site_count)
		return;
	site = &e->split.sites[0];
	share = split_share(&e->split, site->weight);
	if (!share_is_above(share, LIMIT(hot_method)) || is_told(&e->split, site))
		return;
	top = split_top_of(&e->split, site, &weight);
	named = top != UINT32_MAX && top != site->name && weight * 4 >= site->weight;
	/* a method that only hands on to a large part of the JDK says nothing: javac's caller */
	if (!named && site->self * 50 < site->weight)
		return;
	f->score = share.part * e->relevance;
	snprintf(f->look, sizeof(f->look), "%s", name_text(&e->split.names, site->name));
	if (site->self * 20 >= site->weight * 19)
		say(f, "%.200s uses %s of the CPU time %s, with the native code that it calls.", f->look,
		    share_text(share).text,
		    is_sure(e->cpu) ? "itself" : "itself or in methods compiled together with it");
	else if (named)
		say(f, "%.150s uses %s of the CPU time with the JDK's methods that it calls, %s %% of that in "
		       "%.130s.", f->look,
		    share_text(share).text, decimal(percent_of(weight, site->weight), 0).text,
		    name_text(&e->split.names, top));
	else
		say(f, "%.200s uses %s of the CPU time with the JDK's methods that it calls (%s %% in its own code).",
		    f->look, share_text(share).text, decimal(percent_of(site->self, site->weight), 0).text);
	if (e->cpu->ambiguous * 4 >= e->cpu->stored)
		advise_apart(f, e->cpu);
	else
		advise(f, "--lines shows which lines; the flame graph (-f x.html), who calls it.");
}

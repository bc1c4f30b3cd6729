/*
 * metaspace.c - metaspace and class space: the tables do not tell their ranges, but all classes and what belongs to
 * them lies there. Each class's address is one of class space, that of its constants one of metaspace. Lists that
 * change while we read give single wrong addresses, so the most in a mapping decide. Without compressed class pointers
 * classes have no space of their own: they lie among their constants.
 */
#include <stdlib.h>

#include "cli/memory/resident.h"
#include "cli/memory/spread.h"

#define MOSTLY 4 /* so many times as many classes as constants are class space */
enum { CLASSES = 1, CONSTANTS };

struct votes {
	uint32_t classes, constants;
};

static void mark_by_votes(struct spread *s, const struct memory_classes *classes, struct votes *votes)
{
	const struct memory_class *c;
	const struct mapping *m;
	const struct votes *v;
	size_t i;

	for (i = 0; i < classes->count; i++) {
		c = &classes->items[i];
		m = mappings_find(s->maps, c->at);
		if (m && c->constants)
			votes[m - s->maps->items].constants++;
		else if (m)
			votes[m - s->maps->items].classes++;
	}
	for (i = 0; i < classes->count; i++) {
		m = mappings_find(s->maps, classes->items[i].at);
		v = m ? &votes[m - s->maps->items] : NULL;
		if (v)
			spread_mark(s, classes->items[i].at, v->classes > MOSTLY * v->constants ? CLASSES : CONSTANTS);
	}
}

void memory_claim_metaspace(struct peek *p, const struct memory_classes *classes, struct ranges *c)
{
	struct votes *votes = calloc(p->maps->count + 1, sizeof(*votes));
	struct spread spread = {0};

	ranges_settle(c);
	if (!votes || !spread_init(&spread, p->maps, c)) {
		c->failed = true;
		free(votes);
		return;
	}
	mark_by_votes(&spread, classes, votes);
	spread_over_gaps(&spread);
	spread_claim(&spread, c, CLASSES, MEMORY_class_space, NULL);
	spread_claim(&spread, c, CONSTANTS, MEMORY_metaspace, NULL);
	spread_free(&spread);
	free(votes);
}

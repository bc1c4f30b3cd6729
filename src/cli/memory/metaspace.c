/*
 * metaspace.c - metaspace and class space: the tables do not tell their ranges, but all classes and what belongs to
 * them lies there. Each class's address is one of class space, that of its constants one of metaspace.
 */
#include "cli/memory/resident.h"
#include "cli/memory/spread.h"

enum { CLASSES = 1, CONSTANTS };

/* Mark what lies around the constants of classes, or around classes; how many of these lie where constants do. */
static size_t mark_all(struct spread *s, const struct memory_classes *classes, bool constants)
{
	size_t i, k, among = 0;
	bool is_class;

	for (i = 0; i < classes->count; i = k) {
		/* what was read while a class came to be may be any address, another class for example */
		is_class = false;
		for (k = i; k < classes->count && classes->items[k].at == classes->items[i].at; k++)
			is_class |= !classes->items[k].constants;
		if (is_class == constants)
			continue;
		among += is_class && spread_is(s, classes->items[i].at, CONSTANTS);
		spread_mark(s, classes->items[i].at, constants ? CONSTANTS : CLASSES);
	}
	return among;
}

void memory_claim_metaspace(struct peek *p, const struct memory_classes *classes, struct ranges *c)
{
	struct spread spread;
	size_t i, among, all = 0;

	ranges_settle(c);
	if (!spread_init(&spread, p->maps, c)) {
		c->failed = true;
		return;
	}
	for (i = 0; i < classes->count; i++)
		all += !classes->items[i].constants;
	mark_all(&spread, classes, true);
	among = mark_all(&spread, classes, false);
	spread_over_gaps(&spread);
	/* without compressed class pointers classes have no space of their own */
	spread_claim(&spread, c, CLASSES, among * 2 > all ? MEMORY_metaspace : MEMORY_class_space, NULL);
	spread_claim(&spread, c, CONSTANTS, MEMORY_metaspace, NULL);
	spread_free(&spread);
}

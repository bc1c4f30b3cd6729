/*
 * metaspace.c - metaspace and class space: the tables do not tell their ranges, but all classes and what belongs to
 * them lies there. Each class's address is one of class space, that of its constants one of metaspace.
 */
#include "cli/memory/resident.h"
#include "cli/memory/spread.h"

#define CLASSES_MAX 100000
#define LOADERS_MAX 100000
enum { CLASSES = 1, CONSTANTS };

struct look {
	struct peek *peek;
	const struct vm_tables *tables;
	struct spread spread;
	unsigned classes;
};

static void look_at_classes(struct look *l, uint64_t klass)
{
	uint64_t constants;

	while (klass && l->classes++ < CLASSES_MAX) {
		constants = vm_tables_at(l->tables, l->peek, klass, "InstanceKlass", "_constants");
		spread_mark(&l->spread, klass, CLASSES);
		spread_mark(&l->spread, constants, CONSTANTS);
		klass = vm_tables_at(l->tables, l->peek, klass, "Klass", "_next_link");
	}
}

void memory_claim_metaspace(struct peek *p, const struct vm_tables *t, struct ranges *c)
{
	struct look l = {.peek = p, .tables = t};
	uint64_t loader = vm_tables_value(t, p, "ClassLoaderDataGraph", "_head");
	unsigned loaders;

	ranges_settle(c);
	if (!spread_init(&l.spread, p->maps, c)) {
		c->failed = true;
		return;
	}
	for (loaders = 0; loader && loaders < LOADERS_MAX; loaders++) {
		look_at_classes(&l, vm_tables_at(t, p, loader, "ClassLoaderData", "_klasses"));
		loader = vm_tables_at(t, p, loader, "ClassLoaderData", "_next");
	}
	spread_over_gaps(&l.spread);
	spread_claim(&l.spread, c, CLASSES, MEMORY_class_space, NULL);
	spread_claim(&l.spread, c, CONSTANTS, MEMORY_metaspace, NULL);
	spread_free(&l.spread);
}

/*
 * classes.c - the addresses of all classes that a JVM has, from its list of class loaders. The list changes while we
 * follow it: where it breaks off it is followed anew, and what was found stays.
 */
#include <stdlib.h>

#include "cli/memory/resident.h"

#define CLASSES_MAX 400000
#define LOADERS_MAX 400000
#define TRIES 5

struct look {
	struct peek *peek;
	struct memory_classes *found;
	uint64_t head;
	int64_t next_loader, loader_classes, next_class, constants, layout;
	unsigned classes;
};

static void add(struct look *l, uint64_t at, bool constants)
{
	struct memory_class *c = at ? VECTOR_PUSH(l->found) : NULL;

	if (c)
		*c = (struct memory_class){at, constants};
}

/* The classes of one loader; false: the list breaks off. */
static bool look_at_classes(struct look *l, uint64_t klass)
{
	uint64_t constants, layout;

	while (klass) {
		if (l->classes++ > CLASSES_MAX)
			return false;
		add(l, klass, false);
		/* those of arrays (a negative layout helper) have none, and what stands there may be any address */
		if (peek_word(l->peek, klass + (uint64_t)l->layout, &layout) && (int32_t)layout >= 0 &&
		    peek_word(l->peek, klass + (uint64_t)l->constants, &constants) && constants % sizeof(void *) == 0)
			add(l, constants, true);
		if (!peek_word(l->peek, klass + (uint64_t)l->next_class, &klass))
			return false;
	}
	return true;
}

static bool look_at_loaders(struct look *l)
{
	uint64_t loader, klass;
	unsigned count = 0;
	bool whole = true;

	if (!peek_word(l->peek, l->head, &loader))
		return false;
	while (loader) {
		if (count++ > LOADERS_MAX)
			return false;
		if (!peek_word(l->peek, loader + (uint64_t)l->loader_classes, &klass) || !look_at_classes(l, klass))
			whole = false;
		if (!peek_word(l->peek, loader + (uint64_t)l->next_loader, &loader))
			return false;
	}
	return whole;
}

static int by_address(const void *a, const void *b)
{
	const struct memory_class *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

void memory_find_classes(struct peek *p, const struct vm_tables *t, struct memory_classes *classes)
{
	struct look l = {.peek = p, .found = classes, .head = vm_tables_static(t, "ClassLoaderDataGraph", "_head"),
			 .next_loader = vm_tables_offset(t, "ClassLoaderData", "_next"),
			 .loader_classes = vm_tables_offset(t, "ClassLoaderData", "_klasses"),
			 .next_class = vm_tables_offset(t, "Klass", "_next_link"),
			 .constants = vm_tables_offset(t, "InstanceKlass", "_constants"),
			 .layout = vm_tables_offset(t, "Klass", "_layout_helper")};
	unsigned tries;

	if (!l.head || l.next_loader < 0 || l.loader_classes < 0 || l.next_class < 0 || l.constants < 0 ||
	    l.layout < 0)
		return;
	for (tries = 0; tries < TRIES && !look_at_loaders(&l); tries++)
		l.classes = 0;
	if (classes->count)
		qsort(classes->items, classes->count, sizeof(*classes->items), by_address);
}

bool memory_has_class(const struct memory_classes *classes, uint64_t from, uint64_t to)
{
	size_t low = 0, high = classes->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (classes->items[middle].at < from)
			low = middle + 1;
		else
			high = middle;
	}
	return low < classes->count && classes->items[low].at < to;
}

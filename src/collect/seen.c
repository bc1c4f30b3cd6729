/*
 * seen.c - proving names.
 *
 * A sample of the present era says that its methods are alive: what is read of them now are their
 * names in this era. (The memory of a dead method may look whole for long, so nothing else proves
 * names.) In later eras a method keeps them while no class was unloaded and its own was not redefined:
 * its range is extended, nothing need be read. Otherwise it is read anew, for the next sample of a then
 * present era: other names are another method, equal ones begin a new range, since in between
 * something else may have stood there.
 *
 * Without the JVM's counts (stripped libjvm and -XX:-UsePerfData at once) an era is the time between
 * two drains: a name holds if it was there before the sample and is there after it.
 */
#include "collect/seen.h"

#include <stdlib.h>
#include <string.h>

static const struct era_range none = {1, 0};

void seen_init(struct seen *m)
{
	pthread_mutex_init(&m->lock, NULL);
}

void seen_free(struct seen *m)
{
	while (m->told.count)
		free(m->told.items[--m->told.count]);
	free(m->told.items);
	free(m->seen.items);
	map_free(&m->by_address);
	map_free(&m->redefined);
	pthread_mutex_destroy(&m->lock);
}

void seen_redefined(struct seen *m, const char *name)
{
	char *copy = strdup(name), **slot;

	pthread_mutex_lock(&m->lock);
	slot = copy ? VECTOR_PUSH(&m->told) : NULL;
	if (slot) {
		*slot = copy;
	} else {
		m->unsure = true;
		free(copy);
	}
	pthread_mutex_unlock(&m->lock);
}

static void listen(struct seen *m, struct strings *s)
{
	size_t i;

	pthread_mutex_lock(&m->lock);
	for (i = 0; i < m->told.count; i++) {
		uint32_t name = strings_add(s, m->told.items[i], strlen(m->told.items[i]));
		uint32_t *slot = map_put(&m->redefined, name, NULL);

		if (slot && name)
			*slot = 1;
		else
			m->unsure = true;
		free(m->told.items[i]);
	}
	m->told.count = 0;
	pthread_mutex_unlock(&m->lock);
}

/*
 * What stands at ADDRESS now. A class counts as loaded when it has been parsed, which may be long
 * after its methods took the place of replaced ones (a GC can come between): those have no entry
 * point. Looked at last: a method that got its entry meanwhile has ended the era before.
 */
static bool read_now(const struct layout *l, struct strings *s, uintptr_t address, struct method_chain *chain,
		     struct method_names *names)
{
	return method_read_chain(l, address, chain) && method_read_names(l, chain, s, names) &&
	       method_check(l, address, chain) && method_is_linked(l, address);
}

static bool equal(const struct seen_method *m, const struct method_chain *chain, const struct method_names *names)
{
	/* Field by field: there is padding. Texts too: a freed Symbol's place is taken by another. */
	return m->chain.constant == chain->constant && m->chain.pool == chain->pool &&
	       m->chain.holder == chain->holder && m->chain.name_symbol == chain->name_symbol &&
	       m->chain.name_index == chain->name_index && m->chain.signature_index == chain->signature_index &&
	       m->names.class_name == names->class_name && m->names.name == names->name &&
	       m->names.signature == names->signature;
}

/* It cannot have been freed since the last look. */
static bool lasted(const struct seen *all, const struct seen_method *m, const struct zone *z, uint64_t unloaded)
{
	bool counted = era_counts_known(&z->eras) && m->unloaded == unloaded;

	return !all->unsure && m->chain.constant && (m->forever || counted) &&
	       !map_get(&all->redefined, m->names.class_name);
}

/* The names are those of before. */
static void found_same(struct seen_method *m, uint64_t era, bool counts_known)
{
	if (!counts_known) {
		m->proved.until = era;
		return;
	}
	if (m->proved.since <= m->proved.until)
		m->before = m->proved;
	m->proved = (struct era_range){era, era};
}

static void found_other(struct seen_method *m, uint64_t era, bool counts_known)
{
	m->version++;
	m->before = none;
	/* Without counts a name that is new proves nothing for samples that were there before it. */
	m->proved = (struct era_range){counts_known ? era : era + 1, era};
}

/*
 * While a call redefines them, methods of its classes are made and replaced in one and the same era: what
 * is read of them may have stood there for a moment only.
 */
static bool is_in_flux(const struct seen *all, const struct zone *z, const struct method_names *names)
{
	return atomic_load(&z->eras.redefining) && map_get(&all->redefined, names->class_name);
}

/* Read what stands there now, in ERA; no change if that has ended meanwhile. */
static void look(struct seen *all, struct seen_method *m, const struct zone *z, struct strings *s,
		 uint64_t era, uint64_t unloaded)
{
	bool known = era_counts_known(&z->eras), readable;
	struct method_chain chain = {0};
	struct method_names names = {0};
	bool forever;

	readable = read_now(&z->layout, s, m->method, &chain, &names);
	forever = readable && method_is_forever(&z->layout, &chain);
	if ((readable && is_in_flux(all, z, &names)) || era_now(&z->eras) != era)
		return;
	m->looked = era;
	m->unloaded = unloaded;
	m->forever = forever;
	if (readable && m->chain.constant && equal(m, &chain, &names)) {
		found_same(m, era, known);
		return;
	}
	found_other(m, era, known);
	/* Not a method: half-read names must never be taken for this one's. */
	m->chain = readable ? chain : (struct method_chain){0};
	m->names = names;
	if (!readable)
		m->proved = none;
}

/*
 * Bring M up to the present era, if it lives. ALIVE_IN: the era of a sample that has it.
 */
static void follow(struct seen *all, struct seen_method *m, const struct zone *z, struct strings *s,
		   uint64_t alive_in)
{
	uint64_t era = era_now(&z->eras), unloaded = era_unloaded(&z->eras);

	/* After the era: whatever led to it has been told by now. */
	listen(all, s);
	if (m->looked == era)
		return;
	if (!lasted(all, m, z, unloaded)) {
		if (alive_in == era || !era_counts_known(&z->eras))
			look(all, m, z, s, era, unloaded);
	} else if (era_now(&z->eras) == era) {
		m->proved.until = m->looked = era;
	}
}

static bool in(const struct era_range *range, uint64_t era)
{
	return era >= range->since && era <= range->until;
}

static bool proved(const struct seen_method *m, uint64_t era)
{
	return m->chain.constant && (in(&m->proved, era) || in(&m->before, era));
}

/* The entry of ADDRESS, made if need be. */
static struct seen_method *entry(struct seen *all, uintptr_t address)
{
	uint32_t *slot = map_put(&all->by_address, address, NULL);
	struct seen_method *m;

	if (!slot)
		return NULL;
	if (*slot)
		return &all->seen.items[*slot - 1];
	m = VECTOR_PUSH(&all->seen);
	if (!m)
		return NULL;
	m->method = address;
	m->proved = m->before = none;
	*slot = (uint32_t)all->seen.count;
	return m;
}

struct seen_method *seen_at(struct seen *all, const struct zone *z, struct strings *s, uintptr_t address,
			       uint64_t era)
{
	struct seen_method *m = entry(all, address);

	if (!m || proved(m, era))
		return m;
	follow(all, m, z, s, era);
	return proved(m, era) ? m : NULL;
}

bool seen_still(struct seen *all, const struct zone *z, struct strings *s, struct seen_method *m, uint64_t era)
{
	if (era_now(&z->eras) == era)
		return true;
	follow(all, m, z, s, 0);
	return m->looked == era_now(&z->eras);
}

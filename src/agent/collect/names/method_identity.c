/*
 * method_identity.c - proving names.
 *
 * A sample of the present era says that its methods are alive: what is read of them now are their
 * names in this era. In later eras a method keeps them while no class was unloaded and its own was not redefined:
 * its range is extended. Otherwise it is read anew, for the next sample of a then present era: other names are
 * another method, equal ones begin a new range, since in between something else may have stood there.
 *
 * What is read for a sample of an era that is over proves nothing by itself: the memory of a dead method may look
 * whole for long. But if the same stands there later, and no class was unloaded since nor its own redefined, then a
 * sample taken in between can only have had that: to stand there again it would have had to be made again.
 *
 * Without the JVM's counts (stripped libjvm and -XX:-UsePerfData at once) an era is the time between
 * two drains: a name holds if it was there before the sample and is there after it.
 */
#include "agent/collect/names/method_identity.h"

#include <stdlib.h>
#include <string.h>

static const struct method_epoch_range none = {1, 0};

void method_identities_init(struct method_identities *m)
{
	pthread_mutex_init(&m->lock, NULL);
}

void method_identities_free(struct method_identities *m)
{
	while (m->told.count)
		free(m->told.items[--m->told.count]);
	free(m->told.items);
	PAGED_FREE(&m->seen);
	map_free(&m->by_address);
	map_free(&m->redefined);
	pthread_mutex_destroy(&m->lock);
}

void method_identities_redefined(struct method_identities *m, const char *name)
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

static void listen(struct method_identities *m, struct strings *s)
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

static bool equal(const struct method_identity *m, const struct method_chain *chain, const struct method_names *names)
{
	/* Field by field: there is padding. Texts too: a freed Symbol's place is taken by another. */
	return m->chain.constant == chain->constant && m->chain.pool == chain->pool &&
	       m->chain.holder == chain->holder && m->chain.name_symbol == chain->name_symbol &&
	       m->chain.name_index == chain->name_index && m->chain.signature_index == chain->signature_index &&
	       m->names.class_name == names->class_name && m->names.name == names->name &&
	       m->names.signature == names->signature;
}

/*
 * What stands there is what stood there when it was read. It may not have lived then, or have been replaced before we
 * watched, and others of the same shape may have taken all its places since: so texts are compared, too.
 */
static bool is_untouched(const struct method_identity *m, const struct zone *z, struct strings *s)
{
	struct method_chain chain;
	struct method_names names;

	return read_now(&z->layout, s, m->method, &chain, &names) && equal(m, &chain, &names);
}

/* It cannot have been freed since the last look. */
static bool lasted(const struct method_identities *all, struct method_identity *m, const struct zone *z,
		   struct strings *s, uint64_t unloaded)
{
	bool counted = method_epoch_counts_known(&z->epochs) && m->unloaded == unloaded;
	uint64_t chances;

	if (all->unsure || !m->chain.constant || (!m->forever && !counted) ||
	    map_get(&all->redefined, m->names.class_name))
		return false;
	if (m->sure && !atomic_load_explicit(&z->epochs.replacing, memory_order_relaxed))
		return true;
	chances = method_epoch_chances(&z->epochs);
	if ((!m->sure || m->chances != chances) && !is_untouched(m, z, s))
		return false;
	m->chances = chances;
	return true;
}

/* The names are those of before, from era SINCE on. */
static void found_same(struct method_identity *m, uint64_t since, uint64_t epoch, bool counts_known)
{
	if (!counts_known) {
		m->proved.until = epoch;
		return;
	}
	if (m->proved.since <= m->proved.until)
		m->before = m->proved;
	m->proved = (struct method_epoch_range){since, epoch};
}

static void found_other(struct method_identity *m, uint64_t since, uint64_t epoch)
{
	m->version++;
	m->before = none;
	m->proved = (struct method_epoch_range){since, epoch};
}

/*
 * While a call redefines them, methods of its classes are made and replaced in one and the same era, where
 * safepoints do not tell: what is read of them may have stood there for a moment only.
 */
static bool is_in_flux(const struct method_identities *all, const struct zone *z, const struct method_names *names)
{
	return atomic_load(&z->epochs.redefining) && !method_epoch_safepoints_known(&z->epochs) &&
	       map_get(&all->redefined, names->class_name);
}

/*
 * Read what stands there now. If this is still ERA, in which a sample says that it lives, these are its names in ERA.
 * Else it proves nothing by itself, nor do names that are new where nothing is counted: samples of the eras to come
 * have them if the same stands there then.
 */
static void look(struct method_identities *all, struct method_identity *m, const struct zone *z, struct strings *s,
		 uint64_t epoch)
{
	uint64_t unloaded = method_epoch_unloaded(&z->epochs), chances = method_epoch_chances(&z->epochs);
	bool known = method_epoch_counts_known(&z->epochs), readable, proof, same;
	struct method_chain chain = {0};
	struct method_names names = {0};
	bool forever;

	readable = read_now(&z->layout, s, m->method, &chain, &names);
	forever = readable && method_is_forever(&z->layout, &chain);
	if (readable && is_in_flux(all, z, &names))
		return;
	proof = method_epoch_is_current(&z->epochs, epoch);
	if (!proof) {
		if (!readable || !known)
			return;
		epoch = method_epoch_now(&z->epochs);
	}
	same = readable && m->chain.constant && equal(m, &chain, &names);
	m->sure = proof;
	m->looked = proof ? epoch : 0;
	m->unloaded = unloaded;
	m->chances = chances;
	m->forever = forever;
	if (same)
		found_same(m, epoch + !proof, epoch, known);
	else
		found_other(m, epoch + !(proof && known), epoch);
	/* Not a method: half-read names must never be taken for this one's. */
	m->chain = readable ? chain : (struct method_chain){0};
	m->names = names;
	if (!readable)
		m->proved = none;
}

/* Whether M is now what it was when it was looked at last; then that holds up to the present era. */
static bool extend(struct method_identities *all, struct method_identity *m, const struct zone *z, struct strings *s)
{
	uint64_t epoch = method_epoch_now(&z->epochs), unloaded = method_epoch_unloaded(&z->epochs);

	/* After the era: whatever led to it has been told by now. */
	listen(all, s);
	if (m->looked == epoch && method_epoch_is_current(&z->epochs, epoch))
		return true;
	if (!lasted(all, m, z, s, unloaded) || method_epoch_now(&z->epochs) != epoch)
		return false;
	m->proved.until = m->looked = epoch;
	return true;
}

static bool in(const struct method_epoch_range *range, uint64_t epoch)
{
	return epoch >= range->since && epoch <= range->until;
}

/* Whether samples of ERA are covered: those taken since the proof are, if it holds in a later era, too. */
static bool covers(const struct method_epoch_range *range, const struct zone *z, uint64_t epoch)
{
	return in(range, epoch) && (epoch < range->until || method_epoch_is_one(&z->epochs, epoch));
}

static bool proved(const struct method_identity *m, const struct zone *z, uint64_t epoch)
{
	return m->chain.constant && (covers(&m->proved, z, epoch) || covers(&m->before, z, epoch));
}

/* The entry of ADDRESS, made if need be. */
static struct method_identity *entry(struct method_identities *all, uintptr_t address)
{
	uint32_t *slot = map_put(&all->by_address, address, NULL);
	struct method_identity *m;

	if (!slot)
		return NULL;
	if (*slot)
		return &all->seen.items[*slot - 1];
	m = PAGED_PUSH(&all->seen);
	if (!m)
		return NULL;
	m->method = address;
	m->proved = m->before = none;
	*slot = (uint32_t)all->seen.count;
	return m;
}

void method_identities_keep(struct method_identities *all, const struct method_identity *known,
			    const struct method_names *names)
{
	struct method_identity *m = entry(all, known->method);

	if (!m)
		return;
	*m = *known;
	m->names = *names;
}

struct method_identity *method_identities_at(struct method_identities *all, const struct zone *z, struct strings *s,
					     uintptr_t address, uint64_t epoch)
{
	struct method_identity *m = entry(all, address);
	bool lasts;

	if (!m || proved(m, z, epoch))
		return m;
	lasts = extend(all, m, z, s);
	if (lasts && in(&m->proved, epoch)) {
		m->sure = true;
		return m;
	}
	if (!method_epoch_counts_known(&z->epochs))
		look(all, m, z, s, method_epoch_now(&z->epochs));
	else if (!lasts || method_epoch_is_current(&z->epochs, epoch))
		look(all, m, z, s, epoch);
	return proved(m, z, epoch) ? m : NULL;
}

bool method_identities_still(struct method_identities *all, const struct zone *z, struct strings *s,
			     struct method_identity *m, uint64_t epoch)
{
	if (method_epoch_is_current(&z->epochs, epoch) || extend(all, m, z, s))
		return true;
	if (method_epoch_counts_known(&z->epochs))
		return false;
	look(all, m, z, s, method_epoch_now(&z->epochs));
	return m->looked == method_epoch_now(&z->epochs);
}

#include "agent/hooks/copies.h"

#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "agent/hooks/dynamic.h"
#include "common/base/base.h"
#include "common/base/soname.h"
#include "common/os/os.h"

#define SYMBOL "jstrobe_copy"

__attribute__((visibility("default"))) struct copy jstrobe_copy = {
	.magic = COPIES_MAGIC,
	.size = sizeof(struct copy),
	.version = JSTROBE_VERSION,
};

static struct {
	struct copy *_Atomic first;
	struct copy *_Atomic earlier[COPIES_MAX + 1], *_Atomic later[COPIES_MAX + 1]; /* ended by NULL */
} seen;

struct look {
	struct copy *all[COPIES_MAX + 1]; /* in the loader's order */
	uint32_t count;
};

/* Whether IMAGE is a library of this name; *C: what it says of itself, or NULL. */
static bool is_copy(const struct dl_phdr_info *image, struct copy **c)
{
	struct dynamic d;

	if (!dynamic_read(image, &d) || !d.soname || strcmp(d.soname, OWN_SONAME) != 0)
		return false;
	*c = dynamic_symbol(image, &d, SYMBOL);
	return true;
}

static int look_at(struct dl_phdr_info *image, size_t size, void *arg)
{
	struct look *l = arg;
	struct copy *c;

	(void)size;
	if (!is_copy(image, &c))
		return 0;
	if (c && c != &jstrobe_copy && (c->magic != COPIES_MAGIC || c->size < COPIES_LEAST))
		return 0;
	if (c)
		l->all[l->count++] = c;
	return l->count == ARRAY_LEN(l->all);
}

/* Where we stand among them; their number if nowhere: linked into a program, as tests are, we come last. */
static uint32_t our_place(const struct look *l)
{
	uint32_t i;

	for (i = 0; i < l->count; i++)
		if (l->all[i] == &jstrobe_copy)
			break;
	return i;
}

void copies_look(void)
{
	struct look l = {.count = 0};
	uint32_t i, own;

	dl_iterate_phdr(look_at, &l);
	own = our_place(&l);
	/* the list only grows: an entry that is read meanwhile stays what it is */
	for (i = 0; i < own; i++)
		atomic_store(&seen.earlier[i], l.all[own - 1 - i]);
	for (i = own + 1; i < l.count; i++)
		atomic_store(&seen.later[i - own - 1], l.all[i]);
	atomic_store(&seen.first, own ? l.all[0] : &jstrobe_copy);
}

struct copy *copies_earlier(uint32_t i)
{
	return i < COPIES_MAX ? atomic_load_explicit(&seen.earlier[i], memory_order_acquire) : NULL;
}

struct copy *copies_other(uint32_t i)
{
	uint32_t before = 0;

	while (copies_earlier(before))
		before++;
	if (i < before)
		return copies_earlier(i);
	return i - before < COPIES_MAX ? atomic_load(&seen.later[i - before]) : NULL;
}

struct first {
	size_t least;  /* bytes that its object has */
	bool java;     /* with native methods */
	bool sampling; /* with a session */
	struct copy *found;
};

static int first(struct dl_phdr_info *image, size_t size, void *arg)
{
	struct first *f = arg;
	struct copy *c;

	(void)size;
	if (is_copy(image, &c) && c && c->magic == COPIES_MAGIC && c->size >= f->least &&
	    (!f->java || atomic_load(&c->natives[COPY_START])) && (!f->sampling || atomic_load(&c->sampling)))
		f->found = c;
	return f->found != NULL;
}

/* However many there are: a program that has loaded hundreds finds the same one as its first class loader did. */
static struct copy *find_first(struct first f)
{
	dl_iterate_phdr(first, &f);
	return f.found;
}

struct copy *copies_for_java(bool sampling)
{
	struct copy *c = find_first((struct first){.least = offsetof(struct copy, natives) +
						   sizeof(jstrobe_copy.natives), .java = true, .sampling = sampling});

	return c || sampling ? c : &jstrobe_copy;
}

struct copy *copies_for_marks(void)
{
	struct copy *c = find_first((struct first){.least = offsetof(struct copy, takers) +
						   sizeof(jstrobe_copy.takers)});

	return c ? c : &jstrobe_copy;
}

/* Take the lock from FROM: 0, or a holder that is gone. */
static bool take(struct copy *first, int32_t from)
{
	return atomic_compare_exchange_strong(&first->changing, &from, (int32_t)os_gettid());
}

void copies_show(const char *events)
{
	atomic_store(&jstrobe_copy.sampling, 0);
	if (!events)
		return;
	snprintf(jstrobe_copy.events, sizeof(jstrobe_copy.events), "%s", events);
	atomic_store(&jstrobe_copy.sampling, 1);
}

bool copies_samples(const struct copy *c, const char *event)
{
	size_t n = strlen(event);
	const char *at;

	if (!atomic_load(&c->sampling))
		return false;
	for (at = c->events; (at = strstr(at, event)) != NULL; at += n)
		if ((at == c->events || at[-1] == ',') && (at[n] == ',' || !at[n]))
			return true;
	return false;
}

static bool has_handler(const struct dl_phdr_info *image)
{
	static const int signals[] = {SIGSTKFLT, SIGPWR, SIGVTALRM, SIGUSR1, SIGPROF};
	struct sigaction action;
	size_t i;

	for (i = 0; i < ARRAY_LEN(signals); i++)
		if (sigaction(signals[i], NULL, &action) == 0 &&
		    dynamic_contains(image, (uintptr_t)action.sa_sigaction, 0))
			return true;
	return false;
}

struct find {
	struct copy_found *found;
	uint32_t count;
};

static int find(struct dl_phdr_info *image, size_t size, void *arg)
{
	struct find *f = arg;
	struct copy *c;

	(void)size;
	if (!is_copy(image, &c) || dynamic_contains(image, (uintptr_t)&jstrobe_copy, 0))
		return 0;
	if (c && (c->magic != COPIES_MAGIC || c->size < COPIES_LEAST))
		c = NULL;
	f->found[f->count++] = (struct copy_found){image->dlpi_name, c, c ? atomic_load(&c->sampling) != 0 :
						   has_handler(image)};
	return f->count == COPIES_MAX;
}

uint32_t copies_find(struct copy_found found[COPIES_MAX])
{
	struct find f = {.found = found};

	dl_iterate_phdr(find, &f);
	return f.count;
}

bool copies_lock(int limit_ms)
{
	struct copy *first;
	int32_t holder;

	copies_look();
	first = atomic_load(&seen.first);
	for (; !take(first, 0); limit_ms--) {
		holder = atomic_load(&first->changing);
		if (holder && !os_thread_exists(holder) && take(first, holder))
			return true;
		if (limit_ms <= 0)
			return false;
		os_sleep(NS_PER_MS);
	}
	return true;
}

void copies_unlock(void)
{
	atomic_store(&((struct copy *)atomic_load(&seen.first))->changing, 0);
}

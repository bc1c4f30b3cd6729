#include "common/hotspot/stubs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/vector.h"

struct noted {
	struct stub stub;
	uint32_t order; /* of arrival: later ones win */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static VECTOR(struct noted) pending;
static atomic_bool has_pending;

/* "Cont thaw return barrier" (21 to 23), "cont_returnBarrier" (25). */
static bool is_return_barrier(const char *name)
{
	return strstr(name, "cont_return") || strstr(name, "thaw return barrier");
}

/* "Cont thaw" (21 to 23), "cont_thaw" (25). */
static bool is_thaw(const char *name)
{
	return strcmp(name, "Cont thaw") == 0 || strcmp(name, "cont_thaw") == 0;
}

/* "vtable stub", "itable stub" (all JDKs). */
static bool is_dispatch(const char *name)
{
	return strncmp(name, "vtable stub", 11) == 0 || strncmp(name, "itable stub", 11) == 0;
}

/* _invokeBasic, _linkToStatic … ("invokehandle" and the like on 8) */
static bool is_intrinsic(const char *name)
{
	return strncmp(name, "_invoke", 7) == 0 || strncmp(name, "_linkTo", 7) == 0;
}

/* One of C2, those of C1, and the one of all (StubRoutines), under their names of 8 to 25. */
static bool is_exception(const char *name)
{
	return strstr(name, "xceptionBlob") || strstr(name, "unwind_exception") ||
	       strstr(name, "handle_exception") || strstr(name, "rethrow") || strstr(name, "forward exception") ||
	       strstr(name, "forward_exception");
}

/*
 * The exception blob takes the place of a call, C1's stubs share the end of one of them; the
 * deoptimisation handler pushes its own address first.
 */
static uint8_t stands_onto(const char *name)
{
	if (strstr(name, "xceptionBlob") || strstr(name, "forward_exception Runtime1") ||
	    strstr(name, "Runtime forward_exception"))
		return STUB_ONTO_FRAME;
	return strstr(name, "eoptimizationBlob") ? STUB_ONTO_PC : STUB_ONTO_NOTHING;
}

void stubs_note(const char *name, uintptr_t start, uintptr_t end)
{
	struct noted *n;
	char *copy = strdup(name);

	if (!copy || start >= end) {
		free(copy);
		return;
	}
	pthread_mutex_lock(&lock);
	n = VECTOR_PUSH(&pending);
	if (n) {
		n->stub = (struct stub){
			.start = start,
			.end = end,
			.name = copy,
			.adapter = strncmp(name, "I2C/C2I", 7) == 0,
			.intrinsic = is_intrinsic(name),
			.dispatch = is_dispatch(name),
			.polled = strcmp(name, "SafepointBlob") == 0,
			.exception = is_exception(name),
			.onto = stands_onto(name),
			.frozen = is_return_barrier(name),
			.thaws = is_thaw(name),
		};
		n->order = (uint32_t)pending.count;
		atomic_store(&has_pending, true);
	} else {
		free(copy);
	}
	pthread_mutex_unlock(&lock);
}

bool stubs_pending(void)
{
	return atomic_load(&has_pending);
}

/* By start; of those that begin together the newest first. */
static int compare(const void *a, const void *b)
{
	const struct noted *x = a, *y = b;

	if (x->stub.start != y->stub.start)
		return x->stub.start < y->stub.start ? -1 : 1;
	return x->order > y->order ? -1 : 1;
}

static bool append(struct stub_set *set, const struct stub *s)
{
	struct stub *last = set->count ? &set->stubs[set->count - 1] : NULL;
	char *name;

	if (last && last->start == s->start)
		return true; /* an older one at the same place */
	name = strdup(s->name);
	if (!name)
		return false;
	/* A range inside a wider one (a stub inside its blob) is the better name: cut the wider. */
	if (last && last->end > s->start)
		last->end = s->start;
	if (s->frozen && !strstr(s->name, "Exc")) /* not its other half, for exceptions */
		set->barrier = s->start;
	set->stubs[set->count] = *s;
	set->stubs[set->count++].name = name;
	return true;
}

struct stub_set *stubs_merge(const struct stub_set *old)
{
	uint32_t i, count = old ? old->count : 0;
	struct stub_set *set = NULL;
	struct noted *all;
	size_t n;

	pthread_mutex_lock(&lock);
	n = count + pending.count;
	all = calloc(n + 1, sizeof(*all));
	set = calloc(1, sizeof(*set) + n * sizeof(set->stubs[0]));
	if (!all || !set)
		goto failed;
	for (i = 0; i < count; i++)
		all[i].stub = old->stubs[i];
	if (pending.count)
		memcpy(all + count, pending.items, pending.count * sizeof(*all));
	qsort(all, n, sizeof(*all), compare);
	for (i = 0; i < n; i++)
		if (!append(set, &all[i].stub))
			goto failed;
	for (i = 0; i < pending.count; i++)
		free((char *)pending.items[i].stub.name);
	pending.count = 0;
	atomic_store(&has_pending, false);
	free(all);
	pthread_mutex_unlock(&lock);
	return set;
failed:
	pthread_mutex_unlock(&lock);
	free(all);
	stub_set_free(set);
	return NULL;
}

void stub_set_free(struct stub_set *set)
{
	uint32_t i;

	if (!set)
		return;
	for (i = 0; i < set->count; i++)
		free((char *)set->stubs[i].name);
	free(set);
}

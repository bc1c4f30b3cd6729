#include "agent/hooks/hooked_calls.h"

#include <dlfcn.h>
#include <pthread.h>

#include "agent/hooks/copies.h"
#include "agent/hooks/got.h"

#define LIMIT_MS 5000 /* a copy changes slots for some milliseconds */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* By name, and never through a slot of ours: other copies of this library and other profilers take those. */
static void resolve(const struct hooked_calls *h)
{
	size_t i;

	for (i = 0; i < h->count; i++)
		if (!*h->calls[i].theirs)
			*h->calls[i].theirs = dlsym(RTLD_DEFAULT, h->calls[i].name);
}

/* In or out of all images. The lock of copies is held. */
static bool exchange(const struct hooked_calls *h, bool in)
{
	struct got_function list[HOOKED_CALLS_MAX];
	void *olds[HOOKED_CALLS_MAX];
	size_t i, n = 0;

	for (i = 0; i < h->count; i++) {
		void *theirs = *h->calls[i].theirs, *ours = h->calls[i].ours;

		if (!theirs || !ours)
			continue;
		olds[n] = in ? theirs : ours;
		list[n] = (struct got_function){h->calls[i].name, &olds[n], 1, in ? ours : theirs};
		n++;
	}
	return got_patch_functions(list, n, in && (!h->lazy || h->lazy()));
}

/* Lock held. False: another copy is at it. */
static bool patch(struct hooked_calls *h, int limit_ms)
{
	uint64_t now = got_image_changes();

	if (h->installed && !h->unfinished && now == h->changes)
		return true;
	if (!copies_lock(limit_ms))
		return false;
	h->unfinished = !exchange(h, true);
	h->changes = now;
	h->installed = true;
	copies_unlock();
	return true;
}

void hooked_calls_refresh(struct hooked_calls *h)
{
	pthread_mutex_lock(&lock);
	if (h->installed)
		patch(h, 0);
	pthread_mutex_unlock(&lock);
}

bool hooked_calls_install(struct hooked_calls *h)
{
	bool done;

	pthread_mutex_lock(&lock);
	resolve(h);
	done = patch(h, LIMIT_MS);
	pthread_mutex_unlock(&lock);
	return done;
}

void hooked_calls_remove(struct hooked_calls *h)
{
	pthread_mutex_lock(&lock);
	if (h->installed && copies_lock(LIMIT_MS)) {
		exchange(h, false);
		h->installed = false;
		copies_unlock();
	}
	pthread_mutex_unlock(&lock);
}

/*
 * upkeep.c - what handlers read is kept in shape by the collector: memory ahead in the
 * stack store, images after dlopen, a fresh decode cache, the layout of a JVM that is starting.
 *
 * What is replaced goes to the list of agent/threads/deferred.h.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/collect/collector_state.h"
#include "agent/collect/drain.h"
#include "agent/collect/generation.h"
#include "agent/collect/names/late_names.h"
#include "agent/collect/sink.h"
#include "agent/hooks/faults.h"
#include "agent/hooks/process_calls.h"
#include "agent/threads/closers.h"
#include "agent/threads/deferred.h"
#include "agent/threads/records.h"
#include "agent/threads/thread_hook.h"
#include "agent/walk/decode.h"
#include "agent/zone/zone.h"
#include "common/base/error.h"
#include "common/base/own_memory.h"
#include "common/elf/elf.h"
#include "common/hotspot/class_counts.h"
#include "common/os/os.h"

#define STORE_BYTES (512ull << 20)
#define CACHE_ARENA (1u << 20)
#define LOOK_EVERY NS_PER_S
#define SCAN_EVERY (5 * NS_PER_S)
#define SCAN_SHARE 250 /* where it takes long, with ten thousand threads, this many times as long lies between two */

static struct decode_cache *new_cache(void)
{
	size_t bytes = sizeof(struct decode_cache) + CACHE_ARENA;
	struct decode_cache *c = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (c == MAP_FAILED)
		return NULL;
	own_memory_add(c, bytes);
	c->size = CACHE_ARENA;
	return c;
}

static void free_cache(struct decode_cache *c)
{
	if (!c)
		return;
	own_memory_remove(c);
	munmap(c, sizeof(*c) + c->size);
}

static const struct image *libjvm(void)
{
	const struct image_set *set = atomic_load(&zone.images);
	uint32_t i;

	for (i = 0; set && i < set->count; i++)
		if (strcmp(set->images[i]->name, "libjvm.so") == 0)
			return set->images[i];
	return NULL;
}

/* Where the JVM counts classes and safepoints, once it is so far that it has a code cache, and with it these counts. */
static void find_class_counts(void)
{
	static bool looked;
	struct class_counts found;
	int i;

	if (looked || !(atomic_load(&zone.agct) || (zone.has_jvm && atomic_load(&zone.layout.code_ready))))
		return;
	looked = true;
	if (!class_counts_find(&zone.layout, libjvm(), &found))
		return;
	for (i = EPOCH_SAFEPOINTS - 1; i >= 0; i--)
		atomic_store(&zone.epochs.safepoints[i], found.safepoints[i]);
	for (i = EPOCH_COUNTS - 1; i >= 0; i--) {
		atomic_store(&zone.epochs.loaded[i], found.loaded[i]);
		atomic_store(&zone.epochs.unloaded[i], found.unloaded[i]);
	}
}

/* The JVM makes Continuation.enterSpecial with the first virtual thread. */
static void find_enter_special(struct layout *l)
{
	uintptr_t code = 0;

	if (!atomic_load(&l->code_ready) || atomic_load(&l->enter_special))
		return;
	if (l->cont_return_pc)
		code = code_blob_at(l, *(const uintptr_t *)l->cont_return_pc);
	else if (atomic_load(&l->frozen.ready) && l->frozen.at.enter_special && l->method_code >= 0)
		load_word(l->frozen.at.enter_special + (uintptr_t)l->method_code, &code);
	if (code)
		atomic_store(&l->enter_special, code);
}

int upkeep_open(size_t store_bytes, struct error *err)
{
	struct image_set *images;
	struct decode_cache *cache;
	struct stub_set *stubs;
	int rc;

	rc = stack_store_open(&zone.store, store_bytes ? store_bytes : STORE_BYTES, err);
	if (rc)
		return rc;
	images = image_set_read(atomic_load(&zone.images), err);
	cache = images ? new_cache() : NULL;
	if (!cache) {
		if (images)
			error_set(err, ENOMEM, "out of memory for the decode cache");
		image_set_free(images, atomic_load(&zone.images));
		stack_store_close(&zone.store);
		return -ENOMEM;
	}
	if (atomic_load(&zone.images))
		image_set_free((struct image_set *)atomic_load(&zone.images), images);
	atomic_store(&zone.images, images);
	atomic_store(&zone.cache, cache);
	find_class_counts();
	if (zone.has_jvm)
		find_enter_special(&zone.layout);
	/* No handler runs yet: what is replaced can be freed at once. */
	stubs = stubs_pending() ? stubs_merge(atomic_load(&zone.stubs)) : NULL;
	if (stubs)
		stub_set_free((struct stub_set *)atomic_exchange(&zone.stubs, stubs));
	return 0;
}

static bool give_up_cache(void *cache, void *unused)
{
	(void)unused;
	free_cache(cache);
	return true;
}

static bool give_up_stubs(void *stubs, void *unused)
{
	(void)unused;
	stub_set_free(stubs);
	return true;
}

static bool give_up_images(void *images, void *collector)
{
	struct collector *c = collector;

	/* Names are being looked up in it. */
	if (pthread_mutex_trylock(&c->images))
		return false;
	image_set_free(images, atomic_load(&zone.images));
	pthread_mutex_unlock(&c->images);
	c->images_retired = false;
	return true;
}

static bool give_up_index(void *store, void *unused)
{
	(void)unused;
	stack_store_reclaim(store);
	return true;
}

static bool give_up_generation(void *store, void *collector)
{
	/* What handlers of that time have left in their queues is the last that is of the former generation. */
	drain_all(collector);
	stack_store_forget(store);
	return true;
}

static bool move_kept(void *store, void *collector)
{
	generation_move_kept(collector);
	return deferred_free(give_up_generation, store, collector);
}

static void refresh_images(struct collector *c)
{
	struct image_set *old = (struct image_set *)atomic_load(&zone.images);
	struct image_set *fresh;
	struct error err;

	/* A thread looks up names (see collector_view): the next tick will do. */
	if (c->images_retired || !image_set_is_stale(old) || pthread_mutex_trylock(&c->images))
		return;
	fresh = image_set_read(old, &err);
	if (fresh) {
		/* What has no name yet may lie in an image that is gone: the old set still knows it. */
		if (fresh->subs != old->subs)
			frames_name_late(&c->frames, &zone);
		atomic_store(&zone.images, fresh);
		c->frames.images_read = c->frames.drain;
	}
	pthread_mutex_unlock(&c->images);
	if (!fresh)
		return;
	c->images_retired = deferred_free(give_up_images, old, c); /* no memory to note it: it stays */
	thread_hook_refresh();
	process_calls_refresh();
	if (c->sources->images_changed)
		c->sources->images_changed();
}

bool upkeep_counts_missing(void)
{
	return !method_epoch_counts_known(&zone.epochs) && (!zone.has_jvm || atomic_load(&zone.layout.code_ready));
}

void upkeep_opened(struct collector *c)
{
	find_class_counts();
	if (image_set_has_grown(atomic_load(&zone.images)))
		refresh_images(c);
}

/* What the JVM generated since the last look. */
static void refresh_stubs(void)
{
	const struct stub_set *old = atomic_load(&zone.stubs);
	struct stub_set *fresh = stubs_pending() ? stubs_merge(old) : NULL;

	if (fresh) {
		atomic_store(&zone.stubs, fresh);
		deferred_free(give_up_stubs, (void *)old, NULL);
	}
}

static void refresh_cache(void)
{
	struct decode_cache *cache = atomic_load(&zone.cache), *fresh;

	if (atomic_load(&cache->used) <= cache->size / 8 * 7)
		return;
	fresh = new_cache();
	if (!fresh)
		return;
	atomic_store(&zone.cache, fresh);
	deferred_free(give_up_cache, cache, NULL);
}

/* One index and one generation at a time. */
static void refresh_store(struct collector *c)
{
	struct stack_store *s = &zone.store;
	bool had_index = s->retired;

	if (c->renew_stacks && generation_renew_stacks(c)) {
		c->renew_stacks = false;
		deferred_free(move_kept, s, c);
	}
	stack_store_prepare(s);
	if (s->retired && !had_index)
		deferred_free(give_up_index, s, NULL);
}

/* Where no sink begins a new aggregate at a time of its own. */
static void renew_aggregate(struct collector *c)
{
	struct sink *s = c->sinks;

	while (s && !s->renews)
		s = s->next;
	if (!s && (generation_is_full(c) || generation_is_due(c)) && !namer_works(c))
		generation_begin(c);
}

/*
 * Threads tell when they begin and end, but not all do. Where as many are known as there are, nothing was missed but
 * as many ends as beginnings: that is looked for less often, as each look costs a microsecond a thread.
 */
static void look_for_threads(struct collector *c, uint64_t now)
{
	if (now - c->last_look < LOOK_EVERY)
		return;
	c->last_look = now;
	closers_keep();
	records_shrink(now);
	if (now - c->last_scan >= MAX(records_are_all() ? SCAN_EVERY : LOOK_EVERY, c->scan_took * SCAN_SHARE)) {
		c->last_scan = now;
		records_scan();
		c->scan_took = os_monotonic() - now;
	} else {
		records_arm_again(); /* a scan does that, too */
	}
	thread_hook_retry();
	process_calls_refresh();
	if (c->sources->images_changed)
		c->sources->images_changed(); /* one was still being loaded */
}

void upkeep(struct collector *c)
{
	uint64_t now = os_monotonic();

	if (zone.has_jvm) {
		layout_refresh(&zone.layout);
		find_enter_special(&zone.layout);
	}
	faults_keep();
	find_class_counts();
	deferred_drain();
	stack_store_populate(&zone.store);
	renew_aggregate(c);
	refresh_store(c);
	refresh_images(c);
	refresh_stubs();
	refresh_cache();
	look_for_threads(c, now);
}

void upkeep_close(struct collector *c)
{
	(void)c;
	deferred_end();
	free_cache(atomic_exchange(&zone.cache, NULL));
	image_symbols_release(atomic_load(&zone.images));
}

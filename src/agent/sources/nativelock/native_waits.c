#include "agent/sources/nativelock/native_waits.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/sample/handler.h"
#include "agent/sources/class_names.h"
#include "common/os/os.h"

#define TRIES 4 /* with 1, 2, 4 and 8 pauses before: below 1 µs, and so is a walk */

/* Where struct __pthread_mutex_s and struct __pthread_rwlock_arch_t of glibc have them, in words of 4 bytes. */
#define OWNER 2
#define KIND (sizeof(long) == 8 ? 4 : 3)
#define WRITER (sizeof(long) == 8 ? 6 : 7)
#define INHERITS 32 /* PTHREAD_MUTEX_PRIO_INHERIT_NP */

static uint32_t names[LOCK_KINDS]; /* class_number */
static uint32_t tries;
static bool glibc, rwlocks;

void native_waits_open(void)
{
	typedef const char *version_fn(void);
	static const char *const types[LOCK_KINDS] = {
		[LOCK_MUTEX] = "pthread_mutex_t",
		[LOCK_READER] = "pthread_rwlock_t", [LOCK_WRITER] = "pthread_rwlock_t",
		[LOCK_SPIN] = "pthread_spinlock_t", [LOCK_CONDITION] = "pthread_cond_t", [LOCK_SEMAPHORE] = "sem_t",
	};
	version_fn *version = (version_fn *)dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
	int major, minor, i;

	for (i = 0; i < LOCK_KINDS; i++)
		names[i] = types[i] ? class_number(types[i]) : 0;
	/* on one CPU none lets go while another tries */
	tries = os_cpus_online() > 1 ? TRIES : 0;
	glibc = version != NULL;
	/* glibc's bug 23844 */
	rwlocks = !glibc || (sscanf(version(), "%d.%d", &major, &minor) == 2 && (major > 2 || minor >= 30));
}

bool native_rwlocks_can_be_tried(void)
{
	return rwlocks;
}

static int word(const void *lock, size_t i)
{
	return glibc ? __atomic_load_n((const int *)lock + i, __ATOMIC_RELAXED) : 0;
}

int native_mutex_owner(const void *mutex)
{
	return word(mutex, OWNER);
}

int native_rwlock_owner(const void *lock)
{
	return word(lock, WRITER);
}

bool native_mutex_inherits(const void *mutex)
{
	return word(mutex, KIND) & INHERITS;
}

bool native_wait_on(struct native_wait *w)
{
	if (waits_event(WAITS_OF_NATIVE) < 0 || zone_in_child())
		return false;
	w->since = os_monotonic();
	w->began = 0;
	w->tries = 0;
	return true;
}

bool native_wait_again(struct native_wait *w)
{
	uint32_t i;

	if (w->tries >= tries)
		return false;
	for (i = 0; i < 1u << w->tries; i++)
		CPU_PAUSE();
	w->tries++;
	return true;
}

static struct wait_begin describe(const struct native_wait *w)
{
	return (struct wait_begin){
		.kind = w->kind, .class = names[w->kind], .owner_tid = w->owner > 0 ? (uint32_t)w->owner : 0,
		.from = &w->from, .address = (uintptr_t)w->lock, .also = (uintptr_t)w->also,
	};
}

/* The running thread, which is at its begin or end, may not be known yet. */
static void learn(void)
{
	if (!record_find(&zone.records, context_tcb()))
		handler_learn();
}

void native_wait_brief(struct native_wait *w)
{
	struct wait_begin b = describe(w);
	int saved = errno;

	learn();
	waits_brief(&b, w->since);
	errno = saved;
}

void native_wait_begin(struct native_wait *w)
{
	struct wait_begin b = describe(w);
	int saved = errno;

	learn();
	w->began = waits_begin(&b, w->since);
	w->thread = b.thread;
	errno = saved;
}

/* The wait is over of a thread that has no record, or had none. */
static void lose(const struct native_wait *w)
{
	const struct thread_record *r = record_find(&zone.records, context_tcb());
	uint64_t weight = os_monotonic() - w->since;
	int e = waits_event(WAITS_OF_NATIVE);

	if (e < 0 || !atomic_load(&zone.enabled) || weight < zone.events[e].interval ||
	    (r && atomic_load(&r->sources[e].arm) == ARM_NONE))
		return;
	zone_lose((uint32_t)e, LOSS_no_record, weight);
}

void native_wait_end(struct native_wait *w, bool slept)
{
	int saved = errno;

	if (zone_in_child())
		return;
	if (w->began && slept)
		waits_end(w->thread, w->kind, w->began);
	else if (w->began)
		waits_cancel(w->thread, w->kind);
	else if (slept)
		lose(w);
	errno = saved;
}

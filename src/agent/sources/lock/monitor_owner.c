/*
 * monitor_owner.c - who holds a monitor, read from the JVM's own memory by loads that may fault.
 *
 *   JDK 24+    ObjectMonitor::_owner is the Thread.getId of the owner
 *   ..23       it is the owner's JavaThread*, or, if the owner had locked the object before any thread had to wait,
 *              the place on the owner's stack where that is noted (LM_LEGACY)
 *   21+        or 1: the owner is the thread that has the object on its lock stack (LM_LIGHTWEIGHT; default from 23 on)
 *
 * No safepoint, no handshake, no JVMTI: GetObjectMonitorUsage stops the program. What cannot be proved is left open.
 */
#include "agent/sources/lock/lock_holder.h"

#include "agent/zone/load.h"
#include "common/os/os.h"

#define ANONYMOUS 1           /* ObjectMonitor::ANONYMOUS_OWNER */
#define FIRST_THREAD 3        /* 24+: smaller numbers are no threads' */
#define BIG_STACK (1ull << 30)
#define WINDOW (50 * NS_PER_MS)
#define LOOKS 10000           /* threads that may be looked at in a window: some 2 % of a core */

/* Who is looked for among all threads; each look is a miss of the cache or two, so they are counted. */
static bool may_look(uint32_t threads)
{
	static _Atomic uint64_t window;
	static _Atomic uint32_t looks;
	uint64_t now = os_monotonic() / WINDOW, last = atomic_load_explicit(&window, memory_order_relaxed);

	if (now != last && atomic_compare_exchange_strong(&window, &last, now))
		atomic_store_explicit(&looks, 0, memory_order_relaxed);
	return atomic_fetch_add_explicit(&looks, threads, memory_order_relaxed) + threads <= LOOKS;
}

uint32_t waits_tid_of(uintptr_t java_thread)
{
	const struct layout *l = &zone.layout;
	struct thread_record *r;
	uintptr_t os_thread;
	uint32_t tid;

	if (!java_thread || !load_word(java_thread + (uintptr_t)l->thread_osthread, &os_thread) || !os_thread ||
	    !load_u32(os_thread + (uintptr_t)l->osthread_tid, &tid))
		return 0;
	/* It may have ended since: then what was read is no proof. */
	r = record_find_tid(&zone.records, (pid_t)tid);
	return r && atomic_load(&r->java_thread) == java_thread ? tid : 0;
}

/* Whether the stack of R's thread has ADDRESS in it. */
static bool has_on_stack(const struct thread_record *r, uintptr_t java, uintptr_t address)
{
	uintptr_t size;

	return address < r->stack_high && r->stack_high - address < BIG_STACK && zone.layout.thread_stack_size >= 0 &&
	       load_word(java + (uintptr_t)zone.layout.thread_stack_size, &size) && r->stack_high - address < size;
}

/* Whether the lock stack of JAVA, a JavaThread*, has OBJECT on it. */
static bool has_locked(uintptr_t java, uintptr_t object)
{
	const struct layout *l = &zone.layout;
	uintptr_t stack = (uintptr_t)l->thread_lock_stack, at = stack + (uintptr_t)l->lock_stack_base, entry;
	uint32_t top;

	if (!load_u32(java + stack + (uintptr_t)l->lock_stack_top, &top) || top > at + 64 * sizeof(entry))
		return false;
	for (; at < top; at += sizeof(entry))
		if (load_word(java + at, &entry) && entry == object)
			return true;
	return false;
}

/* The JavaThread* that has OBJECT on its lock stack, or ADDRESS on its own; 0 = none was found. */
static uintptr_t find(uintptr_t object, uintptr_t address)
{
	uint32_t i, count = atomic_load(&zone.records.count);

	if (!may_look(count))
		return 0;
	for (i = 0; i < count; i++) {
		const struct thread_record *r = &zone.records.records[i];
		uintptr_t java = atomic_load_explicit(&((struct thread_record *)r)->java_thread, memory_order_relaxed);

		if (java && (object ? has_locked(java, object) : has_on_stack(r, java, address)))
			return java;
	}
	return 0;
}

/*
 * The thread that has the object of HANDLE on its lock stack. A collection may move it meanwhile: then it is not
 * found.
 */
static uintptr_t find_locker(const void *handle)
{
	uintptr_t slot = (uintptr_t)handle & ~(uintptr_t)7, object, again, java;

	if (zone.layout.thread_lock_stack < 0 || zone.layout.lock_stack_top < 0 || zone.layout.lock_stack_base < 0 ||
	    !load_word(slot, &object) || !object)
		return 0;
	java = find(object, 0);
	return java && load_word(slot, &again) && again == object ? java : 0;
}

/* JAVA, a JavaThread*, is the owner. */
static void put_thread(uintptr_t java, struct wait_begin *b)
{
	uint64_t id;

	if (!java)
		return;
	if (zone.layout.thread_owner_id >= 0) {
		if (load_u64(java + (uintptr_t)zone.layout.thread_owner_id, &id))
			b->owner_id = id;
	} else {
		b->owner_tid = waits_tid_of(java);
	}
}

void waits_monitor_owner(const struct thread_record *r, const void *handle, struct wait_begin *b)
{
	const struct layout *l = &zone.layout;
	uintptr_t self = atomic_load(&((struct thread_record *)r)->java_thread), monitor, owner;

	if (!self || l->thread_pending_monitor < 0 || l->monitor_owner < 0 ||
	    !load_word(self + (uintptr_t)l->thread_pending_monitor, &monitor) || !monitor ||
	    !load_word(monitor + (uintptr_t)l->monitor_owner, &owner) || !owner)
		return;
	if (owner == ANONYMOUS)
		put_thread(find_locker(handle), b);
	else if (l->thread_owner_id >= 0)
		b->owner_id = owner >= FIRST_THREAD ? owner : 0;
	else if (waits_tid_of(owner))
		put_thread(owner, b);
	else
		put_thread(find(0, owner), b);
}

/* Whose thread runs the Java thread ID now (JDK 24+). */
static struct thread_record *find_runner(uint64_t id)
{
	uint32_t i, count = atomic_load(&zone.records.count);
	uint64_t its;

	if (zone.layout.thread_owner_id < 0 || !may_look(count))
		return NULL;
	for (i = 0; i < count; i++) {
		struct thread_record *r = &zone.records.records[i];
		uintptr_t java = atomic_load_explicit(&r->java_thread, memory_order_relaxed);

		if (java && load_u64(java + (uintptr_t)zone.layout.thread_owner_id, &its) && its == id)
			return r;
	}
	return NULL;
}

struct thread_record *waits_owner_record(const struct wait_begin *b)
{
	if (b->owner_tid)
		return record_find_tid(&zone.records, (pid_t)b->owner_tid);
	return b->owner_id ? find_runner(b->owner_id) : NULL;
}

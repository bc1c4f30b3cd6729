/*
 * wall_hint.c - where to look for a move of a thread that sleeps for long.
 *
 * Its marker lies in the last page of its stack: for ten thousand threads that is a miss in all caches and in
 * the TLB for each of them, each tick. What the JVM notes of a thread lies closer together:
 *
 *   the condition variable it waits on    parked, waiting, sleeping, in a monitor of the JVM: pthread_cond_wait
 *                                         counts who begins to wait (__wseq) and who does (__wrefs): while both
 *                                         are the same it is in the same call
 *   its last Java frame                   else: input and output
 *
 * These are hints: they say when to look, and the marker, looked at in rotation, decides. What is no condition
 * variable but looks like one costs time, or a few ticks that count as unseen.
 *
 * A thread that cannot be marked and is blocked in the JVM waits on such a variable, too (parked, waiting, asleep, at a
 * monitor: os_posix.cpp). There it takes the place of its stack's words, which are compared now and then only.
 */
#include <stdio.h>
#include <unistd.h>

#include "agent/sources/wall/marker.h"
#include "agent/sources/wall/wall.h"
#include "common/os/os.h"

/*
 * struct __pthread_cond_s (glibc, sysdeps/nptl/bits/thread-shared-types.h), where waiters sleep on __g_signals:
 *   2.25:  0 __wseq  8 __g1_start  16 __g_refs  24 __g_size  32 __g1_orig_size, __wrefs  40 __g_signals
 *   2.41:  0 __wseq  8 __g1_start  16 __g_size  24 __g1_orig_size, __wrefs  32 __g_signals
 */
#define SIGNALS_BEFORE_2_41 40
#define SIGNALS_SINCE_2_41 32
#define REFS_BEFORE_SIGNALS 8
#define WREFS 4         /* __wrefs in them: a bit for each of three other things, then who waits */
#define WREFS_SHIFT 3

static uintptr_t signals; /* 0 = another C library, or an older one */

void wall_hint_open(void)
{
	char version[64] = "";
	unsigned major = 0, minor = 0;

	confstr(_CS_GNU_LIBC_VERSION, version, sizeof(version));
	sscanf(version, "glibc %u.%u", &major, &minor);
	signals = major * 1000 + minor < 2025 ? 0 : minor >= 41 ? SIGNALS_SINCE_2_41 : SIGNALS_BEFORE_2_41;
	wall.refs = signals - REFS_BEFORE_SIGNALS;
}

uintptr_t wall_condition(pid_t tid)
{
	uintptr_t word = signals ? os_thread_futex(tid) : 0;

	return word ? (word & ~(uintptr_t)7) - signals : 0;
}

static uintptr_t anchor_of(uint32_t i)
{
	uintptr_t java = atomic_load(&zone.records.records[i].java_thread);

	return java && zone.has_jvm ? java + (uintptr_t)zone.layout.thread_anchor : 0;
}

static bool has_waiters(uintptr_t condition)
{
	uint32_t refs;

	return load_u32(condition + wall.refs + WREFS, &refs) && refs >> WREFS_SHIFT;
}

/* While its stack is compared it may have woken; if it waits anew then EXPECTED says so at the next tick. */
static uintptr_t still_hint(uint32_t i, uintptr_t place, uint64_t expected)
{
	if (!expected || !has_waiters(place) || !wall_is_unmoved(i))
		return 0;
	wall.expected[i] = expected;
	return place | WATCH_SLEEP;
}

uintptr_t wall_hint(uint32_t i)
{
	uintptr_t place = wall_condition(atomic_load(&zone.records.records[i].tid)), kind = WATCH_WAIT;
	uint64_t expected = place ? wall_wait(place) : 0;

	if (wall.threads[i].mode == WALL_UNMOVED)
		return still_hint(i, place, expected);
	if (!expected) {
		place = anchor_of(i);
		kind = WATCH_PLACE;
		expected = place && !(place & WATCH_KIND) ? wall_frame(place) : 0;
	}
	/* Read while it slept? */
	if (!expected || !marker_is_set(wall.fields[i]))
		return 0;
	wall.expected[i] = expected;
	return place | kind;
}

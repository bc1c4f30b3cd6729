/*
 * wall_hint.c - a quick check for a thread that sleeps for long.
 *
 * Its marker lies in the last page of its stack, the words are many: for ten thousand threads that is a miss in all
 * caches and in the TLB for each of them, each tick. What the JVM notes of a thread lies closer together:
 *
 *   the condition variable it waits on    parked, waiting, sleeping, at a monitor (os_posix.cpp): pthread_cond_wait
 *                                         counts who begins to wait (__wseq) and who does (__wrefs): while both
 *                                         are the same it is in the same call
 *   its last Java frame                   else: input and output; C libraries that are not known here
 *
 * These say when to look; the proof, asked in rotation, decides. What is no condition variable but looks like one costs
 * time, or ticks that count as not observed.
 */
#include <stdio.h>
#include <unistd.h>

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

void wall_hint_open(bool conditions)
{
	char version[64] = "";
	unsigned major = 0, minor = 0;

	confstr(_CS_GNU_LIBC_VERSION, version, sizeof(version));
	sscanf(version, "glibc %u.%u", &major, &minor);
	signals = minor >= 41 ? SIGNALS_SINCE_2_41 : SIGNALS_BEFORE_2_41;
	if (!conditions || major * 1000 + minor < 2025)
		signals = 0;
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

uintptr_t wall_hint(uint32_t i)
{
	uintptr_t place = wall_condition(atomic_load(&zone.records.records[i].tid));
	uint64_t expected = place && has_waiters(place) ? wall_wait(place) : 0;

	/* Read while it slept? If it wakes only now and waits anew, EXPECTED says so at the next tick. */
	if (expected && wall_is_unmoved(i)) {
		wall.expected[i] = expected;
		return place | WATCH_WAIT;
	}
	place = anchor_of(i);
	expected = place && !(place & WATCH_KIND) ? wall_frame(place) : 0;
	/* The words of a deep stack are not known: its frame is, of when it was read. */
	if (!expected || !(wall.fields[i] ? wall_is_unmoved(i) : expected == wall.slots[i].frame))
		return 0;
	wall.expected[i] = expected;
	return place | WATCH_FRAME;
}

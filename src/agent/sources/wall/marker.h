/*
 * marker.h - "has this thread run since?", answered by one load. Inner header of the sources room.
 *
 * The C library (glibc 2.35+) registers a `struct rseq` for every thread, at a fixed distance from its thread
 * pointer. Its field rseq_cs names a critical section that the thread is in; the kernel looks at it whenever
 * the thread returns to user mode after it was off the CPU, and clears it if the thread is outside of the
 * section (kernel/rseq.c, rseq_ip_fixup). Written into the field of a thread that waits, the address of a
 * section that no thread ever runs stays there for exactly as long as the thread has not run.
 *
 * Linux 6.19 looks only where the thread changed its CPU (or the number that stands for it, mm_cid), or was interrupted
 * in user mode: one that sleeps in a system call and wakes on the same CPU may keep its marker
 * (rseq_sched_switch_event in include/linux/rseq_entry.h). There threads are not marked: the trial finds it out.
 *
 *   struct rseq:  +0 cpu_id_start  +4 cpu_id (< 0: not registered)  +8 rseq_cs
 *
 * A value of another library (librseq, tcmalloc) is never overwritten. The section stays mapped for ever.
 */
#ifndef JSTROBE_SOURCES_WALL_MARKER_H
#define JSTROBE_SOURCES_WALL_MARKER_H

#include "agent/zone/load.h"

extern const struct marker_section marker_section; /* its address is the marker */

/* Kernels that tests make believe in: one that clears the field, never does, or only where a thread changed its CPU. */
enum marker_kernel { MARKER_SOUND, MARKER_KEPT, MARKER_KEPT_ON_CPU };
/*
 * Whether this process has the means, tried out on a thread of our own that sleeps and wakes: its marker must
 * stay and then be gone, also where the thread wakes on the CPU on which it fell asleep. Normal code, some
 * milliseconds; asked at the start of each session.
 */
bool marker_works(enum marker_kernel kernel);
/* The field of the thread with thread pointer TCB; 0 = it is not registered. Its memory must not go away meanwhile. */
uintptr_t marker_of(uintptr_t tcb);
/* Whether FIELD holds our marker. Fault-safe: the thread may be gone. */
static inline bool marker_is_set(uintptr_t field)
{
	uintptr_t value;

	return load_word(field, &value) && value == (uintptr_t)&marker_section;
}
/* Mark; true when our marker stands there afterwards. The thread's memory must not go away meanwhile. */
bool marker_set(uintptr_t field);
/* Take our marker away if it is there. As above. */
void marker_clear(uintptr_t field);

#endif

/*
 * object_draws.h - by which interval the JVM drew a thread's distance to its next sampled object, and what a sample
 * stands for by that. Inner header of the sources room.
 *
 * A thread draws when it begins and at each of its samples, nowhere else: what it drew in one session is pending in the
 * next one, whatever the interval then. And from JDK 25 on the distance is used up while no one samples: a thread that
 * was there before may have passed the drawn point long ago, and then the first object that does not fit into its TLAB
 * is a sample, whatever the interval. JDK 11 begins each thread so.
 */
#ifndef JSTROBE_SOURCES_OBJECT_DRAWS_H
#define JSTROBE_SOURCES_OBJECT_DRAWS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/zone/zone.h"

#define OBJECT_DRAWS_INTERVAL (512u << 10) /* of a JVM in which no agent has set another one (ThreadHeapSampler) */

/*
 * All bytes that R's Java thread has allocated: ThreadMXBean's number (Thread::cooked_allocated_bytes); 0: not known.
 * Of a thread that takes a new TLAB just now, those of the old one may be in it twice.
 */
uint64_t object_draws_allocated(const struct thread_record *r);
/* R, armed for E, was there before the JVM samples by INTERVAL, which it does from now on. Records' lock. */
void object_draws_pending(struct thread_record *r, uint32_t e, uint64_t interval);
/* R draws now, by INTERVAL. */
void object_draws_anew(struct thread_record *r, uint32_t e, uint64_t interval);
/* Bytes that an object of SIZE on R, this thread, entered, stands for; the JVM has drawn anew, by INTERVAL. */
uint64_t object_draws_weight(struct thread_record *r, uint32_t e, uint64_t size, uint64_t interval);
/*
 * The JVM samples no more: keep, for the next session, what the threads that are armed for E have drawn and what they
 * have allocated so far. Some bytes a thread stay with the library. Normal code, without the records' lock.
 */
void object_draws_keep(uint32_t e);

#endif

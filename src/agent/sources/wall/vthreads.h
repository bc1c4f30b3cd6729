/*
 * vthreads.h - virtual threads that are parked: the wall clock's part that no look at threads can show.
 *
 *   unmounted: stack, moment ─▶ a place in the table, by the thread's number ─▶ mounted: a sample of the time between
 *
 * A virtual thread can park a million times a second, so that only some of its parks are noted: one in n, at random,
 * where n lets a carrier note up to a thousand of them a second. What is noted weighs n times its time.
 *
 * The table has PARKED_LIMIT places; a park that finds none is lost under `too_many_waits`.
 */
#ifndef JSTROBE_SOURCES_WALL_VTHREADS_H
#define JSTROBE_SOURCES_WALL_VTHREADS_H

#include "agent/collect/sources.h"
#include "agent/zone/zone.h"
#include "common/base/buffer.h"
#include "common/base/error.h"

#define PARKED_FEW (16u * 1024)
#define PARKED_LIMIT (PARKED_FEW << 8) /* with less address space, fewer */

/* Wall clock is event E of the session that begins; nothing is noted before vthreads_parked_open. */
int vthreads_parked_start(uint32_t e, struct error *err);
/* Whether a session has begun that notes them. */
bool vthreads_parked_are_wanted(void);
/* The JVM tells of switches from now on. */
void vthreads_parked_open(void);
/*
 * The session that ends is followed by one like it (KEEP): what is parked then is so there, too, and threads that are
 * mounted must be told of in between. Before vthreads_parked_halt. Or it is not: nothing is kept.
 */
void vthreads_parked_keep(bool keep);
/* Nothing is noted any more. */
void vthreads_parked_halt(void);
/*
 * FN of all that is parked, up to now; of LATELY, of what was not reported for a while. And of parks that are over,
 * whose carrier's queue was full. The collector, and after the engine's stop.
 */
void vthreads_parked_tell_open(bool lately, parked_told_fn *fn, void *arg);
void vthreads_parked_tell_done(parked_told_fn *fn, void *arg);
/* FN of each stack that is kept for threads that are parked. The collector. */
void vthreads_parked_change_kept(kept_stack_fn *fn, void *arg);
/* The memory of the table goes back. No thread is inside. */
void vthreads_parked_release(void);

/* ---- of the carrier's own thread, in normal code ---- */

/* A virtual thread is about to leave its carrier: whether that is to be noted. */
bool vthreads_parked_is_due(void);
/* What the JVM says of the running thread's stack: LIMIT frames at most, innermost first; how many there are. */
typedef uint32_t parked_ask_fn(void *arg, uint64_t *frames, uint32_t limit);
/* It is the one with that number (Thread.getId). ASK tells of frames in the heap that cannot be walked. */
void vthreads_parked_begin(uint64_t thread, parked_ask_fn *ask, void *arg);
/* Whether a virtual thread that is mounted again need be told. */
bool vthreads_parked_any(void);
void vthreads_parked_end(uint64_t thread);

/*
 * How the wall clock hears of virtual threads that leave their carriers and come back (option
 * `vthreads`). Between the two there is nothing of the thread but an object in the heap.
 */

/* As in struct engine_ops; without `vthreads` nothing happens. */
int wall_listen(struct buffer *notes, struct error *err);
void wall_listen_no_more(bool goes_on);
void wall_vm_init(void);

#endif

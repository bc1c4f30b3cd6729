/*
 * engine_clocks.h - from when to when samples are taken, by the clocks of the process.
 *
 * Threads are armed one by one when a session begins, and silenced one by one at its halt. Where they keep the CPUs
 * busy that takes tens of ms, of which each one's samples hold another part. So its CPU time is noted when its turn
 * comes, and what all have used since then is left out.
 */
#ifndef AGENT_SOURCES_ENGINE_CLOCKS_H
#define AGENT_SOURCES_ENGINE_CLOCKS_H

#include "agent/collect/sources.h"
#include "agent/zone/thread_record.h"

/*
 * Monotonic time, CPU time of the process, and of it that of jstrobe's threads: now, or, from the halt until
 * engine_clocks_begin, at the halt. The CPU times stand still from engine_clocks_begin until threads are armed: what
 * has been used since it returned is what samples stand for. Any thread.
 */
struct source_clocks engine_clocks(void);
/* A session begins: the same as engine_clocks. The thread that calls engine_start, before it. */
struct source_clocks engine_clocks_begin(void);

/* R is armed or silenced right now. Records' lock held. */
void engine_clocks_turn(struct thread_record *r);
/* R ends, or need not be looked at any more. Records' lock held. */
void engine_clocks_end(struct thread_record *r);
/* All threads are armed. */
void engine_clocks_armed(void);
/* Threads are silenced from now on; all are: the halt, whose time lies between. */
void engine_clocks_halting(void);
void engine_clocks_halted(void);

#endif

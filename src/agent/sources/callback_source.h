/*
 * callback_source.h - what sources share whose events the JVM tells of, on the thread that has them. Such a thread
 * takes its own sample in the callback (ARM_CALLS, agent/sample/field_sample.h); nothing is sent to it. Inner header of
 * the sources room.
 */
#ifndef AGENT_SOURCES_CALLBACK_SOURCE_H
#define AGENT_SOURCES_CALLBACK_SOURCE_H

#include <jvmti.h>

#include "agent/sources/engine.h"

/* A JVMTI environment with CALLBACKS and CAPABILITY (may be NULL); NULL: the JVM refuses. Attached, or Agent_OnLoad. */
jvmtiEnv *callback_source_environment(const jvmtiEventCallbacks *callbacks, const jvmtiCapabilities *capability);
/* Whether stacks and names of classes can be had for EVENT. -ENOTSUP, -ENOMEM. */
int callback_source_start(const struct engine_event *event, struct error *err);
/*
 * A source may hold a count of each thread's own beside its samples. Of R for E it was at `charged` when counting
 * began, and is NOW: what has come since, all of it where the count has begun anew.
 */
uint64_t callback_source_since(const struct thread_record *r, uint32_t e, uint64_t now);
/* Counting of R for E ends, the count being NOW: what has come is in `last_count`. */
void callback_source_counted(struct thread_record *r, uint32_t e, uint64_t now);
/* An engine_ops.disarm: what the source has counted of R, if it counts, is kept. */
void callback_source_disarm(struct thread_record *r, uint32_t e, bool at_work);

/*
 * Sources that count what a thread does, all of it, and sample one in so many, at random distances whose mean is the
 * interval: no rhythm of the program can hide one. The count is last_count, that at the last sample charged.
 */

/* Until the next sample of S, N on average. The thread itself, entered. */
uint64_t callback_source_distance(struct record_source *s, uint64_t n);
/* An engine_ops.arm, and its counted. */
int callback_source_arm_counting(struct thread_record *r, uint32_t e);
uint64_t callback_source_count(const struct thread_record *r, uint32_t e);

#endif

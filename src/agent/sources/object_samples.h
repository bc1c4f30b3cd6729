/*
 * object_samples.h - the JVM's samples of objects, for the sources that are about them. Inner header of the sources
 * room.
 *
 * HotSpot gives the capability to one agent at a time, and to one of its environments: it is asked for in a call of its
 * own when a session begins, given back when it ends, and has one interval, which all sources of a session share.
 */
#ifndef JSTROBE_SOURCES_OBJECT_SAMPLES_H
#define JSTROBE_SOURCES_OBJECT_SAMPLES_H

#include <jvmti.h>

#include "agent/sources/engine.h"

/* A source of sampled objects. */
struct object_source {
	/* On the thread that allocates, in the JVM's callback: OBJECT of CLASS, SIZE bytes, is a sample of EVENT. */
	void (*take)(uint32_t event, jvmtiEnv *ti, JNIEnv *env, jobject object, jclass class, uint64_t size);
	_Atomic int event; /* which of the session's; -1: none is taken */
	int wanted;        /* the same, from the start to the halt */
};
#define OBJECT_SOURCE(fn) {.take = (fn), .event = -1, .wanted = -1}

/* An engine_ops.start for S. -EINVAL: another source of the session has another interval. -ENOTSUP, -ENOMEM. */
int object_samples_start(struct object_source *s, struct engine_event *event, uint32_t e, struct error *err);
/* An engine_ops.listen: samples come from now on. -ENOTSUP: the JVM has none, or another agent has them. Attached. */
int object_samples_listen(struct object_source *s, struct error *err);
/* S takes none any more. Any thread. */
void object_samples_halt(struct object_source *s);
/* The JVM tells no more, of any. Any thread in normal code. */
void object_samples_end(void);
/* A collection of the heap, which this thread, attached, waits for. */
void object_samples_collect(void);
/* R is armed for E now. Records' lock. */
void object_samples_arm(struct thread_record *r, uint32_t e);
/* R's Java thread ends; if it becomes one again, it draws anew. */
void object_samples_java_ends(struct thread_record *r, uint32_t e);
/* The shortest and the longest interval of this session, or of the last one. Any thread. */
void object_samples_intervals(uint64_t *least, uint64_t *most);
/* Bytes that an object of SIZE stands for, by the interval of now: of one whose record is not known. */
uint64_t object_samples_about(uint64_t size);
/* Bytes that an object of SIZE on R, this thread, entered, stands for: by the interval of its drawing. */
uint64_t object_samples_weigh(struct thread_record *r, uint32_t e, uint64_t size);

#endif

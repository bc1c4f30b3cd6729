/*
 * reference_walk.h - from which root of the collector an object is held: one chain of references for each of a few.
 *
 * The program stands still while the JVM follows references (JVMTI FollowReferences, at a safepoint), for a time that
 * is bounded by the caller: then the walk is given up, with the chains that were found until then. Each object that
 * the walk meets has a tag, which costs the JVM some 60 bytes until the walk's environment is disposed of.
 */
#ifndef JSTROBE_LIVE_REFERENCE_WALK_H
#define JSTROBE_LIVE_REFERENCE_WALK_H

#include <jvmti.h>
#include <stdbool.h>

#include "common/base/buffer.h"
#include "common/base/error.h"

#define REFERENCE_TARGETS 64 /* at most */

struct reference_walk;

/*
 * Before: what is needed of the JVM, the capability can_tag_objects first. -ENOTSUP: the JVM refuses it; -ENOMEM.
 * Normal code, attached; so are the others.
 */
int reference_walk_open(struct reference_walk **w, JNIEnv *env, struct error *err);
/* OBJECT is to be found as number NUMBER, from 0 on. It is to have no other reference of ours. False: not possible. */
bool reference_walk_target(struct reference_walk *w, uint32_t number, jobject object);

struct reference_walk_end {
	uint64_t took;     /* ns, in which the program stood still but for the way to the safepoint */
	uint64_t objects;  /* that were met */
	bool passed, full; /* it was given up: after that time, or after so many objects */
};
/*
 * Follow references for MOST ns at most, with what the JVM needs behind it, of a heap that may have HEAP_MOST bytes.
 * -ENOTSUP: that alone is more, or the JVM refuses; the program did not stand still.
 */
int reference_walk_run(struct reference_walk *w, JNIEnv *env, uint64_t most, uint64_t heap_most,
		       struct reference_walk_end *end, struct error *err);
/*
 * Append how target NUMBER is held, the root first: "static field Shop.CACHE → java.util.HashMap.table → …". False: it
 * was not met.
 */
bool reference_walk_put(struct reference_walk *w, JNIEnv *env, uint32_t number, struct buffer *out);
/* All tags and the capability are given back. */
void reference_walk_close(struct reference_walk *w, JNIEnv *env);

#endif

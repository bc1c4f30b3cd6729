/*
 * stubs.h - the pieces of code the JVM generated that are no Java methods:
 * arraycopy, intrinsics, vtable and itable stubs, adapters, the interpreter.
 *
 * The JVM names them by DynamicCodeGenerated events. Published as one immutable
 * sorted set: the walker needs their starts (to tell whether a frame has been
 * set up), the collector their names.
 */
#ifndef JSTROBE_HOTSPOT_STUBS_H
#define JSTROBE_HOTSPOT_STUBS_H

#include "common/base/base.h"

/* Stubs that compiled code jumps to: with its frame gone, standing, or standing below a pushed pc. */
enum { STUB_ONTO_NOTHING, STUB_ONTO_FRAME, STUB_ONTO_PC };

struct stub {
	uintptr_t start, end;
	const char *name; /* owned by the set */
	bool adapter;     /* between compiled and interpreted calling conventions */
	bool intrinsic;   /* a method handle's, in the interpreter's calling convention */
	bool dispatch;    /* of a vtable or itable: jumps to the method, for which it was called */
	bool polled;      /* a safepoint poll's: entered by a signal handler of the JVM, not called */
	bool exception;   /* takes an exception to its handler, the address it was thrown at in a register */
	bool frozen;      /* continuation return barrier: what follows lies in the heap */
	bool thaws;       /* brings a continuation back as it goes on: the same, and no return address is kept */
	uint8_t onto;     /* STUB_ONTO_*: how compiled code jumps to it */
};

/* Whether what called S lies in the heap. */
static inline bool stub_leads_to_heap(const struct stub *s)
{
	return s->frozen || s->thaws;
}

struct stub_set {
	uint32_t count;
	uintptr_t barrier;   /* what a virtual thread returns to where its frames go on in the heap, 0: not made */
	struct stub stubs[]; /* sorted by start */
};

/* The stub that holds PC, or NULL. SET may be NULL. Any context. */
static inline const struct stub *stub_find(const struct stub_set *set, uintptr_t pc)
{
	size_t low = set ? SEARCH(set->count, i, set->stubs[i].end <= pc) : 0;

	if (set && low < set->count && set->stubs[low].start <= pc)
		return &set->stubs[low];
	return NULL;
}

/*
 * Remember a piece of generated code until the next stubs_merge. NAME is copied.
 * Normal code, any thread (JVMTI callbacks).
 */
void stubs_note(const char *name, uintptr_t start, uintptr_t end);
/* Whether something was noted since the last merge. Any thread. */
bool stubs_pending(void);
/*
 * A new set: OLD (may be NULL; stays the caller's) and what was noted since; news win where
 * ranges overlap. NULL when out of memory (what was noted is then kept for later).
 */
struct stub_set *stubs_merge(const struct stub_set *old);
void stub_set_free(struct stub_set *set);

#endif

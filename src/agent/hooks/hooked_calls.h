/*
 * hooked_calls.h - functions of libc that are replaced in the images of the process: by a source while a session has
 * its event, and for good in a program that was started with this library. Any thread in normal code.
 *
 * Each of ours calls what the program's own call reaches: libc's, or that of a library preloaded to stand before it,
 * found once by name. So does it where it has to stay: in a slot that another tool took over after us, for example, or
 * on the stack of a thread that waits in it.
 */
#ifndef JSTROBE_HOOKS_HOOKED_CALLS_H
#define JSTROBE_HOOKS_HOOKED_CALLS_H

#include "common/base/base.h"

#define HOOKED_CALLS_MAX 64 /* together */

struct hooked_call {
	const char *name;
	void *ours;    /* NULL: it is only called */
	void **theirs; /* what ours calls; NULL there: libc has no such function, and no slot has ours */
};

/* What is replaced together. */
struct hooked_calls {
	const struct hooked_call *calls;
	size_t count;
	/*
	 * Whether slots that are not bound yet may be replaced; NULL: they may. Where an image has a definition of its
	 * own, or one was preloaded, what such a slot would be bound to is not known.
	 */
	bool (*lazy)(void);

	/* hooked_calls.c's own */
	bool installed;
	bool unfinished;  /* an image was still being loaded when we came by */
	uint64_t changes; /* of the images, when we came by */
};

/* Replace them. False: another copy of this library does not let us. */
bool hooked_calls_install(struct hooked_calls *h);
/* Images may have come since. Not while another copy of this library changes slots: then the next time. */
void hooked_calls_refresh(struct hooked_calls *h);
/* Put back what was there. Calls that go on meanwhile pass on. */
void hooked_calls_remove(struct hooked_calls *h);

#endif

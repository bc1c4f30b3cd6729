/*
 * copies.h - other copies of this library in the process: another build, or the same file under another name.
 *
 * Each copy shows one object to the others, by the exported symbol jstrobe_copy. Copies are found in the loader's list
 * of images, which has one order for all and only grows (the library is linked so that it is never unmapped). That is
 * the order of copies: the first one's object holds the lock, and a copy passes calls on to earlier ones only.
 */
#ifndef JSTROBE_HOOKS_COPIES_H
#define JSTROBE_HOOKS_COPIES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/hooks/libc_calls.h"

#define COPIES_MAGIC 0x6a737472       /* "jstr" */
#define COPIES_MAX 15                 /* others that are seen */

/* Something of a copy in a chain: a handler of SIGSEGV, SIGBUS or SIGTRAP, a function in the JVM's JVMTI table. */
struct copy_link {
	void *_Atomic handler; /* NULL: it is not in the chain */
	_Atomic uint32_t wanted;
	const void *_Atomic former; /* whom it passes on to: struct sigaction; the function */
};

/* Native methods of the Java API (agent/door/java_api.h), by their places in struct copy; new ones come last. */
enum copy_native {
	COPY_START,
	COPY_STOP,
	COPY_EXECUTE,
	COPY_EXECUTE_BYTES,
	COPY_SAMPLES,
	COPY_FILTER,
	COPY_NATIVES = 12,
};

/* What the program marks (agent/context/marks.h), as copies of all builds tell each other of it. */
struct copy_mark {
	uint32_t size;         /* of this; fields are only ever appended */
	uint32_t length;
	uint64_t time, duration;
	int32_t tid;
	const char *type;      /* its name; NULL: a span */
	const char *data;      /* of LENGTH bytes */
};
typedef bool copy_take_fn(const struct copy_mark *m);

#define COPY_TAKERS 8 /* copies whose sessions want marks at the same time */

/*
 * What copies of all builds read. Fields are only ever appended, and read only as far as SIZE goes. Text is inside and
 * pointers are stored at run time only: a copy may be looked at before the loader has finished it.
 */
struct copy {
	uint32_t magic, size;
	char version[24];
	_Atomic int32_t changing;          /* tid that changes what copies share, 0: none; the first copy's counts */
	_Atomic uint32_t sampling;         /* a session runs, of … */
	char events[88];                   /* … "cpu,wall"; written before SAMPLING is */
	pthread_create_fn *_Atomic create; /* what it puts into slots of pthread_create; NULL: it never did */
	_Atomic uint32_t hooks;            /* it wants to be called there now */
	struct copy_link faults[2];
	struct copy_link replacing[2];     /* RedefineClasses, RetransformClasses */
	struct copy_link trap;             /* SIGTRAP */
	void *_Atomic natives[COPY_NATIVES]; /* what Java code calls; NULL: not here */
	/* of the first copy that has these, for all: */
	_Atomic uint32_t marks_used;       /* the program marks */
	_Atomic uint32_t marks_heard;      /* copies that listen to what it marks */
	copy_take_fn *_Atomic takers[COPY_TAKERS]; /* their functions, which may be called at any time */
};

#define COPIES_LEAST offsetof(struct copy, trap) /* what every build has */

extern struct copy jstrobe_copy; /* ours */

/*
 * Enter what only one copy at a time may do: to change slots, and actions of signals. Waits for LIMIT_MS at most;
 * false: another copy is at it for longer. A holder that is gone counts for nothing. Not recursive; any thread in
 * normal code.
 */
bool copies_lock(int limit_ms);
void copies_unlock(void);

/* Say to others what our session samples ("cpu,wall"); NULL: it has ended. Normal code. */
void copies_show(const char *events);
/* Whether C samples EVENT, by what it says. */
bool copies_samples(const struct copy *c, const char *event);

/* Another copy, for a person: its file, as the process knows it, and whether it samples. */
struct copy_found {
	const char *path;
	const struct copy *copy; /* NULL: a build from before copies knew each other */
	bool samples;            /* of such a build: it has a handler for one of the signals that samples come by */
};
/* All other copies that are loaded; their number. The paths live as long as the process. Normal code. */
uint32_t copies_find(struct copy_found found[COPIES_MAX]);

/* Look who is there; before any of the following. Normal code, and by one thread at a time. */
void copies_look(void);
/* Other copy number I; NULL: no more. Earlier ones come first, the nearest before the others. Any context. */
struct copy *copies_other(uint32_t i);
struct copy *copies_earlier(uint32_t i);

/*
 * The first copy that has native methods for Java code: all class loaders share its profiler; SAMPLING: the first such
 * that has a session, or NULL. And the first that has `takers`, which is always the same one. Ours if there is none.
 * Any thread in normal code.
 */
struct copy *copies_for_java(bool sampling);
struct copy *copies_for_marks(void);

#endif

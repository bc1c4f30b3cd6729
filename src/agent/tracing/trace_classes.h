/*
 * trace_classes.h - what of a class gets probes, and the JVM's hook that puts them in.
 *
 * The hook changes classes as they are loaded, and those that trace_work.c has the JVM transform again. Any thread that
 * loads a class runs it; one lock guards all of it, and nothing is called under it that could wait.
 */
#ifndef JSTROBE_TRACING_TRACE_CLASSES_H
#define JSTROBE_TRACING_TRACE_CLASSES_H

#include <jvmti.h>

#include "agent/tracing/tree.h"
#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/base/strings.h"
#include "common/bytecode/classfile.h"
#include "common/bytecode/pattern.h"
#include "common/bytecode/rewrite.h"

/* A method with probes; its number is its place plus `first`. */
struct trace_method {
	uint32_t class_name, name, type; /* in texts, with dots; the type as in the class file */
	int wait;                        /* what it waits for, enum calls_wait; -1 = it works */
	uint64_t since;                  /* monotonic ns: a class loaded before got its probes; 0 = it came so */
};

struct trace_skip {
	uint32_t name; /* in texts */
	const char *reason;
};

struct trace_classes {
	struct patterns patterns, roots;
	enum tree_timing timing;
	unsigned jdk;                        /* feature number */
	bool deep;                           /* calls count down to some depth only */
	uint32_t first;                      /* number of the first method, at least 1 */
	VECTOR(struct trace_method) methods;
	struct map known;                    /* hash of class, name and type, or the next → place + 1 */
	struct map changed;                  /* hash of a changed class's name, or the next → the name */
	VECTOR(struct trace_skip) skipped;
	struct map skips_known;              /* hash of a name, or the next → place in skipped + 1, 0: counted */
	uint32_t skipped_more;               /* beyond what is kept */
	uint32_t chosen;                     /* methods of the class at hand */
	bool redefined;                      /* the class at hand is there already */
	struct strings texts;
	uint32_t class_count;                /* classes changed, those loaded later included */
	uint32_t session;                    /* number */
	uint64_t bytes_read, rewriting_ns;
	uint64_t last_hook;                  /* when the hook had changed the last class of a batch */
	uint64_t worst_batch_ns, batches_ns; /* the program stood still so long; in all */
};

/* Ask for what is needed; once. -ENOTSUP. */
int trace_classes_init(jvmtiEnv *ti, struct error *err);
/* What the JVM calls for each class it loads or changes; for the callbacks of that environment. */
void JNICALL trace_classes_load(jvmtiEnv *ti, JNIEnv *env, jclass redefined, jobject loader, const char *name,
				jobject domain, jint size, const unsigned char *bytes, jint *new_size,
				unsigned char **new_bytes);
/* The place of the method CLASS_NAME ("com/acme/Order").NAME TYPE; -1: it has no probes. Locked. */
int64_t trace_classes_find(const struct trace_classes *c, const struct text *class_name, const struct text *name,
			   const struct text *type);
/* Classes get probes as they are loaded or transformed, as C's patterns mean them. C stays until trace_classes_end. */
void trace_classes_begin(jvmtiEnv *ti, struct trace_classes *c);
/* No class gets any from here on; those that are transformed again lose theirs. */
void trace_classes_end(jvmtiEnv *ti);
/* Whether a method of CLASS, of that NAME, could get probes. C's patterns do not change. */
bool trace_classes_touch(const struct trace_classes *c, jvmtiEnv *ti, jclass class, const struct text *name);
/* Whether the class has methods that wait. */
bool trace_classes_waits(const struct text *name);
/* The result is to say that class NAME has no probes, and why (a constant). */
void trace_classes_refuse(struct trace_classes *c, const struct text *name, const char *reason);
/*
 * The JVM has a class now: the callback of ClassLoad. One that came with the wrong probes, as it was being loaded
 * when a session began or ended, is a stray: TO is called, on that thread, and has it transformed again.
 */
void JNICALL trace_classes_loaded(jvmtiEnv *ti, JNIEnv *env, jthread thread, jclass class);
void trace_classes_on_stray(void (*to)(void));
/* The strays so far, as hashes of their names, into NAMES. */
void trace_classes_take_strays(struct map *names);
/* How many classes that got probes after SINCE (monotonic ns) the JVM does not have yet. */
uint32_t trace_classes_loading(uint64_t since);
/* None is waited for any more. */
void trace_classes_loading_over(jvmtiEnv *ti);
/* Names can be read while this is held; classes that are being loaded wait. */
void trace_classes_lock(void);
void trace_classes_unlock(void);
void trace_classes_free(struct trace_classes *c);

/*
 * Which methods of the JDK wait, so that time in them is not taken for work of their callers.
 * Constant; any thread.
 */

/* Whether class NAME ("java/lang/Thread") has such methods. */
bool waits_touch(const struct text *class_name);
/* The kind (enum calls_wait) of METHOD there, -1 if it is none. */
int waits_kind(const struct text *class_name, const struct text *method);

#endif

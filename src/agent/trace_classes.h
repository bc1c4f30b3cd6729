/*
 * trace_classes.h - putting probes into the classes of this JVM, and taking them out again.
 *
 * Loaded classes are changed in batches, classes loaded later as they come. A class that the JVM refuses stays
 * as it was; the others go on. Attached threads, normal code, one at a time, but for the JVM's own call.
 */
#ifndef JSTROBE_AGENT_TRACE_CLASSES_H
#define JSTROBE_AGENT_TRACE_CLASSES_H

#include <jvmti.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/strings.h"
#include "instrument/pattern.h"
#include "instrument/rewrite.h"
#include "instrument/tree.h"

/* A method with probes; its number is its place plus `first`. */
struct trace_method {
	uint32_t class_name, name, type; /* in texts, with dots; the type as in the class file */
	int wait;                        /* what it waits for, enum tree_wait; -1 = it works */
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
	struct map known;                    /* hash of class, name and type → place + 1 */
	struct map changed;                  /* hash of the names of classes that have probes */
	VECTOR(struct trace_skip) skipped;
	struct map skips_known;
	uint32_t skipped_more;               /* beyond what is kept */
	uint32_t chosen;                     /* methods of the class at hand */
	struct strings texts;
	uint32_t class_count;                /* classes changed, those loaded later included */
	uint64_t bytes_read, rewriting_ns;
	uint64_t worst_batch_ns, batches_ns;
};

/* Ask for what is needed; once. -ENOTSUP. */
int trace_classes_init(jvmtiEnv *ti, struct error *err);
/* What the JVM calls for each class it loads or changes; for the callbacks of that environment. */
void JNICALL trace_classes_load(jvmtiEnv *ti, JNIEnv *env, jclass redefined, jobject loader, const char *name,
				jobject domain, jint size, const unsigned char *bytes, jint *new_size,
				unsigned char **new_bytes);
/* Put probes into what C's patterns mean. C must stay until trace_classes_remove. */
int trace_classes_put(jvmtiEnv *ti, JNIEnv *env, struct trace_classes *c, struct error *err);
/* The place of the method CLASS_NAME ("com/acme/Order").NAME TYPE; -1: it has no probes. Locked. */
int64_t trace_classes_find(const struct trace_classes *c, const struct text *class_name, const struct text *name,
			   const struct text *type);
/* Take them all out: every method has its own byte code again. */
void trace_classes_remove(jvmtiEnv *ti, JNIEnv *env, struct trace_classes *c);
/* Names can be read while this is held; classes that are being loaded wait. */
void trace_classes_lock(void);
void trace_classes_unlock(void);
void trace_classes_free(struct trace_classes *c);

#endif

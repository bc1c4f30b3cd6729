/*
 * trace_list.h - the loaded classes that are wanted, found anew each time: nothing is held in between that would keep a
 * class from being unloaded. Attached threads, normal code.
 */
#ifndef JSTROBE_TRACING_TRACE_LIST_H
#define JSTROBE_TRACING_TRACE_LIST_H

#include <jvmti.h>

#include "common/base/base.h"
#include "common/base/map.h"
#include "common/bytecode/classfile.h"

struct trace_listed {
	jclass class;
	uint64_t key;    /* of this very class */
	uint32_t weight; /* the heaviest come first */
};

struct trace_list {
	struct trace_listed *items;
	uint32_t count;
	unsigned char *classes; /* the JVM's */
};

/*
 * Whether CLASS, of that NAME ("com/acme/Order") and hash, is wanted, and how much. One that is and cannot change: see
 * trace_list_fixed.
 */
typedef bool (*trace_list_wants)(void *data, jclass class, const struct text *name, uint64_t hash, uint32_t *weight);
/* CLASS of that name is wanted, but the JVM does not let it change. */
typedef void (*trace_list_fixed)(void *data, const struct text *name);

/* All that are wanted and not in DONE (of keys). With a local frame that trace_list_free takes away. -ENOMEM. */
int trace_list_read(struct trace_list *l, jvmtiEnv *ti, JNIEnv *env, const struct map *done, trace_list_wants wants,
		    trace_list_fixed fixed, void *data);
void trace_list_free(struct trace_list *l, jvmtiEnv *ti, JNIEnv *env);

/* As the hooks know a class: NAME with slashes. */
uint64_t trace_list_hash(const char *name, size_t length);
/* "com/acme/Order" of CLASS; NULL for arrays and primitives. To be deallocated. */
char *trace_list_name(jvmtiEnv *ti, jclass class);

#endif

/*
 * trace_entered.c - methods that were running already when their probes came: those invocations go uncounted, and
 * the result says so.
 */
#include "agent/tracing/trace_running.h"

#include <stdlib.h>
#include <string.h>

#include "agent/jvm/jvm_functions.h"

#define FRAMES_SEEN 512 /* of a stack, from its top */

/* The method with probes whose old code METHOD is; -1: none of ours. */
static int64_t place_of(jvmtiEnv *ti, JNIEnv *env, jmethodID method, const struct trace_classes *c)
{
	char *class_name = NULL, *name = NULL, *type = NULL;
	int64_t place = -1;
	jclass class = NULL;

	if ((*ti)->GetMethodDeclaringClass(ti, method, &class))
		return -1;
	(*ti)->GetClassSignature(ti, class, &class_name, NULL);
	(*env)->DeleteLocalRef(env, class);
	(*ti)->GetMethodName(ti, method, &name, &type, NULL);
	if (class_name && name && type && class_name[0] == 'L') {
		struct text class_text = {class_name + 1, (uint16_t)(strlen(class_name) - 2)};
		struct text name_text = {name, (uint16_t)strlen(name)}, type_text = {type, (uint16_t)strlen(type)};

		trace_classes_lock();
		place = trace_classes_find(c, &class_text, &name_text, &type_text);
		trace_classes_unlock();
	}
	(*ti)->Deallocate(ti, (unsigned char *)class_name);
	(*ti)->Deallocate(ti, (unsigned char *)name);
	(*ti)->Deallocate(ti, (unsigned char *)type);
	return place;
}

/* THREADS have METHOD on their stacks. */
static void add(struct trace_entered *e, uint32_t method, uint32_t threads)
{
	uint32_t *place = map_put(&e->known, method, NULL);
	struct calls_entered *one;

	if (!place)
		return;
	if (!*place) {
		one = VECTOR_PUSH(&e->list);
		if (!one)
			return;
		*one = (struct calls_entered){.method = method};
		*place = (uint32_t)e->list.count;
	}
	e->list.items[*place - 1].threads += threads;
}

/* A later look sees some of what an earlier one saw. Locked. */
static void merge(struct trace_entered *e, const struct trace_entered *now)
{
	const struct calls_entered *one;
	const uint32_t *place;
	size_t i;

	for (i = 0; i < now->list.count; i++) {
		one = &now->list.items[i];
		place = map_get(&e->known, one->method);
		if (!place || !*place)
			add(e, one->method, one->threads);
		else
			e->list.items[*place - 1].threads = MAX(e->list.items[*place - 1].threads, one->threads);
	}
}

static void look_at(jvmtiEnv *ti, JNIEnv *env, const jvmtiStackInfo *stack, const struct trace_classes *c,
		    struct trace_entered *e)
{
	struct map seen = {.count = 0}; /* a recursion is one thread's all the same */
	jint i;

	for (i = 0; i < stack->frame_count; i++) {
		jmethodID method = stack->frame_buffer[i].method;
		jboolean old = JNI_FALSE;
		int64_t place;
		bool fresh;

		/* The code from before the change runs on in a method of its own; probes are in the new one. */
		if ((*ti)->IsMethodObsolete(ti, method, &old) || !old)
			continue;
		place = place_of(ti, env, method, c);
		if (place >= 0 && map_put(&seen, (uint64_t)place, &fresh) && fresh)
			add(e, (uint32_t)place, 1);
	}
	map_free(&seen);
}

void trace_entered_look(jvmtiEnv *ti, JNIEnv *env, const struct trace_classes *c, struct trace_entered *e)
{
	struct trace_entered now = {.known = {.count = 0}};
	jvmtiStackInfo *stacks = NULL;
	jint count = 0, i;

	if ((*ti)->GetAllStackTraces(ti, FRAMES_SEEN, &stacks, &count))
		return;
	java_room(env, count);
	for (i = 0; i < count; i++) {
		look_at(ti, env, &stacks[i], c, &now);
		(*env)->DeleteLocalRef(env, stacks[i].thread);
	}
	(*ti)->Deallocate(ti, (unsigned char *)stacks);
	trace_classes_lock();
	merge(e, &now);
	trace_classes_unlock();
	trace_entered_free(&now);
}

void trace_entered_free(struct trace_entered *e)
{
	free(e->list.items);
	map_free(&e->known);
	memset(e, 0, sizeof(*e));
}

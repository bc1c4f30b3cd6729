#include "agent/tracing/trace_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "common/base/map.h"

#define REFERENCES 65536 /* HotSpot promises no more */

uint64_t trace_list_hash(const char *name, size_t length)
{
	return hash_mix(hash_bytes(3, name, length));
}

char *trace_list_name(jvmtiEnv *ti, jclass class)
{
	char *signature = NULL;
	size_t length;

	if ((*ti)->GetClassSignature(ti, class, &signature, NULL) || !signature)
		return NULL;
	length = strlen(signature);
	if (signature[0] != 'L' || length < 3) {
		(*ti)->Deallocate(ti, (unsigned char *)signature);
		return NULL;
	}
	memmove(signature, signature + 1, length - 2);
	signature[length - 2] = '\0';
	return signature;
}

static int by_weight(const void *a, const void *b)
{
	const struct trace_listed *one = a, *two = b;

	return (one->weight < two->weight) - (one->weight > two->weight);
}

struct reading {
	jvmtiEnv *ti;
	const struct map *done;
	trace_list_wants wants;
	trace_list_fixed fixed;
	void *data;
};

/* Append CLASS if it is wanted. */
static void look_at(struct trace_list *l, jclass class, const struct reading *r)
{
	char *name = trace_list_name(r->ti, class);
	struct trace_listed one = {.class = class};
	jboolean modifiable = JNI_FALSE;
	struct text text;
	uint64_t hash;
	jint identity;

	if (!name)
		return;
	text = (struct text){name, (uint16_t)MIN(strlen(name), (size_t)UINT16_MAX)};
	hash = trace_list_hash(name, strlen(name));
	if (r->wants(r->data, class, &text, hash, &one.weight)) {
		if ((*r->ti)->IsModifiableClass(r->ti, class, &modifiable) || !modifiable) {
			r->fixed(r->data, &text);
		} else if (!(*r->ti)->GetObjectHashCode(r->ti, class, &identity)) {
			one.key = hash_mix(hash ^ (uint32_t)identity);
			if (!map_get(r->done, one.key))
				l->items[l->count++] = one;
		}
	}
	(*r->ti)->Deallocate(r->ti, (unsigned char *)name);
}

int trace_list_read(struct trace_list *l, jvmtiEnv *ti, JNIEnv *env, const struct map *done, trace_list_wants wants,
		    trace_list_fixed fixed, void *data)
{
	struct reading r = {ti, done, wants, fixed, data};
	jclass *classes;
	jint count, i;

	memset(l, 0, sizeof(*l));
	if ((*env)->PushLocalFrame(env, REFERENCES)) {
		(*env)->ExceptionClear(env);
		return -ENOMEM;
	}
	if ((*ti)->GetLoadedClasses(ti, &count, &classes)) {
		(*env)->PopLocalFrame(env, NULL);
		return -ENOMEM;
	}
	l->classes = (unsigned char *)classes;
	l->items = calloc((size_t)count + 1, sizeof(*l->items));
	if (!l->items) {
		trace_list_free(l, ti, env);
		return -ENOMEM;
	}
	for (i = 0; i < count; i++)
		look_at(l, classes[i], &r);
	qsort(l->items, l->count, sizeof(*l->items), by_weight);
	return 0;
}

void trace_list_free(struct trace_list *l, jvmtiEnv *ti, JNIEnv *env)
{
	free(l->items);
	(*ti)->Deallocate(ti, l->classes);
	(*env)->PopLocalFrame(env, NULL);
	memset(l, 0, sizeof(*l));
}

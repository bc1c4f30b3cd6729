#include "agent/tracing/trace_constructors.h"

#include <stdatomic.h>
#include <string.h>

#include "common/base/hash.h"
#include "common/base/map.h"

#define PLACES 65536u     /* by the low bits of numbers, given in a row: beyond, the older ones are not watched */
#define FRAMES_FIRST 16   /* who is on top is among the first, mostly */
#define FRAMES_AT_ONCE 128
#define FRAMES_MOST 4096  /* of a stack; further out it is taken for granted that it runs */

static struct {
	_Atomic uint32_t id;
	_Atomic uint64_t key; /* of class and type */
} noted[PLACES];

static uint64_t key_of(const char *class_name, size_t class_length, const char *type, size_t type_length)
{
	return hash_mix(hash_bytes(hash_mix(hash_bytes(1, class_name, class_length)), type, type_length)) | 1;
}

void trace_constructors_note(uint32_t id, const struct text *class_name, const struct text *name,
			     const struct text *type)
{
	if (!text_is(name, "<init>"))
		return;
	atomic_store(&noted[id % PLACES].id, 0);
	atomic_store(&noted[id % PLACES].key, key_of(class_name->at, class_name->length, type->at, type->length));
	atomic_store(&noted[id % PLACES].id, id);
}

/* 0: it is none, or not known any more */
static uint64_t noted_key(uint32_t id)
{
	uint64_t key = atomic_load(&noted[id % PLACES].id) == id ? atomic_load(&noted[id % PLACES].key) : 0;

	return id && atomic_load(&noted[id % PLACES].id) == id ? key : 0;
}

bool trace_constructors_has(uint32_t id)
{
	return noted_key(id) != 0;
}

/* ---- the stack --------------------------------------------------------------------------------- */

struct search {
	jvmtiEnv *ti;
	JNIEnv *env;
	uint64_t key;
	bool inside;  /* past the probe's own frames */
	bool waits;   /* the probe was called in place of Thread.sleep, by a method that runs already */
};

/* A frame of the probe's: "sleep…" stands between a method and Thread.sleep, others are called as a method begins. */
static bool is_own(struct search *s, const char *class_name, const char *name)
{
	if (s->inside || (strcmp(class_name, "Ljava/lang/JstrobeProbe;") && strcmp(class_name, "Ljstrobe/Natives;")))
		return false;
	s->waits = s->waits || strncmp(name, "sleep", 5) == 0;
	return true;
}

/* Whether the frame of METHOD is what is sought. */
static bool is_it(struct search *s, jmethodID method)
{
	char *class_name = NULL, *name = NULL, *type = NULL;
	bool found = false;
	jclass class = NULL;

	if ((*s->ti)->GetMethodDeclaringClass(s->ti, method, &class))
		return false;
	(*s->ti)->GetClassSignature(s->ti, class, &class_name, NULL);
	(*s->env)->DeleteLocalRef(s->env, class);
	(*s->ti)->GetMethodName(s->ti, method, &name, &type, NULL);
	if (class_name && name && type && !is_own(s, class_name, name)) {
		/* the first one is that which enters */
		if (s->inside || s->waits)
			found = strcmp(name, "<init>") == 0 && class_name[0] == 'L' &&
				key_of(class_name + 1, strlen(class_name) - 2, type, strlen(type)) == s->key;
		s->inside = true;
	}
	(*s->ti)->Deallocate(s->ti, (unsigned char *)class_name);
	(*s->ti)->Deallocate(s->ti, (unsigned char *)name);
	(*s->ti)->Deallocate(s->ti, (unsigned char *)type);
	return found;
}

bool trace_constructors_runs(jvmtiEnv *ti, JNIEnv *env, uint32_t id)
{
	struct search s = {.ti = ti, .env = env, .key = noted_key(id)};
	jvmtiFrameInfo frames[FRAMES_AT_ONCE];
	jint from, count, i, room = FRAMES_FIRST;

	for (from = 0; s.key && from < FRAMES_MOST; from += count, room = FRAMES_AT_ONCE) {
		/* what is not known is left as it is; a stack that ends with the frames before has no FROM */
		if ((*ti)->GetStackTrace(ti, NULL, from, room, frames, &count))
			return from == 0;
		for (i = 0; i < count; i++)
			if (is_it(&s, frames[i].method))
				return true;
		if (count < room)
			return false;
	}
	return true;
}

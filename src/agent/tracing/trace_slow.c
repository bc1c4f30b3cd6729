#include "agent/tracing/trace_slow.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/tracing/probe.h"
#include "common/base/hash.h"
#include "common/base/map.h"
#include "common/base/strings.h"
#include "common/base/vector.h"
#include "common/os/os.h"

#define EVENTS_KEPT 20000u
#define STACK_FRAMES 256 /* kept of a stack */
#define OWN_FRAMES 3     /* of the probe, at most, above the method */

/* Texts are offsets here: they move as more come. */
struct stack_frame {
	uint32_t class_name, name, type;
	int32_t line;
};

struct stack {
	uint32_t first, count; /* in places */
	bool truncated;
};

struct event {
	uint32_t id, stack, thread;
	uint64_t ended, duration, thread_id;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* what follows */
static struct {
	jvmtiEnv *ti; /* NULL: not now */
	uint32_t first;
	int64_t real;  /* CLOCK_REALTIME less CLOCK_MONOTONIC, ns */
	VECTOR(struct stack_frame) frames;
	VECTOR(uint32_t) places; /* frames of stacks */
	VECTOR(struct stack) stacks;
	VECTOR(struct event) events;
	struct map frames_known, stacks_known;
	struct strings texts;
	uint32_t under_way; /* calls that are being asked about */
	uint64_t lost;
} slow;
static uint32_t generation; /* of all that: what was asked for another one is not kept */

/* ---- asking the JVM: without the lock ----------------------------------------------------------- */

/* Texts are JVMTI's, NULL where it has none. */
struct told_frame {
	char *class_name, *name, *type;
	int32_t line;
};

struct told {
	struct told_frame frames[STACK_FRAMES];
	jint count;
	bool truncated;
	uint64_t thread_id;
	char *thread;
};

static int32_t line_of(jvmtiEnv *ti, jmethodID method, jlocation at)
{
	jvmtiLineNumberEntry *lines;
	jint count, i;
	int32_t line = 0;

	if (at < 0 || (*ti)->GetLineNumberTable(ti, method, &count, &lines))
		return 0;
	for (i = 0; i < count; i++)
		if (lines[i].start_location <= at)
			line = lines[i].line_number;
	(*ti)->Deallocate(ti, (unsigned char *)lines);
	return line;
}

static void ask_frame(jvmtiEnv *ti, JNIEnv *env, const jvmtiFrameInfo *info, struct told_frame *f)
{
	jclass class = NULL;

	f->line = line_of(ti, info->method, info->location);
	if ((*ti)->GetMethodDeclaringClass(ti, info->method, &class) == JVMTI_ERROR_NONE) {
		(*ti)->GetClassSignature(ti, class, &f->class_name, NULL);
		(*env)->DeleteLocalRef(env, class);
	}
	(*ti)->GetMethodName(ti, info->method, &f->name, &f->type, NULL);
}

static bool is_own(jvmtiEnv *ti, JNIEnv *env, jmethodID method)
{
	char *name = NULL;
	jclass class;
	bool own = false;

	if ((*ti)->GetMethodDeclaringClass(ti, method, &class))
		return false;
	if ((*ti)->GetClassSignature(ti, class, &name, NULL) == JVMTI_ERROR_NONE && name) {
		own = strcmp(name, "Ljava/lang/JstrobeProbe;") == 0 || strcmp(name, "Ljstrobe/Natives;") == 0;
		(*ti)->Deallocate(ti, (unsigned char *)name);
	}
	(*env)->DeleteLocalRef(env, class);
	return own;
}

static void ask_thread(jvmtiEnv *ti, JNIEnv *env, struct told *t)
{
	jvmtiThreadInfo info = {.name = NULL};
	jthread thread = NULL;

	if ((*ti)->GetCurrentThread(ti, &thread))
		return;
	t->thread_id = probe_thread_id(env, thread);
	(*ti)->GetThreadInfo(ti, thread, &info);
	if (info.thread_group)
		(*env)->DeleteLocalRef(env, info.thread_group);
	if (info.context_class_loader)
		(*env)->DeleteLocalRef(env, info.context_class_loader);
	t->thread = info.name;
	(*env)->DeleteLocalRef(env, thread);
}

/* The stack of this thread and its name; NULL: no memory, or the JVM does not say. */
static struct told *ask(jvmtiEnv *ti, JNIEnv *env)
{
	jvmtiFrameInfo info[STACK_FRAMES + OWN_FRAMES];
	struct told *t = calloc(1, sizeof(*t));
	jint count = 0, own = 0, i;

	if (!t || (*ti)->GetStackTrace(ti, NULL, 0, ARRAY_LEN(info), info, &count)) {
		free(t);
		return NULL;
	}
	while (own < count && own < OWN_FRAMES && is_own(ti, env, info[own].method))
		own++;
	t->count = MIN(count - own, STACK_FRAMES);
	t->truncated = count == (jint)ARRAY_LEN(info);
	for (i = 0; i < t->count; i++)
		ask_frame(ti, env, &info[own + i], &t->frames[i]);
	ask_thread(ti, env, t);
	return t;
}

static void give_back(jvmtiEnv *ti, struct told *t)
{
	jint i;

	for (i = 0; t && i < t->count; i++) {
		(*ti)->Deallocate(ti, (unsigned char *)t->frames[i].class_name);
		(*ti)->Deallocate(ti, (unsigned char *)t->frames[i].name);
		(*ti)->Deallocate(ti, (unsigned char *)t->frames[i].type);
	}
	if (t)
		(*ti)->Deallocate(ti, (unsigned char *)t->thread);
	free(t);
}

/* ---- keeping what it said: lock held -------------------------------------------------------------- */

static uint32_t keep(char *text, bool class_name)
{
	size_t length = text ? strlen(text) : 0, i;
	const char *from = text;

	if (class_name && length > 2 && text[0] == 'L') {
		from = text + 1;
		length -= 2;
		for (i = 1; i <= length; i++)
			text[i] = text[i] == '/' ? '.' : text[i];
	}
	return strings_add(&slow.texts, from ? from : "", length);
}

static bool is_frame(uint32_t number, const void *wanted)
{
	const struct stack_frame *a = &slow.frames.items[number - 1], *b = wanted;

	return a->class_name == b->class_name && a->name == b->name && a->type == b->type && a->line == b->line;
}

/* The place of a frame; UINT32_MAX: no memory. */
static uint32_t frame_of(const struct told_frame *told)
{
	struct stack_frame f = {.line = told->line}, *new;
	uint32_t *place;
	uint64_t key;

	f.class_name = keep(told->class_name, true);
	f.name = keep(told->name, false);
	f.type = keep(told->type, false);
	key = hash_mix(hash_mix((uint64_t)f.class_name << 32 | f.name) ^ ((uint64_t)f.type << 32 | (uint32_t)f.line));
	place = map_intern(&slow.frames_known, key, is_frame, &f);
	if (!place)
		return UINT32_MAX;
	if (*place)
		return *place - 1;
	new = slow.texts.failed ? NULL : VECTOR_PUSH(&slow.frames);
	slow.texts.failed = false;
	if (!new)
		return UINT32_MAX;
	*new = f;
	*place = (uint32_t)slow.frames.count;
	return *place - 1;
}

static bool is_stack(uint32_t number, const void *wanted)
{
	const struct stack *s = &slow.stacks.items[number - 1], *w = wanted;

	return s->count == w->count && s->truncated == w->truncated &&
	       (!w->count || memcmp(&slow.places.items[s->first], &slow.places.items[w->first],
				    w->count * sizeof(*slow.places.items)) == 0);
}

/* The number of the stack whose COUNT places are those from FIRST on, a new one if need be; UINT32_MAX: no memory. */
static uint32_t stack_at(uint32_t first, uint32_t count, bool truncated, uint64_t key)
{
	struct stack wanted = {first, count, truncated}, *s;
	uint32_t *place = map_intern(&slow.stacks_known, key, is_stack, &wanted);

	if (!place)
		return UINT32_MAX;
	if (*place) {
		slow.places.count = first;
		return *place - 1;
	}
	s = VECTOR_PUSH(&slow.stacks);
	if (!s)
		return UINT32_MAX;
	*s = wanted;
	*place = (uint32_t)slow.stacks.count;
	return *place - 1;
}

/* The place of the stack; UINT32_MAX: no memory. */
static uint32_t stack_of(const struct told *t)
{
	uint32_t first = (uint32_t)slow.places.count;
	uint64_t key = t->truncated;
	jint i;

	for (i = 0; i < t->count; i++) {
		uint32_t frame = frame_of(&t->frames[i]), *at = frame == UINT32_MAX ? NULL : VECTOR_PUSH(&slow.places);

		if (!at)
			return UINT32_MAX;
		*at = frame;
		key = hash_mix(key * 31 + frame + 1);
	}
	return stack_at(first, (uint32_t)t->count, t->truncated, key);
}

static void store(const struct tree_exit *e, const struct told *t)
{
	uint32_t stack = t && slow.events.count < EVENTS_KEPT ? stack_of(t) : UINT32_MAX;
	struct event *event = stack != UINT32_MAX ? VECTOR_PUSH(&slow.events) : NULL;

	if (!event) {
		slow.lost++;
		return;
	}
	*event = (struct event){.id = e->id, .stack = stack, .ended = e->ended, .duration = e->took,
				.thread_id = t->thread_id, .thread = keep(t->thread, false)};
}

/* ---- noting -------------------------------------------------------------------------------------- */

/* JVMTI to ask about E, which is under way from here on; NULL: it is not to be asked. */
static jvmtiEnv *begin_note(const struct tree_exit *e, uint32_t *generation_now)
{
	jvmtiEnv *ti = NULL;

	pthread_mutex_lock(&lock);
	*generation_now = generation;
	if (!slow.ti || e->id < slow.first)
		; /* it began in a session before */
	else if (!tree_is_method(e->id) || slow.events.count + slow.under_way >= EVENTS_KEPT)
		slow.lost++;
	else
		ti = slow.ti;
	slow.under_way += ti != NULL;
	pthread_mutex_unlock(&lock);
	return ti;
}

/*
 * Each question to the JVM is a place where a debugger may suspend this thread: with the lock held, that would hold up
 * all other threads with slow calls, and the end of the session.
 */
static void on_slow(JNIEnv *env, const struct tree_exit *e)
{
	uint32_t begun;
	jvmtiEnv *ti = begin_note(e, &begun);
	struct told *t;

	if (!ti)
		return;
	t = ask(ti, env);
	pthread_mutex_lock(&lock);
	if (begun == generation) {
		slow.under_way--;
		store(e, t);
	}
	pthread_mutex_unlock(&lock);
	give_back(ti, t);
}

void trace_slow_begin(jvmtiEnv *ti, uint32_t first)
{
	pthread_mutex_lock(&lock);
	slow.ti = ti;
	slow.first = first;
	slow.real = (int64_t)(os_realtime() - os_monotonic());
	pthread_mutex_unlock(&lock);
	probe_on_slow(on_slow, false);
}

void trace_slow_end(void)
{
	probe_on_slow(NULL, false);
	pthread_mutex_lock(&lock);
	slow.ti = NULL;
	pthread_mutex_unlock(&lock);
}

/* ---- reading --------------------------------------------------------------------------------------- */

/* E, if its method is one of those that C names: writers take its number for a place there. */
static void fill_event(struct calls *c, const struct event *e, const char *texts)
{
	uint32_t method = e->id - slow.first;

	if (method >= c->method_count) {
		c->events_lost++;
		return;
	}
	c->events[c->event_count++] = (struct calls_event){
		.method = method, .stack = e->stack, .duration = e->duration,
		.started_at = (uint64_t)((int64_t)(e->ended - e->duration) + slow.real),
		.thread_id = e->thread_id, .thread = texts + e->thread,
	};
}

static void fill(struct calls *c)
{
	uint32_t *places = (uint32_t *)(c->stacks + slow.stacks.count);
	const char *texts = c->slow_texts;
	size_t i;

	if (slow.places.count)
		memcpy(places, slow.places.items, slow.places.count * sizeof(*places));
	for (i = 0; i < slow.frames.count; i++) {
		const struct stack_frame *f = &slow.frames.items[i];

		c->frames[i] = (struct calls_frame){texts + f->class_name, texts + f->name, texts + f->type, f->line};
	}
	for (i = 0; i < slow.stacks.count; i++) {
		const struct stack *s = &slow.stacks.items[i];

		c->stacks[i] = (struct calls_stack){places + s->first, s->count, s->truncated};
	}
	for (i = 0; i < slow.events.count; i++)
		fill_event(c, &slow.events.items[i], texts);
}

int trace_slow_read(struct calls *c)
{
	int rc = 0;

	pthread_mutex_lock(&lock);
	c->frames = calloc(slow.frames.count + 1, sizeof(*c->frames));
	c->stacks = calloc(1, (slow.stacks.count + 1) * sizeof(*c->stacks) + slow.places.count * sizeof(uint32_t));
	c->events = calloc(slow.events.count + 1, sizeof(*c->events));
	c->slow_texts = calloc(1, slow.texts.length + 1);
	if (c->frames && c->stacks && c->events && c->slow_texts) {
		if (slow.texts.length)
			memcpy(c->slow_texts, slow.texts.bytes, slow.texts.length);
		c->event_count = 0;
		c->events_lost = slow.lost + slow.under_way;
		fill(c);
		c->frame_count = (uint32_t)slow.frames.count;
		c->stack_count = (uint32_t)slow.stacks.count;
	} else {
		rc = -ENOMEM;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

void trace_slow_forget(void)
{
	pthread_mutex_lock(&lock);
	free(slow.frames.items);
	free(slow.places.items);
	free(slow.stacks.items);
	free(slow.events.items);
	map_free(&slow.frames_known);
	map_free(&slow.stacks_known);
	strings_free(&slow.texts);
	memset(&slow, 0, sizeof(slow));
	generation++;
	pthread_mutex_unlock(&lock);
}

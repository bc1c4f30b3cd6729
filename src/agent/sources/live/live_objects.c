/*
 * live_objects.c - what stays: sampled objects (object_samples.h) that are still there, by where they were allocated.
 *
 *   a sampled object ─▶ a weak reference in the table ─▶ stack, class, its number there ─▶ queue ─▶ survivors
 *   a result is wanted ─▶ look at all references ─▶ survivors whose object is there make the profile
 *
 * What it counts is the heap as it was used after the last collection: what its samples are held against.
 */
#include <errno.h>
#include <string.h>

#include "agent/jvm/jvm.h"
#include "agent/sample/field_sample.h"
#include "agent/sample/handler.h"
#include "agent/sources/active.h"
#include "agent/sources/callback_source.h"
#include "agent/sources/class_names.h"
#include "agent/sources/live/collections.h"
#include "agent/sources/live/live_objects.h"
#include "agent/sources/live/live_table.h"
#include "agent/sources/live/reference_walk.h"
#include "agent/sources/object_samples.h"
#include "common/base/clock_ns.h"

/* The event's fields, as its row has them. */
enum { FIELD_CLASS, FIELD_SIZE, FIELD_TIME, FIELD_AGE, FIELD_ID };

static void take(uint32_t event, jvmtiEnv *ti, JNIEnv *env, jobject object, jclass class, uint64_t size);
static struct object_source live = OBJECT_SOURCE(take);
static bool listens; /* this session's start has come so far */
static _Atomic uint64_t used; /* bytes of the heap, after the last collection before the last look */
static _Atomic uint64_t most; /* that the heap may have */
static _Atomic uint64_t collected;

/* ---- on the thread that allocates ---- */

static void take(uint32_t event, jvmtiEnv *ti, JNIEnv *env, jobject object, jclass class, uint64_t size)
{
	uint64_t time = clock_ns(CLOCK_MONOTONIC), stands_for = 1, weight, id;
	struct field_note fields = {.values = {[FIELD_SIZE] = size, [FIELD_TIME] = time}};
	struct thread_record *r;
	bool kept;

	if (field_sample_leaves_out(event)) /* its objects would take others' places in the table */
		return;
	id = object ? live_table_add(env, object, &stands_for) : LIVE_REFUSED;
	kept = id != LIVE_PASSED && id != LIVE_REFUSED;
	fields.values[FIELD_ID] = id;
	fields.values[FIELD_CLASS] = kept ? class_number_of_class(ti, class) : 0;
	r = field_sample_enter(event, object_samples_about(size) * stands_for);
	if (!r)
		return;
	/* also where the object is not one of those that are kept: its distance is over */
	weight = object_samples_weigh(r, event, size) * stands_for;
	if (kept) {
		field_sample_take(r, event, time, weight, &fields);
	} else if (id == LIVE_REFUSED) {
		record_take(r, event);
		record_lose(r, event, LOSS_no_memory, weight);
	}
	wait_leave(r);
}

/* ---- results ---- */

static void collect_heap(void)
{
	collections_ask();
	object_samples_collect();
	atomic_store(&collected, clock_ns(CLOCK_MONOTONIC));
}

/* See struct engine_ops. */
static void look(bool collect)
{
	JNIEnv *env = live.wanted >= 0 ? jvm_jni() : NULL;

	if (!env)
		return;
	if (collect)
		collect_heap();
	live_table_look(env);
	atomic_store(&used, collections_used());
	atomic_store(&most, collections_most());
}

uint64_t live_objects_used(void)
{
	return atomic_load(&used);
}

uint64_t live_objects_most(void)
{
	return atomic_load(&most);
}

uint64_t live_objects_collected(void)
{
	return atomic_load(&collected);
}

/* ---- what holds them ---- */

static int follow(struct reference_walk *w, JNIEnv *env, const uint64_t *ids, uint32_t count, uint64_t pause,
		  struct live_roots *r, struct error *err)
{
	struct reference_walk_end end;
	uint32_t i, known = 0;
	int rc;

	for (i = 0; i < count; i++) {
		jobject object = live_table_object(env, ids[i]);

		known += object && reference_walk_target(w, i, object);
		if (object)
			(*env)->DeleteLocalRef(env, object); /* else it is held by that */
	}
	if (!known)
		return error_set(err, ENOENT, "roots: what grew is not there any more");
	rc = reference_walk_run(w, env, pause, collections_most(), &end, err);
	if (rc)
		return rc;
	for (i = 0; i < count; i++)
		reference_walk_put(w, env, i, &r->chains[i]);
	r->took = end.took;
	r->objects = end.objects;
	r->passed = end.passed;
	r->full = end.full;
	return 0;
}

int live_objects_roots(const uint64_t *ids, uint32_t count, uint64_t pause, struct live_roots *r, struct error *err)
{
	JNIEnv *env = jvm_jni();
	struct reference_walk *w;
	uint32_t i;
	int rc;

	memset(r, 0, sizeof(*r));
	for (i = 0; i < LIVE_ROOTS; i++)
		buffer_init(&r->chains[i], -1);
	if (!env)
		return error_set(err, ENOTSUP, "roots: the JVM is not up");
	rc = reference_walk_open(&w, env, err);
	if (rc)
		return rc;
	rc = follow(w, env, ids, MIN(count, LIVE_ROOTS), pause, r, err);
	reference_walk_close(w, env);
	for (i = 0; i < LIVE_ROOTS; i++)
		buffer_putc(&r->chains[i], '\0');
	return rc;
}

void live_objects_roots_free(struct live_roots *r)
{
	uint32_t i;

	for (i = 0; i < LIVE_ROOTS; i++)
		buffer_free(&r->chains[i]);
}

/* ---- the JVM ---- */

static int listen(struct buffer *notes, struct error *err)
{
	int rc = live.wanted < 0 ? 0 : object_samples_listen(&live, err);

	listens = live.wanted >= 0 && rc == 0;
	if (rc)
		atomic_store(&live.event, -1);
	return rc;
}

static void halt(void)
{
	atomic_store(&live.event, -1);
	if (!listens)
		object_samples_halt(&live);
}

static void listen_no_more(bool goes_on)
{
	/* beside some collectors the program allocates on: that is in the heap then, and sampled as well */
	if (listens && active_options()->collect_first)
		collect_heap();
	object_samples_end();
	if (live.wanted < 0)
		return;
	listens = false;
	look(false);
	object_samples_halt(&live);
	live_table_let_go(jvm_jni());
}

static void vm_death(void)
{
	halt();
	object_samples_end();
}

/* ---- the source ---- */

static int start(struct engine_event *event, uint32_t e, struct buffer *notes, struct error *err)
{
	int rc = object_samples_start(&live, event, e, err);

	if (rc)
		return rc;
	/* while the JVM starts there is no heap yet */
	if (!collections_open() && jvm_is_live())
		rc = error_set(err, ENOTSUP, "live: this JVM does not tell how often its heap was collected");
	else if (live_table_open())
		rc = error_set(err, ENOMEM, "live: cannot reserve address space for %u objects; raise the limit of "
			       "virtual memory (ulimit -v)", LIVE_SLOTS);
	if (rc)
		object_samples_halt(&live);
	return rc;
}

static int arm(struct thread_record *r, uint32_t e)
{
	struct record_source *s = &r->sources[e];

	object_samples_arm(r, e);
	s->last_count = 0;
	atomic_store_explicit(&s->arm, ARM_CALLS, memory_order_release);
	return 0;
}

const struct engine_ops engine_live = {
	.java = true,
	.name = "live", .handler = handler_thread, .start = start, .arm = arm, .disarm = callback_source_disarm,
	.java_ends = object_samples_java_ends, .halt = halt, .listen = listen, .listen_no_more = listen_no_more,
	.look = look, .vm_death = vm_death, .release = live_table_release,
};

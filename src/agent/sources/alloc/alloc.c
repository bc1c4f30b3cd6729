/*
 * alloc.c - allocations of Java objects: each sampled object (object_samples.h) is a sample of its thread, and beside
 * them stands what the JVM itself has counted.
 */
#include "agent/sample/field_sample.h"
#include "agent/sample/handler.h"
#include "agent/sources/callback_source.h"
#include "agent/sources/class_names.h"
#include "agent/sources/object_draws.h"
#include "agent/sources/object_samples.h"
#include "agent/threads/records.h"
#include "agent/zone/load.h"
#include "common/base/clock_ns.h"

/* The event's fields, as its row has them. */
enum { FIELD_CLASS, FIELD_SIZE, FIELD_OUTSIDE };

static void take(uint32_t event, jvmtiEnv *ti, JNIEnv *env, jobject object, jclass class, uint64_t size);
static struct object_source alloc = OBJECT_SOURCE(take);

/* ---- what the JVM counts ---- */

/* A thread that attaches anew begins at 0. */
static void java_ends(struct thread_record *r, uint32_t e)
{
	if (atomic_load(&alloc.event) >= 0)
		r->sources[e].last_count += callback_source_since(r, e, object_draws_allocated(r));
	r->sources[e].charged = 0;
	object_samples_java_ends(r, e);
}

static uint64_t counted(const struct thread_record *r, uint32_t e)
{
	return r->sources[e].last_count +
	       (atomic_load(&alloc.event) >= 0 ? callback_source_since(r, e, object_draws_allocated(r)) : 0);
}

static void end_count(struct thread_record *r)
{
	callback_source_counted(r, (uint32_t)alloc.wanted, object_draws_allocated(r));
}

/* ---- on the thread that allocates ---- */

/*
 * Whether OBJECT, which this thread allocated just now, lies outside its TLAB. A thread that has none allocated outside
 * of it; a collection between the allocation and here takes a TLAB away, too, which few samples see.
 */
static bool is_outside(jobject object)
{
	const struct thread_record *r = record_find(&zone.records, handler_thread_pointer());
	uintptr_t thread = r ? atomic_load(&((struct thread_record *)r)->java_thread) : 0, address, start, top;
	const struct layout *l = &zone.layout;

	if (!object || !thread || l->thread_tlab < 0 || l->tlab_start < 0 || l->tlab_top < 0 ||
	    !load_word((uintptr_t)object, &address))
		return false;
	thread += (uintptr_t)l->thread_tlab;
	return load_word(thread + (uintptr_t)l->tlab_start, &start) &&
	       load_word(thread + (uintptr_t)l->tlab_top, &top) && !(address >= start && address < top);
}

static void take(uint32_t event, jvmtiEnv *ti, JNIEnv *env, jobject object, jclass class, uint64_t size)
{
	uint64_t time = clock_ns(CLOCK_MONOTONIC);
	struct field_note fields = {.values = {[FIELD_SIZE] = size}};
	struct thread_record *r;

	if (field_sample_leaves_out(event))
		return;
	fields.values[FIELD_OUTSIDE] = is_outside(object);
	/* the JVM may stop this thread in there, and move the object */
	fields.values[FIELD_CLASS] = class_number_of_class(ti, class);
	r = field_sample_enter(event, object_samples_about(size));
	if (!r)
		return;
	field_sample_take(r, event, time, object_samples_weigh(r, event, size), &fields);
	wait_leave(r);
}

/* ---- the JVM ---- */

static int listen(struct buffer *notes, struct error *err)
{
	if (alloc.wanted < 0)
		return 0;
	return object_samples_listen(&alloc, err);
}

/* Other events of the session may take a while to halt: what is counted ends with the samples. */
static void halt(void)
{
	if (atomic_exchange(&alloc.event, -1) >= 0)
		records_each(end_count);
	object_samples_halt(&alloc);
}

static void listen_no_more(bool goes_on)
{
	object_samples_end();
	halt();
}

static void vm_death(void)
{
	halt();
	object_samples_end();
}

/* ---- the source ---- */

static int start(struct engine_event *event, uint32_t e, struct buffer *notes, struct error *err)
{
	return object_samples_start(&alloc, event, e, err);
}

static int arm(struct thread_record *r, uint32_t e)
{
	struct record_source *s = &r->sources[e];

	object_samples_arm(r, e);
	s->last_count = 0;
	s->charged = object_draws_allocated(r);
	atomic_store_explicit(&s->arm, ARM_CALLS, memory_order_release);
	return 0;
}

const struct engine_ops engine_alloc = {
	.java = true,
	.name = "alloc", .handler = handler_thread, .start = start, .arm = arm, .disarm = callback_source_disarm,
	.halt = halt, .counted = counted, .java_ends = java_ends, .listen = listen, .listen_no_more = listen_no_more,
	.vm_death = vm_death,
};

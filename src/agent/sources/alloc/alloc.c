/*
 * alloc.c - allocations of Java objects, as JVMTI tells of sampled ones on the thread that allocates (JDK 11 and up).
 *
 *   a TLAB's end, moved to the drawn point ─▶ slow path of the allocation ─▶ class, size ─▶ stack, weight ─▶ its queue
 *
 * Compiled code's fast path stays as it is. The JVM has one interval for all. A thread draws its next distance when it
 * begins and at each of its samples; one that was there before the session draws its first by the interval that was
 * set then, and weighs it by that.
 *
 * HotSpot gives the capability to one agent at a time: it is asked for in a call of its own when the session begins,
 * and given back when it ends.
 */
#include <errno.h>

#include "agent/sample/field_sample.h"
#include "agent/sample/handler.h"
#include "agent/sources/active.h"
#include "agent/sources/alloc/alloc_weight.h"
#include "agent/sources/callback_source.h"
#include "agent/sources/class_names.h"
#include "agent/threads/records.h"
#include "agent/zone/load.h"
#include "common/base/clock_ns.h"

/* The event's fields, as its row has them. */
enum { FIELD_CLASS, FIELD_SIZE };

#define JVM_INTERVAL (512u << 10) /* of a JVM in which no agent has set another one (ThreadHeapSampler) */

static struct {
	jvmtiEnv *ti;              /* once it was needed; it has the capability while the JVM tells */
	_Atomic int event;         /* which of the session's; -1: none is taken */
	int wanted;                /* the same, from the start to the halt */
	_Atomic bool on;           /* the JVM tells */
	_Atomic uint64_t interval; /* by which a thread that begins now draws */
} alloc = {.event = -1, .wanted = -1, .interval = JVM_INTERVAL};

/* ---- what the JVM counts ---- */

/*
 * All bytes that R's Java thread has allocated: ThreadMXBean's number (Thread::cooked_allocated_bytes). Of a thread
 * that takes a new TLAB just now, those of the old one may be in it twice.
 */
static uint64_t exact(const struct thread_record *r)
{
	uintptr_t thread = atomic_load(&((struct thread_record *)r)->java_thread), start, top;
	const struct layout *l = &zone.layout;
	uint64_t bytes;

	if (!thread || l->thread_allocated < 0 || !load_u64(thread + (uintptr_t)l->thread_allocated, &bytes))
		return 0;
	if (l->thread_tlab < 0 || l->tlab_start < 0 || l->tlab_top < 0)
		return bytes;
	thread += (uintptr_t)l->thread_tlab;
	if (load_word(thread + (uintptr_t)l->tlab_start, &start) && load_word(thread + (uintptr_t)l->tlab_top, &top) &&
	    top > start)
		bytes += top - start;
	return bytes;
}

/* Of them, those since `charged`; a thread that has attached anew begins at 0. */
static uint64_t since(const struct thread_record *r, uint32_t e)
{
	uint64_t now = exact(r), base = r->sources[e].charged;

	return now >= base ? now - base : now;
}

static void java_ends(struct thread_record *r, uint32_t e)
{
	if (atomic_load(&alloc.event) >= 0)
		r->sources[e].last_count += since(r, e);
	r->sources[e].charged = 0;
}

static uint64_t counted(const struct thread_record *r, uint32_t e)
{
	return r->sources[e].last_count + (atomic_load(&alloc.event) >= 0 ? since(r, e) : 0);
}

static void end_count(struct thread_record *r)
{
	struct record_source *s = &r->sources[alloc.wanted];

	if (atomic_load(&s->arm) == ARM_CALLS)
		s->last_count += since(r, (uint32_t)alloc.wanted);
	s->charged = 0;
}

static void begin_count(struct thread_record *r)
{
	struct record_source *s = &r->sources[alloc.wanted];

	if (atomic_load(&s->arm) == ARM_CALLS)
		s->charged = exact(r);
}

/* ---- on the thread that allocates ---- */

/* What an object of SIZE on R, entered, stands for. */
static uint64_t weigh(struct thread_record *r, uint32_t event, uint64_t size)
{
	struct record_source *s = &r->sources[event];
	uint64_t drawn_by = s->period;

	s->period = zone.events[event].interval;
	return alloc_weight(size, drawn_by);
}

static void JNICALL on_alloc(jvmtiEnv *ti, JNIEnv *env, jthread thread, jobject object, jclass class, jlong size)
{
	int event = atomic_load_explicit(&alloc.event, memory_order_acquire);
	uint64_t time = event < 0 ? 0 : clock_ns(CLOCK_MONOTONIC), bytes = (uint64_t)size;
	struct field_note fields = {.values = {[FIELD_SIZE] = bytes}};
	struct thread_record *r;

	if (event < 0)
		return;
	fields.values[FIELD_CLASS] = class_number_of_class(ti, class);
	r = field_sample_enter((uint32_t)event, alloc_weight(bytes, zone.events[event].interval));
	if (!r)
		return;
	field_sample_take(r, (uint32_t)event, time, weigh(r, (uint32_t)event, bytes), &fields);
	wait_leave(r);
}

/* ---- the JVM ---- */

static int environment(struct error *err)
{
	static const jvmtiEventCallbacks callbacks = {.SampledObjectAlloc = on_alloc};

	if (!alloc.ti)
		alloc.ti = callback_source_environment(&callbacks, NULL);
	return alloc.ti ? 0 : error_set(err, ENOTSUP, "alloc: this JVM gives no JVMTI environment");
}

static const jvmtiCapabilities capability = {.can_generate_sampled_object_alloc_events = 1};

static void disable(void)
{
	if (!atomic_exchange(&alloc.on, false))
		return;
	(*alloc.ti)->SetEventNotificationMode(alloc.ti, JVMTI_DISABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL);
	(*alloc.ti)->RelinquishCapabilities(alloc.ti, &capability);
}

static int enable(uint64_t interval, struct error *err)
{
	jvmtiError said;

	if (atomic_load(&alloc.on))
		return 0;
	if ((*alloc.ti)->AddCapabilities(alloc.ti, &capability))
		return error_set(err, ENOTSUP, "alloc: this JVM gives no samples of allocations: it is older than "
				 "JDK 11, or another agent takes them (HotSpot gives them to one at a time); stop "
				 "that one, then try again");
	said = (*alloc.ti)->SetHeapSamplingInterval(alloc.ti, (jint)interval);
	if (said == JVMTI_ERROR_NONE) {
		atomic_store(&alloc.interval, interval);
		said = (*alloc.ti)->SetEventNotificationMode(alloc.ti, JVMTI_ENABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC,
							     NULL);
	}
	atomic_store(&alloc.on, true);
	if (said == JVMTI_ERROR_NONE)
		return 0;
	disable();
	return error_set(err, ENOTSUP, "alloc: this JVM gives no samples of allocations (JVMTI error %d)", (int)said);
}

static int listen(struct buffer *notes, struct error *err)
{
	int rc = alloc.wanted < 0 ? 0 : environment(err);

	if (rc || alloc.wanted < 0)
		return rc;
	records_each(begin_count);
	atomic_store(&alloc.event, alloc.wanted);
	return enable(active_event((uint32_t)alloc.wanted)->interval, err);
}

/* Other events of the session may take a while to halt: what is counted ends with the samples. */
static void halt(void)
{
	if (atomic_exchange(&alloc.event, -1) >= 0)
		records_each(end_count);
	alloc.wanted = -1;
}

static void listen_no_more(bool goes_on)
{
	disable();
	halt();
}

static void vm_death(void)
{
	halt();
	disable();
}

/* ---- the source ---- */

static int start(struct engine_event *event, uint32_t e, struct buffer *notes, struct error *err)
{
	int rc = callback_source_start(event, err);

	if (rc)
		return rc;
	if (event->interval > INT32_MAX)
		return error_set(err, EINVAL, "alloc: the JVM takes intervals up to 2147483647 bytes");
	alloc.wanted = (int)e;
	return 0;
}

static int arm(struct thread_record *r, uint32_t e)
{
	struct record_source *s = &r->sources[e];

	s->period = atomic_load(&alloc.interval);
	s->last_count = 0;
	s->charged = exact(r);
	atomic_store_explicit(&s->arm, ARM_CALLS, memory_order_release);
	return 0;
}

const struct engine_ops engine_alloc = {
	.name = "alloc", .handler = handler_thread, .start = start, .arm = arm, .disarm = callback_source_disarm,
	.halt = halt, .counted = counted, .java_ends = java_ends, .listen = listen, .listen_no_more = listen_no_more,
	.vm_death = vm_death,
};

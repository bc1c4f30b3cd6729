/*
 * exceptions.c - throws of exceptions, as JVMTI tells of them on the thread that throws.
 *
 *   each throw ─▶ counted in the thread's record ─▶ due, or no frame of Java catches it? ─▶ class, stack ─▶ its queue
 *
 * Of the throws of a thread that are caught, one in so many is a sample, at random distances whose mean is the
 * interval, so that no rhythm of the program can hide one; it weighs all since the last one. What nothing catches is
 * always a sample of its own, of weight 1. The class is asked for while the record is left: inside it the JVM must not
 * be called.
 *
 * HotSpot offers these events only to agents that ask while it starts: from then on compiled code is left for the
 * interpreter wherever an exception comes by, for as long as the JVM lives, so that this can be told of. Giving the
 * capability back changes nothing. Once one has asked, sessions can have the events at any time.
 */
#include <errno.h>

#include "agent/sample/field_sample.h"
#include "agent/sample/handler.h"
#include "agent/sources/callback_source.h"
#include "agent/sources/class_names.h"
#include "common/base/clock_ns.h"

/* The event's fields, as its row has them. */
enum { FIELD_CLASS, FIELD_UNCAUGHT };

static struct {
	jvmtiEnv *ti;         /* with its capability, once it was needed */
	_Atomic int event;    /* which of the session's; -1: none is taken */
	int wanted;           /* the same, from the start to the halt */
	_Atomic bool on;      /* the JVM tells */
} exceptions = {.event = -1, .wanted = -1};

/* ---- on the thread that throws ---- */

/* One more throw on R, entered. What a sample of it weighs; 0: it is none. */
static uint64_t count(struct thread_record *r, uint32_t e, bool uncaught)
{
	struct record_source *s = &r->sources[e];
	uint64_t weight;

	s->last_count++;
	if (uncaught) {
		s->charged++;
		return 1;
	}
	weight = s->last_count - s->charged;
	if (weight < s->period)
		return 0;
	s->charged = s->last_count;
	s->period = callback_source_distance(s, zone.events[e].interval);
	return weight;
}

static void JNICALL on_exception(jvmtiEnv *ti, JNIEnv *env, jthread thread, jmethodID method, jlocation location,
				 jobject exception, jmethodID catch_method, jlocation catch_location)
{
	int event = atomic_load_explicit(&exceptions.event, memory_order_acquire);
	uint64_t time = event < 0 ? 0 : clock_ns(CLOCK_MONOTONIC), weight;
	struct thread_record *r = event < 0 ? NULL : field_sample_enter((uint32_t)event, 1);
	struct field_note fields = {.values = {[FIELD_UNCAUGHT] = !catch_method}};

	if (!r)
		return;
	weight = count(r, (uint32_t)event, !catch_method);
	wait_leave(r);
	if (!weight)
		return;
	fields.values[FIELD_CLASS] = class_number_of(ti, env, exception);
	r = field_sample_enter((uint32_t)event, weight);
	if (!r)
		return;
	field_sample_take(r, (uint32_t)event, time, weight, &fields);
	wait_leave(r);
}

/* ---- the JVM ---- */

static const char price[] = "exceptions: a throw through compiled code costs this JVM 10 to 50 µs more from now on, "
			    "also after the session; see docs/use/exceptions.md\n";

static int environment(struct buffer *notes, struct error *err)
{
	static const jvmtiEventCallbacks callbacks = {.Exception = on_exception};
	const jvmtiCapabilities wanted = {.can_generate_exception_events = 1};

	if (exceptions.ti)
		return 0;
	exceptions.ti = callback_source_environment(&callbacks, &wanted);
	if (!exceptions.ti)
		return error_set(err, ENOTSUP, "exceptions: this JVM tells of them only to agents that were there when "
				 "it started; start the program with 'jstrobe record -e exceptions -- java …', or with "
				 "-agentpath:/path/libjstrobe.so=start,event=exceptions,file=result.html");
	buffer_puts(notes, price);
	return 0;
}

static void enable(bool on)
{
	if (atomic_exchange(&exceptions.on, on) == on)
		return;
	(*exceptions.ti)->SetEventNotificationMode(exceptions.ti, on ? JVMTI_ENABLE : JVMTI_DISABLE,
						   JVMTI_EVENT_EXCEPTION, NULL);
}

static int listen(struct buffer *notes, struct error *err)
{
	int rc = exceptions.wanted < 0 ? 0 : environment(notes, err);

	if (rc || exceptions.wanted < 0)
		return rc;
	atomic_store(&exceptions.event, exceptions.wanted);
	enable(true);
	return 0;
}

static void halt(void)
{
	atomic_store(&exceptions.event, -1);
	exceptions.wanted = -1;
}

static void listen_no_more(bool goes_on)
{
	enable(false);
	halt();
}

static void vm_death(void)
{
	atomic_store(&exceptions.event, -1);
	enable(false);
}

/* ---- the source ---- */

static int start(struct engine_event *event, uint32_t e, struct buffer *notes, struct error *err)
{
	int rc = callback_source_start(event, err);

	if (rc == 0)
		exceptions.wanted = (int)e;
	return rc;
}

const struct engine_ops engine_exceptions = {
	.java = true,
	.name = "exceptions", .handler = handler_thread, .start = start, .arm = callback_source_arm_counting,
	.disarm = callback_source_disarm, .halt = halt, .counted = callback_source_count, .listen = listen,
	.listen_no_more = listen_no_more, .vm_death = vm_death,
};

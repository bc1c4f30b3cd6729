/*
 * object_samples.c - JVMTI's samples of objects (JEP 331, JDK 11 and up), on the thread that allocates.
 *
 *   a TLAB's end, moved to the drawn point ─▶ slow path of the allocation ─▶ class, size ─▶ each source of the session
 *
 * Compiled code's fast path stays as it is. A thread draws its next distance when it begins and at each of its samples:
 * what one that was there before the session has drawn is kept by object_draws.h.
 */
#include "agent/sources/object_samples.h"

#include <errno.h>

#include "agent/sources/active.h"
#include "agent/sources/alloc_weight.h"
#include "agent/sources/callback_source.h"
#include "agent/sources/object_draws.h"
#include "agent/sources/sample_rate.h"
#include "agent/threads/records.h"
#include "agent/zone/zone.h"
#include "common/base/clock_ns.h"

#define SOURCES 2                 /* alloc, live */

static struct {
	jvmtiEnv *ti;              /* once it was needed; it has the capability while the JVM tells */
	struct object_source *sources[SOURCES]; /* that were ever wanted; they stay */
	uint64_t wanted;           /* interval of the session that starts */
	_Atomic bool on;           /* the JVM tells */
	_Atomic uint64_t interval; /* by which a thread that draws now does */
	_Atomic uint64_t least, most; /* that it was in this session, or in the last one */
	bool bounded;              /* by a rate */
	struct sample_rate rate;
} samples = {.interval = OBJECT_DRAWS_INTERVAL};

#define LONGEST_INTERVAL INT32_MAX

/* ---- the rate ---- */

/* Intervals are INTERVAL from now on. A thread whose next distance is drawn already goes on with that. */
static jvmtiError set_interval(uint64_t interval)
{
	jvmtiError said = (*samples.ti)->SetHeapSamplingInterval(samples.ti, (jint)interval);

	if (said)
		return said;
	atomic_store(&samples.interval, interval);
	if (interval < atomic_load(&samples.least))
		atomic_store(&samples.least, interval);
	if (interval > atomic_load(&samples.most))
		atomic_store(&samples.most, interval);
	return said;
}

/* ---- on the thread that allocates ---- */

static void JNICALL on_sampled(jvmtiEnv *ti, JNIEnv *env, jthread thread, jobject object, jclass class, jlong size)
{
	uint64_t drawn_by = atomic_load(&samples.interval), wanted;
	unsigned i;

	for (i = 0; i < SOURCES && samples.sources[i]; i++) {
		int event = atomic_load_explicit(&samples.sources[i]->event, memory_order_acquire);

		if (event >= 0)
			samples.sources[i]->take((uint32_t)event, ti, env, object, class, (uint64_t)size);
	}
	wanted = samples.bounded ? sample_rate_took(&samples.rate, clock_ns(CLOCK_MONOTONIC),
						    alloc_weight((uint64_t)size, drawn_by)) : 0;
	if (wanted)
		set_interval(wanted);
}

void object_samples_arm(struct thread_record *r, uint32_t e)
{
	r->sources[e].charged = object_draws_allocated(r);
	object_draws_anew(r, e, atomic_load(&samples.interval));
}

void object_samples_java_ends(struct thread_record *r, uint32_t e)
{
	object_draws_anew(r, e, atomic_load(&samples.interval));
}

uint64_t object_samples_weigh(struct thread_record *r, uint32_t e, uint64_t size)
{
	return object_draws_weight(r, e, size, atomic_load(&samples.interval));
}

uint64_t object_samples_about(uint64_t size)
{
	return alloc_weight(size, atomic_load(&samples.interval));
}

void object_samples_intervals(uint64_t *least, uint64_t *most)
{
	*least = atomic_load(&samples.least);
	*most = atomic_load(&samples.most);
}

/* ---- the JVM ---- */

static const jvmtiCapabilities capability = {.can_generate_sampled_object_alloc_events = 1};

/* Threads that begin until the next session draw as if there had been none; what others have drawn is kept. */
void object_samples_end(void)
{
	unsigned i;

	if (!atomic_exchange(&samples.on, false))
		return;
	(*samples.ti)->SetEventNotificationMode(samples.ti, JVMTI_DISABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL);
	for (i = 0; i < SOURCES && samples.sources[i]; i++) {
		if (samples.sources[i]->wanted >= 0) {
			object_draws_keep((uint32_t)samples.sources[i]->wanted);
			break;
		}
	}
	if ((*samples.ti)->SetHeapSamplingInterval(samples.ti, OBJECT_DRAWS_INTERVAL) == JVMTI_ERROR_NONE)
		atomic_store(&samples.interval, OBJECT_DRAWS_INTERVAL);
	(*samples.ti)->RelinquishCapabilities(samples.ti, &capability);
}

/* ---- its beginning ---- */

static void pending(struct thread_record *r)
{
	unsigned i;

	for (i = 0; i < SOURCES && samples.sources[i]; i++) {
		int e = samples.sources[i]->wanted;

		if (e >= 0 && atomic_load(&r->sources[e].arm) == ARM_CALLS)
			object_draws_pending(r, (uint32_t)e, samples.wanted);
	}
}

static int enable(const char *name, uint64_t interval, struct error *err)
{
	jvmtiError said;

	if (atomic_load(&samples.on))
		return 0;
	records_each(pending);
	said = (*samples.ti)->AddCapabilities(samples.ti, &capability);
	if (said == JVMTI_ERROR_NOT_AVAILABLE)
		return error_set(err, ENOTSUP, "%s: this JVM gives no samples of allocations: it is older than "
				 "JDK 11, or another agent takes them (HotSpot gives them to one at a time); stop "
				 "that one, then try again", name);
	if (said)
		return error_set(err, ENOTSUP, "%s: this JVM refuses to give samples of allocations (JVMTI error %d)",
				 name, (int)said);
	samples.bounded = active_options()->rate;
	sample_rate_begin(&samples.rate, active_options()->rate, interval, LONGEST_INTERVAL, clock_ns(CLOCK_MONOTONIC));
	atomic_store(&samples.least, interval);
	atomic_store(&samples.most, interval);
	said = set_interval(interval);
	if (said == JVMTI_ERROR_NONE) {
		said = (*samples.ti)->SetEventNotificationMode(samples.ti, JVMTI_ENABLE,
							       JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL);
	}
	atomic_store(&samples.on, true);
	if (said == JVMTI_ERROR_NONE)
		return 0;
	object_samples_end();
	return error_set(err, ENOTSUP, "%s: this JVM gives no samples of allocations (JVMTI error %d)", name,
			 (int)said);
}

static int environment(const char *name, struct error *err)
{
	static const jvmtiEventCallbacks callbacks = {.SampledObjectAlloc = on_sampled};

	if (!samples.ti)
		samples.ti = callback_source_environment(&callbacks, NULL);
	return samples.ti ? 0 : error_set(err, ENOTSUP, "%s: this JVM gives no JVMTI environment", name);
}

/* ---- for the sources ---- */

void object_samples_collect(void)
{
	if (samples.ti)
		(*samples.ti)->ForceGarbageCollection(samples.ti);
}

static bool others_want(const struct object_source *s)
{
	unsigned i;

	for (i = 0; i < SOURCES && samples.sources[i]; i++)
		if (samples.sources[i] != s && samples.sources[i]->wanted >= 0)
			return true;
	return false;
}

int object_samples_start(struct object_source *s, struct engine_event *event, uint32_t e, struct error *err)
{
	int rc = callback_source_start(event, err);
	unsigned i = 0;

	if (rc)
		return rc;
	if (event->interval > LONGEST_INTERVAL)
		return error_set(err, EINVAL, "%s: the JVM takes intervals up to 2147483647 bytes", event->name);
	if (others_want(s) && samples.wanted != event->interval)
		return error_set(err, EINVAL, "%s: the JVM has one interval for all samples of objects, and this "
				 "session asks for %llu and %llu bytes; give alloc and live the same, or only one of "
				 "them",
				 event->name, (unsigned long long)samples.wanted, (unsigned long long)event->interval);
	samples.wanted = event->interval;
	while (samples.sources[i] && samples.sources[i] != s)
		i++;
	samples.sources[i] = s;
	s->wanted = (int)e;
	return 0;
}

int object_samples_listen(struct object_source *s, struct error *err)
{
	const struct engine_event *event = active_event((uint32_t)s->wanted);
	int rc = environment(event->name, err);

	if (rc)
		return rc;
	atomic_store(&s->event, s->wanted);
	return enable(event->name, event->interval, err);
}

void object_samples_halt(struct object_source *s)
{
	atomic_store(&s->event, -1);
	s->wanted = -1;
}

#include "agent/sources/callback_source.h"

#include <errno.h>

#include "agent/jvm/jvm.h"
#include "agent/sources/active.h"
#include "agent/sources/class_names.h"
#include "agent/zone/zone.h"
#include "common/base/clock_ns.h"
#include "common/base/error.h"
#include "common/base/random.h"

jvmtiEnv *callback_source_environment(const jvmtiEventCallbacks *callbacks, const jvmtiCapabilities *capability)
{
	jvmtiEnv *ti = jvm_environment();

	if (ti && (!capability || (*ti)->AddCapabilities(ti, capability) == JVMTI_ERROR_NONE) &&
	    (*ti)->SetEventCallbacks(ti, callbacks, sizeof(*callbacks)) == JVMTI_ERROR_NONE)
		return ti;
	if (ti)
		(*ti)->DisposeEnvironment(ti);
	return NULL;
}

int callback_source_start(const struct engine_event *event, struct error *err)
{
	if (!zone.has_jvm)
		return error_set(err, ENOTSUP, "%s: this JVM's stacks cannot be walked", event->name);
	if (class_names_open())
		return error_set(err, ENOMEM, "%s: cannot reserve address space for names of classes; raise the limit "
				 "of virtual memory (ulimit -v)", event->name);
	return 0;
}

uint64_t callback_source_since(const struct thread_record *r, uint32_t e, uint64_t now)
{
	uint64_t base = r->sources[e].charged;

	return now >= base ? now - base : now;
}

void callback_source_counted(struct thread_record *r, uint32_t e, uint64_t now)
{
	if (atomic_load(&r->sources[e].arm) == ARM_CALLS)
		r->sources[e].last_count += callback_source_since(r, e, now);
	r->sources[e].charged = 0;
}

/* A callback may be at work on it: it goes on until none is any more, on any thread. */
void callback_source_disarm(struct thread_record *r, uint32_t e, bool at_work)
{
	const struct engine_ops *ops = active_event(e)->ops;
	struct record_source *s = &r->sources[e];

	if (at_work) {
		atomic_store(&s->arm, ARM_LEAVING);
		return;
	}
	if (ops->counted)
		active_counted(e, ops->counted(r, e));
	s->last_count = s->charged = 0;
	atomic_store(&s->arm, ARM_NONE);
}

uint64_t callback_source_distance(struct record_source *s, uint64_t n)
{
	return n > 1 ? 1 + random_below(&s->jitter.seed, 2 * n - 1) : 1;
}

int callback_source_arm_counting(struct thread_record *r, uint32_t e)
{
	struct record_source *s = &r->sources[e];

	s->last_count = s->charged = 0;
	s->jitter.seed = random_seed((uint64_t)clock_ns(CLOCK_MONOTONIC) + r->index);
	s->period = callback_source_distance(s, zone.events[e].interval);
	atomic_store_explicit(&s->arm, ARM_CALLS, memory_order_release);
	return 0;
}

uint64_t callback_source_count(const struct thread_record *r, uint32_t e)
{
	return r->sources[e].last_count;
}

#include "profile/model/work/unsure.h"

#include "common/base/ascii.h"
#include "profile/model/askers.h"

struct method {
	const char *class, *name; /* what both begin with */
};

/* What the program calls to wait … */
static const struct method waits[] = {
	{"java/lang/Object", "wait"},
	{"java/util/concurrent/locks/AbstractQueued", "await"}, /* ConditionObject of both synchronizers */
	{"java/util/concurrent/locks/LockSupport", "park"},
	{"java/net/DatagramSocket", "receive"},
	{"sun/nio/ch/DatagramChannelImpl", "receive"},
};

static bool is_wait(const struct profile_frame *f)
{
	unsigned i;

	for (i = 0; i < ARRAY_LEN(waits); i++)
		if (text_begins(f->class_name, waits[i].class) && text_begins(f->name, waits[i].name))
			return true;
	return false;
}

bool idle_is_unsure(const struct profile *p, const struct profile_stack *s)
{
	const struct profile_frame *called = NULL, *f;
	uint32_t i;
	bool found = false;

	if (s->state != THREAD_PARKED && s->state != THREAD_WAITING && s->state != THREAD_NATIVE)
		return false;
	for (i = s->depth; i-- > 0;) {
		f = &p->frames[s->frames[i]];
		if (!frame_is_method(f))
			continue;
		if (frame_is_of_program(f)) {
			found = true;
			break;
		}
		if (!frame_is_lambda(f))
			called = f;
	}
	if (!found || !called || !is_wait(called))
		return false;
	for (i = 0; i < s->depth; i++)
		if (frame_is_of_program(&p->frames[s->frames[i]]))
			return strcmp(p->frames[s->frames[i]].name, "main") != 0;
	return false;
}

/*
 * contention_frames.c - what a stack says of a lock: where its thread asks for it, and what it does that has asked.
 */
#include <string.h>

#include "common/base/ascii.h"
#include "profile/model/work/contention_inside.h"

/* How the JDK takes a virtual thread off its carrier: that says nothing of what the thread waits for. */
static bool is_of_carrier(const struct profile_frame *frame)
{
	static const char *const classes[] = {"java/lang/VirtualThread", "java/lang/BaseVirtualThread",
					      "java/lang/ThreadBuilders", "java/lang/System$", "jdk/internal/"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(classes); i++)
		if (text_begins(frame->class_name, classes[i]))
			return true;
	return false;
}

uint32_t contention_place_in(const struct profile *p, const struct profile_stack *s, const char **lock)
{
	uint32_t i;

	*lock = NULL;
	for (i = s->depth; i-- > 0;) {
		const struct profile_frame *frame = &p->frames[s->frames[i]];

		if (!frame_is_method(frame) || is_of_carrier(frame))
			continue;
		if (s->state == THREAD_BLOCKED)
			return s->frames[i];
		if (text_begins(frame->class_name, "java/util/concurrent/"))
			*lock = frame->class_name;
		else if (!text_begins(frame->class_name, "sun/misc/"))
			return s->frames[i];
	}
	return NO_NAME_OF;
}

uint32_t contention_method_in(const struct finding *f, const uint32_t *frames, uint32_t depth, uint32_t place)
{
	uint32_t i, any = NO_NAME_OF, innermost = NO_NAME_OF, called = NO_NAME_OF;
	const char *inner = ""; /* class of the method that the present one calls */

	for (i = depth; i-- > 0;) {
		const struct profile_frame *frame = &f->p->frames[frames[i]];
		uint32_t name = f->to->names.of_frame[frames[i]];

		if (!frame_is_method(frame))
			continue;
		if (name == place && called == NO_NAME_OF && text_begins(inner, "java/util/concurrent/locks/"))
			return NO_NAME_OF; /* it asks for a lock, or gives one back */
		if (name == place)
			return called == NO_NAME_OF ? name : called;
		inner = frame->class_name;
		if (any == NO_NAME_OF)
			any = name;
		if (class_is_of_jdk(frame->class_name) || strstr(frame->class_name, "$$Lambda"))
			continue;
		called = name;
		if (innermost == NO_NAME_OF)
			innermost = name;
	}
	return innermost == NO_NAME_OF ? any : innermost;
}

bool contention_is_waiter(const struct finding *f, const struct contended *row, uint32_t text)
{
	const struct thread_groups *g = &f->to->work->groups;

	return row->group != NO_GROUP && g->groups[row->group].threads == 1 && g->groups[row->group].text == text;
}

#include "profile/model/work/activity_kind.h"

#include <string.h>

#include "profile/model/frame_name.h"

const struct activity_name activity_names[ACTIVITIES] = {
#define ACTIVITY(name, key, head, meaning) {key, head, meaning},
#include "profile/model/work/activities.def"
};

bool awaits_condition(const struct profile *p, const struct profile_stack *s)
{
	uint32_t i;

	for (i = 0; s->state == THREAD_PARKED && i < s->depth; i++) {
		const struct profile_frame *f = &p->frames[s->frames[i]];

		if (frame_is_method(f) && strstr(f->class_name, "$ConditionObject") &&
		    strncmp(f->name, "await", 5) == 0)
			return true;
	}
	return false;
}

uint8_t activity_of_owner(uint8_t state, uint8_t activity)
{
	if (activity != ACTIVITY_IDLE)
		return activity;
	return state == THREAD_SLEEPING ? ACTIVITY_SLEEP : state == THREAD_PARKED ? ACTIVITY_PARK : ACTIVITY_NATIVE;
}

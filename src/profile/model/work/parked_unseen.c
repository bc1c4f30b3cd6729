#include "profile/model/work/parked_unseen.h"

#include <string.h>

static bool is_virtual_thread(const struct profile_frame *f, const char *method)
{
	return f->class_name && f->name && strcmp(f->class_name, "java/lang/VirtualThread") == 0 &&
	       (!method || strcmp(f->name, method) == 0);
}

/* Whether S is of a virtual thread that is off its carrier: pinned ones are parked in other classes. */
static bool is_off_its_carrier(const struct profile *p, const struct profile_stack *s)
{
	const struct profile_frame *f = s->depth ? &p->frames[s->frames[s->depth - 1]] : NULL;

	if (!f || !f->class_name)
		return false;
	return s->state == THREAD_PARKED &&
	       (is_virtual_thread(f, NULL) || strcmp(f->class_name, "jdk/internal/vm/Continuation") == 0);
}

/* Threads that the JDK starts for virtual threads only. */
static bool serves_virtual_threads(const char *name)
{
	static const char *const names[] = {"VirtualThread-un", "Read-Poller", "Write-Poller", "MasterPoller",
					    "Master-Poller"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

bool virtual_threads_ran(const struct profile *p)
{
	uint32_t i;

	for (i = 0; i < p->frame_count; i++)
		if (is_virtual_thread(&p->frames[i], "run"))
			return true;
	return false;
}

enum parked_unseen parked_unseen_in(const struct profile *p)
{
	bool seen, served = false;
	uint32_t i;

	if (p->weight_kind != WEIGHT_WALL)
		return PARKED_SEEN;
	seen = virtual_threads_ran(p);
	for (i = 0; i < p->stack_count; i++)
		if (is_off_its_carrier(p, &p->stacks[i]))
			return PARKED_SEEN;
	for (i = 0; i < p->thread_count && !served; i++)
		served = serves_virtual_threads(p->threads[i].name);
	return seen ? PARKED_UNSEEN : served ? PARKED_MAYBE : PARKED_SEEN;
}

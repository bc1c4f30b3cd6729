/*
 * task_roles.h - what a method of java.util.concurrent says of its thread: that it waits for the result of a task, runs
 * one, or waits for others that it works with. Which methods do: task_roles.def.
 */
#ifndef JSTROBE_MODEL_TASK_ROLES_H
#define JSTROBE_MODEL_TASK_ROLES_H

#include "profile/model/profile.h"

enum task_kind {
#define RESULT(name) KIND_##name,
#include "profile/model/work/task_roles.def"
	KINDS,
	KIND_NONE = KINDS,
};

enum task_role { ROLE_NONE, ROLE_WAITS, ROLE_RUNS, ROLE_SERVES, ROLE_FREE, ROLE_MEETS };

struct task_says {
	uint8_t role, kind;
};

/* What each frame of P says; the caller frees it. NULL: no memory. */
struct task_says *task_says_of_frames(const struct profile *p);

#endif

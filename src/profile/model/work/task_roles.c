#include "profile/model/work/task_roles.h"

#include <stdlib.h>
#include <string.h>

#include "profile/model/filter.h"

static const struct {
	const char *class_name, *method;
	struct task_says says;
} roles[] = {
#define ROLE(role, kind, class, method) {class, method, {ROLE_##role, KIND_##kind}},
#include "profile/model/work/task_roles.def"
};

static struct task_says says_of(const struct profile_frame *f)
{
	unsigned i;

	for (i = 0; f->class_name && f->name && i < ARRAY_LEN(roles); i++)
		if (strcmp(roles[i].method, f->name) == 0 &&
		    filter_match(roles[i].class_name, strlen(roles[i].class_name), f->class_name))
			return roles[i].says;
	return (struct task_says){ROLE_NONE, KIND_NONE};
}

struct task_says *task_says_of_frames(const struct profile *p)
{
	struct task_says *says = calloc((size_t)p->frame_count + 1, sizeof(*says));
	uint32_t i;

	for (i = 0; says && i < p->frame_count; i++)
		says[i] = says_of(&p->frames[i]);
	return says;
}

#include "agent/collect/names/late_names.h"
#include "agent/collect/collector_state.h"

#include <stdlib.h>

bool late_waits(const struct collector *c, uint32_t node)
{
	const struct node *n = &c->nodes.items[node];
	uint32_t i;

	for (i = 0; i < n->depth; i++)
		if (c->frames.named.items[c->frame_list.items[n->first + i]].late)
			return true;
	return false;
}

void late_look_up(struct collector *c, bool keep)
{
	struct late_frames late = frames_take_late(&c->frames);
	struct late_name *names = late.count ? calloc(late.count, sizeof(*names)) : NULL;

	c->pinned++; /* the list goes by numbers of frames */
	pthread_mutex_unlock(&c->lock);
	if (names)
		frames_look_up(&zone, late.items, late.count, names, keep || c->kernel ? &c->kernel : NULL);
	pthread_mutex_lock(&c->lock);
	c->pinned--;
	if (names)
		frames_give_names(&c->frames, late.items, late.count, names);
	free(names);
	PAGED_FREE(&late);
}

void late_forget(struct collector *c)
{
	frames_forget_symbols(&zone, &c->kernel);
}

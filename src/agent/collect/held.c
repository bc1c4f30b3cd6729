#include "agent/collect/held.h"
#include "agent/collect/collector.h"
#include "agent/collect/collector_state.h"
#include "agent/collect/held.def"

#include <stdlib.h>
#include <string.h>

#include "common/os/os.h"

#define BYTES_STRINGS(field) strings_bytes(&(field))
#define BYTES_MAP(field) map_bytes(&(field))
#define BYTES_PAGED(field) ((field).room * sizeof(*(field).items))
#define BYTES_TIMELINES(field) bytes_of_timelines(c)

#define DROP_STRINGS(field) strings_free(&(field))
#define DROP_MAP(field) map_free(&(field))
#define DROP_PAGED(field) PAGED_FREE(&(field))
#define DROP_TIMELINES(field) held_drop_timelines(c)

static size_t bytes_of_timelines(const struct collector *c)
{
	size_t sum = 0;
	uint32_t e;

	for (e = 0; e < RECORD_EVENTS; e++)
		sum += timeline_bytes(&c->timelines[e]);
	return sum;
}

void held_drop_timelines(struct collector *c)
{
	uint32_t e;

	for (e = 0; e < RECORD_EVENTS; e++)
		timeline_free(&c->timelines[e]);
}

size_t held_bytes(const struct collector *c)
{
	size_t sum = 0;

#define RENEWED(kind, field, name) sum += BYTES_##kind(c->field);
#include "agent/collect/held.def"
	return sum;
}

void collector_held(struct collector *c, struct metrics_held *to)
{
	struct metrics_held now[COLLECTOR_HELD], *next = now;
	/* a thread that is held may have the lock */
	bool known = os_lock_within(&c->lock, COLLECTOR_SHORT);

#define RENEWED(kind, field, name) *next++ = (struct metrics_held){name, known ? BYTES_##kind(c->field) : 0};
#define LASTING(kind, field, name) *next++ = (struct metrics_held){name, known ? BYTES_##kind(c->field) : 0};
#include "agent/collect/held.def"
	*next = (struct metrics_held){"traces", known && c->open ? stack_store_bytes(&zone.store) : 0};
	if (known)
		pthread_mutex_unlock(&c->lock);
	pthread_mutex_lock(&c->given_lock);
	if (known || !c->held[0].name)
		memcpy(c->held, now, sizeof(now));
	memcpy(to, c->held, sizeof(now));
	pthread_mutex_unlock(&c->given_lock);
}

void held_set_aside(struct collector *c)
{
#define RENEWED(kind, field, name) memset(&c->field, 0, sizeof(c->field));
#include "agent/collect/held.def"
}

void held_put_back(struct collector *c, const struct collector *from)
{
	held_drop(c);
#define RENEWED(kind, field, name) memcpy(&c->field, &from->field, sizeof(c->field));
#include "agent/collect/held.def"
}

void held_drop(struct collector *c)
{
#define RENEWED(kind, field, name) DROP_##kind(c->field);
#include "agent/collect/held.def"
}

void held_drop_lasting(struct collector *c)
{
#define LASTING(kind, field, name) DROP_##kind(c->field);
#include "agent/collect/held.def"
}

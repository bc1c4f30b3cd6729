#include "agent/collect/held.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_STRINGS(field) strings_bytes(&(field))
#define BYTES_MAP(field) map_bytes(&(field))
#define BYTES_PAGED(field) ((field).room * sizeof(*(field).items))

#define DROP_STRINGS(field) strings_free(&(field))
#define DROP_MAP(field) map_free(&(field))
#define DROP_PAGED(field) PAGED_FREE(&(field))
size_t held_bytes(const struct collector *c)
{
	size_t sum = 0;

#define RENEWED(kind, field, name) sum += BYTES_##kind(c->field);
#include "agent/collect/held.def"
	return sum;
}

void collector_held(struct collector *c, struct metrics_held *to)
{
	pthread_mutex_lock(&c->lock);
#define RENEWED(kind, field, name) *to++ = (struct metrics_held){name, BYTES_##kind(c->field)};
#define LASTING(kind, field, name) *to++ = (struct metrics_held){name, BYTES_##kind(c->field)};
#include "agent/collect/held.def"
	*to = (struct metrics_held){"traces", c->open ? stack_store_bytes(&zone.store) : 0};
	pthread_mutex_unlock(&c->lock);
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

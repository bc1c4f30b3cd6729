#include "profile/readers/jfr/constant_pools.h"

#include <errno.h>
#include <stdlib.h>

#define SPAN_ALWAYS 262144 /* keys so close together are looked up in an array, however few there are */

int pools_init(struct pools *p, const struct metadata *m)
{
	memset(p, 0, sizeof(*p));
	p->count = (uint32_t)m->types.count;
	p->of_type = calloc((size_t)p->count + 1, sizeof(*p->of_type));
	return p->of_type ? 0 : -ENOMEM;
}

void pools_free(struct pools *p)
{
	uint32_t i;

	for (i = 0; p->of_type && i < p->count; i++) {
		free(p->of_type[i].constants.items);
		free(p->of_type[i].direct);
		map_free(&p->of_type[i].map);
	}
	free(p->of_type);
	p->of_type = NULL;
}

/* One type's constants. */
static int load_type(struct pools *p, struct field_layouts *layouts, struct reader *r)
{
	uint32_t type = metadata_by_id(layouts->metadata, read_long(r)), layout;
	uint64_t count = read_int(r);
	bool text;

	if (r->c.failed || type == METADATA_NONE)
		return -EBADMSG;
	/* a string's value is no struct with a field, but the string */
	text = strcmp(layouts->metadata->types.items[type].name, "java.lang.String") == 0;
	layout = text ? field_layout_of_text(layouts) : field_layout_of(layouts, type, NULL, 0);
	if (layout == LAYOUT_NONE)
		return layouts->no_memory ? -ENOMEM : -EBADMSG;
	for (; count && !r->c.failed; count--) {
		struct constant constant = {.key = read_long(r), .at = r->c.at}, *kept;

		field_layout_read(layouts, layout, r, NULL);
		if (r->c.failed || !p->of_type[type].wanted)
			continue;
		kept = VECTOR_PUSH(&p->of_type[type].constants);
		if (!kept)
			return -ENOMEM;
		*kept = constant;
	}
	return r->c.failed ? -EBADMSG : 0;
}

/* One checkpoint event. What stands before something damaged is good. */
static int load_event(struct pools *p, struct field_layouts *layouts, struct reader *r)
{
	uint64_t types;
	int rc = 0;

	read_long(r); /* start */
	read_long(r); /* duration */
	read_long(r); /* way to the one before */
	read_u8(r);   /* kind */
	types = read_int(r);
	for (; rc == 0 && types; types--)
		rc = load_type(p, layouts, r);
	return rc ? rc : r->c.failed ? -EBADMSG : 0;
}

static void forget(struct pool *p)
{
	size_t i;

	for (i = 0; p->span && i < p->constants.count; i++)
		p->direct[p->constants.items[i].key - p->lowest] = 0;
	map_clear(&p->map);
	p->constants.count = 0;
	p->span = 0;
}

/* Room for SPAN keys in `direct`. */
static bool make_direct(struct pool *p, uint64_t span)
{
	if (span > p->room) {
		free(p->direct);
		p->direct = calloc(span, sizeof(*p->direct));
		p->room = p->direct ? span : 0;
	}
	p->span = p->direct ? span : 0;
	return p->direct;
}

/* Of a key that is there twice the last one counts; both say the same in whole files. */
static int make_index(struct pool *p, uint64_t span_anyway)
{
	uint64_t highest = 0;
	uint32_t i, *slot;

	p->lowest = UINT64_MAX;
	for (i = 0; i < p->constants.count; i++) {
		p->lowest = MIN(p->lowest, p->constants.items[i].key);
		highest = MAX(highest, p->constants.items[i].key);
	}
	if (!p->constants.count || p->constants.count >= UINT32_MAX)
		return p->constants.count ? -ENOMEM : 0;
	/* async-profiler's keys of stacks are places in a table with some hundred thousand */
	if (highest - p->lowest < 8 * (uint64_t)p->constants.count + span_anyway) {
		if (!make_direct(p, highest - p->lowest + 1))
			return -ENOMEM;
		for (i = 0; i < p->constants.count; i++)
			p->direct[p->constants.items[i].key - p->lowest] = i + 1;
		return 0;
	}
	for (i = 0; i < p->constants.count; i++) {
		slot = map_put(&p->map, p->constants.items[i].key, NULL);
		if (!slot)
			return -ENOMEM;
		*slot = i + 1;
	}
	return 0;
}

int pools_load(struct pools *p, const struct chunk *c, struct field_layouts *layouts)
{
	/* not for each of many small chunks */
	uint64_t span_anyway = MIN(SPAN_ALWAYS, c->end - c->start);
	size_t i;

	p->begin = c->in->bytes + c->start;
	p->end = c->in->bytes + c->end;
	p->damaged = false;
	for (i = 0; i < p->count; i++)
		forget(&p->of_type[i]);
	for (i = 0; i < c->constants.count; i++) {
		struct chunk_event e;
		struct reader r;
		int rc;

		if (!chunk_event(c, c->constants.items[i], &e))
			continue;
		r = chunk_reader(c, &e);
		rc = load_event(p, layouts, &r);
		if (rc == -ENOMEM)
			return rc;
		p->damaged |= rc != 0;
	}
	for (i = 0; i < p->count; i++)
		if (make_index(&p->of_type[i], span_anyway))
			return -ENOMEM;
	return 0;
}

/*
 * spread.c - memory that is known by single addresses in it: the rest of a mapping that nothing else has claimed
 * is what one address there is, and so does what lies behind parts that were never used.
 */
#include <stdlib.h>

#include "cli/memory/spread.h"

/* Whether some claim holds at ADDRESS. */
static bool is_claimed(const struct ranges *c, uint64_t address)
{
	size_t i = ranges_after(c, address);

	return i < c->count && c->items[i].start <= address;
}

bool spread_init(struct spread *s, const struct mappings *maps, const struct ranges *settled)
{
	*s = (struct spread){.maps = maps, .settled = settled, .marks = calloc(maps->count + 1, 1)};
	return s->marks != NULL;
}

static size_t index_of(const struct spread *s, const struct mapping *m)
{
	return (size_t)(m - s->maps->items);
}

bool spread_mark(struct spread *s, uint64_t address, unsigned char mark)
{
	const struct mapping *m = mappings_find(s->maps, address);

	if (!m || !mapping_is_anonymous(m) || m->perms[0] != 'r' || is_claimed(s->settled, address) ||
	    memory_line_of(s->maps, index_of(s, m)) != MEMORY_unnamed)
		return false;
	if (!s->marks[index_of(s, m)])
		s->marks[index_of(s, m)] = mark;
	return true;
}

/* A part of a reservation that was never used. */
static bool is_gap(const struct mapping *m)
{
	return mapping_is_anonymous(m) && m->perms[0] == '-' && m->rss == 0;
}

static bool is_free(const struct spread *s, size_t i)
{
	const struct mapping *m = &s->maps->items[i];

	return mapping_is_anonymous(m) && m->perms[0] == 'r' && !s->marks[i] && m->start % GRANULE == 0 &&
	       (m->end - m->start) % GRANULE == 0 && !is_claimed(s->settled, m->start);
}

void spread_over_gaps(struct spread *s)
{
	const struct mapping *m = s->maps->items;
	size_t i, step;

	for (i = 0; i + 2 < s->maps->count; i++)
		if (s->marks[i] && is_gap(&m[i + 1]) && m[i].end == m[i + 1].start && m[i + 1].end == m[i + 2].start &&
		    is_free(s, i + 2))
			s->marks[i + 2] = s->marks[i];
	for (step = s->maps->count; step > 2; step--) {
		i = step - 1;
		if (s->marks[i] && is_gap(&m[i - 1]) && m[i - 1].end == m[i].start && m[i - 2].end == m[i - 1].start &&
		    is_free(s, i - 2))
			s->marks[i - 2] = s->marks[i];
	}
}

void spread_claim(struct spread *s, struct ranges *c, unsigned char mark, enum memory_line line, const char *what)
{
	size_t i;

	for (i = 0; i < s->maps->count; i++)
		if (s->marks[i] == mark)
			ranges_add(c, s->maps->items[i].start, s->maps->items[i].end, line, what);
}

void spread_free(struct spread *s)
{
	free(s->marks);
	s->marks = NULL;
}

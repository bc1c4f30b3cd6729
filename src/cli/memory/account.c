/*
 * account.c - every resident byte goes to one line. A mapping that belongs to one claim goes there as a whole; of one
 * that several share, pagemap says which pages are resident, and what smaps has counted is what is shared out: the
 * sum of the lines is the sum of smaps.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/memory/resident.h"

#define BSS_MAX (1ull << 20) /* larger ones have other mappings in them */

static void add_part(struct memory_reading *r, enum memory_line line, const char *what, uint64_t rss)
{
	struct memory_part *part;
	size_t i;

	for (i = 0; i < r->parts.count; i++)
		if (r->parts.items[i].line == line && strcmp(r->parts.items[i].what, what) == 0) {
			r->parts.items[i].rss += rss;
			return;
		}
	part = VECTOR_PUSH(&r->parts);
	if (part)
		*part = (struct memory_part){line, what, rss};
}

static void add(struct memory_reading *r, const struct mapping *m, enum memory_line line, const char *what,
		uint64_t rss)
{
	r->lines[line] += rss;
	if (line == MEMORY_unnamed && rss >= 65536)
		console_detail("not named: %llu KB of %llx-%llx %s %s", (unsigned long long)rss / 1024,
			       (unsigned long long)m->start, (unsigned long long)m->end, m->perms, m->path);
	if (what && rss)
		add_part(r, line, what, rss);
}

static bool has_code(const struct mappings *m, size_t i)
{
	size_t k;

	/* parts of one file lie beside each other */
	for (k = i; k > 0 && strcmp(m->items[k - 1].path, m->items[i].path) == 0; k--)
		;
	for (; k < m->count && strcmp(m->items[k].path, m->items[i].path) == 0; k++)
		if (m->items[k].perms[2] == 'x')
			return true;
	return false;
}

enum memory_line memory_line_of(const struct mappings *m, size_t i)
{
	const struct mapping *map = &m->items[i];
	enum memory_line line = memory_line_of_mapping(map);

	if (line == MEMORY_mapped && has_code(m, i))
		return MEMORY_libraries;
	/* zeroed data of a library, behind its file's */
	if (line == MEMORY_unnamed && i > 0 && map->path[0] == '\0' && map->perms[1] == 'w' &&
	    map->start == m->items[i - 1].end && m->items[i - 1].perms[1] == 'w' &&
	    m->items[i - 1].path[0] == '/' && map->end - map->start < BSS_MAX &&
	    memory_line_of(m, i - 1) == MEMORY_libraries)
		return MEMORY_libraries;
	return line;
}

struct share {
	enum memory_line line;
	const char *what;
	uint64_t resident;
};

/* Cut mapping I at the claims from FIRST on. */
static void share_out(struct peek *p, const struct ranges *c, size_t first, struct memory_reading *r, size_t i)
{
	const struct mapping *m = &r->maps.items[i];
	VECTOR(struct share) shares = {0};
	uint64_t at = m->start, left = m->rss;
	enum memory_line rest = memory_line_of(&r->maps, i);
	size_t k, most = 0;

	for (k = first; at < m->end; k++) {
		const struct owned_range *claim = k < c->count && c->items[k].start < m->end ? &c->items[k] : NULL;
		uint64_t start = claim ? MAX(claim->start, m->start) : m->end;
		uint64_t end = claim ? MIN(claim->end, m->end) : m->end;
		struct share *s = start > at ? VECTOR_PUSH(&shares) : NULL;

		if (s)
			*s = (struct share){rest, NULL, peek_resident(p, at, start)};
		s = claim ? VECTOR_PUSH(&shares) : NULL;
		if (s)
			*s = (struct share){claim->line, claim->what, peek_resident(p, start, end)};
		at = MAX(end, at);
	}
	for (k = 0; k < shares.count; k++)
		if (shares.items[k].resident > shares.items[most].resident)
			most = k;
	for (k = 0; k < shares.count; k++) {
		uint64_t rss = MIN(shares.items[k].resident, left);

		add(r, m, shares.items[k].line, shares.items[k].what, rss);
		left -= rss;
	}
	/* pages that came and went between the two readings */
	if (shares.count)
		add(r, m, shares.items[most].line, shares.items[most].what, left);
	else
		add(r, m, rest, NULL, left);
	free(shares.items);
}

void memory_account(struct peek *p, const struct ranges *c, struct memory_reading *r)
{
	size_t i, k;

	for (i = 0; i < r->maps.count; i++) {
		const struct mapping *m = &r->maps.items[i];

		if (!m->rss)
			continue;
		k = ranges_after(c, m->start);
		if (k == c->count || c->items[k].start >= m->end)
			add(r, m, memory_line_of(&r->maps, i), NULL, m->rss);
		else if (c->items[k].start <= m->start && c->items[k].end >= m->end)
			add(r, m, c->items[k].line, c->items[k].what, m->rss);
		else
			share_out(p, c, k, r, i);
	}
}

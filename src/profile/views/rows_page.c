/*
 * rows_page.c - the member `rows` of a page's marks, for web/rows.js; what was not reported is not there. Points are
 * varints, in the order of time, and `count` says how many points there are:
 *
 *   cores      CPUs of the machine; 0: not known
 *   cpu, machine  millionths of all CPUs; heap: bytes in use after a collection; heapRead: within a second after one.
 *              A point: parts since the one before, least, most above that, mean above the least, of what was reported
 *              in that part of the time
 *   allocated  bytes a second between two collections. A point: µs since that of the one before, µs, bytes a second
 *   deopts, classes  how many. A point: parts since the one before, number
 *
 * What was allocated is what the heap has before a collection more than after the one before. What a concurrent
 * collector gives back meanwhile would be missing: nothing is said of those that do all their work so.
 */
#include "profile/views/rows_page.h"

#include <string.h>

#include "common/base/json_writer.h"
#include "profile/views/views.h"
#include "profile/writers/page/page_put.h"

/* Points of the row KEY. */
struct points {
	struct page_bytes bytes;
	uint64_t count, before;
};

static void begin(struct points *p, struct json_writer *w, const char *key)
{
	json_object(w, key);
	*p = (struct points){.bytes = {.to = w, .key = "points", .views = &views, .bytes = BUFFER_INIT}};
}

static void end(struct points *p)
{
	struct json_writer *w = p->bytes.to;

	page_bytes_end(&p->bytes);
	json_put_number(w, "count", p->count);
	json_end(w);
}

/* AT is never before that of the last point. */
static void put_at(struct points *p, uint64_t at)
{
	page_varint(&p->bytes, at - p->before);
	p->before = at;
	p->count++;
}

static void put_values(struct json_writer *w, const char *key, const struct profile_mark_part *parts)
{
	struct points p;
	unsigned i;

	if (!parts)
		return;
	begin(&p, w, key);
	for (i = 0; i < PROFILE_MARK_PARTS; i++) {
		const struct profile_mark_part *at = &parts[i];

		if (!at->count)
			continue;
		put_at(&p, i);
		page_varint(&p.bytes, at->min);
		page_varint(&p.bytes, at->max - at->min);
		page_varint(&p.bytes, MIN(MAX(at->sum / at->count, at->min), at->max) - at->min);
	}
	end(&p);
}

static void put_counts(struct json_writer *w, const char *key, const struct profile_mark_part *parts)
{
	struct points p;
	unsigned i;

	begin(&p, w, key);
	for (i = 0; i < PROFILE_MARK_PARTS; i++) {
		if (!parts[i].count)
			continue;
		put_at(&p, i);
		page_varint(&p.bytes, parts[i].count);
	}
	end(&p);
}

/* What PARTS, of a number that only grows, became more: not before the first. */
static void put_growth(struct json_writer *w, const char *key, const struct profile_mark_part *parts)
{
	const struct profile_mark_part *before = NULL;
	struct points p;
	unsigned i;

	begin(&p, w, key);
	for (i = 0; i < PROFILE_MARK_PARTS; i++) {
		uint64_t from = before ? before->last : parts[i].min;

		if (!parts[i].count)
			continue;
		before = &parts[i];
		if (parts[i].last <= from)
			continue;
		put_at(&p, i);
		page_varint(&p.bytes, parts[i].last - from);
	}
	end(&p);
}

/* ---- what was allocated ---- */

/* Whether collections of M go on while the program does. */
static bool is_concurrent(const struct profile_marks *m)
{
	uint32_t i;

	for (i = 0; i < m->gc_count; i++)
		if (strncmp(m->gcs[i].name, "Z", 1) == 0 || strncmp(m->gcs[i].name, "Shenandoah", 10) == 0)
			return true;
	return false;
}

/* Collections since the last moment at which none was going on. */
struct collections {
	uint64_t begun, ended;   /* how many */
	uint64_t full, left;     /* sums of what the heap had then */
	uint64_t begun_at;       /* the last one */
};

static void add_part(struct collections *c, const struct profile_mark_part *full, const struct profile_mark_part *left)
{
	c->begun += full->count;
	c->ended += left->count;
	c->full += full->count ? full->sum : 0;
	c->left += left->count ? left->sum : 0;
	c->begun_at = full->count ? full->last_at : c->begun_at;
}

/* C has a collection whose end was not told: one that still goes on cannot begin again, nor whole ones follow. */
static bool never_ended(const struct collections *c, const struct profile_mark_part *full,
		      const struct profile_mark_part *left)
{
	return c->begun > c->ended && (full->count > left->count ||
				       (full->count == left->count && full->count && full->last_at < left->last_at));
}

/*
 * What was allocated from BEFORE, the end of the collection in front of C, to the last beginning of C, whose last end
 * is LAST. 0: it does not follow from them.
 */
static uint64_t allocated(const struct collections *c, const struct profile_mark_part *before,
			  const struct profile_mark_part *last)
{
	uint64_t between = c->left - last->last; /* ends that a beginning of C follows */

	if (!before || c->begun_at <= before->last_at || c->full < between || c->full - between < before->last)
		return 0;
	return c->full - between - before->last;
}

static void put_allocated(struct json_writer *w, const struct profile_marks *m)
{
	const struct profile_mark_part *full = m->rows[MARK_ROW_HEAP_FULL], *left = m->rows[MARK_ROW_HEAP];
	const struct profile_mark_part *before = NULL;
	struct collections c = {0};
	struct points p;
	uint64_t bytes, from, length;
	unsigned i;

	begin(&p, w, "allocated");
	for (i = 0; i < PROFILE_MARK_PARTS; i++) {
		if (!full[i].count && !left[i].count && c.begun == c.ended)
			continue;
		if (never_ended(&c, &full[i], &left[i])) {
			c = (struct collections){0};
			before = NULL;
		}
		add_part(&c, &full[i], &left[i]);
		if (c.begun > c.ended)
			continue;
		bytes = c.begun == c.ended ? allocated(&c, before, &left[i]) : 0;
		if (bytes) {
			from = before->last_at / NS_PER_US;
			length = MAX(c.begun_at / NS_PER_US - from, 1ull);
			put_at(&p, from);
			page_varint(&p.bytes, length);
			page_varint(&p.bytes, (uint64_t)((double)bytes / (double)length * 1e6));
		}
		before = left[i].count ? &left[i] : NULL;
		c = (struct collections){0};
	}
	end(&p);
}

void rows_page_put(struct json_writer *w, const struct profile_marks *m)
{
	const struct profile_mark_part *cores = m->rows[MARK_ROW_CORES];
	uint64_t most = 0;
	unsigned i;

	for (i = 0; cores && i < PROFILE_MARK_PARTS; i++)
		most = MAX(most, cores[i].max);
	json_object(w, "rows");
	json_put_number(w, "cores", most);
	put_values(w, "cpu", m->rows[MARK_ROW_CPU]);
	put_values(w, "machine", m->rows[MARK_ROW_MACHINE]);
	put_values(w, "heap", m->rows[MARK_ROW_HEAP]);
	put_values(w, "heapRead", m->rows[MARK_ROW_HEAP_READ]);
	if (m->rows[MARK_ROW_HEAP_FULL] && m->rows[MARK_ROW_HEAP] && !is_concurrent(m))
		put_allocated(w, m);
	if (m->rows[MARK_ROW_DEOPTS])
		put_counts(w, "deopts", m->rows[MARK_ROW_DEOPTS]);
	if (m->rows[MARK_ROW_LOADS])
		put_counts(w, "classes", m->rows[MARK_ROW_LOADS]);
	else if (m->rows[MARK_ROW_CLASSES])
		put_growth(w, "classes", m->rows[MARK_ROW_CLASSES]);
	json_end(w);
}

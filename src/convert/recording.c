#include "convert/recording.h"

#include <errno.h>

#define FORGET_EVERY (16u << 20) /* bytes */

/* When the last event of C began: an open chunk does not say how long it is. */
static int64_t last_event(const struct chunk *c)
{
	uint64_t at = c->start + CHUNK_HEADER, last = c->start_ticks, ticks;
	struct chunk_event e;
	struct reader r;

	for (; chunk_event(c, at, &e); at += e.size) {
		r = chunk_reader(c, &e);
		ticks = read_long(&r);
		if (e.type > CHUNK_EVENT_CONSTANTS && !r.c.failed && (int64_t)(ticks - last) > 0)
			last = ticks;
	}
	return chunk_time(c, last);
}

static int64_t end_of(const struct chunk *c)
{
	return c->finished ? (int64_t)(c->start_ns + c->duration_ns) : last_event(c);
}

static void extend(struct facts *facts, const struct chunk *c)
{
	int64_t end = end_of(c);

	if (!facts->start_ns || c->start_ns < facts->start_ns)
		facts->start_ns = c->start_ns;
	if (end > (int64_t)facts->end_ns)
		facts->end_ns = (uint64_t)end;
}

static void read_events(struct chunk_watches *w)
{
	const struct chunk *c = w->chunk;
	uint64_t at = c->start + CHUNK_HEADER, forgotten = c->start;
	struct chunk_event e;

	for (; chunk_event(c, at, &e) && !w->fold->no_memory; at += e.size) {
		struct watch *watch = watches_find(w, e.type);

		if (watch) {
			struct reader r = chunk_reader(c, &e);

			watch_take(w, watch, &r);
		}
		if (at - forgotten > FORGET_EVERY) {
			input_forget(c->in, forgotten, at);
			forgotten = at;
		}
	}
}

static int read_chunk(const struct chunk *c, struct metadata *metadata, const struct selection *selection,
		      struct fold *fold, struct facts *facts, bool lines)
{
	struct chunk_watches w;
	int rc = watches_begin(&w, c, metadata, selection, fold, facts, lines);

	if (rc == 0) {
		read_events(&w);
		watches_fold(&w);
		rc = fold->no_memory || fold->strings.failed ? -ENOMEM : 0;
	}
	watches_end(&w);
	return rc;
}

/* The whole part of a chunk, in the counts of what could be read. */
static void count_chunk(struct facts *facts, const struct chunk *c, int rc)
{
	if (rc) {
		facts->lost_chunks++;
		return;
	}
	facts->chunks++;
	facts->open_chunks += !c->finished;
	facts->lost_bytes += c->next - c->end;
}

int recording_read(const struct input *in, const struct selection *selection, struct fold *fold,
		   struct facts *facts, bool lines)
{
	struct metadata metadata = {.text = NULL};
	uint64_t at = 0;
	struct chunk c;
	int rc;

	while ((rc = chunk_find(&c, in, at)) == 0) {
		bool outside;

		facts->lost_bytes += c.start - at;
		outside = selection->in_range && c.finished &&
			  ((int64_t)c.start_ns >= selection->to || end_of(&c) < selection->from);
		if (!outside)
			rc = read_chunk(&c, &metadata, selection, fold, facts, lines);
		if (rc == -ENOMEM)
			break;
		count_chunk(facts, &c, rc);
		extend(facts, &c);
		at = c.next;
		input_forget(in, c.start, at);
		chunk_free(&c);
	}
	chunk_free(&c);
	metadata_free(&metadata);
	if (rc == -ENOENT)
		facts->lost_bytes += in->size - at;
	return rc != -ENOENT ? rc : facts->chunks ? 0 : -EBADMSG;
}

int recording_span(const struct input *in, int64_t *start, int64_t *end)
{
	struct facts facts = {.chunks = 0};
	uint64_t at = 0;
	struct chunk c;
	int rc;

	while ((rc = chunk_find(&c, in, at)) == 0) {
		extend(&facts, &c);
		facts.chunks++;
		at = c.next;
		input_forget(in, c.start, at);
		chunk_free(&c);
	}
	chunk_free(&c);
	*start = (int64_t)facts.start_ns;
	*end = (int64_t)facts.end_ns;
	return rc != -ENOENT ? rc : facts.chunks ? 0 : -EBADMSG;
}

/*
 * jfr_file.c - a whole JFR file, chunk by chunk.
 */
#include "profile/readers/read_formats.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "profile/readers/jfr/recording_info.h"
#include "profile/readers/input/progress.h"

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

static void extend(struct recording_info *info, const struct chunk *c)
{
	int64_t end = end_of(c);

	if (!info->start_ns || c->start_ns < info->start_ns)
		info->start_ns = c->start_ns;
	if (end > (int64_t)info->end_ns)
		info->end_ns = (uint64_t)end;
}

static void read_events(struct chunk_handlers *w)
{
	const struct chunk *c = w->chunk;
	uint64_t at = c->start + CHUNK_HEADER, forgotten = c->start, told = at;
	struct chunk_event e;

	for (; chunk_event(c, at, &e) && !w->aggregate->no_memory; at += e.size) {
		struct event_handler *handler = event_handlers_find(w, e.type);

		if (handler)
			handler_take(w, handler, &e);
		else
			event_handlers_count(w, &e);
		if (at - told > PROGRESS_EVERY) {
			told = at;
			if (!progress_goes_on(at, c->in->size))
				return;
		}
		if (at - forgotten > FORGET_EVERY) {
			input_forget(c->in, forgotten, at);
			forgotten = at;
		}
	}
}

static int read_chunk(struct chunk_handlers *w, const struct chunk *c)
{
	int rc = event_handlers_begin(w, c);

	if (rc)
		return rc;
	/* ours weigh what they should */
	if (w->ours && w->selection->allocs && w->selection->allocs->noting)
		return 0;
	read_events(w);
	event_handlers_aggregate(w);
	return w->aggregate->no_memory || w->aggregate->strings.failed ? -ENOMEM : 0;
}

/* The whole part of a chunk, in the counts of what could be read. */
static void count_chunk(struct recording_info *info, const struct chunk *c, int rc)
{
	if (rc) {
		info->lost_chunks++;
		return;
	}
	info->chunks++;
	info->open_chunks += !c->finished;
	info->lost_bytes += c->next - c->end;
}

/* What the threads share. */
struct reading {
	const struct input *in;
	const struct selection *selection;
	bool lines;
	pthread_mutex_t lock; /* of what follows */
	uint64_t at;
	uint64_t lost_bytes; /* between chunks */
	int rc;              /* of the search for chunks; -ENOMEM also of reading one */
};

struct worker {
	struct reading *reading;
	struct read_aggregate *aggregate;
	struct recording_info *info;
	struct read_aggregate own_aggregate;
	struct recording_info own_info;
	pthread_t thread;
};

/* The next chunk that no thread has taken; false if there is none, or memory has run out. */
static bool next_chunk(struct reading *r, struct chunk *c)
{
	bool found = false;

	memset(c, 0, sizeof(*c));
	pthread_mutex_lock(&r->lock);
	if (r->rc == 0 && r->at && !progress_goes_on(r->at, r->in->size)) {
		pthread_mutex_unlock(&r->lock);
		return false;
	}
	if (r->rc == 0)
		r->rc = chunk_find(c, r->in, r->at);
	if (r->rc == 0) {
		r->lost_bytes += c->start - r->at;
		r->at = c->next;
		found = true;
	}
	pthread_mutex_unlock(&r->lock);
	return found;
}

/* What lasts is written when it ends: also chunks behind the part that is asked for have waits that began in it. */
static bool is_outside(const struct chunk *c, const struct selection *s)
{
	return s->in_range && c->finished && end_of(c) < s->from;
}

static void *work(void *argument)
{
	struct worker *w = argument;
	struct reading *r = w->reading;
	struct chunk_handlers handlers;
	struct chunk c = {.in = r->in};
	int rc = event_handlers_init(&handlers, r->selection, w->aggregate, w->info, r->lines);

	while (rc != -ENOMEM && next_chunk(r, &c)) {
		rc = is_outside(&c, r->selection) ? 0 : read_chunk(&handlers, &c);
		count_chunk(w->info, &c, rc);
		extend(w->info, &c);
		input_forget(r->in, c.start, c.next);
		chunk_free(&c);
	}
	chunk_free(&c);
	event_handlers_free(&handlers);
	if (rc == -ENOMEM) {
		pthread_mutex_lock(&r->lock);
		r->rc = rc;
		pthread_mutex_unlock(&r->lock);
	}
	return NULL;
}

/* Others work beside the caller; a thread that cannot be had is done without. */
static void work_together(struct worker *all, unsigned count)
{
	unsigned i, started = 1;

	while (started < count &&
	       pthread_create(&all[started].thread, NULL, work, &all[started]) == 0)
		started++;
	work(&all[0]);
	for (i = 1; i < started; i++)
		pthread_join(all[i].thread, NULL);
}

/* One thread notes what is asked of all events, before all threads read. False: no memory. */
static bool note(const struct input *in, const struct selection *selection, struct recording_info *info)
{
	struct read_aggregate aggregate = {.no_memory = false};
	struct reading r = {.in = in, .selection = selection, .lock = PTHREAD_MUTEX_INITIALIZER};
	struct worker one = {.reading = &r, .aggregate = &aggregate, .info = info};
	bool whole;

	read_aggregate_limit(&aggregate, in->size, 1);
	work(&one);
	whole = !aggregate.no_memory && r.rc != -ENOMEM;
	free(info->counts.items);
	read_aggregate_free(&aggregate);
	return whole;
}

/* What came and what went. */
static bool find_left(const struct input *in, const struct selection *selection)
{
	struct left_blocks *left = selection->left;
	struct recording_info info = {.chunks = 0};

	left->noting = true;
	return note(in, selection, &info) &&
	       left_blocks_find(left, (int64_t)info.start_ns, (int64_t)info.end_ns);
}

/* What threads had allocated before the recording began, whatever part of it is wanted. */
static bool find_allocs(const struct input *in, const struct selection *selection)
{
	struct recording_info info = {.chunks = 0};
	struct selection all = *selection;

	all.in_range = false;
	all.spans = NULL;
	all.left = NULL;
	selection->allocs->noting = true;
	return note(in, &all, &info) && first_allocs_find(selection->allocs, (int64_t)info.start_ns);
}

static bool find_spans(const struct input *in, const struct selection *selection)
{
	struct recording_info info = {.chunks = 0};

	selection->spans->noting = true;
	if (!note(in, selection, &info) || selection->spans->no_memory)
		return false;
	spans_sort(selection->spans);
	return true;
}

int recording_read(const struct input *in, const struct selection *selection, struct read_aggregate *aggregate,
		   struct recording_info *info, bool lines, unsigned threads)
{
	struct reading r = {.in = in, .selection = selection, .lines = lines,
			    .lock = PTHREAD_MUTEX_INITIALIZER};
	struct worker *all = calloc(threads, sizeof(*all));
	unsigned i;

	if (!all || (selection->spans && !find_spans(in, selection)) ||
	    (selection->left && !find_left(in, selection)) || (selection->allocs && !find_allocs(in, selection))) {
		free(all);
		return -ENOMEM;
	}
	for (i = 0; i < threads; i++) {
		all[i].reading = &r;
		all[i].aggregate = i ? &all[i].own_aggregate : aggregate;
		all[i].info = i ? &all[i].own_info : info;
		all[i].own_aggregate.per_thread = aggregate->per_thread;
		all[i].own_aggregate.by_block = aggregate->by_block;
		all[i].own_aggregate.by_context = aggregate->by_context;
		kept_marks_begin(&all[i].own_aggregate.marks, &aggregate->marks);
		read_aggregate_limit(all[i].aggregate, in->size, threads);
	}
	work_together(all, threads);
	for (i = 1; i < threads; i++) {
		workers_join_aggregate(aggregate, &all[i].own_aggregate);
		workers_join_info(info, aggregate, &all[i].own_info, &all[i].own_aggregate);
		free(all[i].own_info.counts.items);
		read_aggregate_free(&all[i].own_aggregate);
	}
	free(all);
	info->lost_bytes += r.lost_bytes;
	if (r.rc == -ENOENT)
		info->lost_bytes += in->size - r.at;
	if (aggregate->no_memory)
		return -ENOMEM;
	return r.rc != -ENOENT ? r.rc : info->chunks ? 0 : -EBADMSG;
}

int recording_span(const struct input *in, int64_t *start, int64_t *end)
{
	struct recording_info info = {.chunks = 0};
	uint64_t at = 0;
	struct chunk c;
	int rc;

	while ((rc = chunk_find(&c, in, at)) == 0) {
		extend(&info, &c);
		info.chunks++;
		at = c.next;
		input_forget(in, c.start, at);
		chunk_free(&c);
	}
	chunk_free(&c);
	*start = (int64_t)info.start_ns;
	*end = (int64_t)info.end_ns;
	return rc != -ENOENT ? rc : info.chunks ? 0 : -EBADMSG;
}

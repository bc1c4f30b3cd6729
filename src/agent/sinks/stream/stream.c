#include "agent/collect/carry.h"
#include "agent/sinks/stream/stream_state.h"
#include "agent/zone/zone.h"
#include "common/base/buffer.h"
#include "common/base/error.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/collect/names/late_names.h"
#include "agent/collect/sink.h"
#include "agent/sinks/stream/stream_closing.h"
#include "agent/threads/own_thread.h"
#include "common/os/os.h"

#define MOST_PENDING (1u << 16)      /* events; beyond, the thread gets no CPU */
#define STATS_EVERY NS_PER_S
#define FLUSH_EVERY NS_PER_S         /* runs that go on are told of so often */
#define REPEAT_EVERY (10 * NS_PER_S) /* for readers whose coming is not noticed */
/* Tables of symbols (some 10 MB) stay in memory for so long after the last question. */
#define SYMBOLS_KEPT (30 * NS_PER_S)

/* ---- what the collector calls ---- */

static void wake(struct stream *s)
{
	uint64_t one = 1;
	ssize_t n = write(s->wake, &one, sizeof(one));

	(void)n; /* a counter that is full wakes as well */
}

static void on_event(struct sink *sink, const struct sink_event *e)
{
	struct stream *s = CONTAINER_OF(sink, struct stream, sink);
	struct stream_item *item = NULL;

	if (atomic_load_explicit(&s->over, memory_order_relaxed))
		return;
	if (s->pending.count < MOST_PENDING)
		item = VECTOR_PUSH(&s->pending);
	if (!item) {
		stream_lose(&s->late[e->event], e, os_monotonic());
		return;
	}
	item->event = *e;
	if (e->lock)
		item->lock = *e->lock;
	if (e->fields)
		item->fields = *e->fields;
}

static void note(struct sink *sink, const struct stream_note *what)
{
	struct stream *s = CONTAINER_OF(sink, struct stream, sink);
	struct stream_note *slot = s->notes.count < MOST_PENDING ? VECTOR_PUSH(&s->notes) : NULL;

	if (slot)
		*slot = *what;
}

/* Virtual threads have their names on their samples. */
static void note_thread(struct sink *sink, uint32_t thread, uint64_t time, bool ended)
{
	const struct thread_entry *e = &sink->collector->threads.items[thread];

	if (e->tid)
		note(sink, &(struct stream_note){.tid = e->tid, .java_id = e->java_id, .name = e->name,
						 .time = time, .ended = ended});
}

static void on_thread(struct sink *sink, uint32_t thread)
{
	note_thread(sink, thread, os_monotonic(), false);
}

static void on_name(struct sink *sink, const struct sink_name *n)
{
	note(sink, &(struct stream_note){.tid = n->tid, .java_id = n->java_id, .name = n->name, .time = n->time});
}

static void on_thread_end(struct sink *sink, uint32_t thread, uint64_t now)
{
	note_thread(sink, thread, now, true);
}

static void on_drained(struct sink *sink, uint64_t now)
{
	struct stream *s = CONTAINER_OF(sink, struct stream, sink);

	if (s->pending.count || s->notes.count)
		wake(s);
}

static void renumber(struct generation *g, struct stream_item *items, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		carry_event(g, &items[i].event, items[i].event.lock ? &items[i].lock : NULL,
			   items[i].event.fields ? &items[i].fields : NULL);
	}
}

/* The reader is told stacks anew, under other ids. */
static void on_renewed(struct sink *sink, struct generation *g)
{
	struct stream *s = CONTAINER_OF(sink, struct stream, sink);
	size_t i;

	renumber(g, s->pending.items, s->pending.count);
	renumber(g, s->batch.items, s->batch.count);
	renumber(g, s->held.items, s->held.count);
	for (i = 0; i < s->notes.count; i++)
		s->notes.items[i].name = carry_text(g, s->notes.items[i].name);
	for (i = 0; i < s->batch_notes.count; i++)
		s->batch_notes.items[i].name = carry_text(g, s->batch_notes.items[i].name);
	s->stacks.count = 0;
	s->shown.frames.count = 0;
}

static const struct sink_ops ops = {
	.event = on_event, .drained = on_drained, .thread_begin = on_thread, .named = on_name,
	.thread_end = on_thread_end, .renewed = on_renewed,
};

/* ---- a tick of the stream's thread ---- */

/* Take what the collector has gathered. Its lock is held. */
static void take_over(struct stream *s)
{
	uint32_t e;

	VECTOR_SWAP(&s->pending, &s->batch);
	VECTOR_SWAP(&s->notes, &s->batch_notes);
	s->pending.count = s->notes.count = 0;
	for (e = 0; e < RECORD_EVENTS; e++) {
		struct stream_lost *late = &s->late[e], *lost = &s->lost[e];

		if (!late->records)
			continue;
		lost->since = lost->records ? lost->since : late->since;
		lost->records += late->records;
		lost->samples += late->samples;
		lost->value += late->value;
		s->dropped[e] += late->samples;
		s->dropped_all += late->samples;
		*late = (struct stream_lost){0};
	}
}

/* True when *DUE has come; then it comes again EVERY ns later. */
static bool is_due(uint64_t *due, uint64_t every, uint64_t now)
{
	if (!every || now < *due)
		return false;
	*due = now + every;
	return true;
}

/* A reader of now must have got the records that samples refer to. Collector's lock held. */
static void introduce(struct stream *s, uint64_t now)
{
	uint32_t reader = stream_out_reader(s->out);
	bool again = stream_out_blind(s->out) && is_due(&s->repeat_due, REPEAT_EVERY, now);

	if (reader && (reader != s->reader || again)) {
		s->round++;
		stream_tell_header(s, now);
		s->names_due = s->stats_due = now;
	}
	s->reader = reader ? reader : s->reader;
	if (stream_out_over(s->out))
		atomic_store(&s->over, true);
}

/* The frames of ITEM have names, as far as they will ever have. */
static bool is_named(const struct stream *s, const struct stream_item *item)
{
	return !late_waits(s->collector, item->event.node) &&
	       !(item->event.lock && item->lock.owner_node && late_waits(s->collector, item->lock.owner_node));
}

/*
 * ITEM is told, or waits until its frames have names, and behind it what comes of the same thread: times of one thread
 * shall not go back. LAST: nothing waits any more.
 */
static void tell_or_hold(struct stream *s, const struct stream_item *item, bool last, struct map *waiting)
{
	uint64_t thread = 1 + item->event.thread;
	bool wait = !last && s->held.count < MOST_PENDING && (map_get(waiting, thread) || !is_named(s, item));
	struct stream_item *slot = wait ? VECTOR_PUSH(&s->held) : NULL;

	if (slot) {
		*slot = *item;
		map_put(waiting, thread, NULL);
	} else {
		stream_tell_item(s, item);
	}
}

/* Where an item stands in the batch, by the time that its record has. */
struct stream_order {
	uint64_t time;
	size_t at;
};

static int by_time(const void *a, const void *b)
{
	const struct stream_order *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/*
 * What one drain brings is in order within each queue, but runs of samples come apart from those, and later than the
 * moment of their first. Without memory it is told as it came.
 */
static void tell_batch(struct stream *s, bool last, struct map *waiting)
{
	size_t i, count = s->batch.count;
	struct stream_order *order = count > 1 ? malloc(count * sizeof(*order)) : NULL;

	for (i = 0; order && i < count; i++)
		order[i] = (struct stream_order){stream_time(&s->batch.items[i]), i};
	if (order)
		qsort(order, count, sizeof(*order), by_time);
	for (i = 0; i < count; i++)
		tell_or_hold(s, &s->batch.items[order ? order[i].at : i], last, waiting);
	free(order);
	s->batch.count = 0;
}

static void tell_items(struct stream *s, bool last)
{
	typeof(s->held) before = s->held;
	struct map waiting = {0};
	size_t i;

	memset(&s->held, 0, sizeof(s->held));
	for (i = 0; i < before.count; i++)
		tell_or_hold(s, &before.items[i], last, &waiting);
	free(before.items);
	tell_batch(s, last, &waiting);
	map_free(&waiting);
}

/*
 * Look up names that are missing, unless another thread is just doing so. The collector's lock is held, and given up
 * meanwhile.
 */
static void look_up(struct stream *s, bool last, uint64_t now)
{
	struct collector *c = s->collector;
	bool due = c->frames.late.count, forget = s->symbols_due && (last || (!due && now >= s->symbols_due));

	if ((!due && !forget) || pthread_mutex_trylock(&c->images))
		return;
	if (due) {
		late_look_up(c, true);
		s->symbols_due = now + SYMBOLS_KEPT;
	}
	if (forget) {
		late_forget(c);
		s->symbols_due = 0;
	}
	pthread_mutex_unlock(&c->images);
}

static void write_pending(struct stream *s, bool last)
{
	struct collector *c = s->collector;
	uint64_t now = os_monotonic();
	size_t i;

	if (c->open && is_due(&s->flush_due, FLUSH_EVERY, now))
		c->sources->flush();
	pthread_mutex_lock(&c->lock);
	introduce(s, now);
	take_over(s);
	look_up(s, last, now);
	for (i = 0; i < s->batch_notes.count; i++)
		stream_tell_note(s, &s->batch_notes.items[i]);
	s->batch_notes.count = 0;
	if (is_due(&s->names_due, s->options.names_every, now))
		stream_tell_threads(s, now);
	tell_items(s, last);
	if (last)
		s->drops_due = 0;
	stream_tell_drops(s, now);
	if (is_due(&s->stats_due, STATS_EVERY, now) || last)
		stream_tell_stats(s, now);
	pthread_mutex_unlock(&c->lock);
	stream_out_write(s->out);
	s->waiting = stream_out_waiting(s->out);
}

/* Until there is something to tell or the reader takes more; at most until the next stats are due. */
static void rest(struct stream *s)
{
	struct pollfd p[1 + STREAM_POLLS] = {{.fd = s->wake, .events = POLLIN}};
	unsigned count = 1 + (atomic_load(&s->over) ? 0 : stream_out_polls(s->out, p + 1));
	uint64_t told;
	ssize_t n;

	/* A held sample waits for its names, a FIFO for its reader. */
	poll(p, count, s->held.count ? 20 : 100);
	if (p[0].revents) {
		n = read(s->wake, &told, sizeof(told));
		(void)n;
	}
}

static void *run(void *arg)
{
	struct stream *s = arg;

	own_thread_begin_first("jstrobe stream", &s->tid);
	while (!atomic_load(&s->stopping)) {
		write_pending(s, false);
		rest(s);
	}
	own_thread_end();
	return NULL;
}

/* ---- the door ---- */

struct stream *stream_new(struct stream_out *out, const struct stream_options *o, struct error *err)
{
	struct stream *s = calloc(1, sizeof(*s));

	if (s)
		s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!s || s->wake < 0 || shown_open(&s->shown, &o->filter)) {
		error_set(err, s && s->wake < 0 ? errno : ENOMEM, "the stream cannot be set up: %s",
			  error_text(s && s->wake < 0 ? errno : ENOMEM));
		stream_out_close(out);
		if (s && s->wake >= 0)
			stream_free(s);
		else
			free(s);
		return NULL;
	}
	s->sink.ops = &ops;
	s->options = *o;
	s->out = out;
	buffer_init(&s->record, -1);
	s->real_offset = os_realtime() - os_monotonic();
	return s;
}

int stream_begin(struct stream *s, struct collector *c, struct error *err)
{
	int rc;

	s->collector = c;
	sink_add(c, &s->sink);
	atomic_fetch_add(&c->hurried, 1);
	rc = own_thread_start(&s->thread, run, s, "stream", err);
	if (rc) {
		sink_remove(&s->sink);
		atomic_fetch_sub(&c->hurried, 1);
	}
	s->running = rc == 0;
	return rc;
}

bool stream_end(struct stream *s)
{
	if (!s->running)
		return true;
	atomic_store(&s->stopping, true);
	wake(s);
	if (!own_thread_join_busy(s->thread, &s->tid))
		return false;
	s->running = false;
	atomic_fetch_sub(&s->collector->hurried, 1);
	/* Nothing comes behind what the last tick takes. */
	sink_remove(&s->sink);
	write_pending(s, true);
	stream_closing_add(s->out);
	s->out = NULL;
	return true;
}

void stream_free(struct stream *s)
{
	/* its thread, which did not end in time, may use it yet */
	if (!s || s->running)
		return;
	stream_out_close(s->out);
	close(s->wake);
	free(s->pending.items);
	free(s->notes.items);
	free(s->batch.items);
	free(s->held.items);
	free(s->batch_notes.items);
	free(s->stacks.items);
	free(s->frames.items);
	buffer_free(&s->record);
	shown_close(&s->shown);
	free(s);
}

void stream_totals(struct stream *s, struct stream_totals *t)
{
	*t = (struct stream_totals){
		.records = s->records, .samples = s->samples, .dropped = s->dropped_all, .bytes = s->bytes,
		.waiting = s->waiting,
	};
}

bool stream_is_over(struct stream *s)
{
	return atomic_load(&s->over);
}

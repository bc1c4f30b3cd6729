/*
 * recording_ring.c - what a ring holds becomes a recording, while sampling goes on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/collect/aggregate.h"
#include "agent/sinks/recording/recording_state.h"
#include "agent/sinks/ring/ring.h"
#include "common/base/error.h"
#include "common/os/os.h"

#define SLICE 4096             /* samples for which the collector waits */
#define FLUSH_AT (1u << 20)

struct writing {
	struct recording *r;
	struct error *err;
	int rc;
};

/* The samples gathered so far go into the recording. */
static void write_slice(struct writing *w)
{
	struct recording *r = w->r;

	pthread_mutex_lock(&r->collector->lock);
	recording_put_batch(r, true);
	pthread_mutex_unlock(&r->collector->lock);
	if (w->rc == 0 && jfr_pending(r->jfr) > FLUSH_AT)
		w->rc = jfr_flush(r->jfr, os_monotonic(), w->err);
}

static void take(const struct sink_event *e, void *arg)
{
	struct writing *w = arg;
	struct sink_event *slot = event_list_push(&w->r->batch);

	if (slot)
		recording_keep(slot, e);
	else
		w->r->dropped += e->samples;
	if (w->r->batch.count >= SLICE)
		write_slice(w);
}

/* RING's window as it is now, and its books. NULL when out of memory; else the collector is pinned. */
static struct ring *copy_window(struct recording *r, struct ring *ring)
{
	struct collector *c = r->collector;
	struct ring *copy;

	r->window = malloc(sizeof(*r->window));
	if (!r->window)
		return NULL;
	collect_all_and_lock(c);
	copy = ring_copy(ring);
	if (copy) {
		ring_books(ring, r->window);
		c->pinned++; /* until the stacks that it names are written */
	}
	pthread_mutex_unlock(&c->lock);
	return copy;
}

static void close_books(struct recording *r)
{
	uint64_t now = os_monotonic();

	pthread_mutex_lock(&r->collector->lock);
	recording_put_survivors(r);
	recording_put_losses(r, now);
	recording_put_counters(r, now);
	recording_count_stored(r);
	recording_count_rest(r);
	r->collector->pinned--;
	pthread_mutex_unlock(&r->collector->lock);
}

int recording_write_ring(struct recording *r, struct collector *c, struct ring *ring, struct recording_books *books,
			 struct error *err)
{
	struct writing w = {r, err, 0};
	struct ring *copy;

	r->collector = c;
	recording_put_settings(r, r->began);
	copy = copy_window(r, ring);
	if (!copy)
		return error_set(err, ENOMEM, "out of memory for a copy of the last samples");
	ring_each(copy, take, &w);
	ring_free(copy);
	write_slice(&w);
	close_books(r);
	memcpy(books, r->books, sizeof(r->books));
	if (w.rc == 0)
		w.rc = jfr_finish(r->jfr, os_monotonic(), err);
	if (w.rc == 0 && r->dropped)
		w.rc = error_set(err, ENOMEM, "out of memory for %llu of the last samples",
				 (unsigned long long)r->dropped);
	return w.rc;
}

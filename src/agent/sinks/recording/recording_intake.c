/*
 * recording_intake.c - what the collector's thread hands to a recording: it is put on a list, no more.
 */
#include <stdlib.h>

#include "agent/collect/carry.h"
#include "agent/context/marks.h"
#include "agent/sinks/recording/recording_state.h"
#include "common/os/os.h"

#define HURRY_AT 16384             /* events waiting */
#define MOST_WAITING (1u << 20)    /* beyond, the disk does not keep up */

void recording_keep(struct sink_event *to, const struct sink_event *e)
{
	struct sink_lock *lock = e->lock ? malloc(sizeof(*lock)) : NULL;
	struct sink_fields *fields = e->fields ? malloc(sizeof(*fields)) : NULL;

	*to = *e;
	to->lock = lock;
	to->fields = fields;
	if (lock)
		*lock = *e->lock;
	if (fields)
		*fields = *e->fields;
}

void recording_let_go(const struct sink_event *e)
{
	free((void *)(uintptr_t)e->lock);
	free((void *)(uintptr_t)e->fields);
}

static void on_event(struct sink *s, const struct sink_event *e)
{
	struct recording *r = CONTAINER_OF(s, struct recording, sink);
	struct sink_event *slot = r->pending.count < MOST_WAITING ? event_list_push(&r->pending) : NULL;

	if (!slot) {
		r->dropped += e->samples;
		return;
	}
	recording_keep(slot, e);
	if (r->pending.count == HURRY_AT)
		recording_wake(r, false);
}

static void note_thread(struct sink *s, uint32_t thread, uint64_t time, bool end)
{
	struct recording *r = CONTAINER_OF(s, struct recording, sink);
	struct thread_note *note = r->notes.count < MOST_WAITING ? VECTOR_PUSH(&r->notes) : NULL;

	if (note)
		*note = (struct thread_note){thread, time, end, 0, 0};
}

/* Threads that were there before sampling began are met one by one, too: those did not start now. */
static void on_thread_begin(struct sink *s, uint32_t thread)
{
	const struct thread_entry *e = &s->collector->threads.items[thread];

	if (e->since > CONTAINER_OF(s, struct recording, sink)->threads_known)
		note_thread(s, thread, e->since, false);
}

static void on_thread_end(struct sink *s, uint32_t thread, uint64_t now)
{
	note_thread(s, thread, now, true);
}

static void on_freed(struct sink *s, uint64_t time, uint32_t thread, uint64_t address, uint64_t size)
{
	struct recording *r = CONTAINER_OF(s, struct recording, sink);
	struct thread_note *note = address && r->notes.count < MOST_WAITING ? VECTOR_PUSH(&r->notes) : NULL;

	if (note)
		*note = (struct thread_note){thread ? thread - 1 : UINT32_MAX, time, true, address, size};
	else
		r->dropped++;
}

/* Marks wait as they are, one behind the other, each with its data. */
static void on_marked(struct sink *s, const struct mark *m, uint32_t thread, uint64_t lost)
{
	struct recording *r = CONTAINER_OF(s, struct recording, sink);
	struct mark_note *note = m && r->marks.count < MOST_WAITING ? VECTOR_PUSH(&r->marks) : NULL;

	if (!note) {
		r->marks_lost += m ? 1 : lost;
		return;
	}
	*note = (struct mark_note){.time = m->time, .duration = m->duration, .vthread = m->vthread,
				   .thread = thread, .type = m->type, .length = m->length, .data = r->mark_data.length};
	buffer_append(&r->mark_data, m->data, m->length);
	if (r->marks.count == HURRY_AT)
		recording_wake(r, false);
}

static void renumber(struct generation *g, struct event_list *l)
{
	size_t i;

	for (i = 0; i < l->count; i++) {
		struct sink_event *e = event_list_at(l, i);

		carry_event(g, e, (struct sink_lock *)(uintptr_t)e->lock, (struct sink_fields *)(uintptr_t)e->fields);
	}
}

static void renumber_note(struct generation *g, struct thread_note *n)
{
	if (n->thread != UINT32_MAX)
		n->thread = carry_thread(g, n->thread);
}

/* The constants of the chunk stay: what is met again under another number finds its own. */
static void on_renewed(struct sink *s, struct generation *g)
{
	struct recording *r = CONTAINER_OF(s, struct recording, sink);
	size_t i;

	renumber(g, &r->pending);
	renumber(g, &r->batch);
	renumber(g, &r->held);
	for (i = 0; i < r->notes.count; i++)
		renumber_note(g, &r->notes.items[i]);
	for (i = 0; i < r->marks.count; i++)
		if (r->marks.items[i].thread)
			r->marks.items[i].thread = carry_thread(g, r->marks.items[i].thread - 1) + 1;
	for (i = 0; i < r->batch_notes.count; i++)
		renumber_note(g, &r->batch_notes.items[i]);
	recording_load_carry(r, g);
	recording_carry_keys(r, g);
	r->shown.frames.count = 0;
}

const struct sink_ops recording_sink_ops = {
	.event = on_event, .thread_begin = on_thread_begin, .thread_end = on_thread_end, .freed = on_freed,
	.marked = on_marked, .renewed = on_renewed,
};

void recording_threads_known(struct recording *r)
{
	pthread_mutex_lock(&r->collector->lock);
	r->threads_known = os_monotonic();
	pthread_mutex_unlock(&r->collector->lock);
}

void recording_take_over(struct recording *r)
{
	VECTOR_SWAP(&r->pending, &r->batch);
	VECTOR_SWAP(&r->notes, &r->batch_notes);
	event_list_cut(&r->pending, 0);
	r->notes.count = 0;
}

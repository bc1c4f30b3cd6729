/*
 * recording_marks.c - what the program has marked (agent/context/marks.h) as events: profiler.Span, profiler.UserEvent.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/context/marks.h"
#include "agent/sinks/recording/recording_state.h"

#define LOST "jstrobe.Lost" /* the type of an event that says how many are missing before it */

static void put_event(struct recording *r, uint64_t time, uint32_t thread, const char *type, const char *data,
		      size_t length)
{
	const struct jfr_value v[] = {JFR_N(thread), JFR_N(jfr_symbol(r->jfr, type)), JFR_B(data, length)};

	jfr_event(r->jfr, JFR_USER_EVENT, time, v, ARRAY_LEN(v));
}

static void put_span(struct recording *r, const struct mark_note *m, uint32_t thread, const char *data)
{
	struct buffer tag = BUFFER_INIT;
	uint32_t key;

	buffer_append(&tag, data, m->length);
	buffer_putc(&tag, '\0');
	key = tag.failed ? 0 : jfr_string(r->jfr, tag.data);
	if (key) {
		const struct jfr_value v[] = {
			JFR_N(jfr_ticks(r->jfr, m->time + m->duration) - jfr_ticks(r->jfr, m->time)), JFR_N(thread),
			JFR_N(key),
		};

		jfr_event(r->jfr, JFR_SPAN, m->time, v, ARRAY_LEN(v));
	}
	r->marks_lost += !key;
	buffer_free(&tag);
}

static void put_lost(struct recording *r, uint64_t now)
{
	char text[64];

	snprintf(text, sizeof(text), "%llu spans and events of the program", (unsigned long long)r->marks_lost);
	put_event(r, now, 0, LOST, text, strlen(text));
	r->marks_lost = 0;
}

void recording_forget_marks(struct recording *r)
{
	free(r->marks.items);
	memset(&r->marks, 0, sizeof(r->marks));
	buffer_free(&r->mark_data);
	buffer_init(&r->mark_data, -1);
}

void recording_put_marks(struct recording *r, uint64_t now)
{
	size_t i;

	if (r->mark_data.failed)
		r->marks_lost += r->marks.count;
	for (i = 0; !r->mark_data.failed && i < r->marks.count; i++) {
		const struct mark_note *m = &r->marks.items[i];
		uint32_t thread = m->thread || m->vthread ? recording_thread(r, m->thread - 1, m->vthread, 0) : 0;
		const char *type = marks_type_name(m->type), *data = m->length ? r->mark_data.data + m->data : "";

		if (m->type == MARK_SPAN)
			put_span(r, m, thread, data);
		else if (type)
			put_event(r, m->time, thread, type, data, m->length);
	}
	recording_forget_marks(r);
	if (r->marks_lost)
		put_lost(r, now);
}

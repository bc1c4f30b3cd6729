/*
 * read_events.c - one event after the other, into the counts of its chunk.
 */
#include <string.h>

#include "common/base/wide.h"
#include "profile/readers/jfr/event_handlers.h"
#include "profile/readers/jfr/jfr_reader.h"

/* Room for the counts of a chunk, in numbers of 4 bytes: each kind of samples has one for each stack and thread. */
#define CELLS_ANYWAY LIMIT_BYTES(32u << 20)
#define CELLS_A_BYTE 2
#define CELLS_OF_A_THREAD 4

/* Room for the samples of A, when it gets the first. */
static bool begin_counts(struct chunk_handlers *w, struct event_counts *a)
{
	uint64_t most = CELLS_ANYWAY + CELLS_A_BYTE * (w->chunk->end - w->chunk->start);

	w->cells += w->stack_count + CELLS_OF_A_THREAD * (uint64_t)w->thread_count;
	if (w->cells > most)
		read_aggregate_refuse(w->aggregate, "many kinds of samples beside many stacks and threads");
	else if (stack_counts_begin(&a->t, w->stack_count, w->thread_count))
		w->aggregate->no_memory = true;
	a->begun = !w->aggregate->no_memory;
	return a->begun;
}

static uint32_t place(const struct pool *p, bool there, uint64_t key)
{
	return there && p ? pool_find(p, key) : STACK_COUNT_NONE;
}

/* The counts of the event whose name is at SLOT. */
static struct event_counts *event_counts_of(struct chunk_handlers *w, const struct event_handler *handler)
{
	uint32_t name = handler->slots[SLOT_A] ? names_string(&w->names, handler->slots[SLOT_A]) : 0;
	struct event_counts *a;
	size_t i;

	for (i = 0; i < w->event_counts.count; i++)
		if (w->event_counts.items[i].name == name && w->event_counts.items[i].event == handler->event)
			return &w->event_counts.items[i];
	if (w->event_counts.count >= EVENT_COUNTS_MAX) {
		read_aggregate_refuse(w->aggregate, HANDLE_TOO_MANY);
		return NULL;
	}
	a = VECTOR_PUSH(&w->event_counts);
	if (!a) {
		w->aggregate->no_memory = true;
		return NULL;
	}
	a->event = handler->event;
	a->name = name;
	a->has_weight = true;
	return a;
}

/* Weights of some samples of ours come later, in their order. */
static void keep_unweighed(struct chunk_handlers *w, bool wall, const struct unweighed *event)
{
	struct unweighed *u = wall ? VECTOR_PUSH(&w->unweighed_wall) : VECTOR_PUSH(&w->unweighed);

	if (u)
		*u = *event;
	w->aggregate->no_memory |= !u;
}

/* WEIGHT bytes of objects of SIZE. Of others' recordings it is of what else was in a TLAB, or no estimate of a sum. */
static void add_objects(struct stack_count *item, uint64_t weight, uint64_t size)
{
	uint64_t parts = (int64_t)size > 0 ? wide_scale(weight, READ_OBJECT_PARTS, 0, size) : 0;

	item->parts = wide_add(item->parts, parts);
}

/* When ITEM of A was seen; the number of its moment + 1, 0: none is kept. */
static uint32_t keep_moment(struct chunk_handlers *w, struct event_counts *a, const struct event_part *part,
			    uint32_t item, uint32_t thread, uint64_t weight)
{
	struct chunk_moment *m;

	if (!w->selection->moments)
		return 0;
	m = VECTOR_PUSH(&a->moments);
	w->aggregate->no_memory |= !m;
	if (!m)
		return 0;
	m->time = (uint64_t)part->at;
	m->span = part->span;
	m->item = item;
	m->thread = thread;
	m->samples = part->samples;
	m->weight = weight;
	return (uint32_t)a->moments.count;
}

static uint32_t text_at(struct chunk_handlers *w, uint64_t slot)
{
	return slot ? names_string(&w->names, slot) : 0;
}

static const char *text(struct chunk_handlers *w, uint64_t slot)
{
	return strings_get(&w->aggregate->strings, text_at(w, slot));
}

static const char *operation_name(uint32_t n)
{
	return io_operation_names[n];
}

static const char *kind_name(uint32_t n)
{
	return io_kind_names[n].word;
}

/* The number of WORD among COUNT names; OTHERWISE: it is none of them. */
static uint8_t number_of(const char *word, const char *(*name)(uint32_t n), uint8_t count, uint8_t otherwise)
{
	uint8_t n = 0;

	while (n < count && strcmp(word, name(n)) != 0)
		n++;
	return n < count ? n : otherwise;
}

/* The call before goes into the sum of what it was about, a place in the pool. */
static void take_call(struct chunk_handlers *w, const struct event_handler *handler, uint32_t target)
{
	uint8_t operation = handler->operation, kind = handler->io_kind;
	struct io_line *line;

	if (operation == IO_OPERATIONS) {
		operation = number_of(text(w, handler->slots[SLOT_A]), operation_name, IO_OPERATIONS, IO_OPEN);
		kind = number_of(text(w, handler->slots[SLOT_B]), kind_name, IO_KINDS, IO_KIND_OTHER);
	}
	line = io_lines_of(&w->calls, target, operation, kind);
	w->aggregate->no_memory |= !line;
	if (!line)
		return;
	w->call.is.bytes = (int64_t)handler->slots[SLOT_SIZE] < 0 ? 0 : handler->slots[SLOT_SIZE];
	io_lines_add(&w->calls, line, &w->call.is);
}

/* From the next object on it is known when the time has its middle. */
static void take_live_heap(struct chunk_handlers *w, const uint64_t *slots)
{
	uint64_t span = slots[SLOT_B] - slots[SLOT_A];

	w->live.known = (int64_t)span > 0;
	w->middle = slots[SLOT_A] + span / 2;
	w->live_end = slots[SLOT_B];
	w->live.since = (uint64_t)chunk_time(w->chunk, slots[SLOT_A]);
	w->live.span = wide_scale(span, NS_PER_S, 0, w->chunk->ticks_per_second);
	w->live.used = slots[SLOT_C];
	w->live.most = slots[SLOT_D];
}

/* What tells the thread at PLACE apart: its system id; a virtual thread has none. 0: not known. */
static uint64_t thread_id(struct chunk_handlers *w, uint32_t at)
{
	uint32_t number = at == STACK_COUNT_NONE ? LISTS_FAILED : names_thread(&w->names, at), count;
	const uint32_t *words;

	if (number == LISTS_FAILED)
		return 0;
	words = lists_get(&w->aggregate->threads, number, &count);
	return words[READ_THREAD_TID] ? words[READ_THREAD_TID] : (uint64_t)words[READ_THREAD_JAVA_ID] << 32;
}

/* The text in SLOT, or the constant of the handler's type that stands there. */
static const char *tag_of(struct chunk_handlers *w, const struct event_handler *handler, uint64_t slot)
{
	if (handler->object_type == METADATA_NONE)
		return text(w, slot);
	return strings_get(&w->aggregate->strings, names_text(&w->names, handler->object_type, slot));
}

static void note_span(struct chunk_handlers *w, const struct event_handler *handler)
{
	const uint64_t *slots = handler->slots;
	struct spans *spans = w->selection->spans;
	int64_t from = chunk_time(w->chunk, slots[SLOT_TIME]), to;
	uint64_t ns = (int64_t)slots[SLOT_WEIGHT] < 0 ? 0 : slots[SLOT_WEIGHT], thread;

	ns = handler->unit == UNIT_TICKS ? wide_scale(ns, NS_PER_S, 0, w->chunk->ticks_per_second) :
	     wide_scale(ns, metadata_unit_ns(handler->unit), 0, 1);
	if (__builtin_add_overflow(from, (int64_t)MIN(ns, (uint64_t)INT64_MAX), &to))
		to = INT64_MAX;
	/* before the tag: a thread that is seen for the first time may move the strings that this is one of */
	thread = thread_id(w, place(w->thread_pool, handler->has_thread, slots[SLOT_THREAD]));
	spans_note(spans, &(struct thread_span){thread, from, to}, tag_of(w, handler, slots[SLOT_A]));
}

/* By what samples of THREAD at TIME (ticks) are kept apart. WALL: of wall time, where idle threads are told. */
static uint32_t apart(struct chunk_handlers *w, uint32_t thread, int64_t time, bool wall)
{
	const struct selection *s = w->selection;
	int64_t at;

	if (s->by_context)
		return handler_in_context(w, thread, (uint64_t)time, s->by_thread || wall);
	if (!s->by_block)
		return s->by_thread || wall ? thread : STACK_COUNT_NONE;
	at = MIN(MAX(chunk_time(w->chunk, (uint64_t)time), s->blocks_from), s->blocks_to - 1);
	return (uint32_t)wide_scale((uint64_t)(at - s->blocks_from), PROFILE_BLOCKS, 0,
				    (uint64_t)(s->blocks_to - s->blocks_from));
}

/* What an object or a block stands for is in the event before it, or by what is left of it; else WEIGHT. */
static uint64_t weight_of(struct chunk_handlers *w, const struct event_handler *handler, uint64_t position,
			  uint64_t weight)
{
	if (handler->outside || (handler->is_live && !handler->has_size)) {
		if (w->object.weight && w->object.time == handler->slots[SLOT_TIME])
			weight = w->object.weight;
		w->object.weight = 0;
	}
	if (handler->of_thread && w->selection->allocs)
		weight -= first_allocs_cut(w->selection->allocs, position);
	return handler->left == LEFT_NONE ? weight : left_blocks_weight(w->selection->left, position, weight);
}

/* The call that was said before lasted WEIGHT ticks, of which PART is asked for. What that stands for. */
static uint64_t weight_of_call(struct chunk_handlers *w, const struct event_part *part, uint64_t weight, bool said)
{
	w->call.there = false;
	w->call.is.duration = wide_scale(weight, NS_PER_S, 0, w->chunk->ticks_per_second);
	if (!said)
		return part_of(part, w->call.is.duration);
	w->call.is.whole = MAX(w->call.is.weight, w->call.is.idle);
	w->call.is.weight = part_of(part, w->call.is.weight);
	w->call.is.idle = part_of(part, w->call.is.idle);
	return w->call.is.weight;
}

/* Whether what it worked for, its spans and its thread let it count. */
static bool is_chosen(struct chunk_handlers *w, uint32_t thread, uint64_t time)
{
	return handler_is_of_context(w, thread, time) &&
	       (!w->selection->spans ||
		spans_hold(w->selection->spans, thread_id(w, thread), chunk_time(w->chunk, time))) &&
	       (!w->threads || (thread != STACK_COUNT_NONE && w->threads[thread]));
}

static void take_sample(struct chunk_handlers *w, struct event_handler *handler, uint64_t position)
{
	const uint64_t *slots = handler->slots;
	uint32_t stack = place(w->stack_pool, handler->has_stack, slots[SLOT_STACK]);
	uint32_t thread = place(w->thread_pool, handler->has_thread, slots[SLOT_THREAD]);
	uint32_t state = place(w->state_pool, handler->has_state, slots[SLOT_STATE]);
	uint8_t mark = state == POOL_NO_PLACE ? *w->selection->states ? STATE_UNWANTED : 0 :
						w->states[state];
	struct event_counts *a = &w->event_counts.items[handler->counts];
	uint64_t all = handler->kind == HANDLE_WALL ? (uint64_t)MAX((int32_t)slots[SLOT_SAMPLES], 0) : 1;
	uint64_t weight = (int64_t)slots[SLOT_WEIGHT] < 0 ? 0 : slots[SLOT_WEIGHT]; /* less than nothing is nothing */
	uint32_t object = STACK_COUNT_NONE, item = STACK_COUNT_NONE, moment = 0;
	bool said = handler->of_call && w->call.there && w->call.time == slots[SLOT_TIME];
	struct event_part part;
	uint64_t size;
	bool wall = handler->kind == HANDLE_EXECUTION && (w->knows_cpu_state || w->ours) &&
		    state != POOL_NO_PLACE && !(mark & STATE_CPU);

	weight = weight_of(w, handler, position, weight);
	all = handler->left != LEFT_NONE ? weight != 0 : all;
	handler_part(w, handler, all, &part);
	weight = handler->of_call ? weight_of_call(w, &part, weight, said) : part_of(&part, weight);
	if (wall)
		a = &w->event_counts.items[handler->wall_counts];
	else if (handler->kind == HANDLE_EVENT)
		a = event_counts_of(w, handler);
	if (!a || unlikely(!a->begun && !begin_counts(w, a)))
		return;
	if (handler->has_object && (!handler->of_call || said))
		object = pool_find(&w->pools.of_type[handler->object_type],
				   said ? w->call.target : slots[SLOT_OBJECT]);
	if (!wall && handler->kind != HANDLE_WALL)
		mark &= STATE_CPU | STATE_UNWANTED; /* states are told of wall-clock samples */
	if (part.samples && !(mark & STATE_UNWANTED) && is_chosen(w, thread, slots[SLOT_TIME])) {
		item = stack_count_add(&a->t, stack, thread, apart(w, thread, part.at,
							   wall || handler->kind == HANDLE_WALL), object,
				 mark >> STATE_SHIFT, part.samples, weight);
		a->failed += slots[SLOT_FAILED] != 0;
		w->aggregate->no_memory |= item == STACK_COUNT_NONE;
		size = slots[handler->has_size ? SLOT_SIZE : SLOT_WEIGHT];
		if ((handler->has_size || handler->outside || handler->is_live) && w->ours && item != STACK_COUNT_NONE)
			add_objects(&a->t.items.items[item], weight, size);
		if (said && w->call.is.estimated && item != STACK_COUNT_NONE)
			a->t.items.items[item].parts += weight;
		if (said)
			take_call(w, handler, object);
		if (handler->of_thread && w->selection->allocs)
			recording_info_cut(w->info, first_allocs_cut(w->selection->allocs, position));
		if (item != STACK_COUNT_NONE)
			moment = keep_moment(w, a, &part, item, thread, weight);
		if (handler->is_live && w->live.known && item != STACK_COUNT_NONE && slots[SLOT_B] <= w->live_end)
			stack_counts_grow(&a->t, item, weight, slots[SLOT_B] > w->middle);
	}
	if (w->ours && (handler->kind == HANDLE_EXECUTION || handler->kind == HANDLE_WALL))
		keep_unweighed(w, wall || handler->kind == HANDLE_WALL, &(struct unweighed){
			(uint32_t)(a - w->event_counts.items), item, moment, thread, (uint32_t)part.samples,
			(uint32_t)all});
}

/* A number of base-64 VLQ at *TEXT, moved past it: docs/reference/jfr.md. False at the end, or if it is none. */
static bool next_number(const char **text, int64_t *number)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint64_t value = 0;
	unsigned shift = 0, bits;
	const char *at;

	do {
		at = **text ? strchr(letters, **text) : NULL;
		if (!at || shift > 60)
			return false;
		(*text)++;
		bits = (unsigned)(at - letters);
		value |= (uint64_t)(bits & 31) << shift;
		shift += 5;
	} while (bits & 32);
	*number = value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
	return true;
}

static void weigh(struct chunk_handlers *w, const struct unweighed *u, uint64_t ns)
{
	struct event_counts *a = &w->event_counts.items[u->counts];

	a->weighed = true;
	if (u->item == STACK_COUNT_NONE)
		return;
	if (u->counted != u->samples)
		ns = wide_scale(ns, u->counted, 0, u->samples);
	a->t.items.items[u->item].weight += ns;
	if (u->moment)
		a->moments.items[u->moment - 1].weight += ns;
	a->t.over |= __builtin_add_overflow(a->t.weight, ns, &a->t.weight);
	a->t.threads[u->thread + 1].weight += ns;
}

/* Give COUNT events before this one their weights. */
static void take_weights(struct chunk_handlers *w, const struct event_handler *handler, const struct unweighed *events,
			 size_t count)
{
	struct reader r = names_reader(&w->names, handler->slots[SLOT_B]);
	struct buffer *text = &w->names.text;
	int64_t difference, repeats;
	uint64_t key, weight = 0;
	const char *at;
	size_t i = 0;

	text->length = 0;
	text_read(&r, text, &key);
	buffer_putc(text, '\0');
	at = text->failed ? "" : text->data;
	while (i < count && next_number(&at, &difference) && next_number(&at, &repeats)) {
		weight += (uint64_t)difference;
		for (; i < count && repeats >= 0; repeats--)
			weigh(w, &events[i++], weight * handler->slots[SLOT_A]);
	}
}

/* ---- what is no sample ---- */

/* What is said of the event EVENT; NULL: nothing can be kept. */
static struct recording_info_counts *counts_of(struct chunk_handlers *w, uint32_t event)
{
	struct recording_info_counts *c = recording_info_counts_of(w->info, event);

	if (!c && w->info->counts.count >= RECORDING_INFO_COUNTS_MAX)
		read_aggregate_refuse(w->aggregate, RECORDING_INFO_TOO_MANY);
	w->aggregate->no_memory |= !c;
	return c;
}

static void take_counts(struct chunk_handlers *w, const uint64_t *slots)
{
	struct recording_info_counts *c = counts_of(w, text_at(w, slots[SLOT_A]));

	if (!c)
		return;
	c->said_at = w->chunk->start + 1;
	c->engine = text_at(w, slots[SLOT_B]);
	c->interval = slots[SLOT_C];
	c->taken = slots[SLOT_D];
	c->stored = slots[SLOT_E];
	c->complete = slots[SLOT_F];
	c->cpu_time = slots[SLOT_G];
	c->own_cpu = slots[SLOT_H];
	c->weight_stored = slots[SLOT_WEIGHT];
	c->left_out = slots[SLOT_I];
	c->weight_left_out = slots[SLOT_J];
	c->partial = slots[SLOT_K];
	c->ambiguous = slots[SLOT_SIZE];
}

static void take_reason(struct chunk_handlers *w, const uint64_t *slots)
{
	struct recording_info_counts *c = counts_of(w, text_at(w, slots[SLOT_A]));
	const char *reason = text(w, slots[SLOT_B]);
	enum loss_reason i;

	if (!c)
		return;
	i = loss_by_name(reason);
	if (i == LOSS_REASONS) {
		c->lost_otherwise += slots[SLOT_C];
		return;
	}
	c->lost[i] += slots[SLOT_C];
	c->lost_weight[i] += slots[SLOT_D];
}

/* Our own recordings name each event before its interval, which may be of bytes or anything. */
static void take_interval(struct chunk_handlers *w, const char *type, uint64_t interval)
{
	const char *event = strings_get(&w->aggregate->strings, w->setting_of);
	struct recording_info_counts *c;

	if (!w->ours || strcmp(type, "jdk.ActiveRecording") != 0) {
		*(strcmp(type, "profiler.WallClockSample") == 0 ? &w->info->wall_interval : &w->info->interval) =
			interval;
		return;
	}
	if (strcmp(event, "cpu") == 0)
		w->info->interval = interval;
	if (strcmp(event, "wall") == 0)
		w->info->wall_interval = interval;
	c = counts_of(w, w->setting_of);
	if (c)
		c->interval = interval;
}

static void take_setting(struct chunk_handlers *w, const uint64_t *slots)
{
	uint32_t name = text_at(w, slots[SLOT_B]), value = text_at(w, slots[SLOT_C]);
	const struct strings *strings = &w->aggregate->strings;
	uint32_t number = metadata_by_id(&w->metadata, slots[SLOT_A]);
	const char *type = number == METADATA_NONE ? "" : w->metadata.types.items[number].name;
	uint64_t ns = recording_info_time(strings_get(strings, value));
	const char *word = strings_get(strings, name);

	if (strcmp(word, "event") == 0)
		w->setting_of = value;
	if (!ns)
		return;
	if (strcmp(word, "interval") == 0)
		take_interval(w, type, ns);
	else if (strcmp(word, "wall") == 0)
		w->info->wall_interval = ns;
	else if (strcmp(word, "period") == 0 && strcmp(type, "jdk.ExecutionSample") == 0)
		w->info->period = ns;
}

const char *handler_inline_text(struct chunk_handlers *w, uint64_t at, struct buffer *to)
{
	struct reader r = names_reader(&w->names, at);
	uint64_t key;

	if (at)
		text_read(&r, to, &key);
	buffer_putc(to, '\0');
	return to->failed ? "" : to->data;
}

static void take_jvm(struct chunk_handlers *w, const uint64_t *slots)
{
	uint32_t version = text_at(w, slots[SLOT_A]), arguments = text_at(w, slots[SLOT_B]);
	int64_t pid = (int64_t)slots[SLOT_C];
	struct strings *strings = &w->aggregate->strings;

	/* told once in a chunk; long ones could be told with each event */
	if (version == w->jvm.version && arguments == w->jvm.arguments && pid == w->jvm.pid)
		return;
	if (!read_aggregate_text(w->aggregate,
				 strlen(strings_get(strings, version)) + strlen(strings_get(strings, arguments))))
		return;
	w->jvm.version = version;
	w->jvm.arguments = arguments;
	w->jvm.pid = pid;
	recording_info_jvm(w->info, strings, strings_get(strings, version), strings_get(strings, arguments), pid);
}

/* They speak of the whole recording: a part of its time has others. */
static void take_surrounding(struct chunk_handlers *w, const uint64_t *slots)
{
	struct recording_info *info = w->info;
	struct buffer name = BUFFER_INIT;
	enum surrounding which;

	if (w->selection->in_range)
		return;
	which = surrounding_by_name(handler_inline_text(w, slots[SLOT_A], &name));
	buffer_free(&name);
	if (which == SURROUNDINGS)
		return;
	info->around_twice |= around_known(&info->around, which);
	around_set(&info->around, which, slots[SLOT_B]);
}

void handler_take(struct chunk_handlers *w, struct event_handler *handler, const struct chunk_event *e)
{
	const struct chunk *c = w->chunk;
	struct event_part part;
	struct reader r;

	if (handler->layout == LAYOUT_NONE)
		return;
	/*
	 * Few numbers are read up to the chunk's end, so that an event's last ones need no more care than its first.
	 * What may be long ends with the event, or all events behind it would be read for each of them.
	 */
	r = read_between(e->body,
			 c->in->bytes + (w->layouts.layouts.items[handler->layout].most ? c->end : e->at + e->size),
			 c->wide);
	field_layout_read(&w->layouts, handler->layout, &r, handler->slots);
	if (unlikely(r.c.failed || r.c.at > c->in->bytes + e->at + e->size))
		return;
	if (w->selection->left && w->selection->left->noting) {
		handler_note_left(w, handler, e->at);
		return;
	}
	switch (handler->kind) {
	case HANDLE_FREED:
		break;
	case HANDLE_MARK:
		chunk_marks_take(w, handler);
		break;
	case HANDLE_ALLOCATED:
		handler_note_allocated(w, handler, e->at, thread_id(w, place(w->thread_pool, handler->has_thread,
									     handler->slots[SLOT_THREAD])));
		break;
	case HANDLE_SPAN:
		note_span(w, handler);
		break;
	case HANDLE_WEIGHTS:
		take_weights(w, handler, w->unweighed.items, w->unweighed.count);
		w->unweighed.count = 0;
		break;
	case HANDLE_WALL_WEIGHTS:
		take_weights(w, handler, w->unweighed_wall.items, w->unweighed_wall.count);
		w->unweighed_wall.count = 0;
		break;
	case HANDLE_TIMING:
		handler_timing(w, handler);
		break;
	case HANDLE_COUNTS:
		take_counts(w, handler->slots);
		break;
	case HANDLE_REASON:
		take_reason(w, handler->slots);
		break;
	case HANDLE_SETTING:
		take_setting(w, handler->slots);
		break;
	case HANDLE_AROUND:
		take_surrounding(w, handler->slots);
		break;
	case HANDLE_JVM:
		take_jvm(w, handler->slots);
		break;
	case HANDLE_CONTEXT:
		handler_context(w, handler);
		break;
	case HANDLE_OBJECT_WEIGHT:
		w->object.time = handler->slots[SLOT_TIME];
		w->object.weight = (int64_t)handler->slots[SLOT_WEIGHT] < 0 ? 0 : handler->slots[SLOT_WEIGHT];
		break;
	case HANDLE_IO_WEIGHT:
		w->call.there = true;
		w->call.time = handler->slots[SLOT_TIME];
		w->call.target = handler->slots[SLOT_A];
		w->call.is = (struct io_call){
			.weight = (int64_t)handler->slots[SLOT_WEIGHT] < 0 ? 0 : handler->slots[SLOT_WEIGHT],
			.idle = (int64_t)handler->slots[SLOT_C] < 0 ? 0 : handler->slots[SLOT_C],
			.estimated = handler->slots[SLOT_B] != 0, .open = handler->slots[SLOT_D] != 0,
		};
		break;
	case HANDLE_LIVE_HEAP:
		take_live_heap(w, handler->slots);
		break;
	case HANDLE_JDK_LOST:
		handler_part(w, handler, 1, &part);
		if (part.samples)
			w->info->jdk_lost += (uint32_t)handler->slots[SLOT_A];
		break;
	default:
		take_sample(w, handler, e->at);
	}
}

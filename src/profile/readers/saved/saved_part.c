/*
 * saved_part.c - a part of a result in JSON: of the time, of the threads, in some states (--from, --to, --filter,
 * --state). Its stacks are sums, so what is in the part comes from its `times`, row by row, as a page takes a part of
 * its time (partOf of web/timeline.js). Objects and the like are in proportion to the weight.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/wide.h"
#include "profile/readers/chosen.h"
#include "profile/readers/read_contexts.h"
#include "profile/readers/saved/saved_reader.h"

bool saved_is_part(const struct selection *selection)
{
	return selection->in_range || *selection->states || *selection->threads;
}

/* ---- the time ---- */

/* The times of the object at J, or of the first in its list; whether both are there. */
static bool find_time(struct json *j, uint64_t *start, uint64_t *duration)
{
	bool started = false, lasts = false;
	const char *key;

	if (!json_open(j, '{'))
		return false;
	while (!(started && lasts) && (key = json_key(j)))
		if (strcmp(key, "started_at") == 0) {
			*start = saved_date(json_string(j, NULL));
			started = true;
		} else if (strcmp(key, "duration_ns") == 0) {
			*duration = json_number(j);
			lasts = true;
		} else if (strcmp(key, "profiles") == 0) {
			return json_open(j, '[') && json_item(j) && json_peek(j) == '{' &&
			       find_time(j, start, duration);
		} else {
			json_skip(j);
		}
	return started && lasts;
}

int saved_span(const struct input *in, int64_t *start, int64_t *end)
{
	uint64_t from = 0, duration = 0;
	struct json j;

	json_init(&j, in->bytes, in->size);
	find_time(&j, &from, &duration); /* what is no JSON is found out when it is read */
	json_free(&j);
	*start = (int64_t)from;
	*end = (int64_t)(from + MIN(duration, SAVED_LONGEST));
	return 0;
}

/* AT, ns since 1970, in ns since START; of what is before it 0. */
static uint64_t ns_since(uint64_t start, int64_t at)
{
	return at > 0 && (uint64_t)at > start ? (uint64_t)at - start : 0;
}

bool saved_range(const struct saved *s, uint64_t *from, uint64_t *to)
{
	*from = ns_since(s->started_at, s->selection->from);
	*to = MAX(*from, MIN(s->duration, ns_since(s->started_at, s->selection->to)));
	return s->selection->in_range && (*from || *to < s->duration);
}

/* ---- states and threads ---- */

/* How recordings spell STATE. Others than ours tell no threads apart that run and that could. */
static const char *spelled(enum thread_state state)
{
	static const char *const names[THREAD_STATES] = {
		[THREAD_RUNNING] = "RUNNABLE", [THREAD_RUNNABLE] = "READY", [THREAD_NATIVE] = "IN_NATIVE",
		[THREAD_SLEEPING] = "SLEEPING", [THREAD_PARKED] = "PARKED", [THREAD_WAITING] = "IN_OBJECT_WAIT",
		[THREAD_BLOCKED] = "BLOCKED_ON_MONITOR_ENTER", [THREAD_HELD] = "HELD",
	};

	return names[state] ? names[state] : "";
}

bool saved_is_of_state(const struct saved *s, enum thread_state state)
{
	const char *list = s->selection->states, *word = thread_state_names[state].word;
	bool ours = strcmp(strings_get(&s->aggregate->strings, s->counts.engine), "recording") != 0;

	if (!*list)
		return true;
	if (read_aggregate_time(s->event) == WEIGHT_CPU && state == THREAD_NONE)
		return chosen_state(list, "DEFAULT") || (!ours && chosen_state(list, "RUNNABLE"));
	/* of no other samples do recordings tell states */
	if (strcmp(s->event, "wall") != 0 || state == THREAD_NONE)
		return false;
	/* "runnable" is what recordings call running */
	return chosen_state(list, spelled(state)) ||
	       ((state != THREAD_RUNNABLE || !ours) && chosen_state(list, word));
}

/* Which threads of the present result are wanted. */
static void choose_threads(struct saved *s)
{
	const char *list = s->selection->threads;
	const uint32_t *words;
	uint32_t count;
	uint8_t *slot;
	size_t i;

	s->threads_chosen.count = 0;
	for (i = 0; i < s->threads_said.count && !s->no_memory; i++) {
		slot = VECTOR_PUSH(&s->threads_chosen);
		s->no_memory |= !slot;
		if (!slot)
			break;
		words = lists_get(&s->aggregate->threads, s->threads_said.items[i].thread, &count);
		*slot = !*list || chosen_thread(list, words[READ_THREAD_TID],
						strings_get(&s->aggregate->strings, words[READ_THREAD_NAME]));
	}
}

/* ---- rows ---- */

/* Some samples, ns since the begin of the result. */
struct part {
	uint64_t at, span, samples, weight;
};

/* Of P's samples, evenly spread over its time, those from FROM up to TO. */
static bool take_samples(struct part *p, uint64_t from, uint64_t to)
{
	uint64_t steps = p->samples - 1, end = p->at + p->span, first, last, samples;

	if (end < from || p->at >= to)
		return false;
	first = p->at >= from ? 0 : wide_scale(from - p->at, steps, p->span - 1, p->span);
	last = end < to ? steps : wide_scale(to - 1 - p->at, steps, 0, p->span);
	if (last < first)
		return false;
	samples = last - first + 1;
	p->weight = wide_scale(p->weight, samples, 0, p->samples);
	p->at += wide_scale(p->span, first, 0, steps);
	p->span = wide_scale(p->span, last - first, 0, steps);
	p->samples = samples;
	return true;
}

/* The time of P from FROM up to TO. */
static bool take_time(struct part *p, uint64_t from, uint64_t to)
{
	uint64_t begin = MAX(p->at, from), end = MIN(p->at + p->span, to);

	if (begin >= end)
		return false;
	p->weight = wide_scale(p->weight, end - begin, 0, p->span);
	p->at = begin;
	p->span = end - begin;
	return true;
}

/* What of P lies in the part, from its begin on. */
static bool take_part(const struct saved *s, struct part *p)
{
	uint64_t from, to;
	bool inside;

	if (!saved_range(s, &from, &to))
		return true;
	if (!p->span)
		inside = p->at >= from && p->at < to;
	else
		inside = p->samples > 1 ? take_samples(p, from, to) : take_time(p, from, to);
	p->at -= inside ? from : 0;
	return inside;
}

/* PART of ALL of N. */
static uint64_t share(uint64_t n, uint64_t part, uint64_t all)
{
	return all ? wide_scale(n, part, all / 2, all) : 0;
}

/* P is of PLACE, on THREAD (of the aggregate). */
static void add(struct saved *s, const struct part *p, const struct saved_place *place, uint32_t thread, uint64_t step)
{
	struct read_aggregate *to = s->aggregate;
	uint32_t of = place->thread != PROFILE_NO_THREAD ? s->threads_said.items[place->thread].thread :
		      s->selection->by_thread ? thread : READ_NO_THREAD, count;

	of = saved_in_context(s, of, place->context);
	count = read_aggregate_add(to, s->family, place->stack, of, place->state, p->samples, p->weight);
	read_aggregate_add_objects(to, s->family, place->stack, of, place->state,
				   share(place->parts, p->weight, place->weight),
				   share(place->outside, p->weight, place->weight));
	if (thread != READ_NO_THREAD)
		read_aggregate_add_thread(to, s->family, thread, p->samples, p->weight);
	if (!s->selection->moments || to->no_memory)
		return;
	if (!to->families.items[s->family].moments.step)
		to->families.items[s->family].moments.step = step;
	moments_add(&to->families.items[s->family].moments, (int64_t)p->at, p->span, count, thread, p->samples,
		    p->weight);
}

void saved_begin_part(struct saved *s)
{
	s->timed = s->timed_any = true;
	choose_threads(s);
}

void saved_add_part(struct saved *s, const struct profile_moment *row, const struct saved_place *place, uint64_t step,
		    uint64_t weight)
{
	struct part p = {row->at * step, row->span * step, row->samples, weight};
	struct saved_place none = {.thread = PROFILE_NO_THREAD, .state = THREAD_NONE};
	bool known = row->thread != PROFILE_NO_THREAD;

	if (known ? !s->threads_chosen.items[row->thread] : *s->selection->threads != '\0')
		return;
	if (!place) { /* it has been merged with others */
		if (*s->selection->states)
			return;
		none.stack = lists_add(&s->aggregate->stacks, &none.stack, 0);
		s->no_memory |= none.stack == LISTS_FAILED;
		place = &none;
	}
	if (!s->no_memory && p.samples && take_part(s, &p))
		add(s, &p, place, known ? s->threads_said.items[row->thread].thread : READ_NO_THREAD, step);
}

void saved_end_part(struct saved *s)
{
	size_t i;

	for (i = 0; i < s->places.count && !s->places.items[i].samples; i++)
		;
	if (s->timed || i == s->places.count)
		return;
	s->untimed = true;
	buffer_printf(s->notes, "%s: left out, as the file does not say when its samples were taken\n", s->event);
}

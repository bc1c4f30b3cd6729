/*
 * chunk_merge.c - the counts of a chunk go into the aggregate, and with that what was a number gets a name.
 *
 * Here it is decided what counts once: our own recordings may have a CPU sample as execution sample and
 * as CPU-time sample, so that every tool finds the one it knows; and the JDK may tell the same allocation
 * by a sample and by the new TLAB it was in.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/wide.h"
#include "profile/readers/jfr/event_handlers.h"

/* What the weights of an event are to be multiplied by. */
struct scale {
	uint64_t by, divided_by; /* 0: weights are not known */
	bool by_samples;         /* the samples are multiplied instead */
};

static uint64_t scaled(const struct scale *s, uint64_t samples, uint64_t weight)
{
	if (!s->divided_by)
		return 0;
	return wide_scale(s->by_samples ? samples : weight, s->by, 0, s->divided_by);
}

/* The interval of sampling, as the recording's settings have it. */
static uint64_t interval_of(const struct chunk_handlers *w, const char *family)
{
	const struct recording_info *f = w->info;
	bool wall = strcmp(family, "wall") == 0;

	if (wall && f->wall_interval)
		return f->wall_interval;
	return f->interval ? f->interval : wall ? 0 : f->period;
}

static struct scale scale_of(const struct chunk_handlers *w, const struct event_counts *a,
			     const struct family *family, const char *name)
{
	if (a->weighed)
		return (struct scale){1, 1, false};
	if (a->has_weight && a->unit == UNIT_TICKS)
		return (struct scale){NS_PER_S, w->chunk->ticks_per_second, false};
	if (a->has_weight)
		return (struct scale){metadata_unit_ns(a->unit), 1, false};
	if (family && family->unit == FAMILY_TIME)
		return (struct scale){interval_of(w, name), 1, true};
	return (struct scale){1, 1, true};
}

static const char *text_of(const struct chunk_handlers *w, uint32_t number)
{
	return strings_get(&w->aggregate->strings, number);
}

/* Whether other counts of the chunk have the same samples, and tell them better. */
static bool is_told_by(const struct chunk_handlers *w, const struct event_counts *a, const char *event,
		       const char *by)
{
	size_t i;

	if (strcmp(a->event, event) != 0 || (a->family && strcmp(a->family, "wall") == 0))
		return false;
	for (i = 0; i < w->event_counts.count; i++)
		if (strcmp(w->event_counts.items[i].event, by) == 0 && w->event_counts.items[i].t.samples)
			return true;
	return false;
}

static bool is_double(const struct chunk_handlers *w, const struct event_counts *a)
{
	return (w->ours && is_told_by(w, a, "jdk.ExecutionSample", "jdk.CPUTimeSample")) ||
	       is_told_by(w, a, "jdk.ObjectAllocationInNewTLAB", "jdk.ObjectAllocationSample") ||
	       is_told_by(w, a, "jdk.ObjectAllocationOutsideTLAB", "jdk.ObjectAllocationSample");
}

/* The innermost frame of an object's class on STACK. */
static uint32_t with_object(struct chunk_handlers *w, const struct event_counts *a, uint32_t stack,
			    uint32_t object)
{
	const struct pool *pool;
	uint32_t type = METADATA_NONE, frame;
	size_t i;

	for (i = 0; i < w->sample_handlers; i++)
		if (w->handlers.items[i].has_object && w->handlers.items[i].event == a->event)
			type = w->handlers.items[i].object_type;
	if (type == METADATA_NONE)
		return stack;
	pool = &w->pools.of_type[type];
	frame = names_object(&w->names, type, pool->constants.items[object].key, !a->of_calls);
	return frame == LISTS_FAILED ? LISTS_FAILED : read_aggregate_leaf(w->aggregate, stack, frame);
}

/* How a thread waited, as the type of its event says. */
static uint8_t state_of_wait(const char *event)
{
	static const struct {
		const char *event;
		enum thread_state state;
	} states[] = {
		{"jdk.JavaMonitorEnter", THREAD_BLOCKED}, {"jdk.JavaMonitorWait", THREAD_WAITING},
		{"jdk.ThreadPark", THREAD_PARKED}, {"jdk.ThreadSleep", THREAD_SLEEPING},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(states); i++)
		if (strcmp(event, states[i].event) == 0)
			return (uint8_t)states[i].state;
	return THREAD_NONE;
}

/* The number of the family's count that T goes into. */
static uint32_t merge_stack(struct chunk_handlers *w, const struct event_counts *a, uint32_t family,
			    const struct scale *scale, const struct stack_count *t)
{
	struct stack_count_with with = {STACK_COUNT_NONE, STACK_COUNT_NONE, THREAD_NONE};
	uint32_t stack = LISTS_FAILED, thread = READ_NO_THREAD, number;
	bool truncated = false;
	uint64_t weight;

	if (t->with)
		with = a->t.with.items[t->with - 1];
	if (with.state == THREAD_NONE)
		with.state = state_of_wait(a->event);
	if (t->stack != STACK_COUNT_NONE)
		stack = names_stack(&w->names, t->stack, &truncated);
	if (w->aggregate->no_memory)
		return 0;
	if (stack == LISTS_FAILED) {
		stack = w->names.empty_stack;
		w->aggregate->families.items[family].no_stack += t->samples;
	}
	if (truncated)
		w->aggregate->families.items[family].truncated += t->samples;
	if (with.object != STACK_COUNT_NONE)
		stack = with_object(w, a, stack, with.object);
	if (with.apart != STACK_COUNT_NONE)
		thread = w->selection->by_block || w->selection->by_context ? with.apart :
			 names_thread(&w->names, with.apart);
	if (stack == LISTS_FAILED) {
		w->aggregate->no_memory = true;
		return 0;
	}
	weight = scaled(scale, t->samples, t->weight);
	number = read_aggregate_add(w->aggregate, family, stack, thread, with.state, t->samples, weight);
	if (a->of_calls)
		read_aggregate_add_objects(w->aggregate, family, stack, thread, with.state, 0,
					   scaled(scale, t->samples, t->parts));
	else
		read_aggregate_add_objects(w->aggregate, family, stack, thread, with.state, t->parts,
					   strcmp(a->event, "jdk.ObjectAllocationOutsideTLAB") == 0 ? weight : 0);
	if ((size_t)(t - a->t.items.items) < a->t.growth.count)
		read_aggregate_add_growth(w->aggregate, family, stack, thread, with.state,
					  &a->t.growth.items[t - a->t.items.items]);
	return number;
}

/* What A's moments say of the family; COUNTS leads from items to its counts. */
static void merge_moments(struct chunk_handlers *w, const struct event_counts *a, uint32_t family,
			  const struct scale *scale, const uint32_t *counts)
{
	struct moments *to = &w->aggregate->families.items[family].moments;
	const struct chunk *c = w->chunk;
	struct moment_seen seen[64];
	uint64_t rate = MAX(c->ticks_per_second, 1);
	size_t i, n;

	for (i = 0; i < a->moments.count && !w->aggregate->no_memory; i += n) {
		for (n = 0; n < ARRAY_LEN(seen) && i + n < a->moments.count; n++) {
			const struct chunk_moment *m = &a->moments.items[i + n];

			seen[n] = (struct moment_seen){
				chunk_time(c, m->time) - w->selection->moments_from,
				m->span ? wide_scale(m->span, NS_PER_S, 0, rate) : 0, counts[m->item],
				m->thread == STACK_COUNT_NONE ? PROFILE_NO_THREAD : names_thread(&w->names, m->thread),
				m->samples, scaled(scale, m->samples, m->weight)};
		}
		moments_add_all(to, seen, n);
		w->aggregate->no_memory |= to->failed;
	}
}

static void merge_threads(struct chunk_handlers *w, const struct event_counts *a, uint32_t family,
			  const struct scale *scale)
{
	uint32_t i, thread;

	for (i = 0; i < w->thread_count && !w->aggregate->no_memory; i++) {
		const struct stack_count_thread *t = &a->t.threads[i + 1];

		if (!t->samples)
			continue;
		thread = names_thread(&w->names, i);
		if (thread != LISTS_FAILED)
			read_aggregate_add_thread(w->aggregate, family, thread, t->samples,
					scaled(scale, t->samples, t->weight));
	}
}

/* What events that are no family of the table count in. */
static enum weight_kind row_kind(const char *name)
{
	const struct event_row *row = event_row_named(name);

	return row && row->weight == WEIGHT_BYTES ? WEIGHT_BYTES : WEIGHT_COUNT;
}

static void merge(struct chunk_handlers *w, const struct event_counts *a, const char *name)
{
	const struct family *known = family_by_name(name);
	struct scale scale = scale_of(w, a, known, name);
	bool timed = a->weighed || (a->has_weight && a->unit != UNIT_NONE);
	bool time = known ? known->unit == FAMILY_TIME : timed;
	bool bytes = known && known->unit == FAMILY_BYTES;
	enum weight_kind kind = time ? read_aggregate_time(name) : bytes ? WEIGHT_BYTES : row_kind(name);
	uint32_t family = read_aggregate_family(w->aggregate, name, kind, NULL);
	uint32_t *counts = NULL, number;
	size_t i;

	if (a->t.over)
		read_aggregate_refuse(w->aggregate, READ_AGGREGATE_SUMS);
	if (family == UINT32_MAX)
		return;
	if (a->moments.count) {
		counts = malloc((a->t.items.count + 1) * sizeof(*counts));
		w->aggregate->no_memory |= !counts;
	}
	for (i = 0; i < a->t.items.count && !w->aggregate->no_memory; i++) {
		number = merge_stack(w, a, family, &scale, &a->t.items.items[i]);
		if (counts)
			counts[i] = number;
	}
	merge_threads(w, a, family, &scale);
	if (counts)
		merge_moments(w, a, family, &scale, counts);
	free(counts);
	w->aggregate->families.items[family].failed += a->failed;
	if (a->is_live)
		read_aggregate_live(w->aggregate, family, &w->live);
}

/* The families of an event by the table; "cpu" for the CPU-time samples of ours. */
static void merge_by_table(struct chunk_handlers *w, const struct event_counts *a)
{
	const char *families = w->selection->families;
	const struct source *s;
	struct source row;

	for (s = convert_sources; s->event; s++) {
		bool ours = w->ours && strcmp(s->family, "cputime") == 0;

		if (strcmp(s->event, a->event) != 0)
			continue;
		if (family_wanted(families, ours ? "cpu" : s->family) ||
		    (ours && family_named(families, s->family)) || (!*families && a->of_calls))
			merge(w, a, ours ? "cpu" : s->family);
		if (event_is_lock_of_ours(w, s) && family_wanted(families, "lock"))
			merge(w, a, "lock");
	}
	if (source_of_row(a->event, &row) && source_row_wanted(families, row.family))
		merge(w, a, row.family);
	if (family_named(families, a->event))
		merge(w, a, a->event);
}

/* Calls that are wanted as such, by what they were about. */
static void merge_calls(struct chunk_handlers *w)
{
	bool wanted = !*w->selection->families || family_wanted(w->selection->families, "io");
	uint32_t family, target;
	size_t i;

	if (!wanted || !w->calls.items.count)
		return;
	family = read_aggregate_family(w->aggregate, "io", WEIGHT_IO, NULL);
	for (i = 0; family != UINT32_MAX && i < w->calls.items.count && !w->aggregate->no_memory; i++) {
		const struct io_line *line = &w->calls.items.items[i];
		const struct pool *pool = &w->pools.of_type[w->call_targets];

		target = line->target == STACK_COUNT_NONE ? 0 :
			 names_text(&w->names, w->call_targets, pool->constants.items[line->target].key);
		w->aggregate->no_memory |= !io_lines_join(&w->aggregate->families.items[family].calls, &w->calls,
							  line, target);
	}
}

void event_handlers_aggregate(struct chunk_handlers *w)
{
	size_t i;

	for (i = 0; i < w->event_counts.count && !w->aggregate->no_memory; i++) {
		const struct event_counts *a = &w->event_counts.items[i];

		if (!a->t.samples || is_double(w, a))
			continue;
		if (a->name && family_wanted(w->selection->families, text_of(w, a->name)))
			merge(w, a, text_of(w, a->name));
		else if (!a->name && a->family && family_wanted(w->selection->families, a->family))
			merge(w, a, a->family);
		else if (!a->name && !a->family)
			merge_by_table(w, a);
	}
	if (!w->aggregate->no_memory)
		merge_calls(w);
	event_handlers_aggregate_timings(w);
	chunk_marks_aggregate(w);
}

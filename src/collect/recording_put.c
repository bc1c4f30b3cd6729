/*
 * recording_put.c - what was handed to a recording becomes its events.
 */
#include "collect/recording_inner.h"
#include "engine/engine.h"
#include "os/os.h"

void recording_put_facts(struct recording *r, uint64_t now)
{
	size_t i;

	for (i = 0; i < r->facts.count; i++)
		jfr_event(r->jfr, r->facts.items[i].type, now, r->facts.items[i].values,
			  r->facts.items[i].count);
	r->chunks++;
}

static void drop(struct recording *r, uint64_t samples)
{
	r->dropped += samples;
}

static void put_wait(struct recording *r, const struct sink_event *e, uint32_t thread, uint32_t stack)
{
	const struct sink_lock *l = e->lock;
	const char *name = l->class_name ? strings_get(&r->collector->frames.strings, l->class_name) : NULL;
	const struct jfr_wait w = {
		.time = e->time,
		.duration = l->duration,
		.thread = thread,
		.stack = stack,
		.owner = l->owner_thread ? recording_thread(r, l->owner_thread - 1, l->owner_context, 0) : 0,
		.owner_stack = l->owner_node ? recording_stack(r, l->owner_node) : 0,
		.class = name ? jfr_class(r->jfr, name) : 0,
		.identity = l->identity,
		.kind = (enum lock_kind)l->kind,
	};

	jfr_wait(r->jfr, &w);
}

/* E, which is not needed any more. */
static void put_sample(struct recording *r, const struct sink_event *e)
{
	uint32_t thread = recording_thread(r, e->thread, e->context, e->name), stack = recording_stack(r, e->node);
	const char *name = r->options.events[e->event].name;
	enum thread_state state = (enum thread_state)e->state;

	if (!thread || !stack) {
		drop(r, e->samples);
		goto out;
	}
	r->samples += e->samples;
	switch (r->options.events[e->event].kind) {
	case RECORDING_CPU:
		jfr_cpu_sample(r->jfr, e->time, thread, stack, e->weight);
		break;
	case RECORDING_WALL:
		if (r->options.no_batch && e->samples == 1)
			jfr_wall_sample(r->jfr, e->time, thread, stack, state, e->weight);
		else
			jfr_wall_run(r->jfr, e->time, thread, stack, state, e->samples, e->span, e->weight);
		break;
	case RECORDING_LOCK:
		if (e->lock)
			put_wait(r, e, thread, stack);
		break;
	case RECORDING_EVENT:
		jfr_event_sample(r->jfr, e->time, thread, stack, THREAD_RUNNING, name, e->weight);
		break;
	}
out:
	recording_let_go(e);
}

static void put_note(struct recording *r, const struct thread_note *n)
{
	uint32_t thread = recording_thread(r, n->thread, 0, 0);
	const struct jfr_value start[] = {JFR_N(thread), JFR_N(0), JFR_N(thread), JFR_N(0)};
	const struct jfr_value end[] = {JFR_N(thread), JFR_N(thread)};

	if (!thread)
		return;
	if (n->end)
		jfr_event(r->jfr, JFR_THREAD_END, n->time, end, ARRAY_LEN(end));
	else
		jfr_event(r->jfr, JFR_THREAD_START, n->time, start, ARRAY_LEN(start));
}

void recording_put_losses(struct recording *r, uint64_t now)
{
	struct loss_totals all;
	uint32_t e;
	int i;

	for (e = 0; e < r->collector->options.events; e++) {
		struct loss_totals *told = &r->told[e];
		uint64_t sum = 0;

		account_all_losses(r->collector, e, &all);
		for (i = 0; i < LOSS_REASONS; i++) {
			const struct jfr_value v[] = {
				JFR_S(r->options.events[e].name), JFR_S(loss_names[i].name),
				JFR_N(all.count[i] - told->count[i]), JFR_N(all.weight[i] - told->weight[i]),
			};

			if (v[2].number || v[3].number)
				jfr_event(r->jfr, JFR_SAMPLES_LOST, now, v, ARRAY_LEN(v));
			sum += v[2].number;
		}
		if (sum && r->options.events[e].kind == RECORDING_CPU) {
			const struct jfr_value v[] = {JFR_N(sum), JFR_N(0)};

			jfr_event(r->jfr, JFR_CPU_TIME_SAMPLES_LOST, now, v, ARRAY_LEN(v));
		}
		*told = all;
	}
}

void recording_put_counters(struct recording *r, uint64_t now)
{
	const struct collector *c = r->collector;
	struct loss_totals all;
	uint32_t e;
	int i;

	for (e = 0; e < c->options.events; e++) {
		const struct event_account *a = &c->events[e];
		uint64_t lost = 0, weight = 0;

		account_all_losses(r->collector, e, &all);
		for (i = 0; i < LOSS_REASONS; i++) {
			lost += all.count[i];
			weight += all.weight[i];
		}
		{
			const struct jfr_value v[] = {
				JFR_S(r->options.events[e].name), JFR_S(engine_in_force(e)),
				JFR_N(r->options.events[e].interval), JFR_N(a->stored + lost),
				JFR_N(a->stored), JFR_N(lost), JFR_N(r->dropped), JFR_N(a->complete),
				JFR_N(a->weight_stored), JFR_N(weight),
				JFR_N(os_process_cpu() - r->cpu_at_start),
				JFR_N(records_own_cpu() - r->own_at_start),
			};

			jfr_event(r->jfr, JFR_COUNTERS, now, v, ARRAY_LEN(v));
		}
	}
}

/* NEXT goes on where RUN ended: they are one. */
static bool goes_on(const struct sink_event *run, const struct sink_event *next, uint64_t interval)
{
	return next->node == run->node && next->state == run->state && next->context == run->context &&
	       next->event == run->event && next->time >= run->time + run->span &&
	       next->time - run->time - run->span < 2 * interval;
}

/* A run that was cut, by its length or because somebody wanted to see it, is one event if it is written at once. */
static void join_runs(struct recording *r)
{
	struct map last = {0}; /* thread and event → 1 + index of its last run */
	size_t i;

	for (i = 0; i < r->batch.count && !r->options.no_batch; i++) {
		struct sink_event *e = &r->batch.items[i], *run;
		uint32_t *slot;

		if (r->options.events[e->event].kind != RECORDING_WALL)
			continue;
		slot = map_put(&last, (uint64_t)e->thread << 8 | e->event, NULL);
		if (!slot)
			break;
		run = *slot ? &r->batch.items[*slot - 1] : NULL;
		if (!run || !goes_on(run, e, r->options.events[e->event].interval)) {
			*slot = (uint32_t)i + 1;
			continue;
		}
		run->span = e->time + e->span - run->time;
		run->samples += e->samples;
		run->weight += e->weight;
		e->samples = 0;
	}
	map_free(&last);
}

void recording_put_batch(struct recording *r, bool everything)
{
	size_t i, kept = 0;

	join_runs(r);
	for (i = 0; i < r->held.count; i++) {
		if (!everything && recording_is_late(r, r->held.items[i].node))
			r->held.items[kept++] = r->held.items[i];
		else
			put_sample(r, &r->held.items[i]);
	}
	r->held.count = kept;
	for (i = 0; i < r->batch.count; i++) {
		const struct sink_event *e = &r->batch.items[i];
		struct sink_event *slot;

		if (!e->samples)
			continue;
		if (everything || !recording_is_late(r, e->node)) {
			put_sample(r, e);
			continue;
		}
		slot = VECTOR_PUSH(&r->held);
		if (slot) {
			*slot = *e;
		} else {
			drop(r, e->samples);
			recording_let_go(e);
		}
	}
	for (i = 0; i < r->batch_notes.count; i++)
		put_note(r, &r->batch_notes.items[i]);
	r->batch.count = r->batch_notes.count = 0;
}

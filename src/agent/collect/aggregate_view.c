/*
 * aggregate_view.c - the aggregate becomes a `struct profile`.
 *
 * Everything is copied, so the collector goes on while writers work. Stacks that differ only in addresses are one by
 * now: they are merged by their named frames.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/collect/aggregate.h"
#include "agent/collect/collector.h"
#include "agent/collect/survivors.h"
#include "agent/zone/zone.h"
#include "common/base/hash.h"
#include "profile/model/leaks.h"
#include "profile/model/loss_line.h"

/* A profile and the memory it stands on. */
struct view {
	struct profile profile;
	char *strings;
	struct profile_frame *frames;
	struct profile_stack *stacks;
	struct profile_growth *growth; /* of each */
	struct profile_thread *threads;
	uint32_t *lists;      /* frames of all stacks */
	size_t listed;
	uint32_t *stack_of;   /* by stack count, the stack's number + 1 that it is part of; 0: it has none */
	const struct stack_count *sums; /* the collector's, or … */
	struct stack_count *live; /* … those of what is still there */
	char *counts;          /* copies of the agent's texts */
	struct profile_waits *waits; /* by lock, then by owner */
	struct profile_trace_context *trace_contexts;
};

void collector_view_free(struct profile *p)
{
	struct view *v = p ? CONTAINER_OF(p, struct view, profile) : NULL;

	if (!v)
		return;
	free(v->strings);
	free(v->frames);
	free(v->stacks);
	free(v->growth);
	free(v->threads);
	free(v->lists);
	free(v->stack_of);
	timeline_view_free(p);
	free(v->counts);
	free(v->live);
	free(v->waits);
	free((void *)(uintptr_t)p->io);
	free(v->trace_contexts);
	free(v);
}

static const char *text(const struct view *v, uint32_t number)
{
	return v->strings + number;
}

static const char *text_or_null(const struct view *v, uint32_t number)
{
	return number ? text(v, number) : NULL;
}

struct wanted_frame {
	const struct view *view;
	const struct named_frame *frame;
};

static bool is_frame(uint32_t number, const void *wanted)
{
	const struct wanted_frame *w = wanted;
	const struct profile_frame *known = &w->view->frames[number - 1];
	const struct named_frame *f = w->frame;
	const struct view *v = w->view;

	return known->class_name == text_or_null(v, f->class_name) && known->name == text(v, f->name) &&
	       known->signature == text_or_null(v, f->signature) && known->library == text_or_null(v, f->library) &&
	       known->line + known->lock == f->line && known->kind == f->kind;
}

/* The place of the number of frame F in SEEN, 0 if it has none; NULL without memory. */
static uint32_t *frame_slot(const struct view *v, struct map *seen, const struct named_frame *f)
{
	uint64_t key = hash_mix((uint64_t)f->class_name << 32 | f->name);

	key = hash_mix(key ^ ((uint64_t)f->signature << 32 | f->library)) ^
	      ((uint64_t)(uint32_t)f->line << 8 | f->kind);
	return map_intern(seen, key, is_frame, &(struct wanted_frame){v, f});
}

/* Frames that have the same name by now get one number; *REMAP (to be freed) leads there. */
static bool copy_frames(struct view *v, struct collector *c, uint32_t **remap)
{
	size_t i, n = c->frames.named.count;
	struct map seen = {0};
	bool ok = false;

	*remap = calloc(n + 1, sizeof(**remap));
	v->frames = calloc(n + 1, sizeof(*v->frames));
	if (!*remap || !v->frames)
		goto out;
	for (i = 0; i < n; i++) {
		const struct named_frame *f = &c->frames.named.items[i];
		uint32_t *slot = frame_slot(v, &seen, f);
		struct profile_frame *to;

		if (!slot)
			goto out;
		if (!*slot) {
			*slot = ++v->profile.frame_count;
			to = &v->frames[*slot - 1];
			to->class_name = text_or_null(v, f->class_name);
			to->name = text(v, f->name);
			to->signature = text_or_null(v, f->signature);
			to->library = text_or_null(v, f->library);
			if (f->class_name && !f->name)
				to->lock = (uint16_t)f->line;
			else
				to->line = f->line;
			to->kind = f->kind;
		}
		(*remap)[i] = *slot - 1;
	}
	ok = true;
out:
	map_free(&seen);
	return ok;
}

/* What threads have had of what is still there of event E, by number (to be freed), where stacks are kept apart so. */
static struct thread_sum *live_sums(const struct view *v, const struct collector *c, uint32_t e)
{
	struct thread_sum *sums = calloc(c->threads.count + 1, sizeof(*sums));
	size_t i;

	for (i = 0; sums && i < c->stack_counts.count; i++) {
		const struct stack_count *t = &v->live[i];

		if (t->event != e || !t->thread)
			continue;
		sums[t->thread - 1].samples += t->samples;
		sums[t->thread - 1].weight += t->weight;
	}
	return sums;
}

/* Threads that had a sample of event E; *REMAP (to be freed) leads from the collector's numbers to theirs. */
static bool copy_threads(struct view *v, const struct collector *c, uint32_t e, uint32_t **remap)
{
	struct thread_sum *live = v->live ? live_sums(v, c, e) : NULL;
	uint32_t n = 0;
	size_t i;

	*remap = calloc(c->threads.count + 1, sizeof(**remap));
	v->threads = calloc(c->threads.count + 1, sizeof(*v->threads));
	if (!v->threads || !*remap || (v->live && !live)) {
		free(live);
		return false;
	}
	for (i = 0; i < c->threads.count; i++) {
		const struct thread_entry *from = &c->threads.items[i];
		const struct thread_sum *sum = live ? &live[i] : &c->sums.items[i * c->options.events + e];

		if (!sum->samples)
			continue;
		(*remap)[i] = n;
		v->profile.virtual_as_one |= from->vthread == ALL_VIRTUAL;
		v->threads[n].tid = (uint32_t)from->tid;
		v->threads[n].name = text(v, from->name);
		v->threads[n].samples = sum->samples;
		v->threads[n].weight = sum->weight;
		n++;
	}
	free(live);
	v->profile.thread_count = n;
	return true;
}

/* Append node N's frames, root first. */
static uint32_t *list_frames(struct view *v, const struct collector *c, const struct node *n,
			     const uint32_t *remap)
{
	uint32_t *list = v->lists + v->listed;
	uint32_t i;

	for (i = 0; i < n->depth; i++)
		list[i] = remap[c->frame_list.items[n->first + n->depth - 1 - i]];
	return list;
}

/* What threads worked for; numbers stay as they are. */
static bool copy_trace_contexts(struct view *v, const struct collector *c)
{
	size_t i;

	v->trace_contexts = calloc(c->trace_contexts.count + 1, sizeof(*v->trace_contexts));
	for (i = 0; v->trace_contexts && i < c->trace_contexts.count; i++) {
		const struct trace_context_entry *from = &c->trace_contexts.items[i];

		v->trace_contexts[i] = (struct profile_trace_context){
			from->trace_context.trace_high, from->trace_context.trace_low, from->trace_context.span,
			text(v, from->labels), from->others};
	}
	v->profile.trace_contexts = v->trace_contexts;
	v->profile.trace_context_count = (uint32_t)c->trace_contexts.count;
	v->profile.per_trace_context = c->options.per_trace_context;
	return v->trace_contexts;
}

struct wanted_stack {
	const struct view *view;
	const struct profile_stack *stack;
};

static bool is_stack(uint32_t number, const void *wanted)
{
	const struct wanted_stack *w = wanted;
	const struct profile_stack *s = &w->view->stacks[number - 1], *t = w->stack;

	return s->depth == t->depth && s->thread == t->thread && s->state == t->state &&
	       s->trace_context == t->trace_context &&
	       memcmp(s->frames, t->frames, s->depth * sizeof(*s->frames)) == 0;
}

/* The stack of V that WANTED says, without samples if it is new; NULL without memory. */
static struct profile_stack *merged_stack(struct view *v, struct map *seen, const struct profile_stack *wanted)
{
	uint64_t key = hash_list(hash_mix((uint64_t)wanted->thread << 32 | wanted->depth), wanted->frames,
				 wanted->depth) ^ hash_mix(wanted->trace_context) ^ wanted->state;
	uint32_t *slot = map_intern(seen, key, is_stack, &(struct wanted_stack){v, wanted});

	if (!slot)
		return NULL;
	if (!*slot) {
		*slot = ++v->profile.stack_count;
		v->stacks[*slot - 1] = *wanted;
		v->listed += wanted->depth;
	}
	return &v->stacks[*slot - 1];
}

/* Whether event E's samples are of what is there, and it is known since when. */
static bool is_of_what_is_there(const struct view *v, const struct collector *c, uint32_t e)
{
	return (v->live && !c->options.peak[e]) || survivors_are_of(c, e);
}

/* The sums of waits of event E; NULL: it is of something else. */
static const struct waits_sums *waits_of(const struct collector *c, uint32_t e)
{
	return c->options.waits[e] ? aggregate_waits_of((struct collector *)(uintptr_t)c, e) : NULL;
}

/* Room for event E's stacks, and for those of who held locks. */
static bool make_room(struct view *v, const struct collector *c, uint32_t e)
{
	const struct waits_sums *waits = waits_of(c, e);
	size_t i, total = 0;

	for (i = 0; i < c->stack_counts.count; i++)
		if (v->sums[i].event == e && v->sums[i].samples)
			total += c->nodes.items[v->sums[i].node].depth;
	for (i = 0; waits && i < waits->holders.count; i++)
		total += c->nodes.items[waits->holders.items[i].node].depth;
	v->lists = malloc((total + 1) * sizeof(*v->lists));
	v->stacks = calloc(c->stack_counts.count + 1, sizeof(*v->stacks));
	v->stack_of = calloc(c->stack_counts.count + 1, sizeof(*v->stack_of));
	if (is_of_what_is_there(v, c, e))
		v->growth = calloc(c->stack_counts.count + 1, sizeof(*v->growth));
	return v->lists && v->stacks && v->stack_of && (v->growth || !is_of_what_is_there(v, c, e));
}

/* Parts become objects. What the samples of the event stand for are those of all its stacks. */
static void whole_objects(struct view *v)
{
	uint64_t parts = 0;
	uint32_t i;

	for (i = 0; i < v->profile.stack_count; i++) {
		parts += v->stacks[i].objects;
		v->profile.outside += v->stacks[i].outside;
		v->stacks[i].objects = (v->stacks[i].objects + OBJECT_PARTS / 2) / OBJECT_PARTS;
	}
	v->profile.objects = (parts + OBJECT_PARTS / 2) / OBJECT_PARTS;
}

/* The growth of stack count number I is part of stack S's. */
static void add_growth(struct view *v, const struct collector *c, size_t i, const struct profile_stack *s)
{
	if (i < c->growth.count)
		leaks_add_growth(&v->growth[s - v->stacks], &c->growth.items[i]);
}

/* Stacks of event E; FRAMES and THREADS lead from the collector's numbers to the view's. */
static bool copy_stacks(struct view *v, const struct collector *c, uint32_t e, const uint32_t *frames,
			const uint32_t *threads)
{
	struct profile_stack *s;
	struct map seen = {0};
	size_t i;

	if (!make_room(v, c, e))
		return false;
	for (i = 0; i < c->stack_counts.count; i++) {
		const struct stack_count *t = &v->sums[i];
		const struct node *n = &c->nodes.items[t->node];

		if (t->event != e || !t->samples)
			continue;
		s = merged_stack(v, &seen, &(struct profile_stack){
			.frames = list_frames(v, c, n, frames),
			.depth = n->depth,
			.thread = t->thread ? threads[t->thread - 1] : PROFILE_NO_THREAD,
			.state = t->state,
			.trace_context = t->trace_context,
		});
		if (!s)
			break;
		v->stack_of[i] = (uint32_t)(s - v->stacks) + 1;
		s->samples += t->samples;
		s->weight += t->weight;
		s->objects += t->objects;
		s->outside += t->outside;
		if (v->growth)
			add_growth(v, c, i, s);
	}
	map_free(&seen);
	whole_objects(v);
	return i == c->stack_counts.count;
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = ((const struct profile_waits *)a)->time, y = ((const struct profile_waits *)b)->time;

	return x < y ? 1 : x > y ? -1 : 0;
}

static void copy_waits_of(const struct view *v, const struct wait_sum *sums, size_t count, struct profile_waits *to)
{
	size_t i;

	for (i = 0; i < count; i++)
		to[i] = (struct profile_waits){text(v, sums[i].name), sums[i].identity, sums[i].kind, sums[i].waits,
					       sums[i].time, sums[i].longest, sums[i].open, to[i].frames, to[i].depth,
					       to[i].lock};
	qsort(to, count, sizeof(*to), by_time);
}

/* Each holder's lock: the first one of its class. NAMES: the class → its place + 1. */
static bool place_locks(const struct view *v, const struct waits_sums *w, struct profile_waits *holders)
{
	struct map names = {0};
	bool whole = true;
	size_t i;

	for (i = 0; i < w->locks.count && whole; i++) {
		uint32_t *slot = map_put(&names, (uintptr_t)v->waits[i].name, NULL);

		whole = slot;
		if (slot && !*slot)
			*slot = (uint32_t)i + 1;
	}
	for (i = 0; i < w->holders.count; i++) {
		const uint32_t *place = map_get(&names, (uintptr_t)text(v, w->holders.items[i].lock));

		holders[i].lock = place ? *place : 0;
	}
	map_free(&names);
	return whole;
}

/* Frames know their locks by the places in which these are now; LOCKS still have the numbers that they had. */
static void renumber_locks(struct view *v, struct profile_waits *locks, size_t count)
{
	uint16_t now[WAITS_APART + 1] = {0};
	size_t i;

	for (i = 0; i < count; i++) {
		if (locks[i].lock <= WAITS_APART)
			now[locks[i].lock] = (uint16_t)(i + 1);
		locks[i].lock = 0;
	}
	for (i = 0; i < v->profile.frame_count; i++)
		v->frames[i].lock = now[v->frames[i].lock];
}

/* Locks and owners, if event E is of waits. */
static bool copy_waits(struct view *v, const struct collector *c, uint32_t e, const uint32_t *frames)
{
	const struct waits_sums *w = waits_of(c, e);
	struct profile_waits *holders;
	size_t i;

	if (!w) {
		renumber_locks(v, NULL, 0);
		return true;
	}
	v->waits = calloc(w->locks.count + w->owners.count + w->holders.count + 1, sizeof(*v->waits));
	if (!v->waits)
		return false;
	holders = v->waits + w->locks.count + w->owners.count;
	for (i = 0; i < w->holders.count; i++) {
		const struct node *n = &c->nodes.items[w->holders.items[i].node];

		holders[i].frames = list_frames(v, c, n, frames);
		holders[i].depth = n->depth;
		v->listed += n->depth;
	}
	for (i = 0; i < w->locks.count; i++)
		v->waits[i].lock = (uint32_t)i + 1;
	copy_waits_of(v, w->locks.items, w->locks.count, v->waits);
	renumber_locks(v, v->waits, w->locks.count);
	copy_waits_of(v, w->owners.items, w->owners.count, v->waits + w->locks.count);
	if (!place_locks(v, w, holders))
		return false;
	copy_waits_of(v, w->holders.items, w->holders.count, holders);
	v->profile.holders = holders;
	v->profile.holder_count = (uint32_t)w->holders.count;
	v->profile.locks = v->waits;
	v->profile.lock_count = (uint32_t)w->locks.count;
	v->profile.owners = v->waits + w->locks.count;
	v->profile.owner_count = (uint32_t)w->owners.count;
	return true;
}

static void copy_counts(struct view *v, struct collector *c, uint32_t e)
{
	const struct event_aggregate *a = &c->events[e];
	struct profile *p = &v->profile;
	struct loss_totals losses = {0};
	int i;

	aggregate_all_losses(c, e, &losses);
	p->stored = a->stored;
	p->taken = a->stored;
	for (i = 0; i < LOSS_REASONS; i++) {
		p->lost[i] = losses.count[i];
		p->lost_weight[i] = losses.weight[i];
		p->taken += losses.count[i];
	}
	/* While sampling goes on, what came into the queues since the drain belongs to the next view. */
	if (!c->open && !survivors_are_of(c, e))
		p->taken = losses.taken;
	p->weight_stored = a->weight_stored;
	p->effective_interval = a->stored ? a->weight_stored / a->stored : 0;
	p->survivors = survivors_are_of(c, e);
	if (p->survivors) {
		p->taken += p->gone = a->kept - MIN(a->kept, a->stored);
		p->young = c->options.survived == 0;
		p->counted = c->sources->heap_used();
		p->heap_most = c->sources->heap_most();
	}
	p->unsampled = format_unsampled(p);
	memcpy(p->ended_early, a->ended, sizeof(p->ended_early));
	p->complete = a->complete;
	p->ambiguous = a->ambiguous;
	p->merged = c->merged;
	p->queues = c->queues;
	timing_report(&c->handler, &p->handler);
	timing_report(&c->drain, &p->drain);
	timing_report(&c->walk, &p->walk);
}

/* The counts of a result that has only what is still there: how many ended early, too. */
static void count_live(struct view *v, const struct collector *c, uint32_t e)
{
	struct profile *p = &v->profile;
	size_t i;

	p->unfreed = true;
	aggregate_live_facts(c, e, p);
	p->gone = p->stored;
	p->taken -= p->stored;
	p->stored = p->weight_stored = p->complete = p->ambiguous = 0;
	memset(p->ended_early, 0, sizeof(p->ended_early));
	for (i = 0; i < c->stack_counts.count; i++) {
		const struct stack_count *t = &v->live[i];
		uint8_t end = c->nodes.items[t->node].end;

		if (t->event != e)
			continue;
		p->stored += t->samples;
		p->weight_stored += t->weight;
		*(end ? &p->ended_early[end - 1] : &p->complete) += t->samples;
	}
	p->gone -= MIN(p->gone, p->stored);
	p->taken += p->gone + p->stored;
	p->counted = 0; /* what was asked for in all */
	p->effective_interval = p->stored ? p->weight_stored / p->stored : 0;
	p->unsampled = format_unsampled(p);
}

/* Copy the agent's texts behind each other. */
static bool copy_facts(struct view *v, const struct collector_counts *f)
{
	const char *from[] = {f->event, f->engine, f->main_class, f->jdk, f->title, f->window.begin,
			      f->window.end};
	const char **to[] = {&v->profile.event, &v->profile.engine, &v->profile.main_class,
			     &v->profile.jdk, &v->profile.title, &v->profile.window.begin,
			     &v->profile.window.end};
	size_t i, bytes = 1;
	char *at;

	v->profile.window = f->window;
	for (i = 0; i < ARRAY_LEN(from); i++)
		bytes += from[i] ? strlen(from[i]) + 1 : 0;
	at = v->counts = malloc(bytes);
	if (!at)
		return false;
	for (i = 0; i < ARRAY_LEN(from); i++) {
		if (!from[i])
			continue;
		*to[i] = strcpy(at, from[i]);
		at += strlen(at) + 1;
	}
	v->profile.pid = (int)getpid();
	v->profile.started_at = f->started_at;
	v->profile.duration = f->duration;
	v->profile.gap = f->gap;
	v->profile.interval = f->interval;
	v->profile.weight_kind = f->weight_kind;
	v->profile.counted = f->counted;
	v->profile.threads_refused = f->threads_refused;
	v->profile.partial = f->partial;
	v->profile.filter_none = f->filter_none;
	v->profile.raised = f->raised;
	v->profile.stretched = f->stretched;
	v->profile.cpu_time = f->cpu_time;
	v->profile.own_cpu = f->own_cpu;
	v->profile.children_cpu = f->children_cpu;
	v->profile.threads_perf = f->threads_perf;
	v->profile.threads_timer = f->threads_timer;
	return true;
}

static bool fill(struct view *v, struct collector *c, uint32_t e, const struct collector_counts *counts, bool times)
{
	struct timeline_numbers numbers = {.stack_count = c->stack_counts.count, .thread_count = c->threads.count};
	uint32_t *frames = NULL;
	bool ok;

	v->strings = malloc(c->frames.strings.length + 1);
	if (!v->strings)
		return false;
	v->strings[0] = '\0';
	memcpy(v->strings, c->frames.strings.length ? c->frames.strings.bytes : "",
	       c->frames.strings.length);
	v->live = c->options.peak[e] ? aggregate_peak(c, e) : c->options.live[e] ? aggregate_live(c, e, true) : NULL;
	if ((c->options.peak[e] || c->options.live[e]) && !v->live)
		return false;
	v->sums = v->live ? v->live : c->stack_counts.items;
	v->profile.interval_most = aggregate_fields_interval_most(c, e);
	ok = copy_facts(v, counts) && copy_frames(v, c, &frames) &&
	     copy_threads(v, c, e, &numbers.threads) && copy_trace_contexts(v, c) &&
	     copy_stacks(v, c, e, frames, numbers.threads) && copy_waits(v, c, e, frames);
	numbers.stacks = v->stack_of;
	ok = ok && (!times || timeline_view(&c->timelines[e], &numbers, &v->profile)) &&
	     aggregate_io_view(c, e, &v->profile);
	free(frames);
	free(numbers.threads);
	if (!ok)
		return false;
	copy_counts(v, c, e);
	if (v->live)
		count_live(v, c, e);
	v->profile.frames = v->frames;
	v->profile.stacks = v->profile.growth_of = v->profile.moments_of = v->stacks;
	v->profile.growth = v->growth;
	v->profile.growth_span = c->growth_span[e];
	v->profile.threads = v->threads;
	v->profile.outer = (c->options.sched ? 1 : 0) + (c->options.record_cpu ? 1 : 0);
	v->profile.per_thread = c->options.per_thread;
	return true;
}

struct profile *collect_fill_view(struct collector *c, uint32_t e, const struct collector_counts *counts,
				  bool times)
{
	struct view *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	if (fill(v, c, e, counts, times))
		return &v->profile;
	collector_view_free(&v->profile);
	return NULL;
}

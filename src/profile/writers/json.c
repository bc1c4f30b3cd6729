/*
 * json.c - everything for programs; docs/reference/json.md explains each key.
 *
 * Keys are only added; a change of meaning raises SCHEMA.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/json_writer.h"
#include "common/base/square_root.h"
#include "profile/model/context_text.h"
#include "profile/model/frame_name.h"
#include "profile/model/leaks.h"
#include "profile/model/libraries.h"
#include "profile/model/loss_line.h"
#include "profile/model/methods.h"
#include "profile/model/profile_unit.h"
#include "profile/model/work/work.h"
#include "profile/writers/writers.h"

#define SCHEMA 1

static void put_timing(struct json_writer *w, const char *key, const struct profile_timing *t)
{
	json_object(w, key);
	json_put_numbers(w, {"count", t->count}, {"mean", t->mean}, {"p99", t->p99}, {"p999", t->p999},
			 {"max", t->max});
	json_end(w);
}

/* {"reason": n, ...} over a table of names. */
static void put_counters(struct json_writer *w, const char *key, const struct counter_name *names,
			 const uint64_t *values, unsigned count)
{
	unsigned i;

	json_object(w, key);
	for (i = 0; i < count; i++)
		json_put_number(w, names[i].name, values[i]);
	json_end(w);
}

/* "2026-11-21T11:46:36.123Z" */
static void put_date(struct json_writer *w, const char *key, uint64_t ns)
{
	time_t seconds = (time_t)(ns / NS_PER_S);
	char day[64] = "", text[80];
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text, sizeof(text), "%s.%03uZ", day, (unsigned)(ns % NS_PER_S / NS_PER_MS));
	json_put_text(w, key, text);
}

static void put_head(struct json_writer *w, const struct profile *p)
{
	json_put_number(w, "schema", SCHEMA);
	json_put_texts(w, {"version", JSTROBE_VERSION}, {"event", p->event}, {"engine", p->engine});
	json_put_number(w, "pid", (uint64_t)p->pid);
	json_put_texts(w, {"main", p->main_class}, {"jdk", p->jdk});
	put_date(w, "started_at", p->started_at);
	json_put_number(w, "duration_ns", p->duration);
	if (p->gap)
		json_put_number(w, "gap_ns", p->gap);
	json_put_number(w, profile_is_time(p) ? "interval_ns" : "interval", p->interval);
	if (p->interval_most)
		json_put_number(w, "interval_most", p->interval_most);
	json_put_number(w, profile_is_time(p) ? "effective_interval_ns" : "effective_interval",
			p->effective_interval);
	if (!profile_is_time(p))
		json_put_number(w, "counted", p->counted);
	if (p->heap_most)
		json_put_number(w, "heap_max", p->heap_most);
	if (leaks_known(p))
		json_put_number(w, "growth_span_ns", p->growth_span);
	json_put_numbers(w, {"cpu_time_ns", p->cpu_time}, {"own_cpu_ns", p->own_cpu},
			 {"children_cpu_ns", p->children_cpu});
	if (p->told)
		json_put_text(w, "told", p->told);
}

static void put_samples(struct json_writer *w, const struct profile *p)
{
	json_object(w, "samples");
	json_put_numbers(w, {"taken", p->taken}, {"stored", p->stored}, {"complete", p->complete},
			 {"ambiguous", p->ambiguous}, {"left_out", p->left_out});
	if (p->survivors || p->unfreed)
		json_put_number(w, "gone", p->gone);
	if (p->peak_after)
		json_put_number(w, "peak_after_ns", p->peak_after);
	put_counters(w, "lost", loss_names, p->lost, LOSS_REASONS);
	json_end(w);
}

static void put_weight(struct json_writer *w, const struct profile *p)
{
	json_object(w, "weight");
	json_put_text(w, "unit", profile_unit(p));
	json_put_numbers(w, {"total", p->weight_stored}, {"left_out", p->left_out_weight}, {"lost", loss_weight(p)},
			 {"unsampled", p->unsampled});
	if (p->objects)
		json_put_number(w, "objects", p->objects);
	if (p->outside)
		json_put_number(w, p->weight_kind == WEIGHT_IO ? "estimated" : "outside_tlab", p->outside);
	if (p->reserved)
		json_put_number(w, "reserved", p->reserved);
	put_counters(w, "lost_by_reason", loss_names, p->lost_weight, LOSS_REASONS);
	json_end(w);
}

static void put_window(struct json_writer *w, const struct profile_window *window)
{
	json_object(w, "window");
	json_put_texts(w, {"begin", window->begin}, {"end", window->end});
	json_put_bool(w, "watched", window->watched);
	json_put_bool(w, "open", window->open);
	json_put_numbers(w, {"count", window->count}, {"total_ns", window->total}, {"longest_ns", window->longest},
			 {"pauses", window->pauses});
	json_end(w);
}

/* What files do not say. */
static void put_sources(struct json_writer *w, const struct profile *p)
{
	json_object(w, "queues");
	json_put_numbers(w, {"bytes", p->queues.bytes}, {"increments", p->queues.increments},
			 {"max_capacity", p->queues.max_capacity}, {"max_fill", p->queues.max_fill});
	json_end(w);
	json_object(w, "armed");
	json_put_numbers(w, {"perf", p->threads_perf}, {"timer", p->threads_timer}, {"refused", p->threads_refused},
			 {"intervals_doubled", p->raised}, {"intervals_between_signals", p->stretched});
	json_end(w);
}

static void put_counts(struct json_writer *w, const struct profile *p)
{
	put_samples(w, p);
	put_weight(w, p);
	json_put_bool(w, "warns", loss_is_bad(p));
	if (p->window.begin)
		put_window(w, &p->window);
	if (!p->recorded)
		put_sources(w, p);
	if (p->merged.threads || p->merged.classes || p->merged.samples) {
		json_object(w, "merged");
		json_put_numbers(w, {"threads", p->merged.threads}, {"classes", p->merged.classes},
				 {"samples", p->merged.samples});
		json_end(w);
	}
	if (!p->recorded) {
		put_timing(w, "handler_ns", &p->handler);
		put_timing(w, "walk_ns", &p->walk);
		put_timing(w, "drain_ns", &p->drain);
	}
	if (!p->ends_unknown)
		put_counters(w, "walk_ended_early", walk_end_names, p->ended_early, WALK_ENDS);
}

static int put_methods(struct json_writer *w, const struct profile *p, unsigned style, bool by_weight)
{
	struct methods m;
	uint32_t i;
	int result = methods_build(&m, p, style & ~STYLE_LINES, by_weight);

	json_array(w, "methods");
	for (i = 0; !result && i < m.count; i++) {
		const struct method *row = &m.rows[i];

		json_object(w, NULL);
		json_put_texts(w, {"name", name_text(&m.names, row->name)},
			       {"type", frame_type_names[m.names.names[row->name].type]});
		json_put_numbers(w, {"self", row->self}, {"total", row->total}, {"self_weight", row->self_weight},
				 {"total_weight", row->total_weight});
		if (p->objects)
			json_put_numbers(w, {"self_objects", row->self_objects},
					 {"total_objects", row->total_objects});
		json_end(w);
	}
	json_end(w);
	methods_free(&m);
	return result;
}

/* What keeps more and more objects. */
static int put_leaks(struct json_writer *w, const struct profile *p)
{
	const struct profile_chain *chain;
	struct leaks_full full;
	struct leaks l;
	int rc = leaks_find(&l, p);
	uint32_t i;

	json_array(w, "leaks");
	for (i = 0; rc == 0 && i < l.count; i++) {
		const struct leak *row = &l.rows[i];

		json_object(w, NULL);
		if (row->class != LEAK_NO_CLASS)
			json_put_texts(w, {"class", name_text(&l.names, row->class)});
		json_put_texts(w, {"allocated_in", name_text(&l.names, row->place)},
			       {"for", name_text(&l.names, row->caller)});
		json_put_numbers(w, {"bytes", row->there}, {"bytes_an_hour", (uint64_t)row->rate},
				 {"at_least", (uint64_t)row->least}, {"at_most", (uint64_t)row->most});
		chain = leaks_chain(&l, row, p);
		if (chain)
			json_put_text(w, "held_by", chain->text);
		json_end(w);
	}
	json_end(w);
	if (p->chains_told)
		json_put_text(w, "roots", p->chains_told);
	if (rc == 0 && leaks_fill(&l, p, &full)) {
		json_object(w, "heap_full");
		json_put_numbers(w, {"at_least_s", (uint64_t)MIN(full.soonest * 3600, 1e18)},
				 {"at_most_s", (uint64_t)MIN(full.latest * 3600, 1e18)}, {"free", full.free},
				 {"heap", p->heap_most});
		json_end(w);
	}
	leaks_free(&l);
	return rc;
}

static void put_thread(struct json_writer *w, uint32_t i, const void *profile)
{
	const struct profile_thread *t = &((const struct profile *)profile)->threads[i];

	json_put_number(w, "tid", t->tid);
	json_put_text(w, "name", t->name);
	json_put_numbers(w, {"samples", t->samples}, {"weight", t->weight});
}

/* What threads worked for; stacks name it by its place here. */
static void put_context(struct json_writer *w, uint32_t i, const void *profile)
{
	const struct profile_trace_context *t = &((const struct profile *)profile)->trace_contexts[i];

	if (t->others)
		json_put_bool(w, "others", true);
	else
		trace_context_json(w, t);
}

/* How often and how long was waited for W. */
static void put_wait_times(struct json_writer *w, const struct profile_waits *waits)
{
	json_put_numbers(w, {"waits", waits->waits}, {"time_ns", waits->time}, {"longest_ns", waits->longest},
			 {"open", waits->open});
}

static void put_identity(struct json_writer *w, uint64_t number)
{
	char identity[24];

	snprintf(identity, sizeof(identity), "%llx", (unsigned long long)number);
	json_put_text(w, "identity", identity);
}

static void put_lock(struct json_writer *w, uint32_t i, const void *profile)
{
	const struct profile_waits *lock = &((const struct profile *)profile)->locks[i];

	json_put_text(w, "class", lock->name);
	put_identity(w, lock->identity);
	json_put_text(w, "kind", lock_kind_names[lock->kind].word);
	put_wait_times(w, lock);
}

static void put_owner(struct json_writer *w, uint32_t i, const void *profile)
{
	const struct profile_waits *owner = &((const struct profile *)profile)->owners[i];

	json_put_text(w, "name", owner->name);
	put_wait_times(w, owner);
}

static void put_io(struct json_writer *w, uint32_t i, const void *profile)
{
	const struct profile_io *io = &((const struct profile *)profile)->io[i];

	json_put_texts(w, {"target", io->target}, {"operation", io_operation_names[io->operation]},
		       {"kind", io_kind_names[io->kind].word});
	json_put_numbers(w, {"calls", io->calls}, {"bytes", io->bytes}, {"time_ns", io->time}, {"idle_ns", io->idle},
			 {"longest_ns", io->longest}, {"calls_error", io->calls_error},
			 {"bytes_error", io->bytes_error}, {"time_error_ns", io->time_error},
			 {"idle_error_ns", io->idle_error});
}

static void put_io_counted(struct json_writer *w, uint32_t i, const void *profile)
{
	const struct profile_io_counted *n = &((const struct profile *)profile)->io_counted[i];

	json_put_text(w, "operation", io_operation_names[i]);
	json_put_numbers(w, {"calls", n->calls}, {"bytes", n->bytes}, {"time_ns", n->time});
}

/* Whether it is known how many calls there were: a recording does not say it. */
static bool io_is_counted(const struct profile *p)
{
	unsigned i = 0;

	while (p->recorded && i < IO_OPERATIONS && !p->io_counted[i].calls && !p->io_counted[i].time)
		i++;
	return i < IO_OPERATIONS;
}

/* Names are quoted once, not for each of the many stacks that hold them. */
struct quoted {
	struct buffer text; /* NUL-ended */
	size_t *offsets;    /* of each frame */
};

static bool quote_one(uint32_t frame, const char *name, void *arg)
{
	struct quoted *q = arg;

	q->offsets[frame] = q->text.length;
	json_quote(&q->text, name);
	buffer_putc(&q->text, '\0');
	return !q->text.failed;
}

static int quote(struct quoted *q, const struct profile *p, unsigned style)
{
	int rc;

	buffer_init(&q->text, -1);
	q->offsets = calloc((size_t)p->frame_count + 1, sizeof(*q->offsets));
	if (!q->offsets)
		return -ENOMEM;
	rc = frame_name_each(p, style, quote_one, q);
	return rc || q->text.failed ? -ENOMEM : 0;
}

static void put_frames(struct json_writer *w, const struct profile *p, const uint32_t *frames, uint32_t depth,
		       const struct quoted *q)
{
	uint32_t i;

	json_array(w, "frames");
	for (i = 0; i < depth; i++)
		json_put_value(w, NULL, q->text.data + q->offsets[frames[i]]);
	json_end(w);
	json_array(w, "kinds");
	for (i = 0; i < depth; i++)
		json_put_text(w, NULL, p->kinds_unknown && p->frames[frames[i]].kind == FRAME_C2 ? "java" :
				       frame_kind_names[p->frames[frames[i]].kind].word);
	json_end(w);
}

/* What leaks_find goes by. */
static void put_growth(struct json_writer *w, const struct profile_growth *g)
{
	json_object(w, "growth");
	json_put_numbers(w, {"first_half", g->halves[0]}, {"second_half", g->halves[1]},
			 {"first_error", (uint64_t)(MIN(square_root(g->variance[0]), 1e18) + 0.5)},
			 {"second_error", (uint64_t)(MIN(square_root(g->variance[1]), 1e18) + 0.5)});
	json_end(w);
}

/* ACTIVITY: what its thread did; NULL: not known. */
static void put_stack(struct json_writer *w, const struct profile *p, const struct profile_stack *s,
		      const struct quoted *q, const char *activity)
{
	json_object(w, NULL);
	put_frames(w, p, s->frames, s->depth, q);
	json_put_numbers(w, {"samples", s->samples}, {"weight", s->weight});
	if (p->objects)
		json_put_number(w, "objects", s->objects);
	if (s->outside)
		json_put_number(w, p->weight_kind == WEIGHT_IO ? "estimated" : "outside_tlab", s->outside);
	if (s->state != THREAD_NONE)
		json_put_text(w, "state", thread_state_names[s->state].word);
	if (activity)
		json_put_text(w, "activity", activity);
	if (s->thread != PROFILE_NO_THREAD)
		json_put_numbers(w, {"tid", p->threads[s->thread].tid}, {"thread", s->thread});
	if (s->trace_context)
		json_put_number(w, "context", s->trace_context - 1);
	if (s->depth && p->frames[s->frames[s->depth - 1]].lock)
		json_put_number(w, "lock_place", p->frames[s->frames[s->depth - 1]].lock - 1u);
	if (leaks_known(p))
		put_growth(w, &p->growth[s - p->stacks]);
	json_end(w);
}

#define IMAGE_DONE UINT32_MAX

/*
 * The frames that are native functions of a known library, to be freed, in the order in which stacks have them: that is
 * how who reads them again finds them. NULL: no memory.
 */
static uint32_t *find_natives(const struct profile *p, uint32_t *count)
{
	uint32_t *natives = calloc((size_t)p->frame_count + 1, sizeof(*natives)), i, level;
	bool *seen = calloc((size_t)p->frame_count + 1, sizeof(*seen));

	*count = 0;
	for (i = 0; natives && seen && i < p->holder_count + p->stack_count; i++) {
		bool holder = i < p->holder_count;
		const uint32_t *frames = holder ? p->holders[i].frames : p->stacks[i - p->holder_count].frames;
		uint32_t depth = holder ? p->holders[i].depth : p->stacks[i - p->holder_count].depth;

		for (level = 0; level < depth; level++) {
			const struct profile_frame *frame = &p->frames[frames[level]];

			if (!seen[frames[level]] && frame->kind == FRAME_NATIVE && frame->library)
				natives[(*count)++] = frames[level];
			seen[frames[level]] = true;
		}
	}
	if (!seen) {
		free(natives);
		natives = NULL;
	}
	free(seen);
	return natives;
}

/* The names of those of COUNT NATIVES that are of LIBRARY, which are done then. */
static void put_image(struct json_writer *w, const struct profile *p, const char *library, uint32_t *natives,
		      uint32_t count, const struct quoted *q)
{
	uint32_t i;

	json_object(w, NULL);
	json_put_text(w, "library", library);
	json_array(w, "names");
	for (i = 0; i < count; i++) {
		if (natives[i] == IMAGE_DONE || strcmp(p->frames[natives[i]].library, library) != 0)
			continue;
		json_put_value(w, NULL, q->text.data + q->offsets[natives[i]]);
		natives[i] = IMAGE_DONE;
	}
	json_end(w);
	json_end(w);
}

/* Of which libraries native functions are: who has their names alone cannot know. */
static int put_images(struct json_writer *w, const struct profile *p, const struct quoted *q)
{
	uint32_t count, *natives = find_natives(p, &count), i;

	json_array(w, "images");
	for (i = 0; natives && i < count; i++)
		if (natives[i] != IMAGE_DONE)
			put_image(w, p, p->frames[natives[i]].library, natives, count, q);
	json_end(w);
	free(natives);
	return natives ? 0 : -ENOMEM;
}

/* Stacks of those who held what others waited for. */
static void put_holders(struct json_writer *w, const struct profile *p, const struct quoted *q)
{
	uint32_t i;

	json_array(w, "owner_stacks");
	for (i = 0; i < p->holder_count; i++) {
		json_object(w, NULL);
		json_put_text(w, "name", p->holders[i].name);
		put_frames(w, p, p->holders[i].frames, p->holders[i].depth, q);
		if (p->holders[i].lock) {
			json_put_text(w, "lock", p->locks[p->holders[i].lock - 1].name);
			json_put_number(w, "lock_place", p->holders[i].lock - 1);
		}
		if (p->holders[i].identity)
			put_identity(w, p->holders[i].identity);
		put_wait_times(w, &p->holders[i]);
		json_end(w);
	}
	json_end(w);
}

/* Who asks for native memory. */
static int put_libraries(struct json_writer *w, const struct profile *p)
{
	struct libraries l;
	int rc = libraries_find(&l, p);
	uint32_t i;

	json_array(w, "libraries");
	for (i = 0; rc == 0 && i < l.count; i++) {
		json_object(w, NULL);
		json_put_texts(w, {"name", l.rows[i].name});
		json_put_numbers(w, {"samples", l.rows[i].samples}, {"weight", l.rows[i].weight});
		json_end(w);
	}
	json_end(w);
	libraries_free(&l);
	return rc;
}

void format_json(const struct profile *p, const struct format_options *options, struct buffer *out)
{
	/* the kinds stand beside the names */
	unsigned style = format_style(STYLE_JSON, options) & ~STYLE_ANNOTATE;
	struct json_writer w = JSON_WRITER(out, JSON_FILE);
	struct quoted q = {.offsets = NULL};
	bool known = options->views && activity_is_known(p);
	struct work *work = known ? options->views->begin(p, options) : NULL;
	int result;
	uint32_t i;

	json_object(&w, NULL);
	put_head(&w, p);
	if (options->beside)
		options->beside->json(options->beside, &w);
	put_counts(&w, p);
	result = put_methods(&w, p, style, options->total);
	if (result == 0 && leaks_known(p))
		result = put_leaks(&w, p);
	if (result == 0 && libraries_matter(p))
		result = put_libraries(&w, p);
	json_put_objects(&w, "threads", p->thread_count, put_thread, p);
	if (work && result == 0)
		result = options->views->json(&w, work, style);
	if (p->per_trace_context)
		json_put_objects(&w, "contexts", p->trace_context_count, put_context, p);
	if (profile_has_waits(p)) {
		json_put_objects(&w, "locks", p->lock_count, put_lock, p);
		json_put_objects(&w, "owners", p->owner_count, put_owner, p);
	}
	if (p->weight_kind == WEIGHT_IO && (p->io_count || io_is_counted(p))) {
		json_put_objects(&w, "io", p->io_count, put_io, p);
		json_put_objects(&w, "io_counted", io_is_counted(p) ? IO_OPERATIONS : 0, put_io_counted, p);
	}
	if (!result)
		result = quote(&q, p, style);
	if (!result)
		result = put_images(&w, p, &q);
	if (!result && profile_has_waits(p))
		put_holders(&w, p, &q);
	json_array(&w, "stacks");
	for (i = 0; !result && i < p->stack_count; i++)
		put_stack(&w, p, &p->stacks[i], &q, work ? options->views->activity(work, i) : NULL);
	json_end(&w);
	json_times_put(&w, p);
	if (!result && options->views)
		result = options->views->beside(&w, p, options);
	json_end(&w);
	if (work)
		options->views->end(work);
	if ((result || known > !!work) && !out->failed)
		out->failed = ENOMEM;
	free(q.offsets);
	buffer_free(&q.text);
}

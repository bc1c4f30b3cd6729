/*
 * perfetto_samples.c - the samples of an event as packets of a sequence, which Perfetto takes for a session of its own:
 * what they are counted in, how many each stands for, thread and stack. A name, mapping, frame, stack or thread stands
 * in the packet that needs it first.
 *
 * Mappings are files by name alone, without addresses: Java code is in one called after the main class, as in pprof's
 * files, the kernel in one that Perfetto takes for the kernel.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/exports/dictionary.h"
#include "profile/exports/perfetto_writer.h"
#include "profile/exports/timed_samples.h"
#include "profile/exports/value_types.h"
#include "profile/model/frame_name.h"
#include "profile/model/profile_unit.h"
#include "profile/writers/protobuf.h"

enum { DEFAULTS_SAMPLES = 100 };
enum { SAMPLES_SOURCE = 1, SAMPLES_PRIMARY, SAMPLES_FOLLOWER };
enum { COUNTER_NAME = 2, COUNTER_UNIT, COUNTER_UNIT_TEXT, COUNTER_DESCRIPTION = 6 };
enum { UNIT_NS = 1, UNIT_CYCLES, UNIT_INSTRUCTIONS, UNIT_BYTES, UNIT_PAGE_FAULTS, UNIT_CACHE_MISSES,
       UNIT_CACHE_REFERENCES, UNIT_BRANCH_MISSES, UNIT_COUNT };
enum { SAMPLE_TASK = 2, SAMPLE_STACK = 6, SAMPLE_WEIGHT = 11, SAMPLE_FOLLOWERS = 14 };
enum { INTERNED_FUNCTIONS = 5, INTERNED_FRAMES, INTERNED_STACKS, INTERNED_PATHS = 17, INTERNED_MAPPINGS = 19,
       INTERNED_TASKS = 48 };
enum { INTERNED_ID = 1 }; /* in each of them */
enum { TEXT_BYTES = 2 };
enum { MAPPING_PATH = 7 };
enum { FRAME_FUNCTION = 2, FRAME_MAPPING, FRAME_PLACE, FRAME_LINE = 6, FRAME_IS_KIND, FRAME_KIND_TEXT };
enum { KIND_NATIVE = 1, KIND_KERNEL, KIND_INTERPRETED, KIND_JIT, KIND_RUNTIME = 6 };
enum { STACK_FRAME = 2 };
enum { TASK_PID = 2, TASK_TID };

struct event {
	struct perfetto *w;
	const struct profile *p;
	uint32_t sequence;
	struct dictionary words;
	uint32_t *functions;            /* of P's frames, and of no frames */
	uint32_t *frames, *stacks;      /* by P's: their ids; 0: not known yet */
	uint32_t *threads;              /* … and by P's threads, and of none */
	bool *written;                  /* by function: it is in the file */
	struct lists mappings, frame_keys, stack_keys, tasks;
	struct buffer interned;         /* for the next packet */
	struct numbers list;
};

/* ---- what a sample consists of ---- */

/* The id of KEY in TABLE; *IS_NEW: it is in no packet yet. */
static uint32_t id_of(struct event *e, struct lists *table, const uint32_t *key, uint32_t count, bool *is_new)
{
	size_t known = table->places.count;
	uint32_t number = lists_add(table, key, count);

	e->w->failed |= number == LISTS_FAILED;
	*is_new = number == known;
	return number + 1;
}

static void put_text(struct event *e, unsigned field, uint32_t id, const char *text)
{
	struct buffer *m = &e->w->message;

	proto_number(m, INTERNED_ID, id);
	proto_bytes(m, TEXT_BYTES, text, strlen(text));
	proto_message(&e->interned, field, m);
}

static const char *file_of(const struct profile *p, const struct profile_frame *f)
{
	if (!f)
		return "";
	if (f->library)
		return f->library;
	if (f->class_name)
		return *p->main_class ? p->main_class : "java";
	return f->kind == FRAME_KERNEL ? "vmlinux" : "";
}

/* A file called "kernel" is what Perfetto's own unwinder makes; some of its importers end where it has no addresses. */
static const char *library_of(const struct profile *p, const struct profile_frame *f)
{
	const char *file = file_of(p, f);

	return strcmp(file, "kernel") == 0 ? "./kernel" : file;
}

static uint32_t mapping_of(struct event *e, const struct profile_frame *f)
{
	uint32_t key = dictionary_text(&e->words, library_of(e->p, f)), id;
	struct buffer *m = &e->w->message;
	bool is_new;

	if (e->words.failed)
		return 0;
	id = id_of(e, &e->mappings, &key, 1, &is_new);
	if (!is_new || e->w->failed)
		return id;
	if (key)
		put_text(e, INTERNED_PATHS, id, dictionary_get_text(&e->words, key));
	proto_number(m, INTERNED_ID, id);
	proto_number(m, MAPPING_PATH, key ? id : 0);
	proto_message(&e->interned, INTERNED_MAPPINGS, m);
	return id;
}

static void put_kind(const struct profile *p, struct buffer *m, const struct profile_frame *f)
{
	static const uint8_t of_type[FRAME_TYPES] = {
		[TYPE_NATIVE] = KIND_NATIVE, [TYPE_JVM] = KIND_RUNTIME, [TYPE_KERNEL] = KIND_KERNEL,
	};
	enum frame_type type = frame_type(f);

	if (type != TYPE_JAVA)
		proto_number(m, FRAME_IS_KIND, of_type[type]);
	else if (p->kinds_unknown)
		proto_bytes(m, FRAME_KIND_TEXT, "java", strlen("java"));
	else
		proto_number(m, FRAME_IS_KIND, f->kind == FRAME_INTERPRETED ? KIND_INTERPRETED : KIND_JIT);
}

static void put_frame(struct event *e, uint32_t id, const struct profile_frame *f, const uint32_t *key)
{
	struct buffer *m = &e->w->message;
	uint32_t text = dictionary_only(&e->words.functions, key[0] - 1);

	if (!e->written[key[0]])
		put_text(e, INTERNED_FUNCTIONS, key[0], text ? dictionary_get_text(&e->words, text) : "");
	e->written[key[0]] = true;
	proto_number(m, INTERNED_ID, id);
	proto_number(m, FRAME_FUNCTION, key[0]);
	proto_number(m, FRAME_MAPPING, key[1]);
	proto_known_number(m, FRAME_PLACE, 0); /* has to be there, with a mapping: not known */
	proto_number(m, FRAME_LINE, key[2]);
	if (f)
		put_kind(e->p, m, f);
	proto_message(&e->interned, INTERNED_FRAMES, m);
}

/* Of frame NUMBER of P; behind the last one: of none. */
static uint32_t frame_id(struct event *e, uint32_t number)
{
	const struct profile_frame *f = number < e->p->frame_count ? &e->p->frames[number] : NULL;
	bool is_new;

	if (!e->frames[number] && !e->w->failed) {
		const uint32_t key[] = {e->functions[number], mapping_of(e, f),
					f && f->line > 0 ? (uint32_t)f->line : 0, f ? f->kind : FRAME_KINDS};

		e->frames[number] = id_of(e, &e->frame_keys, key, ARRAY_LEN(key), &is_new);
		if (is_new && !e->w->failed)
			put_frame(e, e->frames[number], f, key);
	}
	return e->frames[number];
}

static void add_frame(struct event *e, uint32_t number)
{
	uint32_t *item = VECTOR_PUSH(&e->list);

	if (item)
		*item = frame_id(e, number);
	else
		e->w->failed = true;
}

static uint32_t stack_id(struct event *e, uint32_t number)
{
	const struct profile_stack *s = &e->p->stacks[number];
	struct buffer *m = &e->w->message;
	bool is_new;
	uint32_t i;

	if (e->stacks[number])
		return e->stacks[number];
	e->list.count = 0;
	for (i = 0; i < s->depth; i++)
		add_frame(e, s->frames[i]);
	if (!s->depth)
		add_frame(e, e->p->frame_count);
	if (e->w->failed)
		return 0;
	e->stacks[number] = id_of(e, &e->stack_keys, e->list.items, (uint32_t)e->list.count, &is_new);
	if (!is_new)
		return e->stacks[number];
	proto_number(m, INTERNED_ID, e->stacks[number]);
	for (i = 0; i < e->list.count; i++)
		proto_number(m, STACK_FRAME, e->list.items[i]);
	proto_message(&e->interned, INTERNED_STACKS, m);
	return e->stacks[number];
}

static uint32_t new_task_id(struct event *e, uint32_t thread)
{
	struct perfetto_task t = perfetto_thread(e->w, e->p, thread);
	const uint32_t key[] = {t.pid, t.tid};
	struct buffer *m = &e->w->message;
	bool is_new;
	uint32_t id = id_of(e, &e->tasks, key, ARRAY_LEN(key), &is_new);

	if (!is_new)
		return id;
	proto_number(m, INTERNED_ID, id);
	proto_number(m, TASK_PID, t.pid);
	proto_number(m, TASK_TID, t.tid);
	proto_message(&e->interned, INTERNED_TASKS, m);
	return id;
}

/* THREAD: one of P, or their number. */
static uint32_t task_id(struct event *e, uint32_t thread)
{
	if (!e->threads[thread])
		e->threads[thread] = new_task_id(e, thread);
	return e->threads[thread];
}

/* ---- packets ---- */

static void put_sample(struct event *e, const struct timed_sample *t)
{
	uint32_t task = task_id(e, t->thread), stack = t->stack == PROFILE_NO_STACK ? 0 : stack_id(e, t->stack);
	struct perfetto *w = e->w;

	if (e->interned.length)
		proto_message(&w->packet, PACKET_INTERNED, &e->interned);
	proto_number(&w->message, SAMPLE_TASK, task);
	proto_number(&w->message, SAMPLE_STACK, stack);
	proto_number(&w->message, SAMPLE_WEIGHT, t->weight);
	proto_varint(&w->inner, t->samples);
	proto_message(&w->message, SAMPLE_FOLLOWERS, &w->inner);
	proto_message(&w->packet, PACKET_SAMPLE, &w->message);
	perfetto_end_packet_at(w, e->sequence, wide_add(e->p->started_at, t->time));
}

/* What weights are of, in Perfetto's words; 0: in ours. */
static unsigned unit_of(const struct profile *p, const struct value_type *type)
{
	static const struct {
		const char *event;
		unsigned unit;
	} counted[] = {
		{"cycles", UNIT_CYCLES}, {"instructions", UNIT_INSTRUCTIONS}, {"page-faults", UNIT_PAGE_FAULTS},
		{"cache-misses", UNIT_CACHE_MISSES}, {"cache-references", UNIT_CACHE_REFERENCES},
		{"branch-misses", UNIT_BRANCH_MISSES},
	};
	size_t i;

	if (strcmp(type->unit, "nanoseconds") == 0)
		return UNIT_NS;
	if (strcmp(type->unit, "bytes") == 0)
		return UNIT_BYTES;
	for (i = 0; type->of == VALUE_WEIGHT && i < ARRAY_LEN(counted); i++)
		if (strcmp(p->event, counted[i].event) == 0)
			return counted[i].unit;
	return strcmp(type->unit, "count") == 0 ? UNIT_COUNT : 0;
}

static void put_counter(struct event *e, unsigned field, const struct value_type *type, struct buffer *to)
{
	struct buffer *m = &e->w->inner;
	unsigned unit = unit_of(e->p, type);

	perfetto_text(e->w, m, COUNTER_NAME, type->name);
	proto_number(m, COUNTER_UNIT, unit);
	if (!unit)
		perfetto_text(e->w, m, COUNTER_UNIT_TEXT, type->unit);
	if (!profile_has_times(e->p))
		perfetto_text(e->w, m, COUNTER_DESCRIPTION,
			      "It is not known when samples were taken: stacks of a thread stand one after the other");
	proto_message(to, field, m);
}

static void begin(struct event *e)
{
	struct value_type types[VALUE_TYPES_MOST];
	unsigned count = value_types_of(e->p, types);
	struct buffer samples = BUFFER_INIT, defaults = BUFFER_INIT;

	perfetto_text(e->w, &samples, SAMPLES_SOURCE, "jstrobe");
	put_counter(e, SAMPLES_PRIMARY, &types[count - 1], &samples);
	put_counter(e, SAMPLES_FOLLOWER, &types[0], &samples);
	proto_message(&defaults, DEFAULTS_SAMPLES, &samples);
	e->w->failed |= defaults.failed != 0;
	perfetto_begin_sequence(e->w, e->sequence, &defaults);
	buffer_free(&samples);
	buffer_free(&defaults);
}

/* ---- what threads did ---- */

static uint8_t state_of(const struct profile *p, const struct timed_sample *t)
{
	return t->stack == PROFILE_NO_STACK ? THREAD_NONE : p->stacks[t->stack].state;
}

/*
 * When sample T is over: it lasts as long as it weighs. A wait that stands for others, too, weighs more than it lasts.
 */
static uint64_t end_of(const struct profile *p, const struct timed_sample *t)
{
	uint64_t longest = p->weight_kind == WEIGHT_WAIT ? wide_add(t->span, p->moment_step) : UINT64_MAX;

	return wide_add(t->time, MIN(t->weight, longest));
}

/*
 * Where the slice that begins with T ends, and *NEXT, of COUNT, the next one begins. Samples in one state are one
 * slice, also if one of them is missing; each wait is one.
 */
static uint64_t find_end(const struct profile *p, const struct timed_sample *t, size_t count, size_t *next)
{
	uint64_t slack = wide_add(p->moment_step, p->interval), end = end_of(p, t);

	for (*next = 1; *next < count && p->weight_kind != WEIGHT_WAIT; ++*next) {
		if (state_of(p, &t[*next]) != state_of(p, t) || t[*next].time > wide_add(end, slack))
			break;
		end = MAX(end, end_of(p, &t[*next]));
	}
	return *next < count ? MIN(end, t[*next].time) : end;
}

/* Of a thread. */
static void put_states_of(struct perfetto *w, const struct profile *p, const struct timed_sample *t, size_t count)
{
	struct buffer name = BUFFER_INIT;
	uint64_t begin, end, track = 0;
	size_t i, next;

	buffer_printf(&name, "%s: state", p->event);
	for (i = 0; i < count && !w->failed; i += next) {
		uint8_t state = state_of(p, &t[i]);

		begin = wide_add(p->started_at, t[i].time);
		end = wide_add(p->started_at, find_end(p, &t[i], count - i, &next));
		if (state == THREAD_NONE)
			continue;
		if (!track)
			track = perfetto_track(w, perfetto_thread(w, p, t->thread).uuid,
					       buffer_text(&name, &w->message));
		perfetto_begin_slice(w, track, begin, "state", thread_state_names[state].word);
		perfetto_end_slice(w, track, end);
	}
	buffer_free(&name);
}

static void put_states(struct perfetto *w, const struct profile *p, const struct timed_samples *t)
{
	size_t i, next;

	for (i = 0; profile_has_times(p) && profile_is_time(p) && i < t->count; i = next) {
		for (next = i + 1; next < t->count && t->items[next].thread == t->items[i].thread;)
			next++;
		if (t->items[i].thread < p->thread_count)
			put_states_of(w, p, &t->items[i], next - i);
	}
}

/* ---- the whole ---- */

static void put_all(struct event *e, struct timed_samples *t)
{
	size_t i;

	begin(e);
	for (i = 0; i < t->count && !e->w->failed && !e->w->out->failed; i++) {
		put_sample(e, &t->items[i]);
		e->w->failed |= e->words.failed || e->interned.failed;
	}
	e->w->failed |= !timed_samples_by_thread(t);
	if (!e->w->failed)
		put_states(e->w, e->p, t);
}

static void free_all(struct event *e)
{
	dictionary_free(&e->words);
	free(e->functions);
	free(e->frames);
	free(e->stacks);
	free(e->threads);
	free(e->written);
	lists_free(&e->mappings);
	lists_free(&e->frame_keys);
	lists_free(&e->stack_keys);
	lists_free(&e->tasks);
	buffer_free(&e->interned);
	free(e->list.items);
}

void perfetto_put_samples(struct perfetto *w, const struct profile *p, uint32_t i,
			  const struct format_options *options)
{
	struct event e = {.w = w, .p = p, .sequence = PERFETTO_SAMPLES + i, .interned = BUFFER_INIT};
	struct timed_samples t = {.count = 0};

	e.functions = dictionary_functions(&e.words, p, options);
	e.written = calloc(e.words.functions.places.count + 1, sizeof(*e.written));
	e.frames = calloc((size_t)p->frame_count + 1, sizeof(*e.frames));
	e.stacks = calloc((size_t)p->stack_count + 1, sizeof(*e.stacks));
	e.threads = calloc((size_t)p->thread_count + 1, sizeof(*e.threads));
	w->failed |= e.words.failed || !e.written || !e.frames || !e.stacks || !e.threads ||
		     !timed_samples_build(&t, p);
	if (!w->failed)
		put_all(&e, &t);
	timed_samples_free(&t);
	free_all(&e);
}

#include "profile/readers/read_aggregate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/model/leaks.h"
#include "profile/readers/read_contexts.h"

#define ANYWAY_WORDS LIMIT_BYTES(1u << 24) /* 64 MB */
#define WORDS_A_BYTE 4
#define WALKED_A_BYTE 64 /* many samples may have one stack, and a place in it many inlined methods */
#define ANYWAY_TEXT LIMIT_BYTES(64u << 20)
#define TEXT_A_BYTE 4
#define SAME_SESSION (100 * NS_PER_MS)

void read_aggregate_refuse(struct read_aggregate *f, const char *what)
{
	if (!f->too_much && !f->no_memory)
		f->too_much = what;
	f->no_memory = true;
}

bool read_aggregate_text(struct read_aggregate *f, size_t n)
{
	f->text += n;
	if (f->most_text && f->text > f->most_text)
		read_aggregate_refuse(f, "long names, each told of many methods or threads");
	return !f->no_memory;
}

bool read_aggregate_walk(struct read_aggregate *f, size_t n, size_t depth)
{
	f->walked += n;
	if ((f->most_words && f->stacks.words.count + depth > f->most_words) ||
	    (f->most_walked && f->walked > f->most_walked))
		read_aggregate_refuse(f, "deep stacks");
	return !f->no_memory;
}

void read_aggregate_limit(struct read_aggregate *f, uint64_t size, unsigned workers)
{
	f->most_words = ANYWAY_WORDS + WORDS_A_BYTE * size / workers;
	f->most_walked = ANYWAY_WORDS + WALKED_A_BYTE * size;
	f->most_text = ANYWAY_TEXT + TEXT_A_BYTE * size;
}

uint32_t read_aggregate_frame(struct read_aggregate *f, const uint32_t words[READ_FRAME_WORDS])
{
	uint32_t number = lists_add(&f->frames, words, READ_FRAME_WORDS);

	f->no_memory |= number == LISTS_FAILED || f->strings.failed;
	return number;
}

enum weight_kind read_aggregate_time(const char *family)
{
	static const char *const waits[] = {"lock", "nativelock", "monitor", "park", "wait", "sleep"};
	size_t i;

	if (strcmp(family, "io") == 0)
		return WEIGHT_IO;
	for (i = 0; i < ARRAY_LEN(waits); i++)
		if (strcmp(family, waits[i]) == 0)
			return WEIGHT_WAIT;
	return strcmp(family, "cpu") == 0 || strcmp(family, "cputime") == 0 ? WEIGHT_CPU : WEIGHT_WALL;
}

uint32_t read_aggregate_family(struct read_aggregate *f, const char *name, enum weight_kind kind, const char *unit)
{
	struct read_aggregate_family *family;
	uint32_t i;

	for (i = 0; i < f->families.count; i++)
		if (strcmp(f->families.items[i].name, name) == 0)
			return i;
	if (i == READ_AGGREGATE_FAMILIES_MAX) {
		read_aggregate_refuse(f, "over 200 events");
		return UINT32_MAX;
	}
	family = VECTOR_PUSH(&f->families);
	if (family)
		family->name = strdup(name);
	if (!family || !family->name) {
		f->families.count -= family != NULL;
		f->no_memory = true;
		return UINT32_MAX;
	}
	family->weight_kind = kind;
	family->unit = unit;
	family->moments.most = READ_MOMENTS_MOST;
	return i;
}

/* Where the count of STACK alone is noted. */
static uint32_t *direct_slot(const struct read_aggregate *f, struct read_aggregate_family *to, uint32_t stack)
{
	size_t before = to->direct.count;

	if (likely(stack < before))
		return &to->direct.items[stack];
	if (!VECTOR_RESERVE(&to->direct, f->stacks.places.capacity))
		return NULL;
	to->direct.count = to->direct.capacity;
	memset(to->direct.items + before, 0, (to->direct.count - before) * sizeof(*to->direct.items));
	return &to->direct.items[stack];
}

/* The count of STACK with THREAD and STATE; NULL: out of memory. */
static struct read_aggregate_count *counted(struct read_aggregate *f, uint32_t family, uint32_t stack,
					    uint32_t thread, uint8_t state)
{
	struct read_aggregate_family *to = &f->families.items[family];
	struct read_aggregate_count *t;
	uint32_t *slot = thread == READ_NO_THREAD && state == THREAD_NONE ?
				 direct_slot(f, to, stack) :
				 map_put(&to->index[state], (uint64_t)stack << 32 | thread, NULL);

	if (slot && !*slot) {
		t = VECTOR_PUSH(&to->stack_counts);
		if (t) {
			t->stack = stack;
			t->thread = thread;
			t->state = state;
			*slot = (uint32_t)to->stack_counts.count;
		}
	}
	if (!slot || !*slot) {
		f->no_memory = true;
		return NULL;
	}
	return &to->stack_counts.items[*slot - 1];
}

uint32_t read_aggregate_add(struct read_aggregate *f, uint32_t family, uint32_t stack, uint32_t thread, uint8_t state,
	      uint64_t samples, uint64_t weight)
{
	struct read_aggregate_family *to = &f->families.items[family];
	struct read_aggregate_count *t = counted(f, family, stack, thread, state);

	if (!t)
		return 0;
	/* what one of its stacks has is no more than what all have */
	if (__builtin_add_overflow(to->samples, samples, &to->samples) ||
	    __builtin_add_overflow(to->weight, weight, &to->weight)) {
		read_aggregate_refuse(f, READ_AGGREGATE_SUMS);
		return 0;
	}
	t->samples += samples;
	t->weight += weight;
	return (uint32_t)(t - to->stack_counts.items);
}

void read_aggregate_add_objects(struct read_aggregate *f, uint32_t family, uint32_t stack, uint32_t thread,
				uint8_t state, uint64_t parts, uint64_t outside)
{
	struct read_aggregate_family *to = &f->families.items[family];
	struct read_aggregate_count *t = parts || outside ? counted(f, family, stack, thread, state) : NULL;

	if (!t)
		return;
	if (__builtin_add_overflow(to->parts, parts, &to->parts) ||
	    __builtin_add_overflow(to->outside, outside, &to->outside)) {
		read_aggregate_refuse(f, READ_AGGREGATE_SUMS);
		return;
	}
	t->parts += parts;
	t->outside += outside;
}

void read_aggregate_add_growth(struct read_aggregate *f, uint32_t family, uint32_t stack, uint32_t thread,
			       uint8_t state, const struct profile_growth *growth)
{
	struct read_aggregate_family *to = &f->families.items[family];
	const struct read_aggregate_count *t = counted(f, family, stack, thread, state);
	struct profile_growth *g;

	while (t && to->growth.count <= (size_t)(t - to->stack_counts.items)) {
		g = VECTOR_PUSH(&to->growth);
		if (!g) {
			f->no_memory = true;
			return;
		}
		*g = (struct profile_growth){.example = 0};
	}
	if (t)
		leaks_add_growth(&to->growth.items[t - to->stack_counts.items], growth);
}

void read_aggregate_live(struct read_aggregate *f, uint32_t family, const struct read_aggregate_live *live)
{
	struct read_aggregate_family *to = &f->families.items[family];
	uint64_t apart = MAX(live->since, to->live.since) - MIN(live->since, to->live.since);

	/* the clock of a file's chunks may have been set meanwhile */
	to->lives_twice |= to->is_live && (live->known != to->live.known || apart > SAME_SESSION);
	to->is_live = true;
	to->live = *live;
}

void read_aggregate_raise(struct read_aggregate *f, uint32_t family, uint32_t stack, uint64_t samples, uint64_t weight)
{
	const struct read_aggregate_count *t = counted(f, family, stack, READ_NO_THREAD, THREAD_NONE);

	if (t && samples >= t->samples && weight >= t->weight)
		read_aggregate_add(f, family, stack, READ_NO_THREAD, THREAD_NONE, samples - t->samples,
				   weight - t->weight);
}

void read_aggregate_add_thread(struct read_aggregate *f, uint32_t family, uint32_t thread, uint64_t samples,
		     uint64_t weight)
{
	struct read_aggregate_family *to = &f->families.items[family];
	uint32_t *slot = map_put(&to->thread_index, thread, NULL);
	struct read_aggregate_thread_count *t;

	if (slot && !*slot && (t = VECTOR_PUSH(&to->threads))) {
		t->thread = thread;
		*slot = (uint32_t)to->threads.count;
	}
	if (!slot || !*slot) {
		f->no_memory = true;
		return;
	}
	t = &to->threads.items[*slot - 1];
	t->samples += samples;
	t->weight += weight;
}

uint32_t read_aggregate_leaf(struct read_aggregate *f, uint32_t stack, uint32_t frame)
{
	uint32_t depth, *longer, number;
	const uint32_t *list = lists_get(&f->stacks, stack, &depth);

	if (f->most_words && f->stacks.words.count + depth > f->most_words) {
		read_aggregate_refuse(f, "deep stacks, each told of many classes of objects");
		return LISTS_FAILED;
	}
	longer = malloc(((size_t)depth + 1) * sizeof(*longer));
	if (!longer)
		return LISTS_FAILED;
	if (depth)
		memcpy(longer, list, depth * sizeof(*list));
	longer[depth] = frame;
	number = lists_add(&f->stacks, longer, depth + 1);
	free(longer);
	return number;
}

/* Moments in the order of time, their threads by where they stand in FROM's list. */
static void close_moments(struct read_aggregate *f, struct read_aggregate_family *from)
{
	struct moments *m = &from->moments;
	size_t i;

	f->no_memory |= m->failed;
	for (i = 0; i < m->items.count; i++) {
		const uint32_t *slot = map_get(&from->thread_index, m->items.items[i].thread);

		m->items.items[i].thread = slot ? *slot - 1 : PROFILE_NO_THREAD;
	}
	moments_sort(m);
	m->closed = true;
}

void read_aggregate_close(struct read_aggregate *f)
{
	size_t i, k;

	for (i = 0; i < f->families.count; i++) {
		if (!f->families.items[i].moments.closed)
			close_moments(f, &f->families.items[i]);
		for (k = 0; k < THREAD_STATES; k++)
			map_free(&f->families.items[i].index[k]);
		map_free(&f->families.items[i].thread_index);
		free(f->families.items[i].direct.items);
		memset(&f->families.items[i].direct, 0, sizeof(f->families.items[i].direct));
	}
	map_free(&f->strings.index);
	lists_close(&f->frames);
	lists_close(&f->stacks);
	lists_close(&f->threads);
	lists_close(&f->contexts);
	lists_close(&f->pairs);
}

void read_aggregate_free(struct read_aggregate *f)
{
	size_t i;

	read_aggregate_close(f);

	for (i = 0; i < f->families.count; i++) {
		free(f->families.items[i].name);
		free(f->families.items[i].stack_counts.items);
		free(f->families.items[i].threads.items);
		io_lines_free(&f->families.items[i].calls);
		free(f->families.items[i].growth.items);
		moments_free(&f->families.items[i].moments);
		read_waits_free(&f->families.items[i].waits);
		read_ios_free(&f->families.items[i].io);
	}
	free(f->families.items);
	kept_marks_free(&f->marks);
	strings_free(&f->strings);
	lists_free(&f->frames);
	lists_free(&f->stacks);
	lists_free(&f->threads);
	lists_free(&f->contexts);
	lists_free(&f->pairs);
	memset(f, 0, sizeof(*f));
}

static const char *text_or_null(const struct read_aggregate *f, uint32_t number)
{
	return number ? strings_get(&f->strings, number) : NULL;
}

static bool copy_frames(const struct read_aggregate *f, const struct read_aggregate_family *family, struct profile *p)
{
	struct profile_frame *frames = calloc(f->frames.places.count + 1, sizeof(*frames));
	uint32_t i, n;

	p->frames = frames;
	if (!frames)
		return false;
	p->frame_count = (uint32_t)f->frames.places.count;
	for (i = 0; i < p->frame_count; i++) {
		const uint32_t *words = lists_get(&f->frames, i, &n);

		frames[i].class_name = text_or_null(f, words[READ_FRAME_CLASS]);
		frames[i].name = strings_get(&f->strings, words[READ_FRAME_NAME]);
		frames[i].signature = text_or_null(f, words[READ_FRAME_SIGNATURE]);
		frames[i].library = text_or_null(f, words[READ_FRAME_LIBRARY]);
		frames[i].line = (int32_t)words[READ_FRAME_LINE];
		frames[i].kind = (uint8_t)words[READ_FRAME_KIND];
		if (words[READ_FRAME_LOCK] <= family->waits.locks.count)
			frames[i].lock = (uint16_t)words[READ_FRAME_LOCK];
	}
	return true;
}

/* PLACES leads from the threads' numbers to where they stand in P. */
static bool copy_threads(const struct read_aggregate *f, const struct read_aggregate_family *family, struct profile *p,
			 uint32_t *places)
{
	struct profile_thread *threads = calloc(family->threads.count + 1, sizeof(*threads));
	uint32_t n;

	p->threads = threads;
	if (!threads)
		return false;
	for (; p->thread_count < family->threads.count; p->thread_count++) {
		const struct read_aggregate_thread_count *t = &family->threads.items[p->thread_count];
		const uint32_t *words = lists_get(&f->threads, t->thread, &n);

		places[t->thread] = p->thread_count;
		threads[p->thread_count] = (struct profile_thread){
			words[READ_THREAD_TID], strings_get(&f->strings, words[READ_THREAD_NAME]),
			t->samples, t->weight};
	}
	return true;
}

/* Objects of PARTS. */
static uint64_t whole(uint64_t parts)
{
	return parts / READ_OBJECT_PARTS + (parts % READ_OBJECT_PARTS >= READ_OBJECT_PARTS / 2);
}

/* Whose stack T is, and in which context. */
static void place_stack(const struct read_aggregate *f, const struct read_aggregate_count *t, const uint32_t *places,
			struct profile_stack *s)
{
	uint32_t thread = t->thread;

	if (f->by_context && thread != READ_NO_THREAD) {
		s->trace_context = read_context_of(f, thread);
		thread = read_context_thread(f, thread);
	}
	s->thread = thread == READ_NO_THREAD || f->by_block ? PROFILE_NO_THREAD : places[thread];
}

static bool copy_stacks(const struct read_aggregate *f, const struct read_aggregate_family *family, struct profile *p,
			const uint32_t *places)
{
	struct profile_stack *stacks = calloc(family->stack_counts.count + 1, sizeof(*stacks));
	uint64_t parts = 0;
	uint32_t i;

	p->stacks = stacks;
	for (i = 0; stacks && i < family->stack_counts.count; i++) {
		const struct read_aggregate_count *t = &family->stack_counts.items[i];

		stacks[i].frames = lists_get(&f->stacks, t->stack, &stacks[i].depth);
		place_stack(f, t, places, &stacks[i]);
		stacks[i].samples = t->samples;
		stacks[i].weight = t->weight;
		/* so that all of them together are those of the profile */
		stacks[i].objects = whole(parts + t->parts) - whole(parts);
		parts += t->parts;
		stacks[i].outside = t->outside;
		stacks[i].state = t->state;
	}
	p->stack_count = stacks ? i : 0;
	return stacks != NULL;
}

/* The blocks are known where each stack has one. */
static bool copy_blocks(const struct read_aggregate *f, const struct read_aggregate_family *from, struct profile *p)
{
	uint8_t *blocks = f->by_block ? calloc((size_t)p->stack_count + 1, sizeof(*blocks)) : NULL;
	uint32_t i;

	for (i = 0; blocks && i < p->stack_count; i++) {
		if (from->stack_counts.items[i].thread == READ_NO_THREAD)
			break;
		blocks[i] = (uint8_t)from->stack_counts.items[i].thread;
	}
	if (blocks && i < p->stack_count) {
		free(blocks);
		return true;
	}
	p->blocks = blocks;
	p->blocks_of = blocks ? p->stacks : NULL;
	return blocks || !f->by_block;
}

/* What grows is known where it is known of all stacks, and they are of one session. */
static bool copy_growth(const struct read_aggregate_family *from, struct profile *p)
{
	struct profile_growth *growth;

	p->survivors = from->is_live && from->live.objects;
	if (!from->live.known || from->lives_twice)
		return true;
	p->counted = p->survivors ? from->live.used : 0;
	p->heap_most = from->live.most;
	growth = calloc((size_t)p->stack_count + 1, sizeof(*growth));
	p->growth = growth;
	p->growth_of = p->stacks;
	p->growth_span = from->live.span;
	if (growth && from->growth.count)
		memcpy(growth, from->growth.items, from->growth.count * sizeof(*growth));
	return growth != NULL;
}

void read_waits_free(struct read_waits *w)
{
	free(w->locks.items);
	free(w->owners.items);
	free(w->holders.items);
	memset(w, 0, sizeof(*w));
}

/* LIST as P has it, to *TO, with its *COUNT. */
static bool copy_waits(const struct read_aggregate *f, const struct read_wait_list *list,
		       const struct profile_waits **to, uint32_t *count)
{
	struct profile_waits *out = list->count ? calloc(list->count, sizeof(*out)) : NULL;
	size_t i;

	*to = out;
	for (i = 0; out && i < list->count; i++) {
		const struct read_wait *w = &list->items[i];

		out[i] = (struct profile_waits){
			.name = strings_get(&f->strings, w->name), .identity = w->identity, .kind = w->kind,
			.waits = w->waits, .time = w->time, .longest = w->longest, .open = w->open, .lock = w->lock,
		};
		if (w->stack != READ_NO_STACK)
			out[i].frames = lists_get(&f->stacks, w->stack, &out[i].depth);
	}
	*count = (uint32_t)i;
	return out || !list->count;
}

static bool copy_all_waits(const struct read_aggregate *f, const struct read_waits *w, struct profile *p)
{
	return copy_waits(f, &w->locks, &p->locks, &p->lock_count) &&
	       copy_waits(f, &w->owners, &p->owners, &p->owner_count) &&
	       copy_waits(f, &w->holders, &p->holders, &p->holder_count);
}

void read_ios_free(struct read_ios *io)
{
	free(io->lines.items);
	memset(io, 0, sizeof(*io));
}

static bool copy_ios(const struct read_aggregate *f, const struct read_ios *io, struct profile *p)
{
	struct profile_io *out = io->lines.count ? calloc(io->lines.count, sizeof(*out)) : NULL;
	size_t i;

	p->io = out;
	for (i = 0; out && i < io->lines.count; i++) {
		out[i] = io->lines.items[i].is;
		out[i].target = strings_get(&f->strings, io->lines.items[i].target);
	}
	p->io_count = (uint32_t)i;
	memcpy(p->io_counted, io->counted, sizeof(p->io_counted));
	return out || !io->lines.count;
}

/* Moments are F's. */
static void put_moments(const struct read_aggregate_family *from, struct profile *p)
{
	const struct moments *m = &from->moments;

	if (!m->items.count)
		return;
	p->moments = m->items.items;
	p->moments_of = p->stacks;
	p->moment_count = m->items.count;
	p->moment_step = m->step;
	if (m->fine.step && m->fine.step < m->step && !m->fine.given_up) {
		p->fine_counts = m->fine.counts.items;
		p->fine_count = m->fine.counts.count;
		p->fine_step = m->fine.step;
	}
}

int read_aggregate_profile(const struct read_aggregate *f, uint32_t family, struct profile *p)
{
	const struct read_aggregate_family *from = &f->families.items[family];
	uint32_t *places = calloc(f->threads.places.count + 1, sizeof(*places));
	bool ok = places && copy_frames(f, from, p) && copy_threads(f, from, p, places) &&
		  copy_stacks(f, from, p, places) && copy_growth(from, p) && copy_blocks(f, from, p) &&
		  copy_all_waits(f, &from->waits, p) && copy_ios(f, &from->io, p) &&
		  (!f->by_context || read_contexts_copy(f, p));

	free(places);
	if (ok)
		put_moments(from, p);
	p->event = from->name;
	p->weight_kind = from->weight_kind;
	p->unit = from->unit;
	p->per_thread = f->per_thread;
	p->stored = from->samples;
	p->taken = from->samples + from->lost;
	p->weight_stored = from->weight;
	p->objects = whole(from->parts);
	p->outside = from->outside;
	p->effective_interval = from->samples ? from->weight / from->samples : 0;
	return ok ? 0 : -ENOMEM;
}

void read_aggregate_profile_free(struct profile *p)
{
	free((void *)(uintptr_t)p->frames);
	free((void *)(uintptr_t)p->stacks);
	free((void *)(uintptr_t)p->threads);
	free((void *)(uintptr_t)p->io);
	free((void *)(uintptr_t)p->locks);
	free((void *)(uintptr_t)p->owners);
	free((void *)(uintptr_t)p->holders);
	p->locks = p->owners = p->holders = NULL;
	p->io = NULL;
	free((void *)(uintptr_t)p->growth);
	free((void *)(uintptr_t)p->blocks);
	free((void *)(uintptr_t)p->trace_contexts);
	p->trace_contexts = NULL;
	p->blocks = NULL;
	p->frames = NULL;
	p->growth = NULL;
	p->stacks = NULL;
	p->threads = NULL;
}

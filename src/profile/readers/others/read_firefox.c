/*
 * read_firefox.c - profiles of profiler.firefox.com: the processed format, in which tables are lists by column, as
 * samply, the page itself and many converters write it; and what Firefox writes, in which they are rows with a schema.
 *
 * Tables stand in each thread or, in newer files, in `shared`, which may come after the threads: so there are two
 * passes. A thread's stacks are a tree already.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/readers/others/firefox_reader.h"
#include "profile/readers/others/others.h"

#define OURS "jstrobe "
#define ALL_THREADS "all threads" /* where we were not told them apart */
#define LIBRARY 1 /* type of a resource */
#define LONGEST_MS 1e12L /* that a time may be: 30 years */

static bool is(const struct buffer *b, const char *word)
{
	return b->length == strlen(word) && memcmp(b->data, word, b->length) == 0;
}

/* ---- frames and stacks of a thread ---- */

/* Item I of COLUMN, of the thread's own table or the shared one; FOREIGN_JSON_NULL: none, or null. */
static uint32_t at(const struct firefox *x, enum firefox_column column, uint32_t i)
{
	const struct numbers *own = &x->own.columns[column], *all = &x->shared.columns[column];

	return i < own->count ? own->items[i] : !own->count && i < all->count ? all->items[i] : FOREIGN_JSON_NULL;
}

static size_t count_of(const struct firefox *x, enum firefox_column column)
{
	return x->own.columns[column].count ? x->own.columns[column].count : x->shared.columns[column].count;
}

static struct foreign_text text_at(struct firefox *x, uint32_t i)
{
	const struct numbers *texts = x->own.texts.count ? &x->own.texts : &x->shared.texts;

	if (i < texts->count)
		return foreign_json_text(&x->f, texts->items[i]);
	x->f.lost += i != FOREIGN_JSON_NULL;
	return (struct foreign_text){"", 0};
}

/* "name (in libfoo.so)", "name (file.js:12:5)": what Firefox's own files have in one text. */
static void split_location(struct foreign_frame *frame)
{
	const char *in = memmem(frame->name.bytes, frame->name.length, " (in ", 5);

	if (!in || frame->name.bytes[frame->name.length - 1] != ')')
		return;
	frame->library = (struct foreign_text){in + 5, frame->name.length - (size_t)(in + 5 - frame->name.bytes) - 1};
	frame->mapped = true;
	frame->name.length = (size_t)(in - frame->name.bytes);
}

static uint32_t make_frame(struct firefox *x, uint32_t i)
{
	struct foreign_frame frame = {.name = {"", 0}, .source = {"", 0}, .library = {"", 0}};
	uint32_t func = at(x, FRAME_FUNC, i), lib = at(x, RESOURCE_LIB, at(x, FUNC_RESOURCE, func));
	uint32_t line = at(x, FRAME_COLUMN_LINE, i);

	if (func != FOREIGN_JSON_NULL) {
		frame.name = text_at(x, at(x, FUNC_NAME, func));
		frame.source = text_at(x, at(x, FUNC_FILE, func));
	} else {
		frame.name = text_at(x, at(x, FRAME_LOCATION, i));
		split_location(&frame);
	}
	if (lib == FOREIGN_JSON_NULL && at(x, RESOURCE_TYPE, at(x, FUNC_RESOURCE, func)) == LIBRARY)
		frame.library = text_at(x, at(x, RESOURCE_NAME, at(x, FUNC_RESOURCE, func)));
	if (frame.library.length)
		frame.mapped = true;
	if (lib < x->libs.count) {
		frame.library = foreign_json_text(&x->f, x->libs.items[lib]);
		frame.mapped = true;
	}
	frame.line = x->f.c->options->lines && line != FOREIGN_JSON_NULL ? line : 0;
	return foreign_json_frame(&x->f, &frame);
}

static uint32_t frame_of(struct firefox *x, uint32_t i)
{
	if (i >= x->frames.count) {
		x->f.lost++;
		return make_frame(x, FOREIGN_JSON_NULL);
	}
	if (!x->frames.items[i])
		x->frames.items[i] = make_frame(x, i) + 1;
	return x->frames.items[i] - 1;
}

/* Zeroes, COUNT of them. */
static void clear(struct firefox *x, struct numbers *list, size_t count)
{
	list->count = 0;
	if (count && !VECTOR_RESERVE(list, count)) {
		x->f.no_memory = true;
		return;
	}
	if (count)
		memset(list->items, 0, count * sizeof(*list->items));
	list->count = count;
}

/* All stacks of the thread, as nodes: callers stand before those they call. */
static void make_nodes(struct firefox *x)
{
	uint32_t i, prefix, caller;

	clear(x, &x->frames, MAX(count_of(x, FRAME_FUNC), count_of(x, FRAME_LOCATION)));
	clear(x, &x->nodes, count_of(x, STACK_FRAME));
	for (i = 0; i < x->nodes.count && !x->f.no_memory && !x->f.c->aggregate.no_memory; i++) {
		prefix = at(x, STACK_PREFIX, i);
		caller = prefix < i ? x->nodes.items[prefix] : FOREIGN_TREE_ROOT;
		x->f.lost += prefix != FOREIGN_JSON_NULL && prefix >= i;
		x->nodes.items[i] = foreign_tree_child(&x->f.tree, caller, frame_of(x, at(x, STACK_FRAME, i)));
	}
}

/* ---- samples of a thread ---- */

static long double real_at(const struct firefox_reals *column, size_t i)
{
	return i < column->count ? column->items[i] : 0;
}

static void count(struct firefox *x, const struct foreign_event *event, uint32_t node, uint64_t samples,
		  uint64_t weight)
{
	const uint64_t values[VALUE_ROLES] = {[VALUE_SAMPLES] = samples, [VALUE_WEIGHT] = weight};
	struct foreign_place place;
	uint32_t stack;

	if (!weight)
		return;
	stack = foreign_tree_stack(&x->f.tree, node);
	if (stack == LISTS_FAILED)
		return;
	place = foreign_labels_place(&x->f.labels, event, stack);
	place.timed = x->times.count || x->deltas.count;
	place.time = (int64_t)(x->time * NS_PER_MS);
	if (!x->f.c->aggregate.no_memory)
		foreign_events_add(&x->f.events, event, values, &place);
}

/* What a weight of 1 is: one sample's time, ms, bytes. */
static const char *unit_of(const struct firefox *x)
{
	if (is(&x->weight_type, "bytes"))
		return "bytes";
	/* ours have weights of what is counted */
	return is(&x->weight_type, "tracing-ms") || (x->interval > 0 && !x->ours) ? "ms" : "samples";
}

/* When sample I was. */
static void put_time(struct firefox *x, size_t i)
{
	x->time = x->times.count ? real_at(&x->times, i) : x->time + real_at(&x->deltas, i);
	if (!(x->time > 0 && x->time < LONGEST_MS))
		x->time = 0;
	x->last = MAX(x->last, x->time);
}

/* Our processes are "EVENT of PROGRAM". */
static const char *event_of(struct firefox *x, const struct foreign_text *unit)
{
	char *of;

	if (!x->ours || !x->thread_process.length)
		return foreign_unit_event(unit);
	buffer_putc(&x->thread_process, '\0');
	x->f.no_memory |= x->thread_process.failed != 0;
	if (x->f.no_memory)
		return "";
	of = strstr(x->thread_process.data, " of ");
	if (of)
		*of = '\0';
	return x->thread_process.data;
}

static void add_samples(struct firefox *x)
{
	struct foreign_text unit = {unit_of(x), strlen(unit_of(x))}, ns = {"ns", 2};
	bool counted = !x->ours && !is(&x->weight_type, "bytes") && !is(&x->weight_type, "tracing-ms");
	struct foreign_event event, cpu;
	const char *families = x->f.c->selection.families;
	uint64_t scale, cpu_scale;
	bool wanted = foreign_event_of(&x->f.events, event_of(x, &unit), &unit, families, &event, &scale);
	bool cpu_wanted = !x->ours && x->cpu_scale && x->cpu.count &&
			  foreign_event_of(&x->f.events, "cpu", &ns, families, &cpu, &cpu_scale);
	size_t i;

	for (i = 0; i < count_of(x, SAMPLE_STACK) && !x->f.no_memory && !x->f.c->aggregate.no_memory; i++) {
		uint32_t stack = at(x, SAMPLE_STACK, (uint32_t)i), node;
		long double weight = x->weights.count ? real_at(&x->weights, i) : 1;
		uint64_t samples = counted ? foreign_json_scaled(&x->f, weight, 1) : 1, cpu_time;

		put_time(x, i);
		if (stack == FOREIGN_JSON_NULL) /* nothing was there */
			continue;
		node = stack < x->nodes.count ? x->nodes.items[stack] : FOREIGN_TREE_ROOT;
		x->f.lost += stack >= x->nodes.count;
		x->f.alone += x->weights.count && i >= x->weights.count;
		if (counted && x->interval > 0)
			weight *= x->interval;
		if (wanted)
			count(x, &event, node, samples, foreign_json_scaled(&x->f, weight, scale));
		cpu_time = cpu_wanted ? foreign_json_scaled(&x->f, real_at(&x->cpu, i), x->cpu_scale) : 0;
		if (cpu_time)
			count(x, &cpu, node, 1, cpu_time);
	}
}

static void clear_thread(struct firefox *x)
{
	unsigned i;

	for (i = 0; i < COLUMNS; i++)
		x->own.columns[i].count = 0;
	x->own.texts.count = x->weights.count = x->cpu.count = x->times.count = x->deltas.count = 0;
	x->time = 0;
	x->name.length = x->weight_type.length = x->thread_process.length = 0;
	x->tid = 0;
}

static void read_thread(struct firefox *x)
{
	const char *key;

	clear_thread(x);
	if (!json_open(&x->f.j, '{'))
		return;
	while (foreign_json_goes_on(&x->f) && (key = json_key(&x->f.j))) {
		if (strcmp(key, "name") == 0)
			firefox_keep_text(x, &x->name);
		else if (x->ours && strcmp(key, "processName") == 0)
			firefox_keep_text(x, &x->thread_process);
		else if (x->ours && strcmp(key, "pid") == 0)
			x->f.c->info.pid = (int)(foreign_json_id(&x->f) & INT32_MAX);
		else if (strcmp(key, "tid") == 0)
			x->tid = foreign_json_id(&x->f);
		else if (!firefox_read_tables(x, &x->own, key))
			json_skip(&x->f.j);
	}
	if (!foreign_json_goes_on(&x->f)) /* its tables are not all there */
		return;
	foreign_labels_begin(&x->f.labels);
	if (!x->ours || !is(&x->name, ALL_THREADS))
		buffer_append(&x->f.labels.name, x->name.length ? x->name.data : "", x->name.length);
	x->f.labels.tid = x->tid;
	make_nodes(x);
	add_samples(x);
}

/* ---- the whole ---- */

static void read_units(struct firefox *x)
{
	struct buffer unit = BUFFER_INIT;
	const char *key;

	if (!json_open(&x->f.j, '{'))
		return;
	while (foreign_json_goes_on(&x->f) && (key = json_key(&x->f.j))) {
		if (strcmp(key, "threadCPUDelta") != 0) {
			json_skip(&x->f.j);
			continue;
		}
		firefox_keep_text(x, &unit);
		x->cpu_scale = is(&unit, "ns") ? 1 : is(&unit, "\xc2\xb5s") || is(&unit, "us") ? 1000 : 0;
	}
	buffer_free(&unit);
}

static void read_origin(struct firefox *x)
{
	firefox_keep_text(x, &x->origin);
	x->ours = x->origin.length > strlen(OURS) && memcmp(x->origin.data, OURS, strlen(OURS)) == 0;
}

static void read_meta(struct firefox *x)
{
	const char *key;

	if (!json_open(&x->f.j, '{'))
		return;
	while (foreign_json_goes_on(&x->f) && (key = json_key(&x->f.j))) {
		if (strcmp(key, "interval") == 0)
			x->interval = firefox_read_real(x);
		else if (strcmp(key, "startTime") == 0)
			x->started = firefox_read_real(x);
		else if (strcmp(key, "sampleUnits") == 0 && json_peek(&x->f.j) == '{')
			read_units(x);
		else if (strcmp(key, "importedFrom") == 0)
			read_origin(x);
		else if (strcmp(key, "product") == 0)
			firefox_keep_text(x, &x->process);
		else
			json_skip(&x->f.j);
	}
}

static void read_libs(struct firefox *x)
{
	const char *key;

	if (!json_open(&x->f.j, '['))
		return;
	while (foreign_json_goes_on(&x->f) && json_item(&x->f.j)) {
		uint32_t name = 0;

		json_open(&x->f.j, '{');
		while (foreign_json_goes_on(&x->f) && (key = json_key(&x->f.j))) {
			if (strcmp(key, "name") == 0 && json_peek(&x->f.j) == '"') {
				size_t length;
				const char *text = json_string(&x->f.j, &length);

				name = strings_add(&x->f.c->aggregate.strings, text, length);
			} else {
				json_skip(&x->f.j);
			}
		}
		foreign_json_push(&x->f, &x->libs, name);
	}
}

static void read_shared(struct firefox *x)
{
	const char *key;

	if (!json_open(&x->f.j, '{'))
		return;
	while (foreign_json_goes_on(&x->f) && (key = json_key(&x->f.j)))
		if (!firefox_read_tables(x, &x->shared, key))
			json_skip(&x->f.j);
}

static void read_threads(struct firefox *x)
{
	if (!json_open(&x->f.j, '['))
		return;
	while (foreign_json_goes_on(&x->f) && json_item(&x->f.j))
		read_thread(x);
}

static void pass(struct firefox *x, bool threads);

/* Other processes of Firefox: each is such a file; JSON is not nested deeply. */
static void read_processes(struct firefox *x)
{
	if (!json_open(&x->f.j, '['))
		return;
	while (foreign_json_goes_on(&x->f) && json_item(&x->f.j))
		pass(x, true);
}

/* One pass: all but the threads, or the threads alone. */
static void pass(struct firefox *x, bool threads)
{
	const char *key;

	if (!json_open(&x->f.j, '{'))
		return;
	while (foreign_json_goes_on(&x->f) && (key = json_key(&x->f.j))) {
		if (threads ? strcmp(key, "threads") == 0 : strcmp(key, "meta") == 0)
			threads ? read_threads(x) : read_meta(x);
		else if (threads && strcmp(key, "processes") == 0 && json_peek(&x->f.j) == '[')
			read_processes(x);
		else if (!threads && strcmp(key, "libs") == 0)
			read_libs(x);
		else if (!threads && strcmp(key, "shared") == 0)
			read_shared(x);
		else
			json_skip(&x->f.j);
	}
}

static void free_tables(struct firefox_tables *t)
{
	unsigned i;

	for (i = 0; i < COLUMNS; i++)
		free(t->columns[i].items);
	free(t->texts.items);
}

int firefox_read(struct conversion *c, struct error *err)
{
	struct firefox x = {.tid = 0};
	int rc;

	foreign_json_begin(&x.f, c);
	pass(&x, false);
	if (x.process.length)
		c->info.main_class = strings_add(&c->aggregate.strings, x.process.data, x.process.length);
	if (x.started > 0 && x.started < 8e12L)
		c->info.start_ns = c->info.end_ns = (uint64_t)(x.started * NS_PER_MS);
	if (!x.f.no_memory && !c->aggregate.no_memory) {
		foreign_json_again(&x.f);
		pass(&x, true);
	}
	c->info.end_ns = c->info.start_ns + (uint64_t)(x.last * NS_PER_MS);
	rc = foreign_json_end(&x.f, "the Firefox Profiler", err);
	free_tables(&x.own);
	free_tables(&x.shared);
	free(x.libs.items);
	free(x.frames.items);
	free(x.nodes.items);
	free(x.weights.items);
	free(x.cpu.items);
	free(x.times.items);
	free(x.deltas.items);
	buffer_free(&x.name);
	buffer_free(&x.weight_type);
	buffer_free(&x.process);
	buffer_free(&x.thread_process);
	buffer_free(&x.origin);
	return rc;
}

/*
 * saved_marks.c - the member `marks` of a result in JSON (views/marks_json.c), back into the marks of a recording.
 *
 * It is believed only as a whole, and left out where a clock has jumped by years. Of a part of the time (--from, --to)
 * those that are told one by one are taken as a recording's are. Of the others it is known in which part of the whole
 * time they began, and how long all of their name lasted: their times are in proportion.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/wide.h"
#include "profile/readers/saved/saved_rows.h"

#define PLACE_NONE UINT32_MAX
/* More than any result has: what is looked up of each of them is looked up so often. */
#define NAMES_MOST 1024
#define MARKS_MOST 65536

struct pair {
	uint64_t number, count;
};

struct said_name {
	enum mark_kind kind;    /* MARK_KINDS: a newer version's */
	uint32_t text;
	uint64_t count, sum, longest;
	size_t parts, parts_end, steps, steps_end; /* in table.pairs */
	bool estimated;
	uint64_t kept, kept_sum, unkept; /* of the marks that are told one by one: how many, how long; count - kept */
};

enum column { AT, DURATION, NAME, THREAD, GC, COLUMNS };

struct table {
	uint64_t duration, count;
	VECTOR(struct said_name) names;
	VECTOR(struct pair) pairs;
	VECTOR(uint32_t) threads;     /* of the aggregate */
	VECTOR(struct kept_gc) gcs;
	VECTOR(struct kept_mark) marks; /* name, thread and gc as they stand there */
	VECTOR(struct other_event) events;
	struct saved_rows rows;
	size_t lengths[COLUMNS];
	bool has[COLUMNS], has_kept;
	bool too_long;                /* of more time than a result can be of */
};

/* What of the file's time is wanted, ns since its start. */
struct range {
	uint64_t from, to;
};

static const char *const columns[COLUMNS] = {"at_ns", "duration_ns", "name", "thread", "gc"};

static void wrong(struct saved *s, const char *what)
{
	saved_wrong(s, "marks", what);
}

static uint32_t text(struct saved *s)
{
	size_t length;
	const char *text = json_string(&s->j, &length);

	return strings_add(&s->aggregate->strings, text, length);
}

static bool read_bool(struct saved *s)
{
	bool value = json_peek(&s->j) == 't';

	json_skip(&s->j);
	return value;
}

/* ---- what stands there ---- */

/* An array of numbers by two; where it begins in T's pairs, up to *END. */
static size_t read_pairs(struct saved *s, struct table *t, size_t *end)
{
	size_t begin = t->pairs.count;
	struct pair *pair;

	*end = begin;
	if (!json_open(&s->j, '['))
		return begin;
	while (json_item(&s->j) && saved_goes_on(s)) {
		pair = VECTOR_PUSH(&t->pairs);
		s->no_memory |= !pair;
		if (!pair)
			break;
		pair->number = json_number(&s->j);
		if (!json_item(&s->j)) {
			wrong(s, "numbers that are no pairs");
			break;
		}
		pair->count = json_number(&s->j);
	}
	*end = t->pairs.count;
	return begin;
}

static void read_name(struct saved *s, struct table *t)
{
	struct said_name *kept = VECTOR_PUSH(&t->names), name = {.kind = MARK_KINDS};
	const char *key;

	s->no_memory |= !kept;
	if (!kept || !json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j)))
		if (strcmp(key, "kind") == 0)
			name.kind = mark_kind_by_word(json_string(&s->j, NULL));
		else if (strcmp(key, "name") == 0)
			name.text = text(s);
		else if (strcmp(key, "parts") == 0)
			name.parts = read_pairs(s, t, &name.parts_end);
		else if (strcmp(key, "lengths") == 0)
			name.steps = read_pairs(s, t, &name.steps_end);
		else if (strcmp(key, "estimated") == 0)
			name.estimated = read_bool(s);
		else if (!json_take_numbers(&s->j, key, {"count", &name.count}, {"sum_ns", &name.sum},
					    {"longest_ns", &name.longest}))
			json_skip(&s->j);
	*kept = name;
}

static void read_thread(struct saved *s, struct table *t)
{
	uint32_t words[READ_THREAD_WORDS] = {0}, *kept = VECTOR_PUSH(&t->threads);
	uint64_t tid = 0;
	const char *key;

	s->no_memory |= !kept;
	if (!kept || !json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j)))
		if (strcmp(key, "name") == 0)
			words[READ_THREAD_NAME] = text(s);
		else if (!json_take_numbers(&s->j, key, {"tid", &tid}))
			json_skip(&s->j);
	words[READ_THREAD_TID] = (uint32_t)tid;
	*kept = lists_add(&s->aggregate->threads, words, READ_THREAD_WORDS);
	s->no_memory |= *kept == LISTS_FAILED;
}

static void read_gc(struct saved *s, struct table *t)
{
	struct kept_gc *kept = VECTOR_PUSH(&t->gcs), gc = {.id = t->gcs.count - 1};
	const char *key;

	s->no_memory |= !kept;
	if (!kept || !json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j)))
		if (strcmp(key, "name") == 0)
			gc.name = text(s);
		else if (strcmp(key, "cause") == 0)
			gc.cause = text(s);
		else
			json_skip(&s->j);
	*kept = gc;
}

static void read_event(struct saved *s, struct table *t)
{
	struct other_event *kept = VECTOR_PUSH(&t->events), event = {.type = 0};
	uint64_t first = 0, last = 0;
	const char *key;

	s->no_memory |= !kept;
	if (!kept || !json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j))) {
		if (strcmp(key, "type") == 0) {
			event.type = text(s);
		} else if (strcmp(key, "field") == 0) {
			event.number = text(s);
		} else if (strcmp(key, "estimated") == 0) {
			event.estimated = read_bool(s);
		} else if (!json_take_numbers(&s->j, key, {"count", &event.count}, {"time_ns", &event.time},
					      {"longest_ns", &event.longest}, {"first_ns", &first}, {"last_ns", &last},
					      {"bytes", &event.number_sum}, {"most_bytes", &event.number_most})) {
			json_skip(&s->j);
		}
	}
	if (first > last)
		wrong(s, "events that end before they begin");
	t->too_long |= last > SAVED_LONGEST;
	event.first = (int64_t)first;
	event.last = (int64_t)last;
	*kept = event;
}

static void put(struct saved *s, struct table *t, struct kept_mark *mark, enum column column)
{
	bool none = column >= THREAD && json_peek(&s->j) == 'n';
	uint64_t value = 0;

	if (none)
		json_skip(&s->j);
	else
		value = json_number(&s->j);
	t->too_long |= column == AT && value > SAVED_LONGEST;
	if (column >= NAME && value >= UINT32_MAX)
		wrong(s, "a number beyond any result");
	if (column == AT)
		mark->at = (int64_t)value;
	else if (column == DURATION)
		mark->duration = value;
	else if (column == NAME)
		mark->name = (uint32_t)value;
	else if (column == THREAD)
		mark->thread = none ? PLACE_NONE : (uint32_t)value;
	else
		mark->gc = none ? 0 : value + 1;
}

static void read_item(struct saved *s, void *table, size_t i, unsigned column)
{
	struct table *t = table;
	struct kept_mark *mark = i < t->marks.count ? &t->marks.items[i] : VECTOR_PUSH(&t->marks);

	s->no_memory |= !mark;
	if (mark)
		put(s, t, mark, column);
}

static void read_kept(struct saved *s, struct table *t)
{
	const char *key;
	unsigned column;

	if (t->has_kept)
		wrong(s, "marks twice");
	t->has_kept = true;
	if (!json_open(&s->j, '{'))
		return;
	while (saved_goes_on(s) && (key = json_key(&s->j))) {
		column = saved_column_named(columns, COLUMNS, key);
		if (column < COLUMNS)
			t->lengths[column] = saved_column(s, "marks", &t->has[column], read_item, t, column);
		else if (!json_take_numbers(&s->j, key, {"count", &t->count}))
			json_skip(&s->j);
	}
}

static void read_list(struct saved *s, struct table *t, void (*read)(struct saved *s, struct table *t))
{
	if (json_open(&s->j, '['))
		while (json_item(&s->j) && saved_goes_on(s))
			read(s, t);
}

static void read_members(struct saved *s, struct table *t)
{
	const char *key;

	if (!json_open(&s->j, '{'))
		return;
	while (saved_goes_on(s) && (key = json_key(&s->j)))
		if (strcmp(key, "names") == 0)
			read_list(s, t, read_name);
		else if (strcmp(key, "threads") == 0)
			read_list(s, t, read_thread);
		else if (strcmp(key, "gcs") == 0)
			read_list(s, t, read_gc);
		else if (strcmp(key, "events") == 0)
			read_list(s, t, read_event);
		else if (strcmp(key, "rows") == 0)
			saved_rows_read(s, &t->rows);
		else if (strcmp(key, "kept") == 0)
			read_kept(s, t);
		else if (!json_take_numbers(&s->j, key, {"duration_ns", &t->duration}))
			json_skip(&s->j);
}

/* ---- whether it can be ---- */

static void check_mark(struct saved *s, struct table *t, const struct kept_mark *mark)
{
	struct said_name *name = mark->name < t->names.count ? &t->names.items[mark->name] : NULL;

	if (!name)
		wrong(s, "a name that is not there");
	if (mark->thread != PLACE_NONE && mark->thread >= t->threads.count)
		wrong(s, "a thread that is not there");
	if (mark->gc > t->gcs.count)
		wrong(s, "a collection that is not there");
	if (!name)
		return;
	name->kept++;
	name->kept_sum = wide_add(name->kept_sum, mark->duration);
}

/* Whether the pairs from I up to END have numbers below LIMIT (0: any); *SUM is what they come to. */
static void check_pairs(struct saved *s, const struct table *t, size_t i, size_t end, uint64_t limit, uint64_t *sum)
{
	for (*sum = 0; i < end; i++) {
		if ((limit && t->pairs.items[i].number >= limit) || t->pairs.items[i].count > UINT32_MAX)
			wrong(s, "a number beyond any result");
		*sum = wide_add(*sum, t->pairs.items[i].count);
	}
}

static void check_name(struct saved *s, const struct table *t, struct said_name *name)
{
	uint64_t parts, steps;

	check_pairs(s, t, name->parts, name->parts_end, PROFILE_MARK_PARTS, &parts);
	check_pairs(s, t, name->steps, name->steps_end, 0, &steps);
	name->unkept = parts;
	if (name->steps_end - name->steps > PROFILE_MARK_STEPS || wide_add(parts, name->kept) != name->count ||
	    steps > name->count)
		wrong(s, "counts that are not those of its marks");
}

static void check(struct saved *s, struct table *t)
{
	int64_t before = 0;
	size_t i;

	if (t->names.count > NAMES_MOST || t->marks.count > MARKS_MOST)
		wrong(s, "more names or marks than any result");
	for (i = 0; i < COLUMNS; i++)
		if (t->has_kept && t->lengths[i] != t->count)
			wrong(s, "columns that are not as long as `count` says");
	for (i = 0; i < t->marks.count && saved_goes_on(s); i++) {
		if (t->marks.items[i].at < before)
			wrong(s, "times in no order");
		before = t->marks.items[i].at;
		check_mark(s, t, &t->marks.items[i]);
	}
	for (i = 0; i < t->names.count && saved_goes_on(s); i++)
		check_name(s, t, &t->names.items[i]);
}

/* Whether they are of more time than a result can be of, which is said then. */
static bool is_too_long(const struct saved *s, const struct table *t)
{
	if (!t->too_long && !t->rows.too_long && t->duration <= SAVED_LONGEST)
		return false;
	buffer_printf(s->notes, "pauses, spans and other events are left out, as they would be in over ten years\n");
	return true;
}

/* ---- what it comes to ---- */

/* MARK as its aggregate has it; what of it lies in R, from its begin on. False: nothing does. */
static bool take_part(const struct table *t, const struct range *r, struct kept_mark *mark)
{
	uint64_t at = (uint64_t)mark->at, end = wide_add(at, mark->duration);

	if (at >= r->to || (mark->duration ? end <= r->from : at < r->from))
		return false;
	mark->at = (int64_t)(MAX(at, r->from) - r->from);
	mark->duration = MIN(end, r->to) - MAX(at, r->from);
	mark->thread = mark->thread == PLACE_NONE ? LISTS_FAILED : t->threads.items[mark->thread];
	return true;
}

/* Those of NAME in a part of the time are estimated, but where all of them are told one by one. */
static void estimate(struct kept_marks *to, const struct said_name *name)
{
	struct kept_mark_name *in = kept_marks_said(to, name->kind, name->text, 0, 0, 0);

	if (in)
		in->estimated |= name->unkept || name->estimated;
}

static void add_marks(struct saved *s, const struct table *t, const struct range *r)
{
	struct kept_marks *to = &s->aggregate->marks;
	size_t i;

	for (i = 0; i < t->marks.count && !to->failed; i++) {
		struct kept_mark mark = t->marks.items[i];
		const struct said_name *name = &t->names.items[mark.name];

		if (name->kind == MARK_KINDS || (r && !take_part(t, r, &mark)))
			continue;
		if (r) {
			kept_marks_add(to, name->kind, name->text, &mark);
			estimate(to, name);
			continue;
		}
		mark.thread = mark.thread == PLACE_NONE ? LISTS_FAILED : t->threads.items[mark.thread];
		kept_marks_put(to, name->kind, name->text, &mark);
	}
}

/* What NAME says of all its marks. */
static void add_name(struct saved *s, const struct table *t, const struct said_name *name)
{
	struct kept_marks *to = &s->aggregate->marks;
	struct kept_mark_name *in = kept_marks_said(to, name->kind, name->text, name->count, name->sum, name->longest);
	size_t i;

	if (in)
		in->estimated |= name->estimated;
	for (i = name->parts; in && i < name->parts_end; i++)
		kept_mark_count(&to->names, in, (unsigned)t->pairs.items[i].number, (uint32_t)t->pairs.items[i].count);
	for (i = name->steps; in && i < name->steps_end; i++)
		kept_mark_count(&to->names, in, KEPT_MARK_STEP + mark_step(t->pairs.items[i].number),
				(uint32_t)t->pairs.items[i].count);
}

/* Those of NAME's marks that are not told one by one and began in R, by their part of it. How many they are. */
static uint64_t add_parts(struct kept_marks *to, const struct table *t, const struct said_name *name,
			  const struct range *r)
{
	uint64_t length = MAX(r->to - r->from, 1ull), inside = 0;
	struct kept_mark_name *in;
	size_t i;

	for (i = name->parts; i < name->parts_end; i++) {
		/* the middle of the part */
		const struct pair *pair = &t->pairs.items[i];
		uint64_t at = wide_scale(t->duration, 2 * pair->number + 1, 0, 2ull * PROFILE_MARK_PARTS);

		if (at < r->from || at >= r->to)
			continue;
		in = kept_marks_said(to, name->kind, name->text, pair->count, 0, 0);
		if (!in)
			return 0;
		kept_mark_count(&to->names, in, (unsigned)wide_scale(at - r->from, PROFILE_MARK_PARTS, 0, length),
				(uint32_t)pair->count);
		inside += pair->count;
	}
	return inside;
}

/* How long marks of NAME last that are told one by one, by step. */
static void count_kept(const struct table *t, const struct said_name *name, uint32_t kept[PROFILE_MARK_STEPS])
{
	size_t i;

	memset(kept, 0, PROFILE_MARK_STEPS * sizeof(*kept));
	for (i = 0; i < t->marks.count; i++)
		if (&t->names.items[t->marks.items[i].name] == name &&
		    (t->marks.items[i].duration || name->kind != MARK_KIND_EVENT))
			kept[mark_step(t->marks.items[i].duration)]++;
}

/* What is known of the lengths of NAME's others goes to those INSIDE the part of the time in proportion. */
static void add_lengths(struct kept_marks *to, const struct table *t, const struct said_name *name, uint64_t inside)
{
	struct kept_mark_name *in = kept_marks_said(to, name->kind, name->text, 0, 0, 0);
	uint64_t done = 0, so_far = 0, longest = 0, share;
	uint32_t kept[PROFILE_MARK_STEPS];
	size_t i;

	count_kept(t, name, kept);
	/* what is rounded of one length goes on to the next */
	for (i = name->steps; in && i < name->steps_end; i++) {
		const struct pair *pair = &t->pairs.items[i];
		unsigned step = mark_step(pair->number);

		so_far = wide_add(so_far, pair->count - MIN(pair->count, (uint64_t)kept[step]));
		share = MIN(wide_scale(so_far, inside, 0, name->unkept), inside);
		if (share <= done)
			continue;
		longest = MAX(longest, pair->number);
		kept_mark_count(&to->names, in, KEPT_MARK_STEP + step, (uint32_t)(share - done));
		done = share;
	}
	kept_marks_said(to, name->kind, name->text, 0,
			wide_scale(name->sum - MIN(name->sum, name->kept_sum), inside, 0, name->unkept), longest);
	estimate(to, name);
}

static void add_events(struct saved *s, const struct table *t, const struct range *r)
{
	struct kept_marks *to = &s->aggregate->marks;
	size_t i;

	for (i = 0; i < t->events.count && !to->failed; i++) {
		struct other_event event = t->events.items[i];
		bool begins = r && (uint64_t)event.first < r->from, ends = r && (uint64_t)event.last >= r->to;

		if (r && ((uint64_t)event.last < r->from || (uint64_t)event.first >= r->to))
			continue;
		to->types_cut += begins || ends;
		if (begins || ends)
			continue;
		event.first -= r ? (int64_t)r->from : 0;
		event.last -= r ? (int64_t)r->from : 0;
		kept_marks_event(to, &event);
	}
}

static void add(struct saved *s, const struct table *t)
{
	struct kept_marks *to = &s->aggregate->marks;
	struct range range, *r = saved_range(s, &range.from, &range.to) ? &range : NULL;
	size_t i;

	to->from = 0;
	to->to = (int64_t)(r ? r->to - r->from : t->duration);
	for (i = 0; i < t->names.count && !to->failed; i++)
		if (t->names.items[i].kind != MARK_KINDS && !r)
			add_name(s, t, &t->names.items[i]);
	add_marks(s, t, r);
	for (i = 0; r && i < t->names.count && !to->failed; i++)
		if (t->names.items[i].kind != MARK_KINDS && t->names.items[i].unkept) {
			uint64_t inside = add_parts(to, t, &t->names.items[i], r);

			if (inside)
				add_lengths(to, t, &t->names.items[i], inside);
		}
	for (i = 0; i < t->gcs.count && !to->failed; i++)
		kept_marks_gc(to, &t->gcs.items[i]);
	add_events(s, t, r);
	saved_rows_add(s, &t->rows, t->duration, r ? r->from : 0, r ? r->to : t->duration);
	s->no_memory |= to->failed || to->names.failed;
}

void saved_marks(struct saved *s)
{
	struct table t = {.duration = 0};

	/* of several results the first has them */
	if (!s->aggregate->marks.wanted || s->has_marks) {
		json_skip(&s->j);
		return;
	}
	s->has_marks = true;
	read_members(s, &t);
	if (saved_goes_on(s) && !is_too_long(s, &t)) {
		check(s, &t);
		if (saved_goes_on(s))
			add(s, &t);
	}
	free(t.names.items);
	free(t.pairs.items);
	free(t.threads.items);
	free(t.gcs.items);
	free(t.marks.items);
	free(t.events.items);
	saved_rows_free(&t.rows);
}

/*
 * chunk_marks.c - which events are marks, and of which name.
 *
 * The GC tells of pauses and, behind them, of the collection that they were part of. A safepoint's begin lasts until
 * all threads stand still. Of the program's own types each event that has a length is a span, others are moments.
 */
#include "profile/readers/jfr/chunk_marks.h"

#include <errno.h>
#include <string.h>

#include "common/base/wide.h"
#include "profile/readers/jfr/event_handlers.h"

static const struct {
	const char *type;
	enum mark_kind kind;
	const char *name; /* the field that says it; NULL: the type's own */
} known[] = {
	{"jdk.GCPhasePause", MARK_KIND_PAUSE, "name"},
	{"jdk.GarbageCollection", MARK_KIND_GC, "name"},
	{"jdk.SafepointBegin", MARK_KIND_SAFEPOINT, NULL},
	{"jdk.ExecuteVMOperation", MARK_KIND_OPERATION, "operation"},
	{"profiler.Span", MARK_KIND_SPAN, "tag"},
	{"profiler.Window", MARK_KIND_SPAN, NULL},
	{"profiler.UserEvent", MARK_KIND_EVENT, "type"},
};

/* What the JVM reports of itself again and again. */
enum row_event { ROW_NONE, ROW_CPU_LOAD, ROW_CPUS, ROW_HEAP, ROW_DEOPT, ROW_CLASS_LOAD, ROW_CLASSES };
static const struct {
	const char *type;
	enum row_event row;
	const char *fields[3]; /* → SLOT_A and those behind it */
} row_types[] = {
	{"jdk.CPULoad", ROW_CPU_LOAD, {"jvmUser", "jvmSystem", "machineTotal"}},
	{"jdk.CPUInformation", ROW_CPUS, {"hwThreads"}},
	{"jdk.GCHeapSummary", ROW_HEAP, {NULL}},
	{"jdk.Deoptimization", ROW_DEOPT, {NULL}},
	{"jdk.ClassLoad", ROW_CLASS_LOAD, {NULL}},
	{"jdk.ClassLoadingStatistics", ROW_CLASSES, {"loadedClassCount"}},
};

/* Types that no program publishes. */
static bool is_of_jvm(const char *type)
{
	static const char *const prefixes[] = {"jdk.", "profiler.", "jstrobe.", "com.oracle.", "com.sun.", "java.",
					       "sun."};
	size_t i;

	for (i = 0; i < ARRAY_LEN(prefixes); i++)
		if (strncmp(type, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

/* The first field of TYPE that counts bytes; NULL: none does. */
static const char *bytes_field(const struct metadata *m, uint32_t type)
{
	const struct metadata_type *t = &m->types.items[type];
	size_t low = 0, high = m->notes.count, middle;

	/* notes are in the order of their fields */
	while (low < high) {
		middle = low + (high - low) / 2;
		if (m->notes.items[middle].field < t->first)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < m->notes.count && m->notes.items[low].field - t->first < t->count; low++) {
		const struct metadata_note *n = &m->notes.items[low];
		uint32_t by = metadata_by_id(m, n->type_id);
		const struct metadata_field *f = by == METADATA_NONE ? NULL : &m->fields.items[n->field];

		if (f && !f->pooled && !f->array && strcmp(m->types.items[by].name, "jdk.jfr.DataAmount") == 0 &&
		    strcmp(n->value, "BYTES") == 0)
			return f->name;
	}
	return NULL;
}

static uint32_t string(struct chunk_handlers *w, const char *text)
{
	return strings_add(&w->aggregate->strings, text, strlen(text));
}

/* FIELD of TYPE is a text, or a key of constants that have one; *POOL is their type. */
static bool has_text(struct chunk_handlers *w, uint32_t type, const char *field, uint32_t *pool)
{
	const struct metadata_field *f = metadata_field_of(&w->metadata, type, field);

	*pool = METADATA_NONE;
	if (!f || f->array || f->type == METADATA_NONE)
		return false;
	if (!f->pooled)
		return f->type == w->names.string_type;
	*pool = f->type;
	names_want(&w->names, f->type);
	return true;
}

static bool is_number(const struct chunk_handlers *w, uint32_t type, const char *field)
{
	const struct metadata_field *f = metadata_field_of(&w->metadata, type, field);

	return f && !f->pooled && !f->array;
}

/* Fields of TYPE, NUMBER is that in bytes, for a row go to WANTED[COUNT] and behind it; how many there are then. */
static size_t want_row(struct chunk_handlers *w, struct chunk_others *o, uint32_t type, const char *number,
		       struct wanted *wanted, size_t count)
{
	const char *name = w->metadata.types.items[type].name;
	size_t i = 0, k;

	while (i < ARRAY_LEN(row_types) && strcmp(row_types[i].type, name) != 0)
		i++;
	if (i == ARRAY_LEN(row_types))
		return count;
	o->row = (uint8_t)row_types[i].row;
	for (k = 0; k < ARRAY_LEN(row_types[i].fields) && row_types[i].fields[k]; k++) {
		if (!is_number(w, type, row_types[i].fields[k]))
			o->row = ROW_NONE;
		wanted[count++] = (struct wanted){row_types[i].fields[k], (uint8_t)(SLOT_A + k)};
	}
	if (o->row != ROW_HEAP)
		return count;
	if (!number || strcmp(number, "heapUsed") != 0 || !has_text(w, type, "when", &o->name_type))
		o->row = ROW_NONE;
	wanted[count] = (struct wanted){"when", SLOT_OBJECT};
	return count + (o->row != ROW_NONE);
}

static int add_type(struct chunk_handlers *w, uint32_t type)
{
	const struct metadata_type *t = &w->metadata.types.items[type];
	struct wanted wanted[12] = {{"startTime", SLOT_TIME}};
	struct chunk_others *o = VECTOR_PUSH(&w->others);
	const char *number = bytes_field(&w->metadata, type), *name = NULL;
	const struct metadata_field *f;
	struct event_handler *handler;
	size_t count = 1, i;

	if (!o)
		return -ENOMEM;
	*o = (struct chunk_others){.kind = is_of_jvm(t->name) ? MARK_KINDS : MARK_KIND_EVENT, .type_id = t->id};
	for (i = 0; i < ARRAY_LEN(known); i++)
		if (strcmp(known[i].type, t->name) == 0) {
			o->kind = known[i].kind;
			name = known[i].name;
		}
	o->type = string(w, t->name);
	if (is_number(w, type, "duration")) {
		o->unit = metadata_field_of(&w->metadata, type, "duration")->unit;
		o->has_time = true;
		wanted[count++] = (struct wanted){"duration", SLOT_WEIGHT};
	}
	if (number) {
		o->number = string(w, number);
		wanted[count++] = (struct wanted){number, SLOT_SIZE};
	}
	if (o->kind == MARK_KINDS)
		count = want_row(w, o, type, number, wanted, count);
	if (o->kind != MARK_KINDS) {
		f = metadata_field_of(&w->metadata, type, "eventThread");
		o->has_thread = f && f->pooled && !f->array && f->type == w->names.thread_type;
		o->has_name = has_text(w, type, name, &o->name_type);
		o->has_cause = has_text(w, type, "cause", &o->cause_type);
	}
	if (o->has_thread)
		wanted[count++] = (struct wanted){"eventThread", SLOT_THREAD};
	if (o->has_name)
		wanted[count++] = (struct wanted){name, SLOT_OBJECT};
	if (o->kind == MARK_KIND_PAUSE || o->kind == MARK_KIND_GC)
		wanted[count++] = (struct wanted){"gcId", SLOT_A};
	if (o->kind == MARK_KIND_GC && o->has_cause)
		wanted[count++] = (struct wanted){"cause", SLOT_B};
	if (o->kind == MARK_KIND_GC && is_number(w, type, "sumOfPauses")) {
		o->pauses_unit = metadata_field_of(&w->metadata, type, "sumOfPauses")->unit;
		wanted[count++] = (struct wanted){"sumOfPauses", SLOT_D};
	}
	if (o->kind == MARK_KIND_OPERATION)
		wanted[count++] = (struct wanted){"safepoint", SLOT_C};
	handler = event_handlers_add(w, type, HANDLE_MARK);
	if (!handler)
		return -ENOMEM;
	handler->counts = (uint32_t)w->others.count - 1;
	handler->lasts = o->has_time;
	handler->unit = o->unit;
	handler->layout = field_layout_up_to(&w->layouts, type, wanted, count);
	if (o->kind == MARK_KINDS && o->row == ROW_NONE && t->id < ARRAY_LEN(w->by_other_type)) {
		w->by_other_type[t->id] = w->by_type[t->id];
		w->by_type[t->id] = 0;
	}
	return 0;
}

int chunk_marks_learn(struct chunk_handlers *w)
{
	uint64_t left_out = 0;
	uint32_t i;
	int rc = 0;

	w->others.count = 0;
	w->others_read = w->selection->in_range ? UINT32_MAX : OTHERS_READ;
	memset(w->by_other_type, 0, sizeof(w->by_other_type));
	w->sample_handlers = w->handlers.count;
	if (!w->aggregate->marks.wanted || (w->selection->spans && w->selection->spans->noting) ||
	    (w->selection->left && w->selection->left->noting))
		return 0;
	for (i = 0; rc == 0 && i < w->metadata.types.count; i++) {
		const struct metadata_type *t = &w->metadata.types.items[i];

		/* what is behind a sample, or part of how it is told, is no event of its own */
		if (!t->event || event_handlers_find(w, t->id) || !is_number(w, i, "startTime") ||
		    strncmp(t->name, "jstrobe.", 8) == 0)
			continue;
		if (w->others.count < OTHER_EVENTS_MOST)
			rc = add_type(w, i);
		else
			left_out++;
	}
	w->aggregate->marks.types_left_out = MAX(w->aggregate->marks.types_left_out, left_out);
	return rc;
}

/* ---- events ---- */

void chunk_marks_begin(struct chunk_handlers *w)
{
	size_t i;

	memset(w->counted, 0, sizeof(w->counted));
	for (i = 0; i < w->others.count; i++) {
		struct chunk_others *o = &w->others.items[i];

		o->count = o->read = o->time = o->longest = o->number_sum = o->number_most = 0;
		o->stands_for = 1;
		o->estimated = false;
		o->name.string = 0;
		if (o->type_id < ARRAY_LEN(w->counted))
			w->counted[o->type_id].until_read = 1;
	}
}

void chunk_marks_read(struct chunk_handlers *w, const struct chunk_event *e)
{
	uint16_t handler = w->by_other_type[e->type];
	struct chunk_others *o;

	if (!handler)
		return;
	handler_take(w, &w->handlers.items[handler - 1], e);
	o = &w->others.items[w->handlers.items[handler - 1].counts];
	o->read++;
	if (o->has_time || o->number || w->selection->in_range)
		o->stands_for = o->read < w->others_read ? 1 : OTHERS_EVERY;
	else
		o->stands_for = UINT32_MAX;
	w->counted[e->type].until_read = (uint32_t)o->stands_for;
}

static uint64_t ns_of(const struct chunk_handlers *w, enum metadata_unit unit, uint64_t value)
{
	if ((int64_t)value < 0)
		return 0;
	return unit == UNIT_TICKS ? wide_scale(value, NS_PER_S, 0, MAX(w->chunk->ticks_per_second, 1)) :
	       wide_scale(value, metadata_unit_ns(unit), 0, 1);
}

static uint32_t text_of(struct chunk_handlers *w, uint32_t pool, uint64_t slot)
{
	if (pool != METADATA_NONE)
		return names_text(&w->names, pool, slot);
	return slot ? names_string(&w->names, slot) : 0;
}

/* The name that SLOT has, which mostly is that of the event of the type before. */
static uint32_t name_of(struct chunk_handlers *w, struct chunk_others *o, uint64_t slot)
{
	bool pooled = o->name_type != METADATA_NONE;
	struct reader r = names_reader(&w->names, pooled ? 0 : slot);
	const char *text = NULL;
	size_t length = 0;

	if (!pooled && !text_plain(&r, &text, &length)) {
		o->name.string = 0;
		return text_of(w, o->name_type, slot);
	}
	if (!o->name.string || (pooled ? slot != o->name.key :
				length != o->name.length || memcmp(text, o->name.text, length) != 0))
		o->name.string = text_of(w, o->name_type, slot);
	o->name.key = slot;
	o->name.text = text;
	o->name.length = length;
	return o->name.string;
}

/* A mark of O that began AT and lasted TIME, in the units of the file. */
static void take_mark(struct chunk_handlers *w, struct chunk_others *o, const uint64_t *slots, uint64_t at,
		      uint64_t time)
{
	uint64_t duration = o->has_time ? ns_of(w, o->unit, time) : 0;
	uint32_t name = o->has_name ? name_of(w, o, slots[SLOT_OBJECT]) : o->type, thread = POOL_NO_PLACE;
	struct kept_marks *marks = &w->aggregate->marks;
	enum mark_kind kind = (enum mark_kind)o->kind;
	struct kept_mark mark = {.at = chunk_time(w->chunk, at), .thread = LISTS_FAILED};

	if (kind == MARK_KIND_OPERATION && !slots[SLOT_C])
		return;
	if (kind == MARK_KIND_EVENT && duration)
		kind = MARK_KIND_SPAN;
	if (kind == MARK_KIND_GC) {
		kept_marks_gc(marks, &(struct kept_gc){slots[SLOT_A], name,
						       o->has_cause ? text_of(w, o->cause_type, slots[SLOT_B]) : 0});
		duration = w->selection->in_range ? MIN(duration, ns_of(w, o->pauses_unit, slots[SLOT_D])) :
						    ns_of(w, o->pauses_unit, slots[SLOT_D]);
	}
	mark.duration = duration;
	mark.gc = kind == MARK_KIND_PAUSE || kind == MARK_KIND_GC ? slots[SLOT_A] + 1 : 0;
	if (o->has_thread && w->thread_pool && kept_marks_keep(marks, kind, name, duration))
		thread = pool_find(w->thread_pool, slots[SLOT_THREAD]);
	if (thread != POOL_NO_PLACE)
		mark.thread = names_thread(&w->names, thread);
	kept_marks_add(marks, kind, name, &mark);
	w->aggregate->no_memory |= marks->failed;
}

#define WHOLE 1000000.0 /* of all CPUs */

/* What a load says, whose bits are those of a float: a share. */
static uint64_t share_of(uint64_t bits)
{
	uint32_t low = (uint32_t)bits;
	float share;

	memcpy(&share, &low, sizeof(share));
	return share > 0 && share <= 2 ? (uint64_t)((double)share * WHOLE + 0.5) : 0;
}

static void take_row(struct chunk_handlers *w, struct chunk_others *o, const uint64_t *slots)
{
	struct kept_marks *marks = &w->aggregate->marks;
	int64_t at = chunk_time(w->chunk, slots[SLOT_TIME]);
	const char *when;

	switch ((enum row_event)o->row) {
	case ROW_CPU_LOAD:
		kept_marks_row(marks, MARK_ROW_CPU, at, share_of(slots[SLOT_A]) + share_of(slots[SLOT_B]));
		kept_marks_row(marks, MARK_ROW_MACHINE, at, share_of(slots[SLOT_C]));
		break;
	case ROW_CPUS:
		kept_marks_row(marks, MARK_ROW_CORES, at, slots[SLOT_A] & UINT32_MAX);
		break;
	case ROW_HEAP:
		when = strings_get(&w->aggregate->strings, name_of(w, o, slots[SLOT_OBJECT]));
		if (strcmp(when, "Before GC") == 0 || strcmp(when, "After GC") == 0)
			kept_marks_row(marks, when[0] == 'B' ? MARK_ROW_HEAP_FULL : w->ours ? MARK_ROW_HEAP_READ :
				       MARK_ROW_HEAP, at, slots[SLOT_SIZE]);
		break;
	case ROW_DEOPT:
	case ROW_CLASS_LOAD:
		kept_marks_row(marks, o->row == ROW_DEOPT ? MARK_ROW_DEOPTS : MARK_ROW_LOADS, at, 1);
		break;
	case ROW_CLASSES:
		kept_marks_row(marks, MARK_ROW_CLASSES, at, slots[SLOT_A]);
		break;
	case ROW_NONE:
		break;
	}
	w->aggregate->no_memory |= marks->failed;
}

void chunk_marks_take(struct chunk_handlers *w, const struct event_handler *handler)
{
	struct chunk_others *o = &w->others.items[handler->counts];
	const uint64_t *slots = handler->slots;
	uint64_t at = slots[SLOT_TIME], time = (int64_t)slots[SLOT_WEIGHT] > 0 ? slots[SLOT_WEIGHT] : 0;
	uint64_t number = (int64_t)slots[SLOT_SIZE] > 0 ? slots[SLOT_SIZE] : 0, time_of_all, number_of_all;
	uint64_t stands_for = MAX(o->stands_for, 1);

	/* as of waits: what reaches into the part that is asked for, with the time inside */
	if (w->selection->in_range) {
		struct event_part part;

		handler_part(w, handler, 1, &part);
		if (!part.samples)
			return;
		at = (uint64_t)part.at;
		time = part_of(&part, time);
	}
	o->first = o->count ? MIN(o->first, at) : at;
	o->last = o->count ? MAX(o->last, at) : at;
	o->count += stands_for;
	if (__builtin_mul_overflow(time, stands_for, &time_of_all) ||
	    __builtin_add_overflow(o->time, time_of_all, &o->time))
		o->time = INT64_MAX;
	if (__builtin_mul_overflow(number, stands_for, &number_of_all) ||
	    __builtin_add_overflow(o->number_sum, number_of_all, &o->number_sum))
		o->number_sum = UINT64_MAX;
	o->estimated |= stands_for > 1;
	o->longest = MAX(o->longest, time);
	o->number_most = MAX(o->number_most, number);
	if (o->kind != MARK_KINDS)
		take_mark(w, o, slots, at, time);
	else if (o->row != ROW_NONE)
		take_row(w, o, slots);
}

/*
 * When the last event of O began, which may not have been read. Those of a type are mostly in the order of time; where
 * they are not, as several threads wrote them, it may be the first.
 */
static void read_last(struct chunk_handlers *w, struct chunk_others *o)
{
	const struct chunk *c = w->chunk;
	struct event_handler *handler = &w->handlers.items[w->by_other_type[o->type_id] - 1];
	struct chunk_event e;
	struct reader r;

	if (!chunk_event(c, c->start + w->counted[o->type_id].at, &e))
		return;
	r = read_between(e.body, c->in->bytes + e.at + e.size, c->wide);
	field_layout_read(&w->layouts, handler->layout, &r, handler->slots);
	if (r.c.failed)
		return;
	o->first = MIN(o->first, handler->slots[SLOT_TIME]);
	o->last = MAX(o->last, handler->slots[SLOT_TIME]);
}

void chunk_marks_aggregate(struct chunk_handlers *w)
{
	size_t i;

	for (i = 0; i < w->others.count && !w->aggregate->no_memory; i++) {
		struct chunk_others *o = &w->others.items[i];

		if (!o->count)
			continue;
		/* those behind the last that was read */
		if (o->stands_for > 1) {
			o->count += o->stands_for - w->counted[o->type_id].until_read;
			read_last(w, o);
		}
		kept_marks_event(&w->aggregate->marks, &(struct other_event){
			o->type, o->number, o->count, ns_of(w, o->unit, MIN(o->time, (uint64_t)INT64_MAX)),
			ns_of(w, o->unit, o->longest), o->number_sum, o->number_most,
			chunk_time(w->chunk, o->first), chunk_time(w->chunk, o->last), o->estimated});
		w->aggregate->no_memory |= w->aggregate->marks.failed;
	}
}

#include "profile/readers/jfr/event_handlers.h"

#include <errno.h>
#include <stdlib.h>

#include "common/base/wide.h"

#define ALLOCATION_SAMPLE "jdk.ObjectAllocationSample"

/* Events that are no samples of the table of sources, and the fields that are wanted of them. */
struct rule {
	const char *event;
	enum handler_kind kind;
	struct wanted fields[13];
};

static const struct rule rules[] = {
	{"jstrobe.SampleWeights", HANDLE_WEIGHTS, {{"unit", SLOT_A}, {"weights", SLOT_B}}},
	{"jstrobe.WallWeights", HANDLE_WALL_WEIGHTS, {{"unit", SLOT_A}, {"weights", SLOT_B}}},
	{"jstrobe.Counters", HANDLE_COUNTS,
	 {{"event", SLOT_A}, {"engine", SLOT_B}, {"interval", SLOT_C}, {"taken", SLOT_D},
	  {"stored", SLOT_E}, {"complete", SLOT_F}, {"cpuTime", SLOT_G}, {"ownCpuTime", SLOT_H},
	  {"weightStored", SLOT_WEIGHT}, {"leftOut", SLOT_I}, {"weightLeftOut", SLOT_J},
	  {"partial", SLOT_K}, {"ambiguous", SLOT_SIZE}}},
	{"jstrobe.SamplesLost", HANDLE_REASON,
	 {{"event", SLOT_A}, {"reason", SLOT_B}, {"samples", SLOT_C}, {"weight", SLOT_D}}},
	{"jdk.ActiveSetting", HANDLE_SETTING, {{"id", SLOT_A}, {"name", SLOT_B}, {"value", SLOT_C}}},
	{"jdk.JVMInformation", HANDLE_JVM,
	 {{"jvmVersion", SLOT_A}, {"javaArguments", SLOT_B}, {"pid", SLOT_C}}},
	{"jstrobe.Surrounding", HANDLE_AROUND, {{"name", SLOT_A}, {"value", SLOT_B}}},
	{"jdk.CPUTimeSamplesLost", HANDLE_JDK_LOST, {{"startTime", SLOT_TIME}, {"lostSamples", SLOT_A}}},
	{"jstrobe.SampleContext", HANDLE_CONTEXT,
	 {{"startTime", SLOT_TIME}, {"sampledThread", SLOT_THREAD}, {"traceId", SLOT_A}, {"spanId", SLOT_B},
	  {"labels", SLOT_OBJECT}}},
	{"jstrobe.ObjectWeight", HANDLE_OBJECT_WEIGHT, {{"startTime", SLOT_TIME}, {"weight", SLOT_WEIGHT}}},
	{"profiler.Free", HANDLE_FREED, {{"startTime", SLOT_TIME}, {"address", SLOT_A}}},
	{"jstrobe.NativeUnmap", HANDLE_FREED,
	 {{"startTime", SLOT_TIME}, {"address", SLOT_A}, {"size", SLOT_WEIGHT}}},
	{"jstrobe.IOWeight", HANDLE_IO_WEIGHT, {{"startTime", SLOT_TIME}, {"weight", SLOT_WEIGHT}, {"target", SLOT_A},
	  {"estimated", SLOT_B}, {"idle", SLOT_C}, {"open", SLOT_D}}},
	{"jstrobe.LiveWeight", HANDLE_OBJECT_WEIGHT, {{"startTime", SLOT_TIME}, {"weight", SLOT_WEIGHT}}},
	{"jstrobe.LiveHeap", HANDLE_LIVE_HEAP,
	 {{"since", SLOT_A}, {"until", SLOT_B}, {"used", SLOT_C}, {"most", SLOT_D}}},
	{"jdk.MethodTiming", HANDLE_TIMING,
	 {{"method", SLOT_OBJECT}, {"invocations", SLOT_A}, {"average", SLOT_WEIGHT}}},
};

static const struct wanted sample_fields[] = {
	{"startTime", SLOT_TIME}, {"stackTrace", SLOT_STACK}, {"sampledThread", SLOT_THREAD},
	{"eventThread", SLOT_THREAD}, {"state", SLOT_STATE}, {"samples", SLOT_SAMPLES},
	{"timeSpan", SLOT_SPAN}, {"failed", SLOT_FAILED}, {"event", SLOT_A},
};

/* Besides, of calls that read, write and the like. */
static const struct wanted call_fields[] = {
	{"bytesRead", SLOT_SIZE}, {"bytesWritten", SLOT_SIZE}, {"bytes", SLOT_SIZE}, {"operation", SLOT_A},
	{"kind", SLOT_B},
};

/* Whether FIELD is a key of the constants of type POOL. */
static bool is_key(const struct chunk_handlers *w, uint32_t type, const char *field, uint32_t pool)
{
	const struct metadata_field *f = metadata_field_of(&w->metadata, type, field);

	return f && f->pooled && !f->array && f->type == pool && pool != METADATA_NONE;
}

/* Whether there may be one more of what there is COUNT of. */
static bool has_room(struct chunk_handlers *w, size_t count)
{
	if (count >= EVENT_COUNTS_MAX)
		read_aggregate_refuse(w->aggregate, HANDLE_TOO_MANY);
	return !w->aggregate->no_memory;
}

static uint32_t add_counts_of(struct chunk_handlers *w, const char *event, const char *family,
			    const struct metadata_field *weight)
{
	struct event_counts *a = has_room(w, w->event_counts.count) ? VECTOR_PUSH(&w->event_counts) : NULL;

	if (!a)
		return UINT32_MAX;
	a->event = event;
	a->family = family;
	a->has_weight = weight != NULL;
	a->unit = weight ? weight->unit : UNIT_NONE;
	return (uint32_t)w->event_counts.count - 1;
}

struct event_handler *event_handlers_add(struct chunk_handlers *w, uint32_t type, enum handler_kind kind)
{
	const struct metadata_type *t = &w->metadata.types.items[type];
	struct event_handler *handler = VECTOR_PUSH(&w->handlers);
	uint32_t *slot;

	if (!handler)
		return NULL;
	handler->kind = kind;
	handler->event = t->name;
	handler->type_id = t->id;
	handler->object_type = METADATA_NONE;
	handler->slots[SLOT_SAMPLES] = 1;
	if (t->id < ARRAY_LEN(w->by_type)) {
		w->by_type[t->id] = (uint16_t)w->handlers.count;
		return handler;
	}
	slot = map_put(&w->by_any_type, t->id, NULL);
	if (slot)
		*slot = (uint32_t)w->handlers.count;
	return slot ? handler : NULL;
}

static struct event_handler *add_handler(struct chunk_handlers *w, uint32_t type, enum handler_kind kind)
{
	return has_room(w, w->handlers.count) ? event_handlers_add(w, type, kind) : NULL;
}

/* Samples of EVENT are of memory that is freed, which is asked for. */
static enum left_role left_role_of(const struct chunk_handlers *w, const char *event)
{
	if (!w->selection->left)
		return LEFT_NONE;
	return strcmp(event, "profiler.Malloc") == 0 ? LEFT_BLOCK :
	       strcmp(event, "jstrobe.NativeMap") == 0 ? LEFT_MAPPING : LEFT_NONE;
}

/*
 * Before each sample of HANDLER another event may say what it stands for, and what it was about. The field with that
 * weight; NULL: none does.
 */
static const struct metadata_field *add_call(struct chunk_handlers *w, struct event_handler *handler)
{
	static const struct {
		const char *event;
		uint8_t operation, kind;
	} calls[] = {
		{"jdk.FileRead", IO_READ, IO_KIND_FILE}, {"jdk.FileWrite", IO_WRITE, IO_KIND_FILE},
		{"jdk.FileForce", IO_SYNC, IO_KIND_FILE}, {"jdk.SocketRead", IO_READ, IO_KIND_SOCKET},
		{"jdk.SocketWrite", IO_WRITE, IO_KIND_SOCKET}, {"profiler.IO", IO_OPERATIONS, IO_KIND_OTHER},
	};
	uint32_t says = metadata_by_name(&w->metadata, "jstrobe.IOWeight");
	const struct metadata_field *target = metadata_field_of(&w->metadata, says, "target");
	const struct metadata_field *weight = metadata_field_of(&w->metadata, says, "weight");
	size_t i;

	if (!target || !target->pooled || target->array || !weight || weight->pooled || weight->array)
		return NULL;
	handler->of_call = true;
	handler->object_type = w->call_targets = target->type;
	for (i = 0; i < ARRAY_LEN(calls); i++)
		if (strcmp(handler->event, calls[i].event) == 0) {
			handler->operation = calls[i].operation;
			handler->io_kind = calls[i].kind;
		}
	return weight;
}

/*
 * An event type is a sample of this source's families; a field `weight` is more than its size. -EBADMSG: its fields
 * cannot be read.
 */
static int add_sample(struct chunk_handlers *w, uint32_t type, const struct source *source)
{
	const char *event = w->metadata.types.items[type].name;
	bool tells_weight = source->weight && metadata_field_of(&w->metadata, type, "weight");
	const char *weighs = tells_weight ? "weight" : source->weight;
	const struct metadata_field *weight = metadata_field_of(&w->metadata, type, weighs);
	const struct metadata_field *object = metadata_field_of(&w->metadata, type, source->object);
	const struct metadata_field *size = metadata_field_of(&w->metadata, type, "allocationSize");
	const struct metadata_field *said = NULL;
	bool is_size = size && weight && size != weight && !size->pooled && !size->array;
	bool is_live = strcmp(event, "profiler.LiveObject") == 0 && size && weight && !size->pooled && !size->array &&
		       metadata_field_of(&w->metadata, type, "allocationTime");
	bool execution = strcmp(event, "jdk.ExecutionSample") == 0;
	enum left_role left = left_role_of(w, event);
	bool io = source->family && strcmp(source->family, "io") == 0;
	struct wanted wanted[ARRAY_LEN(sample_fields) + ARRAY_LEN(call_fields) + 5];
	size_t count = ARRAY_LEN(sample_fields), i;
	struct event_handler *handler;

	memcpy(wanted, sample_fields, sizeof(sample_fields));
	if (weight && !weight->pooled && !weight->array)
		wanted[count++] = (struct wanted){weighs, SLOT_WEIGHT};
	if (is_size)
		wanted[count++] = (struct wanted){"allocationSize", SLOT_SIZE};
	if (object && object->pooled && !object->array)
		wanted[count++] = (struct wanted){source->object, SLOT_OBJECT};
	for (i = 0; io && i < ARRAY_LEN(call_fields); i++)
		wanted[count++] = call_fields[i];
	if (left != LEFT_NONE)
		wanted[count++] = (struct wanted){"address", SLOT_A};
	if (is_live)
		wanted[count++] = (struct wanted){"allocationTime", SLOT_B};
	handler = add_handler(w, type, execution ? HANDLE_EXECUTION :
				   strcmp(event, "jdk.CPUTimeSample") == 0 ? HANDLE_CPU_TIME :
				   strcmp(event, "profiler.WallClockSample") == 0 ? HANDLE_WALL :
				   strcmp(event, "jstrobe.EventSample") == 0 ? HANDLE_EVENT : HANDLE_SAMPLE);
	if (!handler)
		return -ENOMEM;
	handler->layout = field_layout_of(&w->layouts, type, wanted, count);
	handler->has_time = metadata_field_of(&w->metadata, type, "startTime") != NULL;
	handler->has_stack = is_key(w, type, "stackTrace", w->names.stack_type);
	handler->has_thread = is_key(w, type, "sampledThread", w->names.thread_type) ||
			    is_key(w, type, "eventThread", w->names.thread_type);
	handler->has_state = is_key(w, type, "state", w->names.state_type);
	handler->object_type = object && object->pooled ? object->type : METADATA_NONE;
	handler->has_size = is_size;
	handler->left = left;
	handler->is_live = is_live;
	handler->of_thread = strcmp(event, ALLOCATION_SAMPLE) == 0;
	handler->lasts = weight && strcmp(weighs, "duration") == 0;
	handler->unit = weight ? weight->unit : UNIT_NONE;
	handler->outside = size && size == weight && strcmp(event, "jdk.ObjectAllocationOutsideTLAB") == 0;
	if (io)
		said = add_call(w, handler);
	handler->has_object = handler->object_type != METADATA_NONE;
	if (handler->has_object)
		names_want(&w->names, handler->object_type);
	handler->counts = add_counts_of(w, event, NULL, said ? said : weight);
	if (handler->counts != UINT32_MAX)
		w->event_counts.items[handler->counts].of_calls = handler->of_call;
	if (handler->counts != UINT32_MAX)
		w->event_counts.items[handler->counts].is_live = strcmp(event, "profiler.LiveObject") == 0;
	handler->wall_counts = execution ? add_counts_of(w, event, "wall", NULL) : handler->counts;
	return handler->counts == UINT32_MAX || handler->wall_counts == UINT32_MAX ? -ENOMEM : 0;
}

bool event_is_lock_of_ours(const struct chunk_handlers *w, const struct source *source)
{
	return (strcmp(source->family, "wait") == 0 || strcmp(source->family, "sleep") == 0) &&
	       metadata_by_name(&w->metadata, "jstrobe.Counters") != METADATA_NONE;
}

/* Whether a wanted family has samples of SOURCE's event; those that the event's name itself asks for. */
static bool is_wanted(const struct chunk_handlers *w, const struct source *source)
{
	const char *families = w->selection->families;

	if (family_wanted(families, source->family) || family_named(families, source->event))
		return true;
	if (event_is_lock_of_ours(w, source) && family_wanted(families, "lock"))
		return true;
	/* what was asked for as it was recorded */
	if (!*families && strcmp(source->family, "io") == 0)
		return metadata_by_name(&w->metadata, "jstrobe.IOWeight") != METADATA_NONE;
	/* execution samples may turn out to be of wall time, CPU-time samples to be the cpu of ours */
	if (strcmp(source->event, "jdk.ExecutionSample") == 0)
		return family_wanted(families, "wall");
	return strcmp(source->event, "jdk.CPUTimeSample") == 0 && family_wanted(families, "cpu");
}

/* The event called by its own name, if no source speaks of it. */
static int add_by_name(struct chunk_handlers *w, uint32_t type)
{
	const char *name = w->metadata.types.items[type].name;
	struct source source = {name, NULL, NULL, NULL};

	if (strcmp(name, "jstrobe.EventSample") == 0) {
		source.weight = "weight";
		return add_sample(w, type, &source);
	}
	if (!family_named(w->selection->families, name))
		return 0;
	source.weight = metadata_field_of(&w->metadata, type, "duration") ? "duration" : NULL;
	return add_sample(w, type, &source);
}

/* Labels are a key of the constants of some type. */
static void add_labels(struct chunk_handlers *w, uint32_t type, struct event_handler *handler)
{
	const struct metadata_field *labels = metadata_field_of(&w->metadata, type, "labels");

	handler->has_thread = is_key(w, type, "sampledThread", w->names.thread_type);
	handler->has_object = labels && labels->pooled && !labels->array;
	if (!handler->has_object)
		return;
	handler->object_type = labels->type;
	names_want(&w->names, labels->type);
}

static int add_counts(struct chunk_handlers *w, uint32_t type, const struct rule *rule)
{
	const struct metadata_field *average = metadata_field_of(&w->metadata, type, "average");
	struct event_handler *handler = add_handler(w, type, rule->kind);
	size_t count = 0;

	if (!handler)
		return -ENOMEM;
	while (count < ARRAY_LEN(rule->fields) && rule->fields[count].field)
		count++;
	handler->layout = field_layout_of(&w->layouts, type, rule->fields, count);
	if (rule->kind == HANDLE_CONTEXT)
		add_labels(w, type, handler);
	handler->unit = average ? average->unit : UNIT_NONE;
	if (rule->kind == HANDLE_TIMING && !is_key(w, type, "method", w->names.method_type))
		handler->layout = LAYOUT_NONE;
	return 0;
}

/* While spans are noted, nothing else is. */
static int add_span(struct chunk_handlers *w, uint32_t type)
{
	static const struct wanted fields[] = {
		{"startTime", SLOT_TIME}, {"duration", SLOT_WEIGHT}, {"eventThread", SLOT_THREAD}, {"tag", SLOT_A}};
	const char *name = w->metadata.types.items[type].name;
	const struct metadata_field *duration = metadata_field_of(&w->metadata, type, "duration");
	const struct metadata_field *tag = metadata_field_of(&w->metadata, type, "tag");
	struct event_handler *handler;

	if ((strcmp(name, "profiler.Span") != 0 && strcmp(name, "jdk.MethodTrace") != 0) || !duration ||
	    !is_key(w, type, "eventThread", w->names.thread_type))
		return 0;
	handler = add_handler(w, type, HANDLE_SPAN);
	if (!handler)
		return -ENOMEM;
	handler->layout = field_layout_of(&w->layouts, type, fields, ARRAY_LEN(fields));
	handler->unit = duration->unit;
	handler->has_thread = true;
	if (tag && tag->pooled && !tag->array) {
		handler->object_type = tag->type;
		names_want(&w->names, tag->type);
	}
	return 0;
}

/* While allocations are noted, nothing else is. */
static int add_allocated(struct chunk_handlers *w, uint32_t type)
{
	static const struct {
		const char *event, *thread, *number;
	} rows[] = {
		{ALLOCATION_SAMPLE, "eventThread", "weight"}, {"jdk.ThreadAllocationStatistics", "thread", "allocated"},
		{"jdk.ThreadStart", "thread", NULL},
	};
	const char *name = w->metadata.types.items[type].name;
	struct event_handler *handler;
	struct wanted fields[3];
	size_t i = 0;

	while (i < ARRAY_LEN(rows) && strcmp(rows[i].event, name) != 0)
		i++;
	if (i == ARRAY_LEN(rows) || !is_key(w, type, rows[i].thread, w->names.thread_type))
		return 0;
	fields[0] = (struct wanted){"startTime", SLOT_TIME};
	fields[1] = (struct wanted){rows[i].thread, SLOT_THREAD};
	fields[2] = (struct wanted){rows[i].number, SLOT_WEIGHT};
	handler = add_handler(w, type, HANDLE_ALLOCATED);
	if (!handler)
		return -ENOMEM;
	handler->has_thread = true;
	handler->of_thread = i == 0;
	handler->has_size = rows[i].number;
	handler->layout = field_layout_of(&w->layouts, type, fields, rows[i].number ? 3 : 2);
	return 0;
}

static int add_type(struct chunk_handlers *w, uint32_t type)
{
	const char *name = w->metadata.types.items[type].name;
	const struct source *s;
	struct source row;
	size_t i;

	if (w->selection->spans && w->selection->spans->noting)
		return add_span(w, type);
	if (w->selection->allocs && w->selection->allocs->noting)
		return add_allocated(w, type);
	for (i = 0; i < ARRAY_LEN(rules); i++)
		if (strcmp(rules[i].event, name) == 0 && (rules[i].kind != HANDLE_FREED || w->selection->left))
			return add_counts(w, type, &rules[i]);
	for (s = convert_sources; s->event; s++)
		if (strcmp(s->event, name) == 0 && is_wanted(w, s))
			return add_sample(w, type, s);
	if (source_of_row(name, &row) && (source_row_wanted(w->selection->families, row.family) ||
					  family_named(w->selection->families, name)))
		return add_sample(w, type, &row);
	return add_by_name(w, type);
}

static int add_types(struct chunk_handlers *w)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < w->metadata.types.count; i++)
		if (w->metadata.types.items[i].event)
			rc = add_type(w, i);
	if (rc == 0)
		rc = chunk_marks_learn(w);
	w->ours = metadata_by_name(&w->metadata, "jstrobe.Counters") != METADATA_NONE;
	return rc;
}

static const struct pool *pool_of(const struct chunk_handlers *w, uint32_t type)
{
	return type == METADATA_NONE ? NULL : &w->pools.of_type[type];
}

/* NS since 1970 in the chunk's ticks, or the first or last there can be. */
static int64_t ticks_of(const struct chunk *c, int64_t ns)
{
	return wide_convert(ns, (int64_t)c->start_ns, c->ticks_per_second, NS_PER_S, (int64_t)c->start_ticks);
}

static void begin_event_counts(struct chunk_handlers *w)
{
	size_t i;

	w->cells = 0;
	chunk_marks_begin(w);

	for (i = 0; i < w->event_counts.count; i++) {
		struct event_counts *a = &w->event_counts.items[i];

		a->weighed = a->begun = false;
		a->failed = 0;
		a->moments.count = 0;
		stack_counts_empty(&a->t);
	}
}

/* Only the counts of the first COUNT events are left. */
static void end_event_counts(struct chunk_handlers *w, size_t count)
{
	while (w->event_counts.count > count) {
		struct event_counts *a = &w->event_counts.items[--w->event_counts.count];

		stack_counts_end(&a->t);
		free(a->moments.items);
	}
}

int event_handlers_init(struct chunk_handlers *w, const struct selection *selection, struct read_aggregate *aggregate,
		 struct recording_info *info, bool lines)
{
	memset(w, 0, sizeof(*w));
	w->selection = selection;
	w->aggregate = aggregate;
	w->info = info;
	if (names_init(&w->names, aggregate, lines))
		return -ENOMEM;
	w->names.bci = selection->bci;
	w->names.norm = selection->norm;
	w->names.simple = selection->simple;
	return 0;
}

static void forget_types(struct chunk_handlers *w)
{
	end_event_counts(w, 0);
	w->event_count = 0;
	w->handlers.count = 0;
	memset(w->by_type, 0, sizeof(w->by_type));
	map_clear(&w->by_any_type);
	pools_free(&w->pools);
	field_layouts_free(&w->layouts);
	w->learnt = false;
}

/* From the metadata, what becomes of which event. */
static int learn(struct chunk_handlers *w, bool wide)
{
	int rc;

	forget_types(w);
	field_layouts_init(&w->layouts, &w->metadata, wide);
	if (pools_init(&w->pools, &w->metadata) || names_learn(&w->names, &w->metadata, &w->layouts, &w->pools))
		return -ENOMEM;
	rc = add_types(w);
	w->event_count = w->event_counts.count;
	w->stack_pool = pool_of(w, w->names.stack_type);
	w->thread_pool = pool_of(w, w->names.thread_type);
	w->state_pool = pool_of(w, w->names.state_type);
	w->learnt = rc == 0;
	return rc;
}

static int load_constants(struct chunk_handlers *w)
{
	int rc = pools_load(&w->pools, w->chunk, &w->layouts);

	if (rc || w->layouts.no_memory)
		return -ENOMEM;
	w->info->constants_damaged |= w->pools.damaged;
	w->stack_count = w->stack_pool ? (uint32_t)w->stack_pool->constants.count : 0;
	w->thread_count = w->thread_pool ? (uint32_t)w->thread_pool->constants.count : 0;
	w->state_count = w->state_pool ? (uint32_t)w->state_pool->constants.count : 0;
	return 0;
}

int event_handlers_begin(struct chunk_handlers *w, const struct chunk *c)
{
	struct chunk_event e;
	bool fresh;
	int rc;

	w->chunk = c;
	end_event_counts(w, w->event_count);
	w->trace_context.wanted = false;
	w->trace_context.number = 0;
	w->object.weight = 0;
	w->call.there = false;
	w->setting_of = 0;
	io_lines_clear(&w->calls);
	w->live.known = false;
	w->live.objects = true;
	w->unweighed.count = w->unweighed_wall.count = w->timings.count = 0;
	if (!c->metadata || !chunk_event(c, c->metadata, &e))
		return -EBADMSG;
	rc = metadata_read(&w->metadata, read_between(c->in->bytes + e.at, c->in->bytes + e.at + e.size,
						      c->wide), &fresh);
	if (rc == 0 && (fresh || !w->learnt || w->layouts.wide != c->wide))
		rc = learn(w, c->wide);
	if (rc) {
		forget_types(w);
		return rc;
	}
	names_begin(&w->names);
	rc = load_constants(w);
	if (rc)
		return rc;
	w->from = ticks_of(c, w->selection->in_range ? w->selection->from : w->selection->start);
	w->to = w->selection->in_range ? ticks_of(c, w->selection->to) : INT64_MAX;
	rc = event_handlers_mark_states(w);
	if (rc == 0)
		rc = event_handlers_mark_threads(w);
	if (rc == 0)
		begin_event_counts(w);
	return rc;
}

void event_handlers_free(struct chunk_handlers *w)
{
	forget_types(w);
	free(w->event_counts.items);
	free(w->handlers.items);
	free(w->unweighed.items);
	free(w->unweighed_wall.items);
	free(w->timings.items);
	free(w->others.items);
	io_lines_free(&w->calls);
	free(w->states);
	free(w->threads);
	map_free(&w->by_any_type);
	map_free(&w->labels);
	map_free(&w->context_labels);
	names_free(&w->names);
	metadata_free(&w->metadata);
}
